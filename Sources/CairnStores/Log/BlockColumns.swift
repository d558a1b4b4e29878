// Columns of many rows in a transaction: blocks in the archive's encodings, each of some thousand rows.

import CairnModel

/// Where the blocks of a batch lie: those of the keys, then those of each column.
///
/// Sendable: it is a constant, and the bytes that it points to are only read.
struct BlockColumns: @unchecked Sendable {
  private struct Block {
    let codec: BlockCodec
    let rawLength: Int
    let length: Int
    /// In the payload.
    let offset: Int
  }

  private let rowCount: Int
  private let source: ByteSource
  private var blocks: [Block] = []
  /// How long all blocks are after inflating.
  private(set) var rawLength = 0

  private static func groupCount(_ rows: Int) -> Int {
    (rows + TransactionCoding.blockRows - 1) / TransactionCoding.blockRows
  }

  private static func group(_ index: Int, of rows: Int) -> Range<Int> {
    let start = index * TransactionCoding.blockRows
    return start..<min(start + TransactionCoding.blockRows, rows)
  }

  /// With fewer rows a second thread isn't worth starting.
  private static let leastShared = 4096

  // MARK: Writing

  /// Returns how long all blocks are after inflating.
  static func write(_ keys: [Int64], _ columns: [Column], to sink: ByteSink) -> Int {
    let groups = groupCount(keys.count)
    let encode: @Sendable (Int, ColumnEncoder) -> EncodedBlock = { turn, encoder in
      let range = group(turn % groups, of: keys.count)
      let column = turn < groups ? keyColumn(keys[range]) : columns[turn / groups - 1].piece(range)
      return encoder.encode([column], type: column.type)
    }
    let count = groups * (columns.count + 1)
    let first = ColumnEncoder(effort: .untried)
    let blocks =
      keys.count < leastShared
      ? (0..<count).map { encode($0, first) }
      : SharedWork.results(count, workers: (first, ColumnEncoder(effort: .untried)), encode)
    var rawLength = 0
    for block in blocks {
      sink.append(count: block.bytes.count << 1 | Int(block.codec.rawValue))
      if block.codec == .deflate { sink.append(count: block.rawLength) }
      block.bytes.withUnsafeBufferPointer(sink.append)
      rawLength += block.rawLength
    }
    return rawLength
  }

  private static func keyColumn(_ keys: ArraySlice<Int64>) -> Column {
    let builder = ColumnBuilder(.int64)
    keys.withUnsafeBufferPointer { builder.append(contentsOf: $0) }
    return builder.finish()
  }

  // MARK: Reading

  /// Finds the blocks and steps over them. Throws `PayloadError` where they aren't all there.
  init(_ rowCount: Int, columnCount: Int, from source: inout ByteSource) throws {
    self.rowCount = rowCount
    self.source = source
    let count = BlockColumns.groupCount(rowCount).multipliedReportingOverflow(by: columnCount + 1)
    // A block takes two bytes at least.
    guard !count.overflow, count.partialValue <= source.remaining / 2 else {
      throw source.error("there aren't blocks for \(rowCount) rows")
    }
    blocks.reserveCapacity(count.partialValue)
    for _ in 0..<count.partialValue {
      let code = try source.count(upTo: Int(UInt32.max))
      let codec: BlockCodec = code & 1 == 0 ? .stored : .deflate
      let rawLength = codec == .stored ? code >> 1 : try source.count(upTo: DecodingLimits().rawLength)
      let offset = source.offset
      _ = try source.take(code >> 1)
      blocks.append(Block(codec: codec, rawLength: rawLength, length: code >> 1, offset: offset))
      self.rawLength += rawLength
    }
  }

  /// The keys, and a column for each slot. Throws `PayloadError`.
  func read(_ slots: [Slot]) throws -> ([Int64], [Column]) {
    let groups = BlockColumns.groupCount(rowCount)
    let read: @Sendable (Int, ColumnDecoder) -> Result<Column, any Error> = { column, decoder in
      Result {
        let type = column == 0 ? .int64 : slots[column - 1].type
        var parts: [Column] = []
        parts.reserveCapacity(groups)
        for group in 0..<groups {
          parts.append(try self.decode(column * groups + group, group, type, decoder))
        }
        return Column.joining(parts, type: type)
      }
    }
    let limits = DecodingLimits(allowsFronts: false)
    let first = ColumnDecoder(limits: limits)
    let results =
      rowCount < BlockColumns.leastShared
      ? (0...slots.count).map { read($0, first) }
      : SharedWork.results(slots.count + 1, workers: (first, ColumnDecoder(limits: limits)), read)
    let columns = try results.map { try $0.get() }
    return (try keys(columns[0]), Array(columns[1...]))
  }

  private func decode(_ index: Int, _ group: Int, _ type: ValueType, _ decoder: ColumnDecoder) throws
    -> Column
  {
    let block = blocks[index]
    do {
      return try decoder.decode(
        UnsafeBufferPointer(start: source.base + block.offset, count: block.length), codec: block.codec,
        rawLength: block.rawLength, type: type, counts: [BlockColumns.group(group, of: rowCount).count])[0]
    } catch let error as PayloadError {
      throw PayloadError(what: "a block of \(type): \(error)", byteOffset: block.offset)
    }
  }

  private func keys(_ column: Column) throws -> [Int64] {
    try Array(unsafeUninitializedCapacity: rowCount) { keys, initialized in
      var previous: Int64 = 0
      for row in 0..<rowCount {
        let key = column.integer(row)
        guard key > previous else {
          let block = blocks[row / TransactionCoding.blockRows]
          throw PayloadError(
            what: "keys are positive and ascend; \(key) follows \(previous)", byteOffset: block.offset)
        }
        keys[row] = key
        previous = key
      }
      initialized = rowCount
    }
  }
}
