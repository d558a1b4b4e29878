// Reads change sets batch by batch and trusts nothing; the values are in PlainColumns.swift and
// BlockColumns.swift.

import CairnModel

/// One use reads one change set.
struct TransactionDecoder {
  private let schema: Schema
  private let limits: TransactionCoding.Limits
  private var source: ByteSource
  private var cost = 0

  /// `bytes` stay where they are while it is used.
  init(_ bytes: UnsafeRawBufferPointer, schema: Schema, limits: TransactionCoding.Limits) {
    self.schema = schema
    self.limits = limits
    source = ByteSource(bytes.bindMemory(to: UInt8.self))
  }

  mutating func changes() throws -> ChangeSet {
    var changes = ChangeSet()
    var rank = 0
    while source.remaining > 0 {
      let byte = try source.byte()
      let isInBlocks = byte & TransactionCoding.blocks != 0
      guard let kind = TransactionCoding.Kind(rawValue: byte & ~TransactionCoding.blocks),
        !isInBlocks || kind.rank < 4
      else {
        throw PayloadError(what: "there is no batch of kind \(byte)", byteOffset: source.offset - 1)
      }
      guard kind.rank >= rank else {
        throw PayloadError(what: "batches stand in another order", byteOffset: source.offset - 1)
      }
      rank = kind.rank
      switch kind {
      case .insert: changes.inserts.append(try inserts(isInBlocks))
      case .update: changes.updates.append(try updates(isInBlocks))
      case .delete: changes.deletes.append(try deletes(isInBlocks))
      case .add, .remove, .replace: changes.links.append(try links(kind))
      }
    }
    return changes
  }

  // MARK: Batches of rows

  private mutating func inserts(_ isInBlocks: Bool) throws -> ChangeSet.Inserts {
    var batch = try start(isInBlocks)
    let slotCount = batch.entity.slots.count
    let length = (slotCount + 7) / 8
    let bits = try source.take(length)
    guard slotCount % 8 == 0 || bits[length - 1] >> UInt8(slotCount % 8) == 0 else {
      throw PayloadError(what: "a batch names slots that aren't there", byteOffset: source.offset - 1)
    }
    for slot in 0..<slotCount where bits[slot >> 3] & 1 << UInt8(slot & 7) != 0 { batch.slots.append(slot) }
    try charge(TransactionCoding.Limits.cost(rows: batch.rowCount, columns: batch.slots.count))
    let (keys, columns) = try values(of: batch, isInBlocks)
    var all = [Column?](repeating: nil, count: slotCount)
    for (slot, column) in zip(batch.slots, columns) { all[slot] = column }
    return .init(entity: batch.entity.id, keys: keys, columns: all)
  }

  private mutating func updates(_ isInBlocks: Bool) throws -> ChangeSet.Updates {
    var batch = try start(isInBlocks)
    let slotCount = batch.entity.slots.count
    let count = try source.count(from: 1, upTo: min(slotCount, source.remaining))
    var slots: [Int] = []
    slots.reserveCapacity(count)
    var nulls: [Int] = []
    var seen = SlotsSeen(batch.entity)
    for place in 0..<count {
      let code = try source.count(upTo: 2 * slotCount - 1)
      guard seen.insert(code >> 1) else { throw source.error("a batch names slot \(code >> 1) twice") }
      slots.append(code >> 1)
      if code & 1 == 0 { batch.slots.append(code >> 1) } else { nulls.append(place) }
    }
    try charge(TransactionCoding.Limits.cost(rows: batch.rowCount, columns: count))
    let (keys, valued) = try values(of: batch, isInBlocks)
    var columns = valued
    for place in nulls {
      columns.insert(
        PlainColumns.nulls(batch.entity.slots[slots[place]].type, count: batch.rowCount), at: place)
    }
    return .init(entity: batch.entity.id, keys: keys, versions: nil, slots: slots, columns: columns)
  }

