// From a context's unsaved changes to a change set: columns straight from the drafts, updates grouped by which
// slots they change. Reads the context and changes nothing in it, so that a refused commit leaves it as it was.

import CairnModel
import Foundation

/// Makes the change set of one save. A class, since a value would be copied into each walk over a list.
final class ChangeSetBuilder {
  private let context: NSManagedObjectContext
  private let scope: StoreScope
  private let model: CompiledModel
  /// The permanent keys of `context.inserted`, in their order; 0 for those of other stores.
  private(set) var keys: [Int64] = []
  private(set) var changes: ChangeSet
  /// The updated objects with changed links, and the new ones.
  private var linked: [NSManagedObject] = []
  private var linkedNew: [NSManagedObject] = []
  private let updates = UpdateCollector()

  /// Reserves keys for the new objects, and puts everything together. Throws what `permanentKeys` throws; keys
  /// that aren't committed then are lost.
  init(_ context: NSManagedObjectContext, _ scope: StoreScope, _ store: NSPersistentStore) throws {
    self.context = context
    self.scope = scope
    model = context.compiledModel
    changes = ChangeSet(author: context.transactionAuthor, contextName: context.name)
    try reserveKeys(store)
    addInserts()
    addUpdates()
    addDeletes()
    addChecks()
    try addLinks()
  }

  private func isHere(_ object: NSManagedObject) -> Bool { object.table.isOf(scope) }

  // MARK: Keys

  private func reserveKeys(_ store: NSPersistentStore) throws {
    if context.inserted.isEmpty { return }
    let new = context.inserted.compactMap { object in
      object.flatMap { isHere($0) && $0.reservedKey == nil ? $0 : nil }
    }
    let reserved =
      new.isEmpty
      ? []
      : try context.preparing("the store didn't give keys for new objects") {
        try store.permanentKeys(for: new)
      }
    var next = 0
    keys = context.inserted.map { object in
      guard let object, isHere(object) else { return 0 }
      if let key = object.reservedKey { return key }
      next += 1
      return reserved[next - 1]
    }
  }

  /// The key that an object will have in the store.
  private func permanent(_ key: Int64) -> Int64 {
    key > 0 ? key : keys[context.insertedIndex(ofTemporaryKey: key)]
  }

  private func rowKey(_ object: NSManagedObject) -> RowKey {
    RowKey(entity: object.table.entity.id, id: permanent(object.key))
  }

  // MARK: Inserts

  private func addInserts() {
    if keys.isEmpty { return }
    var rowsByEntity = [(keys: [Int64], drafts: [Int])](repeating: ([], []), count: model.entities.count)
    context.inserted.forEachUncounted { index, object in
      let key = keys[index]
      if key == 0 { return }
      if let changes = object.changes, changes.hasLinks { linkedNew.append(object) }
      let entity = object.table.entity.id.index
      rowsByEntity[entity].keys.append(key)
      rowsByEntity[entity].drafts.append(Int(object.row))
    }
    for (described, unordered) in zip(model.entities, rowsByEntity) where !unordered.keys.isEmpty {
      let entity = described.id
      let rows = ascending(unordered)
      let table = scope.table(entity)
      let isWhole =
        rows.drafts.count == table.draftCount && rows.drafts.first == 0
        && rows.drafts.last == table.draftCount - 1
      let columns = table.finishedDrafts().map { draft -> Column? in
        if draft.type == .key, !(isWhole && draft.holdsNoNegative) { return keyColumn(draft, rows.drafts) }
        return draft.finish(rows: isWhole ? nil : rows.drafts)
      }
      changes.inserts.append(ChangeSet.Inserts(entity: entity, keys: rows.keys, columns: columns))
    }
  }

  /// Keys that were reserved early may be lower than those before them.
  private func ascending(_ rows: (keys: [Int64], drafts: [Int])) -> (keys: [Int64], drafts: [Int]) {
    if zip(rows.keys, rows.keys.dropFirst()).allSatisfy(<) { return rows }
    let order = rows.keys.indices.sorted { rows.keys[$0] < rows.keys[$1] }
    return (order.map { rows.keys[$0] }, order.map { rows.drafts[$0] })
  }

  /// A to-one slot, with the keys that its destinations will have.
  private func keyColumn(_ draft: ColumnBuilder, _ rows: [Int]) -> Column {
    let column = ColumnBuilder(.key)
    column.reserveCapacity(rows.count)
    for row in rows {
      if draft.isNull(row) { column.appendNull() } else { append(draft.integer(row), to: column) }
    }
    return column.finish()
  }

  /// Adds the key of a destination, or null for a new object that was deleted before it was saved.
  private func append(_ key: Int64, to column: ColumnBuilder) {
    let stored = key < 0 && context.insertedObject(temporaryKey: key) == nil ? 0 : permanent(key)
    if stored == 0 { column.appendNull() } else { column.append(stored) }
  }

