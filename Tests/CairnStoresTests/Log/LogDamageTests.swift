// Logs with bytes changed, cut off, and files exchanged: an error that says where, or the same content, or, of what
// nobody was promised, a little less.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogDamageTests {
  /// A log with a base, a sealed segment, and some commits after them; what it holds after each number of them.
  private static func sample(isClosed: Bool) throws -> ([String: [UInt8]], [LogSample.Facts]) {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    for step in 0..<5 {
      try LogSample.commit(step, store)
      if step == 1 { try store.compact() }
    }
    if isClosed { try store.close() }
    return (try LogSample.contents(files), try LogSample.expected(5))
  }

  /// The generation that a damaged log opens with; nil where it is refused, with an error that says where.
  private static func opened(_ contents: [String: [UInt8]], _ expected: [LogSample.Facts]) throws -> Int? {
    let files = try LogSample.files(contents)
    do {
      let store = try LogSample.openForReading(files)
      let found = try LogSample.Facts(store)
      // Everything else that reads has to throw or be right, too.
      let told = try store.history(after: Generation(0)).map(\.generation.number)
      guard told == Array(1..<found.generation + 1) else {
        throw Wrong(description: "history tells \(told) of \(found.generation)")
      }
      guard expected[Int(found.generation)] == found else {
        throw Wrong(description: "other content: \(found)")
      }
      return Int(found.generation)
    } catch let error as StoreError {
      guard error.code == .corrupt, error.file != nil, error.remedy != nil else { throw error }
      return nil
    }
  }

  @Test(arguments: [true, false])
  func `every flipped byte is an error, harmless, or takes what nobody was promised`(isClosed: Bool) throws {
    let (contents, expected) = try Self.sample(isClosed: isClosed)
    var refused = 0
    for (name, bytes) in contents where name != "LOCK" {
      let isTail = name == "log-3"
      // The archive's own tests flip every byte of one.
      let step = name.hasPrefix("base") ? 37 : isTail ? 1 : 5
      for offset in stride(from: 0, to: bytes.count, by: step) {
        var damaged = contents
        damaged[name]![offset] ^= offset.isMultiple(of: 2) ? 0xFF : 0x10
        let seen = try Self.opened(damaged, expected)
        if seen == nil { refused += 1 }
        // Only of the last commit nothing says that it was acknowledged.
        if let seen, seen < (isClosed || !isTail ? 5 : 4) {
          Issue.record("\(name), byte \(offset): \(seen) commits")
        }
      }
    }
    #expect(refused > 300)
  }

  @Test(arguments: [true, false])
  func `a segment cut off anywhere is an error where the manifest promised more, else a prefix`(
    isClosed: Bool
  ) throws {
    let (contents, expected) = try Self.sample(isClosed: isClosed)
    let manifest = try LogManifest(contents["MANIFEST"]!)
    for segment in manifest.segments {
      let name = LogNames.segment(segment.number)
      let bytes = contents[name]!
      var last = 0
      for length in stride(from: 0, to: bytes.count, by: segment.isSealed ? 7 : 1) {
        var damaged = contents
        damaged[name] = Array(bytes[..<length])
        let seen = try Self.opened(damaged, expected)
        if UInt64(length) < segment.length {
          #expect(seen == nil, "\(name) cut to \(length)")
        } else {
          #expect(seen ?? -1 >= last, "\(name) cut to \(length)")
          last = seen ?? last
        }
      }
    }
    for name in ["MANIFEST", "base-4"] {
      for length in stride(from: 0, to: contents[name]!.count, by: 31) {
        var damaged = contents
        damaged[name] = Array(contents[name]![..<length])
        #expect(try Self.opened(damaged, expected) == nil, "\(name) cut to \(length)")
      }
    }
  }

  @Test func `every sector of zeros is an error, or takes what nobody was promised`() throws {
    let (contents, expected) = try Self.sample(isClosed: true)
    for (name, bytes) in contents where name != "LOCK" && !name.hasPrefix("base") {
      for start in stride(from: 0, to: bytes.count, by: 64) {
        var damaged = contents
        for offset in start..<min(start + 64, bytes.count) { damaged[name]![offset] = 0 }
        if damaged == contents { continue }
        #expect(try Self.opened(damaged, expected) == nil, "\(name) from \(start)")
      }
    }
  }

  @Test func `files that are missing, of another store or exchanged are refused`() throws {
    let (contents, expected) = try Self.sample(isClosed: true)
    let (other, _) = try Self.sample(isClosed: true)
    for name in contents.keys where name != "LOCK" {
      var damaged = contents
      damaged[name] = nil
      #expect(try Self.opened(damaged, expected) == nil, "without \(name)")
      if name != "MANIFEST" {
        damaged[name] = other[name]
        #expect(try Self.opened(damaged, expected) == nil, "\(name) of another store")
      }
    }
    var damaged = contents
    (damaged["log-2"], damaged["log-3"]) = (contents["log-3"], contents["log-2"])
    #expect(try Self.opened(damaged, expected) == nil)
  }

  @Test func `frames that are repeated, moved or followed by garbage are never taken for others`() throws {
    let (contents, expected) = try Self.sample(isClosed: true)
    let bytes = contents["log-3"]!
    let frames = try LogSample.frames(bytes)
    var places: [Range<Int>] = []
    var offset = LogSegmentHeader.size
    for frame in frames {
      places.append(offset..<offset + frame.size)
      offset += frame.size
    }
    for place in places {
      var damaged = contents
      // Behind the end, nothing that stood before it counts.
      damaged["log-3"] = bytes + bytes[place]
      #expect(try Self.opened(damaged, expected) == 5)
      damaged["log-3"] = Array(bytes[..<place.upperBound] + bytes[place] + bytes[place.upperBound...])
      #expect(try Self.opened(damaged, expected) == (place == places.last ? 5 : nil))
      damaged["log-3"] = Array(bytes[..<place.lowerBound] + bytes[place.upperBound...])
      #expect(try Self.opened(damaged, expected) == nil)
    }
    var damaged = contents
    damaged["log-3"] = bytes + [UInt8](repeating: 0, count: 5_000)
    #expect(try Self.opened(damaged, expected) == 5)
    damaged["log-3"] = bytes + (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    #expect(try Self.opened(damaged, expected) == 5)
    damaged["log-2"] = contents["log-2"]! + [0]
    #expect(try Self.opened(damaged, expected) == nil)
  }

  @Test func `what is cut off is kept beside, and opening for reading changes nothing`() throws {
    let (contents, expected) = try Self.sample(isClosed: true)
    let tail: [UInt8] = (1...700).map { UInt8(truncatingIfNeeded: $0 | 1) }
    var torn = contents
    torn["log-3"]! += tail
    let files = try LogSample.files(torn)
    #expect(try LogSample.state(files, expected, isReadOnly: true) == 5)
    #expect(try LogSample.contents(files) == torn)
    #expect(try LogSample.state(files, expected, isReadOnly: false) == 5)
    #expect(try LogSample.bytes("torn-3-\(contents["log-3"]!.count)", files) == tail)
    #expect(try LogSample.bytes("log-3", files).count == contents["log-3"]!.count)
  }

  @Test func `an error names the file, the offset and the frame`() throws {
    let (contents, _) = try Self.sample(isClosed: true)
    var damaged = contents
    let first = try LogSample.frames(contents["log-3"]!)[0]
    let offset = LogSegmentHeader.size + first.size
    damaged["log-3"]![offset + 20] ^= 1
    do {
      _ = try LogSample.openForReading(LogSample.files(damaged))
      Issue.record("it opens")
    } catch let error as StoreError {
      #expect(error.file == "/a/log-3" && error.offset == UInt64(offset))
      #expect(
        error.description.contains("frame \(first.sequence + 1)") && error.description.contains("salvage"))
    }
  }

  @Test func `other versions and features are refused, or only read`() throws {
    let (contents, expected) = try Self.sample(isClosed: true)
    func changed(_ change: (inout [UInt8]) -> Void) -> [String: [UInt8]] {
      var damaged = contents
      var bytes = Array(contents["MANIFEST"]!.dropLast(4))
      change(&bytes)
      var writer = RecordWriter()
      writer.put(bytes: bytes)
      writer.put(Checksum.crc32(bytes))
      damaged["MANIFEST"] = writer.bytes
      return damaged
    }
    #expect(try Self.opened(changed { $0[8] = 2 }, expected) == nil)
    #expect(try Self.opened(changed { $0[10] = 9 }, expected) == 5)
    #expect(try Self.opened(changed { $0[16] = 1 }, expected) == 5)
    #expect(try Self.opened(changed { $0[32] = 1 }, expected) == nil)
    let readOnly = changed { $0[24] = 1 }
    #expect(try Self.opened(readOnly, expected) == 5)
    let files = try LogSample.files(readOnly)
    #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try LogSample.open(files) }
    #expect(throws: StoreError(.unsupportedRequest, "")) { try LogFiles.setUserEntries([:], at: "/a", files) }
  }

  @Test func `what isn't a log is refused, and left alone`() throws {
    let files = SimulatedFileSystem()
    try files.open("/file", .create(permissions: 0o644)).write(Array("SQLite format 3".utf8), at: 0)
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.open(files, at: "/file") }
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogFiles.metadata(at: "/file", files) }
    try files.makeDirectory("/other")
    try files.open("/other/notes", .create(permissions: 0o644)).close()
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.open(files, at: "/other") }
    #expect(throws: StoreError(.corrupt, "")) { try LogFiles.destroy(at: "/other", files) }
    #expect(try files.list("/other").contains("notes"))
    // A store that has lost its manifest isn't made anew.
    let (contents, _) = try Self.sample(isClosed: true)
    var damaged = contents
    damaged["MANIFEST"] = nil
    let lost = try LogSample.files(damaged)
    #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.open(lost) }
    #expect(try lost.list("/a").contains("log-3"))
    // An empty directory becomes one.
    try files.makeDirectory("/empty")
    try LogSample.open(files, at: "/empty").close()
  }

  @Test func `a transaction of several frames is there as a whole or not at all`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    let before = try LogSample.bytes("log-2", files).count
    let changes = try LogSample.large(4_000_000)
    _ = try store.commit(changes)
    let all = try LogSample.Facts(store)
    let contents = try LogSample.contents(files)
    let frames = try LogSample.frames(contents["log-2"]!)
    let pieces = frames.suffix(3)
    #expect(pieces.map { $0.flags.contains(.commit) } == [false, false, true])
    #expect(Set(pieces.map(\.generation)) == [2] && pieces.first?.payloadLength == LogFrame.largestPiece)
    #expect(try LogSample.Facts(LogSample.openForReading(LogSample.files(contents))) == all)
    var offset = before
    for piece in pieces {
      for end in [offset + 20, offset + piece.size - 1] {
        var damaged = contents
        damaged["log-2"] = Array(contents["log-2"]![..<end])
        let cut = try LogSample.files(damaged)
        #expect(try LogSample.openForReading(cut).snapshot().generation.number == 1, "\(end)")
        guard piece == pieces.last, end > offset + 20 else { continue }
        let again = try LogSample.open(cut)
        _ = try again.commit(changes)
        try again.close()
        #expect(try LogSample.Facts(LogSample.openForReading(cut)) == all)
      }
      offset += piece.size
    }
    // A piece that is gone isn't made up for by the pieces around it.
    var damaged = contents
    damaged["log-2"]!.removeSubrange(before..<before + frames[frames.count - 3].size)
    #expect(try LogSample.openForReading(LogSample.files(damaged)).snapshot().generation.number == 1)
  }

  /// A log whose newest segment has these groups behind the first, with right checksums.
  private static func made(_ groups: [(LogFrame.Kind, [UInt8], Int64)]) throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files)
    try LogSample.commit(0, store)
    var contents = try LogSample.contents(files)
    let manifest = try LogManifest(contents["MANIFEST"]!)
    var sequence = try #require(try LogSample.frames(contents["log-2"]!).last?.sequence)
    for (kind, payload, generation) in groups {
      let (bytes, count) = LogWriter.frames(
        kind, payload, generation: generation, after: sequence, durable: sequence,
        salt: manifest.segments[0].salt)
      contents["log-2"]! += bytes
      sequence += UInt64(count)
    }
    return try LogSample.files(contents)
  }

  private static func payload(_ changes: ChangeSet, keys: LogKeys = LogKeys()) throws -> [UInt8] {
    let header = LogTransaction(
      time: Date(timeIntervalSinceReferenceDate: .nan), author: "a", contextName: nil, keys: keys)
    return try LogSchema(LogSample.schema).encode(header, changes)
  }

  @Test func `frames that say what can't be are corrupt, whatever their checksums say`() throws {
    let people = LogSample.people.id
    let link = LogSample.people.relationship(named: "tags")!
    func changes(_ body: (inout ChangeSet) throws -> Void) rethrows -> ChangeSet {
      var changes = ChangeSet()
      try body(&changes)
      return changes
    }
    let fine = try changes {
      try $0.update(RowKey(entity: people, id: 1), ["age": .int(5)], in: LogSample.schema)
    }
    let missing = try changes {
      try $0.update(RowKey(entity: people, id: 77), ["age": .int(5)], in: LogSample.schema)
    }
    let gone = changes { $0.delete(RowKey(entity: people, id: 900)) }
    let twice = try changes { try $0.insert(RowKey(entity: people, id: 1), [:], in: LogSample.schema) }
    let unreserved = try changes {
      try $0.insert(RowKey(entity: people, id: 1 << 40), [:], in: LogSample.schema)
    }
    let nowhere = changes {
      $0.links = [
        .init(link, of: RowKey(entity: people, id: 1), .add([RowKey(entity: LogSample.tags.id, id: 55)]))
      ]
    }
    #expect(
      try LogSample.openForReading(Self.made([(.transaction, Self.payload(fine), 2)])).snapshot().generation
        .number == 2)
    let wrong: [(String, (LogFrame.Kind, [UInt8], Int64))] = [
      ("a row that isn't there", (.transaction, try Self.payload(missing), 2)),
      ("a deleted row that isn't there", (.transaction, try Self.payload(gone), 2)),
      ("a row that is there", (.transaction, try Self.payload(twice), 2)),
      ("a key nobody had", (.transaction, try Self.payload(unreserved), 2)),
      ("a link to nothing", (.transaction, try Self.payload(nowhere), 2)),
      ("a commit too far", (.transaction, try Self.payload(fine), 3)),
      ("the same commit again", (.transaction, try Self.payload(fine), 1)),
      ("nothing at all", (.transaction, [], 2)),
      ("something behind the changes", (.transaction, try Self.payload(fine) + [9], 2)),
      ("half a transaction", (.transaction, Array(try Self.payload(fine).dropLast(2)), 2)),
      ("keys of no root", (.keys, [1, 9, 5], 1)),
      ("keys out of order", (.keys, [2, 1, 5, 0, 5], 1)),
      ("no key", (.keys, [1, 0, 0], 1)),
      ("keys that don't end", (.close, [1, 0, 5, 5], 1)),
      ("keys of another commit", (.keys, [1, 0, 5], 4)),
      ("an idle frame with a payload", (.idle, [1], 1)),
    ]
    for (what, group) in wrong {
      let files = try Self.made([group])
      #expect(throws: StoreError(.corrupt, ""), "\(what)") { _ = try LogSample.openForReading(files) }
      #expect(throws: StoreError(.corrupt, ""), "\(what)") { _ = try LogSample.open(files) }
      #expect(try !LogVerifier.findings(at: "/a", on: files).isEmpty, "\(what)")
      // What came before it is saved.
      #expect(try LogSalvager.salvage("/a", to: "/b", on: files).generation >= 1, "\(what)")
    }
  }

  @Test func `frames of unknown kinds are refused, unless they may be passed over`() throws {
    let files = try Self.made([])
    let bytes = try LogSample.bytes("log-2", files)
    let salt = try LogManifest(LogSample.bytes("MANIFEST", files)).segments[0].salt
    let last = try #require(try LogSample.frames(bytes).last?.sequence)
    for (kind, flags, isFine) in [
      (UInt8(9), LogFrame.Flags.commit, false), (9, [.commit, .ancillary], true),
      (0, [.commit, .ancillary], false),
      (9, [.commit, LogFrame.Flags(rawValue: 64)], false),
    ] {
      var frame = LogFrame(
        sequence: last + 1, generation: 1, durable: last, kind: .idle, flags: flags, payloadLength: 3)
      frame.kind = kind
      var contents = try LogSample.contents(files)
      frame.append(payload: [1, 2, 3], salt: salt, to: &contents["log-2"]!)
      let changed = try LogSample.files(contents)
      if isFine {
        let store = try LogSample.open(changed)
        try LogSample.commit(1, store)
        try store.close()
        #expect(try LogSample.openForReading(changed).snapshot().generation.number == 2)
      } else {
        #expect(throws: StoreError(.corrupt, "")) { _ = try LogSample.openForReading(changed) }
      }
    }
  }

  @Test func `relationships that aren't stored don't shift the numbers in a log`() throws {
    // The first relationship's destination isn't in the store, so files leave it out.
    let schema = try Schema(
      SchemaDescription(entities: [
        .init(
          name: "A", attributes: [.init("n", .int16)],
          relationships: [
            .init("lonely", to: "A"), .init("others", to: "B", inverse: "back"),
            .init("more", to: "B", inverse: "again"),
          ]),
        .init(
          name: "B", attributes: [.init("n", .int16)],
          relationships: [
            .init("back", to: "A", inverse: "others"), .init("again", to: "A", inverse: "more"),
          ]),
      ]))
    let files = SimulatedFileSystem()
    let store = try LogStore(
      at: "/a", model: .init(schema: schema), options: LogSample.options, fileSystem: files)
    var changes = ChangeSet()
    let a = RowKey(
      entity: schema.entities[0].id, id: try store.reserveKeys(1, root: schema.entities[0].id).lowerBound)
    let b = RowKey(
      entity: schema.entities[1].id, id: try store.reserveKeys(1, root: schema.entities[1].id).lowerBound)
    try changes.insert(a, ["n": .int(1)], in: schema)
    try changes.insert(b, ["n": .int(2)], in: schema)
    changes.links.append(.init(schema.entities[0].relationship(named: "more")!, of: a, .add([b])))
    _ = try store.commit(changes)
    let stored = try LogFiles.schema(at: "/a", on: files)
    var options = LogSample.options
    options.isReadOnly = true
    for (used, name) in [(schema, "with its model"), (stored, "without")] {
      let reader = try LogStore(at: "/a", model: .init(schema: used), options: options, fileSystem: files)
      for (relationship, count) in [("others", 0), ("more", 1)] {
        let id = try #require(used.entities[0].relationship(named: relationship))
        #expect(try reader.related([a], through: id, in: reader.snapshot()).keys.count == count, "\(name)")
      }
    }
    #expect(stored.relationships.count <= schema.relationships.count)
  }
}
