// Chunks: keys, versions, and the changes that a commit makes.

import Foundation
import Testing

@testable import CairnModel

struct ChunkTests {
  private let types: [ValueType] = [.int32, .string]

  private func chunk(_ keys: [Int64]) -> Chunk {
    Chunk.make(
      entity: EntityID(0), types: types, keys: keys, columns: columns(keys), range: 0..<keys.count)
  }

  private func columns(_ keys: [Int64]) -> [Column?] {
    [
      column(.int32, keys.map { .int($0 & 0xFFFF) }),
      column(.string, keys.map { $0 % 3 == 0 ? .null : .string("row \($0 % 5)") }),
    ]
  }

  /// Key, version, values, and whether the row is deleted, for each row.
  private func contents(_ chunk: Chunk) -> [[Value]] {
    (0..<chunk.count).map { row in
      [.key(chunk.key(row)), .int(chunk.version(row)), .bool(chunk.isDeleted(row))]
        + chunk.columns.map { $0.value(row) }
    }
  }

  private func expected(_ key: Int64, version: Int64 = 1, isDeleted: Bool = false) -> [Value] {
    [
      .key(key), .int(version), .bool(isDeleted), .int(key & 0xFFFF),
      key % 3 == 0 ? .null : .string("row \(key % 5)"),
    ]
  }

  @Test func `keys without a gap take no memory, others are kept`() {
    let dense = chunk([7, 8, 9])
    #expect(dense.explicitKeys == nil && dense.firstKey == 7 && dense.lastKey == 9)
    let sparse = chunk([7, 9, 1000])
    #expect(sparse.explicitKeys != nil && (0..<3).map(sparse.key) == [7, 9, 1000])
    #expect(dense.appending(keys: [10, 11], columns: columns([10, 11]), range: 0..<2).explicitKeys == nil)
    let gap = dense.appending(keys: [12], columns: columns([12]), range: 0..<1)
    #expect((0..<4).map(gap.key) == [7, 8, 9, 12] && (0..<3).map(dense.key) == [7, 8, 9])
    let longer = gap.appending(keys: [13], columns: columns([13]), range: 0..<1)
    #expect((0..<5).map(longer.key) == [7, 8, 9, 12, 13])
  }

  @Test func `a row is found by its key and by no other, up to the ends of Int64`() {
    for keys in [[5, 6, 7], [5, 7, 100], [.max - 1, .max], [1], [1, .max]] as [[Int64]] {
      let chunk = chunk(keys)
      for key in keys.flatMap({ [$0, $0 &- 1, $0 &+ 1] }) + [.min, .min + 1, -1, 0, .max] {
        #expect(chunk.row(of: key) == keys.firstIndex(of: key), "\(key) in \(keys)")
      }
    }
  }

