// Turns the values of one slot, for the rows of a row group, into bytes. Formats/encodings.md specifies them.

import CairnModel

/// Encodes blocks one after another, and keeps its memory between them.
///
/// Confined to whoever made it; two of them may work at the same time. The bytes depend on the values and on
/// `effort` alone.
package final class ColumnEncoder {
  package let effort: EncodingEffort
  let scratch = Scratch()
  let deflater = BlockDeflater()
  let chooser: IntegerChooser
  private let plainChooser: IntegerChooser
  private let payload = ByteSink()

  package init(effort: EncodingEffort) {
    self.effort = effort
    chooser = IntegerChooser(
      scratch: scratch, measure: SizeMeasure(effort: effort, deflater: deflater), effort: effort)
    var plainChooser = chooser
    plainChooser.isPlain = true
    self.plainChooser = plainChooser
  }

  /// The rows of `parts`, end to end, as one block. All parts are of `type`, and have
  /// `DecodingLimits.rows` rows at most together; integers are those that the type can hold. Anything else is
  /// a programmer error. The block never takes more than the values do side by side (`PlainForms`).
  package func encode(_ parts: [Column], type: ValueType) -> EncodedBlock {
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let rows = BlockRows(parts, scratch: scratch)
    precondition(rows.count <= DecodingLimits.rows, "\(rows.count) rows are too many for a block")
    for part in parts {
      precondition(part.type == type, "a column of \(part.type) in a block of \(type)")
      precondition(part.holdsOnlyItsType, "a column of \(type) holds integers that the type can't")
    }
    payload.removeAll()
    write(rows, type, to: payload)
    let chosen = finish(payload)
    guard rows.valueCount > 0, chosen.bytes.count > PlainForms.byteCount(rows, type) else { return chosen }
    payload.removeAll()
    PlainForms.write(rows, type, to: payload, plainChooser)
    return finish(payload)
  }

  /// The same rows as what isn't known from other slots. `sources` has the columns of each of the relation's
  /// sources for the same rows, in order. Throws nothing and checks nothing but types: a relation that
  /// doesn't hold makes a large block, not a wrong one.
  package func encode(
    _ parts: [Column], type: ValueType, relation: ColumnRelation, sources: [[Column]]
  ) -> EncodedBlock {
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let rows = BlockRows(parts, scratch: scratch)
    precondition(rows.count <= DecodingLimits.rows, "\(rows.count) rows are too many for a block")
    precondition(RelationWriter.canPredict(type, by: relation.kind), "\(type) can't be predicted so")
    precondition(sources.count == relation.sources.count, "\(sources.count) sources for \(relation)")
    let sourceRows = sources.map { columns in
      precondition(columns.map(\.count) == parts.map(\.count), "sources have other rows")
      precondition(
        columns.allSatisfy { RelationWriter.canRead($0.type, for: relation.kind) },
        "\(relation) can't use such sources")
      return BlockRows(columns, scratch: scratch)
    }
    payload.removeAll()
    RelationWriter(chooser: chooser, relation: relation).write(rows, type, sourceRows, to: payload)
    return finish(payload)
  }

  private func write(_ rows: BlockRows, _ type: ValueType, to sink: ByteSink) {
    if rows.valueCount == 0 {
      return sink.append((rows.count == 0 ? NullForm.none : .all).rawValue)
    }
    switch type {
    case .int16, .int32, .int64, .bool, .key: writeIntegers(rows, to: sink)
    case .double, .date, .float, .decimal, .uuid, .string, .uri, .data, .transformable:
      NullMaskWriter(chooser: chooser).write(rows, to: sink)
      writeValues(rows, type, to: sink)
    }
  }

  private func writeValues(_ rows: BlockRows, _ type: ValueType, to sink: ByteSink) {
    switch type {
    case .double, .date, .float:
      FloatingWriter(chooser: chooser).write(rows, isFloat: type == .float, to: sink)
    case .decimal: DecimalWriter(chooser: chooser).write(rows, to: sink)
    case .uuid: UUIDWriter(chooser: chooser).write(rows, to: sink)
    default: TextWriter(chooser: chooser).write(rows, to: sink)
    }
  }

  /// Nulls apart or in band, whichever is thought to be smaller.
  private func writeIntegers(_ rows: BlockRows, to sink: ByteSink) {
    let values = rows.integers(scratch: scratch)
    if rows.nullCount == 0 {
      sink.append(NullForm.none.rawValue)
      return chooser.write(values, rows.count, to: sink)
    }
    let compact = scratch.take(Int64.self, rows.count)
    compact.update(from: values, count: rows.count)
    rows.compact(compact)
    // Where nulls are few, differences are better without them, and all else hardly worse with them.
    let areFew = rows.nullCount * 8 < rows.count && effort != .smallest && effort.triesForms
    let apart = chooser.choose(
      compact, rows.valueCount, among: areFew ? [.delta, .deltaOfDelta] : IntegerShape.allCases)
    if effort.triesForms, let null = inBandNull(compact, rows.valueCount) {
      for row in 0..<rows.count where rows.isNull(row) { values[row] = null }
      let inBand = chooser.choose(
        values, rows.count, among: areFew ? [.byValue, .byFrequency, .runs] : IntegerShape.allCases)
      let maskCost = chooser.measure { NullMaskWriter(chooser: chooser).write(rows, to: $0) }
      if inBand.estimate <= apart.estimate + maskCost {
        sink.append(NullForm.inBand.rawValue)
        sink.append(zigzag: null)
        return inBand.write(to: sink)
      }
    }
    NullMaskWriter(chooser: chooser).write(rows, to: sink)
    apart.write(to: sink)
  }

  /// An integer beside the values that isn't one of them.
  private func inBandNull(_ values: UnsafePointer<Int64>, _ n: Int) -> Int64? {
    let (low, high) = IntegerBounds.of(values, n)
    if low > Int64.min { return low - 1 }
    return high < Int64.max ? high + 1 : nil
  }

  /// Deflates the payload where that saves 3 %.
  private func finish(_ payload: ByteSink) -> EncodedBlock {
    let limit = payload.count * 97 / 100
    var best: [UInt8]?
    for strategy in DeflateStrategy.allCases {
      guard isWorthTrying(strategy, best?.count, of: payload.count) else { continue }
      let room = min(limit, best.map { $0.count - 1 } ?? limit)
      if let level = effort.deflateLevel,
        let deflated = deflater.deflate(payload.buffer, level: level, strategy: strategy, limit: room)
      {
        best = Array(deflated)
      }
    }
    if let best { return EncodedBlock(bytes: best, codec: .deflate, rawLength: payload.count) }
    return EncodedBlock(bytes: Array(payload.buffer), codec: .stored, rawLength: payload.count)
  }

  /// In shorter payloads of forms that weren't tried no matches are sought, in bytes.
  private static let leastMatched = 1 << 15

  /// Where no form is tried, Huffman codes alone for what is short and the usual way for what is long. Else beside the
  /// usual way all others where a file is to be smallest; else only Huffman codes alone, which cost little,
  /// where matches hardly made the payload smaller.
  private func isWorthTrying(_ strategy: DeflateStrategy, _ best: Int?, of count: Int) -> Bool {
    if effort == .quick {
      return (strategy == .standard) == (count >= ColumnEncoder.leastMatched) && best == nil
    }
    return switch strategy {
    case .standard: true
    case .filtered: effort == .smallest
    case .huffmanOnly: effort == .smallest || best.map { $0 * 2 > count } ?? true
    }
  }
}

extension EncodingEffort {
  /// nil where nothing is deflated.
  var deflateLevel: Int? {
    switch self {
    case .untried: nil
    case .quick, .fastest: 1
    case .default: 6
    case .smallest: 9
    }
  }
}
