// The golden archives that readers accept: how each is made, always the same. A new one goes into `accepted`;
// what no writer of ours makes is put together by hand (ArchiveParts).

import CairnModel
import Foundation

@testable import CairnStores

enum Golden {
  static let uuid = UUID(uuidString: "C0FFEE00-1234-4ABC-8DEF-0123456789AB")!
  /// 2001-01-01T00:00:00Z and a thousand days.
  static let time = Date(timeIntervalSinceReferenceDate: 86_400_000)

  /// An archive that is being made in memory.
  struct Making {
    let files = SimulatedFileSystem()
    let store: ArchiveStore

    init(
      _ schema: Schema, profile: ArchiveStore.Profile = .default, source: String? = nil,
      leastFooter: Int = 1024, leastBlob: Int = ArchiveBlob.leastSize
    ) throws {
      var options = ArchiveStore.Options()
      options.leastBlob = leastBlob
      options.profile = profile
      options.leastFooter = leastFooter
      var model = ArchiveStore.Model(schema: schema)
      model.source = source
      model.versionHashes = ["Thing": Data([1, 2, 3])]
      model.versionIdentifiers = ["1", "eins"]
      store = try ArchiveStore(
        at: "/a", model: model, options: options, fileSystem: files, clock: { Golden.time }, uuid: Golden.uuid
      )
    }

    func keys(_ name: String, _ count: Int) throws -> [RowKey] {
      let entity = try store.schema.requireEntity(named: name)
      return try store.reserveKeys(count, root: entity.root).map { RowKey(entity: entity.id, id: $0) }
    }

    func save(_ body: (inout ChangeSet) throws -> Void) throws {
      var changes = ChangeSet()
      try body(&changes)
      _ = try store.commit(changes)
    }

    func relationship(_ entity: String, _ name: String) throws -> RelationshipID {
      try store.schema.requireEntity(named: entity).relationship(named: name)!
    }

    func bytes() throws -> [UInt8] {
      try files.open("/a", .read).contents(limit: 1 << 22, path: "/a")
    }
  }

  // MARK: Schemas

  static let one = try! Schema(
    SchemaDescription(entities: [
      .init(name: "Note", attributes: [.init("number", .int32), .init("text", .string)])
    ]))

