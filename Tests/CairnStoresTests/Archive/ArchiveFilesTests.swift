// What is done with archives by path, beside those who write to them; and what a writer does with what the one before
// left.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveFilesTests {
  private static let schema = try! Schema(
    SchemaDescription(entities: [.init(name: "Note", attributes: [.init("text", .string)])]))

  private static func open(_ files: any FileSystem, at path: String = "/a") throws -> ArchiveStore {
    try ArchiveStore(at: path, model: .init(schema: schema), options: .init(), fileSystem: files)
  }

  private static func add(_ text: String, to store: ArchiveStore) throws {
    let entity = schema.entities[0]
    var changes = ChangeSet()
    let key = try store.reserveKeys(1, root: entity.root).lowerBound
    try changes.insert(RowKey(entity: entity.id, id: key), ["text": .string(text)], in: schema)
    _ = try store.commit(changes)
  }

  private static func make(_ files: any FileSystem, at path: String = "/a") throws {
    let store = try open(files, at: path)
    try add("one", to: store)
    try store.close()
  }

  private static func texts(_ files: any FileSystem, at path: String = "/a") throws -> [String] {
    var options = ArchiveStore.Options()
    options.isReadOnly = true
    let store = try ArchiveStore(at: path, model: .init(schema: schema), options: options, fileSystem: files)
    let contents = try StoreContents(of: store, in: store.snapshot())
    return (contents.rows[schema.entities[0].id] ?? []).map { row in
      if case .string(let text) = row.values[0] { text } else { "?" }
    }
  }

  /// Everything that puts another file in the place of an archive, or none.
  enum Replacing: CaseIterable {
    case destroy
    case replace
    case pack
    case salvage

    func callAsFunction(_ path: String, with source: String, _ files: SimulatedFileSystem) throws {
      switch self {
      case .destroy: try ArchiveFiles.destroy(at: path, files)
      case .replace: try ArchiveFiles.replace(path, with: source, files)
      case .pack:
        let store = try open(files, at: source)
        defer { try? store.close() }
        try ArchiveFiles.pack(store, into: path, model: .init(schema: schema), on: files)
      case .salvage: _ = try ArchiveSalvager.salvage(source, to: path, on: files)
      }
    }
  }

  @Test(arguments: Replacing.allCases)
  func `an archive that a store writes to isn't replaced`(_ replacing: Replacing) throws {
    let files = SimulatedFileSystem()
    try Self.make(files, at: "/b")
    let store = try Self.open(files)
    try Self.add("mine", to: store)
    #expect(throws: StoreError(.locked, "")) { try replacing("/a", with: "/b", files) }
    try Self.add("too", to: store)
    try store.close()
    #expect(try Self.texts(files) == ["mine", "too"])
  }

  @Test(arguments: Replacing.allCases)
  func `nothing but archives is left when one is replaced`(_ replacing: Replacing) throws {
    let files = SimulatedFileSystem()
    try Self.make(files)
    try Self.make(files, at: "/b")
    // What a writer left that crashed.
    let left = "/.a.tmp-\(UUID().uuidString)"
    try files.open(left, .create(permissions: 0o644)).close()
    try replacing("/a", with: "/b", files)
    #expect(try files.list("/") == (replacing == .destroy ? ["b"] : ["a", "b"]))
  }

  @Test func `destroying an archive that isn't there says so, and leaves nothing`() throws {
    let files = SimulatedFileSystem()
    #expect { try ArchiveFiles.destroy(at: "/a", files) } throws: { ($0 as? StoreError)?.isMissing == true }
    #expect(try files.list("/") == [])
  }

  @Test func `what can't be removed beside an archive keeps nobody from writing to it`() throws {
    let files = SimulatedFileSystem()
    try Self.make(files)
    let left = ["/.a.tmp-\(UUID().uuidString)", "/.a.tmp-\(UUID().uuidString)"].sorted()
    for path in left { try files.open(path, .create(permissions: 0o644)).close() }
    files.injectFaults { $0.kind == .remove && $0.path == left[0] ? .error(EPERM) : nil }
    let store = try Self.open(files)
    try Self.add("two", to: store)
    try store.close()
    #expect(try Self.texts(files) == ["one", "two"])
    #expect(try files.list("/").filter { $0.contains("tmp") } == [String(left[0].dropFirst())])
  }

  /// Commits once while sync number `failing` and those after it fail.
  private static func failedSave(_ files: SimulatedFileSystem, _ failing: Int) throws -> ArchiveStore {
    let store = try open(files)
    try add("one", to: store)
    let count = Lock(0)
    files.injectFaults { operation in
      guard operation.kind == .sync else { return nil }
      return count.withLock {
        $0 += 1
        return $0 >= failing
      } ? .error(EIO) : nil
    }
    #expect(throws: StoreError(.outcomeUnknown, "")) { try add("two", to: store) }
    files.injectFaults(nil)
    return store
  }

  @Test(arguments: [1, 2], [false, true])
  func `what a writer finds after a sync that failed, no power cut takes`(failing: Int, closes: Bool) throws {
    let failed = SimulatedFileSystem()
    let store = try Self.failedSave(failed, failing)
    if closes { try store.close() }
    // Else the process has been killed.
    let files = failed.restarted()
    let again = try Self.open(files)
    let shown = try Self.texts(files)
    #expect(shown == (failing == 2 ? ["one", "two"] : ["one"]))
    for state in files.crashStates(limit: 100) {
      #expect(try Self.texts(state.fileSystem) == shown, "\(state.description)")
    }
    try Self.add("three", to: again)
    for state in files.crashStates(limit: 100) {
      #expect(try Self.texts(state.fileSystem) == shown + ["three"], "\(state.description)")
    }
    try again.close()
  }

  /// Ways to put a file in its place of which a power cut may bring back what was there before.
  enum Unsure: CaseIterable {
    case create
    case compact
    case replace
    case salvage

    /// Does it on files where `/b` is an archive with "one", which the file at `/a` has afterwards.
    func callAsFunction(_ files: SimulatedFileSystem) throws {
      switch self {
      case .create:
        let store = try open(files)
        try add("one", to: store)
      case .compact:
        let store = try open(files)
        try add("one", to: store)
        try store.compact()
      case .replace: try ArchiveFiles.replace("/a", with: "/b", files)
      case .salvage: _ = try ArchiveSalvager.salvage("/b", to: "/a", on: files)
      }
    }
  }

  @Test(arguments: Unsure.allCases, [SimulatedFault.error(EIO), .crash])
  func `what is saved to an archive doesn't go with a name that a power cut takes`(
    _ way: Unsure, _ fault: SimulatedFault
  ) throws {
    let files = SimulatedFileSystem()
    try Self.make(files, at: "/b")
    if way != .create {
      let old = try Self.open(files)
      try Self.add("old", to: old)
      try old.close()
    }
    files.injectFaults { $0.kind == .syncDirectory ? fault : nil }
    let error = #expect(throws: (any Error).self) { try way(files) }
    if case .error = fault { #expect((error as? StoreError)?.code == .outcomeUnknown) }
    // The process has ended, and the machine goes on.
    let after = try #require(files.crashStates(limit: 1).first { _ in true }).fileSystem
    let shown = way == .create ? [] : way == .compact ? ["old", "one"] : ["one"]
    #expect(try Self.texts(after) == shown)
    let store = try Self.open(after)
    try Self.add("two", to: store)
    for state in after.crashStates(limit: 200) {
      let texts = Result { try Self.texts(state.fileSystem) }
      #expect((try? texts.get()) == shown + ["two"], "\(state.description): \(texts)")
    }
    try store.close()
    try Self.open(after).close()
    #expect(try after.list("/").filter { $0.contains("tmp") } == [])
  }

  @Test func `a writer that finds an archive given back in order syncs nothing`() throws {
    let files = SimulatedFileSystem()
    try Self.make(files)
    let start = files.operationCount
    let store = try Self.open(files)
    #expect(!files.operations[start...].contains { $0.kind == .sync || $0.kind == .write && $0.path == "/a" })
    try store.close()
  }

  @Test func `a writer that can't open an archive leaves the lock file as it found it`() throws {
    let other = try Schema(
      SchemaDescription(entities: [.init(name: "Note", attributes: [.init("text", .int64)])]))
    let files = SimulatedFileSystem()
    func refused(_ files: SimulatedFileSystem) {
      #expect(throws: StoreError(.incompatibleSchema, "")) {
        try ArchiveStore(at: "/a", model: .init(schema: other), options: .init(), fileSystem: files)
      }
    }
    try Self.make(files)
    refused(files)
    #expect(try files.list("/") == ["a"])
    let store = try Self.failedSave(files, 2)
    try store.close()
    refused(files)
    let again = try Self.open(files)
    for state in files.crashStates(limit: 100) {
      #expect(try Self.texts(state.fileSystem) == ["one", "one", "two"], "\(state.description)")
    }
    try again.close()
  }

  @Test func `a replacement that fails leaves the mark of a writer that was killed`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.failedSave(files, 2)
    try store.close()
    #expect(throws: StoreError.self) { try ArchiveFiles.replace("/a", with: "/missing", files) }
    let again = try Self.open(files)
    for state in files.crashStates(limit: 100) {
      #expect(try Self.texts(state.fileSystem) == ["one", "two"], "\(state.description)")
    }
    try again.close()
  }

  @Test func `a slot that is mended is never on the medium before what it names`() throws {
    let files = WatchedFiles()
    let store = try Self.open(files)
    try Self.add("one", to: store)
    try Self.damageOlderSlot(files.inner)
    // Killed with everything of a save written and nothing of it synced: the end of the file tells what is newest.
    let killed = Lock<SimulatedFileSystem?>(nil)
    files.watch { event in
      if event == .sync { killed.withLock { $0 = $0 ?? files.inner.restarted() } }
    }
    try Self.add("two", to: store)
    let mended = WatchedFiles(try #require(killed.withLock { $0 }))
    let checked = Lock(0)
    mended.watch { event in
      guard event == .sync, (try? ArchiveFiles.contents(at: "/a", mended.inner))?.damagedSlots == [] else {
        return
      }
      checked.withLock { $0 += 1 }
      for state in mended.inner.crashStates(limit: 100) {
        let texts = Result { try Self.texts(state.fileSystem) }
        #expect((try? texts.get()) == ["one", "two"], "\(state.description): \(texts)")
      }
    }
    try Self.open(mended).close()
    #expect(checked.withLock { $0 } > 0)
  }

  /// Durably.
  private static func damageOlderSlot(_ files: SimulatedFileSystem) throws {
    let file = try files.open("/a", .readWrite)
    let slots = try CommitSlot.offsets.map { offset in
      (offset, CommitSlot(try file.bytes(CommitSlot.size, at: offset)[...])?.generation ?? 0)
    }
    let older = try #require(slots.min { $0.1 < $1.1 })
    try file.write([UInt8](repeating: 7, count: CommitSlot.size), at: older.0)
    try file.sync()
    try file.close()
  }
}
