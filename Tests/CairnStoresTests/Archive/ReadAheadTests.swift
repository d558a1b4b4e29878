// Reading on for a scan, on another thread: what it reads, what it leaves alone, and that nobody notices.

import CairnTesting
import Foundation
import Testing

@testable import CairnModel
@testable import CairnStores

@Suite(.enabled(if: ReadAheadQueue.isWorthwhile, "there is one processor, and nothing is read ahead"))
struct ReadAheadTests {
  private static let schema = try! Schema(
    SchemaDescription(entities: [.init(name: "Number", attributes: [.init("a", .int64), .init("b", .int64)])])
  )
  private static let entity = schema.entities[0].id

  /// An archive of 200,000 rows, 13 groups of them, whose values are of no order, closed.
  private static let archive: SimulatedFileSystem = {
    let files = SimulatedFileSystem()
    do {
      var options = ArchiveStore.Options()
      options.profile = .fastest
      let store = try ArchiveStore(
        at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
      var random = SplitMix64(seed: 7)
      let keys = Array(try store.reserveKeys(200_000, root: entity))
      let builders = [ColumnBuilder(.int64), ColumnBuilder(.int64)]
      for _ in keys {
        for builder in builders { builder.append(Int64(random.next() & 0xFFFE)) }
      }
      var changes = ChangeSet()
      changes.inserts = [.init(entity: entity, keys: keys, columns: builders.map { $0.finish() })]
      _ = try store.commit(changes)
      try store.close()
    } catch {
      fatalError("the archive can't be made: \(error)")
    }
    return files
  }()

  /// The archive, opened anew, with what was read of it since.
  private struct Reader {
    let files: SimulatedFileSystem
    let store: ArchiveStore
    let start: Int

    init(readsAhead: Bool = true, cacheBudget: Int = 64 << 20) throws {
      files = ReadAheadTests.archive.restarted()
      files.allowsReadAhead = readsAhead
      var options = ArchiveStore.Options()
      options.isReadOnly = true
      options.cacheBudget = cacheBudget
      store = try ArchiveStore(
        at: "/a", model: .init(schema: ReadAheadTests.schema), options: options, fileSystem: files)
      start = files.operationCount
    }

    /// The places of the blocks that were read, in order.
    var blocksRead: [UInt64] { files.operations[start...].filter { $0.kind == .read }.map(\.offset) }

    var chunks: [Chunk] {
      get throws { try #require(try store.snapshot() as? TableSnapshot).chunks(of: ReadAheadTests.entity) }
    }

    func count(_ predicate: PredicateTree) throws -> Int {
      try store.count(
        StoreRequest(entity: ReadAheadTests.entity, predicate: predicate), in: store.snapshot())
    }
  }

  private static func compare(_ name: String, _ op: ComparisonOperator, _ value: Int64) -> PredicateTree {
    .comparison(.init(.keyPath([name]), op, .constant(.int(value))))
  }

  private static let both = PredicateTree.and([compare("a", .less, 0x4000), compare("b", .less, 0x4000)])

  @Test func `a column that is about to be asked for is read without being asked for`() throws {
    let reader = try Reader()
    let chunk = try reader.chunks[5]
    chunk.readAhead([1])
    for _ in 0..<2_000 where reader.blocksRead.isEmpty { usleep(5_000) }
    #expect(reader.blocksRead.count == 1)
    #expect(chunk.columns[1].count == chunk.count)
    #expect(reader.blocksRead.count == 1)
    // What is in memory isn't read again.
    chunk.readAhead([1])
    usleep(50_000)
    #expect(reader.blocksRead.count == 1)
  }

  @Test func `who reads on has the next rows read meanwhile, if there is room for both`() throws {
    let reader = try Reader()
    let chunks = try reader.chunks
    chunks[3].readAheadBehind([1])
    for _ in 0..<2_000 where reader.blocksRead.isEmpty { usleep(5_000) }
    #expect(chunks[4].columns[1].count == chunks[4].count)
    #expect(chunks[7].columns[1].count == chunks[7].count)
    #expect(reader.blocksRead.count == 1)
    chunks[chunks.count - 1].readAheadBehind([1])
    let small = try Reader(cacheBudget: 1 << 20)
    try small.chunks[3].readAheadBehind([0, 1])
    usleep(50_000)
    #expect(reader.blocksRead.count == 1 && small.blocksRead.isEmpty)
  }

  @Test func `scans on many threads give the answers of one, and read each block once`() throws {
    let alone = try Reader(readsAhead: false)
    let expected = try alone.count(Self.both)
    #expect((10_000..<15_000).contains(expected))
    for _ in 0..<10 {
      let reader = try Reader()
      let answers = Lock<[Int]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { _ in
        let count = (try? reader.count(Self.both)) ?? -1
        answers.withLock { $0.append(count) }
      }
      #expect(answers.withLock { $0 } == [Int](repeating: expected, count: 6))
      #expect(reader.blocksRead.count == 26 && Set(reader.blocksRead).count == 26)
      try reader.store.close()
    }
  }

  @Test func `a block that can't be read fails the request that needs it, whoever reads it first`() throws {
    let blocks: [UInt64]
    do {
      let reader = try Reader()
      _ = try reader.count(Self.both)
      blocks = reader.blocksRead.sorted()
    }
    for block in [blocks[0], blocks[9], blocks[25]] {
      let reader = try Reader()
      reader.files.injectFaults { $0.kind == .read && $0.offset == block ? .error(EIO) : nil }
      #expect(throws: StoreError.self) { try reader.count(Self.both) }
      reader.files.injectFaults(nil)
    }
  }

  @Test func `a request that soon has enough reads nothing ahead`() throws {
    let reader = try Reader()
    let request = StoreRequest(entity: Self.entity, predicate: Self.compare("a", .less, 0x4000), limit: 10)
    #expect(try reader.store.fetch(request, in: reader.store.snapshot()).count == 10)
    usleep(50_000)
    #expect(reader.blocksRead.count == 1)
  }

  @Test func `where the first column rules all rows out the second isn't read ahead for long`() throws {
    let reader = try Reader()
    // It is within the bounds of every block, and odd as no value is.
    let never = PredicateTree.and([Self.compare("a", .equal, 0x8001), Self.compare("b", .less, 0x4000)])
    #expect(try reader.count(never) == 0)
    usleep(50_000)
    // 13 blocks of the first column, and those of the second that were read before it was known.
    #expect((13...17).contains(reader.blocksRead.count), "\(reader.blocksRead.count)")
  }
}
