// How the toy store applies a change set: it checks, works on a copy, checks again, and hands the copy over.

import CairnModel
import Foundation

struct ToyCommit {
  let schema: Schema
  let changes: ChangeSet
  let before: ToyState
  let lastKeys: [EntityID: Int64]
  private(set) var after: ToyState
  private(set) var inserted: [RowKey] = []
  private(set) var deleted: [RowKey] = []
  /// The names of the changed properties by row.
  private(set) var changed: [RowKey: Set<String>] = [:]
  private var updated: Set<RowKey> = []
  private var stale: [CommitConflict.Stale] = []

  init(schema: Schema, changes: ChangeSet, before: ToyState, lastKeys: [EntityID: Int64]) {
    self.schema = schema
    self.changes = changes
    self.before = before
    self.lastKeys = lastKeys
    after = before
    after.generation += 1
  }

  mutating func run() throws {
    for batch in changes.updates { try update(batch) }
    for batch in changes.inserts { try insert(batch) }
    for batch in changes.deletes { try delete(batch) }
    for links in changes.links { try link(links) }
    try checkReferences()
    let duplicates = findDuplicates()
    if !stale.isEmpty || !duplicates.isEmpty {
      throw CommitConflict(stale: stale, duplicates: duplicates)
    }
  }

  // MARK: Rows

  private func concrete(_ id: EntityID) throws -> SchemaEntity {
    guard schema.entities.indices.contains(id.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(id.index)")
    }
    if schema[id].isAbstract { throw StoreError(.abstractEntity, "it is abstract", entity: schema[id].name) }
    return schema[id]
  }

  private func checkKeys(_ keys: [Int64], _ versions: [Int64]?) throws {
    if Set(keys).count < keys.count { throw StoreError(.duplicateKey, "a key is there twice") }
    if keys != keys.sorted() { throw StoreError(.malformedChangeSet, "keys don't ascend") }
    if let versions, versions.count != keys.count {
      throw StoreError(.malformedChangeSet, "\(versions.count) versions for \(keys.count) keys")
    }
  }

  private func check(_ column: Column, _ type: ValueType, _ count: Int) throws {
    if column.type != type { throw StoreError(.wrongType, "\(column.type) for a slot of \(type)") }
    if column.count != count {
      throw StoreError(.malformedChangeSet, "\(column.count) values for \(count) rows")
    }
  }

  private mutating func insert(_ batch: ChangeSet.Inserts) throws {
    let entity = try concrete(batch.entity)
    try checkKeys(batch.keys, nil)
    guard batch.columns.count == entity.slots.count else {
      throw StoreError(.malformedChangeSet, "\(batch.columns.count) columns for \(entity.slots.count) slots")
    }
    for (slot, column) in zip(entity.slots, batch.columns) {
      if let column { try check(column, slot.type, batch.keys.count) }
    }
    for (index, id) in batch.keys.enumerated() {
      guard id > 0, id <= lastKeys[entity.root] ?? 0 else {
        throw StoreError(.unknownKey, "\(id) isn't reserved")
      }
      if after.rows[entity.root]?[id] != nil { throw StoreError(.duplicateKey, "\(id) is there already") }
      let values = batch.columns.map { $0?.value(index) ?? .null }
      after.rows[entity.root, default: [:]][id] = ToyRow(entity: entity.id, version: 1, values: values)
      place(id, entity, Array(values.indices))
      inserted.append(RowKey(entity: entity.id, id: id))
    }
  }

