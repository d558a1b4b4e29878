// Reads what a footer says, and refuses what can't be. Formats/archive.md has the bytes.

import CairnModel
import Foundation

extension ArchiveIndex {
  /// A footer's content, before it is put on top of its predecessor.
  struct Footer {
    var index: ArchiveIndex
    /// The footer that this one only says the difference to.
    var previous: BlockPlace?
    var splices: [GroupSplice]
  }

  /// Reads a footer. `blocks` has the blocks that were met before; `end` is where the footer is, which all that it
  /// names comes before. Throws `RecordError`.
  static func read(
    _ bytes: [UInt8], source: ArchiveSource, end: UInt64, blocks: inout KnownBlocks
  ) throws -> Footer {
    var reader = RecordReader(bytes)
    guard try reader.integer(UInt8.self) == form else { throw reader.error("a footer of another form") }
    let isDelta = try reader.integer(UInt8.self)
    guard isDelta <= 1 else { throw reader.error("a footer of another kind") }
    let previous = isDelta == 1 ? try place(&reader, end) : nil
    let schema = source.schema
    var index = ArchiveIndex(
      generation: try number(&reader), time: try reader.zigzag(),
      nextGroup: UInt32(try reader.count(atMost: Int(UInt32.max))), schema: try place(&reader, end),
      metadata: try place(&reader, end), nextKeys: [], nextJoinKeys: [],
      tables: [[ArchiveGroup]](repeating: [], count: ArchiveTables.count(schema)))
    index.nextKeys = try keys(&reader, schema.entities.count)
    index.nextJoinKeys = try keys(&reader, schema.joins.count)
    var splices: [GroupSplice] = []
    for _ in 0..<(try reader.countOfRest()) {
      let table = try reader.count(atMost: max(index.tables.count - 1, 0))
      guard table < index.tables.count, ArchiveTables.isStored(table, schema) else {
        throw reader.error("table \(table) can't have rows")
      }
      var splice = GroupSplice(
        table: table, start: try reader.count(atMost: Int(UInt32.max)),
        removed: try reader.count(atMost: Int(UInt32.max)), inserted: [])
      var context = GroupContext()
      let types = source.types(table)
      let place = BlockSite(source: source, table: table, types: types, end: end, nextGroup: index.nextGroup)
      for _ in 0..<(try reader.countOfRest()) {
        splice.inserted.append(try group(&reader, place, &blocks, &context))
      }
      splices.append(splice)
    }
    guard reader.isAtEnd else { throw reader.error("bytes are left over") }
    return Footer(index: index, previous: previous, splices: splices)
  }

  private static func number(_ reader: inout RecordReader) throws -> Int64 {
    let raw = try reader.varint()
    guard let value = Int64(exactly: raw) else { throw reader.error("\(raw) is too great") }
    return value
  }

  private static func keys(_ reader: inout RecordReader, _ count: Int) throws -> [Int64] {
    guard try reader.countOfRest() == count else {
      throw reader.error("keys for other tables than the schema's")
    }
    return try (0..<count).map { _ in
      let key = try number(&reader)
      guard key > 0 else { throw reader.error("a key of \(key)") }
      return key
    }
  }

  private static func place(_ reader: inout RecordReader, _ end: UInt64) throws -> BlockPlace {
    let offset = try reader.varint()
    let length = try reader.count(atMost: Int(UInt32.max) + BlockHeader.size)
    try check(offset, length, end, reader)
    return BlockPlace(offset: offset, length: length)
  }

  private static func check(_ offset: UInt64, _ length: Int, _ end: UInt64, _ reader: RecordReader) throws {
    let (last, overflow) = offset.addingReportingOverflow(UInt64(length))
    guard offset >= CommitSlot.end, !overflow, last <= end, length > BlockHeader.size else {
      throw reader.error("a block of \(length) bytes at \(offset), where none can be")
    }
  }

