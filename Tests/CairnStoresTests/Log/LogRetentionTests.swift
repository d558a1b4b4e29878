// How long history is kept: every commit that is promised is told as it was made, and what was let go stays gone.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogRetentionTests {
  private static let day: TimeInterval = 86_400

  /// A clock that is set by hand.
  private final class Clock: Sendable {
    private let time = Lock(Date(timeIntervalSince1970: 1_000_000_000))
    var now: Date { time.withLock { $0 } }
    func pass(_ days: Double) { time.withLock { $0 += days * day } }
  }

  private static func open(
    _ files: SimulatedFileSystem, _ clock: Clock, _ policy: HistoryPolicy = .all, days: Double? = nil,
    _ change: (inout LogStore.Options) -> Void = { _ in }
  ) throws -> LogStore {
    try LogSample.open(
      files,
      {
        $0.history = policy
        $0.historyDays = days
        change(&$0)
      }, clock: { clock.now })
  }

  private static func told(_ store: LogStore, after generation: Int64) throws -> [Int64] {
    try store.history(after: Generation(generation)).map(\.generation.number)
  }

  @Test func `days count from the commit, whatever is closed, crashes or is written anew in between`() throws
  {
    for ending in ["close", "crash", "failed sync"] {
      var files = SimulatedFileSystem()
      let clock = Clock()
      let store = try Self.open(files, clock, days: 10)
      clock.pass(1)
      try LogSample.commit(0, store)
      if ending == "failed sync" {
        files.injectFaults { $0.kind == .sync ? .error(EIO) : nil }
        #expect(throws: StoreError(.outcomeUnknown, "")) { try store.close() }
        files.injectFaults(nil)
      } else if ending == "close" {
        try store.close()
      } else {
        files = files.restarted()
      }
      // Sealed by another opening than the one that made the commit.
      let again = try Self.open(files, clock, days: 10)
      try again.compact()
      clock.pass(9.9)
      try again.compact()
      #expect(try Self.told(again, after: 0) == [1], "\(ending)")
      clock.pass(0.2)
      // It goes at a checkpoint, not by itself.
      #expect(try Self.told(again, after: 0) == [1], "\(ending)")
      try again.compact()
      #expect(throws: StoreError(.historyPurged, "")) { try again.history(after: Generation(0)) }
      #expect(try again.snapshot().generation.number == 1)
    }
  }

  @Test func `a clock that ran ahead keeps what comes after it, and one that runs backwards lets nothing go`()
    throws
  {
    let files = SimulatedFileSystem()
    let clock = Clock()
    let store = try Self.open(files, clock, days: 10)
    // Before everything else a commit of a day far ahead.
    clock.pass(100)
    try LogSample.commit(0, store)
    try store.compact()
    clock.pass(-100)
    try LogSample.commit(1, store)
    try store.compact()
    for days in [0.0, -30, 60, 79] {
      clock.pass(days)
      try store.compact()
      #expect(try Self.told(store, after: 0) == [1, 2])
    }
    // 109 days after the start, and 111.
    clock.pass(2)
    try store.compact()
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(0)) }
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(1)) }
  }

  @Test func `a cut takes what days and policy would keep, at once and for ever`() throws {
    let files = SimulatedFileSystem()
    let clock = Clock()
    var store = try Self.open(files, clock, days: 10)
    for step in 0..<6 {
      try LogSample.commit(step, store)
      if step == 1 || step == 3 { try store.compact() }
    }
    for (through, least) in [(Int64(3), Int64(3)), (1, 3), (-5, 3), (4, 4), (99, 6)] {
      try store.purgeHistory(through: Generation(through))
      for _ in 0..<2 {
        #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(least - 1)) }
        #expect(try Self.told(store, after: least) == Array(least + 1..<7))
        try store.close()
        store = try Self.open(files, clock)
      }
    }
    try LogSample.commit(6, store)
    #expect(try Self.told(store, after: 6) == [7])
  }

  @Test func `who tells less lets nothing go until a checkpoint, and who tells nothing keeps nothing`() throws
  {
    let files = SimulatedFileSystem()
    let clock = Clock()
    var store = try Self.open(files, clock)
    for step in 0..<6 {
      try LogSample.commit(step, store)
      if step == 1 || step == 3 { try store.compact() }
    }
    try store.close()
    for policy in [HistoryPolicy.newest(2), .none] {
      store = try Self.open(files, clock, policy)
      #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(0)) }
      try store.close()
    }
    store = try Self.open(files, clock)
    #expect(try Self.told(store, after: 0) == [1, 2, 3, 4, 5, 6])
    try store.close()
    // Days don't keep what the policy doesn't tell.
    store = try Self.open(files, clock, .none, days: 1000)
    try store.compact()
    try store.close()
    store = try Self.open(files, clock)
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(5)) }
    #expect(try Self.told(store, after: 6) == [])
    #expect(try LogManifest(LogSample.bytes("MANIFEST", files)).bases.count == 1)
  }

  /// What may be asked of history, from what was done alone.
  private struct Oracle {
    let policy: HistoryPolicy
    let days: Double?
    /// As they were made, by generation - 1, and the latest of the times up to each.
    var commits: [(text: String, latest: Date)] = []
    var purged: Int64 = 0

    mutating func made(_ commit: Commit, _ schema: Schema) {
      commits.append((commit.text(schema), max(commits.last?.latest ?? .distantPast, commit.time)))
    }

    /// The commit after which all have to be told, if nothing was ever older than it is now.
    func required(_ now: Date) -> Int64 {
      let newest = Int64(commits.count)
      var after = purged
      switch policy {
      case .none: after = newest
      case .newest(let limit): after = max(after, newest - Int64(limit))
      case .all: break
      }
      if let days {
        after = max(after, Int64(commits.prefix { now.timeIntervalSince($0.latest) > days * day }.count))
      }
      return after
    }
  }

  @Test(arguments: [
    (HistoryPolicy.all, nil), (.all, 5.0), (.newest(7), nil), (.newest(9), 8.0), (.none, nil),
  ])
  func `whatever happens to a log, history tells all that it promises, as it was, and nothing that was cut`(
    _ policy: HistoryPolicy, _ days: Double?
  ) throws {
    for seed in UInt64(1)...4 {
      var random = SplitMix64(seed: seed)
      var files = SimulatedFileSystem()
      let clock = Clock()
      var oracle = Oracle(policy: policy, days: days)
      var store = try Self.open(files, clock, policy, days: days)
      // What has to be told only ever begins later.
      var required: Int64 = 0
      for _ in 0..<70 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: oracle.made(try LogSample.commit(oracle.commits.count, store), LogSample.schema)
        case 4: try store.compact()
        case 5: clock.pass(.random(in: 0...4, using: &random))
        case 6: clock.pass(.random(in: -3...3, using: &random))
        case 7 where Bool.random(using: &random):
          let generation = Int64.random(in: 0...Int64(oracle.commits.count), using: &random)
          try store.purgeHistory(through: Generation(generation))
          oracle.purged = max(oracle.purged, generation)
        case 8:
          try store.close()
          store = try Self.open(files, clock, policy, days: days)
        case 9:
          files = files.restarted()
          store = try Self.open(files, clock, policy, days: days)
        default: break
        }
        required = max(required, oracle.required(clock.now))
        let newest = Int64(oracle.commits.count)
        let reader = try Self.open(files, clock, policy, days: days) { $0.isReadOnly = true }
        for subject in [store, reader] {
          #expect(try subject.snapshot().generation.number == newest)
          for after in [required, Int64.random(in: required...newest, using: &random)] {
            let told = try subject.history(after: Generation(after)).map { $0.text(LogSample.schema) }
            #expect(told == oracle.commits[Int(after)...].map(\.text), "seed \(seed), after \(after)")
          }
          if oracle.purged > 0 {
            #expect(throws: StoreError(.historyPurged, "")) {
              try subject.history(after: Generation(oracle.purged - 1))
            }
          }
          guard case .newest(let limit) = policy, newest > limit else { continue }
          #expect(throws: StoreError(.historyPurged, "")) {
            try subject.history(after: Generation(newest - Int64(limit) - 1))
          }
        }
      }
    }
  }
}
