import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite("Transactions say what a change set changes")
struct TransactionCodingTests {
  static let schemas: [(name: String, schema: Schema)] = [
    ("company", .company), ("specimen", .specimen), ("registry", .registry),
  ]

  @Test("random change sets come back bit for bit", arguments: schemas.indices)
  func comesBack(index: Int) throws {
    let (name, schema) = TransactionCodingTests.schemas[index]
    for seed in UInt64(1)...150 {
      var samples = TransactionSamples(seed: seed, schema)
      let changes = samples.changes()
      let bytes = try TransactionCoding.encode(changes, schema: schema)
      let decoded = try TransactionCoding.decode(bytes, schema: schema)
      #expect(areSame(decoded, changes), "\(name), seed \(seed)")
      #expect(decoded.updates.allSatisfy { $0.versions == nil })
      #expect(try TransactionCoding.encode(decoded, schema: schema) == bytes, "\(name), seed \(seed)")
    }
  }

  @Test("rows of several blocks come back bit for bit, in one batch")
  func comesBackInBlocks() throws {
    for count in [1000, 1001, 16_384, 16_385, 40_000] {
      var samples = TransactionSamples(seed: UInt64(count), .specimen)
      var changes = ChangeSet()
      changes.inserts = [samples.inserts(count)]
      changes.updates = [samples.updates(count)]
      changes.deletes = [.init(entity: changes.inserts[0].entity, keys: samples.keys(count))]
      let bytes = try TransactionCoding.encode(changes, schema: .specimen)
      #expect(areSame(try TransactionCoding.decode(bytes, schema: .specimen), changes), "\(count) rows")
      #expect(bytes[0] == (count > 1000 ? 0x11 : 0x01))
    }
  }

  @Test(
    "each type's edges come back bit for bit alone, in a few rows, and in a block",
    arguments: ValueType.allCases)
  func edgesComeBack(type: ValueType) throws {
    let entity = Schema.specimen.entities[0]
    let slot = try #require(entity.slots.firstIndex { $0.type == type })
    let edges = EncodingSamples.edges(type)
    var lists = edges.map { [$0] }
    lists += [edges, [.null] + edges + [.null], [.null], [.null, .null]]
    lists.append((0..<1200).map { $0 % 7 == 0 ? .null : edges[$0 % edges.count] })
    for values in lists {
      var changes = ChangeSet()
      let column = EncodingSamples.column(values, type)
      let keys = (1...Int64(values.count)).map { 3 * $0 }
      changes.updates = [
        .init(entity: entity.id, keys: keys, versions: nil, slots: [slot], columns: [column])
      ]
      let bytes = try TransactionCoding.encode(changes, schema: .specimen)
      let decoded = try TransactionCoding.decode(bytes, schema: .specimen)
      #expect(areSame(decoded, changes), "\(type), \(values.count) values")
      #expect(decoded.updates[0].columns[0].zone == column.zone, "\(type), \(values.count) values")
    }
  }

  @Test("a signalling NaN comes back as it was")
  func signallingNaN() throws {
    let entity = Schema.specimen.entities[0]
    let slot = try #require(entity.slot(named: "float"))
    var zone = Zone()
    zone.mayHoldNaN = true
    let column = Column.raw(type: .float, layout: .float, count: 1, nulls: nil, zone: zone) {
      $0.storeBytes(of: 0x7FA0_0001, as: UInt32.self)
    }
    var changes = ChangeSet()
    changes.updates = [.init(entity: entity.id, keys: [1], versions: nil, slots: [slot], columns: [column])]
    let decoded = try TransactionCoding.decode(
      TransactionCoding.encode(changes, schema: .specimen), schema: .specimen)
    #expect(decoded.updates[0].columns[0].rawValues.load(as: UInt32.self) == 0x7FA0_0001)
  }

