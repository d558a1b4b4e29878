// Work on a store that says everything by name, so that stores whose schemas have other orders do the same;
// and what they hold afterwards, by name.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

/// One commit in the making, by names. A row stands in one batch, whatever is changed of it.
struct NamedChanges {
  private let store: any PersistentStore
  private let schema: Schema
  private let snapshot: any StoreSnapshot
  private var random: SplitMix64
  private var inserted: [RowKey: [String: Value]] = [:]
  private var updated: [RowKey: [String: Value]] = [:]
  private var deleted: Set<RowKey> = []
  private var links: [ChangeSet.Links] = []

  /// Commits step `step` of a work that depends on nothing but the names and the rows that are there.
  @discardableResult
  static func commit(_ step: Int, _ store: any PersistentStore) throws -> Commit {
    var changes = try NamedChanges(step, store)
    try changes.insertRows(step)
    if step > 0 {
      try changes.changeAttributes(step)
      if step.isMultiple(of: 3) { try changes.deleteRow() }
      for relation in changes.relationships { try changes.relate(relation) }
    }
    return try store.commit(changes.changeSet(step))
  }

  private init(_ step: Int, _ store: any PersistentStore) throws {
    self.store = store
    schema = store.schema
    snapshot = try store.snapshot()
    random = SplitMix64(seed: UInt64(step))
  }

  // MARK: What there is

  private var concrete: [SchemaEntity] {
    schema.entities.filter { !$0.isAbstract }.sorted { $0.name < $1.name }
  }

  /// Of each pair of inverses the one that comes first by name.
  private var relationships: [SchemaRelationship] {
    func name(_ relation: SchemaRelationship) -> String {
      "\(schema[relation.owner].name).\(relation.name)"
    }
    return schema.relationships.filter { relation in
      relation.storage != .none && relation.inverse.map { name(relation) <= name(schema[$0]) } ?? true
    }.sorted { name($0) < name($1) }
  }

  /// The rows of an entity and those that inherit from it, but for deleted ones.
  private func rows(_ entity: EntityID) throws -> [RowKey] {
    try store.fetch(StoreRequest(entity: entity), in: snapshot).keys.filter { !deleted.contains($0) }
      .sorted { $0.id < $1.id }
  }

  private func related(_ row: RowKey, _ relation: RelationshipID) throws -> [RowKey] {
    try store.related([row], through: relation, in: snapshot)[0].inOrder(of: schema[relation])
  }

  private mutating func pick<T>(_ list: [T]) -> T? { list.randomElement(using: &random) }

  // MARK: Rows

  private mutating func insertRows(_ step: Int) throws {
    for entity in concrete {
      // Other counts for each hierarchy, so that nobody takes one's keys for another's.
      let count = 2 + entity.name.count % 3
      for key in try store.reserveKeys(count, root: entity.root) {
        var values: [String: Value] = [:]
        for slot in entity.slots where slot.role == .attribute {
          values[slot.name] = value(slot, Int(key) * 31 + step)
        }
        inserted[RowKey(entity: entity.id, id: key)] = values
      }
    }
  }

