// The open file behind the blocks of an archive, and what was found wrong with it.

import CairnModel
import Foundation

/// An archive's bytes. Lives for as long as anybody holds a chunk of it; the file may have been replaced by then.
///
/// Sendable: constant but for the locks.
final class ArchiveSource: Sendable {
  /// nil while the file is being written as a whole: its blocks can't be read yet.
  let file: (any OpenFile)?
  let path: String
  let uuid: UUID
  let schema: Schema
  /// The incompatible ones of the file (`ArchiveHeader.Feature`).
  let features: UInt64
  let cache: BlockCache
  let readAhead = ReadAheadQueue()
  let mayReadAhead: Bool

  let damage: DamageLog
  /// Those that nobody uses at the moment: each keeps memory that it reuses.
  private let decoders = Lock<[ColumnDecoder]>([])

  init(
    file: (any OpenFile)?, path: String, uuid: UUID, schema: Schema, cacheBudget: Int,
    features: UInt64 = 0, damage: DamageLog = DamageLog()
  ) {
    self.features = features
    self.damage = damage
    self.file = file
    self.path = path
    self.uuid = uuid
    self.schema = schema
    cache = BlockCache(budget: cacheBudget)
    mayReadAhead = ReadAheadQueue.isWorthwhile && file?.mayReadAhead ?? false
  }

  /// Whether large values may be blocks of their own in this file.
  var hasBlobs: Bool { features & ArchiveHeader.Feature.blobs != 0 }

  // MARK: Reading

  /// The columns of a block, one a part. `group` has the blocks that its values may follow from. Throws `corrupt`
  /// and `fileSystem`.
  func decode(_ block: ArchiveBlock, in group: ArchiveGroup) throws -> [Column] {
    let decoder = decoders.withLock { $0.popLast() } ?? ColumnDecoder()
    defer { decoders.withLock { $0.append(decoder) } }
    return try decode(block, in: group, decoder, depth: 0)
  }

  private func decode(
    _ block: ArchiveBlock, in group: ArchiveGroup, _ decoder: ColumnDecoder, depth: Int
  ) throws -> [Column] {
    let (header, stored) = try readBlock(at: block.offset, length: block.length, kind: .columns) {
      message, at in
      corrupt(message, block, at: at)
    }
    let columnNumber = ArchiveTables.number(ofPlace: block.place, slotCount: types(block.table).count)
    guard Int(header.table) == block.table, header.column == columnNumber, header.group == block.group else {
      throw corrupt(
        "the block is of table \(header.table), column \(header.column), group \(header.group), which isn't the one that belongs here",
        block)
    }
    do {
      let blobs = try blobs(header, stored, block)
      let plain = try ColumnBlock.decode(header, stored, type: block.type, decoder: decoder) { slot, rows in
        guard block.sources.contains(slot), depth < ColumnRelation.maxDepth,
          let other = group.columns[slot]?.block, other.group == block.group
        else { throw corrupt("its values follow from column \(slot), which they can't", block) }
        if let known = other.cachedColumns, known.map(\.count) == rows { return known }
        let columns = try decode(other, in: group, decoder, depth: depth + 1)
        guard columns.map(\.count) == rows else {
          throw corrupt("its values follow from a column of other rows", block)
        }
        other.keep(columns)
        return columns
      }
      let columns = try ArchiveSource.columns(plain, blobs)
      for column in columns { try check(column, block) }
      return columns
    } catch let error as RecordError {
      throw corrupt(error.message, block, at: block.offset + UInt64(BlockHeader.size + error.offset))
    }
  }