  private mutating func deletes(_ isInBlocks: Bool) throws -> ChangeSet.Deletes {
    let batch = try start(isInBlocks)
    try charge(TransactionCoding.Limits.cost(rows: batch.rowCount, columns: 0))
    return .init(entity: batch.entity.id, keys: try values(of: batch, isInBlocks).keys)
  }

  /// What is known of a batch before its values are read.
  private struct Batch {
    let entity: SchemaEntity
    let rowCount: Int
    /// Where they stand before the slots.
    var keys: [Int64] = []
    /// Those that have a column.
    var slots: [Int] = []
  }

  private mutating func start(_ isInBlocks: Bool) throws -> Batch {
    let start = source.offset
    let entity = try self.entity()
    guard !entity.isAbstract else {
      throw PayloadError(what: "\(entity.name) is abstract and has no rows", byteOffset: start)
    }
    if isInBlocks {
      // A block takes two bytes at least.
      let limit = source.remaining / 2 * TransactionCoding.blockRows
      return Batch(entity: entity, rowCount: try source.count(from: 1, upTo: limit))
    }
    let count = try source.count(from: 1, upTo: source.remaining)
    return Batch(entity: entity, rowCount: count, keys: try keys(count))
  }

  private mutating func keys(_ count: Int) throws -> [Int64] {
    try Array(unsafeUninitializedCapacity: count) { keys, initialized in
      var least: Int64 = 1
      for i in 0..<count {
        let gap = try source.varint()
        guard least > 0, gap <= UInt64(Int64.max - least) else { throw source.error("a key is too great") }
        keys[i] = least + Int64(gap)
        least = keys[i] &+ 1
      }
      initialized = count
    }
  }

  private mutating func values(of batch: Batch, _ isInBlocks: Bool) throws -> (keys: [Int64], [Column]) {
    if isInBlocks {
      let blocks = try BlockColumns(batch.rowCount, columnCount: batch.slots.count, from: &source)
      try charge(blocks.rawLength)
      return try blocks.read(batch.slots.map { batch.entity.slots[$0] })
    }
    var columns: [Column] = []
    columns.reserveCapacity(batch.slots.count)
    for slot in batch.slots {
      columns.append(
        try PlainColumns.read(batch.entity.slots[slot].type, count: batch.rowCount, from: &source))
    }
    return (batch.keys, columns)
  }

  private mutating func charge(_ more: Int) throws {
    cost = min(cost + more, Int.max / 2)
    guard limits.allow(cost: cost, byteCount: source.count) else {
      throw source.error("\(source.count) bytes that grow to \(cost) in memory are refused")
    }
  }

  // MARK: Links

  private mutating func links(_ kind: TransactionCoding.Kind) throws -> ChangeSet.Links {
    let id = RelationshipID(try source.count(upTo: schema.relationships.count - 1))
    let relationship = schema[id]
    let entity = try self.entity(like: relationship.owner)
    let owner = RowKey(entity: entity, id: try source.zigzag())
    var members: [RowKey] = []
    while true {
      let count = try source.count(upTo: source.remaining)
      if count == 0 { break }
      let entity = try self.entity(like: relationship.destination)
      guard count <= source.remaining else { throw source.error("the payload ends early") }
      members.reserveCapacity(members.count + count)
      var previous: Int64 = 0
      for _ in 0..<count {
        previous &+= try source.zigzag()
        members.append(RowKey(entity: entity, id: previous))
      }
    }
    switch kind {
    case .add: return .init(id, of: owner, .add(members))
    case .remove: return .init(id, of: owner, .remove(members))
    default: return .init(id, of: owner, .replace(members))
    }
  }

  // MARK: Entities

  private mutating func entity() throws -> SchemaEntity {
    schema.entities[try source.count(upTo: schema.entities.count - 1)]
  }

  /// An entity whose rows share their keys with those of another.
  private mutating func entity(like other: EntityID) throws -> EntityID {
    let start = source.offset
    let entity = try self.entity()
    guard entity.root == schema[other].root else {
      throw PayloadError(what: "a row of \(entity.name) can't stand here", byteOffset: start)
    }
    return entity.id
  }
}
