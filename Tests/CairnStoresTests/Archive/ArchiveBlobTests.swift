// Large values of attributes that allow external storage: each a block of its own, read and written alone. That every
// law holds with them, and that faults lose none, is asked where all stores are (RereadArchive, ArchiveFaultTests).

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveBlobTests {
  private static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Photo",
        attributes: [
          .init("name", .string), .init("image", .data, allowsExternalStorage: true), .init("inline", .data),
          .init("coded", .transformable, allowsExternalStorage: true),
        ])
    ]))

  private static let photo = schema.entities[0]
  private static let image = photo.slot(named: "image")!

  private static func open(
    _ files: SimulatedFileSystem, isReadOnly: Bool = false, profile: ArchiveStore.Profile = .default,
    budget: Int = 1 << 20, schema: Schema = schema
  ) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    options.profile = profile
    options.cacheBudget = budget
    return try ArchiveStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
  }

  /// Bytes that don't deflate.
  private static func noise(_ count: Int, _ seed: Int64) -> Data {
    var random = SplitMix64(seed: UInt64(seed))
    return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }

  private static let threshold = ArchiveBlob.leastSize

  /// Values around what is kept apart, and nulls.
  private static func value(_ key: Int64) -> Value {
    switch key % 6 {
    case 0: .null
    case 1: .data(Data())
    case 2: .data(noise(threshold - 1, key))
    case 3: .data(noise(threshold, key))
    case 4: .data(Data(repeating: UInt8(key), count: 100_000))
    default: .data(noise(threshold + 1000, key))
    }
  }

  private static func key(_ id: Int64) -> RowKey { RowKey(entity: photo.id, id: id) }

  @discardableResult
  private static func insert(
    _ count: Int, into store: ArchiveStore, alsoInline: Bool = true
  ) throws -> [Int64] {
    let keys = Array(try store.reserveKeys(count, root: photo.id))
    var changes = ChangeSet()
    for key in keys {
      try changes.insert(
        Self.key(key),
        [
          "name": .string("n\(key)"), "image": value(key), "inline": alsoInline ? value(key) : .null,
          "coded": value(key + 1),
        ], in: schema)
    }
    _ = try store.commit(changes)
    return keys
  }

  private static func contents(_ store: ArchiveStore) throws -> StoreContents {
    try StoreContents(of: store, in: store.snapshot())
  }

  private static func isApart(_ value: Value) -> Bool {
    if case .data(let data) = value { data.count >= threshold } else { false }
  }

  private func bytes(_ files: SimulatedFileSystem, path: String = "/a") throws -> [UInt8] {
    try files.open(path, .read).contents(limit: 1 << 25, path: path)
  }

  /// Bytes read and written by `body`.
  private func traffic(
    _ files: SimulatedFileSystem, _ body: () throws -> Void
  ) rethrows -> (read: Int, written: Int) {
    let start = files.operationCount
    try body()
    let operations = files.operations[start...]
    return (
      operations.reduce(0) { $1.kind == .read ? $0 + $1.byteCount : $0 },
      operations.reduce(0) { $1.kind == .write ? $0 + $1.byteCount : $0 }
    )
  }

  @Test(arguments: ArchiveStore.Profile.allCases)
  func `every value comes back, from memory, from the file and after a compaction`(
    _ profile: ArchiveStore.Profile
  ) throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, profile: profile)
    try Self.insert(30, into: store)
    try Self.insert(7, into: store)
    var changes = ChangeSet()
    try changes.update(Self.key(3), ["image": Self.value(4), "coded": .null], in: Self.schema)
    try changes.update(Self.key(4), ["image": .data(Data([1]))], in: Self.schema)
    changes.delete(Self.key(9))
    _ = try store.commit(changes)
    let before = try Self.contents(store)
    let values = try #require(before.rows[Self.photo.id])
    for row in values where row.key.id > 4 {
      #expect(row.values[Self.image] == Self.value(row.key.id), "\(row.key)")
      #expect(row.values[Self.image + 2] == Self.value(row.key.id + 1), "\(row.key)")
    }
    func check(_ store: ArchiveStore) throws {
      #expect(before.difference(from: try Self.contents(store)) == nil)
      #expect(try ArchiveVerifier.findings(at: "/a", on: files).isEmpty)
    }
    try check(try Self.open(files, isReadOnly: true))
    try store.compact()
    try check(store)
    try store.close()
    try check(try Self.open(files, isReadOnly: true, budget: 0))
  }

  @Test func `values large enough of attributes that allow it are kept apart, and no others`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    let keys = try Self.insert(24, into: store)
    try store.close()
    let reader = try Self.open(files, isReadOnly: true)
    let chunk = try reader.fetch(StoreRequest(entity: Self.photo.id), in: reader.snapshot()).chunk(0)
    let apart = try #require(chunk.columns[Self.image].externalValues)
    #expect(apart.rows == keys.indices.filter { Self.isApart(Self.value(keys[$0])) })
    #expect(chunk.columns[Self.image + 1].externalValues == nil)
    #expect(chunk.columns[Self.image + 2].externalValues?.rows.count == 12)
    let summary = try ArchiveSummary(ofArchiveAt: "/a", on: files)
    let column = summary.tables[0].columns[Self.image]
    let lengths = apart.values.map { ($0 as! ArchiveBlob).length }
    #expect(column.blobBytes == lengths.reduce(0, +) && column.storedBytes > column.blobBytes)
    // Deflated where that is smaller, and else stored.
    for (row, value) in zip(apart.rows, apart.values) {
      let blob = value as! ArchiveBlob
      #expect(try blob.block().header.codec == (keys[row] % 6 == 4 ? 1 : 0))
      #expect(blob.length <= 32 + blob.byteCount)
    }
    #expect(summary.tables[0].columns[Self.image + 1].blobBytes == 0 && summary.deadBytes < 1_000)
  }

  @Test func `reading one value reads one block, and leaves nothing in memory`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(60, into: store)
    try store.close()
    let reader = try Self.open(files, isReadOnly: true, schema: Self.schema)
    let rows = try reader.fetch(StoreRequest(entity: Self.photo.id), in: reader.snapshot())
    var column: Column?
    let opening = traffic(files) { column = rows.chunk(0).columns[Self.image] }
    // What is kept in the column itself: 10 values below the threshold.
    #expect(opening.read < 11 * Self.threshold)
    let row = 4
    #expect(rows.keys[row].id == 5)
    let one = traffic(files) { #expect(column!.value(row) == Self.value(5)) }
    #expect(one.read < Self.threshold + 2_000 && one.read > Self.threshold)
    // It wasn't kept.
    #expect(traffic(files) { _ = column!.data(row) }.read == one.read)
    // Whoever asks for bytes in place gets them once, for as long as the column is there.
    #expect(Data(column!.bytes(row)) == column!.data(row))
    #expect(traffic(files) { _ = column!.bytes(row) }.read == 0)
  }

  @Test func `what is kept of blobs counts for the cache's budget until its column goes`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(60, into: store)
    try store.close()
    let contents = try ArchiveFile(file: files.open("/a", .read), path: "/a").open(cacheBudget: 2 << 20)
    let cache = contents.source.cache
    let group = contents.index.tables[0][0]
    let part = ArchivePart(group, 0)
    var column: Column? = part.column(Self.image)
    let plain = cache.byteCount
    var apart: ExternalValues! = try #require(column?.externalValues)
    for row in apart.rows.prefix(3) { _ = column!.bytes(row) }
    let kept = apart.values.prefix(3).reduce(0) { $0 + $1.byteCount }
    #expect(cache.byteCount == plain + kept)
    // Too many: the cache lets go of columns, and what they kept goes with the last holder.
    for row in apart.rows { _ = column!.bytes(row) }
    for place in [0, 2, 3] { _ = part.column(place) }
    let all = apart.values.reduce(0) { $0 + $1.byteCount }
    #expect(cache.byteCount > all && all > 1 << 20)
    column = nil
    apart = nil
    #expect(cache.byteCount <= 2 << 20)
  }

  @Test func `a save writes values that are new, and none that are there`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(60, into: store, alsoInline: false)
    // Of the one column, and of the other.
    let inlineBytes = 10 * Self.threshold
    func cost(_ values: [String: Value]) throws -> Int {
      var changes = ChangeSet()
      try changes.update(Self.key(5), values, in: Self.schema)
      return try traffic(files) { _ = try store.commit(changes) }.written
    }
    #expect(try cost(["name": .string("other")]) < 5_000)
    // Its column is written anew, with the values that are in it and no other's.
    let new = Self.noise(200_000, 99)
    let written = try cost(["image": .data(new)])
    #expect(written > new.count && written < new.count + inlineBytes + 5_000, "\(written)")
    // Nothing of them stays in memory with the last chunk.
    let chunk = try store.fetch(StoreRequest(entity: Self.photo.id), in: store.snapshot()).chunk(0)
    #expect(chunk.columns[Self.image].value(4) == .data(new))
    #expect(chunk.columns[Self.image].externalValues?.rows.count == 30)
    #expect(chunk.footprint < 4 * inlineBytes + 100_000, "\(chunk.footprint)")
    // A row appended to that chunk takes its own value along.
    let size = store.fileSize.total
    try Self.insert(1, into: store, alsoInline: false)
    #expect(store.fileSize.total - size < UInt64(2 * inlineBytes + 4 * Self.threshold))
  }

  @Test func `a compaction copies them as they lie, and leaves out those of no use`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(12, into: store)
    var changes = ChangeSet()
    try changes.update(Self.key(5), ["image": .null, "coded": .null], in: Self.schema)
    _ = try store.commit(changes)
    func stored() throws -> [ArraySlice<UInt8>] {
      let bytes = try bytes(files)
      var scan = ArchiveScan(try files.open("/a", .read), upTo: UInt64(bytes.count))
      var found: [ArraySlice<UInt8>] = []
      try scan.forEach { piece in
        if case .block(let header) = piece.piece, header.kind == .blob {
          found.append(bytes[Int(piece.offset) + 32..<Int(piece.offset + piece.length)])
        }
      }
      return found
    }
    let before = try stored()
    let live = store.fileSize.live
    try store.compact()
    let after = try stored()
    #expect(before.count == 12 && after.count == 11)
    #expect(Set(after).isSubset(of: Set(before)))
    #expect(abs(store.fileSize.live - live) < 5_000)
  }

  @Test func `waste of values that were replaced is given back`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(6, into: store)
    var largest: UInt64 = 0
    for step in 0..<30 {
      var changes = ChangeSet()
      try changes.update(Self.key(5), ["image": .data(Self.noise(200_000, Int64(step)))], in: Self.schema)
      _ = try store.commit(changes)
      largest = max(largest, store.fileSize.total)
    }
    #expect(largest < 4 << 20 && largest > 1 << 20)
    #expect(try ArchiveVerifier.findings(at: "/a", on: files).isEmpty)
  }

  @Test func `a file that was made without them keeps all values in columns until it is written anew`() throws
  {
    let files = SimulatedFileSystem()
    var plain = ArchivedSchema(Self.schema, model: nil)
    for index in plain.entities[0].attributes.indices {
      plain.entities[0].attributes[index].allowsExternalStorage = nil
    }
    let old = try Self.open(files, schema: plain.schema)
    try Self.insert(6, into: old)
    try old.close()
    let before = try Self.contents(Self.open(files, isReadOnly: true, schema: plain.schema))
    let store = try Self.open(files)
    try Self.insert(6, into: store)
    #expect(try ArchiveSummary(ofArchiveAt: "/a", on: files).tables[0].columns[Self.image].blobBytes == 0)
    try store.compact()
    #expect(before.rows[Self.photo.id]?.count == 6)
    #expect(
      try ArchiveFiles.contents(at: "/a", files).schema.json == ArchivedSchema(Self.schema, model: nil).json)
    #expect(try ArchiveSummary(ofArchiveAt: "/a", on: files).tables[0].columns[Self.image].blobBytes > 0)
    let newest = try Self.contents(store)
    try store.close()
    // And back: a file that has no room for them takes the values into its columns.
    let reader = try Self.open(files, isReadOnly: true, schema: plain.schema)
    try ArchiveFiles.pack(reader, into: "/b", model: .init(schema: plain.schema), on: files)
    #expect(try ArchiveSummary(ofArchiveAt: "/b", on: files).tables[0].columns[Self.image].blobBytes == 0)
    let back = try ArchiveStore(
      at: "/b", model: .init(schema: Self.schema), options: .init(), fileSystem: files)
    #expect(newest.difference(from: try Self.contents(back)) == nil)
  }

  // MARK: Damage

  @Test func `a damaged value is an error that names it, and takes nothing else along`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    try Self.insert(12, into: store)
    try store.close()
    let contents = try ArchiveFile(file: files.open("/a", .read), path: "/a").open(cacheBudget: 0)
    let column = ArchivePart(contents.index.tables[0][0], 0).column(Self.image)
    let blob = try #require(column.externalValues?[4] as? ArchiveBlob)
    for offset in [0, 5, 10, 20, 28, 40, blob.length - 1] {
      var damaged = try bytes(files)
      damaged[Int(blob.offset) + offset] ^= 0x10
      let others = SimulatedFileSystem()
      try others.open("/a", .create(permissions: 0o644)).write(damaged, at: 0)
      let reader = try Self.open(others, isReadOnly: true)
      let rows = try reader.fetch(StoreRequest(entity: Self.photo.id), in: reader.snapshot())
      let read = rows.chunk(0).columns[Self.image]
      #expect(read.value(4) == .null && read.failure(at: 4)?.code == .corrupt)
      #expect(read.failure(at: 4)?.property == "image" && read.failure(at: 4)?.offset != nil)
      #expect(read.value(3) == Self.value(4) && read.failure(at: 3) == nil)
      #expect(try ArchiveVerifier.findings(at: "/a", on: others).contains { $0.property == "image" })
      #expect(throws: StoreError(.corrupt, "")) { try ArchiveDump.json(at: "/a", on: others) }
      // Nothing that was made of it is written.
      let writer = try Self.open(others)
      var changes = ChangeSet()
      try changes.update(Self.key(6), ["image": .null], in: Self.schema)
      _ = try writer.commit(changes)
      #expect(throws: StoreError(.corrupt, "")) { try writer.compact() }
      try writer.close()

      let report = try ArchiveSalvager.salvage("/a", to: "/b", on: others)
      #expect(report.losses.map(\.keys) == [[5...5]] && report.losses[0].property == "image")
      let salvaged = try ArchiveStore(
        at: "/b", model: .init(schema: Self.schema), options: .init(), fileSystem: others)
      let saved = try #require(try Self.contents(salvaged).rows[Self.photo.id])
      for row in saved {
        let isLost = row.key.id == 5 || row.key.id == 6
        #expect(row.values[Self.image] == (isLost ? .null : Self.value(row.key.id)))
        #expect(row.values[Self.image + 2] == Self.value(row.key.id + 1))
      }
    }
  }
}