  @Test(arguments: seeds)
  func `appending keeps earlier chunks as they were`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var keys: [Int64] = [3]
    var versions = [chunk(keys)]
    while keys.count < 600 {
      var more: [Int64] = []
      for _ in 0..<1 + random.below(40) { more.append((more.last ?? keys.last!) + (random.oneIn(9) ? 2 : 1)) }
      let source = [0] + more  // rows are taken from the middle of what is given
      versions.append(
        versions.last!.appending(keys: source, columns: columns(source), range: 1..<source.count))
      keys += more
    }
    var failures = Failures()
    for version in versions {
      failures.check(
        contents(version) == keys.prefix(version.count).map { expected($0) }, "\(version.count) rows")
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  @Test func `a slot without a column is null in the new rows`() {
    let chunk = chunk([1, 2]).appending(
      keys: [3, 4], columns: [nil, column(.string, ["x", "y"])], range: 0..<2)
    #expect(chunk.columns[0].allValues == [1, 2, .null, .null])
    #expect(chunk.columns[1].allValues == ["row 1", "row 2", "x", "y"])
  }

  @Test func `updating raises the versions of the rows named and shares the columns it leaves alone`() {
    let old = chunk([1, 2, 3, 4])
    let new = old.updating([1, 3], [(slot: 0, column: column(.int32, [0, 70, 80]))], from: 1)
    #expect((0..<4).map(new.version) == [1, 2, 1, 2] && (0..<4).map(old.version) == [1, 1, 1, 1])
    #expect(new.columns[0].allValues == [1, 70, 3, 80] && old.columns[0].allValues == [1, 2, 3, 4])
    #expect(new.columns[1] === old.columns[1])
    #expect(new.updating([1], [], from: 0).version(1) == 3)
  }

  @Test func `deleted rows are marked, keep their keys and don't count as live`() {
    let old = chunk([1, 2, 3])
    let once = old.deleting([1])
    let twice = once.deleting([2])
    #expect(old.liveCount == 3 && once.liveCount == 2 && twice.liveCount == 1)
    #expect(contents(twice) == [expected(1), expected(2, isDeleted: true), expected(3, isDeleted: true)])
    #expect(twice.row(of: 2) == 1)
    #expect(twice.appending(keys: [4], columns: columns([4]), range: 0..<1).liveCount == 2)
  }

  @Test(arguments: seeds)
  func `merging puts late keys in their places and drops deleted rows`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for size in [10, 500, 3000] {
      let all = (1...Int64(size * 2)).shuffled(using: &random)
      let mine = all.prefix(size).sorted()
      let late = all.dropFirst(size).prefix(random.below(size) + 1).sorted()
      let gone = mine.indices.filter { _ in random.oneIn(5) }
      let changed = chunk(mine).updating([0], [], from: 0).deleting(gone)
      let merged = changed.merging(keys: [0] + late, columns: columns([0] + late), range: 1..<late.count + 1)
      let live = mine.indices.filter { !gone.contains($0) }.map { mine[$0] }
      let rows = (live + late).sorted()
      #expect(
        merged.flatMap(contents) == rows.map { expected($0, version: $0 == mine[0] ? 2 : 1) }, "seed \(seed)")
      #expect(
        merged.allSatisfy { $0.count <= (rows.count <= Chunk.capacity ? Chunk.capacity : Chunk.capacity / 2) }
      )
      #expect(contents(changed).count == size, "the old chunk")
    }
  }

  @Test func `merging more than a chunk holds makes half-full chunks, and merging nothing none`() {
    let many = (1...Int64(4096)).map { $0 * 2 }
    let late = (1...Int64(5000)).map { $0 * 2 - 1 }
    let merged = chunk(many).merging(keys: late, columns: columns(late), range: 0..<late.count)
    #expect(merged.map(\.count) == [2048, 2048, 2048, 2048, 904])
    #expect(merged.flatMap { chunk in (0..<chunk.count).map(chunk.key) } == (many + late).sorted())
    #expect(chunk([1]).deleting([0]).merging(keys: [], columns: columns([]), range: 0..<0).isEmpty)
  }

  @Test func `a chunk has room for its capacity and no more`() async {
    let keys = Array(1...Int64(Chunk.capacity))
    #expect(contents(chunk(keys)).count == Chunk.capacity)
    await #expect(processExitsWith: .failure) {
      let empty = Column.empty(type: .int64, capacity: 1)
      _ = Chunk(
        entity: EntityID(0), count: Chunk.capacity + 1, firstKey: 1, explicitKeys: nil, versions: empty,
        deleted: nil, columns: [])
    }
  }

  @Test func `a batch names its rows by chunk and place`() {
    let a = chunk([1, 2, 3])
    let b = chunk([10, 20]).updating([1], [], from: 0)
    let batch = RowBatch(chunks: [a, b], places: [.init(chunk: 1, row: 1), .init(chunk: 0, row: 0)])
    #expect(batch.count == 2 && batch.ids == [20, 1] && batch.version(0) == 2)
    #expect(batch.keys == [RowKey(entity: EntityID(0), id: 20), RowKey(entity: EntityID(0), id: 1)])
    #expect(batch.key(1) == batch.keys[1] && batch.value(0, slot: 0) == 20)
    #expect(StoredRow(batch, 1).values == [1, "row 1"])
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `a slot of a batch is a column of its rows in their order`(type: ValueType, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let values = (0..<3).map { _ in
      (0..<50).map { _ in random.oneIn(3) ? Value.null : random.value(type) }
    }
    let chunks = values.map { values in
      Chunk.make(
        entity: EntityID(0), types: [type], keys: Array(1...50), columns: [column(type, values)],
        range: 0..<50)
    }
    let places = (0..<120).map { _ in RowBatch.Place(chunk: random.below(3), row: random.below(50)) }
    let expected = places.map { values[Int($0.chunk)][Int($0.row)] }
    let found = RowBatch(chunks: chunks, places: places).column(0)
    #expect(problems(found, expected).isEmpty, "\(type), seed \(seed): \(problems(found, expected))")
    #expect(RowBatch.empty.column(0).count == 0)
  }
}