  static let types = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "All",
        attributes: ValueType.allCases.filter { $0 != .key }.map {
          .init("the_\(ArchivedSchema.name(of: $0))", $0)
        })
    ]))

  /// Inheritance, composites, and relationships of every kind.
  static let library = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Thing", isAbstract: true, attributes: [.init("name", .string), .init("added", .date)],
        relationships: [.init("tags", to: "Tag", inverse: "things", isOrdered: true)],
        indexes: [.init("byName", ["name"])]),
      .init(
        name: "Person", superentity: "Thing", attributes: [.init("age", .int16)],
        relationships: [
          .init("books", to: "Book", inverse: "author", isOrdered: true, deleteRule: .cascade),
          .init("spouse", to: "Person", inverse: "spouse", maxCount: 1),
          .init("friends", to: "Person", inverse: "friends"),
          .init("favourite", to: "Book", maxCount: 1, deleteRule: .noAction),
        ]),
      .init(
        name: "Author", superentity: "Person", attributes: [.init("score", .double)],
        uniquenessConstraints: [["score"]]),
      .init(
        name: "Book", superentity: "Thing", attributes: [.init("pages", .int32)],
        relationships: [
          .init("author", to: "Person", inverse: "books", maxCount: 1),
          .init("shelf", to: "Shelf", inverse: "books", maxCount: 1),
          .init("sequel", to: "Book", inverse: "prequel", maxCount: 1),
          .init("prequel", to: "Book", inverse: "sequel", maxCount: 1),
        ]),
      .init(
        name: "Shelf",
        attributes: [
          .init("label", .uri),
          .init(
            "place",
            .composite([
              .init("x", .value(.double)),
              .init("in", .composite([.init("y", .value(.decimal)), .init("level", .value(.bool))])),
            ])),
        ],
        relationships: [.init("books", to: "Book", inverse: "shelf", deleteRule: .deny)]),
      .init(
        name: "Tag", attributes: [.init("word", .string, isOptional: false)],
        relationships: [
          .init("things", to: "Thing", inverse: "tags"),
          .init("seeAlso", to: "Tag", minCount: 0, maxCount: 9),
        ]),
    ]))

  // MARK: Archives

  static let accepted: [(name: String, make: @Sendable () throws -> [UInt8])] = [
    ("empty", { try Making(library, source: "<model/>").bytes() }),
    ("one-row", { try oneRow().bytes() }),
    ("types", { try allTypes(.default).bytes() }),
    ("types-fastest", { try allTypes(.fastest).bytes() }),
    ("types-smallest", { try allTypes(.smallest).bytes() }),
    ("encodings", { try encodings().bytes }),
    ("related", { try related().bytes }),
    ("items", { try items().bytes }),
    ("relationships", { try books().bytes() }),
    ("inheritance", { try inheritance().bytes() }),
    ("composite", { try composite().bytes() }),
    ("ordered", { try ordered().bytes() }),
    ("many-to-many", { try manyToMany().bytes() }),
    ("several-saves", { try severalSaves(leastFooter: 1024).bytes() }),
    ("difference", { try severalSaves(leastFooter: 0).bytes() }),
    ("updates", { try updates().bytes() }),
    ("deleted", { try deleted().bytes() }),
    ("dangling", { try dangling().bytes() }),
    ("sparse-keys", { try sparseKeys().bytes() }),
    ("non-ascii", { try nonASCII().bytes() }),
    ("metadata", { try metadata().bytes() }),
    ("compacted", { try compacted().bytes() }),
    ("copies", { try copies().bytes() }),
    ("blobs", { try blobs().bytes() }),
    ("parts", { try parts() }),
    ("long-varints", { try longVarints() }),
    ("no-utf8", { try noUTF8() }),
    ("minor-version", { try changedHeader { ArchiveParts.put(UInt16(7), 10, &$0) } }),
    (
      "unknown-features",
      {
        try changedHeader {
          ArchiveParts.put(UInt64(5) << 40, 16, &$0)
          ArchiveParts.put(UInt64(3), 24, &$0)
        }
      }
    ),
    ("slot-damaged", { try severalSaves(leastFooter: 1024).bytes().zeroing(80..<144) }),
    ("slots-damaged", { try severalSaves(leastFooter: 1024).bytes().zeroing(90..<92).zeroing(170..<180) }),
    (
      "unfinished-save", { try severalSaves(leastFooter: 1024).bytes() + [UInt8](repeating: 0xA5, count: 99) }
    ),
  ]

  /// A file that was written at once, and a save with metadata behind it.
  static func copies() throws -> Making {
    let making = try oneRow()
    try making.store.compact()
    making.store.metadata.userEntries = ["note": .string("saved")]
    let key = try making.keys("Note", 1)[0]
    try making.save { try $0.insert(key, ["number": .int(8)], in: one) }
    return making
  }

  static let album = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Photo",
        attributes: [
          .init("name", .string), .init("image", .data, allowsExternalStorage: true),
          .init("coded", .transformable, allowsExternalStorage: true),
        ])
    ]))

  /// Values of 8 bytes or more are kept apart: in several parts, some of which later blocks of their columns go on with.
  static func blobs() throws -> Making {
    let making = try Making(album, leastBlob: 8)
    let keys = try making.keys("Photo", 5)
    func bytes(_ count: Int, _ first: UInt8) -> Value { .data(Data((0..<count).map { first &+ UInt8($0) })) }
    try making.save { changes in
      for (number, key) in keys.enumerated() {
        try changes.insert(
          key,
          [
            "name": .string("p\(number)"),
            "image": number == 1 ? .null : bytes(4 * number, UInt8(number)),
            "coded": .data(Data(repeating: UInt8(number), count: 100 * number)),
          ], in: album)
      }
    }
    try making.save {
      try $0.update(keys[2], ["image": bytes(9, 200)], in: album)
      try $0.update(keys[4], ["coded": .null], in: album)
    }
    try making.store.compact()
    try making.save { try $0.update(keys[3], ["image": bytes(3, 0)], in: album) }
    return making
  }

  static func oneRow() throws -> Making {
    let making = try Making(one)
    let key = try making.keys("Note", 1)[0]
    try making.save { try $0.insert(key, ["number": .int(7), "text": .string("Grüße")], in: one) }
    return making
  }

  /// The values of a type at which something changes.
  static func edges(_ type: ValueType) -> [Value] {
    let doubles: [Double] = [
      0, -0.0, 1, -1, 0.1, 1.25, -12.34, 1e300, -1e-300, .infinity, -.infinity, .nan,
      Double(nan: 0x1234, signaling: false), .leastNonzeroMagnitude, .greatestFiniteMagnitude,
      9_007_199_254_740_992, 1e15, 1e16, 123_456.789,
    ]
    switch type {
    case .int16: return [0, 1, -1, 127, 128, -129, 32767, -32768].map { .int($0) }
    case .int32: return [0, 1, -1, 32768, Int64(Int32.max), Int64(Int32.min)].map { .int($0) }
    case .int64: return [0, 1, -1, 1 << 53, -1 << 52, .max, .min, .max - 1].map { .int($0) }
    case .bool: return [.bool(true), .bool(false)]
    case .key: return []
    case .double: return doubles.map { .double($0) }
    case .date:
      return (doubles + [-978_307_200, 700_000_000.125]).map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .float:
      return [
        0, -0.0, 1, 0.1, -12.34, 1e30, .infinity, .nan, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        16_777_216,
      ].map { .float($0) }
    case .decimal:
      return [
        "0", "1", "-1", "0.1", "-12.34", "1.00", "340282366920938463463374607431768211455", "1e127", "1e-128",
        "-70000e3", "1000", "0.00001",
      ].map { .decimal(Decimal(string: $0)!) } + [.decimal(.nan)]
    case .uuid:
      return [
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "12345678-9ABC-DEF0-1234-56789ABCDEF0", "80000000-0000-0000-8000-000000000001",
      ].map { .uuid(UUID(uuidString: $0)!) }
    case .string, .uri:
      let texts = [
        "", "a", "\0", "a\0b\n\t\"\\/", "e\u{301}", "\u{e9}", "\u{1F600}", "\u{FEFF}x", "\u{7F}\u{2028}",
        "prefix-one", "prefix-two", "prefix-two-three", String(repeating: "z", count: 70),
      ]
      return texts.map { type == .string ? .string($0) : .uri($0) }
    case .data, .transformable:
      return [Data(), Data([0]), Data([0xFF, 0xC0, 0x80]), Data(0...255), Data(repeating: 7, count: 90)].map {
        .data($0)
      }
    }
  }

  static func allTypes(_ profile: ArchiveStore.Profile, rows: Int = 40) throws -> Making {
    let making = try Making(types, profile: profile)
    let entity = types.entities[0]
    let keys = try making.keys("All", rows)
    try making.save { changes in
      for (row, key) in keys.enumerated() {
        var values: [String: Value] = [:]
        for (number, slot) in entity.slots.enumerated() {
          let edges = edges(slot.type)
          // Each value once, then nulls between them, in another rhythm for each column.
          let isNull = row >= edges.count && (row + number) % 3 == 0
          values[slot.name] = isNull ? .null : edges[row % edges.count]
        }
        try changes.insert(key, values, in: types)
      }
    }
    return making
  }

  /// Every form of every type, as no encoder of ours would choose them, and which forms there are.
  static func encodings() throws -> (bytes: [UInt8], used: Set<String>) {
    // The first number with which chance picks every form.
    for seed in UInt64(1)... {
      let made = try encodings(seed)
      if made.used.isSuperset(of: allForms) { return made }
    }
    fatalError("no number is left")
  }

  /// Every form of Formats/encodings.md.
  static let allForms: Set<String> = Set(
    [
      ("nulls", 0...4), ("stream", 1...10), ("floating", 1...2), ("uuid", 1...3), ("texts", 1...5),
      ("inner texts", 1...2),
    ].flatMap { what, forms in forms.map { "\(what) \($0)" } } + ["decimal"])

  /// Every way in which a slot follows from others.
  static let allRelations: Set<String> = Set(
    [("nulls", 5...5), ("relation", 1...5), ("sum", 1...6), ("view", 0...1)].flatMap { what, forms in
      forms.map { "\(what) \($0)" }
    })

  /// Numbers, doubles and a string of few values, so that they follow from each other now and then.
  static let numbered = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Row",
        attributes: (0..<8).map { .init("n\($0)", $0 % 2 == 0 ? .int32 : .int64) } + [
          .init("s", .string), .init("d", .double), .init("f", .float), .init("b", .bool), .init("t", .date),
          .init("e", .double),
        ])
    ]))

  static func related() throws -> (bytes: [UInt8], used: Set<String>) {
    let making = try Making(numbered)
    var numbers = FixedNumbers(seed: 5)
    let keys = try making.keys("Row", 24)
    try making.save { changes in
      for key in keys {
        var values: [String: Value] = [
          "s": .string(["a", "b", ""][numbers.below(3)]), "b": .bool(numbers.below(2) == 0),
        ]
        for number in 0..<8 { values["n\(number)"] = .int(Int64(numbers.below(2400)) - 200) }
        values["d"] = .double([0, -0.0, 0.5, 7, .nan][numbers.below(5)])
        values["e"] = .double(Double(numbers.below(9)))
        values["f"] = .float(Float(numbers.below(4)))
        values["t"] = .date(Date(timeIntervalSinceReferenceDate: Double(numbers.below(5)) * 3600))
        for name in values.keys.sorted() where numbers.below(7) == 0 { values[name] = nil }
        try changes.insert(key, values, in: numbered)
      }
    }
    for seed in UInt64(1)... {
      var parts = try ArchiveParts(try making.bytes())
      var odd = OddPayload(seed: seed)
      try parts.split(into: [7, 6, 6, 5], groups: [2, 1, 1])
      try parts.makeBlocksOdd(&odd, sharing: false, relating: 9)
      if odd.used.isSuperset(of: allRelations) { return (try parts.bytes(), odd.used) }
    }
    fatalError("no number is left")
  }

  /// Texts, some of which are items of others.
  static func items() throws -> (bytes: [UInt8], used: Set<String>) {
    let schema = try Schema(
      SchemaDescription(entities: [
        .init(
          name: "Row",
          attributes: [.init("s", .string), .init("t", .string), .init("u", .uri), .init("d", .data)])
      ]))
    let making = try Making(schema)
    var numbers = FixedNumbers(seed: 8)
    let keys = try making.keys("Row", 24)
    try making.save { changes in
      for key in keys {
        let items = (0..<1 + numbers.below(4)).map { _ in ["x", "", "Grüße", "yy"][numbers.below(4)] }
        let texts = [items.joined(separator: "-"), items[numbers.below(items.count)], items[0]]
        try changes.insert(
          key,
          [
            "s": numbers.below(7) == 0 ? .null : .string(texts[0]),
            "t": numbers.below(7) == 0 ? .null : .string(texts[1]), "u": .uri(texts[2]),
            "d": .data(Data((numbers.below(3) == 0 ? "other" : texts[1]).utf8)),
          ], in: schema)
      }
    }
    for seed in UInt64(1)... {
      var parts = try ArchiveParts(try making.bytes())
      var odd = OddPayload(seed: seed)
      try parts.split(into: [7, 6, 6, 5], groups: [2, 1, 1])
      try parts.makeBlocksOdd(&odd, sharing: false, relating: 9)
      if odd.used.isSuperset(of: ["relation 6", "nulls 5", "texts 5"]), odd.itemCount > 20 {
        return (try parts.bytes(), odd.used)
      }
    }
    fatalError("no number is left")
  }

  private static func encodings(_ seed: UInt64) throws -> (bytes: [UInt8], used: Set<String>) {
    var parts = try ArchiveParts(try allTypes(.fastest, rows: 22).bytes())
    var odd = OddPayload(seed: seed)
    // Four groups with blocks of their own give chance more to choose.
    try parts.split(into: [8, 8, 5, 1], groups: [1, 1, 1, 1])
    try parts.makeBlocksOdd(&odd, sharing: false)
    return (try parts.bytes(), odd.used)
  }

  /// Two authors, a person, three books, a shelf.
  static func books(source: String? = nil) throws -> Making {
    let making = try Making(library, source: source)
    let people = try making.keys("Person", 1) + making.keys("Author", 2)
    let books = try making.keys("Book", 3)
    let shelf = try making.keys("Shelf", 1)[0]
    try making.save {
      try $0.insert(
        shelf, ["label": .uri("https://example.org/shelf"), "place.x": .double(1.5)], in: library)
      try $0.insert(
        people[0], ["name": .string("Ann"), "age": .int(31), "spouse": .key(people[1].id)], in: library)
      for (number, author) in people.dropFirst().enumerated() {
        try $0.insert(
          author, ["name": .string("Author \(number)"), "score": .double(Double(number) / 3)], in: library)
      }
      for (number, book) in books.enumerated() {
        try $0.insert(
          book,
          [
            "name": .string("Book \(number)"), "pages": .int(Int64(100 * number)),
            "author": .key(people[1 + number % 2].id), "shelf": number == 1 ? .null : .key(shelf.id),
            "sequel": number < 2 ? .key(books[number + 1].id) : .null,
          ], in: library)
      }
    }
    try making.save { try $0.update(people[0], ["favourite": .key(books[2].id)], in: library) }
    return making
  }

  static func inheritance() throws -> Making {
    let making = try Making(library)
    // One space of keys for the hierarchy, taken by turns.
    for round in 0..<3 {
      let person = try making.keys("Person", 1)[0]
      let author = try making.keys("Author", 1)[0]
      let book = try making.keys("Book", 1)[0]
      try making.save {
        try $0.insert(person, ["name": .string("p\(round)"), "age": .int(Int64(round))], in: library)
        try $0.insert(author, ["name": .string("a\(round)"), "score": .double(Double(round))], in: library)
        try $0.insert(book, ["name": .string("b\(round)"), "author": .key(author.id)], in: library)
      }
    }
    return making
  }

  static func composite() throws -> Making {
    let making = try Making(library)
    let keys = try making.keys("Shelf", 3)
    try making.save {
      try $0.insert(
        keys[0],
        [
          "place.x": .double(-0.0), "place.in.y": .decimal(Decimal(string: "1.50")!),
          "place.in.level": .bool(true),
        ],
        in: library)
      try $0.insert(keys[1], ["place.in.level": .bool(false)], in: library)
      try $0.insert(keys[2], ["label": .uri("x:y")], in: library)
    }
    return making
  }

  static func ordered() throws -> Making {
    let making = try books()
    let author = RowKey(entity: try library.requireEntity(named: "Author").id, id: 2)
    let book = try library.requireEntity(named: "Book").id
    let more = try making.keys("Book", 3)
    try making.save { for key in more { try $0.insert(key, ["author": .key(author.id)], in: library) } }
    let order = [more[2], RowKey(entity: book, id: 4), more[0], RowKey(entity: book, id: 6), more[1]]
    let books = try making.relationship("Person", "books")
    try making.save { $0.links.append(.init(books, of: author, .replace(order))) }
    return making
  }

  static func manyToMany() throws -> Making {
    let making = try books()
    let tags = try making.keys("Tag", 4)
    let person = RowKey(entity: try library.requireEntity(named: "Person").id, id: 1)
    let author = RowKey(entity: try library.requireEntity(named: "Author").id, id: 2)
    try making.save {
      for (number, tag) in tags.enumerated() {
        try $0.insert(tag, ["word": .string("tag \(number)")], in: library)
      }
      $0.links = [
        .init(try making.relationship("Person", "tags"), of: person, .add([tags[3], tags[0], tags[1]])),
        .init(try making.relationship("Tag", "things"), of: tags[0], .add([author])),
        .init(try making.relationship("Tag", "seeAlso"), of: tags[0], .add([tags[0], tags[2]])),
        .init(try making.relationship("Person", "friends"), of: person, .add([author, person])),
      ]
    }
    try making.save {
      $0.links = [
        .init(try making.relationship("Person", "tags"), of: person, .replace([tags[1], tags[3], tags[2]]))
      ]
    }
    return making
  }

  static func severalSaves(leastFooter: Int) throws -> Making {
    let making = try Making(one, leastFooter: leastFooter)
    for step in 0..<5 {
      let keys = try making.keys("Note", 2)
      try making.save {
        for key in keys { try $0.insert(key, ["number": .int(key.id * 10)], in: one) }
        if step > 1 {
          try $0.update(RowKey(entity: keys[0].entity, id: 2), ["text": .string("\(step)")], in: one)
        }
      }
    }
    return making
  }

  static func updates() throws -> Making {
    let making = try severalSaves(leastFooter: 0)
    let note = one.entities[0].id
    for round in 0..<3 {
      try making.save {
        for id in [1, 4, 9] where id > round {
          try $0.update(RowKey(entity: note, id: Int64(id)), ["number": .int(Int64(round * id))], in: one)
        }
      }
    }
    return making
  }

  static func deleted() throws -> Making {
    let making = try severalSaves(leastFooter: 1024)
    let note = one.entities[0].id
    try making.save { for id in [1, 5, 10] { $0.delete(RowKey(entity: note, id: Int64(id))) } }
    return making
  }

  static func dangling() throws -> Making {
    let making = try books()
    let book = try library.requireEntity(named: "Book").id
    try making.save {
      $0.delete(RowKey(entity: book, id: 5))
      $0.delete(RowKey(entity: book, id: 6))
    }
    return making
  }

  static func sparseKeys() throws -> Making {
    let making = try Making(one)
    for step in [3, 1, 4, 1, 5, 900, 2] {
      let key = try making.keys("Note", step).last!
      try making.save { try $0.insert(key, ["number": .int(Int64(step))], in: one) }
    }
    return making
  }

  static func nonASCII() throws -> Making {
    let schema = try Schema(
      SchemaDescription(entities: [
        .init(
          name: "Größe 🗄", attributes: [.init("名前", .string)],
          relationships: [.init("ελιά \"\\", to: "Größe 🗄", maxCount: 1)])
      ]))
    let making = try Making(schema, source: "<модель/>\n")
    let keys = try making.keys("Größe 🗄", 2)
    try making.save {
      try $0.insert(keys[0], ["名前": .string("Zürich, 東京, \u{1F1E8}\u{1F1ED}")], in: schema)
      try $0.insert(keys[1], ["ελιά \"\\": .key(keys[0].id)], in: schema)
    }
    return making
  }

  static func metadata() throws -> Making {
    let making = try Making(one, source: "text")
    making.store.metadata.userEntries = [
      "int": .int(.min), "bool": .bool(true), "double": .double(-0.0),
      "nan": .double(Double(nan: 1, signaling: false)),
      "float": .float(1.5), "date": .date(Golden.time), "decimal": .decimal(Decimal(string: "-12.5")!),
      "no decimal": .decimal(.nan), "string": .string("ä\0"), "uri": .uri("a:b"), "uuid": .uuid(uuid),
      "data": .data(Data([0, 255])), "": .string(""),
    ]
    try making.store.close()
    return making
  }

  static func compacted() throws -> Making {
    let making = try deleted()
    try making.store.compact()
    return making
  }

  // MARK: By hand

  /// Chunks that share blocks: a group of two, and one that goes on with the third part of the same blocks.
  static func parts() throws -> [UInt8] {
    var parts = try ArchiveParts(try allTypes(.default).bytes())
    try parts.split(into: [20, 11, 9], groups: [2, 1])
    return try parts.bytes()
  }

  static func longVarints() throws -> [UInt8] {
    var parts = try ArchiveParts(try books().bytes())
    parts.footer.leastVarint = 7
    return try parts.bytes()
  }

  static func noUTF8() throws -> [UInt8] {
    var parts = try ArchiveParts(try oneRow().bytes())
    let builder = ColumnBuilder(.data)
    try builder.append(value: .data(Data([0x41, 0xFF, 0xE2, 0x82])))
    parts.replaceBlock(\.splices[0].groups[0].references[1], [builder.finish()])
    return try parts.bytes()
  }

  static func changedHeader(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
    var bytes = try oneRow().bytes()
    var header = Array(bytes[..<76])
    change(&header)
    var checksum: [UInt8] = [0, 0, 0, 0]
    ArchiveParts.put(Checksum.crc32(header), 0, &checksum)
    bytes.replaceSubrange(..<80, with: header + checksum)
    return bytes
  }
}