  @Test("the bytes depend on the values, not on how columns hold them")
  func ignoresLayout() throws {
    let words = (0..<900).map { Value.string(["ant", "bee", ""][$0 * $0 % 3]) }
    let spread = EncodingSamples.column(words, .string)
    let coded = Chunk.make(
      entity: EntityID(1), types: [.string], keys: (1...900).map { Int64($0) }, columns: [spread],
      range: 0..<900
    ).columns[0]
    #expect(coded.layout == .codes && spread.layout == .bytes)
    let entity = Schema.specimen.entities[0]
    let slot = try #require(entity.slot(named: "string"))
    let encoded = try [coded, spread].map { column in
      var changes = ChangeSet()
      changes.updates = [
        .init(
          entity: entity.id, keys: (1...900).map { Int64($0) }, versions: nil, slots: [slot],
          columns: [column]
        )
      ]
      return try TransactionCoding.encode(changes, schema: .specimen)
    }
    #expect(encoded[0] == encoded[1])
  }

  @Test("what changes nothing takes no bytes")
  func leavesOutNothing() throws {
    var changes = ChangeSet(author: "me", contextName: "view")
    #expect(try TransactionCoding.encode(changes, schema: .company) == [])
    let room = try Schema.company.requireEntity(named: "Room")
    let nothing = [Column?](repeating: nil, count: room.slots.count)
    changes.inserts = [.init(entity: room.id, keys: [], columns: nothing)]
    changes.updates = [.init(entity: room.id, keys: [1, 2], versions: [1, 1], slots: [], columns: [])]
    changes.deletes = [.init(entity: room.id, keys: [])]
    #expect(try TransactionCoding.encode(changes, schema: .company) == [])
    #expect(try TransactionCoding.decode([], schema: .company).isEmpty)
  }

  @Test("small changes take a few bytes")
  func isSmall() throws {
    let schema = Schema.company
    let person = try schema.requireEntity(named: "Person")
    func size(_ fill: (inout ChangeSet) throws -> Void) throws -> Int {
      var changes = ChangeSet()
      try fill(&changes)
      return try TransactionCoding.encode(changes, schema: schema).count
    }
    let key = RowKey(entity: person.id, id: 150_000)
    #expect(try size { try $0.update(key, version: 7, ["rank": .int(-5000)], in: schema) } <= 10)
    #expect(try size { try $0.update(key, ["rank": .null], in: schema) } <= 8)
    #expect(try size { $0.delete(key, version: 7) } <= 6)
    // 2 bytes of which slots, 9 of a string, 2 of an age, 8 of a height.
    #expect(
      try size {
        try $0.insert(
          key, ["name": .string("Adelaide"), "age": .int(40), "height": .double(1.7)], in: schema)
      } <= 28)
    let friends = try #require(person.relationship(named: "friends"))
    #expect(
      try size { $0.links = [.init(friends, of: key, .add([RowKey(entity: person.id, id: 150_001)]))] } <= 14)
  }

  @Test("one attribute changed in every tenth of many rows takes a few bytes a row")
  func isSmallInBlocks() throws {
    let entity = Schema.specimen.entities[0]
    let slot = try #require(entity.slot(named: "int32"))
    let keys = (0..<33_000).map { Int64(10 * $0 + 1) }
    let values = keys.map { Value.int(($0 &* 7919) % 1000) }
    var changes = ChangeSet()
    changes.updates = [
      .init(
        entity: entity.id, keys: keys, versions: nil, slots: [slot],
        columns: [EncodingSamples.column(values, .int32)])
    ]
    #expect(try TransactionCoding.encode(changes, schema: .specimen).count < 2 * keys.count)
    changes.updates = []
    changes.deletes = [.init(entity: entity.id, keys: keys)]
    #expect(try TransactionCoding.encode(changes, schema: .specimen).count < keys.count / 50)
  }

  @Test("a column of nulls among inserts does what none does, also to places in lists")
  func nullsAreNone() throws {
    let room = try Schema.company.requireEntity(named: "Room")
    let (dept, order) = (
      try #require(room.slot(named: "dept")), try #require(room.slot(named: "dept.#order"))
    )
    let places = try [nil, EncodingSamples.column([.null], .key)].map { owners in
      let store = MemoryStore(schema: .company)
      var columns = [Column?](repeating: nil, count: room.slots.count)
      columns[dept] = owners
      columns[order] = EncodingSamples.column([.int(5)], .int64)
      var changes = ChangeSet()
      let key = try store.reserveKeys(1, root: room.root).lowerBound
      changes.inserts = [.init(entity: room.id, keys: [key], columns: columns)]
      _ = try store.commit(changes)
      return try store.rows([RowKey(entity: room.id, id: key)], in: store.snapshot()).chunk(0).columns[order]
        .value(0)
    }
    #expect(places == [.null, .null])
  }

  @Test("what can't be written is refused with what is wrong", arguments: UnfitChanges.all)
  func refuses(unfit: UnfitChanges) {
    #expect(throws: StoreError(unfit.code, "")) {
      try TransactionCoding.encode(unfit.changes, schema: .company)
    }
  }
}

