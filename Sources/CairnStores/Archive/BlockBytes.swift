// From what a block says to its bytes and back: columns by the encodings, everything else as text that is deflated.

import CairnModel

/// A block of columns: the number of parts and their rows, then the payload of the encodings.
enum ColumnBlock {
  /// Header and bytes of columns with `rows` rows each, one to four of them.
  static func bytes(
    _ encoded: EncodedBlock, rows: [Int], blobs: [(row: Int, blob: ArchiveBlob)] = [], table: Int,
    place: Int, slotCount: Int, group: UInt32
  ) -> [UInt8] {
    var writer = RecordWriter()
    writer.put(UInt8(rows.count))
    for count in rows { writer.put(UInt16(count)) }
    if !blobs.isEmpty { BlobList.put(blobs, &writer) }
    writer.put(bytes: encoded.bytes)
    let header = BlockHeader(
      kind: .columns, codec: encoded.codec.rawValue, encoding: blobs.isEmpty ? 0 : 1, table: UInt16(table),
      column: ArchiveTables.number(ofPlace: place, slotCount: slotCount), group: group,
      rows: UInt32(rows.reduce(0, +)), rawLength: UInt32(encoded.rawLength),
      storedLength: UInt32(writer.bytes.count))
    return header.bytes(over: writer.bytes) + writer.bytes
  }

  /// What stands before a block's payload.
  struct Prefix {
    let codec: BlockCodec
    /// Of each part.
    let rows: [Int]
    /// How many bytes the numbers of rows take.
    let rowsLength: Int
    /// How many bytes it takes, a list of blobs included.
    let length: Int
  }

  /// Throws `RecordError`.
  static func prefix(_ header: BlockHeader, _ stored: [UInt8]) throws -> Prefix {
    var reader = RecordReader(stored)
    let count = Int(try reader.integer(UInt8.self))
    guard (1...ArchiveGroup.capacity).contains(count) else { throw reader.error("a block of \(count) parts") }
    let rows = try (0..<count).map { _ in Int(try reader.integer(UInt16.self)) }
    guard rows.allSatisfy({ (1...Chunk.capacity).contains($0) }), rows.reduce(0, +) == Int(header.rows) else {
      throw reader.error("parts of \(rows) rows in a block of \(header.rows)")
    }
    guard header.encoding <= 1 else { throw reader.error("an encoding that this program doesn't know") }
    guard let codec = BlockCodec(rawValue: header.codec) else { throw reader.error("codec \(header.codec)") }
    let rowsLength = reader.offset
    if header.encoding == 1 {
      for _ in 0..<(try reader.countOfRest()) {
        _ = (try reader.varint(), try reader.zigzag(), try reader.varint(), try reader.varint())
        _ = try reader.integer(UInt32.self)
      }
    }
    return Prefix(codec: codec, rows: rows, rowsLength: rowsLength, length: reader.offset)
  }

  /// The columns of a block, one a part. `source` has the columns of a slot that its values follow from. Throws
  /// `RecordError`, what `source` throws, and never allocates more than the block's size allows.
  static func decode(
    _ header: BlockHeader, _ stored: [UInt8], type: ValueType, decoder: ColumnDecoder,
    source: (_ slot: Int, _ rows: [Int]) throws -> [Column]
  ) throws -> [Column] {
    let prefix = try prefix(header, stored)
    do {
      return try withoutActuallyEscaping(source) { source in
        try stored.withUnsafeBufferPointer { buffer in
          try decoder.decode(
            UnsafeBufferPointer(rebasing: buffer[prefix.length...]), codec: prefix.codec,
            rawLength: Int(header.rawLength), type: type, counts: prefix.rows,
            source: { try source($0, prefix.rows) })
        }
      }
    } catch let error as PayloadError {
      throw RecordError(message: "\(error)", offset: prefix.length)
    }
  }
}

/// A block of text: a schema, metadata, a footer.
enum TextBlock {
  /// The longest text, in bytes. Readers refuse more before they take memory for it.
  static let limit = 64 << 20

  /// Whether no reader refuses a text of `length` bytes that takes `storedLength` in the file.
  private static func isInBounds(_ length: Int, _ storedLength: Int) -> Bool {
    length <= limit && length <= 64 * storedLength + 65_536
  }

  /// Header and bytes. Throws for a text that is longer than `limit`.
  static func encode(
    _ kind: BlockHeader.Kind, _ text: [UInt8], level: Int, deflater: BlockDeflater = BlockDeflater()
  ) throws -> [UInt8] {
    guard text.count <= limit else {
      throw StoreError(
        .unsupportedRequest, "the \(kind) takes \(text.count) bytes, and an archive has room for \(limit)",
        remedy: "keep large data in rows")
    }
    let deflated = text.withUnsafeBufferPointer { buffer in
      // What it returns is its own memory.
      withExtendedLifetime(deflater) {
        deflater.deflate(buffer, level: level, limit: max(text.count - 1, 0)).flatMap {
          isInBounds(text.count, $0.count) ? Array($0) : nil
        }
      }
    }
    let stored = deflated ?? text
    let header = BlockHeader(
      kind: kind, codec: deflated == nil ? 0 : 1, rawLength: UInt32(text.count),
      storedLength: UInt32(stored.count))
    return header.bytes(over: stored) + stored
  }

  /// Throws `RecordError` for a block that no text has. Before memory is taken for it.
  static func check(_ header: BlockHeader, _ stored: [UInt8]) throws {
    guard header.encoding == 0, header.table == 0, header.column == 0, header.group == 0, header.rows == 0
    else {
      throw RecordError(message: "a block of text says that it has rows", offset: 0)
    }
    guard isInBounds(Int(header.rawLength), stored.count) else {
      throw RecordError(
        message: "a text of \(header.rawLength) bytes in \(stored.count) is more than there may be", offset: 0
      )
    }
    guard header.codec != 0 || header.rawLength == header.storedLength else {
      throw RecordError(message: "a stored block of two lengths", offset: 0)
    }
  }

  /// Throws `RecordError`.
  static func decode(_ header: BlockHeader, _ stored: [UInt8]) throws -> [UInt8] {
    try check(header, stored)
    if header.codec == 0 { return stored }
    do {
      let inflater = BlockInflater()
      return try stored.withUnsafeBufferPointer { buffer in
        try withExtendedLifetime(inflater) {
          Array(try inflater.inflate(buffer, rawLength: Int(header.rawLength)))
        }
      }
    } catch let error as PayloadError {
      throw RecordError(message: "\(error)", offset: 0)
    }
  }
}
