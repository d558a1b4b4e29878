// What a log promises: watermarks, failed syncs, full media, group commit, keys.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogDurabilityTests {
  @Test func `each frame says up to where everything was durable when it was written`() throws {
    for level in LogStore.Durability.allCases {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files) { $0.durability = level }
      for step in 0..<4 { try LogSample.commit(step, store) }
      let frames = try LogSample.frames(LogSample.bytes("log-2", files))
      #expect(frames.map(\.sequence) == Array(1...UInt64(frames.count)))
      // Without syncs the first frame, which was there before, is all that is known.
      let expected = level == .full ? frames.map { $0.sequence - 1 } : frames.map { min($0.sequence - 1, 1) }
      #expect(frames.map(\.durable) == expected)
      try store.close()
      let closed = try LogSample.frames(LogSample.bytes("log-2", files))
      #expect(closed.last?.kind == LogFrame.Kind.close.rawValue)
      #expect(closed.last.map { $0.durable + 1 == $0.sequence } == true)
    }
  }

  @Test func `after a failed sync nothing is saved until the log is opened again`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    files.injectFaults { $0.kind == .sync ? .error(EIO) : nil }
    let changes = try LogSample.changes(1, store)
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(changes) }
    files.injectFaults(nil)
    let next = try LogSample.changes(2, store)
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(next) }
    #expect(throws: StoreError(.outcomeUnknown, "")) { try store.compact() }
    #expect(throws: StoreError(.outcomeUnknown, "")) { try store.purgeHistory(through: Generation(1)) }
    #expect(throws: StoreError(.outcomeUnknown, "")) {
      _ = try store.reserveKeys(5000, root: LogSample.people.id)
    }
    #expect(try store.snapshot().generation.number == 2)
    #expect(throws: StoreError(.outcomeUnknown, "")) { try store.close() }
    let again = try LogSample.open(files)
    try LogSample.commit(2, again)
    try again.close()
  }

  @Test func `a log opened again after a failed sync builds on nothing that a power cut takes`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    files.injectFaults { $0.kind == .sync ? .error(EIO) : nil }
    // Some sectors, so that the next commit doesn't write them by chance.
    let changes = try LogSample.large(4_000)
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(changes) }
    files.injectFaults(nil)
    #expect(throws: StoreError(.outcomeUnknown, "")) { try store.close() }
    // The program goes on, and the machine: what the sync gave up is still there to be read.
    let again = try LogSample.open(files)
    #expect(try again.snapshot().generation.number == 2)
    try LogSample.commit(2, again)
    let promised = try LogSample.Facts(again)
    for state in files.crashStates() {
      #expect(
        try LogSample.Facts(LogSample.openForReading(state.fileSystem)) == promised, "\(state.description)")
    }
    try again.close()
    #expect(try !files.list("/a").contains(LogNames.suspect))
  }

  @Test func `a full medium fails the save, which works when there is room again`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.preallocation = 2_048 }
    try LogSample.commit(0, store)
    let before = try StoreContents(of: store, in: store.snapshot())
    files.quota = 12_288
    let changes = try LogSample.large(40_000)
    #expect { _ = try store.commit(changes) } throws: { ($0 as? StoreError)?.isFull == true }
    #expect(before.difference(from: try StoreContents(of: store, in: store.snapshot())) == nil)
    // A small one has room.
    try LogSample.commit(1, store)
    files.quota = nil
    _ = try store.commit(changes)
    #expect(try store.snapshot().generation.number == 3)
    let reader = try LogSample.openForReading(files)
    let there = try StoreContents(of: store, in: store.snapshot())
    #expect(there.difference(from: try StoreContents(of: reader, in: reader.snapshot())) == nil)
  }

  @Test func `what a failed write left is cut off before the next, whatever fails then`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    let size = try LogSample.bytes("log-2", files).count
    files.injectFaults {
      switch $0.kind {
      case .write where $0.path.hasSuffix("log-2"): .partial(ENOSPC)
      case .truncate: .error(EIO)
      default: nil
      }
    }
    let changes = try LogSample.large(9_000)
    #expect(throws: StoreError(.fileSystem, "")) { _ = try store.commit(changes) }
    #expect(try LogSample.bytes("log-2", files).count > size)
    // It can't be cut off still.
    #expect(throws: StoreError(.fileSystem, "")) { _ = try store.commit(changes) }
    files.injectFaults(nil)
    try LogSample.commit(1, store)
    #expect(try LogSample.state(files.restarted(), LogSample.expected(2), isReadOnly: true) == 2)
  }

  @Test func `threads that save at once share syncs`() throws {
    let files = WatchedFiles()
    let store = try LogSample.open(files)
    let keys = try store.reserveKeys(8, root: LogSample.people.id)
    let outcomes = Lock<[Result<Int64, any Error>]>([])
    // The first sync takes so long that all others have written by then.
    files.watch { event in
      if event == .sync { _ = wait { (try? store.snapshot().generation.number) == 8 } }
    }
    for key in keys {
      Thread.detachNewThread {
        let outcome = Result {
          var changes = ChangeSet()
          try changes.insert(RowKey(entity: LogSample.people.id, id: key), [:], in: LogSample.schema)
          return try store.commit(changes).generation.number
        }
        outcomes.withLock { $0.append(outcome) }
      }
    }
    #expect(wait { outcomes.withLock { $0.count } == 8 })
    #expect(try outcomes.withLock { try $0.map { try $0.get() } }.sorted() == Array(1...8))
    #expect(files.count(of: .sync) <= 2)
    #expect(!store.syncer.hasUnsynced)
  }

  @Test func `who waits for a durable frame doesn't wait for a sync of later ones`() throws {
    let files = WatchedFiles()
    let syncer = LogSyncer(durableThrough: 1)
    syncer.use(try files.open("/file", .create(permissions: 0o644)))
    syncer.noteWritten(2)
    let isReleased = Lock(false)
    files.watch { event in
      if event == .sync { _ = wait { isReleased.withLock { $0 } } }
    }
    let returned = Lock<[UInt64]>([])
    for sequence: UInt64 in [2, 1] {
      Thread.detachNewThread {
        try? syncer.wait(for: sequence)
        returned.withLock { $0.append(sequence) }
      }
      if sequence == 2 { #expect(wait { files.count(of: .sync) == 1 }) }
    }
    #expect(wait { returned.withLock { $0 } == [1] })
    isReleased.withLock { $0 = true }
    #expect(wait { returned.withLock { $0 } == [1, 2] })
    #expect(files.count(of: .sync) == 1 && syncer.durable == 2)
  }

  @Test func `metadata that is changed while a save is under way is saved by the next`() throws {
    let files = WatchedFiles()
    let store = try LogSample.open(files)
    store.metadata.userEntries = ["before": .int(1)]
    files.watch { event in
      if event == .rename { store.metadata.userEntries["meanwhile"] = .int(2) }
    }
    try LogSample.commit(0, store)
    #expect(files.count(of: .rename) == 1)
    files.watch(nil)
    try LogSample.commit(1, store)
    // What has died doesn't close.
    let reader = try LogSample.openForReading(files)
    #expect(reader.metadata.userEntries == ["before": .int(1), "meanwhile": .int(2)])
    try store.close()
  }

  @Test func `metadata whose save fails is saved by the next`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    store.metadata.userEntries = ["a": .int(1)]
    files.injectFaults { $0.kind == .create ? .error(ENOSPC) : nil }
    #expect(throws: StoreError.self) { try LogSample.commit(0, store) }
    files.injectFaults(nil)
    try LogSample.commit(0, store)
    #expect(try LogSample.openForReading(files).metadata.userEntries == ["a": .int(1)])
  }

  @Test func `a save that is written doesn't fail for what a reader finds damaged meanwhile`() throws {
    let files = WatchedFiles()
    let store = try LogSample.open(files)
    store.metadata.userEntries = ["a": .int(1)]
    files.watch { event in
      if event == .rename { store.damage.note(StoreError(.corrupt, "found by a reader")) }
    }
    let commit = try LogSample.commit(0, store)
    #expect(files.count(of: .rename) == 1)
    #expect(try store.snapshot().generation == commit.generation)
    #expect(try LogSample.openForReading(files).snapshot().generation == commit.generation)
  }

  @Test func `no key is handed out again after a reopening, after crashes neither`() throws {
    let files = SimulatedFileSystem()
    var highest: Int64 = 0
    var random = SplitMix64(seed: 3)
    for round in 0..<12 {
      let store = try LogSample.open(files) { $0.keySlack = 16 }
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let keys = try store.reserveKeys(Int.random(in: 1...20, using: &random), root: LogSample.people.id)
        #expect(keys.lowerBound > highest)
        highest = keys.upperBound - 1
        if Bool.random(using: &random) {
          var changes = ChangeSet()
          let row = RowKey(entity: LogSample.people.id, id: keys.lowerBound)
          try changes.insert(row, [:], in: LogSample.schema)
          _ = try store.commit(changes)
        }
      }
      if round.isMultiple(of: 3) { try store.compact() }
      if round.isMultiple(of: 2) {
        try store.close()
        let again = try LogSample.open(files)
        // Exact after a close.
        #expect(try again.reserveKeys(1, root: LogSample.people.id).lowerBound == highest + 1)
        highest += 1
      }
    }
  }

  @Test func `keys of a power cut's sessions stay handed out`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    let keys = try store.reserveKeys(3000, root: LogSample.people.id)
    for state in files.crashStates() {
      let again = try LogSample.open(state.fileSystem)
      #expect(try again.reserveKeys(1, root: LogSample.people.id).lowerBound >= keys.upperBound)
    }
  }

  @Test func `a log that nothing was saved to is closed without a change`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    try store.close()
    var before = try LogSample.contents(files)
    try LogSample.open(files).close()
    var after = try LogSample.contents(files)
    (before["LOCK"], after["LOCK"]) = (nil, nil)
    #expect(before == after)
  }

  @Test func `normal syncs within its interval, and an idle frame says so`() throws {
    for level in [LogStore.Durability.normal, .full] {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files) {
        $0.durability = level
        $0.idleInterval = 0.02
      }
      try LogSample.commit(0, store)
      _ = try wait {
        try LogSample.frames(LogSample.bytes("log-2", files)).last?.kind == LogFrame.Kind.idle.rawValue
      }
      let last = try #require(try LogSample.frames(LogSample.bytes("log-2", files)).last)
      #expect(last.kind == LogFrame.Kind.idle.rawValue)
      #expect(last.durable == last.sequence - 1)
    }
  }

  @Test func `background work doesn't keep a store alive`() throws {
    let files = SimulatedFileSystem()
    weak var dropped: LogStore?
    do {
      let store = try LogSample.open(files) {
        $0.durability = .normal
        $0.idleInterval = 60
      }
      try LogSample.commit(0, store)
      dropped = store
    }
    #expect(dropped == nil)
    #expect(files.openFileCount == 0)
  }
}

/// Whether something comes true within ten seconds.
func wait(until isTrue: () throws -> Bool) rethrows -> Bool {
  let deadline = ContinuousClock.now + .seconds(10)
  while ContinuousClock.now < deadline {
    if try isTrue() { return true }
    Thread.sleep(forTimeInterval: 0.002)
  }
  return false
}
