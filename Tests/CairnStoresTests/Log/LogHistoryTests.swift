// History of logs: what is told after checkpoints and reopenings, what is let go, and states of the past.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogHistoryTests {
  /// What history says of a commit, as text.
  private static func text(_ commit: Commit) -> String {
    func rows(_ rows: [Commit.Rows]) -> String {
      rows.map { "\($0.entity.index) \($0.runs) \($0.properties)" }.joined(separator: ",")
    }
    return
      "\(commit.generation.number) \(commit.author ?? "-") \(commit.contextName ?? "-") "
      + "\(commit.time.timeIntervalSinceReferenceDate.bitPattern) +\(rows(commit.insertedRows)) "
      + "~\(rows(commit.updatedRows)) -\(rows(commit.deletedRows))"
  }

  @Test func `history tells the same after checkpoints, reopenings and to readers`() throws {
    let files = SimulatedFileSystem()
    var commits: [String] = []
    var store = try LogSample.open(files) { $0.history = .all }
    for step in 0..<12 {
      var changes = try LogSample.changes(step, store)
      changes.contextName = step.isMultiple(of: 2) ? "context \(step)" : nil
      commits.append(Self.text(try store.commit(changes)))
      if step % 4 == 3 { try store.compact() }
      if step % 5 == 4 {
        try store.close()
        store = try LogSample.open(files) { $0.history = .all }
      }
      for after in 0...step {
        #expect(
          try store.history(after: Generation(Int64(after))).map(Self.text) == commits[after...].map { $0 })
      }
    }
    let reader = try LogSample.openForReading(files)
    #expect(try reader.history(after: Generation(0)).map(Self.text) == commits)
    #expect(try reader.history(after: Generation(12)).isEmpty)
    // One old base is kept for the states of the past, and the newest.
    #expect(try LogManifest(LogSample.bytes("MANIFEST", files)).bases.count <= 4)
  }

  @Test func `a checkpoint lets go of what no history tells`() throws {
    for (policy, isKept) in [
      (HistoryPolicy.none, false), (.newest(1), false), (.newest(20), true), (.all, true),
    ] {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files) { $0.history = policy }
      for step in 0..<6 {
        try LogSample.commit(step, store)
        if step.isMultiple(of: 2) { try store.compact() }
      }
      try store.compact()
      #expect(try files.list("/a").contains("log-2") == isKept, "\(policy)")
      if !isKept {
        #expect(try files.list("/a").filter { $0.hasPrefix("log") || $0.hasPrefix("base") }.count <= 4)
      }
      let newest = try store.snapshot().generation.number
      switch policy {
      case .none:
        #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(newest - 1)) }
      case .newest(1): #expect(try store.history(after: Generation(newest - 1)).count == 1)
      default: #expect(try store.history(after: Generation(0)).count == 6)
      }
    }
  }

  @Test func `a sliding window keeps few bases, and all that is told`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .newest(9) }
    for step in 0..<60 {
      try LogSample.commit(step, store)
      if step % 3 == 2 { try store.compact() }
      let told = min(step + 1, 9)
      #expect(try store.history(after: Generation(Int64(step + 1 - told))).count == told)
    }
    let manifest = try LogManifest(LogSample.bytes("MANIFEST", files))
    #expect(manifest.bases.count <= 4 && manifest.segments.count <= 12, "\(manifest.segments.count)")
    #expect(try LogVerifier.findings(at: "/a", on: files).isEmpty)
  }

  @Test func `commits older than the days configured go at checkpoints, by the latest time up to them`()
    throws
  {
    let files = SimulatedFileSystem()
    let now = Lock(Date(timeIntervalSince1970: 1_000_000_000))
    let store = try LogSample.open(
      files,
      {
        $0.history = .all
        $0.historyDays = 10
      }, clock: { now.withLock { $0 } })
    func pass(_ days: Double) { now.withLock { $0 += days * 86_400 } }
    try LogSample.commit(0, store)
    try store.compact()
    pass(6)
    try LogSample.commit(1, store)
    // The clock runs backwards: generations order, and what is told are the times as they were.
    pass(-30)
    try LogSample.commit(2, store)
    try store.compact()
    let told = try store.history(after: Generation(0))
    #expect(told.map(\.generation.number) == [1, 2, 3] && told[2].time < told[1].time)
    pass(35)
    try store.compact()
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(0)) }
    #expect(try store.history(after: Generation(1)).count == 2)
    pass(6)
    try store.compact()
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(2)) }
    #expect(try store.history(after: Generation(3)).isEmpty)
  }

  @Test func `a purge lasts, and its files go with it`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    for step in 0..<6 {
      try LogSample.commit(step, store)
      if step == 1 || step == 3 { try store.compact() }
    }
    try store.purgeHistory(through: Generation(3))
    #expect(try !files.list("/a").contains("log-2"))
    for state in files.crashStates() {
      let again = try LogSample.open(state.fileSystem) { $0.history = .all }
      #expect(throws: StoreError(.historyPurged, "")) { try again.history(after: Generation(2)) }
      #expect(try again.history(after: Generation(3)).count == 3)
      #expect(try again.snapshot().generation.number == 6)
      try again.close()
    }
  }

  @Test func `the state after each kept commit can be opened, and no other`() throws {
    let files = SimulatedFileSystem()
    let expected = try LogSample.expected(9)
    let store = try LogSample.open(files) { $0.history = .all }
    for step in 0..<9 {
      try LogSample.commit(step, store)
      if step % 3 == 1 { try store.compact() }
    }
    for generation in 0...9 {
      let past = try LogSample.openForReading(files, upTo: Int64(generation))
      #expect(try LogSample.Facts(past) == expected[generation])
      #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try past.commit(ChangeSet()) }
      #expect(try past.refresh().isEmpty)
    }
    #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try LogSample.openForReading(files, upTo: 10) }
    try store.purgeHistory(through: Generation(4))
    #expect(throws: StoreError(.historyPurged, "")) { _ = try LogSample.openForReading(files, upTo: 3) }
    #expect(try LogSample.Facts(LogSample.openForReading(files, upTo: 5)) == expected[5])
  }

  @Test func `history is read from the middle of a long segment, not from its beginning`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    try LogSample.commit(0, store)
    for number in 0..<30 { _ = try store.commit(try LogSample.large(13_000, seed: UInt64(number))) }
    let reader = try LogSample.openForReading(files)
    for (subject, name) in [(store, "writer"), (reader, "reader")] {
      _ = try subject.history(after: Generation(0))
      let before = files.operationCount
      #expect(try subject.history(after: Generation(30)).map(\.generation.number) == [31])
      let read = files.operations[before...].filter {
        $0.kind == .read && $0.path.hasSuffix("log-2") && $0.offset > 0
      }.map(\.offset).min()
      #expect(read ?? 0 > 200_000, "\(name)")
    }
  }
}
