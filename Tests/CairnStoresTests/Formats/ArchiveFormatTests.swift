// Rules of Formats/archive.md that a golden file can't show.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveFormatTests {
  private static func files(_ bytes: [UInt8]) throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    return files
  }

  private static func open(_ files: SimulatedFileSystem, isReadOnly: Bool = false) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    return try ArchiveStore(at: "/a", model: .init(schema: Golden.one), options: options, fileSystem: files)
  }

  private static func bytes(_ files: SimulatedFileSystem) throws -> [UInt8] {
    try files.open("/a", .read).contents(limit: 1 << 20, path: "/a")
  }

  @Test func `a file with features that only readers may ignore is read and not written`() throws {  // ARC-5
    let bytes = try GoldenArchiveTests.file("accept", "unknown-features.cairn")
    let files = try Self.files(bytes)
    let reader = try Self.open(files, isReadOnly: true)
    #expect(try reader.count(StoreRequest(entity: Golden.one.entities[0].id), in: reader.snapshot()) == 1)
    #expect(throws: StoreError(.unsupportedRequest, "")) { try Self.open(files) }
    #expect(try Self.bytes(files) == bytes)
  }

  /// A file that another save is made to between two calls.
  private final class GrowingFile: OpenFile {
    let inner: any OpenFile
    let longer: [UInt8]
    let grows: Lock<Int>

    init(_ inner: any OpenFile, longer: [UInt8], afterRead number: Int) {
      self.inner = inner
      self.longer = longer
      grows = Lock(number)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
      defer {
        if grows.withLock({
          $0 -= 1; return $0 == 0
        }) {
          try? inner.write(longer, at: 0)
        }
      }
      return try inner.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
      try inner.write(bytes, at: offset)
    }
    func truncate(to size: UInt64) throws { try inner.truncate(to: size) }
    func sync() throws { try inner.sync() }
    func information() throws -> FileInformation { try inner.information() }
    func setPermissions(_ permissions: UInt16) throws { try inner.setPermissions(permissions) }
    func lock(_ kind: FileLock) throws -> Bool { try inner.lock(kind) }
    func unlock() throws { try inner.unlock() }
    func preallocate(to size: UInt64) throws { try inner.preallocate(to: size) }
    func close() throws { try inner.close() }
  }

  @Test(arguments: [1, 2, 3])
  func `a save between a reader's first two reads harms nothing`(_ read: Int) throws {  // ARC-17
    let making = try Golden.Making(Golden.one)
    let keys = try making.keys("Note", 2)
    try making.save { try $0.insert(keys[0], [:], in: Golden.one) }
    let before = try making.bytes()
    try making.save { try $0.insert(keys[1], [:], in: Golden.one) }
    let files = try Self.files(before)
    let file = GrowingFile(try files.open("/a", .readWrite), longer: try making.bytes(), afterRead: read)
    let contents = try ArchiveFile(file: file, path: "/a").open(cacheBudget: 0)
    #expect(contents.index.generation == 1)
    #expect(try file.information().size > UInt64(before.count))
  }

  // ARC-17
  @Test func `a slot that is being written while it is read is read again`() throws {
    let whole = try Golden.severalSaves(leastFooter: 1024).bytes()
    // The first half of the slot is there, and the next save has begun.
    let torn = whole.zeroing(112..<144) + [1, 2, 3]
    let files = try Self.files(torn)
    let file = GrowingFile(try files.open("/a", .readWrite), longer: whole, afterRead: 1)
    let contents = try ArchiveFile(file: file, path: "/a").open(cacheBudget: 0)
    #expect(contents.damagedSlots.isEmpty && contents.slot.generation == 5)
    // Where nobody writes, it is damage.
    #expect(throws: StoreError(.corrupt, "")) { try ArchiveFiles.contents(at: "/a", try Self.files(torn)) }
  }

  // ARC-23
  @Test(arguments: Golden.accepted.map(\.name))
  func `blocks and trailers stand behind each other without gaps`(_ name: String) throws {
    let bytes = try #require(Golden.accepted.first { $0.name == name }).make()
    let slots = [80, 144].compactMap { CommitSlot(bytes[$0..<$0 + 64]) }
    let end = slots.map(\.fileLength).max().map(Int.init) ?? bytes.count
    var offset = 208
    var trailerCount = 0
    while offset < end {
      let rest = bytes[offset..<end]
      if let trailer = ArchiveTrailer(Array(rest.prefix(64))) {
        offset += 64
        trailerCount += 1
        #expect(trailer.slot.fileLength == UInt64(offset))
      } else {
        let (header, checksum) = try BlockHeader.read(rest.prefix(32))
        let stored = rest.dropFirst(32).prefix(Int(header.storedLength))
        #expect(checksum == Checksum.crc32(Array(rest.prefix(28)) + stored), "\(offset)")
        offset += 32 + Int(header.storedLength)
      }
    }
    #expect(offset == end && trailerCount > 0)
  }

  // ARC-95
  @Test func `what a footer says of values apart is held against them by who verifies`() throws {
    var parts = try ArchiveParts(try Golden.blobs().bytes())
    func findings() throws -> [StoreError] {
      try ArchiveVerifier.findings(at: "/a", on: Self.files(try parts.bytes()))
    }
    #expect(try findings().isEmpty)
    parts.footer.splices[0].groups[0].references[1].blobBytes[0] += 1
    #expect(try findings().map(\.property) == ["image"])
    parts.footer.splices[0].groups[0].references[1].flags &= 127
    #expect(try findings().map(\.property) == ["image"])
  }

  @Test func `texts that deflate too well are stored, and too long ones aren't written`() throws {  // ARC-27
    let spaces = [UInt8](repeating: 32, count: 1_000_000)
    let block = try TextBlock.encode(.metadata, spaces, level: 9)
    #expect(block[5] == 0 && block.count == 32 + spaces.count)
    let (header, _) = try BlockHeader.read(block[..<32])
    #expect(try TextBlock.decode(header, Array(block[32...])) == spaces)
    #expect(throws: StoreError(.unsupportedRequest, "")) {
      try TextBlock.encode(.metadata, [UInt8](repeating: 32, count: TextBlock.limit + 1), level: 1)
    }
    let making = try Golden.Making(Golden.one)
    let bytes = try making.bytes()
    making.store.metadata.userEntries["a"] = .data(Data(count: 50 << 20))
    #expect(throws: StoreError(.unsupportedRequest, "")) { try making.save { _ in } }
    #expect(try making.bytes() == bytes)
    making.store.metadata.userEntries = [:]
    try making.save { _ in }
  }

  @Test func `a chain of footers has an end`() throws {  // ARC-42
    var parts = try ArchiveParts(try Golden.oneRow().bytes())
    for length in 2...257 {
      try parts.appendSave()
      if length < 256 { continue }
      let files = try Self.files(try parts.bytes())
      if length == 256 {
        #expect(try ArchiveFiles.contents(at: "/a", files).footers.count == 256)
      } else {
        #expect(throws: StoreError(.corrupt, "")) { try ArchiveFiles.contents(at: "/a", files) }
      }
    }
  }

  @Test func `a schema with more columns than the file can number is refused`() throws {  // ARC-83
    let attributes = (0..<65_535).map { SchemaDescription.AttributeDescription("a\($0)", .bool) }
    let schema = try Schema(SchemaDescription(entities: [.init(name: "Wide", attributes: attributes)]))
    #expect(throws: RecordError.self) { try ArchiveTables.check(schema) }
    let files = SimulatedFileSystem()
    #expect(throws: StoreError(.unsupportedRequest, "")) {
      try ArchiveStore(at: "/a", model: .init(schema: schema), options: .init(), fileSystem: files)
    }
    #expect(try files.information("/a") == nil)
  }

  @Test func `a schema that grows out of a small text is refused`() throws {  // ARC-84
    func entity(_ number: Int, _ attributes: Int, of parent: String?) -> ArchivedSchema.Entity {
      .init(
        name: "E\(number)", superentity: parent, isAbstract: false,
        attributes: (0..<attributes).map {
          .init(name: "a\($0)", type: "bool", elements: nil, isOptional: true)
        },
        relationships: [], indexes: [], uniquenessConstraints: [])
    }
    var schema = ArchivedSchema(Golden.one, model: nil)
    for (entities, isRefused) in [
      ((0...1023).map { entity($0, $0 == 0 ? 1024 : 0, of: $0 == 0 ? nil : "E0") }, false),
      ((0...1024).map { entity($0, $0 == 0 ? 1024 : 0, of: $0 == 0 ? nil : "E0") }, true),
      ((0...8192).map { entity($0, 0, of: nil) }, true),
      ((0..<64).map { entity($0, 0, of: $0 == 0 ? nil : "E\($0 - 1)") }, false),
      ((0..<65).map { entity($0, 0, of: $0 == 0 ? nil : "E\($0 - 1)") }, true),
    ] {
      schema.entities = entities
      if isRefused {
        #expect(throws: RecordError.self) { try schema.checkSize() }
      } else {
        #expect(throws: Never.self) { try schema.checkSize() }
      }
    }
  }

  @Test(arguments: [[0], [1], [0, 1]])
  func `a damaged slot is written again before anything else is`(_ damaged: [Int]) throws {  // ARC-111
    var bytes = try Golden.severalSaves(leastFooter: 1024).bytes()
    let dump = try GoldenArchiveTests.dump(bytes)
    for slot in damaged { bytes = bytes.zeroing(80 + 64 * slot..<144 + 64 * slot) }
    let files = try Self.files(bytes)
    let store = try Self.open(files)
    // What a save that is cut short leaves behind: slots that tell, whatever the end of the file is.
    let torn = try Self.bytes(files) + [1, 2, 3]
    #expect(try GoldenArchiveTests.dump(torn) == dump)
    let key = RowKey(entity: Golden.one.entities[0].id, id: 1)
    var changes = ChangeSet()
    try changes.update(key, ["number": .int(-5)], in: Golden.one)
    _ = try store.commit(changes)
    let after = try GoldenArchiveTests.dump(try Self.bytes(files))
    #expect(after != dump && after.contains("-5"))
    // The save before is still in the other slot.
    let contents = try ArchiveFiles.contents(at: "/a", files)
    #expect(contents.damagedSlots.isEmpty && contents.slot.generation == 6)
  }

  // ARC-57
  @Test func `two chunks that say different things of one part never get each other's rows`() throws {
    var parts = try ArchiveParts(try Golden.allTypes(.default).bytes())
    // Forty rows, and behind them a chunk that claims more than the same part has.
    var more = parts.footer.splices[0].groups[0]
    more.id += 1
    more.chunks[0].rows = 4096
    for place in more.references.indices where more.references[place].flags != 0 {
      more.references[place].flags |= 32
      more.references[place].group = 0
    }
    parts.footer.splices[0].groups.append(more)
    parts.footer.nextGroup += 1
    parts.footer.nextKeys[0] = 10_000
    let files = try Self.files(try parts.bytes())
    var options = ArchiveStore.Options()
    options.isReadOnly = true
    let store = try ArchiveStore(
      at: "/a", model: .init(schema: Golden.types), options: options, fileSystem: files)
    let batch = try store.fetch(
      StoreRequest(entity: Golden.types.entities[0].id), in: store.snapshot())
    #expect(batch.count == 40 + 4096)
    for slot in 0..<Golden.types.entities[0].slots.count {
      #expect(batch.chunk(0).columns[slot].damage == nil)
      let claimed = batch.chunk(40).columns[slot]
      #expect(claimed.damage?.code == .corrupt && claimed.count == 4096)
    }
  }

  @Test func `decimals and doubles of metadata that aren't written as the page says are refused`() throws {
    let making = try Golden.metadata()
    let json = String(decoding: try ArchivedMetadata(making.store.metadata).json, as: UTF8.self)
    let read = try ArchivedMetadata.read(json: Array(json.utf8), type: "CairnArchive")
    #expect(read.userEntries["no decimal"] == .decimal(.nan))
    #expect(read.userEntries == making.store.metadata.userEntries)
    for wrong in ["8000000000000000x", "800000000000000", "+000000000000000"] {
      let changed = json.replacingOccurrences(of: "8000000000000000", with: wrong)
      #expect(changed != json)
      #expect(throws: RecordError.self) { try ArchivedMetadata.read(json: Array(changed.utf8), type: "") }
    }
    for wrong in ["-12.5x", "-12,5", "", "1e5"] {
      let changed = json.replacingOccurrences(of: "\"-12.5\"", with: "\"\(wrong)\"")
      #expect(changed != json)
      #expect(throws: RecordError.self) { try ArchivedMetadata.read(json: Array(changed.utf8), type: "") }
    }
  }
}