  // MARK: Updates

  /// In one pass over the changed objects, each of which costs a look at memory that is nowhere near.
  private func addUpdates() {
    context.updatedList.forEachUncounted(.changes) { object in
      guard object.isUpdated, isHere(object), let changes = object.changes else { return }
      Unmanaged.passUnretained(changes)._withUnsafeGuaranteedRef { addUpdate(object, $0) }
    }
    changes.updates += updates.finish()
  }

  @inline(__always)
  private func addUpdate(_ object: NSManagedObject, _ changes: ObjectChanges) {
    if changes.hasLinks { linked.append(object) }
    if let only = changes.values.only {
      if only.value.isStoredLike(updates.storedValue(of: object, only.key)) { return }
      let batch = updates.batch(of: object, only.key)
      append(only.value, to: batch.columns[0], object.table.entity, only.key)
      return
    }
    let slots = changedSlots(object, changes.values)
    if slots.isEmpty { return }
    let batch = updates.batch(of: object, slots)
    for (slot, column) in zip(slots, batch.columns) {
      append(changes.values[slot] ?? .null, to: column, object.table.entity, slot)
    }
  }

  /// The slots that would be stored differently.
  private func changedSlots(_ object: NSManagedObject, _ values: SmallMap<Int, Value>) -> [Int] {
    if values.isEmpty { return [] }
    let slots = values.compactMap { slot, value in
      value.isStoredLike(updates.storedValue(of: object, slot)) ? nil : slot
    }
    return slots.count < 2 ? slots : slots.sorted()
  }

  private func append(_ value: Value, to column: ColumnBuilder, _ entity: CompiledEntity, _ slot: Int) {
    do {
      switch value {
      case .int(let value) where [.int16, .int32, .int64].contains(column.type): column.append(value)
      case .key(let key): append(key, to: column)
      default: try column.append(value: value)
      }
    } catch {
      fatalError("\(entity.name), slot \(slot): \(error)")  // setters have checked it
    }
  }

  // MARK: Deletes, and rows that are only checked

  private func addDeletes() {
    if context.deleted.isEmpty { return }
    var gone: [NSManagedObject] = []
    gone.reserveCapacity(context.deleted.count)
    context.deleted.forEachUncounted { object in
      if isHere(object), !object.flags.contains(.isInaccessible) { gone.append(object) }
    }
    for (entity, objects) in grouped(gone) {
      let (keys, versions) = keysAndVersions(objects)
      changes.deletes.append(ChangeSet.Deletes(entity: entity, keys: keys, versions: versions))
    }
  }

  private func addChecks() {
    let watched = context.watched.filter { isHere($0) && !$0.hasChanges && $0.chunk != nil }
    for (entity, objects) in grouped(watched) {
      let (keys, versions) = keysAndVersions(objects)
      changes.updates.append(
        ChangeSet.Updates(entity: entity, keys: keys, versions: versions, slots: [], columns: []))
    }
  }

  private func keysAndVersions(_ objects: [NSManagedObject]) -> (keys: [Int64], versions: [Int64]) {
    var (keys, versions): ([Int64], [Int64]) = ([], [])
    keys.reserveCapacity(objects.count)
    versions.reserveCapacity(objects.count)
    objects.forEachUncounted { object in
      keys.append(object.key)
      versions.append(object.rowVersion)
    }
    return (keys, versions)
  }

  /// By key; mostly they are so already.
  private func ascending(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    for index in objects.indices.dropFirst() where objects[index].key < objects[index - 1].key {
      return objects.sorted { $0.key < $1.key }
    }
    return objects
  }

  /// By entity, and by key within; each object once.
  private func grouped(_ objects: [NSManagedObject]) -> [(EntityID, [NSManagedObject])] {
    guard let first = objects.first?.table.entity.id else { return [] }
    var (isInOrder, last) = (true, Int64.min)
    objects.forEachUncounted { object in
      if object.table.entity.id != first || object.key <= last { isInOrder = false }
      last = object.key
    }
    if isInOrder { return [(first, objects)] }
    let groups = Dictionary(grouping: objects) { $0.table.entity.id }
    return groups.sorted { $0.key < $1.key }.map { entity, members in
      var result: [NSManagedObject] = []
      for object in ascending(members) where result.last !== object {
        result.append(object)
      }
      return (entity, result)
    }
  }

  // MARK: Links

  private func addLinks() throws {
    for object in linked + linkedNew {
      guard let links = object.changes?.links else { continue }
      for (id, pending) in links.sorted(by: { $0.key < $1.key }) { try addLinks(object, model[id], pending) }
    }
  }

