// Opening an archive: from the file's first bytes to the tables of its newest commit. Reads the header, the commit
// slots, the trailer, the footer and the schema, and no row.

import CairnModel
import Foundation

/// What opening an archive finds.
struct ArchiveContents {
  let source: ArchiveSource
  let header: ArchiveHeader
  /// The state that was opened.
  let slot: CommitSlot
  /// Which of the two places has it; nil where the trailer told.
  let slotNumber: Int?
  /// The places that have to be written again.
  let damagedSlots: [Int]
  let schema: ArchivedSchema
  let metadata: StoreMetadata
  let index: ArchiveIndex
  /// The footers that say the state, newest first.
  let footers: [BlockPlace]
  /// Bytes behind the newest commit: what a save left that wasn't finished.
  let unfinished: UInt64
}

struct ArchiveFile {
  let file: any OpenFile
  let path: String

  private func corrupt(_ message: String, _ offset: UInt64?) -> StoreError {
    StoreError(.corrupt, message, file: path, offset: offset, remedy: ArchiveSource.remedy)
  }

  /// Throws `corrupt` for a file that is no archive or is damaged, and what the file system throws.
  ///
  /// `cacheBudget` is in bytes; `damage` counts what can't be read later.
  func open(cacheBudget: Int, damage: DamageLog = DamageLog()) throws -> ArchiveContents {
    let newest = try newestCommit()
    let (header, slot, place) = (newest.header, newest.slot, newest.footer)
    let state = try state(
      at: place, uuid: header.uuid, features: header.incompatible, cacheBudget: cacheBudget, damage: damage)
    guard Int64(exactly: slot.generation) == state.index.generation else {
      throw corrupt("the footer is of commit \(state.index.generation), not \(slot.generation)", place.offset)
    }
    let metadata = try metadata(state)
    guard metadata.uuid == header.uuid else {
      throw corrupt("the metadata is of the archive \(metadata.uuid)", state.index.metadata.offset)
    }
    return ArchiveContents(
      source: state.source, header: header, slot: slot, slotNumber: newest.slotNumber,
      damagedSlots: newest.damagedSlots,
      schema: state.schema, metadata: metadata, index: state.index, footers: state.footers,
      unfinished: newest.size - slot.fileLength)
  }

  /// The metadata of the newest commit, without what its tables are. Throws as `open`.
  func metadata() throws -> StoreMetadata {
    let newest = try newestCommit()
    let source = ArchiveSource(
      file: file, path: path, uuid: newest.header.uuid, schema: Schema.nothing, cacheBudget: 0)
    let footer = try text(newest.footer, .footer, source)
    let place = try rethrow(newest.footer) {
      try ArchiveIndex.metadataPlace(footer, end: newest.footer.offset)
    }
    let metadata = try self.metadata(at: place, source)
    guard metadata.uuid == newest.header.uuid else {
      throw corrupt("the metadata is of the archive \(metadata.uuid)", place.offset)
    }
    return metadata
  }

  private struct Newest {
    let header: ArchiveHeader
    let slot: CommitSlot
    let slotNumber: Int?
    let damagedSlots: [Int]
    let footer: BlockPlace
    /// Of the file.
    let size: UInt64
  }

  /// Which commit is the newest, with its trailer checked.
  private func newestCommit() throws -> Newest {
    let start = try beginning()
    let header = try header(start)
    // After the slots: a save that ends in between makes the file longer than they say, never shorter.
    let size = try file.information().size
    let (slot, number, damagedSlots) = try newest(start, header, size)
    guard slot.fileLength <= size else {
      throw corrupt(
        "the file has \(size) bytes, and its newest commit wrote it up to \(slot.fileLength): it was cut off",
        size)
    }
    try checkTrailer(slot, header)
    let place = BlockPlace(offset: slot.footerOffset, length: Int(slot.footerLength))
    return Newest(
      header: header, slot: slot, slotNumber: number, damagedSlots: damagedSlots, footer: place, size: size)
  }

  /// Header and slots. A slot that looks damaged may be one that a writer is about to write: then it changes.
  private func beginning() throws -> [UInt8] {
    var start = try file.bytes(Int(CommitSlot.end), at: 0)
    for _ in 0..<ArchiveFile.readLimit {
      let isDamaged = CommitSlot.offsets.contains { offset in
        CommitSlot(start.dropFirst(Int(offset)).prefix(CommitSlot.size)) == nil
      }
      guard isDamaged else { break }
      let again = try file.bytes(Int(CommitSlot.end), at: 0)
      if again == start { break }
      start = again
    }
    return start
  }

  /// How often slots are read that go on changing.
  private static let readLimit = 10

  /// What one footer says, with those that it hangs on.
  struct State {
    let source: ArchiveSource
    let schema: ArchivedSchema
    let index: ArchiveIndex
    /// Newest first.
    let footers: [BlockPlace]
  }

