// Writes change sets batch by batch; the values of a batch are in PlainColumns.swift and BlockColumns.swift.

import CairnModel

/// One use writes one change set.
struct TransactionEncoder {
  let schema: Schema
  let limits: TransactionCoding.Limits
  let sink = ByteSink(capacity: 512)
  private var cost = 0

  init(schema: Schema, limits: TransactionCoding.Limits) {
    self.schema = schema
    self.limits = limits
  }

  mutating func write(_ changes: ChangeSet) throws {
    for batch in changes.inserts where !batch.keys.isEmpty { try write(batch) }
    for batch in changes.updates where !batch.keys.isEmpty && !batch.slots.isEmpty { try write(batch) }
    for batch in changes.deletes where !batch.keys.isEmpty {
      _ = try check(batch.entity, batch.keys)
      try write(.delete, batch.entity, batch.keys, []) { _ in }
    }
    for links in changes.links { try write(links) }
    guard limits.allow(cost: cost, byteCount: sink.count) else {
      throw StoreError(
        .unsupportedRequest, "the changes take \(cost) bytes in memory, and only \(sink.count) to say",
        remedy: "save fewer rows at once")
    }
  }

  // MARK: Batches of rows

  private mutating func write(_ batch: ChangeSet.Inserts) throws {
    let entity = try check(batch.entity, batch.keys)
    guard batch.columns.count == entity.slots.count else {
      throw StoreError(
        .malformedChangeSet, "\(batch.columns.count) columns for \(entity.slots.count) slots",
        entity: entity.name)
    }
    var columns: [Column] = []
    columns.reserveCapacity(batch.columns.count)
    for slot in batch.columns.indices {
      guard let column = batch.columns[slot] else { continue }
      try check(column, entity, slot, batch.keys.count)
      if column.nullCount < column.count { columns.append(try loaded(column)) }
    }
    try write(.insert, batch.entity, batch.keys, columns) { sink in
      let length = (batch.columns.count + 7) / 8
      let bits = sink.reserve(length)
      bits.update(repeating: 0, count: length)
      for slot in batch.columns.indices {
        guard let column = batch.columns[slot], column.nullCount < column.count else { continue }
        bits[slot >> 3] |= 1 << UInt8(slot & 7)
      }
      sink.commit(length)
    }
  }

  private mutating func write(_ batch: ChangeSet.Updates) throws {
    let entity = try check(batch.entity, batch.keys)
    guard batch.columns.count == batch.slots.count else {
      throw StoreError(
        .malformedChangeSet, "\(batch.columns.count) columns for \(batch.slots.count) changed slots",
        entity: entity.name)
    }
    var columns: [Column] = []
    columns.reserveCapacity(batch.columns.count)
    var seen = SlotsSeen(entity)
    for (slot, column) in zip(batch.slots, batch.columns) {
      guard entity.slots.indices.contains(slot) else {
        throw StoreError(
          .unknownProperty, "there is no slot number \(slot) of \(entity.slots.count)", entity: entity.name)
      }
      guard seen.insert(slot) else {
        throw StoreError(.malformedChangeSet, "a slot is changed twice in one batch", entity: entity.name)
      }
      try check(column, entity, slot, batch.keys.count)
      if column.nullCount < column.count { columns.append(try loaded(column)) }
    }
    // Columns of nulls take memory in a reader too.
    cost += TransactionCoding.Limits.cost(
      rows: batch.keys.count, columns: batch.columns.count - columns.count - 1)
    try write(.update, batch.entity, batch.keys, columns) { sink in
      sink.append(count: batch.slots.count)
      for (slot, column) in zip(batch.slots, batch.columns) {
        sink.append(count: slot << 1 | (column.nullCount < column.count ? 0 : 1))
      }
    }
  }

  /// A batch of rows; `which` says what slots `columns` are of.
  private mutating func write(
    _ kind: TransactionCoding.Kind, _ entity: EntityID, _ keys: [Int64], _ columns: [Column],
    _ which: (ByteSink) -> Void
  ) throws {
    let rowsCost = TransactionCoding.Limits.cost(rows: keys.count, columns: columns.count)
    let start = sink.count
    if keys.count > TransactionCoding.plainRows {
      sink.append(kind.rawValue | TransactionCoding.blocks)
      sink.append(count: entity.index)
      sink.append(count: keys.count)
      which(sink)
      let rawLength = BlockColumns.write(keys, columns, to: sink)
      if limits.allow(cost: cost + rowsCost + rawLength, byteCount: sink.count) {
        cost += rowsCost + rawLength
        return
      }
      // Too good to be true for a reader.
      sink.truncate(to: start)
    }
    sink.append(kind.rawValue)
    sink.append(count: entity.index)
    sink.append(count: keys.count)
    TransactionEncoder.write(keys, to: sink)
    which(sink)
    for column in columns { PlainColumns.write(column, to: sink) }
    cost += rowsCost
  }

