// What tools do with logs: verify, salvage, sum up, list transactions; and metadata, destroying and replacing by path.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogToolTests {
  /// Commits, and a checkpoint after the fourth, with everything kept.
  private static func sample(_ steps: Int = 9, history: HistoryPolicy = .all) throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = history }
    for step in 0..<steps {
      try LogSample.commit(step, store)
      if step == 3 { try store.compact() }
    }
    store.metadata.userEntries["who"] = .string("me")
    try store.close()
    return files
  }

  private static func damaged(
    _ files: SimulatedFileSystem, _ change: (inout [String: [UInt8]]) -> Void
  ) throws -> SimulatedFileSystem {
    var contents = try LogSample.contents(files)
    change(&contents)
    return try LogSample.files(contents)
  }

  @Test func `a whole log has no findings, and each damage has one that names its file`() throws {
    let files = try Self.sample()
    #expect(try LogVerifier.findings(at: "/a", on: files).isEmpty)
    for (name, bytes) in try LogSample.contents(files) where name != "LOCK" {
      let broken = try Self.damaged(files) { $0[name]![bytes.count / 2] ^= 4 }
      let findings = try LogVerifier.findings(at: "/a", on: broken)
      #expect(
        !findings.isEmpty && findings.allSatisfy { $0.file == "/a/\(name)" && $0.code == .corrupt }, "\(name)"
      )
    }
    // Two damages of a segment are two findings.
    let twice = try Self.damaged(files) {
      $0["log-3"]![120] ^= 1
      $0["log-3"]![$0["log-3"]!.count - 70] ^= 1
    }
    #expect(try LogVerifier.findings(at: "/a", on: twice).count == 2)
  }

  @Test func `salvaging a whole log gives the same rows`() throws {
    let files = try Self.sample()
    let report = try LogSalvager.salvage("/a", to: "/b", on: files)
    #expect(report.isWhole && report.generation == 9 && report.transactionCount == 5)
    let store = try LogSample.open(files, at: "/b")
    #expect(try LogSample.Facts(store) == LogSample.expected(9)[9])
    #expect(store.metadata.userEntries["who"] == .string("me"))
    #expect(store.metadata.uuid == (try LogFiles.metadata(at: "/a", files)).uuid)
    #expect(throws: StoreError(.fileSystem, "")) { _ = try LogSalvager.salvage("/a", to: "/b", on: files) }
  }

  @Test func `salvaging goes on behind the damage, and says what is lost`() throws {
    let files = try Self.sample()
    let frames = try LogSample.frames(LogSample.bytes("log-3", files))
    // Of keys, and the commits 5 to 9. The seventh inserts, and nothing after it needs the sixth.
    let start = LogSegmentHeader.size + frames[..<2].reduce(0) { $0 + $1.size }
    let broken = try Self.damaged(files) { $0["log-3"]![start + 50] ^= 1 }
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.openForReading(broken) }
    let report = try LogSalvager.salvage("/a", to: "/b", on: broken)
    #expect(
      !report.isWhole && report.generation == 9 && report.lostCommits == [6...6] && report.gaps.count == 1)
    #expect(
      report.gaps.first?.offset == UInt64(start) && report.gaps.first?.byteCount == UInt64(frames[2].size))
    let store = try LogSample.open(broken, at: "/b")
    #expect(try store.snapshot().generation.number == 9)
    // Keys aren't handed out again.
    let rows = try store.fetch(StoreRequest(entity: LogSample.people.id), in: store.snapshot())
    #expect(try store.reserveKeys(1, root: LogSample.people.id).lowerBound > rows.keys.map(\.id).max()!)
    #expect(try LogVerifier.findings(at: "/b", on: broken).isEmpty)
  }

  @Test func `salvaging does without a manifest, with an older base, or with a damaged one`() throws {
    let files = try Self.sample()
    let expected = try LogSample.expected(9)
    for names in [["MANIFEST"], ["base-4"], ["MANIFEST", "base-4"]] {
      let broken = try Self.damaged(files) { contents in for name in names { contents[name] = nil } }
      let report = try LogSalvager.salvage("/a", to: "/b", on: broken)
      #expect(report.generation == 9 && report.lostCommits.isEmpty, "\(names) \(report)")
      #expect(try LogSample.Facts(LogSample.open(broken, at: "/b")) == expected[9], "\(names)")
    }
    // The only base has a damaged block.
    let only = try Self.sample(history: .none)
    let base = try LogSample.contents(only).keys.first { $0.hasPrefix("base") }!
    let index = try LogFiles.base(at: "/a", only).index
    let block = try #require(index.tables[0][0].columns[0]?.block)
    let broken = try Self.damaged(only) { $0[base]![Int(block.offset) + block.length - 1] ^= 1 }
    let report = try LogSalvager.salvage("/a", to: "/b", on: broken)
    #expect(report.base?.isWhole == false && report.generation == 9)
    let people = try LogSample.Facts(LogSample.open(broken, at: "/b")).people
    #expect(people.count == expected[9].people.count)
    // Nothing at all.
    let nothing = try Self.damaged(files) { $0 = ["log-3": $0["log-3"]!] }
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSalvager.salvage("/a", to: "/b", on: nothing) }
    #expect(try nothing.information("/b") == nil)
  }

  @Test func `a summary says what the files are for`() throws {
    let files = try Self.sample()
    let store = try LogSample.open(files) {
      $0.history = .all
      $0.preallocation = 5_000
    }
    try LogSample.commit(9, store)
    let summary = try LogSummary(ofLogAt: "/a", on: files)
    #expect(summary.generation == 10 && !summary.isClosed && summary.keptAfter == 0)
    #expect(summary.bases.map(\.generation) == [0, 4])
    #expect(summary.segments.map(\.transactionCount) == [4, 6])
    #expect(summary.segments.map(\.isLive) == [false, true])
    #expect(summary.segments.map(\.isSealed) == [true, false])
    #expect(summary.segments[1].byteCount > summary.segments[1].usedByteCount + 4_000)
    #expect(
      summary.liveByteCount == summary.bases[1].byteCount + summary.segments[1].usedByteCount)
    #expect(summary.historyByteCount == summary.bases[0].byteCount + summary.segments[0].byteCount)
    try store.close()
    #expect(try LogSummary(ofLogAt: "/a", on: files).isClosed)
  }

  @Test func `transactions are listed in order, from any commit on, and while they are added`() throws {
    let files = try Self.sample()
    let list = try LogTransactions(ofLogAt: "/a", on: files)
    var entries: [LogTransactions.Entry] = []
    while let entry = try list.next() { entries.append(entry) }
    #expect(entries.map(\.commit.generation.number) == Array(1...9))
    #expect(entries.map(\.commit.author) == (0..<9).map { "step \($0)" })
    #expect(entries.map(\.insertedCount) == [4, 0, 0, 4, 0, 0, 4, 0, 0])
    #expect(entries.map(\.deletedCount) == [0, 0, 1, 0, 0, 1, 0, 0, 1])
    #expect(entries[1].updatedCount == 1 && entries[3].file == "log-2" && entries[4].file == "log-3")
    let store = try LogSample.open(files) { $0.history = .all }
    try LogSample.commit(9, store)
    try store.compact()
    try LogSample.commit(10, store)
    #expect(try list.next()?.commit.generation.number == 10)
    #expect(try list.next()?.commit.generation.number == 11)
    #expect(try list.next() == nil)
    let late = try LogTransactions(ofLogAt: "/a", after: 7, on: files)
    #expect(try late.next()?.commit.generation.number == 8)
  }

  @Test func `nothing is written from a log that can't be read as a whole`() throws {
    let files = try Self.sample(4, history: .none)
    let base = try LogSample.contents(files).keys.first { $0.hasPrefix("base") }!
    let block = try #require(try LogFiles.base(at: "/a", files).index.tables[0][0].columns[0]?.block)
    let broken = try Self.damaged(files) { $0[base]![Int(block.offset) + block.length - 1] ^= 1 }
    #expect(throws: StoreError(.corrupt, "")) { try LogFiles.replace("/b", with: "/a", broken) }
    #expect(!LogFiles.isLog(at: "/b", on: broken))
    let store = try LogSample.openForReading(broken)
    #expect(throws: StoreError(.corrupt, "")) {
      try ArchiveFiles.pack(store, into: "/c", model: .init(schema: LogSample.schema), on: broken)
    }
    #expect(try broken.information("/c") == nil)
  }

  @Test func `metadata is read and written by path, and survives checkpoints`() throws {
    let files = try Self.sample()
    #expect(try LogFiles.metadata(at: "/a", files).userEntries == ["who": .string("me")])
    try LogFiles.setUserEntries(["n": .int(7)], at: "/a", files)
    let store = try LogSample.open(files)
    #expect(store.metadata.userEntries == ["n": .int(7)] && store.metadata.type == "CairnLog")
    #expect(throws: StoreError(.locked, "")) { try LogFiles.setUserEntries([:], at: "/a", files) }
    #expect(throws: StoreError(.locked, "")) { try LogFiles.destroy(at: "/a", files) }
    store.metadata.userEntries["x"] = .bool(true)
    try LogSample.commit(9, store)
    #expect(try LogFiles.metadata(at: "/a", files).userEntries.count == 2)
    let reader = try LogSample.openForReading(files)
    store.metadata.userEntries = [:]
    try store.compact()
    try LogSample.commit(10, store)
    _ = try reader.refresh()
    #expect(reader.metadata.userEntries.isEmpty)
    try store.close()
  }

  @Test func `a log opens without its model`() throws {
    let files = SimulatedFileSystem()
    var model = ArchiveStore.Model(schema: LogSample.schema)
    model.source = "<model/>"
    model.versionHashes = ["Person": Data([1, 2])]
    let store = try LogStore(at: "/a", model: model, options: LogSample.options, fileSystem: files)
    for step in 0..<4 { try LogSample.commit(step, store) }
    try store.close()
    #expect(try LogFiles.base(at: "/a", files).schema.model == "<model/>")
    #expect(LogFiles.isLog(at: "/a", on: files) && !LogFiles.isLog(at: "/", on: files))
    #expect(!LogFiles.isLog(at: "/none/at/all", on: files))
    #expect(try LogFiles.metadata(at: "/a", files).versionHashes == ["Person": Data([1, 2])])
    let schema = try LogFiles.schema(at: "/a", on: files)
    let again = try LogStore(
      at: "/a", model: .init(schema: schema), options: LogSample.options, fileSystem: files)
    #expect(try LogSample.Facts(again) == LogSample.expected(4)[4])
    try again.close()
    let other = try Schema(SchemaDescription(entities: [.init(name: "Other")]))
    #expect(throws: StoreError(.incompatibleSchema, "")) {
      _ = try LogStore(at: "/a", model: .init(schema: other), options: LogSample.options, fileSystem: files)
    }
  }

  @Test func `a log is destroyed with its directory, unless something else is in it`() throws {
    let files = try Self.sample()
    try LogFiles.destroy(at: "/a", files)
    #expect(try files.information("/a") == nil)
    let other = try Self.sample()
    try other.open("/a/notes", .create(permissions: 0o644)).close()
    try LogFiles.destroy(at: "/a", other)
    #expect(try other.list("/a") == ["notes"])
    // Damaged ones too.
    let broken = try Self.damaged(try Self.sample()) { $0["MANIFEST"]![50] ^= 1 }
    try LogFiles.destroy(at: "/a", broken)
    #expect(try broken.information("/a") == nil)
  }

  @Test func `a log is replaced by the state of another, whatever crashes`() throws {
    let expected = try LogSample.expected(9)
    let start = try Self.sample()
    let old = try LogSample.open(start, at: "/b")
    for step in 0..<2 { try LogSample.commit(step, old) }
    let follower = try LogSample.open(start, at: "/b") { $0.isReadOnly = true }
    #expect(throws: StoreError(.locked, "")) { try LogFiles.replace("/b", with: "/a", start) }
    try old.close()
    var plan = FaultEnumeration(seed: 3)
    plan.statesPerCrash = 4
    plan.statesPerFault = 2
    plan.faults = [.error(EIO), .partial(ENOSPC)]
    try plan.run(
      from: start, record: false,
      work: { files, isDone in
        try LogFiles.replace("/b", with: "/a", files)
        isDone = true
      },
      check: { files, isDone, _ in
        let store = try LogSample.open(files, at: "/b")
        let found = try LogSample.Facts(store)
        guard found == expected[9] || !isDone && found == expected[2] else {
          throw Wrong(description: "it holds \(found)")
        }
        try LogSample.commit(Int(found.generation), store)
        try store.close()
      })
    try LogFiles.replace("/b", with: "/a", start)
    #expect(throws: StoreError(.fileSystem, "")) { _ = try follower.refresh() }
    try LogFiles.replace("/new", with: "/a", start)
    #expect(try LogSample.Facts(LogSample.open(start, at: "/new")) == expected[9])
  }
}
