// Turns a block's bytes back into columns. The bytes may be anything: what isn't a payload throws.

import CairnModel

/// Decodes blocks one after another, and keeps its memory between them.
///
/// Confined to whoever made it; two of them may work at the same time.
package final class ColumnDecoder {
  private let limits: DecodingLimits
  let scratch = Scratch()
  private let inflater = BlockInflater()

  package init(limits: DecodingLimits = DecodingLimits()) { self.limits = limits }

  /// The columns that were encoded: one for each count, in order, at the narrowest layout that holds it.
  ///
  /// `codec`, `rawLength` and `counts` come from beside the payload and may be wrong. Throws `PayloadError`
  /// unless the payload is one of `type` for just these rows, with nothing left over. Memory taken is bounded
  /// by `limits`, the counts, and 64 times the payload after inflating.
  ///
  /// `source` is asked for the columns of other slots, for the same rows, if values follow from these; it may
  /// use this decoder. Which slots is up to the payload: whoever answers has to refuse circles and chains
  /// longer than `ColumnRelation.maxDepth`; see `RelatedColumns`. Errors that it throws are passed on.
  package func decode(
    _ stored: UnsafeBufferPointer<UInt8>, codec: BlockCodec, rawLength: Int, type: ValueType, counts: [Int],
    source sources: ((Int) throws -> [Column])? = nil
  ) throws -> [Column] {
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let rowCount = try ColumnDecoder.total(counts)
    var source = ByteSource(try payload(stored, codec, rawLength))
    let columns = try read(type, counts, rowCount, from: &source, sources)
    guard source.remaining == 0 else { throw source.error("\(source.remaining) bytes are left over") }
    return columns
  }

  package func decode(
    _ block: EncodedBlock, type: ValueType, counts: [Int], source: ((Int) throws -> [Column])? = nil
  ) throws -> [Column] {
    try block.bytes.withUnsafeBufferPointer {
      try decode(
        $0, codec: block.codec, rawLength: block.rawLength, type: type, counts: counts, source: source)
    }
  }

  private static func total(_ counts: [Int]) throws -> Int {
    var total = 0
    for count in counts {
      guard count >= 0, count <= DecodingLimits.rows - total else {
        throw PayloadError(what: "a block can't have these counts of rows", byteOffset: 0, isInflated: false)
      }
      total += count
    }
    return total
  }

  private func payload(_ stored: UnsafeBufferPointer<UInt8>, _ codec: BlockCodec, _ rawLength: Int) throws
    -> UnsafeBufferPointer<UInt8>
  {
    guard rawLength <= limits.rawLength else {
      throw PayloadError(
        what: "\(rawLength) bytes are more than the \(limits.rawLength) allowed", byteOffset: 0,
        isInflated: false)
    }
    if codec == .deflate { return try inflater.inflate(stored, rawLength: rawLength) }
    guard stored.count == rawLength else {
      throw PayloadError(
        what: "a stored payload of \(stored.count) bytes should have \(rawLength)", byteOffset: 0,
        isInflated: false)
    }
    return stored
  }

  private func read(
    _ type: ValueType, _ counts: [Int], _ rowCount: Int, from source: inout ByteSource,
    _ sources: ((Int) throws -> [Column])?
  ) throws -> [Column] {
    let byte = try source.byte()
    if byte == relationMarker { return try readRelated(type, counts, rowCount, from: &source, sources) }
    guard let form = NullForm(rawValue: byte), form != .likeSource else {
      throw PayloadError(what: "nulls have no form \(byte)", byteOffset: source.offset - 1)
    }
    let reader = IntegerReader(scratch: scratch)
    var mask = NullMask(rowCount: rowCount, scratch: scratch)
    let isInteger = type.integerRange != nil
    switch form {
    case .none: break
    case .all: mask.setAll()
    case .bitmap: try mask.readBitmap(from: &source)
    case .runs: try mask.readRuns(from: &source, reader)
    case .likeSource: break
    case .inBand:
      guard isInteger else { throw source.error("nulls of \(type) can't be in band") }
      let null = try source.zigzag()
      let values = scratch.take(Int64.self, rowCount)
      try reader.read(rowCount, from: &source, into: values)
      mask.readInBand(null, values)
      return try ColumnAssembly(type: type, counts: counts, mask: mask, scratch: scratch).integers(values)
    }
    return try readValues(
      ColumnAssembly(type: type, counts: counts, mask: mask, scratch: scratch), from: &source, reader)
  }

  /// Sources are decoded between, which needs the memory that the payload was inflated into.
  private func readRelated(
    _ type: ValueType, _ counts: [Int], _ rowCount: Int, from source: inout ByteSource,
    _ sources: ((Int) throws -> [Column])?
  ) throws -> [Column] {
    guard let sources else { throw source.error("values follow from other slots, which aren't there") }
    let copy = scratch.take(UInt8.self, source.count)
    copy.update(from: source.base, count: source.count)
    var copied = ByteSource(UnsafeBufferPointer(start: copy, count: source.count))
    _ = try copied.take(source.offset)
    let reader = RelationReader(reader: IntegerReader(scratch: scratch), counts: counts, source: sources)
    let columns = try reader.read(type, rowCount, from: &copied)
    _ = try source.take(copied.offset - source.offset)
    return columns
  }

  private func readValues(
    _ assembly: ColumnAssembly, from source: inout ByteSource, _ reader: IntegerReader
  ) throws -> [Column] {
    switch assembly.type {
    case .int16, .int32, .int64, .bool, .key:
      let values = scratch.take(Int64.self, assembly.rowCount)
      try reader.read(assembly.valueCount, from: &source, into: values)
      assembly.mask.expand(values, filler: 0)
      return try assembly.integers(values)
    case .double, .date, .float: return try FloatingReader(reader: reader).read(assembly, from: &source)
    case .decimal: return try DecimalReader(reader: reader).read(assembly, from: &source)
    case .uuid: return try UUIDReader(reader: reader).read(assembly, from: &source)
    case .string, .uri, .data, .transformable:
      return try TextReader(reader: reader, allowsFronts: limits.allowsFronts).read(assembly, from: &source)
    }
  }
}