  /// Throws `RecordError` for values that can't stand in this place, or aren't in the bounds that the footer says.
  private func check(_ column: Column, _ block: ArchiveBlock) throws {
    guard block.zone.encloses(column.zone) else {
      throw RecordError(message: "values are outside of the bounds that the footer says", offset: 0)
    }
    let slotCount = types(block.table).count
    let isLink = block.table >= schema.entities.count && block.place <= JoinSlot.target
    guard isLink || block.place >= slotCount else { return }
    guard column.nullCount == 0 else {
      throw RecordError(message: "a key or a version is null", offset: 0)
    }
    guard column.zone.minInteger > 0 else {
      throw RecordError(message: "a key or a version isn't positive", offset: 0)
    }
    guard block.place == slotCount + 1 else { return }
    for row in 1..<max(column.count, 1) where column.integer(row) <= column.integer(row - 1) {
      throw RecordError(message: "keys don't ascend", offset: 0)
    }
  }

  /// The values of a column's block that are blocks of their own, by row.
  private func blobs(
    _ header: BlockHeader, _ stored: [UInt8], _ block: ArchiveBlock
  ) throws -> [(row: Int, blob: ArchiveBlob)] {
    guard header.encoding == 1 else { return [] }
    guard hasBlobs, block.type == .data || block.type == .transformable else {
      throw RecordError(
        message: "an encoding that this program doesn't know", offset: 1 + 2 * Int(stored.first ?? 0))
    }
    let start = try ColumnBlock.prefix(header, stored).rowsLength
    var reader = RecordReader(stored)
    _ = try reader.take(start)
    return try BlobList.read(
      &reader, rows: Int(header.rows), before: block.offset, self, table: block.table, place: block.place)
  }

  /// The columns of a block's parts with blobs in their rows.
  private static func columns(
    _ plain: [Column], _ blobs: [(row: Int, blob: ArchiveBlob)]
  ) throws -> [Column] {
    if blobs.isEmpty { return plain }
    var start = 0
    var rest = blobs[...]
    return try plain.map { column in
      let own = rest.prefix { $0.row < start + column.count }
      rest = rest.dropFirst(own.count)
      for (row, _) in own where column.isNull(row - start) || !column.bytes(row - start).isEmpty {
        throw RecordError(message: "row \(row) has a value apart, and one in the column", offset: 0)
      }
      let values = ExternalValues(rows: own.map { $0.row - start }, values: own.map(\.blob))
      start += column.count
      return column.with(externalValues: values)
    }
  }

  func types(_ table: Int) -> [ValueType] { ArchiveTables.types(table, schema) }

  /// A block whose place and length are known; everything about it is checked but what its bytes mean. `checksum` is
  /// what it has to have, where that is known.
  func readBlock(
    at offset: UInt64, length: Int, kind: BlockHeader.Kind, checksum expected: UInt32? = nil,
    _ failure: (String, UInt64) -> StoreError
  ) throws -> (header: BlockHeader, stored: [UInt8]) {
    guard length >= BlockHeader.size else { throw failure("a block of \(length) bytes is too short", offset) }
    guard let file else { throw failure("the file is being written", offset) }
    let bytes = try file.bytes(length, at: offset)
    guard bytes.count == length else {
      throw failure("the file ends inside a block of \(length) bytes", offset + UInt64(bytes.count))
    }
    let header: BlockHeader
    let checksum: UInt32
    do {
      (header, checksum) = try BlockHeader.read(bytes[..<BlockHeader.size])
    } catch let error as RecordError {
      throw failure(error.message, offset + UInt64(error.offset))
    }
    guard header.kind == kind, Int(header.storedLength) == length - BlockHeader.size else {
      throw failure(
        "a block of kind \(header.kind) and \(header.storedLength) bytes isn't the one expected", offset)
    }
    let stored = Array(bytes[BlockHeader.size...])
    let found = Checksum.crc32(stored, after: Checksum.crc32(bytes[..<(BlockHeader.size - 4)]))
    guard expected ?? checksum == checksum else {
      throw failure("the block isn't the value that the column names", offset)
    }
    guard found == checksum else {
      throw failure(
        "the block's checksum is wrong: its \(length) bytes aren't those that were written", offset)
    }
    return (header, stored)
  }