  private func value(_ slot: Slot, _ number: Int) -> Value {
    let number = number + slot.name.utf8.reduce(0) { $0 + Int($1) }
    if number.isMultiple(of: 7) { return .null }
    let text = "\(slot.name) \(number)"
    return switch slot.type {
    case .int16, .int32, .int64: .int(Int64(number % 30_000))
    case .decimal: .decimal(Decimal(number) / 100)
    case .double: .double(Double(number) / 3)
    case .float: .float(Float(number) / 3)
    case .string: .string(text)
    case .bool: .bool(number.isMultiple(of: 2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .data: .data(Data(repeating: UInt8(number % 256), count: number % 37 == 0 ? 9_000 : number % 50))
    case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number % 256))))
    case .uri: .uri("x-test:///\(number)")
    case .transformable: .data(Data(text.utf8))
    case .key: .null
    }
  }

  private mutating func changeAttributes(_ step: Int) throws {
    for entity in concrete {
      let rows = try rows(entity.id).filter { $0.entity == entity.id }
      guard let row = pick(rows) else { continue }
      for slot in entity.slots.filter({ $0.role == .attribute }).sorted(by: { $0.name < $1.name })
      where Bool.random(using: &random) {
        set(row, slot.name, value(slot, 1_000 * step + Int(row.id)))
      }
    }
  }

  private mutating func set(_ row: RowKey, _ slot: String, _ value: Value) {
    if inserted[row] != nil { inserted[row]![slot] = value } else { updated[row, default: [:]][slot] = value }
  }

  /// A row goes, and no key leads to it any more.
  private mutating func deleteRow() throws {
    guard let entity = pick(concrete), let row = pick(try rows(entity.id)) else { return }
    updated[row] = nil
    for relation in schema.relationships {
      guard case .key(let slot) = relation.storage,
        schema[relation.destination].root == schema[row.entity].root
      else { continue }
      let name = schema[relation.owner].slots[slot].name
      for other in try rows(relation.owner) where other != row {
        if try related(other, relation.id).contains(where: { $0.id == row.id }) { set(other, name, .null) }
      }
    }
    deleted.insert(row)
  }

  // MARK: Relationships

  private mutating func relate(_ relation: SchemaRelationship) throws {
    switch relation.storage {
    case .join: try changeLinks(relation)
    case .key, .inverse:
      let inverse = relation.inverse.map { schema[$0] }
      if relation.isToMany {
        try point(inverse!, orderedBy: relation)
      } else if let inverse, !inverse.isToMany {
        try pair(relation, inverse)
      } else {
        try point(relation, orderedBy: inverse)
      }
    case .none: break
    }
  }

  /// Some rows, and new ones, lead to another owner; then one list is turned round.
  private mutating func point(_ toOne: SchemaRelationship, orderedBy list: SchemaRelationship?) throws {
    guard case .key(let slot) = toOne.storage else { return }
    let name = schema[toOne.owner].slots[slot].name
    let owners = try rows(toOne.destination)
    let family = Set(schema[toOne.owner].concreteFamily)
    let new = inserted.keys.filter { family.contains($0.entity) }.sorted { $0.id < $1.id }
    var moved: Set<RowKey> = []
    var targets: Set<RowKey> = []
    for row in try rows(toOne.owner).shuffled(using: &random).prefix(3) + new {
      guard let owner = pick(owners) else { return }
      set(row, name, owner.id.isMultiple(of: 5) ? .null : .key(owner.id))
      moved.insert(row)
      targets.insert(owner)
    }
    // A row that stays where it was would share its place with another.
    guard let list, list.isOrdered, let owner = pick(owners.filter { !targets.contains($0) }) else { return }
    let members = try related(owner, list.id).filter { !moved.contains($0) && !deleted.contains($0) }
    if members.count > 1 { links.append(.init(list.id, of: owner, .replace(members.reversed()))) }
  }

  /// Two rows become a pair, and leave those that they had.
  private mutating func pair(_ relation: SchemaRelationship, _ inverse: SchemaRelationship) throws {
    guard let a = pick(try rows(relation.owner)),
      let b = pick(try rows(relation.destination).filter { $0.id != a.id || $0.entity != a.entity })
    else { return }
    func keySlot(_ relation: SchemaRelationship) -> String? {
      guard case .key(let slot) = relation.storage else { return nil }
      return schema[relation.owner].slots[slot].name
    }
    for (row, forward, back) in [(a, relation, inverse), (b, inverse, relation)] {
      for old in try related(row, forward.id) where old != a && old != b {
        if let slot = keySlot(forward) { set(row, slot, .null) }
        if let slot = keySlot(back), !deleted.contains(old) { set(old, slot, .null) }
      }
    }
    if let slot = keySlot(relation) { set(a, slot, .key(b.id)) }
    if let slot = keySlot(inverse) { set(b, slot, .key(a.id)) }
  }

  private mutating func changeLinks(_ relation: SchemaRelationship) throws {
    let isBackwards = relation.inverse != nil && Bool.random(using: &random)
    let relation = isBackwards ? schema[relation.inverse!] : relation
    guard let owner = pick(try rows(relation.owner)) else { return }
    let members = try related(owner, relation.id).filter { !deleted.contains($0) }
    let others = try rows(relation.destination).filter { !members.contains($0) }.shuffled(using: &random)
    links.append(.init(relation.id, of: owner, .add(Array(others.prefix(3)))))
    if let gone = pick(members) { links.append(.init(relation.id, of: owner, .remove([gone]))) }
    guard let second = pick(try rows(relation.owner).filter { $0 != owner }) else { return }
    links.append(.init(relation.id, of: second, .replace(Array(others.suffix(4)))))
  }

  // MARK: The change set

  private func changeSet(_ step: Int) throws -> ChangeSet {
    var changes = ChangeSet(author: "step \(step)", contextName: step.isMultiple(of: 2) ? "even" : nil)
    func byName(_ a: RowKey, _ b: RowKey) -> Bool {
      (schema[a.entity].name, a.id) < (schema[b.entity].name, b.id)
    }
    for key in inserted.keys.sorted(by: byName) { try changes.insert(key, inserted[key]!, in: schema) }
    for key in updated.keys.sorted(by: byName) where !deleted.contains(key) {
      try changes.update(key, updated[key]!, in: schema)
    }
    for key in deleted.sorted(by: byName) { changes.delete(key) }
    changes.links = links
    return changes
  }
}