  private mutating func update(_ batch: ChangeSet.Updates) throws {
    let entity = try concrete(batch.entity)
    try checkKeys(batch.keys, batch.versions)
    guard batch.slots.count == batch.columns.count, Set(batch.slots).count == batch.slots.count else {
      throw StoreError(.malformedChangeSet, "slots and columns don't fit")
    }
    for (slot, column) in zip(batch.slots, batch.columns) {
      guard entity.slots.indices.contains(slot) else {
        throw StoreError(.unknownProperty, "there is no slot \(slot)", entity: entity.name)
      }
      try check(column, entity.slots[slot].type, batch.keys.count)
    }
    for (index, id) in batch.keys.enumerated() {
      let key = RowKey(entity: entity.id, id: id)
      guard try isFresh(key, entity, batch.versions?[index]) else { continue }
      if updated.contains(key) { throw StoreError(.duplicateKey, "\(id) is updated twice") }
      if batch.slots.isEmpty { continue }
      for (slot, column) in zip(batch.slots, batch.columns) {
        after.rows[entity.root]![id]!.values[slot] = column.value(index)
      }
      after.rows[entity.root]![id]!.version += 1
      place(id, entity, batch.slots)
      updated.insert(key)
      changed[key] = Set(batch.slots.map { propertyName(entity.slots[$0].name) })
    }
  }

  /// A row that comes to an ordered list without a place goes to its end.
  private mutating func place(_ id: Int64, _ entity: SchemaEntity, _ slots: [Int]) {
    for (slot, described) in entity.slots.enumerated() {
      guard case .order(let keySlot) = described.role, slots.contains(keySlot),
        case .toOne(let relation) = entity.slots[keySlot].role
      else { continue }
      let values = after.rows[entity.root]![id]!.values
      let stays = before.rows[entity.root]?[id]?.values[keySlot] == values[keySlot]
      if !values[keySlot].isNull, !values[slot].isNull, stays || slots.contains(slot) { continue }
      after.rows[entity.root]![id]!.values[slot] =
        values[keySlot].isNull
        ? .null : .int(lastPlace(values[keySlot], keySlot, slot, schema[relation], but: id) + 1)
    }
  }

  private func lastPlace(
    _ owner: Value, _ keySlot: Int, _ slot: Int, _ relation: SchemaRelationship, but id: Int64
  ) -> Int64 {
    let family = schema[relation.owner].concreteFamily
    var last: Int64 = 0
    for (other, row) in after.rows[schema[relation.owner].root] ?? [:] {
      guard other != id, family.contains(row.entity), row.values[keySlot] == owner else { continue }
      if case .int(let place) = row.values[slot] { last = max(last, place) }
    }
    return last
  }

  /// An element of a composite attribute and a place in a list count as the property that they belong to.
  private func propertyName(_ slot: String) -> String { String(slot.split(separator: ".")[0]) }

  private mutating func delete(_ batch: ChangeSet.Deletes) throws {
    let entity = try concrete(batch.entity)
    try checkKeys(batch.keys, batch.versions)
    for (index, id) in batch.keys.enumerated() {
      let key = RowKey(entity: entity.id, id: id)
      if updated.contains(key) { throw StoreError(.duplicateKey, "\(id) is updated and deleted") }
      if deleted.contains(key) { throw StoreError(.duplicateKey, "\(id) is deleted twice") }
      guard try isFresh(key, entity, batch.versions?[index]) else { continue }
      after.rows[entity.root]![id] = nil
      dropJoinRows(of: key)
      deleted.append(key)
    }
  }

  /// Whether the row is there in the expected version; notes it as stale otherwise.
  private mutating func isFresh(_ key: RowKey, _ entity: SchemaEntity, _ expected: Int64?) throws -> Bool {
    let row = before.rows[entity.root]?[key.id]
    if let row, row.entity != key.entity { throw StoreError(.unknownKey, "\(key.id) is of another entity") }
    guard let expected else {
      if row == nil { throw StoreError(.unknownKey, "there is no row \(key.id)", entity: entity.name) }
      return true
    }
    if key.id <= 0 || key.id > lastKeys[entity.root] ?? 0 {
      throw StoreError(.unknownKey, "\(key.id) isn't reserved")
    }
    if row?.version == expected { return true }
    let stored = row.map { StoredRow(key: key, version: $0.version, values: $0.values) }
    stale.append(CommitConflict.Stale(key: key, expected: expected, stored: stored))
    return false
  }

  // MARK: Links

