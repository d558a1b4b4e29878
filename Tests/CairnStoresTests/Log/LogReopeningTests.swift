// What is left by writers that died at an unlucky moment, lost their lock or their manifest, or lie on a damaged medium,
// and what the next to open the log makes of it.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogReopeningTests {
  private static func manifest(_ files: any FileSystem) throws -> LogManifest {
    try LogDirectory(fileSystem: files, path: "/a").manifest()
  }

  @Test func `a close that died before its promise is made up for by the next`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.preallocation = 1_000 }
    try LogSample.commit(0, store)
    // The close group is there already, all of it durable.
    files.injectFaults { $0.kind == .rename ? .crash : nil }
    #expect(throws: SimulatedCrash.self) { try store.close() }
    let left = files.restarted()
    let frames = try LogSample.frames(LogSample.bytes("log-2", left))
    #expect(frames.last?.kind == LogFrame.Kind.close.rawValue)
    #expect(try Self.manifest(left).segments[0].lastSequence == 1)
    try LogSample.open(left).close()
    let segment = try Self.manifest(left).segments[0]
    let bytes = try LogSample.bytes("log-2", left)
    #expect(try segment.lastSequence == LogSample.frames(bytes).last?.sequence)
    #expect(segment.length == UInt64(bytes.count))
  }

  @Test func `files that a purge lets go are removed only when the manifest without them lasts`() throws {
    let files = SimulatedFileSystem()
    let expected = try LogSample.expected(4)
    let first = try LogSample.open(files) { $0.history = .all }
    for step in 0..<4 {
      try LogSample.commit(step, first)
      if step < 3 { try first.compact() }
    }
    try first.close()
    let store = try LogSample.open(files) { $0.history = .all }
    // The program dies when the manifest is in its place, and nobody has made that last.
    let renamed = Lock(false)
    files.injectFaults { operation in
      renamed.withLock { renamed in
        if operation.kind == .rename { renamed = true }
        return renamed && operation.kind == .syncDirectory ? .crash : nil
      }
    }
    #expect(throws: SimulatedCrash.self) { try store.purgeHistory(through: Generation(2)) }
    let left = files.restarted()
    let again = try LogSample.open(left) { $0.history = .all }
    #expect(try !left.list("/a").contains("log-2"))
    for state in left.crashStates() {
      #expect(
        try LogSample.state(state.fileSystem, expected, isReadOnly: true) == 4, "\(state.description)")
    }
    try again.close()
  }

  @Test func `rows without a manifest aren't taken for a creation that wasn't finished`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    for step in 0..<2 { try LogSample.commit(step, store) }
    try store.close()
    try LogFiles.replace("/new", with: "/a", files)
    try files.remove("/new/MANIFEST")
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.open(files, at: "/new") }
    #expect(try files.list("/new").contains("base-1"))
    // One that is empty may be left by a crash, and goes; one that can't be read may be anything.
    try LogSample.open(files, at: "/empty").close()
    try files.remove("/empty/MANIFEST")
    try files.open("/empty/log-2", .readWrite).truncate(to: 64)
    let base = try files.open("/empty/base-1", .readWrite)
    let byte = try base.bytes(1, at: 60)
    try base.write([byte[0] ^ 0xFF], at: 60)
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.open(files, at: "/empty") }
    try base.write(byte, at: 60)
    try LogSample.open(files, at: "/empty").close()
    // Who puts another state there says that what is there may go.
    try LogFiles.replace("/new", with: "/a", files)
    #expect(try LogSample.Facts(LogSample.open(files, at: "/new")) == LogSample.expected(2)[2])
  }

  @Test func `history that can't be read up to the newest commit is an error, not less`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    for step in 0..<3 { try LogSample.commit(step, store) }
    let reader = try LogSample.openForReading(files)
    let size = try LogSample.bytes("log-2", files).count
    let file = try files.open("/a/log-2", .readWrite)
    let last = try file.bytes(1, at: UInt64(size - 1))
    try file.write([last[0] ^ 1], at: UInt64(size - 1))
    for store in [store, reader] {
      let error = #expect(throws: StoreError(.corrupt, "")) { _ = try store.history(after: Generation(0)) }
      #expect(error?.file == "/a/log-2" && error?.offset != nil && error?.remedy != nil)
    }
    try file.write(last, at: UInt64(size - 1))
    for store in [store, reader] { #expect(try store.history(after: Generation(0)).count == 3) }
  }

  @Test func `who has lost the lock writes nothing where another writes now`() throws {
    let files = SimulatedFileSystem()
    let old = try LogSample.open(files) {
      $0.idleInterval = 0.3
      $0.keySlack = 10
    }
    try LogSample.commit(0, old)
    // Somebody takes it for a lock that a crash left.
    try files.remove("/a/LOCK")
    let new = try LogSample.open(files)
    try LogSample.commit(1, new)
    try LogSample.commit(2, new)
    let before = try LogSample.contents(files)
    #expect(throws: StoreError(.locked, "")) { _ = try old.reserveKeys(50, root: LogSample.people.id) }
    #expect(throws: StoreError(.locked, "")) { try old.compact() }
    #expect(throws: StoreError(.locked, "")) { try old.purgeHistory(through: Generation(1)) }
    Thread.sleep(forTimeInterval: 0.6)
    #expect(try LogSample.contents(files) == before)
    #expect(throws: StoreError(.locked, "")) { try old.close() }
    #expect(try LogSample.contents(files) == before)
    try new.close()
    #expect(try LogSample.Facts(LogSample.openForReading(files)) == LogSample.expected(3)[3])
  }

  @Test func `a reader that the writer has left behind tells what is kept, and says what isn't`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    for step in 0..<3 { try LogSample.commit(step, store) }
    let reader = try LogSample.openForReading(files)
    // As after a sync that failed: the same frames in another file.
    let suspect = try files.open("/a/SUSPECT", .create(permissions: 0o644))
    try suspect.close()
    try store.close()
    let again = try LogSample.open(files) { $0.history = .all }
    #expect(try !files.list("/a").contains("log-2"))
    #expect(try reader.history(after: Generation(1)).map(\.generation.number) == [2, 3])
    try LogSample.commit(3, again)
    try again.compact()
    #expect(try reader.history(after: Generation(1)).map(\.generation.number) == [2, 3])
    try again.purgeHistory(through: Generation(4))
    #expect(throws: StoreError(.historyPurged, "")) { _ = try reader.history(after: Generation(1)) }
    #expect(try reader.history(after: Generation(3)).isEmpty)
    // What it shows stays, and it reads on.
    #expect(try LogSample.Facts(reader) == LogSample.expected(3)[3])
    _ = try reader.refresh()
    #expect(try LogSample.Facts(reader) == LogSample.expected(4)[4])
  }

  @Test func `who changes files waits for the sync of the old one`() throws {
    let files = WatchedFiles()
    let syncer = LogSyncer(durableThrough: 1)
    let first = try files.open("/first", .create(permissions: 0o644))
    syncer.use(first)
    syncer.noteWritten(2)
    let isReleased = Lock(false)
    files.watch { event in
      if event == .sync { _ = wait { isReleased.withLock { $0 } } }
    }
    Thread.detachNewThread { try? syncer.syncNow() }
    #expect(wait { files.count(of: .sync) == 1 })
    let isUsed = Lock(false)
    Thread.detachNewThread {
      syncer.use(nil)
      // Nobody uses it any more.
      try? first.close()
      isUsed.withLock { $0 = true }
    }
    Thread.sleep(forTimeInterval: 0.05)
    #expect(!isUsed.withLock { $0 })
    isReleased.withLock { $0 = true }
    #expect(wait { isUsed.withLock { $0 } })
    #expect(syncer.failure == nil && syncer.durable == 2)
  }

  @Test func `a large save that a power cut left holes in is torn, however much of it is there`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    _ = try store.commit(try LogSample.large(9_000_000))
    let segment = try Self.manifest(files).segments[0]
    let frames = try LogSample.frames(LogSample.bytes("log-2", files))
    let group = frames.suffix(while: { $0.generation == 2 })
    #expect(group.count > 4)
    let start = LogSegmentHeader.size + frames.dropLast(group.count).reduce(0) { $0 + $1.size }
    let file = try files.open("/a/log-2", .readWrite)
    try file.write([UInt8](repeating: 0, count: 512), at: UInt64(start + 1024))
    var reader = LogSegmentReader(file, path: "/a/log-2", segment: segment)
    // As a save of more than the 64 MiB that are looked at in any case.
    reader.leastBudget = 1 << 20
    while case .group = try reader.next() {}
    #expect(reader.offset == UInt64(start))
    guard case .torn = try reader.next() else {
      Issue.record("it isn't torn: \(try reader.next())")
      return
    }
  }

  @Test func `a log whose removal is cut short is whole, or no log any more, and can be removed`() throws {
    let start = SimulatedFileSystem()
    let store = try LogSample.open(start) { $0.history = .all }
    for step in 0..<4 {
      try LogSample.commit(step, store)
      if step < 3 { try store.compact() }
    }
    try store.close()
    let expected = try LogSample.expected(4)
    for hasNotes in [false, true] {
      let from = start.restarted()
      if hasNotes {
        try from.open("/a/notes", .create(permissions: 0o644)).close()
        try from.syncDirectory("/a")
      }
      var plan = FaultEnumeration(seed: 9)
      plan.faults = [.error(EIO)]
      plan.statesPerCrash = 60
      plan.statesPerFault = 10
      try plan.run(
        from: from, record: false,
        work: { files, isDone in
          try LogFiles.destroy(at: "/a", files)
          isDone = true
        },
        check: { files, isDone, _ in
          if LogFiles.isLog(at: "/a", on: files) {
            if isDone { throw Wrong(description: "it came back") }
            guard try LogSample.state(files, expected, isReadOnly: true) == 4 else {
              throw Wrong(description: "it isn't whole")
            }
          }
          if try files.information("/a") == nil { return }
          // Beside others' files nobody can tell what they are without the manifest.
          if try files.list("/a").contains("notes"), !LogFiles.isLog(at: "/a", on: files) {
            if try isDone && files.list("/a") != ["notes"] { throw Wrong(description: "files came back") }
            return
          }
          try LogFiles.destroy(at: "/a", files)
          guard try files.information("/a").map({ _ in try files.list("/a") }) ?? ["notes"] == ["notes"]
          else {
            throw Wrong(description: "left \(try files.list("/a"))")
          }
        })
    }
  }
}

extension Array {
  /// The last ones for which it holds.
  fileprivate func suffix(while holds: (Element) -> Bool) -> ArraySlice<Element> {
    self[(lastIndex { !holds($0) }.map { $0 + 1 } ?? startIndex)...]
  }
}
