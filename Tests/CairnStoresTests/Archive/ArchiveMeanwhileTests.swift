// What becomes of an archive when something else happens in the middle of a save, a compaction or a copy: another
// writer, a reader that finds damage, a change of the metadata, a file that is cut off.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveMeanwhileTests {
  private static let schema = try! Schema(
    SchemaDescription(entities: [.init(name: "Note", attributes: [.init("text", .string)])]))
  private static let note = schema.entities[0].id

  private static func open(
    _ files: any FileSystem, at path: String = "/a", isReadOnly: Bool = false, longestBlock: Int? = nil
  ) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    options.profile = .fastest
    if let longestBlock { options.longestBlock = longestBlock }
    return try ArchiveStore(at: path, model: .init(schema: schema), options: options, fileSystem: files)
  }

  private static func add(_ texts: [String], to store: ArchiveStore) throws {
    let keys = Array(try store.reserveKeys(texts.count, root: note))
    let builder = ColumnBuilder(.string)
    for text in texts { builder.append(text) }
    var changes = ChangeSet()
    changes.inserts = [.init(entity: note, keys: keys, columns: [builder.finish()])]
    _ = try store.commit(changes)
  }

  /// The texts of the archive at `path`, opened anew, in which nothing is damaged.
  private static func texts(_ files: any FileSystem, at path: String = "/a") throws -> [String] {
    #expect(try ArchiveVerifier.findings(at: path, on: files).isEmpty)
    let store = try open(files, at: path, isReadOnly: true)
    let batch = try store.fetch(StoreRequest(entity: note), in: store.snapshot())
    return (0..<batch.count).map { row in
      if case .string(let text) = batch.value(row, slot: 0) { text } else { "?" }
    }
  }

  // MARK: Copies

  @Test func `a copy of an archive that is saved to meanwhile is of the state before, and whole`() throws {
    let files = WatchedFiles()
    let store = try Self.open(files.inner)
    try Self.add(["one"], to: store)
    files.watch { event in
      guard event == .create else { return }
      // Twice, so that both slots are other ones.
      for text in ["two", "three"] { try? Self.add([text], to: store) }
    }
    try ArchiveFiles.replace("/b", with: "/a", files)
    files.watch(nil)
    #expect(try Self.texts(files, at: "/b") == ["one"])
    #expect(try store.snapshot().generation.number == 3)
  }

  @Test func `a copy of an archive that is cut off meanwhile replaces nothing`() throws {
    let files = WatchedFiles()
    for (path, text) in [("/a", "new"), ("/b", "old")] {
      let store = try Self.open(files, at: path)
      try Self.add([text], to: store)
      try store.close()
    }
    files.watch { event in
      guard event == .create else { return }
      try? files.inner.open("/a", .readWrite).truncate(to: 400)
    }
    #expect(throws: StoreError(.corrupt, "")) { try ArchiveFiles.replace("/b", with: "/a", files) }
    #expect(try Self.texts(files, at: "/b") == ["old"])
    #expect(files.inner.temporaryFiles.isEmpty)
  }

  // MARK: Others

  @Test(arguments: [false, true])
  func `who loses the lock in the middle of it harms no save of the one who has it now`(compacts: Bool) throws
  {
    let files = WatchedFiles()
    let store = try Self.open(files)
    try Self.add(["one"], to: store)
    let isDone = Lock(false)
    files.watch { event in
      guard event == .sync, !isDone.withLock({ $0 }) else { return }
      isDone.withLock { $0 = true }
      try? files.inner.remove(ArchiveStore.lockPath("/a"))
      guard let other = try? Self.open(files.inner) else { return }
      try? Self.add(["other"], to: other)
      try? other.close()
    }
    #expect(throws: StoreError(.locked, "")) {
      if compacts { try store.compact() } else { try Self.add(["two"], to: store) }
    }
    #expect(isDone.withLock { $0 })
    #expect(try Self.texts(files) == ["one", "other"])
    #expect(try store.snapshot().generation.number == 1)
    #expect(throws: StoreError.self) { try Self.add(["three"], to: store) }
    #expect(try Self.texts(files) == ["one", "other"])
  }

  @Test func `a save that is on the medium doesn't fail for what a reader finds damaged meanwhile`() throws {
    let files = WatchedFiles()
    let store = try Self.open(files)
    files.watch { event in
      guard event == .sync, files.count(of: .sync) == 2 else { return }
      store.damage.note(StoreError(.corrupt, "found by a reader"))
    }
    try Self.add(["one"], to: store)
    #expect(files.count(of: .sync) == 2)
    #expect(try store.snapshot().generation.number == 1)
    // Nor does a compaction.
    files.watch { event in
      if event == .open { store.damage.note(StoreError(.corrupt, "found by a reader")) }
    }
    try store.compact()
    files.watch(nil)
    try Self.add(["two"], to: store)
    #expect(try Self.texts(files) == ["one", "two"])
  }

  @Test(arguments: [false, true])
  func `metadata that is changed while a save is under way is saved by the next`(compacts: Bool) throws {
    let files = WatchedFiles()
    let store = try Self.open(files)
    store.metadata.userEntries = ["before": .int(1)]
    files.watch { event in
      if event == .sync { store.metadata.userEntries["meanwhile"] = .int(2) }
    }
    if compacts { try store.compact() } else { try Self.add(["one"], to: store) }
    files.watch(nil)
    try store.close()
    #expect(
      try Self.open(files, isReadOnly: true).metadata.userEntries == [
        "before": .int(1), "meanwhile": .int(2),
      ])
  }

  @Test func `a file that got shorter or longer under a store takes no more saves`() throws {
    for change in [-1, 100] {
      let files = SimulatedFileSystem()
      let store = try Self.open(files)
      try Self.add(["one"], to: store)
      let file = try files.open("/a", .readWrite)
      let size = try file.information().size
      try file.truncate(to: UInt64(Int(size) + change))
      let start = files.operationCount
      let expected = StoreError(change < 0 ? .corrupt : .fileSystem, "")
      #expect(throws: expected) { try Self.add(["two"], to: store) }
      #expect(throws: expected) { try store.compact() }
      #expect(!files.operations[start...].contains { $0.kind.isChange })
      #expect(try store.snapshot().generation.number == 1)
    }
  }

  // MARK: Limits

  @Test func `what readers would refuse for its length isn't written`() throws {
    let files = SimulatedFileSystem()
    let limit = 300_000
    let store = try Self.open(files, longestBlock: limit)
    var random = SplitMix64(seed: 3)
    func texts(_ count: Int, _ words: Int) -> [String] {
      (0..<count).map { _ in (0..<words).map { _ in String(random.next(), radix: 36) }.joined() }
    }
    // One chunk of them fits, two don't.
    let first = texts(Chunk.capacity * 3 + 10, 4)
    try Self.add(first, to: store)
    let long = texts(Chunk.capacity, 8)
    #expect(throws: StoreError(.unsupportedRequest, "")) { try Self.add(long, to: store) }
    #expect(try store.snapshot().generation.number == 1)
    try Self.add(["last"], to: store)
    for _ in 0..<2 {
      let index = try ArchiveFiles.contents(at: "/a", files).index
      for group in index.tables[0] {
        let block = try #require(group.columns[0]?.block)
        let header = try BlockHeader.read(
          try files.open("/a", .read).bytes(BlockHeader.size, at: block.offset)[...]
        ).header
        #expect(header.rawLength <= limit)
      }
      #expect(try Self.texts(files) == first + ["last"])
      try store.compact()
    }
  }
}