  private mutating func link(_ links: ChangeSet.Links) throws {
    guard schema.relationships.indices.contains(links.relationship.index) else {
      throw StoreError(.unknownProperty, "there is no relationship number \(links.relationship.index)")
    }
    let relation = schema[links.relationship]
    let entity = try concrete(links.owner.entity)
    guard entity.relationship(named: relation.name) == relation.id else {
      throw StoreError(.unknownProperty, "no such relationship", entity: entity.name, property: relation.name)
    }
    guard isThere(links.owner.id, in: entity.id) else {
      throw StoreError(.unknownKey, "there is no row \(links.owner.id)", entity: entity.name)
    }
    if Set(links.change.members).count < links.change.members.count {
      throw StoreError(.malformedChangeSet, "a member is there twice")
    }
    switch relation.storage {
    case .join(let number, let side):
      try changeJoin(links, relation, number, side)
    case .inverse(let slot, let order?):
      try changeOrder(links, relation, slot, order)
    default:
      throw StoreError(
        .malformedChangeSet, "it is kept in rows", entity: entity.name, property: relation.name)
    }
    if !inserted.contains(links.owner) { changed[links.owner, default: []].insert(relation.name) }
  }

  private func isThere(_ id: Int64, in destination: EntityID) -> Bool {
    guard let row = after.rows[schema[destination].root]?[id] else { return false }
    return schema[destination].concreteFamily.contains(row.entity)
  }

  private func requireAll(_ keys: [RowKey], _ relation: SchemaRelationship) throws {
    for key in keys {
      let isRelated =
        schema.entities.indices.contains(key.entity.index)
        && schema[key.entity].root == schema[relation.destination].root
      guard isRelated, isThere(key.id, in: relation.destination) else {
        throw StoreError(.danglingReference, "there is no row \(key.id)", property: relation.name)
      }
    }
  }

  private mutating func changeJoin(
    _ links: ChangeSet.Links, _ relation: SchemaRelationship, _ number: Int, _ side: JoinSide
  ) throws {
    let owner = links.owner.id
    let old = list(number, side, owner)
    switch links.change {
    case .add(let keys):
      try requireAll(keys, relation)
      for key in keys { addPair(number, side, owner, key.id) }
    case .remove(let keys):
      for key in keys { removePair(number, side, owner, key.id) }
    case .replace(let keys):
      try requireAll(keys, relation)
      for id in old where !keys.contains(where: { $0.id == id }) { removePair(number, side, owner, id) }
      for key in keys { addPair(number, side, owner, key.id) }
      setList(number, side, owner, keys.map(\.id))
    }
  }

  private func isSymmetric(_ number: Int) -> Bool { schema.joins[number].isSymmetric }

  private func list(_ number: Int, _ side: JoinSide, _ owner: Int64) -> [Int64] {
    let join = after.joins[number] ?? ToyJoin()
    return (side == .source || isSymmetric(number) ? join.forward : join.backward)[owner] ?? []
  }

  private mutating func setList(_ number: Int, _ side: JoinSide, _ owner: Int64, _ ids: [Int64]) {
    if side == .source || isSymmetric(number) {
      after.joins[number, default: ToyJoin()].forward[owner] = ids
    } else {
      after.joins[number, default: ToyJoin()].backward[owner] = ids
    }
  }

  private mutating func addPair(_ number: Int, _ side: JoinSide, _ owner: Int64, _ member: Int64) {
    for (side, a, b) in [(side, owner, member), (side.other, member, owner)] {
      let old = list(number, side, a)
      if !old.contains(b) { setList(number, side, a, old + [b]) }
    }
  }

  private mutating func removePair(_ number: Int, _ side: JoinSide, _ owner: Int64, _ member: Int64) {
    for (side, a, b) in [(side, owner, member), (side.other, member, owner)] {
      setList(number, side, a, list(number, side, a).filter { $0 != b })
    }
  }

