// Archives whose bytes aren't what was written: an error that names file and offset, or the same content.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveDamageTests {
  /// An archive with rows of every kind, several saves, deletions and updates, as bytes.
  private static let sample: (bytes: [UInt8], contents: StoreContents) = {
    let files = SimulatedFileSystem()
    do {
      let store = try open(files)
      let people = try schema.requireEntity(named: "Person")
      for step in 0..<4 {
        var changes = ChangeSet()
        for key in try store.reserveKeys(5, root: people.root) {
          try changes.insert(
            RowKey(entity: people.id, id: key),
            ["name": .string("n\(key)"), "age": .int(key * 100), "height": .double(Double(key) / 7)],
            in: schema)
        }
        if step > 1 {
          try changes.update(RowKey(entity: people.id, id: Int64(step)), ["age": .int(-1)], in: schema)
          changes.delete(RowKey(entity: people.id, id: Int64(step + 4)))
        }
        _ = try store.commit(changes)
      }
      let contents = try StoreContents(of: store, in: store.snapshot())
      try store.close()
      return (try bytes(files), contents)
    } catch {
      fatalError("the sample can't be made: \(error)")
    }
  }()

  private static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Person",
        attributes: [.init("name", .string), .init("age", .int16), .init("height", .double)])
    ]))

  private static func open(_ files: SimulatedFileSystem, isReadOnly: Bool = false) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    return try ArchiveStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
  }

  private static func bytes(_ files: SimulatedFileSystem) throws -> [UInt8] {
    try files.open("/a", .read).contents(limit: 1 << 20, path: "/a")
  }

  /// The content of an archive of these bytes.
  private static func read(_ bytes: [UInt8]) throws -> StoreContents {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    let store = try open(files, isReadOnly: true)
    return try StoreContents(of: store, in: store.snapshot())
  }

  @Test func `a flipped byte anywhere throws corrupt, with file and offset, or harms nothing`() throws {
    let (bytes, contents) = Self.sample
    var refused = 0
    for offset in bytes.indices {
      for flip in [UInt8(0xFF), 1 << UInt8(offset & 7)] {
        var damaged = bytes
        damaged[offset] ^= flip
        do {
          let found = try Self.read(damaged)
          #expect(contents.difference(from: found) == nil, "byte \(offset)")
        } catch let error as StoreError {
          refused += 1
          #expect(
            error.code == .corrupt && error.file == "/a" && error.offset != nil && error.remedy != nil,
            "\(error)")
        }
      }
    }
    // Only an old footer, an old slot, and what a later save has replaced are of no use.
    #expect(refused > bytes.count / 2, "\(refused) of \(bytes.count)")
  }

  @Test func `a file cut off anywhere throws corrupt`() throws {
    let (bytes, _) = Self.sample
    for length in 0..<bytes.count {
      #expect(throws: StoreError(.corrupt, ""), "\(length) of \(bytes.count) bytes") {
        try Self.read(Array(bytes[..<length]))
      }
    }
  }

  @Test func `bytes behind the newest commit are an unfinished save, and mean nothing`() throws {
    let (bytes, contents) = Self.sample
    for tail in [
      [UInt8](repeating: 0, count: 100), [UInt8](repeating: 0xA5, count: 1000), Array(bytes.suffix(64)),
    ] {
      #expect(contents.difference(from: try Self.read(bytes + tail)) == nil)
    }
  }

  @Test func `other files are refused with a sentence`() throws {
    for other in [[], Array("SQLite format 3\0".utf8), Array("{}".utf8), [UInt8](repeating: 0, count: 4096)] {
      #expect(throws: StoreError(.corrupt, "")) { try Self.read(other) }
    }
  }

  @Test func `a damaged column fails the requests that need it, and no others`() throws {
    let (bytes, contents) = Self.sample
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    let people = try Self.schema.requireEntity(named: "Person")
    let slot = try #require(people.slot(named: "height"))
    // The block of the heights, found by what the file itself says.
    let index = try ArchiveFiles.contents(at: "/a", files).index
    let block = try #require(index.tables[people.id.index][0].columns[slot]).block
    let file = try files.open("/a", .readWrite)
    try file.write([bytes[Int(block.offset) + 40] ^ 1], at: block.offset + 40)
    try file.close()

    let store = try Self.open(files)
    let snapshot = try store.snapshot()
    let byAge = StoreRequest(
      entity: people.id, predicate: .comparison(.init(.keyPath(["age"]), .greater, .constant(0))))
    let rows = try store.fetch(byAge, in: snapshot)
    #expect(rows.count > 0)
    let damage = try #require(rows.chunk(0).columns[slot].damage)
    #expect(
      damage.entity == "Person" && damage.property == "height" && damage.offset == block.offset, "\(damage)")
    let byHeight = StoreRequest(
      entity: people.id, predicate: .comparison(.init(.keyPath(["height"]), .greater, .constant(0.0))))
    for _ in 0..<2 {
      #expect(throws: StoreError(.corrupt, "")) { _ = try store.fetch(byHeight, in: snapshot) }
      #expect(throws: StoreError(.corrupt, "")) { _ = try store.count(byHeight, in: snapshot) }
    }
    // A save that would have to rewrite it fails, and changes nothing; others go on.
    var changes = ChangeSet()
    try changes.update(RowKey(entity: people.id, id: 1), ["height": .double(2)], in: Self.schema)
    #expect(throws: StoreError(.corrupt, "")) { _ = try store.commit(changes) }
    #expect(throws: StoreError(.corrupt, "")) { try store.compact() }
    #expect(try store.snapshot().generation == snapshot.generation)
    var others = ChangeSet()
    try others.update(RowKey(entity: people.id, id: 1), ["name": .string("new")], in: Self.schema)
    _ = try store.commit(others)
    #expect(try store.snapshot().generation.number == contents.generation.number + 1)
  }

  @Test func `a damaged archive can be destroyed, and a file that is none can't`() throws {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(Array(Self.sample.bytes.prefix(300)), at: 0)
    #expect(throws: StoreError(.corrupt, "")) { try ArchiveFiles.contents(at: "/a", files) }
    try ArchiveFiles.destroy(at: "/a", files)
    #expect(try files.list("/") == [])
    try files.open("/a", .create(permissions: 0o644)).write(Array("letters".utf8), at: 0)
    #expect(throws: StoreError(.corrupt, "")) { try ArchiveFiles.destroy(at: "/a", files) }
    #expect(try files.list("/").contains("a"))
  }
}
