// New versions of a chunk. Only the store's one writer calls these.

extension Chunk {
  /// A chunk of rows `range` of `keys` and `columns`; `range` has `capacity` rows at most.
  ///
  /// `columns` has one entry a slot; nil stands for a slot that is null in all of these rows.
  public static func make(
    entity: EntityID, types: [ValueType], keys: [Int64], versions: [Int64]? = nil, columns: [Column?],
    range: Range<Int>, hints: Chunk? = nil
  ) -> Chunk {
    let room = capacityFor(range.count)
    let empty = Chunk(
      entity: entity, count: 0, firstKey: keys[range.lowerBound], explicitKeys: nil,
      versions: .empty(type: .int64, capacity: room), deleted: nil,
      columns: types.indices.map { slot in
        .empty(type: types[slot], capacity: room, preferring: hints?.held[slot]?.layout)
      })
    return empty.appending(keys: keys, versions: versions, columns: columns, range: range)
  }

  /// This chunk with rows `range` of `keys` and `columns` behind its own. Their keys ascend and are greater
  /// than all of this chunk's; together they are `capacity` rows at most.
  public func appending(
    keys: [Int64], versions newVersions: [Int64]? = nil, columns new: [Column?], range: Range<Int>
  ) -> Chunk {
    let newCount = count + range.count
    precondition(newCount <= Chunk.capacity, "a chunk has \(Chunk.capacity) rows at most, not \(newCount)")
    let room = Chunk.capacityFor(newCount)
    let nulls = NullRows(count: range.count)
    return Chunk(
      entity: entity, count: newCount, firstKey: firstKey,
      explicitKeys: appendedKeys(keys, range, room),
      versions: versions.appending(
        newVersions.map { Chunk.column(of: $0[range]) } ?? Chunk.ones, 0..<range.count, capacity: room),
      deleted: deleted,
      columns: columns.indices.map { slot in
        if let source = new[slot] { return columns[slot].appending(source, range, capacity: room) }
        return columns[slot].appending(nulls.column(columns[slot].type), 0..<range.count, capacity: room)
      })
  }

  /// This chunk with the slots of `changes` replaced at `rows` (ascending) by the rows of each column from
  /// `start` on, and these rows' versions one higher.
  public func updating(
    _ rows: [Int], _ changes: [(slot: Int, column: Column)], from start: Int, raisingVersions: Bool = true
  ) -> Chunk {
    var changed = held
    for (slot, column) in changes {
      changed[slot] = columns[slot].replacing(rows, with: column, from: start)
    }
    if raisingVersions {
      let old = versions
      let raised = Chunk.column(of: rows.map { old.integer($0) &+ 1 }[...])
      changed[slotCount] = old.replacing(rows, with: raised, from: 0)
    }
    return Chunk(
      entity: entity, count: count, firstKey: firstKey, lastKey: lastKey, hasDenseKeys: hasDenseKeys,
      deleted: deleted, slotCount: slotCount, held: changed, backing: backing)
  }

  /// This chunk without `rows`.
  public func deleting(_ rows: [Int]) -> Chunk {
    Chunk(
      entity: entity, count: count, firstKey: firstKey, lastKey: lastKey, hasDenseKeys: hasDenseKeys,
      deleted: deleted?.setting(rows, capacity: count) ?? Bitmap(setting: rows, capacity: count),
      slotCount: slotCount, held: held, backing: backing)
  }

  /// The live rows of this chunk and the given new ones, merged by key: into one chunk where they fit, into
  /// half-full ones elsewhere, so that further rows of the same region find room. For rows whose keys were
  /// reserved early and saved late. `keys` ascend in `range`, and none of them is a key of this chunk.
  public func merging(keys: [Int64], columns new: [Column?], range: Range<Int>) -> [Chunk] {
    let runs = mergedRuns(keys, range)
    let total = runs.reduce(0) { $0 + $1.rows.count }
    if total == 0 { return [] }
    let size = total <= Chunk.capacity ? total : Chunk.capacity / 2
    return Chunk.cut(runs, into: size).map { merged($0, keys, new) }
  }

