// One version of a table: the rows of one concrete entity, or of one join, as chunks in the order of keys.
//
// A value whose versions share everything they can. Always holds: chunks' key ranges ascend and don't overlap;
// every chunk has a live row; `serial` is one higher in each version that differs.

import CairnModel

struct Table: Sendable {
  let entity: EntityID
  let types: [ValueType]
  /// The indexes of this table, shared by all of its versions.
  let indexes: TableIndexes
  private(set) var chunks = ChunkList()
  private(set) var liveCount = 0
  private(set) var serial: Int64 = 0

  init(entity: EntityID, types: [ValueType], damage: DamageLog? = nil) {
    self.entity = entity
    self.types = types
    indexes = TableIndexes(types: types, damage: damage)
  }

  /// A table with rows that came from a file.
  init(entity: EntityID, types: [ValueType], damage: DamageLog, chunks: ChunkList, liveCount: Int) {
    self.init(entity: entity, types: types, damage: damage)
    self.chunks = chunks
    self.liveCount = liveCount
  }

  /// The same rows in other chunks.
  func replacingChunks(_ chunks: ChunkList) -> Table {
    var copy = self
    copy.chunks = chunks
    return copy
  }

  func locate(_ key: Int64) -> (chunk: Chunk, row: Int)? { chunks.locate(key) }

  /// What the rows take in memory, shared storage counted once for each version that is asked.
  var footprint: Int {
    chunks.all.reduce(0) { $0 + $1.footprint }
  }

  // MARK: Changing, by the store's one writer

  /// Adds rows. `keys` ascends and holds no key of a live row.
  mutating func insert(keys: [Int64], columns: [Column?]) {
    guard let first = keys.first else { return }
    liveCount += keys.count
    serial += 1
    indexes.note(serial: serial, keys: keys, slots: nil, rowCount: liveCount)
    if let last = chunks.last, first <= last.lastKey {
      insertBetween(keys, columns)
    } else {
      append(keys, columns, 0..<keys.count)
    }
  }

  private mutating func append(_ keys: [Int64], _ columns: [Column?], _ range: Range<Int>) {
    var start = range.lowerBound
    if let last = chunks.last, last.count < Chunk.capacity, start < range.upperBound {
      let end = min(start + Chunk.capacity - last.count, range.upperBound)
      chunks.replaceLast(last.appending(keys: keys, columns: columns, range: start..<end))
      start = end
    }
    while start < range.upperBound {
      let end = min(start + Chunk.capacity, range.upperBound)
      chunks.append(
        Chunk.make(
          entity: entity, types: types, keys: keys, columns: columns, range: start..<end, hints: chunks.last))
      start = end
    }
  }

  /// Rows whose keys were reserved before those of rows that are there already: merged into the chunks of
  /// their regions. Costs a rewrite of each chunk they fall into.
  private mutating func insertBetween(_ keys: [Int64], _ columns: [Column?]) {
    var start = 0
    while start < keys.count {
      if keys[start] > chunks.last!.lastKey { return append(keys, columns, start..<keys.count) }
      guard let position = chunks.position(of: keys[start]) else {
        start = insertBefore(keys, columns, start)
        continue
      }
      let end = regionEnd(after: position, keys, start)
      chunks.replace(
        position, with: chunks[position].merging(keys: keys, columns: columns, range: start..<end))
      start = end
    }
  }

  private mutating func insertBefore(_ keys: [Int64], _ columns: [Column?], _ start: Int) -> Int {
    let first = chunks.all[0]
    var end = start
    while end < keys.count, keys[end] < first.firstKey { end += 1 }
    let position = chunks.position(of: first.firstKey)!
    chunks.replace(position, with: first.merging(keys: keys, columns: columns, range: start..<end))
    return end
  }

  /// How many of `keys` from `start` on come before the chunk after `position`.
  private func regionEnd(after position: ChunkList.Position, _ keys: [Int64], _ start: Int) -> Int {
    var end = start
    while end < keys.count, chunks.position(of: keys[end]) == position { end += 1 }
    // Behind the last chunk rows are appended, not merged.
    while end > start + 1, keys[end - 1] > chunks.last!.lastKey { end -= 1 }
    return end
  }

  /// Replaces slots of live rows. `keys` ascends; `columns` has one row a key.
  mutating func update(keys: [Int64], slots: [Int], columns: [Column], raisingVersions: Bool = true) {
    if keys.isEmpty { return }
    serial += 1
    indexes.note(serial: serial, keys: keys, slots: slots, rowCount: liveCount)
    let changes = zip(slots, columns).map { (slot: $0, column: $1) }
    forEachChunk(keys) { chunks, position, rows, start in
      let chunk = chunks[position]
      chunks.replace(
        position, with: [chunk.updating(rows, changes, from: start, raisingVersions: raisingVersions)])
    }
  }

  /// Removes live rows. `keys` ascends.
  mutating func delete(keys: [Int64]) {
    if keys.isEmpty { return }
    serial += 1
    liveCount -= keys.count
    indexes.note(serial: serial, keys: [], slots: [], rowCount: liveCount)
    // From the back, since a chunk without live rows is dropped and would move the positions behind it.
    var groups: [(position: ChunkList.Position, rows: [Int])] = []
    forEachChunk(keys) { _, position, rows, _ in groups.append((position, rows)) }
    for (position, rows) in groups.reversed() {
      let chunk = chunks[position]
      chunks.replace(position, with: rows.count == chunk.liveCount ? [] : [chunk.deleting(rows)])
    }
  }

  /// Calls `body` for each chunk that some of `keys` are in, with their rows and the place of the first.
  private mutating func forEachChunk(
    _ keys: [Int64], _ body: (inout ChunkList, ChunkList.Position, [Int], Int) -> Void
  ) {
    var start = 0
    while start < keys.count {
      guard let position = chunks.position(of: keys[start]) else {
        preconditionFailure("row \(keys[start]) is not in its table")
      }
      let chunk = chunks[position]
      let lastKey = chunk.lastKey
      var rows: [Int] = []
      var end = start
      while end < keys.count, keys[end] <= lastKey {
        guard let row = chunk.row(of: keys[end]) else {
          preconditionFailure("row \(keys[end]) is not in its table")
        }
        rows.append(row)
        end += 1
      }
      precondition(end > start, "row \(keys[start]) is not in its table")
      body(&chunks, position, rows, start)
      start = end
    }
  }
}
