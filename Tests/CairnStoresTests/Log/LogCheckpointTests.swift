// When checkpoints of a log are made, what they cost, and what one that fails leaves.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogCheckpointTests {
  private static let people = LogSample.people.id

  /// A store with `count` people.
  private static func people(
    _ count: Int, _ files: any FileSystem, _ change: (inout LogStore.Options) -> Void
  ) throws -> LogStore {
    let store = try LogSample.open(files, change)
    let names = ColumnBuilder(.string)
    for number in 0..<count { names.append("person number \(number)") }
    var changes = ChangeSet()
    let keys = Array(try store.reserveKeys(count, root: people))
    changes.inserts = [.init(entity: people, keys: keys, columns: [names.finish(), nil])]
    _ = try store.commit(changes)
    return store
  }

  @Test func `many small updates are written three times at most, checkpoints included`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.people(600, files) {
      $0.checkpoints = .inline
      $0.leastTail = 4_096
    }
    try store.compact()
    let start = files.operationCount
    var random = SplitMix64(seed: 4)
    var frames = 0
    for number in 0..<900 {
      var changes = ChangeSet()
      let key = Int64.random(in: 1...600, using: &random)
      try changes.update(
        RowKey(entity: Self.people, id: key), ["age": .int(Int64(number))], in: LogSample.schema)
      _ = try store.commit(changes)
      frames += LogFrame.headerSize + 12
    }
    let writes = files.operations[start...].filter { $0.kind == .write }
    let bases = Set(writes.filter { $0.path.contains("base-") }.map(\.path))
    #expect(bases.count >= 2)
    let written = writes.reduce(0) { $0 + $1.byteCount }
    #expect(written <= 3 * frames, "\(written) bytes for \(frames)")
    // Opening costs no more than the last checkpoint and a tail of its size.
    let manifest = try LogManifest(LogSample.bytes("MANIFEST", files))
    #expect(manifest.bases.count == 1 && manifest.segments.count == 1)
    #expect(
      UInt64(try LogSample.bytes("log-\(manifest.segments[0].number)", files).count) < 4_096
        + manifest.bases[0].length)
  }

  @Test func `a long tail makes a checkpoint on a queue of its own`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.people(50, files) {
      $0.checkpoints = .automatic
      $0.leastTail = 1_000
    }
    for step in 0..<20 { _ = try store.commit(try LogSample.large(300, seed: UInt64(step))) }
    #expect(try wait { try LogManifest(LogSample.bytes("MANIFEST", files)).newestBase.generation > 0 })
    let before = try LogSample.Facts(store)
    try store.close()
    #expect(try LogSample.Facts(LogSample.openForReading(files)) == before)
  }

  @Test func `closing makes a checkpoint where the tail is long, and none where it isn't`() throws {
    for (least, isMade) in [(UInt64(1_000), true), (1_000_000, false)] {
      let files = SimulatedFileSystem()
      // Half of what makes a commit do it.
      let store = try Self.people(30, files) {
        $0.checkpoints = .inline
        $0.leastTail = least
      }
      try store.close()
      let base = try LogManifest(LogSample.bytes("MANIFEST", files)).newestBase
      #expect((base.generation == 1) == isMade)
      #expect(try LogSummary(ofLogAt: "/a", on: files).isClosed)
    }
  }

  @Test func `a checkpoint that fails leaves nothing behind, and the store goes on`() throws {
    func start() throws -> (SimulatedFileSystem, LogStore) {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files)
      for step in 0..<3 { try LogSample.commit(step, store) }
      return (files, store)
    }
    let (whole, first) = try start()
    let from = whole.operationCount
    try first.compact()
    let operations = whole.operations[from...]
    let expected = try LogSample.expected(4)
    var stopped = 0
    for operation in operations where SimulatedFault.error(EIO).fits(operation.kind) {
      let (files, store) = try start()
      files.fail(at: operation.number, with: .error(EIO))
      let error = #expect(throws: (any Error).self, "\(operation)") {
        try store.compact()
        // Closing and removing files may fail without harm.
        if operation.kind == .close || operation.kind == .remove { throw Wrong(description: "harmless") }
      }
      files.injectFaults(nil)
      let manifest = try LogManifest(LogSample.bytes("MANIFEST", files))
      let named = Set(
        ["MANIFEST", "LOCK"] + manifest.bases.map { LogNames.base($0.number) }
          + manifest.segments.map { LogNames.segment($0.number) })
      if (error as? StoreError)?.code == .outcomeUnknown {
        // A sync has failed, so nobody knows what is there.
        stopped += 1
        #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(ChangeSet()) }
        continue
      }
      if operation.kind != .remove {
        #expect(Set(try files.list("/a")).subtracting(named).isEmpty, "\(operation)")
      }
      try LogSample.commit(3, store)
      #expect(try LogSample.Facts(store) == expected[4])
      try store.compact()
      try store.close()
      #expect(try LogSample.state(files.restarted(), expected, isReadOnly: true) == 4, "\(operation)")
      #expect(try LogVerifier.findings(at: "/a", on: files).isEmpty)
    }
    #expect(stopped > 0 && stopped < 5)
  }

  @Test
  func
    `rows that a checkpoint has written go on being read from memory, and the next reader's from the file`()
    throws
  {
    let files = SimulatedFileSystem()
    let store = try Self.people(40, files) { _ in }
    let held = try store.snapshot()
    let before = try StoreContents(of: store, in: held)
    try store.compact()
    _ = try store.commit(try LogSample.large(100))
    try store.compact()
    #expect(before.difference(from: try StoreContents(of: store, in: held)) == nil)
    let now = try StoreContents(of: store, in: store.snapshot())
    let reader = try LogSample.openForReading(files)
    #expect(now.difference(from: try StoreContents(of: reader, in: reader.snapshot())) == nil)
    // Opening reads no row.
    #expect(try LogManifest(LogSample.bytes("MANIFEST", files)).newestBase.generation == 2)
  }

  @Test func `opening costs the same whatever a checkpoint holds`() throws {
    let reads = try [100, 5_000].map { count in
      let files = SimulatedFileSystem()
      let store = try Self.people(count, files) { _ in }
      try store.compact()
      try store.close()
      let from = files.operationCount
      _ = try LogSample.openForReading(files)
      return files.operations[from...].filter { $0.kind == .read && $0.path.contains("base-") }
        .reduce(0) { $0 + min($1.byteCount, 4_096) }
    }
    #expect(reads[1] < reads[0] + 1_000, "\(reads)")
  }
}
