// The golden logs that readers accept, torn ones among them: how each is made. What no writer of ours makes
// is put together by hand (LogParts).

import CairnModel
import Foundation

@testable import CairnStores

enum GoldenLog {
  /// A log that is being made in memory.
  struct Making {
    let files = SimulatedFileSystem()
    let store: LogStore

    init(
      _ schema: Schema, source: String? = nil, uuid: UUID = Golden.uuid,
      _ change: (inout LogStore.Options) -> Void = { _ in }
    )
      throws
    {
      var options = LogStore.Options()
      options.checkpoints = .never
      options.history = .all
      options.preallocation = 0
      options.keySlack = 4
      options.idleInterval = nil
      change(&options)
      var model = ArchiveStore.Model(schema: schema)
      model.source = source
      model.versionHashes = ["Thing": Data([1, 2, 3])]
      model.versionIdentifiers = ["1", "eins"]
      store = try LogStore(
        at: LogParts.path, model: model, options: options, fileSystem: files, clock: { Golden.time },
        uuid: uuid)
    }

    func keys(_ name: String, _ count: Int) throws -> [RowKey] {
      let entity = try store.schema.requireEntity(named: name)
      return try store.reserveKeys(count, root: entity.root).map { RowKey(entity: entity.id, id: $0) }
    }

    func save(_ author: String? = nil, _ context: String? = nil, _ body: (inout ChangeSet) throws -> Void)
      throws
    {
      var changes = ChangeSet(author: author, contextName: context)
      try body(&changes)
      _ = try store.commit(changes)
    }

    func relationship(_ entity: String, _ name: String) throws -> RelationshipID {
      try store.schema.requireEntity(named: entity).relationship(named: name)!
    }

    func parts() throws -> LogParts { try LogParts(files) }

    func closed() throws -> LogParts {
      try store.close()
      return try parts()
    }
  }

