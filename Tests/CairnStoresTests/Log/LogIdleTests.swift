// What a reader's looks cost at a log that nobody writes to, and what they find all the same.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogIdleTests {
  /// A writer with a megabyte of zeros ahead, three commits, and a reader of them.
  private static func sample() throws -> (SimulatedFileSystem, LogStore, LogStore) {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.preallocation = 1 << 20 }
    for step in 0..<3 { try LogSample.commit(step, store) }
    return (files, store, try LogSample.openForReading(files))
  }

  /// Where the store's next frame goes.
  private static func end(of store: LogStore) throws -> UInt64 {
    try #require(store.writing.withLock { $0?.end })
  }

  /// The calls of one look, which finds nothing.
  private static func idleLook(_ reader: LogStore, _ files: SimulatedFileSystem) throws -> (
    calls: Int, bytes: Int
  ) {
    let from = files.operationCount
    #expect(try reader.refresh().isEmpty)
    let operations = files.operations[from...]
    return (operations.count, operations.filter { $0.kind == .read }.reduce(0) { $0 + $1.byteCount })
  }

  @Test func `looks that find nothing take three calls and a page, but for one in 256`() throws {
    let (files, _, reader) = try Self.sample()
    let looks = try (0..<600).map { _ in try Self.idleLook(reader, files) }
    let whole = looks.indices.filter { looks[$0].calls > 3 || looks[$0].bytes > 4096 }
    #expect(whole == [0, 256, 512])
    #expect(looks.filter { $0.bytes > 1 << 20 }.count == 3)
  }

  @Test func `between idle looks every commit, checkpoint and change of metadata is seen at once`() throws {
    let (files, store, reader) = try Self.sample()
    let expected = try LogSample.expected(12)
    for step in 3..<12 {
      for _ in 0..<step { #expect(try Self.idleLook(reader, files).calls > 0) }
      if step == 5 || step == 8 { try store.compact() }
      if step == 6 || step == 8 {
        store.metadata.userEntries = ["step": .int(Int64(step))]
      }
      try LogSample.commit(step, store)
      #expect(try reader.refresh().map(\.generation.number) == [Int64(step + 1)])
      #expect(try LogSample.Facts(reader) == expected[step + 1])
      if step == 6 || step == 8 { #expect(reader.metadata.userEntries["step"] == .int(Int64(step))) }
    }
    try store.close()
    for _ in 0..<3 { #expect(try reader.refresh().isEmpty) }
    // Nothing but the manifest changes.
    try LogFiles.setUserEntries(["closed": .bool(true)], at: "/a", files)
    #expect(try reader.refresh().isEmpty)
    #expect(reader.metadata.userEntries["closed"] == .bool(true))
  }

  @Test(arguments: [0, 100])
  func `damage that short looks can't see is found by the next whole one`(_ looksBefore: Int) throws {
    let (files, store, reader) = try Self.sample()
    for _ in 0...looksBefore { #expect(try reader.refresh().isEmpty) }
    let start = try Self.end(of: store)
    // A frame of more than a page, and one that proves that it was there.
    _ = try store.commit(try LogSample.large(12_000))
    try LogSample.commit(3, store)
    let file = try files.open("/a/log-2", .readWrite)
    try file.write([UInt8](repeating: 0, count: 4096), at: start)
    var looks = 0
    #expect(throws: StoreError(.corrupt, "")) {
      while looks < 600 {
        looks += 1
        _ = try reader.refresh()
      }
    }
    #expect(try reader.snapshot().generation.number == 3)
    #expect(looks == LogStillness.shortLooks + 1 - looksBefore)
    // And at every look from then on.
    for _ in 0..<3 { #expect(throws: StoreError(.corrupt, "")) { _ = try reader.refresh() } }
    // Who goes on writing changes what a short look sees.
    let (other, writer, second) = try Self.sample()
    #expect(try second.refresh().isEmpty)
    _ = try writer.commit(try LogSample.large(12_000))
    try LogSample.commit(3, writer)
    try other.open("/a/log-2", .readWrite).write([UInt8](repeating: 0, count: 4096), at: start)
    #expect(try second.refresh().isEmpty)
    try writer.close()
    #expect(throws: StoreError(.corrupt, "")) { _ = try second.refresh() }
  }

  /// The bytes of a commit that `store` would write next, and where; it isn't there afterwards.
  private static func nextFrame(_ files: SimulatedFileSystem, _ store: LogStore) throws -> (
    bytes: [UInt8], offset: UInt64
  ) {
    let start = try Self.end(of: store)
    _ = try store.commit(try LogSample.large(20_000))
    let end = try Self.end(of: store)
    let file = try files.open("/a/log-2", .readWrite)
    let bytes = try file.bytes(Int(end - start), at: start)
    try file.write([UInt8](repeating: 0, count: bytes.count), at: start)
    return (bytes, start)
  }

  @Test func `a frame that comes in parts is read when it is whole, whatever part comes last`() throws {
    var random = SplitMix64(seed: 8)
    for round in 0..<12 {
      let (files, store, reader) = try Self.sample()
      let (bytes, start) = try Self.nextFrame(files, store)
      let file = try files.open("/a/log-2", .readWrite)
      let pieces = Array(stride(from: 0, to: bytes.count, by: 1 << 10)).shuffled(using: &random)
      let isSlow = round.isMultiple(of: 2)
      #expect(pieces.count < LogStillness.wholeLooksAtTorn)
      for (number, piece) in pieces.enumerated() {
        for _ in 0..<(isSlow ? 5 : 0) { #expect(try reader.refresh().isEmpty) }
        let end = min(piece + 1 << 10, bytes.count)
        try file.write(Array(bytes[piece..<end]), at: start + UInt64(piece))
        if number == pieces.count - 1 { continue }
        #expect(try reader.refresh().isEmpty)
      }
      var looks = 0
      var told: [Commit] = []
      while told.isEmpty, looks <= LogStillness.shortLooksAtTorn {
        looks += 1
        told = try reader.refresh()
      }
      #expect(told.map(\.generation.number) == [4], "round \(round)")
      // Where it hasn't been waited for for long it is read at once.
      if !isSlow { #expect(looks == 1, "round \(round)") }
    }
  }

  @Test func `looks at a tail that its writer died over become short, and the next writer is seen at once`()
    throws
  {
    let (files, store, _) = try Self.sample()
    let (bytes, start) = try Self.nextFrame(files, store)
    let left = files.restarted()
    let file = try left.open("/a/log-2", .readWrite)
    try file.write(Array(bytes[..<(bytes.count / 2)]), at: start)
    let reader = try LogSample.openForReading(left)
    let looks = try (0..<100).map { _ in try Self.idleLook(reader, left) }
    let whole = looks.indices.filter { looks[$0].bytes > 4096 }
    #expect(whole == Array(0..<16) + [31, 47, 63, 79, 95])
    let again = try LogSample.open(left)
    try LogSample.commit(3, again)
    #expect(try reader.refresh().map(\.generation.number) == [4])
    #expect(try LogSample.Facts(reader) == LogSample.expected(4)[4])
  }
}