  /// Neighbouring rows of this chunk, or of the new ones.
  private struct Run {
    var isNew: Bool
    var rows: Range<Int>
  }

  /// Whose rows come next, and how many, until all have come.
  private func mergedRuns(_ keys: [Int64], _ range: Range<Int>) -> [Run] {
    var runs: [Run] = []
    func add(_ isNew: Bool, _ row: Int) {
      if let last = runs.last, last.isNew == isNew, last.rows.upperBound == row {
        runs[runs.count - 1].rows = last.rows.lowerBound..<row + 1
      } else {
        runs.append(Run(isNew: isNew, rows: row..<row + 1))
      }
    }
    var theirs = range.lowerBound
    for row in 0..<count where !isDeleted(row) {
      while theirs < range.upperBound, keys[theirs] < key(row) {
        add(true, theirs)
        theirs += 1
      }
      add(false, row)
    }
    while theirs < range.upperBound {
      add(true, theirs)
      theirs += 1
    }
    return runs
  }

  /// The same runs in parts of `size` rows, the last one smaller.
  private static func cut(_ runs: [Run], into size: Int) -> [[Run]] {
    var parts: [[Run]] = [[]]
    var room = size
    for run in runs {
      var rest = run.rows
      while !rest.isEmpty {
        if room == 0 {
          parts.append([])
          room = size
        }
        let taken = rest.prefix(room)
        parts[parts.count - 1].append(Run(isNew: run.isNew, rows: taken))
        room -= taken.count
        rest = taken.upperBound..<rest.upperBound
      }
    }
    return parts
  }

  private func merged(_ runs: [Run], _ keys: [Int64], _ new: [Column?]) -> Chunk {
    let rowCount = runs.reduce(0) { $0 + $1.rows.count }
    let nulls = NullRows(count: runs.reduce(0) { max($0, $1.rows.count) })
    let columns = self.columns.indices.map { slot in
      let type = self.columns[slot].type
      return runs.reduce(Column.empty(type: type, capacity: rowCount)) { column, run in
        guard let source = run.isNew ? new[slot] : self.columns[slot] else {
          return column.appending(nulls.column(type), 0..<run.rows.count, capacity: rowCount)
        }
        return column.appending(source, run.rows, capacity: rowCount)
      }
    }
    return Chunk.make(
      entity: entity, types: columns.map(\.type),
      keys: runs.flatMap { run in run.rows.map { run.isNew ? keys[$0] : key($0) } },
      versions: runs.flatMap { run in run.rows.map { run.isNew ? 1 : version($0) } }, columns: columns,
      range: 0..<rowCount, hints: self)
  }

  /// Small tables stay small: room doubles from 16 rows on until it is a whole chunk.
  private static func capacityFor(_ rows: Int) -> Int {
    var room = 16
    while room < rows { room *= 2 }
    return min(room, capacity)
  }

  private func appendedKeys(_ keys: [Int64], _ range: Range<Int>, _ room: Int) -> Column? {
    let new = keys[range]
    guard let first = new.first, let last = new.last else { return explicitKeys }
    let expected = firstKey + Int64(count)
    if explicitKeys == nil, first == expected, last - first == Int64(new.count) - 1 { return nil }
    let old = explicitKeys ?? Chunk.column(of: (0..<count).map { firstKey + Int64($0) }[...])
    return old.appending(Chunk.column(of: new), 0..<new.count, capacity: room)
  }

  private static func column(of integers: ArraySlice<Int64>) -> Column {
    let builder = ColumnBuilder(.int64)
    integers.withUnsafeBufferPointer { builder.append(contentsOf: $0) }
    return builder.finish()
  }

  /// The versions of a chunk's worth of new rows.
  private static let ones = column(of: [Int64](repeating: 1, count: capacity)[...])
}

/// Columns that are null throughout, made once for each type that asks.
private final class NullRows {
  private let count: Int
  private var made: [ValueType: Column] = [:]

  init(count: Int) {
    self.count = count
  }

  func column(_ type: ValueType) -> Column {
    if let column = made[type] { return column }
    let builder = ColumnBuilder(type)
    for _ in 0..<count { builder.appendNull() }
    let column = builder.finish()
    made[type] = column
    return column
  }
}