/// What a store holds, by name.
struct NamedFacts: Equatable {
  let generation: Int64
  /// By entity and key: attributes and relationships by name, and the version.
  let rows: [String: [String: String]]

  /// `versions` say how often a row itself was changed, which of a pair depends on the side that has the key.
  init(_ store: any PersistentStore, versions: Bool = true) throws {
    let schema = store.schema
    let snapshot = try store.snapshot()
    generation = snapshot.generation.number
    var result: [String: [String: String]] = [:]
    for entity in schema.entities where !entity.isAbstract {
      let batch = try store.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
      let relations = entity.relationships.filter { schema[$0].storage != .none }
      let related = try relations.map { try store.related(batch.keys, through: $0, in: snapshot) }
      for index in 0..<batch.count {
        let row = StoredRow(batch, index)
        var facts: [String: String] = [:]
        for (slot, value) in zip(entity.slots, row.values) where slot.role == .attribute {
          facts[slot.name] = "\(value)"
        }
        for (relation, keys) in zip(relations, related) {
          facts[schema[relation].name] = keys[index].inOrder(of: schema[relation]).map {
            "\(schema[$0.entity].name) \($0.id)"
          }.joined(separator: ", ")
        }
        if versions { facts["version"] = "\(row.version)" }
        result["\(entity.name) \(row.key.id)"] = facts
      }
    }
    rows = result
  }

  /// The first thing that differs; nil where nothing does.
  func difference(_ other: NamedFacts) -> String? {
    if generation != other.generation { return "generation \(generation) and \(other.generation)" }
    for key in Set(rows.keys).union(other.rows.keys).sorted() {
      guard let a = rows[key], let b = other.rows[key] else { return "only one has \(key)" }
      for name in Set(a.keys).union(b.keys).sorted() where a[name] != b[name] {
        return "\(key), \(name): \(a[name] ?? "none") and \(b[name] ?? "none")"
      }
    }
    return nil
  }
}

extension ArraySlice<RowKey> {
  /// As they stand in a list; without one by number, since entities have other numbers elsewhere.
  fileprivate func inOrder(of relation: SchemaRelationship) -> [RowKey] {
    relation.isOrdered ? Array(self) : sorted { $0.id < $1.id }
  }
}

extension Commit {
  /// What it tells, by name.
  func text(_ schema: Schema) -> String {
    func rows(_ rows: [Commit.Rows]) -> String {
      rows.map { "\(schema[$0.entity].name) \($0.runs) \($0.properties.sorted())" }.sorted()
        .joined(separator: ", ")
    }
    return
      "\(generation.number) \(author ?? "-") \(contextName ?? "-") \(time.timeIntervalSinceReferenceDate) "
      + "+ \(rows(insertedRows)) ~ \(rows(updatedRows)) - \(rows(deletedRows))"
  }
}
