// What a refused save tells: which objects, and both sides' values.

import CairnModel
public import Foundation

/// A row that has changed in the store since the context read it.
public final class NSMergeConflict: NSObject {
  public let sourceObject: NSManagedObject
  /// The version that the store has; 0 when the row was deleted.
  public let newVersionNumber: Int
  /// The version that the object's values are of.
  public let oldVersionNumber: Int
  /// The object's values as the context read them: attributes, and to-one relationships as IDs.
  public let objectSnapshot: [String: Any]?
  public let cachedSnapshot: [String: Any]?
  /// The values that the store has; nil when the row was deleted.
  public let persistedSnapshot: [String: Any]?

  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    objectSnapshot = srcObject.storedSnapshot()
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
  }

  /// The object, and what the store has otherwise than it was read with; a value a line.
  public override var description: String {
    let head =
      "\(ConflictText.name(sourceObject)) was read at version \(oldVersionNumber), and the store has "
    guard let stored = persistedSnapshot ?? cachedSnapshot else { return head + "deleted it" }
    let read = objectSnapshot ?? [:]
    let lines = Set(read.keys).union(stored.keys).sorted().compactMap { key -> String? in
      let (ours, theirs) = (ConflictText.value(read[key]), ConflictText.value(stored[key]))
      return ours == theirs ? nil : "\n  \(key): read as \(ours), stored as \(theirs)"
    }
    return head + "version \(newVersionNumber)" + lines.joined()
  }
}

/// Objects that would have the same values in a uniqueness constraint.
public final class NSConstraintConflict: NSObject {
  /// The names of the attributes that together have to be unique.
  public let constraint: [String]
  public let constraintValues: [String: Any]
  /// The object in the store that has the values; nil when only objects of this save clash.
  public let databaseObject: NSManagedObject?
  public let databaseSnapshot: [String: Any]?
  public let conflictingObjects: [NSManagedObject]
  public let conflictingSnapshots: [[AnyHashable: Any]]

  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot as? [String: Any]
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
    constraintValues = (self.conflictingSnapshots.first as? [String: Any] ?? [:])
      .filter { contraint.contains($0.key) }
  }

  /// The values that have to be unique, and the objects that have them.
  public override var description: String {
    let values = constraint.map { "\($0) \(ConflictText.value(constraintValues[$0]))" }.joined(
      separator: ", ")
    let stored = databaseObject.map { ["\(ConflictText.name($0)) in the store"] } ?? []
    let entity = conflictingObjects.first?.entity.name ?? databaseObject?.entity.name ?? "an entity"
    let objects = (stored + conflictingObjects.map { ConflictText.name($0) }).map { "\n  " + $0 }
    return "\(entity) has to be unique by \(constraint.joined(separator: ", ")); these have \(values):"
      + objects.joined()
  }
}

/// How conflicts name objects and values.
private enum ConflictText {
  static func name(_ object: NSManagedObject) -> String {
    "\(object.entity.name ?? "an object") \(object.objectID.uriRepresentation().lastPathComponent)"
  }

  static func value(_ any: Any?) -> String {
    switch any {
    case nil, is NSNull: "nil"
    case let text as String: "\"\(text.count > 60 ? text.prefix(60) + "…" : text)\""
    case let data as Data: "\(data.count) bytes"
    case let id as NSManagedObjectID: id.uriRepresentation().lastPathComponent
    case let other?: "\(other)"
    }
  }
}

extension NSManagedObjectContext {
  /// A refused commit's conflicts, as merge policies take them. Stale rows come before broken constraints.
  final func describe(_ conflict: CommitConflict, _ work: ChangeSetBuilder, _ scope: StoreScope) -> [Any] {
    if !conflict.stale.isEmpty { return conflict.stale.map { mergeConflict($0, scope) } }
    let objects = objectsByKey(work)
    return conflict.duplicates.map { constraintConflict($0, objects, scope) }
  }

  private final func mergeConflict(_ stale: CommitConflict.Stale, _ scope: StoreScope) -> NSMergeConflict {
    NSMergeConflict(
      source: scope.object(key: stale.key.id, in: stale.key.entity),
      newVersion: stale.stored.map { Int($0.version) } ?? 0, oldVersion: Int(stale.expected),
      cachedSnapshot: nil, persistedSnapshot: stale.stored.map { snapshot($0, scope) })
  }

  private final func constraintConflict(
    _ duplicate: CommitConflict.Duplicate, _ objects: [RowKey: NSManagedObject], _ scope: StoreScope
  ) -> NSConstraintConflict {
    let slots = compiledModel[duplicate.constraint.entity].schema.slots
    let conflicting = duplicate.keys.compactMap { key in
      objects[key]
        ?? (compiledModel.entities.indices.contains(key.entity.index)
          ? scope.knownObject(key.id, root: compiledModel[key.entity].schema.root) : nil)
    }
    return NSConstraintConflict(
      constraint: duplicate.constraint.slots.map { slots[$0].name },
      database: duplicate.stored.map { scope.object(key: $0.key.id, in: $0.key.entity) },
      databaseSnapshot: duplicate.stored.map { snapshot($0, scope) }, conflicting: conflicting,
      conflictingSnapshots: conflicting.map { $0.currentSnapshot() })
  }

  /// The new objects of a change set under the keys that it gave them.
  private final func objectsByKey(_ work: ChangeSetBuilder) -> [RowKey: NSManagedObject] {
    var result: [RowKey: NSManagedObject] = [:]
    for (object, key) in zip(inserted, work.keys) {
      if let object, key != 0 { result[RowKey(entity: object.table.entity.id, id: key)] = object }
    }
    return result
  }

  private final func snapshot(_ row: StoredRow, _ scope: StoreScope) -> [String: Any] {
    scope.table(row.key.entity).snapshot { row.values[$0] }
  }
}

extension NSManagedObject {
  /// What the object was read with, whatever was changed since.
  fileprivate final func storedSnapshot() -> [String: Any] { table.snapshot(storedValue) }

  fileprivate final func currentSnapshot() -> [String: Any] { table.snapshot(peekedValue) }
}

extension EntityTable {
  /// A row as a dictionary: attributes as key-value access gives them, to-one relationships as IDs, nil as
  /// NSNull.
  fileprivate func snapshot(_ value: (Int) -> Value) -> [String: Any] {
    var result: [String: Any] = [:]
    for (name, property) in entity.properties {
      switch property {
      case .attribute(let slot, _): result[name] = keyValueForm(value(slot), slot) ?? NSNull()
      case .relationship(let relation):
        guard let slot = relation.keySlot else { continue }
        result[name] = NSNull()
        if case .key(let key) = value(slot) {
          result[name] = scope?.anyObject(key: key, in: relation.destination)?.objectID
        }
      case .transient: continue
      }
    }
    for (name, composite) in entity.composites {
      result[name] = composite.form(value, keyValueForm) ?? NSNull()
    }
    return result
  }
}
