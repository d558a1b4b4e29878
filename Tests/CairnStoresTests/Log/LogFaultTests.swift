// Logs on files that crash and fail at every operation: the state after some commit, and everything that was
// acknowledged.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogFaultTests {
  /// Throws unless what is left is as was promised: the state after some commit, with all that were acknowledged; the
  /// same for readers and writers, before and after recovery; and ready for further commits.
  static func check(
    _ files: SimulatedFileSystem, _ expected: [LogSample.Facts], promised: Int, written: Int,
    failure: StoreError? = nil
  ) throws {
    if try files.information("/a/MANIFEST") == nil {
      if promised >= 0 { throw Wrong(description: "the store is gone") }
      try LogSample.open(files).close()
      return
    }
    let seen = try LogSample.state(files, expected, isReadOnly: true)
    if seen < promised {
      throw Wrong(description: "\(promised) commits were acknowledged, and \(seen) are there")
    }
    if seen > written { throw Wrong(description: "\(seen) commits, and \(written) were tried") }
    if let failure, failure.code != .outcomeUnknown, seen > max(promised, 0) {
      throw Wrong(description: "a commit that failed is there: \(failure)")
    }
    guard try LogSample.state(files, expected, isReadOnly: false) == seen else {
      throw Wrong(description: "recovery changes what is there")
    }
    try checkNames(files)
    let commits = seen < expected.count - 1
    if commits {
      let store = try LogSample.open(files)
      try LogSample.commit(seen, store)
      try store.close()
    }
    guard try LogSample.state(files, expected, isReadOnly: true) == seen + (commits ? 1 : 0) else {
      throw Wrong(description: "after the crash the store isn't what it was, or takes no commits")
    }
  }

  /// Nothing lies in the directory that doesn't belong to the store.
  private static func checkNames(_ files: SimulatedFileSystem) throws {
    let manifest = try LogDirectory(fileSystem: files, path: "/a").manifest()
    let named = Set(
      ["MANIFEST", "LOCK"] + manifest.bases.map { LogNames.base($0.number) }
        + manifest.segments.map { LogNames.segment($0.number) })
    for name in try files.list("/a") where !named.contains(name) && !LogNames.isTorn(name) {
      throw Wrong(description: "left \(name)")
    }
  }

  /// Whether there is time: more states of each crash are tried.
  private static let isDeep = ProcessInfo.processInfo.environment["CAIRN_DEEP_FAULTS"] != nil

  /// How far the work came.
  struct Record {
    /// Commits that returned, and were promised to last; -1 before the store was there.
    var promised = -1
    /// Commits that were tried.
    var written = 0
    /// Commits that returned.
    var returned = 0
  }

  /// Commits, and a checkpoint after the second.
  private static func work(
    _ steps: Range<Int>, _ files: SimulatedFileSystem, _ record: inout Record,
    _ change: (inout LogStore.Options) -> Void = { _ in }
  ) throws {
    let store = try LogSample.open(files, change)
    let isLasting = store.options.durability == .full
    record.promised = steps.lowerBound
    for step in steps {
      record.written = step + 1
      try LogSample.commit(step, store)
      if isLasting { record.promised = step + 1 }
      if step == 1 {
        try store.compact()
        record.promised = step + 1
      }
    }
    try store.close()
    record.promised = steps.upperBound
  }

  private static func check(
    _ expected: [LogSample.Facts], _ files: SimulatedFileSystem, _ record: Record,
    _ ending: FaultEnumeration.Ending
  ) throws {
    var failure: StoreError?
    if case .failed(let error as StoreError) = ending { failure = error }
    try check(files, expected, promised: record.promised, written: record.written, failure: failure)
  }

  @Test
  func `a crash or a fault at any operation of a new store, its commits and a checkpoint loses nothing`()
    throws
  {
    let expected = try LogSample.expected(4)
    var plan = FaultEnumeration(seed: 5)
    plan.statesPerCrash = Self.isDeep ? 600 : 3
    plan.statesPerFault = Self.isDeep ? 20 : 1
    plan.crashedRecoveries = 0
    plan.faults = Self.isDeep ? plan.faults : [.error(EIO), .partial(ENOSPC)]
    let report = try plan.run(
      record: Record(),
      work: { files, record in try Self.work(0..<3, files, &record) { $0.preallocation = 600 } },
      check: { try Self.check(expected, $0, $1, $2) })
    #expect(report.crashCount > 40 && report.faultCount > 150, "\(report)")
    if Self.isDeep { print(report) }
  }

  @Test(arguments: [LogStore.Durability.full, .normal, .off])
  func `so does one at any operation of a recovery, at each level of durability`(_ level: LogStore.Durability)
    throws
  {
    let expected = try LogSample.expected(4)
    let start = SimulatedFileSystem()
    let store = try LogSample.open(start)
    for step in 0..<2 { try LogSample.commit(step, store) }
    try store.close()
    var plan = FaultEnumeration(seed: 6)
    plan.statesPerCrash = Self.isDeep ? 100 : 3
    plan.statesPerFault = Self.isDeep ? 20 : 1
    plan.crashedRecoveries = Self.isDeep ? 4 : 1
    plan.faults = []
    let report = try plan.run(
      from: start, record: Record(promised: 2, written: 2),
      work: { files, record in
        // Not closed, so that there is something to recover.
        let store = try LogSample.open(files) { $0.durability = level }
        record.written = 3
        try LogSample.commit(2, store)
        if level == .full { record.promised = 3 }
      },
      recovery: { try LogSample.open($0).close() },
      check: { try Self.check(expected, $0, $1, $2) })
    #expect(report.recoveryCrashCount > 20, "\(report)")
    if Self.isDeep { print(report) }
  }

  /// With CAIRN_SEED set only that one is run.
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }.map { [$0] }
    ?? Array(1...(isDeep ? 200 : 6))

  @Test(arguments: seeds)
  func `a crash anywhere in a long life leaves some prefix with all that was acknowledged`(_ seed: UInt64)
    throws
  {
    let expected = try LogSample.expected(40)
    var random = SplitMix64(seed: seed)
    let files = SimulatedFileSystem()
    // Which commits are there for certain, and how many were tried.
    var record = Record(promised: 0, written: 0)
    let level = LogStore.Durability.allCases[Int(seed % 3)]
    try LogSample.open(files).close()
    var now = files
    while record.written < 38 {
      let crash = Int.random(in: 10...90, using: &random)
      let kind = Int.random(in: 0...3, using: &random)
      now.fail(at: crash, with: kind == 0 ? .error(EIO) : kind == 1 ? .partial(ENOSPC) : .crash)
      do {
        try Self.live(now, level, &record, &random)
        now = now.restarted()
      } catch is SimulatedCrash {
        // One of the states that the crash may leave is the one that life goes on with.
        let states = Array(now.crashStates(limit: 6, seed: seed &+ UInt64(record.written)))
        for (number, state) in states.enumerated() {
          let seen = try Self.located(seed, "state \(number): \(state.description)") {
            try LogSample.state(state.fileSystem.restarted(), expected, isReadOnly: true)
          }
          // What the process alone has lost is nothing.
          let least = number == 0 ? max(record.promised, record.returned) : record.promised
          #expect(
            seen >= least && seen <= record.written, "seed \(seed), state \(number): \(state.description)")
        }
        now = states[Int.random(in: 0..<states.count, using: &random)].fileSystem
      } catch is StoreError {
        now = now.restarted()
      }
      let seen = try Self.located(seed, "\(record)") {
        try LogSample.state(now.restarted(), expected, isReadOnly: true)
      }
      #expect(
        seen >= record.promised && seen <= record.written, "seed \(seed): \(record), and \(seen) are there")
      record = Record(promised: min(record.promised, seen), written: seen, returned: seen)
    }
  }

  /// Opens, commits, makes checkpoints and closes, at random.
  private static func live(
    _ files: SimulatedFileSystem, _ level: LogStore.Durability, _ record: inout Record,
    _ random: inout SplitMix64
  ) throws {
    let store = try LogSample.open(files) {
      $0.durability = level
      $0.preallocation = 1_500
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) where record.written < 39 {
      let step = Int(try store.snapshot().generation.number)
      record.written = step + 1
      try LogSample.commit(step, store)
      record.returned = step + 1
      if level == .full { record.promised = step + 1 }
      if Int.random(in: 0..<5, using: &random) == 0 {
        try store.compact()
        record.promised = step + 1
      }
    }
    if Bool.random(using: &random) {
      try store.close()
      record.promised = record.returned
    }
  }

  private static func located<T>(_ seed: UInt64, _ place: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw Wrong(description: "seed \(seed), \(place): \(error)") }
  }
}