  /// What the blocks of a table have in common.
  private struct BlockSite {
    let source: ArchiveSource
    let table: Int
    let types: [ValueType]
    /// Of the footer.
    let end: UInt64
    let nextGroup: UInt32
  }

  private static func group(
    _ reader: inout RecordReader, _ site: BlockSite, _ blocks: inout KnownBlocks,
    _ context: inout GroupContext
  ) throws -> ArchiveGroup {
    let (id, overflow) = try reader.zigzag().addingReportingOverflow(context.id)
    guard !overflow, id >= 0, id < Int64(site.nextGroup) else {
      throw reader.error("group \(id) isn't numbered yet")
    }
    context.id = id
    let chunkCount = Int(try reader.integer(UInt8.self))
    guard (1...ArchiveGroup.capacity).contains(chunkCount) else {
      throw reader.error("a group of \(chunkCount) chunks")
    }
    let chunks = try (0..<chunkCount).map { _ in try chunk(&reader, &context) }
    let types = site.types
    var columns: [ArchiveGroup.Reference?] = []
    columns.reserveCapacity(types.count + 2)
    var isRelated = false
    for place in 0..<types.count + 2 {
      let reference = try reference(&reader, place, UInt32(id), site, chunkCount, &blocks, &context)
      if let reference, !reference.block.sources.isEmpty { isRelated = true }
      let mayMiss = place == types.count || place == types.count + 1 && chunks.allSatisfy(\.hasDenseKeys)
      if reference == nil, !mayMiss { throw reader.error("a group without the block of a column") }
      columns.append(reference)
    }
    if isRelated { try checkDepth(columns, reader) }
    return ArchiveGroup(id: UInt32(id), table: site.table, types: types, chunks: chunks, columns: columns)
  }

  /// Throws for columns that follow from each other in a circle, or in a chain that is too long.
  private static func checkDepth(_ columns: [ArchiveGroup.Reference?], _ reader: RecordReader) throws {
    var level = Set(columns.indices.filter { !(columns[$0]?.block.sources.isEmpty ?? true) })
    for _ in 0..<ColumnRelation.maxDepth where !level.isEmpty {
      level = level.filter { place in columns[place]!.block.sources.contains { level.contains($0) } }
    }
    guard level.isEmpty else { throw reader.error("columns follow from too many others, or from themselves") }
  }

  private static func chunk(
    _ reader: inout RecordReader, _ context: inout GroupContext
  ) throws -> ArchiveGroup.ChunkInfo {
    let count = try reader.count(atMost: Chunk.capacity)
    let step = try number(&reader)
    let (firstKey, overflow) = context.lastKey.addingReportingOverflow(step)
    let flags = try reader.integer(UInt8.self)
    guard count > 0, step > 0, !overflow, flags & ~(Flag.isDense | Flag.hasDeleted) == 0 else {
      throw reader.error("a chunk of \(count) rows from key \(firstKey) on")
    }
    let isDense = flags & Flag.isDense != 0
    let span = isDense ? Int64(count - 1) : try number(&reader)
    let (lastKey, overflow2) = firstKey.addingReportingOverflow(span)
    guard !overflow2, span >= Int64(count - 1) else {
      throw reader.error("keys that aren't enough for the rows")
    }
    context.lastKey = lastKey
    var deleted: Bitmap?
    if flags & Flag.hasDeleted != 0 {
      let bytes = try reader.take((count + 7) / 8)
      let bitmap = Bitmap(bytes: bytes, rows: count)
      guard bitmap.setCount > 0, bitmap.setCount < count,
        count % 8 == 0 || bytes.last! >> UInt8(count % 8) == 0
      else {
        throw reader.error("\(bitmap.setCount) of \(count) rows are deleted")
      }
      deleted = bitmap
    }
    return .init(count: count, firstKey: firstKey, lastKey: lastKey, hasDenseKeys: isDense, deleted: deleted)
  }