  private mutating func dropJoinRows(of key: RowKey) {
    let root = schema[key.entity].root
    for join in schema.joins {
      let relation = schema[join.source]
      if schema[relation.owner].root == root {
        for id in list(join.index, .source, key.id) { removePair(join.index, .source, key.id, id) }
      }
      if schema[relation.destination].root == root {
        for id in list(join.index, .target, key.id) { removePair(join.index, .target, key.id, id) }
      }
    }
  }

  /// Numbers the members of an ordered list whose inverse is a to-one.
  private mutating func changeOrder(
    _ links: ChangeSet.Links, _ relation: SchemaRelationship, _ slot: Int, _ order: Int
  ) throws {
    let root = schema[relation.destination].root
    let members = ToyQuestion(schema: schema, state: after).destinations(of: links.owner, through: relation)
      .map(\.id)
    if links.change.members.contains(where: { !members.contains($0.id) }) {
      throw StoreError(.malformedChangeSet, "a row that doesn't lead here has no place in the list")
    }
    switch links.change {
    case .add(let keys):
      try requireAll(keys, relation)
      let new = keys.map(\.id).filter { before.rows[root]?[$0]?.values[slot] != .key(links.owner.id) }
      let rest = members.filter { !new.contains($0) }
      number(rest + new, order, root)
    case .remove:
      throw StoreError(.malformedChangeSet, "a member goes by a change of its own row")
    case .replace(let keys):
      try requireAll(keys, relation)
      let listed = keys.map(\.id)
      number(listed + members.filter { !listed.contains($0) }, order, root)
    }
  }

  private mutating func number(_ ids: [Int64], _ order: Int, _ root: EntityID) {
    for (place, id) in ids.enumerated() { after.rows[root]![id]!.values[order] = .int(Int64(place)) }
  }

  // MARK: Checks of the outcome

  /// Keys that this change set wrote have to lead to rows; older ones may dangle.
  private func checkReferences() throws {
    for batch in changes.inserts {
      try checkReferences(batch.entity, batch.keys, Array(batch.columns.enumerated()))
    }
    for batch in changes.updates {
      try checkReferences(batch.entity, batch.keys, zip(batch.slots, batch.columns).map { ($0, $1) })
    }
  }

  private func checkReferences(
    _ entity: EntityID, _ keys: [Int64], _ columns: [(offset: Int, element: Column?)]
  ) throws {
    for (slot, column) in columns {
      guard let column, case .toOne(let id) = schema[entity].slots[slot].role else { continue }
      for index in keys.indices {
        guard case .key(let key) = column.value(index) else { continue }
        if !isThere(key, in: schema[id].destination) {
          throw StoreError(.danglingReference, "there is no row \(key)", property: schema[id].name)
        }
      }
    }
  }

  private func findDuplicates() -> [CommitConflict.Duplicate] {
    let touched = updated.union(inserted)
    var seen: Set<SchemaConstraint> = []
    var result: [CommitConflict.Duplicate] = []
    for constraint in schema.entities.flatMap(\.uniquenessConstraints) where seen.insert(constraint).inserted
    {
      let family = schema[constraint.entity].concreteFamily
      var byValues: [[Value]: [RowKey]] = [:]
      for (id, row) in after.rows[schema[constraint.entity].root] ?? [:] where family.contains(row.entity) {
        let values = constraint.slots.map { row.values[$0] }
        if !values.contains(.null) {
          byValues[values, default: []].append(RowKey(entity: row.entity, id: id))
        }
      }
      for (values, keys) in byValues where keys.count > 1 {
        let stored = keys.first { !touched.contains($0) }
        result.append(
          CommitConflict.Duplicate(
            constraint: constraint, values: values, keys: keys.filter(touched.contains).sorted(),
            stored: stored.map { storedRow($0) }))
      }
    }
    return result
  }

  private func storedRow(_ key: RowKey) -> StoredRow {
    let row = before.rows[schema[key.entity].root]![key.id]!
    return StoredRow(key: key, version: row.version, values: row.values)
  }
}

extension ChangeSet.LinkChange {
  fileprivate var members: [RowKey] {
    switch self {
    case .add(let keys), .remove(let keys), .replace(let keys): keys
    }
  }
}