  /// Takes down that a block couldn't be read.
  func note(_ error: any Error, _ block: ArchiveBlock) -> StoreError {
    let told = error as? StoreError ?? corrupt("\(error)", block)
    damage.note(told)
    return told
  }

  func corrupt(_ message: String, _ block: ArchiveBlock, at offset: UInt64? = nil) -> StoreError {
    corrupt(message, table: block.table, place: block.place, at: offset ?? block.offset)
  }

  func corrupt(_ message: String, table: Int, place: Int, at offset: UInt64) -> StoreError {
    let names = ArchiveTables.names(table, place, schema)
    return StoreError(
      .corrupt, message, entity: names.table, property: names.column, file: path, offset: offset,
      remedy: ArchiveSource.remedy)
  }

  static let remedy =
    "restore the file from a copy, or save what is readable with: cairn salvage"
}

extension Zone {
  /// Whether no value that is in the bounds of `other` is outside of these.
  fileprivate func encloses(_ other: Zone) -> Bool {
    (other.minInteger > other.maxInteger
      || minInteger <= other.minInteger && maxInteger >= other.maxInteger)
      && (other.minDouble > other.maxDouble || minDouble <= other.minDouble && maxDouble >= other.maxDouble)
      && (mayHoldNaN || !other.mayHoldNaN)
  }
}

/// Tables as archives number them: first the entities, then the joins.
enum ArchiveTables {
  /// How many tables a file may have, and slots a table: the two highest numbers of columns mean something else.
  static let limit = 65_536
  static let slotLimit = 65_534

  /// Throws `RecordError` for a schema that has more of something than fits the file's numbers.
  static func check(_ schema: Schema) throws {
    guard count(schema) <= limit, schema.entities.allSatisfy({ $0.slots.count <= slotLimit }) else {
      throw RecordError(
        message: "an archive has \(limit) tables and \(slotLimit) columns a table at most", offset: 0)
    }
  }

  static func count(_ schema: Schema) -> Int { schema.entities.count + schema.joins.count }

  static func types(_ table: Int, _ schema: Schema) -> [ValueType] {
    table < schema.entities.count ? schema.entities[table].slots.map(\.type) : JoinSlot.types
  }

  /// What the chunks of a table say they are of.
  static func entity(_ table: Int, _ schema: Schema) -> EntityID {
    table < schema.entities.count
      ? schema.entities[table].id : schema[schema.joins[table - schema.entities.count].source].owner
  }

  static func isStored(_ table: Int, _ schema: Schema) -> Bool {
    table >= schema.entities.count || !schema.entities[table].isAbstract
  }

  /// The type of a place: a slot, the versions or the keys.
  /// Whether large values of a place may be blocks of their own.
  static func mayHaveBlobs(_ table: Int, _ place: Int, _ schema: Schema) -> Bool {
    guard table < schema.entities.count, place < schema.entities[table].slots.count else { return false }
    return schema.entities[table].slots[place].allowsExternalStorage
  }

  static func mayHaveBlobs(_ schema: Schema) -> Bool {
    schema.entities.contains { $0.slots.contains { $0.allowsExternalStorage } }
  }

  static func type(ofPlace place: Int, _ types: [ValueType]) -> ValueType {
    place < types.count ? types[place] : .int64
  }

  static func number(ofPlace place: Int, slotCount: Int) -> UInt16 {
    if place < slotCount { return UInt16(place) }
    return place == slotCount ? BlockHeader.versions : BlockHeader.keys
  }

  /// For messages.
  static func names(_ table: Int, _ place: Int, _ schema: Schema) -> (table: String, column: String) {
    if table < schema.entities.count {
      let entity = schema.entities[table]
      let extra = place == entity.slots.count ? "(versions)" : "(keys)"
      return (entity.name, place < entity.slots.count ? entity.slots[place].name : extra)
    }
    let source = schema[schema.joins[table - schema.entities.count].source]
    let names = ["source", "target", "source order", "target order", "(versions)", "(keys)"]
    return ("\(schema[source.owner].name).\(source.name)", names[min(place, 5)])
  }
}
