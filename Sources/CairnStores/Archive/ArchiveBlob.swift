// Large values of attributes that allow external storage: a block of the same file for each, read alone.

import CairnModel
import Foundation

/// One value that is a block of its own. It is read each time it is asked for.
final class ArchiveBlob: ExternalValue {
  let source: ArchiveSource
  /// Of the block's header.
  let offset: UInt64
  /// Header and bytes.
  let length: Int
  /// Of the value.
  let byteCount: Int
  /// What the block's header says, so that no other block passes for it.
  let checksum: UInt32
  let table: Int
  let place: Int

  /// Values of so many bytes or more are kept apart.
  static let leastSize = 16 << 10

  init(
    source: ArchiveSource, offset: UInt64, length: Int, byteCount: Int, checksum: UInt32, table: Int,
    place: Int
  ) {
    self.source = source
    self.offset = offset
    self.length = length
    self.byteCount = byteCount
    self.checksum = checksum
    self.table = table
    self.place = place
  }

  /// Notes with the source what is wrong, as reading a column does.
  func read() throws -> Data {
    do {
      return try verified()
    } catch {
      let told = error as? StoreError ?? corrupt("\(error)")
      source.damage.note(told)
      throw told
    }
  }

  /// The value; everything about it is checked. Takes as much memory as it has bytes, and as its block has.
  func verified() throws -> Data {
    let (header, stored) = try block()
    if header.codec == 0 { return Data(stored) }
    do {
      let inflater = BlockInflater()
      return try stored.withUnsafeBufferPointer { buffer in
        try withExtendedLifetime(inflater) {
          Data(buffer: try inflater.inflate(buffer, rawLength: byteCount))
        }
      }
    } catch let error as PayloadError {
      throw corrupt("\(error)")
    }
  }

  /// The block as it lies in the file, its checksum checked.
  func block() throws -> (header: BlockHeader, stored: [UInt8]) {
    let (header, stored) = try source.readBlock(at: offset, length: length, kind: .blob, checksum: checksum) {
      message, at in corrupt(message, at)
    }
    guard Int(header.table) == table, Int(header.column) == place, header.encoding == 0, header.rows == 1,
      Int(header.rawLength) == byteCount, header.codec == 1 || stored.count == byteCount
    else { throw corrupt("the block isn't the value that belongs here") }
    return (header, stored)
  }

  func isKept(_ isKept: Bool) {
    if isKept { source.cache.hold(byteCount) } else { source.cache.letGo(byteCount) }
  }

  private func corrupt(_ message: String, _ at: UInt64? = nil) -> StoreError {
    source.corrupt(message, table: table, place: place, at: at ?? offset)
  }

  // MARK: Writing

  /// The block of a value of `table` and `place`, deflated where that makes it smaller.
  static func block(
    _ value: UnsafeBufferPointer<UInt8>, table: Int, place: Int, group: UInt32, level: Int,
    deflater: BlockDeflater
  ) -> [UInt8] {
    let deflated = deflater.deflate(value, level: level, limit: value.count - 1)
    return block(
      deflated ?? value, codec: deflated == nil ? 0 : 1, rawLength: value.count, table: table, place: place,
      group: group)
  }

  static func block(
    _ stored: some Collection<UInt8>, codec: UInt8, rawLength: Int, table: Int, place: Int, group: UInt32
  ) -> [UInt8] {
    let header = BlockHeader(
      kind: .blob, codec: codec, table: UInt16(table), column: UInt16(place), group: group, rows: 1,
      rawLength: UInt32(rawLength), storedLength: UInt32(stored.count))
    let bytes = Array(stored)
    return header.bytes(over: bytes) + bytes
  }
}

/// Where a column's blobs are: what stands before its payload. Rows are numbered over all parts.
enum BlobList {
  /// The longest value that is kept apart: what a reader takes memory for at once.
  static let longest = 1 << 30

  static func put(_ blobs: [(row: Int, blob: ArchiveBlob)], _ writer: inout RecordWriter) {
    writer.put(varint: blobs.count)
    var (next, end) = (0, UInt64(0))
    for (row, blob) in blobs {
      writer.put(varint: row - next)
      writer.put(zigzag: Int64(bitPattern: blob.offset &- end))
      writer.put(varint: blob.length)
      writer.put(varint: blob.byteCount)
      writer.put(blob.checksum)
      next = row + 1
      end = blob.offset + UInt64(blob.length)
    }
  }

  /// `rows` is how many rows there are, and `end` where the column's block is, which all blobs come before. Throws
  /// `RecordError`.
  static func read(
    _ reader: inout RecordReader, rows: Int, before end: UInt64, _ source: ArchiveSource, table: Int,
    place: Int
  ) throws -> [(row: Int, blob: ArchiveBlob)] {
    var result: [(Int, ArchiveBlob)] = []
    let count = try reader.count(atMost: min(rows, reader.remaining))
    guard count > 0 else { throw reader.error("a list of no values") }
    var (next, last) = (0, UInt64(0))
    for _ in 0..<count {
      let row = next + (try reader.count(atMost: rows))
      guard row < rows else { throw reader.error("a value of row \(row), and there are \(rows)") }
      let offset = last &+ UInt64(bitPattern: try reader.zigzag())
      let length = try reader.count(atMost: Int(UInt32.max) + BlockHeader.size)
      let (blobEnd, overflow) = offset.addingReportingOverflow(UInt64(length))
      guard offset >= CommitSlot.end, !overflow, blobEnd <= end, length > BlockHeader.size else {
        throw reader.error("a value of \(length) bytes at \(offset), where none can be")
      }
      let byteCount = try reader.count(atMost: longest)
      guard byteCount > 0, byteCount <= 1032 * (length - BlockHeader.size) + 64 else {
        throw reader.error("a value of \(byteCount) bytes in a block of \(length)")
      }
      let checksum = try reader.integer(UInt32.self)
      result.append(
        (
          row,
          ArchiveBlob(
            source: source, offset: offset, length: length, byteCount: byteCount, checksum: checksum,
            table: table, place: place)
        ))
      next = row + 1
      last = blobEnd
    }
    return result
  }
}

extension Column {
  /// The blobs of the first `count` rows, by row.
  func blobs(_ count: Int) -> [(row: Int, blob: ArchiveBlob)] {
    guard let values = externalValues else { return [] }
    return zip(values.rows, values.values).compactMap { row, value in
      row < count ? (value as? ArchiveBlob).map { (row, $0) } : nil
    }
  }
}
