// Random change sets: most of them sound, some stale, some with one fault.

import CairnModel
import Foundation

extension RandomRun {
  func commit() throws {
    try refreshRows()
    var generator = RandomChanges(self)
    var changes = try generator.make()
    var what = "committing"
    if random.chance(12), let fault = try addFault(to: &changes) { what += " with a fault, \(fault)," }
    operation = "\(what) \(changes.summary(schema))"
    try both({ try subject.commit(changes) }, { try oracle.commit(changes) }) { mine, theirs in
      if mine.generation != theirs.generation {
        throw Difference("generation \(mine.generation.number) instead of \(theirs.generation.number)")
      }
      try compareKeys("inserted", mine.inserted, theirs.inserted)
      try compareKeys("deleted", mine.deleted, theirs.deleted)
      let (a, b) = (properties(mine), properties(theirs))
      if a != b { throw Difference("updated \(a) instead of \(b)") }
    }
  }

  private func compareKeys(_ what: String, _ mine: [RowKey], _ theirs: [RowKey]) throws {
    if mine.sorted() != theirs.sorted() {
      throw Difference("\(what) \(mine.map(\.id)) instead of \(theirs.map(\.id))")
    }
  }

  /// The names of changed properties by row, as one line a row. (What names a store gives to elements of
  /// composite attributes, and to new rows, is the affair of a law.)
  private func properties(_ commit: Commit) -> [String] {
    var names: [RowKey: Set<String>] = [:]
    let new = Set(commit.inserted)
    for (key, properties) in commit.updated where !new.contains(key) {
      names[key, default: []].formUnion(properties.map { String($0.prefix { $0 != "." }) })
    }
    return names.map { "\($0.key.entity.index)/\($0.key.id): \($0.value.sorted())" }.sorted()
  }

  // MARK: Faults

  /// Puts one fault into a sound change set, and says which; nil if there is nothing to spoil.
  private func addFault(to changes: inout ChangeSet) throws -> String? {
    // With a stale version besides, which error comes first would be anyone's choice.
    for index in changes.updates.indices { changes.updates[index].versions = nil }
    for index in changes.deletes.indices { changes.deletes[index].versions = nil }
    let entity = random.pick(concreteEntities)
    let nulls = [Column?](repeating: nil, count: entity.slots.count)
    switch random.below(9) {
    case 0:
      changes.inserts.append(.init(entity: entity.id, keys: [Int64.max / 2], columns: nulls))
      return "an unreserved key"
    case 1:
      guard let row = keys(of: entity.id).first(where: { !changes.names($0) }) else { return nil }
      changes.inserts.append(.init(entity: entity.id, keys: [row.id], columns: nulls))
      return "a key that is taken"
    case 2:
      let keys = try freshKeys(1, of: entity.id)
      changes.inserts.append(.init(entity: entity.id, keys: keys.map(\.id), columns: nulls + [nil]))
      return "a column too many"
    case 3:
      guard let abstract = schema.entities.first(where: \.isAbstract) else { return nil }
      let keys = try freshKeys(1, of: abstract.id)
      let columns = [Column?](repeating: nil, count: abstract.slots.count)
      changes.inserts.append(.init(entity: abstract.id, keys: keys.map(\.id), columns: columns))
      return "an abstract entity"
    case 4:
      changes.deletes.append(.init(entity: entity.id, keys: try freshKeys(1, of: entity.id).map(\.id)))
      return "a delete of a row that isn't there"
    case 5:
      let keys = try freshKeys(3, of: entity.id)
      if keys.count < 2 { return nil }
      changes.inserts.append(.init(entity: entity.id, keys: keys.map(\.id).reversed(), columns: nulls))
      return "descending keys"
    case 6:
      let key = try freshKeys(1, of: entity.id)[0]
      guard let slot = entity.slots.firstIndex(where: { $0.type == .key }) else { return nil }
      let builder = ColumnBuilder(.key)
      builder.append(Int64.max - 1)
      var columns = nulls
      columns[slot] = builder.finish()
      changes.inserts.append(.init(entity: entity.id, keys: [key.id], columns: columns))
      return "a dangling key"
    case 7:
      changes.deletes.append(.init(entity: EntityID(schema.entities.count), keys: [1]))
      return "an unknown entity"
    default:
      guard let row = keys(of: entity.id).first(where: { $0.entity == entity.id && !changes.names($0) })
      else { return nil }
      let builder = ColumnBuilder(entity.slots[0].type == .int64 ? .string : .int64)
      builder.appendNull()
      changes.updates.append(
        .init(entity: entity.id, keys: [row.id], versions: nil, slots: [0], columns: [builder.finish()]))
      return "a column of another type"
    }
  }
}