  private static func reference(
    _ reader: inout RecordReader, _ place: Int, _ group: UInt32, _ site: BlockSite, _ chunkCount: Int,
    _ blocks: inout KnownBlocks, _ context: inout GroupContext
  ) throws -> ArchiveGroup.Reference? {
    let (source, table, types, end) = (site.source, site.table, site.types, site.end)
    let flags = try reader.integer(UInt8.self)
    if flags == 0 { return nil }
    let known = source.hasBlobs ? Flag.all | Flag.hasBlobs : Flag.all
    guard flags & Flag.isThere != 0, flags & ~known == 0 else {
      throw reader.error("flags \(flags) of a block")
    }
    let offset = context.end &+ UInt64(bitPattern: try reader.zigzag())
    let length = try reader.count(atMost: Int(UInt32.max) + BlockHeader.size)
    try check(offset, length, end, reader)
    context.end = offset + UInt64(length)
    let firstPart = flags & Flag.laterPart == 0 ? 0 : Int(try reader.integer(UInt8.self))
    guard firstPart + chunkCount <= ArchiveGroup.capacity else {
      throw reader.error("part \(firstPart + chunkCount - 1) of a block")
    }
    let home = flags & Flag.otherGroup == 0 ? group : UInt32(try reader.count(atMost: Int(UInt32.max)))
    guard home < site.nextGroup else { throw reader.error("group \(home) isn't numbered yet") }
    let sources = flags & Flag.isRelated == 0 ? [] : try sources(&reader, place, types.count)
    let zone = try zone(&reader, flags)
    var blobBytes: [Int] = []
    if flags & Flag.hasBlobs != 0 {
      blobBytes = try (0..<chunkCount).map { _ in try reader.count(atMost: Int(clamping: end)) }
    }
    if let block = blocks.block(at: offset) {
      guard block.length == length, block.table == table, block.place == place, block.group == home,
        block.sources == sources
      else {
        throw reader.error("two blocks at \(offset)")
      }
      return .init(block: block, firstPart: firstPart, blobBytes: blobBytes)
    }
    let block = ArchiveBlock(
      source: source, offset: offset, length: length, table: table, place: place, group: home,
      type: ArchiveTables.type(ofPlace: place, types), zone: zone, sources: sources)
    blocks.add(block)
    return .init(block: block, firstPart: firstPart, blobBytes: blobBytes)
  }

  private static func sources(_ reader: inout RecordReader, _ place: Int, _ slotCount: Int) throws -> [Int] {
    let count = Int(try reader.integer(UInt8.self))
    guard (1...ColumnRelation.maxSources).contains(count), place < slotCount else {
      throw reader.error("values that follow from \(count) columns")
    }
    return try (0..<count).map { _ in
      let slot = try reader.count(atMost: slotCount - 1)
      guard slot != place else { throw reader.error("values that follow from themselves") }
      return slot
    }
  }

  private static func zone(_ reader: inout RecordReader, _ flags: UInt8) throws -> Zone {
    var zone = Zone()
    if flags & Flag.integerZone != 0 {
      zone.minInteger = try reader.zigzag()
      let span = try reader.varint()
      zone.maxInteger = zone.minInteger &+ Int64(bitPattern: span)
      guard zone.maxInteger >= zone.minInteger else { throw reader.error("bounds that overflow") }
    }
    if flags & Flag.doubleZone != 0 {
      zone.minDouble = try reader.double()
      zone.maxDouble = try reader.double()
      guard zone.minDouble <= zone.maxDouble else { throw reader.error("bounds that don't ascend") }
    }
    zone.mayHoldNaN = flags & Flag.mayHoldNaN != 0
    return zone
  }
}

extension Bitmap {
  fileprivate convenience init(bytes: ArraySlice<UInt8>, rows: Int) {
    let list = Array(bytes)
    self.init(setting: (0..<rows).filter { list[$0 >> 3] & (1 << UInt8($0 & 7)) != 0 }, capacity: rows)
  }
}