  /// The state that the footer at `place` says. `schema` stands in for one that can't be read, and `copies` has, by
  /// the offsets of footers that can't, where else each is. Throws `corrupt` and what the file system throws.
  func state(
    at place: BlockPlace, uuid: UUID, features: UInt64, cacheBudget: Int, damage: DamageLog,
    insteadOf schema: ArchivedSchema? = nil, copies: [UInt64: BlockPlace] = [:]
  ) throws -> State {
    let bare = ArchiveSource(
      file: file, path: path, uuid: uuid, schema: Schema.nothing, cacheBudget: cacheBudget)
    let text = try text(copies[place.offset] ?? place, .footer, bare)
    let schemaPlace = try rethrow(place) { try ArchiveIndex.schemaPlace(text, end: place.offset) }
    let (archived, compiled) = try self.schema(at: schemaPlace, insteadOf: schema, bare)
    let source = ArchiveSource(
      file: file, path: path, uuid: uuid, schema: compiled, cacheBudget: cacheBudget, features: features,
      damage: damage)
    let (index, footers) = try index(text, place, source, copies)
    return State(source: source, schema: archived, index: index, footers: footers)
  }

  private func schema(
    at place: BlockPlace, insteadOf other: ArchivedSchema?, _ source: ArchiveSource
  ) throws -> (ArchivedSchema, Schema) {
    do {
      return try value(place, .schema, source, of: ArchiveFile.schemas) { text in
        let archived = try ArchivedSchema(json: text)
        return (archived, try ArchiveFile.compiled(archived))
      }
    } catch let error as StoreError where error.code == .corrupt {
      guard let other else { throw error }
      return (other, try rethrow(place) { try ArchiveFile.compiled(other) })
    }
  }

  private static func compiled(_ archived: ArchivedSchema) throws -> Schema {
    let schema = try archived.schema
    try ArchiveTables.check(schema)
    return schema
  }

  /// Of the files that were opened last.
  private static let schemas = TextCache<(ArchivedSchema, Schema)>()
  private static let metadata = TextCache<StoreMetadata>()

  /// Throws `corrupt` and what the file system throws.
  func metadata(_ state: State) throws -> StoreMetadata {
    try metadata(at: state.index.metadata, state.source)
  }

  func metadata(at place: BlockPlace, _ source: ArchiveSource) throws -> StoreMetadata {
    try value(place, .metadata, source, of: ArchiveFile.metadata) {
      try ArchivedMetadata.read(json: $0, type: ArchiveStore.traits.type)
    }
  }

  func header(_ start: [UInt8]) throws -> ArchiveHeader {
    do {
      return try ArchiveHeader(Array(start.prefix(ArchiveHeader.size)))
    } catch let error as RecordError {
      throw StoreError(
        .corrupt, error.message, file: path, offset: UInt64(error.offset),
        remedy: start.starts(with: ArchiveHeader.magic)
          ? ArchiveSource.remedy : "open it with what made it; cairn pack makes archives of tables")
    }
  }

  /// The newest commit: what the newer slot says. Only where a slot is damaged, the trailer at the end of the file
  /// is asked, because the newest commit may be the one that the damaged slot named.
  func newest(
    _ start: [UInt8], _ header: ArchiveHeader, _ size: UInt64
  ) throws -> (slot: CommitSlot, number: Int?, damaged: [Int]) {
    var found: [(slot: CommitSlot, number: Int)] = []
    var damaged: [Int] = []
    for (number, offset) in CommitSlot.offsets.enumerated() {
      let from = Int(offset)
      guard from + CommitSlot.size <= start.count else {
        throw corrupt("the file ends before its commit slots do", UInt64(start.count))
      }
      if let slot = CommitSlot(start[from..<from + CommitSlot.size]) {
        found.append((slot, number))
      } else {
        damaged.append(number)
      }
    }
    let best = found.max { $0.slot.generation < $1.slot.generation }
    if found.count == 2, found[0].slot.generation == found[1].slot.generation, found[0].slot != found[1].slot
    {
      throw corrupt("the two commit slots say different things of one commit", CommitSlot.offsets[1])
    }
    guard let firstDamaged = damaged.first else { return (best!.slot, best!.number, []) }
    if let end = try trailer(endingAt: size, header), end.generation >= best?.slot.generation ?? 0 {
      return (end, best.flatMap { $0.slot == end ? $0.number : nil }, damaged)
    }
    throw corrupt(
      "the commit slot is damaged, and the end of the file doesn't say what it said",
      CommitSlot.offsets[firstDamaged])
  }

  private func trailer(endingAt end: UInt64, _ header: ArchiveHeader) throws -> CommitSlot? {
    guard end >= CommitSlot.end + UInt64(ArchiveTrailer.size) else { return nil }
    let bytes = try file.bytes(ArchiveTrailer.size, at: end - UInt64(ArchiveTrailer.size))
    guard let trailer = ArchiveTrailer(bytes), trailer.uuid == header.uuid, trailer.slot.fileLength == end
    else {
      return nil
    }
    return trailer.slot
  }