extension [UInt8] {
  func zeroing(_ range: Range<Int>) -> [UInt8] {
    var copy = self
    for i in range { copy[i] = 0 }
    return copy
  }

  func changing(_ offset: Int, _ change: (UInt8) -> UInt8) -> [UInt8] {
    var copy = self
    copy[offset] = change(copy[offset])
    return copy
  }
}

extension ArchiveParts {
  /// The columns of the first block at a reference.
  func columns(_ reference: FooterParts.Reference, _ type: ValueType) throws -> [Column] {
    let bytes = block(reference)
    let (header, _) = try BlockHeader.read(bytes[..<32])
    return try ColumnBlock.decode(header, Array(bytes[32...]), type: type, decoder: ColumnDecoder()) { _, _ in
      []
    }
  }

  /// Puts a block of these columns in the place of a reference's, as our encoder writes it.
  mutating func replaceBlock(
    _ reference: WritableKeyPath<FooterParts, FooterParts.Reference>, _ columns: [Column]
  ) {
    let encoded = ColumnEncoder(effort: .default).encode(columns, type: columns[0].type)
    changeBlock(reference) { header, stored in
      stored = [UInt8(columns.count)]
      for column in columns { stored += [UInt8(truncatingIfNeeded: column.count), UInt8(column.count >> 8)] }
      stored += encoded.bytes
      header[5] = encoded.codec.rawValue
      ArchiveParts.put(UInt32(columns.reduce(0) { $0 + $1.count }), 16, &header)
      ArchiveParts.put(UInt32(encoded.rawLength), 20, &header)
    }
  }

