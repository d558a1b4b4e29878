// What makes a change set acceptable. Nothing is changed here; the first fault of the change set's own sense is
// thrown with entity, property and value, and conflicts with the store are collected and thrown together.

import CairnModel

extension CommitWork {
  mutating func check() throws {
    let stale = try checkSense()
    let duplicates = try UniquenessCheck(self).duplicates()
    if !stale.isEmpty || !duplicates.isEmpty { throw CommitConflict(stale: stale, duplicates: duplicates) }
  }

  /// Of a change set that was committed before, on rows that should be the same: everything without which `apply`
  /// couldn't be sure of itself. Uniqueness isn't asked, which would need indexes of all rows.
  mutating func checkAgain() throws {
    if let stale = try checkSense().first {
      throw StoreError(
        .unknownKey, "row \(stale.key.id) isn't there, or in another version",
        entity: schema[stale.key.entity].name)
    }
  }

  /// Throws what is wrong with the change set itself; returns the rows that are stale.
  private mutating func checkSense() throws -> [CommitConflict.Stale] {
    for batch in changes.inserts { try check(batch) }
    for batch in changes.deletes { try checkShape(batch.entity, batch.keys, batch.versions) }
    for batch in changes.updates { try check(batch) }
    try checkOverlaps()
    var stale: [CommitConflict.Stale] = []
    for batch in changes.updates { try checkRows(batch.entity, batch.keys, batch.versions, &stale) }
    for batch in changes.deletes { try checkRows(batch.entity, batch.keys, batch.versions, &stale) }
    try checkReferences()
    for links in changes.links { try check(links) }
    return stale
  }

  // MARK: Shapes

  private mutating func check(_ batch: ChangeSet.Inserts) throws {
    let entity = try checkShape(batch.entity, batch.keys, nil)
    guard batch.columns.count == entity.slots.count else {
      throw StoreError(
        .malformedChangeSet, "\(batch.columns.count) columns for \(entity.slots.count) slots",
        entity: entity.name)
    }
    for (slot, column) in batch.columns.enumerated() {
      if let column { try check(column, entity, slot, batch.keys.count) }
    }
    let reserved = nextKeys[entity.root.index]
    if let key = batch.keys.last, key >= reserved {
      throw StoreError(
        .unknownKey, "key \(key) was never reserved", entity: entity.name, remedy: "call reserveKeys")
    }
    let family = schema[entity.root].concreteFamily.compactMap { base.tables[$0.index] }
    for table in family {
      // Keys behind a table's last row can't be there: the usual case of a load.
      guard let first = batch.keys.first, let last = table.chunks.last, first <= last.lastKey else {
        continue
      }
      if let key = batch.keys.first(where: { table.locate($0) != nil }) {
        throw StoreError(.duplicateKey, "key \(key) is a row's already", entity: entity.name)
      }
    }
    insertedKeys[entity.root, default: KeySet()].add(batch.keys)
  }

  private func check(_ batch: ChangeSet.Updates) throws {
    let entity = try checkShape(batch.entity, batch.keys, batch.versions)
    guard batch.columns.count == batch.slots.count else {
      throw StoreError(
        .malformedChangeSet, "\(batch.columns.count) columns for \(batch.slots.count) changed slots",
        entity: entity.name)
    }
    for (slot, column) in zip(batch.slots, batch.columns) {
      guard entity.slots.indices.contains(slot) else {
        throw StoreError(
          .unknownProperty, "there is no slot number \(slot) of \(entity.slots.count)", entity: entity.name)
      }
      try check(column, entity, slot, batch.keys.count)
    }
    if Set(batch.slots).count < batch.slots.count {
      throw StoreError(.malformedChangeSet, "a slot is changed twice in one batch", entity: entity.name)
    }
  }

  private func check(_ column: Column, _ entity: SchemaEntity, _ slot: Int, _ rowCount: Int) throws {
    let described = entity.slots[slot]
    if column.type != described.type {
      throw StoreError(
        .wrongType, "a column of \(column.type) for a slot of \(described.type)", entity: entity.name,
        property: described.name)
    }
    if column.count != rowCount {
      throw StoreError(
        .malformedChangeSet, "a column of \(column.count) rows for \(rowCount) keys", entity: entity.name,
        property: described.name)
    }
    if !column.holdsOnlyItsType {
      let row = (0..<column.count).first { !column.isNull($0) && !column.value($0).fits(column.type) }
      throw StoreError(
        .wrongType,
        "\(row.map { "\(column.integer($0))" } ?? "a value") does not fit the type \(column.type)",
        entity: entity.name, property: described.name)
    }
  }