  func checkTrailer(_ slot: CommitSlot, _ header: ArchiveHeader) throws {
    guard let found = try trailer(endingAt: slot.fileLength, header), found == slot else {
      throw corrupt(
        "the trailer of commit \(slot.generation) is damaged",
        slot.fileLength &- UInt64(min(UInt64(ArchiveTrailer.size), slot.fileLength)))
    }
    let (end, overflow) = slot.footerOffset.addingReportingOverflow(UInt64(slot.footerLength))
    guard !overflow, slot.footerOffset >= CommitSlot.end,
      end == slot.fileLength - UInt64(ArchiveTrailer.size)
    else { throw corrupt("the footer isn't where the commit says", slot.footerOffset) }
  }

  /// The tables as the footers say them, from the last whole one on.
  private func index(
    _ newest: [UInt8], _ place: BlockPlace, _ source: ArchiveSource, _ copies: [UInt64: BlockPlace]
  ) throws -> (ArchiveIndex, [BlockPlace]) {
    var blocks = ArchiveIndex.KnownBlocks()
    var chain: [(footer: ArchiveIndex.Footer, place: BlockPlace)] = []
    var text = newest
    var place = place
    while true {
      let footer = try rethrow(place) {
        try ArchiveIndex.read(text, source: source, end: place.offset, blocks: &blocks)
      }
      if let newer = chain.last?.footer.index, newer.generation <= footer.index.generation {
        throw corrupt("a footer builds on one that isn't older", place.offset)
      }
      chain.append((footer, place))
      guard let previous = footer.previous else { break }
      // Each comes before the one that names it, so the chain ends.
      guard chain.count < ArchiveFile.longestChain else {
        throw corrupt("more than \(ArchiveFile.longestChain) footers hang together", place.offset)
      }
      place = previous
      text = try self.text(copies[place.offset] ?? place, .footer, source)
    }
    var index = chain[0].footer.index
    for (footer, place) in chain.reversed() { try rethrow(place) { try index.apply(footer.splices) } }
    try rethrow(chain[0].place) { try index.checkKeys(source.schema) }
    return (index, chain.map(\.place))
  }

  static let longestChain = 256

  func text(_ place: BlockPlace, _ kind: BlockHeader.Kind, _ source: ArchiveSource) throws -> [UInt8] {
    let (header, stored) = try source.readBlock(at: place.offset, length: place.length, kind: kind, corrupt)
    return try rethrow(place) { try TextBlock.decode(header, stored) }
  }

  /// What `make` makes of the text at `place`, which `cache` may know.
  private func value<Value>(
    _ place: BlockPlace, _ kind: BlockHeader.Kind, _ source: ArchiveSource, of cache: TextCache<Value>,
    _ make: ([UInt8]) throws -> Value
  ) throws -> Value {
    let (header, stored) = try source.readBlock(at: place.offset, length: place.length, kind: kind, corrupt)
    return try rethrow(place) { try cache.value(header, stored, make) }
  }

  /// What `body` finds wrong with a record of the block at `place`, as an error of the file.
  private func rethrow<T>(_ place: BlockPlace, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as RecordError {
      throw corrupt(error.message, place.offset)
    }
  }
}

extension Schema {
  /// Of a file whose schema isn't read yet.
  static let nothing = try! Schema(SchemaDescription(entities: []))
}

extension ArchiveIndex {
  /// Where a footer says the schema is, which has to be read before anything else of it can be.
  static func schemaPlace(_ bytes: [UInt8], end: UInt64) throws -> BlockPlace {
    var reader = try readerOfPlaces(bytes)
    return try textPlace(&reader, "a schema", end)
  }

  /// Where a footer says the metadata is.
  static func metadataPlace(_ bytes: [UInt8], end: UInt64) throws -> BlockPlace {
    var reader = try readerOfPlaces(bytes)
    _ = try textPlace(&reader, "a schema", end)
    return try textPlace(&reader, "metadata", end)
  }

  /// Behind everything that stands before the places of texts.
  private static func readerOfPlaces(_ bytes: [UInt8]) throws -> RecordReader {
    var reader = RecordReader(bytes)
    guard try reader.integer(UInt8.self) == form else { throw reader.error("a footer of another form") }
    if try reader.integer(UInt8.self) == 1 { _ = (try reader.varint(), try reader.varint()) }
    _ = (try reader.varint(), try reader.zigzag(), try reader.varint())
    return reader
  }

  private static func textPlace(
    _ reader: inout RecordReader, _ name: String, _ end: UInt64
  ) throws -> BlockPlace {
    let offset = try reader.varint()
    let length = try reader.count(atMost: Int(UInt32.max) + BlockHeader.size)
    let (last, overflow) = offset.addingReportingOverflow(UInt64(length))
    guard offset >= CommitSlot.end, !overflow, last <= end else {
      throw reader.error("\(name) of \(length) bytes at \(offset), where none can be")
    }
    return BlockPlace(offset: offset, length: length)
  }

  /// Which commit a footer is of.
  static func generation(_ bytes: [UInt8]) throws -> UInt64 {
    var reader = RecordReader(bytes)
    guard try reader.integer(UInt8.self) == form else { throw reader.error("a footer of another form") }
    if try reader.integer(UInt8.self) == 1 { _ = (try reader.varint(), try reader.varint()) }
    return try reader.varint()
  }
}
