// What an archive is besides a store: its schema travels inside, small saves stay small, waste is given back.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveTests {
  private static func open(
    _ files: SimulatedFileSystem, _ schema: Schema, isReadOnly: Bool = false
  ) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    options.profile = .fastest
    return try ArchiveStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
  }

  fileprivate static let numbers = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Number",
        attributes: [.init("value", .int64), .init("square", .double), .init("name", .string)])
    ]))

  /// Inserts rows with the keys that follow.
  private static func insert(_ count: Int, into store: ArchiveStore) throws {
    let entity = store.schema.entities[0]
    let keys = Array(try store.reserveKeys(count, root: entity.id))
    let (values, squares, names) = (ColumnBuilder(.int64), ColumnBuilder(.double), ColumnBuilder(.string))
    var random = SplitMix64(seed: UInt64(keys[0]))
    for key in keys {
      values.append(Int64(random.next() & 0xFF_FFFF_FFFF))
      squares.append(Double(key) * Double(key))
      names.append("name \(random.next() % 1000)")
    }
    var changes = ChangeSet()
    changes.inserts = [
      .init(entity: entity.id, keys: keys, columns: [values.finish(), squares.finish(), names.finish()])
    ]
    _ = try store.commit(changes)
  }

  @Test(arguments: [Schema.company, numbers, everyKind])
  func `the schema that an archive carries lays rows out as the model does`(_ schema: Schema) throws {
    let archived = try ArchivedSchema(json: try ArchivedSchema(schema, model: "m").json)
    #expect(archived.model == "m")
    #expect(try archived.schema.isStoredAs(schema))
    #expect(try ArchivedSchema(archived.schema, model: "m").json == ArchivedSchema(schema, model: "m").json)
  }

  fileprivate static let everyKind = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "A",
        attributes: [
          .init("transient", .string, isTransient: true), .init("u", .uuid),
          .init(
            "place",
            .composite([.init("x", .value(.double)), .init("in", .composite([.init("y", .value(.decimal))]))])
          ),
          .init("d", .date, isOptional: false),
        ],
        relationships: [
          .init("gone", to: "A", isTransient: true), .init("others", to: "A", isOrdered: true),
        ],
        indexes: [.init("i", ["d", "place.x"])], uniquenessConstraints: [["u", "d"]])
    ]))

  @Test func `a model with other slots is refused`() throws {
    let files = SimulatedFileSystem()
    try Self.open(files, Self.numbers).close()
    let other = try Schema(
      SchemaDescription(entities: [.init(name: "Number", attributes: [.init("value", .int32)])]))
    #expect(throws: StoreError(.incompatibleSchema, "")) { try Self.open(files, other) }
    #expect(throws: StoreError(.incompatibleSchema, "")) { try Self.open(files, .company) }
  }

  @Test func `opening and reading write nothing`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    try Self.insert(10, into: store)
    try store.close()
    files.isReadOnly = true
    let start = files.operationCount
    let reader = try Self.open(files, Self.numbers, isReadOnly: true)
    #expect(try reader.count(StoreRequest(entity: Self.numbers.entities[0].id), in: reader.snapshot()) == 10)
    #expect(!files.operations[start...].contains { $0.kind.isChange })
    #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try reader.commit(ChangeSet()) }
  }

  @Test func `a second writer is told who holds the lock, and readers aren't kept out`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    #expect { try Self.open(files, Self.numbers) } throws: { error in
      "\(error)".contains("this process")
    }
    _ = try Self.open(files, Self.numbers, isReadOnly: true)
    try store.compact()
    #expect(throws: StoreError(.locked, "")) { try Self.open(files, Self.numbers) }
    try store.close()
    try Self.open(files, Self.numbers).close()
  }

  /// Bytes written by `body`.
  private func written(_ files: SimulatedFileSystem, _ body: () throws -> Void) rethrows -> Int {
    let start = files.operationCount
    try body()
    return files.operations[start...].reduce(0) { $1.kind == .write ? $0 + $1.byteCount : $0 }
  }

  @Test func `a save after a small change costs the same however large the archive is`() throws {
    var costs: [Int] = []
    for rows in [20_000, 200_000] {
      let files = SimulatedFileSystem()
      let store = try Self.open(files, Self.numbers)
      try Self.insert(rows, into: store)
      let entity = Self.numbers.entities[0]
      // The first save after it, and many later ones: footers that say differences don't pile up.
      var most = 0
      for step in 0..<40 {
        var changes = ChangeSet()
        try changes.update(
          RowKey(entity: entity.id, id: Int64(1 + step * 457)), ["square": .double(Double(step))],
          in: Self.numbers)
        most = max(most, try written(files) { _ = try store.commit(changes) })
      }
      costs.append(most)
    }
    #expect(costs[1] < costs[0] * 2 && costs[1] < 80_000, "\(costs)")
  }

  @Test func `a save of one row leaves every group of the file as it is but the row's own`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    try Self.insert(100_000, into: store)
    let entity = Self.numbers.entities[0]
    func groups() throws -> [[UInt64?]] {
      try ArchiveFiles.contents(at: "/a", files).index.tables[0].map { group in
        [UInt64(group.id)] + group.columns.map { $0?.block.offset }
      }
    }
    for key in [1, 4096, 50_000, 100_000] as [Int64] {
      let before = try groups()
      var changes = ChangeSet()
      try changes.update(
        RowKey(entity: entity.id, id: key), ["square": .double(-Double(key))], in: Self.numbers)
      _ = try store.commit(changes)
      let after = try groups()
      // A group of four becomes the changed chunk, and what is before and behind it.
      let new = after.filter { !before.contains($0) }
      #expect(before.filter { !after.contains($0) }.count == 1 && (1...3).contains(new.count))
      // One of them has two new blocks, of the column and of the versions; the rest is where it was.
      let known = Set(before.flatMap { $0.dropFirst().compactMap { $0 } })
      #expect(new.flatMap { $0.dropFirst().compactMap { $0 } }.filter { !known.contains($0) }.count == 2)
    }
    try store.close()
    let again = try Self.open(files, Self.numbers)
    for key in [1, 4096, 50_000, 100_000] as [Int64] {
      let rows = try again.rows([RowKey(entity: entity.id, id: key)], in: again.snapshot())
      #expect(rows.value(0, slot: 1) == .double(-Double(key)))
    }
  }

  @Test func `opening reads the footer and not the data, and a request its columns`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    try Self.insert(100_000, into: store)
    try store.close()
    let size = try #require(try files.information("/a")).size
    func read(_ body: () throws -> Void) rethrows -> Int {
      let start = files.operationCount
      try body()
      return files.operations[start...].reduce(0) { $1.kind == .read ? $0 + $1.byteCount : $0 }
    }
    var reader: ArchiveStore?
    let opening = try read { reader = try Self.open(files, Self.numbers, isReadOnly: true) }
    #expect(opening < 8_000, "\(opening) of \(size) bytes")
    let entity = Self.numbers.entities[0]
    let request = StoreRequest(
      entity: entity.id, predicate: .comparison(.init(.keyPath(["square"]), .less, .constant(10_000.0))))
    var count = 0
    let fetching = try read { count = try reader!.count(request, in: reader!.snapshot()) }
    #expect(count == 99)
    #expect(fetching > 0 && fetching < Int(size) / 20, "\(fetching) of \(size) bytes")
  }

  @Test func `blocks whose bounds leave no row to a predicate aren't read`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    try Self.insert(100_000, into: store)
    try store.close()
    let entity = Self.numbers.entities[0]
    func blocksRead(_ predicate: PredicateTree, expecting expected: Int) throws -> Int {
      let reader = try Self.open(files, Self.numbers, isReadOnly: true)
      defer { try? reader.close() }
      let start = files.operationCount
      let request = StoreRequest(entity: entity.id, predicate: predicate)
      #expect(try reader.count(request, in: reader.snapshot()) == expected)
      return files.operations[start...].count { $0.kind == .read }
    }
    func compare(_ name: String, _ op: ComparisonOperator, _ value: Value) -> PredicateTree {
      .comparison(.init(.keyPath([name]), op, .constant(value)))
    }
    // There are seven groups of rows, and 7 blocks of a column.
    let small = compare("square", .less, .double(10_000))
    let none = compare("square", .less, .double(-1))
    let any = compare("value", .greater, .int(-1))
    #expect(try blocksRead(any, expecting: 100_000) == 7)
    #expect(try blocksRead(small, expecting: 99) == 1)
    #expect(try blocksRead(none, expecting: 0) == 0)
    // In an AND what needs no reading comes first, wherever it stands, and an OR leaves out its parts.
    #expect(try blocksRead(.and([any, small]), expecting: 99) == 2)
    #expect(try blocksRead(.or([none, small]), expecting: 99) == 1)
    #expect(try blocksRead(.not(none), expecting: 100_000) == 0)
    // Nor is a column read when those before it have decided about every row.
    let odd = compare("square", .equal, .double(10_001))
    #expect(try blocksRead(.and([odd, any]), expecting: 0) == 1)
    #expect(try blocksRead(.or([.not(odd), any]), expecting: 100_000) == 1)
    let members = PredicateTree.comparison(
      .init(.keyPath(["value"]), .isIn, .list([.constant(.int(1 << 41)), .constant(.int(1 << 42))])))
    #expect(try blocksRead(members, expecting: 0) == 0)
  }

  @Test func `waste is given back without being asked for, and compaction keeps every row`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    let entity = Self.numbers.entities[0]
    try Self.insert(60_000, into: store)
    let first = store.fileSize.total
    var largest = first
    for round in 0..<12 {
      var changes = ChangeSet()
      let keys = Array(stride(from: Int64(1 + round), through: 60_000, by: 7))
      let builder = ColumnBuilder(.int64)
      for key in keys { builder.append(Int64(round) &* 0x9E37_79B9 &* key & 0xFF_FFFF_FFFF) }
      changes.updates = [
        .init(entity: entity.id, keys: keys, versions: nil, slots: [0], columns: [builder.finish()])
      ]
      _ = try store.commit(changes)
      largest = max(largest, store.fileSize.total)
    }
    #expect(largest < 4 * first + 4 << 20, "\(largest) after \(first)")
    let before = try StoreContents(of: store, in: store.snapshot())
    let old = try store.snapshot()
    try store.compact()
    #expect(before.difference(from: try StoreContents(of: store, in: store.snapshot())) == nil)
    #expect(before.difference(from: try StoreContents(of: store, in: old)) == nil)
    #expect(store.fileSize.total < largest)
    try store.close()
    let again = try Self.open(files, Self.numbers)
    #expect(before.difference(from: try StoreContents(of: again, in: again.snapshot())) == nil)
  }

  @Test
  func `keys that were given out and never saved aren't given out again when the archive is opened again`()
    throws
  {
    let files = SimulatedFileSystem()
    let root = Self.numbers.entities[0].id
    var store = try Self.open(files, Self.numbers)
    let first = try store.reserveKeys(3, root: root)
    try store.close()
    store = try Self.open(files, Self.numbers)
    #expect(try store.reserveKeys(1, root: root).lowerBound == first.upperBound)
    try store.close()
    // Where none were, closing writes nothing.
    store = try Self.open(files, Self.numbers)
    let start = files.operationCount
    try store.close()
    #expect(!files.operations[start...].contains { $0.path == "/a" && $0.kind.isChange })
  }

  @Test func `metadata that is set is there when the archive is opened again`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    let entries: [String: Value] = [
      "a": .string("x"), "b": .int(-3), "c": .double(-0.0),
      "d": .date(Date(timeIntervalSinceReferenceDate: 1.5)),
      "e": .data(Data([0, 255])), "f": .uuid(UUID()), "g": .uri("https://a.example/"), "h": .bool(true),
    ]
    store.metadata.userEntries = entries
    try store.close()
    let again = try Self.open(files, Self.numbers)
    #expect(again.metadata.userEntries == entries && again.metadata.uuid == store.metadata.uuid)
  }

  @Test func `the same rows make the same bytes`() throws {
    let contents = try (0..<2).map { _ in
      let files = SimulatedFileSystem()
      let store = try Self.open(files, Self.numbers)
      try Self.insert(5_000, into: store)
      try store.compact()
      let index = try ArchiveFiles.contents(at: "/a", files).index
      let bytes = try files.open("/a", .read).contents(limit: 1 << 20, path: "/a")
      let groups = index.tables[0].flatMap { $0.columns.compactMap { $0?.block } }
      return groups.map { Array(bytes[Int($0.offset)..<Int($0.offset) + $0.length]) }
    }
    #expect(contents[0] == contents[1] && !contents[0].isEmpty)
  }

  @Test func `columns of a chunk from a file have its rows, before and after rows are appended`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    try Self.insert(10, into: store)
    try store.close()
    let again = try Self.open(files, Self.numbers)
    func counts() throws -> [Int] {
      let rows = try again.fetch(StoreRequest(entity: Self.numbers.entities[0].id), in: again.snapshot())
      let chunk = rows.chunk(0)
      return chunk.columns.map(\.count) + [chunk.versions.count]
    }
    #expect(try counts() == [10, 10, 10, 10])
    try Self.insert(5, into: again)
    #expect(try counts() == [15, 15, 15, 15])
  }

  @Test func `the cache forgets blocks that are gone`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files, Self.numbers)
    let entity = Self.numbers.entities[0]
    // So few rows that all these saves don't leave enough waste for a compaction, which begins with an empty cache.
    try Self.insert(10, into: store)
    for step in 0..<1_200 {
      var changes = ChangeSet()
      try changes.update(RowKey(entity: entity.id, id: 1), ["value": .int(Int64(step))], in: Self.numbers)
      _ = try store.commit(changes)
    }
    #expect(store.cachedBlockCount <= 1_100)
  }
}