  @discardableResult
  private func checkShape(_ id: EntityID, _ keys: [Int64], _ versions: [Int64]?) throws -> SchemaEntity {
    guard schema.entities.indices.contains(id.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(id.index)")
    }
    let entity = schema[id]
    if entity.isAbstract {
      throw StoreError(.abstractEntity, "an abstract entity has no rows", entity: entity.name)
    }
    if let versions, versions.count != keys.count {
      throw StoreError(
        .malformedChangeSet, "\(versions.count) versions for \(keys.count) keys", entity: entity.name)
    }
    if let first = keys.first, first < 1 {
      throw StoreError(.unknownKey, "\(first) is no key: keys are positive", entity: entity.name)
    }
    for i in keys.indices.dropFirst() where keys[i] <= keys[i - 1] {
      throw keys[i] == keys[i - 1]
        ? StoreError(.duplicateKey, "key \(keys[i]) stands twice in one batch", entity: entity.name)
        : StoreError(
          .malformedChangeSet, "the keys of a batch ascend; \(keys[i]) follows \(keys[i - 1])",
          entity: entity.name)
    }
    return entity
  }

  /// No row is touched by two batches.
  private mutating func checkOverlaps() throws {
    for batch in changes.deletes { deletedKeys[schema[batch.entity].root, default: KeySet()].add(batch.keys) }
    var byRoot: [EntityID: [[Int64]]] = [:]
    for batch in changes.inserts { byRoot[schema[batch.entity].root, default: []].append(batch.keys) }
    for batch in changes.updates { byRoot[schema[batch.entity].root, default: []].append(batch.keys) }
    for batch in changes.deletes { byRoot[schema[batch.entity].root, default: []].append(batch.keys) }
    for (root, lists) in byRoot where lists.count > 1 {
      let all = lists.joined().sorted()
      for i in all.indices.dropFirst() where all[i] == all[i - 1] {
        throw StoreError(
          .duplicateKey, "key \(all[i]) stands in two batches of one change set", entity: schema[root].name)
      }
    }
  }

  // MARK: Rows

  /// Every row is there, in the version that the change was made on.
  private func checkRows(
    _ id: EntityID, _ keys: [Int64], _ versions: [Int64]?, _ stale: inout [CommitConflict.Stale]
  ) throws {
    let table = base.tables[id.index]!
    var chunk: Chunk?
    for (i, key) in keys.enumerated() {
      if chunk.map({ key > $0.lastKey }) ?? true {
        chunk = table.chunks.position(of: key).map { table.chunks[$0] }
      }
      let row = chunk.flatMap { chunk in chunk.row(of: key).flatMap { chunk.isDeleted($0) ? nil : $0 } }
      guard let chunk, let row else {
        stale.append(try missing(RowKey(entity: id, id: key), versions?[i]))
        continue
      }
      if let versions, chunk.version(row) != versions[i] {
        stale.append(
          .init(key: RowKey(entity: id, id: key), expected: versions[i], stored: StoredRow(chunk, row)))
      }
    }
  }

  /// A row that isn't there was deleted by another commit, or never was.
  private func missing(_ key: RowKey, _ expected: Int64?) throws -> CommitConflict.Stale {
    let entity = schema[key.entity]
    guard let expected, key.id < nextKeys[entity.root.index], base.locate(key.id, in: entity.root) == nil
    else {
      throw StoreError(.unknownKey, "there is no row with key \(key.id)", entity: entity.name)
    }
    return .init(key: key, expected: expected, stored: nil)
  }

  // MARK: References

  private func checkReferences() throws {
    for batch in changes.inserts {
      for (slot, column) in batch.columns.enumerated() {
        if let column { try checkReferences(schema[batch.entity], slot, column) }
      }
    }
    for batch in changes.updates {
      for (slot, column) in zip(batch.slots, batch.columns) {
        try checkReferences(schema[batch.entity], slot, column)
      }
    }
  }

  private func checkReferences(_ entity: SchemaEntity, _ slot: Int, _ column: Column) throws {
    guard case .toOne(let relationship) = entity.slots[slot].role else { return }
    let destination = schema[schema[relationship].destination]
    for key in column.distinctIntegers() where !exists(key, in: destination) {
      throw StoreError(
        .danglingReference, "key \(key) leads to no row of \"\(destination.name)\"", entity: entity.name,
        property: entity.slots[slot].name)
    }
  }