  /// How many keys are left out before each: keys begin at 1.
  private static func write(_ keys: [Int64], to sink: ByteSink) {
    var least: Int64 = 1
    for key in keys {
      sink.append(varint: UInt64(key &- least))
      least = key &+ 1
    }
  }

  // MARK: Links

  private func write(_ links: ChangeSet.Links) throws {
    guard schema.relationships.indices.contains(links.relationship.index) else {
      throw StoreError(.unknownProperty, "there is no relationship number \(links.relationship.index)")
    }
    let kind: TransactionCoding.Kind
    let members: [RowKey]
    switch links.change {
    case .add(let keys): (kind, members) = (.add, keys)
    case .remove(let keys): (kind, members) = (.remove, keys)
    case .replace(let keys): (kind, members) = (.replace, keys)
    }
    let relationship = schema[links.relationship]
    try check(links.owner, isLike: relationship.owner, relationship)
    sink.append(kind.rawValue)
    sink.append(count: links.relationship.index)
    sink.append(count: links.owner.entity.index)
    sink.append(zigzag: links.owner.id)
    var start = 0
    while start < members.count {
      let entity = members[start].entity
      try check(members[start], isLike: relationship.destination, relationship)
      var end = start + 1
      while end < members.count, members[end].entity == entity { end += 1 }
      sink.append(count: end - start)
      sink.append(count: entity.index)
      var previous: Int64 = 0
      for member in members[start..<end] {
        sink.append(zigzag: member.id &- previous)
        previous = member.id
      }
      start = end
    }
    sink.append(0)
  }

  // MARK: Checks

  private func check(_ id: EntityID, _ keys: [Int64]) throws -> SchemaEntity {
    guard schema.entities.indices.contains(id.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(id.index)")
    }
    let entity = schema[id]
    guard !entity.isAbstract else {
      throw StoreError(.abstractEntity, "an abstract entity has no rows", entity: entity.name)
    }
    var previous: Int64 = 0
    for key in keys {
      guard key > previous else {
        throw StoreError(
          .malformedChangeSet, "the keys of a batch are positive and ascend; \(key) follows \(previous)",
          entity: entity.name)
      }
      previous = key
    }
    return entity
  }

  /// With values that are kept elsewhere in memory.
  private func loaded(_ column: Column) throws -> Column {
    guard let external = column.externalValues else { return column }
    let loaded = column.loadingExternalValues
    for row in external.rows { if let failure = column.failure(at: row) { throw failure } }
    return loaded
  }

  private func check(_ column: Column, _ entity: SchemaEntity, _ slot: Int, _ rows: Int) throws {
    if let damage = column.damage { throw damage }
    let described = entity.slots[slot]
    guard column.type == described.type, column.holdsOnlyItsType else {
      throw StoreError(
        .wrongType, "a column of \(column.type) has values that a slot of \(described.type) can't hold",
        entity: entity.name, property: described.name)
    }
    guard column.count == rows else {
      throw StoreError(
        .malformedChangeSet, "a column of \(column.count) rows for \(rows) keys", entity: entity.name,
        property: described.name)
    }
  }

  private func check(_ key: RowKey, isLike entity: EntityID, _ relationship: SchemaRelationship) throws {
    guard schema.entities.indices.contains(key.entity.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(key.entity.index)")
    }
    guard schema[key.entity].root == schema[entity].root else {
      throw StoreError(
        .danglingReference, "a key of \"\(schema[key.entity].name)\" can't stand in this relationship",
        entity: schema[relationship.owner].name, property: relationship.name)
    }
  }
}

/// Which slots of an entity a batch has named. Slots that ascend, the usual case, cost no memory.
struct SlotsSeen {
  private let slotCount: Int
  private var greatest = -1
  private var list: [Int] = []
  private var seen: [Bool] = []

  init(_ entity: SchemaEntity) { slotCount = entity.slots.count }

  /// Whether the slot is new.
  mutating func insert(_ slot: Int) -> Bool {
    if seen.isEmpty {
      if slot > greatest {
        greatest = slot
        list.append(slot)
        return true
      }
      seen = [Bool](repeating: false, count: slotCount)
      for old in list { seen[old] = true }
    }
    defer { seen[slot] = true }
    return !seen[slot]
  }
}