  /// Chunks of `counts` rows in the place of the only chunk of the only table, whose keys are dense; each of
  /// `groups` takes so many of them. All share the blocks, which are written as parts.
  mutating func split(into counts: [Int], groups: [Int]) throws {
    var group = footer.splices[0].groups[0]
    let types = ArchiveTables.types(0, schema)
    for place in group.references.indices where group.references[place].flags != 0 {
      let whole = try columns(group.references[place], ArchiveTables.type(ofPlace: place, types))[0]
      var start = 0
      let columns = counts.map { count in
        defer { start += count }
        return whole.gathering(Array(start..<start + count))
      }
      replaceBlock(\.splices[0].groups[0].references[place], columns)
    }
    group = footer.splices[0].groups[0]
    let chunks = counts.map { FooterParts.Chunk(rows: UInt64($0), step: 1, flags: 1) }
    footer.splices[0].groups = []
    var first = 0
    for (number, count) in groups.enumerated() {
      var part = group
      part.id = group.id + Int64(number)
      part.chunkCount = UInt8(count)
      part.chunks = Array(chunks[first..<first + count])
      if number > 0 {
        for place in part.references.indices where part.references[place].flags != 0 {
          part.references[place].flags |= 48
          part.references[place].part = UInt8(first)
          part.references[place].group = UInt64(group.id)
        }
      }
      footer.splices[0].groups.append(part)
      first += count
    }
    footer.nextGroup += UInt64(groups.count)
  }
}