/// A change set that no reader could read.
struct UnfitChanges: CustomStringConvertible, Sendable {
  let description: String
  let code: StoreError.Code
  let changes: ChangeSet

  static let all: [UnfitChanges] = {
    let schema = Schema.company
    let room = schema.entity(named: "Room")!
    let thing = schema.entity(named: "Thing")!
    let rooms = schema.entity(named: "Department")!.relationship(named: "rooms")!
    let nulls = [Column?](repeating: nil, count: room.slots.count)
    func insert(_ entity: EntityID, _ keys: [Int64], _ columns: [Column?]) -> ChangeSet {
      var changes = ChangeSet()
      changes.inserts = [.init(entity: entity, keys: keys, columns: columns)]
      return changes
    }
    func update(_ slots: [Int], _ columns: [Column]) -> ChangeSet {
      var changes = ChangeSet()
      changes.updates = [.init(entity: room.id, keys: [1], versions: nil, slots: slots, columns: columns)]
      return changes
    }
    func delete(_ entity: EntityID, _ keys: [Int64]) -> ChangeSet {
      var changes = ChangeSet()
      changes.deletes = [.init(entity: entity, keys: keys)]
      return changes
    }
    func link(_ relationship: RelationshipID, _ owner: RowKey, _ members: [RowKey]) -> ChangeSet {
      var changes = ChangeSet()
      changes.links = [.init(relationship, of: owner, .add(members))]
      return changes
    }
    let number = EncodingSamples.column([.int(1)], .int64)
    let two = EncodingSamples.column([.int(1), .int(2)], .int64)
    let text = EncodingSamples.column([.string("a")], .string)
    let negativeKey = ColumnBuilder(.key)
    negativeKey.append(Int64(-1))
    let keySlot = room.slots.firstIndex { $0.type == .key }!
    let unreadable = Column.damaged(type: .int64, count: 1, StoreError(.corrupt, "unreadable"))
    let roomKey = RowKey(entity: room.id, id: 1)
    let department = RowKey(entity: schema.entity(named: "Department")!.id, id: 1)
    let unknown = EntityID(schema.entities.count)
    return [
      .init(description: "unknown entity", code: .unknownEntity, changes: delete(unknown, [1])),
      .init(description: "abstract entity", code: .abstractEntity, changes: delete(thing.id, [1])),
      .init(description: "key 0", code: .malformedChangeSet, changes: delete(room.id, [0])),
      .init(description: "equal keys", code: .malformedChangeSet, changes: delete(room.id, [2, 2])),
      .init(description: "descending", code: .malformedChangeSet, changes: insert(room.id, [2, 1], nulls)),
      .init(description: "few columns", code: .malformedChangeSet, changes: insert(room.id, [1], [])),
      .init(description: "few values", code: .malformedChangeSet, changes: update([0, 1], [number])),
      .init(description: "many rows", code: .malformedChangeSet, changes: update([0], [two])),
      .init(
        description: "slot twice", code: .malformedChangeSet, changes: update([0, 0], [number, number])),
      .init(description: "unknown slot", code: .unknownProperty, changes: update([9], [number])),
      .init(description: "other type", code: .wrongType, changes: update([0], [text])),
      .init(description: "value", code: .wrongType, changes: update([keySlot], [negativeKey.finish()])),
      .init(description: "damaged column", code: .corrupt, changes: update([0], [unreadable])),
      .init(
        description: "unknown relationship", code: .unknownProperty,
        changes: link(RelationshipID(schema.relationships.count), department, [])),
      .init(
        description: "owner of another entity", code: .danglingReference, changes: link(rooms, roomKey, [])),
      .init(
        description: "member of another entity", code: .danglingReference,
        changes: link(rooms, department, [roomKey, department])),
      .init(
        description: "unknown member", code: .unknownEntity,
        changes: link(rooms, department, [RowKey(entity: unknown, id: 1)])),
    ]
  }()
}