extension ChangeSet {
  /// Whether the row stands in a batch of rows.
  func names(_ key: RowKey) -> Bool {
    inserts.contains { $0.entity == key.entity && $0.keys.contains(key.id) }
      || updates.contains { $0.entity == key.entity && $0.keys.contains(key.id) }
      || deletes.contains { $0.entity == key.entity && $0.keys.contains(key.id) }
  }

  /// The change set as an error message shows it.
  func summary(_ schema: Schema) -> String {
    func values(_ columns: [(String, Column)], _ row: Int) -> String {
      columns.compactMap { name, column in
        guard row < column.count, !column.isNull(row) else { return nil }
        return "\(name): \(column.value(row).description.prefix(20))"
      }.joined(separator: ", ")
    }
    func name(_ id: EntityID) -> String {
      schema.entities.indices.contains(id.index) ? schema[id].name : "entity \(id.index)"
    }
    var lines: [String] = []
    for batch in inserts {
      let named = zip(schema[batch.entity].slots, batch.columns).compactMap { slot, column in
        column.map { (slot.name, $0) }
      }
      for (row, key) in batch.keys.enumerated().prefix(12) {
        lines.append("insert \(name(batch.entity)) \(key) {\(values(named, row))}")
      }
    }
    for batch in updates {
      let named = zip(batch.slots, batch.columns).map { (schema[batch.entity].slots[$0].name, $1) }
      for (row, key) in batch.keys.enumerated() {
        let version = batch.versions.map { " version \($0[row])" } ?? ""
        lines.append("update \(name(batch.entity)) \(key)\(version) \(batch.slots) {\(values(named, row))}")
      }
    }
    for batch in deletes {
      lines.append(
        "delete \(name(batch.entity)) \(batch.keys) \(batch.versions.map { "versions \($0)" } ?? "")")
    }
    for link in links {
      let relation = schema[link.relationship]
      lines.append("link \(name(link.owner.entity)) \(link.owner.id).\(relation.name) \(link.change.summary)")
    }
    return lines.joined(separator: "\n  ")
  }
}

extension ChangeSet.LinkChange {
  fileprivate var summary: String {
    switch self {
    case .add(let keys): "add \(keys.map(\.id))"
    case .remove(let keys): "remove \(keys.map(\.id))"
    case .replace(let keys): "replace \(keys.map(\.id))"
    }
  }
}

/// One change set in the making: sound, except that a version may be stale or a value not unique.
private struct RandomChanges {
  private let run: RandomRun
  private var changes = ChangeSet()
  private var touched: Set<RowKey> = []
  private var deleted: Set<RowKey> = []
  private var inserted: [RowKey] = []
  /// What key slots will hold after the commit, for the rows touched.
  private var newKeys: [RowKey: [Int: Value]] = [:]
  /// Destinations of one-to-one relationships that this change set has taken.
  private var taken: Set<RowKey> = []

  init(_ run: RandomRun) {
    self.run = run
  }

  private var schema: Schema { run.schema }

  mutating func make() throws -> ChangeSet {
    changes.author = run.random.chance(20) ? "author" : nil
    for _ in 0..<run.random.below(2) { delete() }
    // Keys first, so that new rows can refer to each other.
    var batches: [(SchemaEntity, [RowKey])] = []
    for _ in 0..<run.random.below(3) {
      let entity = run.random.pick(run.concreteEntities)
      let isLarge = run.random.chance(run.largestBatch > 1_000 ? 10 : 1)
      let count = isLarge ? run.largestBatch : 1 + run.random.below(3)
      let keys = try run.freshKeys(count, of: entity.id)
      batches.append((entity, keys))
      inserted += keys
    }
    for (entity, keys) in batches { try insert(keys, of: entity) }
    for _ in 0..<run.random.below(4) { try update() }
    for _ in 0..<run.random.below(4) { try link() }
    return changes
  }

  private mutating func delete() {
    let entity = run.random.pick(run.concreteEntities)
    let rows = run.rows[entity.id] ?? []
    // Tables that have grown large are cut back, so that a run doesn't slow down.
    let isCrowded = rows.count > (run.largestBatch > 1_000 ? run.largestBatch * 3 : 60)
    for row in run.random.some(rows, upTo: isCrowded ? run.largestBatch / 3 : 2)
    where touched.insert(row.key).inserted {
      deleted.insert(row.key)
      changes.deletes.append(
        .init(entity: entity.id, keys: [row.key.id], versions: version(row).map { [$0] }))
    }
  }