  static let accepted: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("empty", { try Making(Golden.library, source: "<model/>").closed() }),
    ("one-row", { try oneRow().closed() }),
    ("not-closed", { try threeCommits().parts() }),
    ("closed-twice", { try closedTwice() }),
    ("reserved", { try reserved().parts() }),
    ("idle", { try idle().parts() }),
    ("types", { try types().closed() }),
    ("blocks", { try blocks().closed() }),
    ("ordered", { try ordered().closed() }),
    ("ordered-stays", { try orderedStays().closed() }),
    ("many-to-many", { try manyToMany().closed() }),
    ("deleted-links", { try deletedLinks().closed() }),
    ("inheritance", { try inheritance().closed() }),
    ("compressed", { try compressed().closed() }),
    ("preallocated", { try threeCommits { $0.preallocation = 600 }.parts() }),
    ("metadata", { try metadata().closed() }),
    ("rotated", { try rotated().parts() }),
    ("checkpointed", { try checkpointed(.none).parts() }),
    ("history", { try checkpointed(.all).parts() }),
    ("ancillary", { try ancillary() }),
    ("leftovers", { try leftovers() }),
    ("suspect", { try threeCommits().parts().changing { $0.files["SUSPECT"] = [] } }),
    (
      "minor-version",
      { try threeCommits().parts().changing { $0.patchManifest { ArchiveParts.put(UInt16(7), 10, &$0) } } }
    ),
    (
      "unknown-features",
      {
        try oneRow().closed().changing {
          $0.patchManifest {
            ArchiveParts.put(UInt64(5) << 40, 16, &$0)
            ArchiveParts.put(UInt64(3), 24, &$0)
          }
        }
      }
    ),
  ]

  /// Logs whose last frames nobody was promised.
  static let recovered: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("torn-length", { try torn { bytes, place in ArchiveParts.put(UInt32.max, place, &bytes) } }),
    ("torn-payload", { try torn { bytes, _ in bytes[bytes.count - 3] ^= 0x10 } }),
    ("torn-end", { try torn { bytes, _ in bytes.removeLast(5) } }),
    ("torn-header", { try torn { bytes, place in bytes.removeSubrange((place + 11)...) } }),
    ("torn-sector", { try tornSector() }),
    ("not-acknowledged", { try notAcknowledged() }),
    ("hole", { try hole() }),
    ("sequence-beyond", { try ahead(1) }),
    (
      "garbage",
      { try threeCommits().parts().changing { $0.files["log-2"]! += [UInt8](repeating: 0xA5, count: 99) } }
    ),
  ]

  // MARK: Small ones

  static func oneRow() throws -> Making {
    let making = try Making(Golden.one)
    let key = try making.keys("Note", 1)[0]
    try making.save("Ann", "main") {
      try $0.insert(key, ["number": .int(7), "text": .string("Grüße")], in: Golden.one)
    }
    return making
  }

  static func threeCommits(_ change: (inout LogStore.Options) -> Void = { _ in }) throws -> Making {
    let making = try Making(Golden.one, change)
    let keys = try making.keys("Note", 3)
    try making.save("Ann", "main") {
      for key in keys { try $0.insert(key, ["number": .int(key.id * 10)], in: Golden.one) }
    }
    try making.save("Jürgen") {
      try $0.update(keys[1], ["text": .string("zwei"), "number": .null], in: Golden.one)
    }
    try making.save { $0.delete(keys[0]) }
    return making
  }

  private static func closedTwice() throws -> LogParts {
    let first = try threeCommits().closed()
    let files = try first.fileSystem()
    var options = LogStore.Options()
    options.checkpoints = .never
    options.preallocation = 0
    options.keySlack = 4
    options.idleInterval = nil
    let store = try LogStore(
      at: LogParts.path, model: .init(schema: Golden.one), options: options, fileSystem: files,
      clock: { Golden.time })
    let note = Golden.one.entities[0].id
    let key = try store.reserveKeys(1, root: note).lowerBound
    var changes = ChangeSet()
    try changes.insert(RowKey(entity: note, id: key), ["number": .int(key)], in: Golden.one)
    _ = try store.commit(changes)
    try store.close()
    return try LogParts(files)
  }

  /// Keys that were handed out and never used: they aren't handed out again.
  static func reserved() throws -> Making {
    let making = try Making(Golden.library)
    _ = try making.keys("Tag", 2)
    let tag = try making.keys("Tag", 1)[0]
    try making.save { try $0.insert(tag, ["word": .string("x")], in: Golden.library) }
    _ = try making.keys("Book", 9)
    return making
  }

  static func idle() throws -> Making {
    let making = try oneRow()
    try making.store.writing.withLock { try $0!.appendIdle(generation: 1) }
    let key = try making.keys("Note", 1)[0]
    try making.save { try $0.insert(key, [:], in: Golden.one) }
    return making
  }

  static func types() throws -> Making {
    let making = try Making(Golden.types)
    let entity = Golden.types.entities[0]
    let keys = try making.keys("All", 24)
    func values(_ row: Int) -> [String: Value] {
      Dictionary(
        uniqueKeysWithValues: entity.slots.enumerated().map { number, slot in
          let edges = Golden.edges(slot.type)
          let isNull = row >= edges.count && (row + number) % 3 == 0
          return (slot.name, isNull ? .null : edges[row % edges.count])
        })
    }
    // A row by itself, several in one batch, and changes of several.
    try making.save { try $0.insert(keys[0], values(0), in: Golden.types) }
    func columns(_ rows: Range<Int>, plus step: Int = 0) throws -> [Column] {
      try entity.slots.map { slot in
        let builder = ColumnBuilder(slot.type)
        for row in rows { try builder.append(value: values(row + step)[slot.name]!) }
        return builder.finish()
      }
    }
    try making.save {
      $0.inserts = [.init(entity: entity.id, keys: keys[1...].map(\.id), columns: try columns(1..<24))]
    }
    try making.save {
      let changed = try columns(2..<9, plus: 5)
      $0.updates = [
        .init(
          entity: entity.id, keys: keys[2..<9].map(\.id), versions: nil, slots: Array(entity.slots.indices),
          columns: changed)
      ]
      try $0.update(keys[20], values(3), in: Golden.types)
    }
    return making
  }

  /// More rows than are written plainly; most of them go again, so that the JSON stays small.
  static func blocks() throws -> Making {
    let making = try Making(Golden.one)
    let note = Golden.one.entities[0]
    let keys = try making.keys("Note", 1100).map(\.id)
    func column(_ type: ValueType, _ values: (Int) -> Value) throws -> Column {
      let builder = ColumnBuilder(type)
      for row in keys.indices { try builder.append(value: values(row)) }
      return builder.finish()
    }
    let numbers = try column(.int32) { $0 % 5 == 0 ? .null : .int(Int64($0 * $0 % 1000)) }
    let texts = try column(.string) { .string("text \($0 % 40)") }
    try making.save { $0.inserts = [.init(entity: note.id, keys: keys, columns: [numbers, texts])] }
    let long = try column(.string) { .string("another text that isn't the same, \($0 * 37 % 1100)") }
    try making.save {
      $0.updates = [
        .init(entity: note.id, keys: keys, versions: nil, slots: [1, 0], columns: [long, numbers])
      ]
    }
    try making.save { $0.deletes = [.init(entity: note.id, keys: Array(keys[..<1080]))] }
    return making
  }

  static func compressed() throws -> Making {
    let making = try Making(Golden.one)
    let keys = try making.keys("Note", 2)
    try making.save {
      for (number, key) in keys.enumerated() {
        let text = String(repeating: "Wind und Wetter \(number), ", count: 200)
        try $0.insert(key, ["text": .string(text)], in: Golden.one)
      }
    }
    return making
  }

  static func metadata() throws -> Making {
    let making = try Making(Golden.one)
    making.store.metadata.userEntries = [
      "number": .int(-7), "text": .string("Grüße"), "nan": .double(.nan), "data": .data(Data([0, 255])),
    ]
    try making.save { try $0.insert(making.keys("Note", 1)[0], [:], in: Golden.one) }
    return making
  }

  // MARK: Relationships

  /// Two authors and three books.
  static func books() throws -> Making {
    let making = try Making(Golden.library)
    let authors = try making.keys("Author", 2)
    let books = try making.keys("Book", 3)
    try making.save {
      for author in authors { try $0.insert(author, ["name": .string("a\(author.id)")], in: Golden.library) }
      for book in books {
        try $0.insert(
          book, ["name": .string("b\(book.id)"), "author": .key(authors[0].id)], in: Golden.library)
      }
    }
    return making
  }

  static func ordered() throws -> Making {
    let making = try books()
    let book = try Golden.library.requireEntity(named: "Book").id
    let author = RowKey(entity: try Golden.library.requireEntity(named: "Author").id, id: 1)
    let other = RowKey(entity: author.entity, id: 2)
    let first = (3...5).map { RowKey(entity: book, id: $0) }
    let books = try making.relationship("Person", "books")
    try making.save { $0.links = [.init(books, of: author, .replace([first[2], first[0], first[1]]))] }
    // One goes to the other's list, one stays, and new ones come to both: two at the end, one where it is
    // put.
    let more = try making.keys("Book", 4)
    try making.save {
      try $0.update(first[0], ["author": .key(other.id)], in: Golden.library)
      try $0.update(first[1], ["author": .key(author.id), "pages": .int(7)], in: Golden.library)
      for key in more[..<2] { try $0.insert(key, ["author": .key(author.id)], in: Golden.library) }
      try $0.insert(more[2], ["author": .key(other.id), "author.#order": .int(9)], in: Golden.library)
      try $0.insert(more[3], ["author": .null], in: Golden.library)
    }
    try making.save {
      try $0.update(more[3], ["author": .key(other.id)], in: Golden.library)
      $0.links = [.init(books, of: other, .add([more[3]]))]
    }
    try making.save { try $0.update(first[2], ["author": .null], in: Golden.library) }
    return making
  }

  /// A row whose owner is set to what it was keeps its place, also when it is given others' places away.
  private static func orderedStays() throws -> Making {
    let making = try books()
    let book = try Golden.library.requireEntity(named: "Book").id
    try making.save {
      try $0.update(RowKey(entity: book, id: 3), ["author": .key(1), "pages": .int(7)], in: Golden.library)
      try $0.update(
        RowKey(entity: book, id: 4), ["author": .key(1), "author.#order": .null], in: Golden.library)
    }
    return making
  }

  static func manyToMany() throws -> Making {
    let making = try books()
    let tags = try making.keys("Tag", 4)
    let person = RowKey(entity: try Golden.library.requireEntity(named: "Author").id, id: 1)
    let author = RowKey(entity: person.entity, id: 2)
    let things = try making.relationship("Tag", "things")
    let ofThing = try making.relationship("Thing", "tags")
    let seeAlso = try making.relationship("Tag", "seeAlso")
    let friends = try making.relationship("Person", "friends")
    try making.save {
      for tag in tags { try $0.insert(tag, ["word": .string("t\(tag.id)")], in: Golden.library) }
      $0.links = [
        .init(ofThing, of: person, .add([tags[3], tags[0], tags[1]])),
        .init(things, of: tags[0], .add([author, person])),
        .init(seeAlso, of: tags[0], .add([tags[0], tags[2]])),
        .init(friends, of: person, .add([author, person])),
      ]
    }
    try making.save {
      $0.links = [
        .init(ofThing, of: person, .replace([tags[1], tags[3], tags[2]])),
        .init(ofThing, of: person, .add([tags[0]])),
        .init(things, of: tags[2], .replace([author])),
        .init(friends, of: author, .remove([person])),
        .init(seeAlso, of: tags[2], .remove([tags[1]])),
      ]
    }
    return making
  }

  static func deletedLinks() throws -> Making {
    let making = try manyToMany()
    let tag = try Golden.library.requireEntity(named: "Tag").id
    let author = try Golden.library.requireEntity(named: "Author").id
    let book = try Golden.library.requireEntity(named: "Book").id
    try making.save {
      $0.delete(RowKey(entity: tag, id: 2))
      $0.links = [
        .init(
          try making.relationship("Tag", "seeAlso"), of: RowKey(entity: tag, id: 3),
          .add([RowKey(entity: tag, id: 1), RowKey(entity: tag, id: 4)]))
      ]
    }
    try making.save {
      $0.delete(RowKey(entity: author, id: 1))
      $0.deletes.append(.init(entity: book, keys: [3, 5]))
    }
    return making
  }

  static func inheritance() throws -> Making {
    let making = try Making(Golden.library)
    for round in 0..<3 {
      let person = try making.keys("Person", 1)[0]
      let author = try making.keys("Author", 1)[0]
      let shelf = try making.keys("Shelf", 1)[0]
      try making.save {
        try $0.insert(person, ["name": .string("p\(round)"), "age": .int(Int64(round))], in: Golden.library)
        try $0.insert(author, ["name": .string("a\(round)"), "spouse": .key(person.id)], in: Golden.library)
        try $0.insert(
          shelf, ["place.x": .double(-0.0), "place.in.y": .decimal(Decimal(round) / 4)], in: Golden.library)
      }
    }
    return making
  }

  // MARK: Several files

  /// A second segment without a base of its own.
  static func rotated() throws -> Making {
    let making = try threeCommits()
    try making.store.writing.withLock { try $0!.rotate(generation: 3, nextKeys: [4]) }
    try making.save { try $0.insert(making.keys("Note", 1)[0], ["number": .int(40)], in: Golden.one) }
    return making
  }

  static func checkpointed(_ history: HistoryPolicy) throws -> Making {
    let making = try threeCommits { $0.history = history }
    try making.store.compact()
    let key = try making.keys("Note", 1)[0]
    try making.save("Ann") { try $0.insert(key, ["number": .int(40)], in: Golden.one) }
    try making.store.compact()
    try making.save { try $0.update(key, ["number": .int(41)], in: Golden.one) }
    return making
  }

  private static func ancillary() throws -> LogParts {
    try threeCommits().parts().changing {
      try $0.append(9, [1, 2, 3], flags: [.commit, .ancillary])
      try $0.append(200, [], flags: [.commit, .ancillary])
      var changes = ChangeSet()
      changes.delete(RowKey(entity: EntityID(0), id: 3))
      try $0.append(changes, Golden.one)
    }
  }

  private static func leftovers() throws -> LogParts {
    try threeCommits().parts().changing {
      for name in ["base-9", "log-7", ".MANIFEST.tmp-\(Golden.uuid)", "torn-2-100", "LOCK"] {
        $0.files[name] = [1, 2, 3]
      }
    }
  }

  // MARK: Torn ones

  /// The last frame of three commits, none of which says of the one before that it is durable.
  private static func torn(_ body: (inout [UInt8], _ place: Int) -> Void) throws -> LogParts {
    try threeCommits().parts().changing { parts in
      let last = parts.frames("log-2").last!
      let place = parts.files["log-2"]!.count - last.count
      body(&parts.files["log-2"]!, place)
    }
  }

  /// The last frame says that the one before it was durable, and has a sequence that is `extra` more than the
  /// greatest that may come there; the one before is damaged.
  static func ahead(_ extra: UInt64) throws -> LogParts {
    try threeCommits().parts().changing { parts in
      let frames = parts.frames("log-2")
      let damaged = UInt64(frames.count - 1)
      let rest = frames.suffix(2).map(\.count).reduce(0, +)
      try parts.changeFrames {
        ArchiveParts.put(damaged + UInt64(rest / LogFrame.headerSize) + 1 + extra, 8, &$0[frames.count - 1])
        ArchiveParts.put(damaged, 24, &$0[frames.count - 1])
      }
      parts.files["log-2"]![parts.files["log-2"]!.count - frames.last!.count - 1] ^= 1
    }
  }

  /// A large frame of which a sector wasn't written.
  private static func tornSector() throws -> LogParts {
    let making = try threeCommits()
    try making.save {
      let data = (0..<2000).map { String($0 * 7919 % 100_003, radix: 36) }.joined()
      try $0.update(RowKey(entity: EntityID(0), id: 2), ["text": .string(data)], in: Golden.one)
    }
    return try making.parts().changing { parts in
      for place in 1024..<1536 { parts.files["log-2"]![place] = 0 }
    }
  }

  /// Three frames that no sync covers: the second is damaged, the third whole.
  private static func notAcknowledged() throws -> LogParts {
    let making = try threeCommits { $0.durability = .off }
    return try making.parts().changing { parts in
      let frames = parts.frames("log-2")
      parts.files["log-2"]![parts.files["log-2"]!.count - frames.last!.count - 2] ^= 1
    }
  }

  /// The same with the second one not written at all.
  private static func hole() throws -> LogParts {
    let making = try threeCommits { $0.durability = .off }
    return try making.parts().changing { parts in
      let frames = parts.frames("log-2")
      let end = parts.files["log-2"]!.count - frames.last!.count
      for place in end - frames[frames.count - 2].count..<end { parts.files["log-2"]![place] = 0 }
    }
  }
}