  /// Whether a row of that entity's family is there after this commit.
  private func exists(_ key: Int64, in destination: SchemaEntity) -> Bool {
    if base.locate(key, in: destination.id) != nil {
      return !(deletedKeys[destination.root]?.contains(key) ?? false)
    }
    guard insertedKeys[destination.root]?.contains(key) ?? false else { return false }
    // The hierarchy shares its keys, so whose row it is has to be looked up.
    return changes.inserts.contains { batch in
      destination.concreteFamily.contains(batch.entity) && KeySet(batch.keys).contains(key)
    }
  }

  private func check(_ links: ChangeSet.Links) throws {
    guard schema.relationships.indices.contains(links.relationship.index) else {
      throw StoreError(.unknownProperty, "there is no relationship number \(links.relationship.index)")
    }
    let relationship = schema[links.relationship]
    let owner = schema[relationship.owner]
    guard try requireEntityRoot(links.owner) == owner.root else {
      throw StoreError(
        .unknownProperty, "a key of \"\(schema[links.owner.entity].name)\" has no such relationship",
        entity: owner.name, property: relationship.name)
    }
    guard exists(links.owner.id, in: owner) else {
      throw StoreError(
        .danglingReference, "key \(links.owner.id) is no row of \"\(owner.name)\"", entity: owner.name,
        property: relationship.name)
    }
    let members = links.change.members
    let destination = schema[relationship.destination]
    for member in members {
      // Taking away a row that someone else has deleted is no fault.
      if try requireEntityRoot(member) == destination.root,
        links.change.isRemoval || exists(member.id, in: destination)
      {
        continue
      }
      throw StoreError(
        .danglingReference,
        "key \(member.id) leads to no row of \"\(schema[relationship.destination].name)\"",
        entity: owner.name, property: relationship.name)
    }
    if Set(members.map(\.id)).count < members.count {
      throw StoreError(
        .malformedChangeSet, "a member is named twice", entity: owner.name, property: relationship.name)
    }
    switch relationship.storage {
    case .join: return
    case .inverse(let slot, _?): try checkOrderOnly(links, members, slot, owner, relationship)
    case .key, .inverse, .none:
      throw StoreError(
        .malformedChangeSet, "its links are not kept in a join table or list", entity: owner.name,
        property: relationship.name,
        remedy: relationship.isToMany
          ? "change the to-one relationship of the destinations" : "set the slot that holds its key")
    }
  }

  private func requireEntityRoot(_ key: RowKey) throws -> EntityID {
    guard schema.entities.indices.contains(key.entity.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(key.entity.index)")
    }
    return schema[key.entity].root
  }

  /// Members of such a list are those whose own rows say so.
  private func checkOrderOnly(
    _ links: ChangeSet.Links, _ members: [RowKey], _ slot: Int, _ owner: SchemaEntity,
    _ relationship: SchemaRelationship
  ) throws {
    if case .remove = links.change {
      throw StoreError(
        .malformedChangeSet, "a member is removed by changing its to-one relationship", entity: owner.name,
        property: relationship.name)
    }
    for member in members
    where ownerAfterCommit(of: member.id, slot, schema[relationship.destination]) != links.owner.id {
      throw StoreError(
        .malformedChangeSet, "key \(member.id) is put in order among rows that it doesn't belong to",
        entity: owner.name, property: relationship.name)
    }
  }

  private func ownerAfterCommit(of key: Int64, _ slot: Int, _ destination: SchemaEntity) -> Int64? {
    for batch in changes.inserts where destination.concreteFamily.contains(batch.entity) {
      guard let row = KeySet.index(of: key, in: batch.keys) else { continue }
      return batch.columns[slot].flatMap { $0.isNull(row) ? nil : $0.integer(row) }
    }
    for batch in changes.updates where destination.concreteFamily.contains(batch.entity) {
      guard let place = batch.slots.firstIndex(of: slot), let row = KeySet.index(of: key, in: batch.keys)
      else {
        continue
      }
      return batch.columns[place].isNull(row) ? nil : batch.columns[place].integer(row)
    }
    guard let (chunk, row) = base.locate(key, in: destination.id) else { return nil }
    return chunk.columns[slot].isNull(row) ? nil : chunk.columns[slot].integer(row)
  }
}

extension ChangeSet.LinkChange {
  var isRemoval: Bool {
    if case .remove = self { true } else { false }
  }

  var members: [RowKey] {
    switch self {
    case .add(let members), .remove(let members), .replace(let members): members
    }
  }
}

extension StoredRow {
  init(_ chunk: Chunk, _ row: Int) {
    self.init(
      key: RowKey(entity: chunk.entity, id: chunk.key(row)), version: chunk.version(row),
      values: chunk.columns.map { $0.value(row) })
  }
}