  private func addLinks(_ owner: NSManagedObject, _ relation: Relation, _ pending: PendingLinks)
    throws
  {
    switch relation.storage {
    case .key, .none: return
    case .inverse(let slot, _):
      // Members' own rows say whose they are; only the order of a list is missing there.
      guard let list = pending.list else { return }
      let members = try members(list.keys, relation, owner, slot)
      add(relation, owner, .replace(rowKeys(members, relation)))
    case .join(_, let side):
      if let list = pending.list {
        add(relation, owner, .replace(rowKeys(list.keys, relation)))
      } else if speaks(for: relation, side) {
        addPairs(relation, owner, pending.membership)
      }
    }
  }

  /// Of a list's keys, those whose rows lead to the owner once this is saved: others may have moved some of them
  /// away since the list was read.
  private func members(
    _ keys: [Int64], _ relation: Relation, _ owner: NSManagedObject, _ slot: Int
  ) throws -> [Int64] {
    let root = model[relation.destination].schema.root
    var stored: Set<Int64>?
    return try keys.filter { key in
      if let member = scope.knownObject(key, root: root), let change = member.unsavedKey(slot) {
        return change == owner.key
      }
      if stored == nil {
        stored = try context.preparing("a list's members couldn't be read") {
          try storedMembers(relation, owner)
        }
      }
      return stored?.contains(key) ?? false
    }
  }

  private func storedMembers(_ relation: Relation, _ owner: NSManagedObject) throws -> Set<Int64> {
    guard owner.key > 0, let store = scope.store?.store else { return [] }
    let related = try store.related([rowKey(owner)], through: relation.id, in: store.snapshot())
    return Set(related[0].map(\.id))
  }

  /// Of two unordered sides, the source tells of the pairs; beside an ordered one, only that one does.
  private func speaks(for relation: Relation, _ side: JoinSide) -> Bool {
    guard let inverse = relation.inverse, inverse != relation.id else { return true }
    return side == .source && !model[inverse].isOrdered
  }

  private func addPairs(_ relation: Relation, _ owner: NSManagedObject, _ membership: [Int64: Bool]) {
    // A pair of a relationship that is its own inverse is pending on both of its objects: one tells of it.
    let isSymmetric = relation.inverse == relation.id
    let mine = permanent(owner.key)
    let pairs = membership.filter { !isDeleted($0.key, relation) }
      .map { (key: permanent($0.key), isMember: $0.value) }
      .filter { !isSymmetric || mine <= $0.key }.sorted { $0.key < $1.key }
    let added = pairs.filter(\.isMember).map { RowKey(entity: relation.destination, id: $0.key) }
    let removed = pairs.filter { !$0.isMember }.map { RowKey(entity: relation.destination, id: $0.key) }
    if !removed.isEmpty { add(relation, owner, .remove(removed)) }
    if !added.isEmpty { add(relation, owner, .add(added)) }
  }

  private func add(_ relation: Relation, _ owner: NSManagedObject, _ change: ChangeSet.LinkChange) {
    changes.links.append(ChangeSet.Links(relation.id, of: rowKey(owner), change))
  }

  private func rowKeys(_ keys: [Int64], _ relation: Relation) -> [RowKey] {
    keys.filter { !isDeleted($0, relation) }
      .map { RowKey(entity: relation.destination, id: permanent($0)) }
  }

  /// Whether the save deletes the object, or it was never saved and is gone.
  private func isDeleted(_ key: Int64, _ relation: Relation) -> Bool {
    guard context.hasDeletions else { return false }
    guard let known = scope.knownObject(key, root: model[relation.destination].schema.root) else {
      return key < 0
    }
    return known.flags.contains(.isDeleted)
  }
}

extension NSManagedObject {
  /// The key of the object's row, by its root entity; of no row for a new object.
  final var rowKey: RowKey { RowKey(entity: table.entity.schema.root, id: key) }

  /// What the next save puts into a to-one slot: `.some(nil)` is none; nil where it changes nothing.
  fileprivate final func unsavedKey(_ slot: Int) -> Int64?? {
    if flags.contains(.isDraft) { return .some(table.draftKey(slot, Int(row))) }
    guard let value = changes?.values[slot] else { return nil }
    if case .key(let key) = value { return .some(key) }
    return .some(nil)
  }

  /// The version of the row that the object's values are of.
  final var rowVersion: Int64 {
    guard let chunk else { return 0 }
    // Nobody lets go of the chunk meanwhile.
    return Unmanaged.passUnretained(chunk)._withUnsafeGuaranteedRef {
      $0.withVersions { versions in
        if let damage = versions.damage { managedObjectContext?.keep(damage) }
        return versions.integer(Int(row))
      }
    }
  }
}