  private func version(_ row: StoredRow) -> Int64? {
    if run.random.chance(2) { return row.version + (run.random.chance(50) ? 1 : -1) }
    return run.random.chance(60) ? row.version : nil
  }

  private mutating func insert(_ keys: [RowKey], of entity: SchemaEntity) throws {
    let columns = try entity.slots.indices.map { slot -> Column? in
      if run.random.chance(15) { return nil }
      if case .order = entity.slots[slot].role { return nil }
      let builder = ColumnBuilder(entity.slots[slot].type)
      for key in keys { try builder.append(value: value(entity, slot, of: key)) }
      return builder.finish()
    }
    changes.inserts.append(.init(entity: entity.id, keys: keys.map(\.id), columns: columns))
  }

  private mutating func update() throws {
    let entity = run.random.pick(run.concreteEntities)
    guard let row = run.random.some(run.rows[entity.id] ?? [], upTo: 1).first,
      touched.insert(row.key).inserted
    else { return }
    let free = entity.slots.indices.filter { if case .order = entity.slots[$0].role { false } else { true } }
    let slots = run.random.some(free, upTo: 4).sorted()
    let columns = try slots.map { slot in
      let builder = ColumnBuilder(entity.slots[slot].type)
      try builder.append(value: value(entity, slot, of: row.key))
      return builder.finish()
    }
    changes.updates.append(
      .init(
        entity: entity.id, keys: [row.key.id], versions: version(row).map { [$0] }, slots: slots,
        columns: columns))
  }

  private mutating func value(_ entity: SchemaEntity, _ slot: Int, of key: RowKey) throws -> Value {
    let described = entity.slots[slot]
    guard case .toOne(let id) = described.role else {
      let isUnique = entity.uniquenessConstraints.contains { $0.slots.contains(slot) }
      return run.random.chance(20) ? .null : run.random.value(described.type, variety: isUnique ? 400 : 9)
    }
    let value = try destination(of: schema[id]).map(\.value) ?? .null
    newKeys[key, default: [:]][slot] = value
    return value
  }

  /// A row for a to-one relationship; in a one-to-one, a row that nobody leads to.
  private mutating func destination(of relation: SchemaRelationship) throws -> RowKey? {
    let choices = members(of: relation.destination)
    guard !choices.isEmpty, run.random.chance(75) else { return nil }
    let choice = run.random.pick(choices)
    guard let inverse = relation.inverse, !schema[inverse].isToMany else { return choice }
    let claims = try run.oracle.related([choice], through: inverse, in: run.oracle.snapshot())
    return claims.keys.isEmpty && taken.insert(choice).inserted ? choice : nil
  }

  /// The rows of a family that are there after the commit.
  private func members(of entity: EntityID) -> [RowKey] {
    let family = schema[entity].concreteFamily
    return run.keys(of: entity).filter { !deleted.contains($0) }
      + inserted.filter { family.contains($0.entity) }
  }

  private mutating func link() throws {
    if schema.relationships.isEmpty { return }
    let relation = run.random.pick(schema.relationships)
    guard let owner = run.random.some(members(of: relation.owner), upTo: 1).first else { return }
    switch relation.storage {
    case .join:
      let members = run.random.some(members(of: relation.destination), upTo: 5)
      let change: ChangeSet.LinkChange
      switch run.random.below(10) {
      case ..<5: change = .add(members)
      case ..<7: change = .remove(members)
      default: change = .replace(members)
      }
      changes.links.append(.init(relation.id, of: owner, change))
    case .inverse(let slot, _?):
      let all = run.random.some(try listMembers(of: owner, relation, slot), upTo: 1_000)
      let whole = try listMembers(of: owner, relation, slot).shuffled(using: &run.random)
      changes.links.append(.init(relation.id, of: owner, run.random.chance(60) ? .replace(whole) : .add(all)))
    default: return
    }
  }

  /// The rows whose key will lead to `owner`.
  private func listMembers(of owner: RowKey, _ relation: SchemaRelationship, _ slot: Int) throws -> [RowKey] {
    let old = try run.oracle.related([owner], through: relation.id, in: run.oracle.snapshot()).keys
    let stay = old.filter { !deleted.contains($0) && newKeys[$0]?[slot] == nil }
    return stay + newKeys.filter { $0.value[slot] == owner.value }.map(\.key).sorted()
  }
}
