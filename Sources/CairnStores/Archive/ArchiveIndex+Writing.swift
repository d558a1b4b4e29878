// Writes what a footer says. Formats/archive.md has the bytes.

import CairnModel
import Foundation

extension ArchiveIndex {
  /// The footer that stands for itself.
  var wholeFooter: [UInt8] {
    let splices = tables.indices.filter { !tables[$0].isEmpty }.map {
      GroupSplice(table: $0, start: 0, removed: 0, inserted: tables[$0])
    }
    return footer(splices, after: nil)
  }

  /// The footer that says what changes after the footer at `previous`.
  func deltaFooter(_ splices: [GroupSplice], after previous: BlockPlace) -> [UInt8] {
    footer(splices, after: previous)
  }

  private func footer(_ splices: [GroupSplice], after previous: BlockPlace?) -> [UInt8] {
    var writer = RecordWriter()
    writer.put(ArchiveIndex.form)
    writer.put(UInt8(previous == nil ? 0 : 1))
    if let previous { ArchiveIndex.put(previous, &writer) }
    writer.put(varint: generation)
    writer.put(zigzag: time)
    writer.put(varint: nextGroup)
    ArchiveIndex.put(schema, &writer)
    ArchiveIndex.put(metadata, &writer)
    writer.put(varint: nextKeys.count)
    for key in nextKeys { writer.put(varint: key) }
    writer.put(varint: nextJoinKeys.count)
    for key in nextJoinKeys { writer.put(varint: key) }
    writer.put(varint: splices.count)
    for splice in splices {
      writer.put(varint: splice.table)
      writer.put(varint: splice.start)
      writer.put(varint: splice.removed)
      writer.put(varint: splice.inserted.count)
      var context = GroupContext()
      for group in splice.inserted { ArchiveIndex.put(group, &writer, &context) }
    }
    return writer.bytes
  }

  private static func put(_ place: BlockPlace, _ writer: inout RecordWriter) {
    writer.put(varint: place.offset)
    writer.put(varint: place.length)
  }

  private static func put(_ group: ArchiveGroup, _ writer: inout RecordWriter, _ context: inout GroupContext)
  {
    writer.put(zigzag: Int64(group.id) - context.id)
    context.id = Int64(group.id)
    writer.put(UInt8(group.chunks.count))
    for chunk in group.chunks {
      writer.put(varint: chunk.count)
      writer.put(varint: chunk.firstKey - context.lastKey)
      context.lastKey = chunk.lastKey
      writer.put((chunk.hasDenseKeys ? Flag.isDense : 0) | (chunk.deleted == nil ? 0 : Flag.hasDeleted))
      if !chunk.hasDenseKeys { writer.put(varint: chunk.lastKey - chunk.firstKey) }
      if let deleted = chunk.deleted { writer.put(bytes: deleted.bytes(rows: chunk.count)) }
    }
    for reference in group.columns {
      guard let reference else {
        writer.put(UInt8(0))
        continue
      }
      put(reference, group.id, &writer, &context)
    }
  }

  private static func put(
    _ reference: ArchiveGroup.Reference, _ group: UInt32, _ writer: inout RecordWriter,
    _ context: inout GroupContext
  ) {
    let block = reference.block
    let zone = block.zone
    let hasIntegers = zone.minInteger <= zone.maxInteger
    let hasDoubles = zone.minDouble <= zone.maxDouble
    var flags = Flag.isThere
    if hasIntegers { flags |= Flag.integerZone }
    if hasDoubles { flags |= Flag.doubleZone }
    if zone.mayHoldNaN { flags |= Flag.mayHoldNaN }
    if reference.firstPart > 0 { flags |= Flag.laterPart }
    if block.group != group { flags |= Flag.otherGroup }
    if !block.sources.isEmpty { flags |= Flag.isRelated }
    if !reference.blobBytes.isEmpty { flags |= Flag.hasBlobs }
    writer.put(flags)
    writer.put(zigzag: Int64(bitPattern: block.offset &- context.end))
    writer.put(varint: block.length)
    context.end = block.offset + UInt64(block.length)
    if reference.firstPart > 0 { writer.put(UInt8(reference.firstPart)) }
    if block.group != group { writer.put(varint: block.group) }
    if !block.sources.isEmpty {
      writer.put(UInt8(block.sources.count))
      for slot in block.sources { writer.put(varint: slot) }
    }
    if hasIntegers {
      writer.put(zigzag: zone.minInteger)
      writer.put(varint: UInt64(bitPattern: zone.maxInteger &- zone.minInteger))
    }
    if hasDoubles {
      writer.put(zone.minDouble)
      writer.put(zone.maxDouble)
    }
    for count in reference.blobBytes { writer.put(varint: count) }
  }
}

extension Bitmap {
  /// The bits of the first `rows` rows, the lowest first.
  fileprivate func bytes(rows: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: (rows + 7) / 8)
    for row in 0..<rows where self[row] { result[row >> 3] |= 1 << UInt8(row & 7) }
    return result
  }
}
