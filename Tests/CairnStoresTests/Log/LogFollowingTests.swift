// Stores that read a log while another writes it, and who may write.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogFollowingTests {
  @Test func `a reader sees what it opened until it refreshes, and then every commit once`() throws {
    let files = SimulatedFileSystem()
    let expected = try LogSample.expected(8)
    let store = try LogSample.open(files)
    let reader = try LogSample.openForReading(files)
    var told: [Int64] = []
    for step in 0..<8 {
      try LogSample.commit(step, store)
      if step == 2 || step == 5 { try store.compact() }
      #expect(try LogSample.Facts(reader).generation == Int64(told.count))
      if step.isMultiple(of: 2) { continue }
      let held = try reader.snapshot()
      told += try reader.refresh().map(\.generation.number)
      #expect(held.generation.number < Int64(told.count))
      #expect(told == Array(1...Int64(step + 1)))
      #expect(try LogSample.Facts(reader) == expected[step + 1])
      #expect(try reader.refresh().isEmpty)
    }
  }

  @Test func `a reader whose files are gone goes on from a base, and the gap shows`() throws {
    let files = SimulatedFileSystem()
    let expected = try LogSample.expected(8)
    let store = try LogSample.open(files)
    let reader = try LogSample.openForReading(files)
    for step in 0..<8 {
      try LogSample.commit(step, store)
      if step % 2 == 1 { try store.compact() }
    }
    let told = try reader.refresh().map(\.generation.number)
    #expect(told == [1, 2])
    #expect(try LogSample.Facts(reader) == expected[8])
    try LogSample.commit(8, store)
    #expect(try reader.refresh().map(\.generation.number) == [9])
  }

  @Test(arguments: 1...5)
  func `one look reads on through all segments that were begun since the last`(_ checkpoints: Int) throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    try LogSample.commit(0, store)
    let reader = try LogSample.openForReading(files)
    for step in 1...checkpoints {
      try LogSample.commit(step, store)
      try store.compact()
      // One with nothing in it.
      if step == 2 { try store.compact() }
    }
    try LogSample.commit(checkpoints + 1, store)
    let newest = Int64(checkpoints + 2)
    #expect(try reader.refresh().map(\.generation.number) == Array(2...newest))
    #expect(try LogSample.Facts(reader) == LogSample.expected(Int(newest))[Int(newest)])
    #expect(try reader.refresh().isEmpty)
  }

  @Test func `a commit that can't be made now because a file can't be read is made and told by a later look`()
    throws
  {
    let expected = try LogSample.expected(9)
    var failures = 0
    // At each read of what the look needs.
    for number in 0..<30 {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files) { $0.history = .all }
      for step in 0..<6 { try LogSample.commit(step, store) }
      try store.compact()
      let reader = try LogSample.openForReading(files)
      for step in 6..<8 { try LogSample.commit(step, store) }
      let count = Lock(0)
      files.injectFaults { operation in
        guard operation.kind == .read else { return nil }
        return count.withLock {
          $0 += 1
          return $0 == number + 1 ? .error(EIO) : nil
        }
      }
      var told: [Int64] = []
      do { told += try reader.refresh().map(\.generation.number) } catch { failures += 1 }
      files.injectFaults(nil)
      try LogSample.commit(8, store)
      told += try reader.refresh().map(\.generation.number)
      #expect(told == [7, 8, 9], "read \(number)")
      #expect(try LogSample.Facts(reader) == expected[9], "read \(number)")
    }
    #expect(failures > 3)
  }

  @Test func `readers go on in a segment that was written anew after a sync failed`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    let reader = try LogSample.openForReading(files)
    let list = try LogTransactions(ofLogAt: "/a", on: files)
    try LogSample.commit(0, store)
    #expect(try reader.refresh().count == 1)
    #expect(try list.next()?.commit.generation.number == 1)
    files.injectFaults { $0.kind == .sync ? .error(EIO) : nil }
    let changes = try LogSample.changes(1, store)
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(changes) }
    files.injectFaults(nil)
    try? store.close()
    let again = try LogSample.open(files)
    try LogSample.commit(2, again)
    #expect(try reader.refresh().map(\.generation.number) == [2, 3])
    #expect(try list.next()?.commit.generation.number == 2)
    #expect(try list.next()?.commit.generation.number == 3)
    try LogSample.commit(3, again)
    #expect(try reader.refresh().map(\.generation.number) == [4])
    #expect(try LogSample.Facts(reader) == LogSample.expected(4)[4])
  }

  @Test func `frames that aren't whole are waited for, and damage that was acknowledged isn't`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    for step in 0..<3 { try LogSample.commit(step, store) }
    try store.close()
    let whole = try LogSample.contents(files)["log-2"]!
    let frames = try LogSample.frames(whole)
    let start = LogSegmentHeader.size + frames.dropLast(2).reduce(0) { $0 + $1.size }
    // As it was while the last but one frame was being written.
    let parts = SimulatedFileSystem()
    try parts.makeDirectory("/a")
    var manifest = try LogManifest(LogSample.bytes("MANIFEST", files))
    manifest.segments[0].lastSequence = 1
    manifest.segments[0].length = UInt64(LogSegmentHeader.size + frames[0].size)
    for (name, bytes) in [
      ("MANIFEST", manifest.bytes), ("base-1", try LogSample.bytes("base-1", files)),
      ("log-2", Array(whole[..<start])),
    ] {
      try parts.open("/a/\(name)", .create(permissions: 0o644)).write(bytes, at: 0)
    }
    let reader = try LogSample.openForReading(parts)
    #expect(try reader.snapshot().generation.number == 2)
    let file = try parts.open("/a/log-2", .readWrite)
    let last = start + frames[frames.count - 2].size
    for end in stride(from: start + 1, to: last, by: 5) {
      try file.write(Array(whole[start..<end]), at: UInt64(start))
      #expect(try reader.refresh().isEmpty)
    }
    try file.write(Array(whole[start..<last]), at: UInt64(start))
    #expect(try reader.refresh().map(\.generation.number) == [3])
    // Now one that isn't right, and a later one that says that it was.
    let other = try LogSample.openForReading(parts)
    _ = other
    let behind = try LogSample.files(try LogSample.contents(parts))
    let damaged = try behind.open("/a/log-2", .readWrite)
    try damaged.truncate(to: UInt64(start))
    let follower = try LogSample.openForReading(behind)
    try damaged.write(Array(whole[start...]), at: UInt64(start))
    try damaged.write([whole[start + 40] ^ 1], at: UInt64(start + 40))
    #expect(throws: StoreError(.corrupt, "")) { _ = try follower.refresh() }
    #expect(try follower.snapshot().generation.number == 2)
  }

  @Test func `readers open and follow while a writer commits and makes checkpoints`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    let isDone = Lock(false)
    let failures = Lock<[String]>([])
    let finished = DispatchSemaphore(value: 0)
    for number in 0..<2 {
      Thread.detachNewThread {
        defer { finished.signal() }
        do {
          var reader = try LogSample.openForReading(files)
          var last: Int64 = 0
          while !isDone.withLock({ $0 }) {
            if number == 0 { _ = try reader.refresh() } else { reader = try LogSample.openForReading(files) }
            let snapshot = try reader.snapshot()
            let people = try reader.count(StoreRequest(entity: LogSample.people.id), in: snapshot)
            let tags = try reader.count(StoreRequest(entity: LogSample.tags.id), in: snapshot)
            if snapshot.generation.number < last || people != tags + 2 {
              throw Wrong(description: "\(people) people and \(tags) tags in \(snapshot.generation.number)")
            }
            last = snapshot.generation.number
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    for round in 0..<60 {
      var changes = ChangeSet()
      let person = try store.reserveKeys(1, root: LogSample.people.id).lowerBound
      let tag = try store.reserveKeys(1, root: LogSample.tags.id).lowerBound
      try changes.insert(RowKey(entity: LogSample.people.id, id: person), [:], in: LogSample.schema)
      try changes.insert(RowKey(entity: LogSample.tags.id, id: tag), [:], in: LogSample.schema)
      _ = try store.commit(changes)
      if round % 7 == 6 { try store.compact() }
    }
    isDone.withLock { $0 = true }
    for _ in 0..<2 { finished.wait() }
    #expect(failures.withLock { $0 } == [])
  }

  @Test func `a checkpoint goes on beside readers and writers`() throws {
    let files = WatchedFiles()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    // The new base is the third file to be synced: the old segment, the new one, a manifest, the base.
    let committed = Lock<[Int64]>([])
    files.watch { event in
      guard event == .sync, files.count(of: .sync) == 4 else { return }
      committed.withLock { committed in
        committed = (0..<2).compactMap { try? LogSample.commit($0 + 1, store).generation.number }
      }
    }
    try store.compact()
    #expect(committed.withLock { $0 } == [2, 3])
    #expect(try LogManifest(LogSample.bytes("MANIFEST", files)).newestBase.generation == 1)
    let reader = try LogSample.openForReading(files)
    #expect(try LogSample.Facts(reader) == LogSample.expected(3)[3])
  }

  // MARK: Who writes

  @Test func `a second writer is told who the first is, and waits as long as it is told to`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    do {
      _ = try LogSample.open(files)
      Issue.record("there are two writers")
    } catch let error as StoreError {
      #expect(error.code == .locked && error.description.contains("this process"))
    }
    let reader = try LogSample.openForReading(files)
    #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try reader.commit(ChangeSet()) }
    #expect(throws: StoreError(.unsupportedRequest, "")) { try reader.compact() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { try? store.close() }
    let second = try LogSample.open(files) { $0.lockTimeout = 10 }
    try LogSample.commit(0, second)
    #expect(throws: StoreError(.storeClosed, "")) { _ = try store.commit(ChangeSet()) }
  }

  @Test func `the lock of a process that died is free`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    let after = files.restarted()
    #expect(try LogSample.state(after, LogSample.expected(1), isReadOnly: false) == 1)
  }

  @Test func `a log that is removed, replaced or cut off under a store takes no more saves`() throws {
    for kind in 0..<4 {
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files)
      try LogSample.commit(0, store)
      switch kind {
      case 0: try files.rename("/a", to: "/b")
      case 1: try files.remove("/a/log-2")
      case 2: try AtomicReplacement.replace("/a/log-2", on: files) { try $0.append([1]) }
      default: try files.open("/a/log-2", .readWrite).truncate(to: 100)
      }
      let changes = try LogSample.changes(1, store)
      #expect(throws: StoreError(.fileSystem, "")) { _ = try store.commit(changes) }
      #expect(throws: StoreError(.fileSystem, "")) { try store.compact() }
      #expect(try store.snapshot().generation.number == 1)
    }
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try files.remove("/a/LOCK")
    #expect(throws: StoreError(.locked, "")) { _ = try store.commit(ChangeSet()) }
  }

  @Test func `a lock file with a second name is refused`() throws {
    try FileSystemKind.posix.withDirectory { place in
      let path = place.path("store")
      try LogSample.open(place.fileSystem, at: path).close()
      try FileManager.default.linkItem(atPath: path + "/LOCK", toPath: place.path("other"))
      #expect(throws: StoreError(.locked, "")) { _ = try LogSample.open(place.fileSystem, at: path) }
      try FileManager.default.removeItem(atPath: path + "/LOCK")
      try LogSample.open(place.fileSystem, at: path).close()
    }
  }

  @Test func `a store on real files survives, with its zeros ahead, and closes without them`() throws {
    try FileSystemKind.posix.withDirectory { place in
      let path = place.path("store")
      var options = LogStore.Options()
      options.profile = .fastest
      let model = ArchiveStore.Model(schema: LogSample.schema)
      do {
        let store = try LogStore(at: path, model: model, options: options)
        for step in 0..<4 { try LogSample.commit(step, store) }
        #expect(try place.fileSystem.information(path + "/log-2")!.size > 1 << 20)
      }
      let store = try LogStore(at: path, model: model, options: options)
      #expect(try LogSample.Facts(store) == LogSample.expected(4)[4])
      try store.close()
      #expect(try place.fileSystem.information(path + "/log-2")!.size < 4096)
      #expect(try LogFiles.metadata(at: path).uuid == store.metadata.uuid)
    }
  }
}
