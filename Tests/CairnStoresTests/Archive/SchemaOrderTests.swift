// Archives opened with a schema that has the same names in another order. That every law holds then, and that random
// operations agree, is asked where all stores are (StoreKind).

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct SchemaOrderTests {
  private static func open(
    _ files: SimulatedFileSystem, _ schema: Schema, isReadOnly: Bool = false
  ) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    return try ArchiveStore(
      at: "/a", model: .init(schema: schema), options: options, fileSystem: files,
      clock: { Date(timeIntervalSince1970: 1e9) })
  }

  /// What the file says, with nothing that depends on order: entities by name, and what they have by name.
  private static func dump(_ files: SimulatedFileSystem, path: String = "/a") throws -> [String: NSDictionary]
  {
    let json = Data(try ArchiveDump.json(at: path, on: files))
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    let entities = try #require(object["entities"] as? [[String: Any]])
    return try Dictionary(
      uniqueKeysWithValues: entities.map { (try #require($0["name"] as? String), $0 as NSDictionary) })
  }

  /// An archive with what random operations leave, and the schema that they were about.
  private static func filled(_ seed: UInt64) throws -> (files: SimulatedFileSystem, schema: Schema) {
    let files = SimulatedFileSystem()
    let about = Lock<Schema?>(nil)
    let opened = Lock<ArchiveStore?>(nil)
    try RandomOperations(seed: seed, steps: 60).run(
      subject: { schema, _ in
        about.withLock { $0 = schema }
        let store = try open(files, schema)
        opened.withLock { $0 = store }
        return store
      }, oracle: StoreKind.memory.maker)
    try opened.withLock { try $0?.close() }
    return (files, try #require(about.withLock { $0 }))
  }

  /// Seeds whose runs are about each of the schemas.
  private static let seeds: [UInt64] = Array(1...8)

  @Test(arguments: seeds)
  func `rows opened in any order are the same by name`(_ seed: UInt64) throws {
    let (files, schema) = try Self.filled(seed)
    let before = try Self.dump(files)
    for step: UInt64 in 0..<4 {
      let other = schema.shuffled(seed * 10 + step)
      let store = try Self.open(files, other, isReadOnly: true)
      try ArchiveFiles.pack(store, into: "/b", model: .init(schema: other), on: files)
      #expect(try Self.dump(files, path: "/b") == before)
    }
    #expect(try Self.dump(files) == before)
  }

  /// The first row of an entity with a string, and the name of that.
  private static func someRow(_ schema: Schema, _ store: ArchiveStore) throws -> (key: RowKey, name: String)?
  {
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) where !entity.isAbstract {
      guard let slot = entity.slots.first(where: { $0.type == .string && !$0.name.contains("login") })
      else { continue }
      let request = StoreRequest(entity: entity.id, includesSubentities: false)
      if let key = try store.fetch(request, in: store.snapshot()).keys.first { return (key, slot.name) }
    }
    return nil
  }

  @Test(arguments: seeds)
  func `a save writes what the file's schema says, and a compaction the schema that it was opened with`(
    _ seed: UInt64
  ) throws {
    let (files, schema) = try Self.filled(seed)
    let other = schema.shuffled(seed, keepingKeys: true)
    let model = try ArchiveFiles.contents(at: "/a", files).schema
    let store = try Self.open(files, other)
    guard let (key, name) = try Self.someRow(other, store) else { return }
    var changes = ChangeSet()
    try changes.update(key, [name: .string("in another order")], in: other)
    _ = try store.commit(changes)
    #expect(try ArchiveFiles.contents(at: "/a", files).schema.json == model.json)
    let saved = try Self.dump(files)
    let row = try #require((saved[other[key.entity].name]?["rows"] as? [NSDictionary])?.first)
    #expect((row["values"] as? NSDictionary)?[name] as? String == "in another order")
    try store.compact()
    #expect(try ArchiveFiles.contents(at: "/a", files).schema.json == ArchivedSchema(other, model: nil).json)
    #expect(try Self.dump(files) == saved)
    try store.close()
    try Self.open(files, schema).close()
    #expect(try ArchiveVerifier.findings(at: "/a", on: files).isEmpty)
  }

  /// One-to-one: whichever entity comes first has the key.
  private static func pairs(_ names: [String], extra: Bool = false) throws -> Schema {
    try Schema(
      SchemaDescription(
        entities: names.map { name in
          .init(
            name: name, attributes: [.init("name", .string)],
            relationships: [
              .init(
                "other", to: name == names[0] ? names[1] : names[0], inverse: "other", maxCount: extra ? 0 : 1
              )
            ])
        }))
  }

  @Test func `keys of pairs on the other side are read, and moved by the first commit`() throws {
    let (ab, ba) = (try Self.pairs(["A", "B"]), try Self.pairs(["B", "A"]))
    let files = SimulatedFileSystem()
    let store = try Self.open(files, ab)
    let (a, b) = (ab.entities[0], ab.entities[1])
    let keys = Array(try store.reserveKeys(10, root: a.id))
    _ = try store.reserveKeys(10, root: b.id)
    var changes = ChangeSet()
    for key in keys {
      try changes.insert(RowKey(entity: b.id, id: key), ["name": .string("b\(key)")], in: ab)
      // The odd rows of A have the even ones of B.
      try changes.insert(
        RowKey(entity: a.id, id: key), ["other": key % 2 == 1 ? .key(key + 1) : .null],
        in: ab)
    }
    _ = try store.commit(changes)
    try store.close()
    let before = try Self.dump(files)

    let turned = try Self.open(files, ba)
    let request = StoreRequest(
      entity: ba.entities[0].id,
      predicate: .comparison(.init(.keyPath(["other"]), .notEqual, .constant(.null))))
    #expect(try turned.fetch(request, in: turned.snapshot()).ids == [2, 4, 6, 8, 10])
    // Nothing but the order is different after a commit that changes nothing.
    _ = try turned.commit(ChangeSet())
    #expect(try Self.dump(files) == before)
    var unlinking = ChangeSet()
    try unlinking.update(RowKey(entity: ba.entities[0].id, id: 4), ["other": .null], in: ba)
    _ = try turned.commit(unlinking)
    try turned.close()
    let again = try Self.open(files, ab, isReadOnly: true)
    let snapshot = try again.snapshot()
    let relation = try #require(a.relationship(named: "other"))
    let sources = keys.map { RowKey(entity: a.id, id: $0) }
    let related = try again.related(sources, through: relation, in: snapshot)
    #expect(sources.indices.map { related[$0].first?.id } == [2, nil, nil, nil, 6, nil, 8, nil, 10, nil])
  }

  @Test func `tables that differ in more than order are refused`() throws {
    let ab = try Self.pairs(["A", "B"])
    #expect(SchemaOrder(stored: ab, given: try Self.pairs(["A", "C"])) == nil)
    #expect(SchemaOrder(stored: ab, given: try Self.pairs(["A", "B"], extra: true)) == nil)
    #expect(SchemaOrder(stored: ab, given: try Self.pairs(["B", "A"])) != nil)
    for schema in [Schema.company, .specimen, .registry] {
      var archived = ArchivedSchema(schema, model: nil)
      archived.entities[0].isAbstract.toggle()
      #expect(SchemaOrder(stored: schema, given: try archived.schema) == nil)
      archived = ArchivedSchema(schema, model: nil)
      archived.entities[0].attributes[0].type = "float"
      #expect(SchemaOrder(stored: schema, given: try archived.schema) == nil)
      archived = ArchivedSchema(schema, model: nil)
      archived.entities[0].attributes.append(.init(name: "more", type: "float", isOptional: true))
      #expect(SchemaOrder(stored: schema, given: try archived.schema) == nil)
      #expect(SchemaOrder(stored: try archived.schema, given: schema) == nil)
    }
  }
}
