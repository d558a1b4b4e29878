// Writes the values of a slot as what isn't known from others in the same row.

import CairnModel

/// The first byte of a payload whose values are predicted.
let relationMarker: UInt8 = 16

/// How doubles and dates that are predicted are made of integers.
enum PredictedView: UInt8 {
  case patterns = 0
  /// Every value is a whole number.
  case whole = 1
}

struct RelationWriter {
  let chooser: IntegerChooser
  let relation: ColumnRelation

  /// Whether the values of a type can be predicted, and by which kinds.
  static func canPredict(_ type: ValueType, by kind: ColumnRelation.Kind) -> Bool {
    if kind.joint != nil { return ItemRelation.types.contains(type) }
    return type.integerRange != nil || (kind.isKeyed && (type == .double || type == .date || type == .float))
  }

  /// Whether values of a type can be a source.
  static func canRead(_ type: ValueType, for kind: ColumnRelation.Kind) -> Bool {
    if kind.joint != nil { return ItemRelation.types.contains(type) }
    return kind.isKeyed ? type != .decimal && type != .uuid : type.integerRange != nil
  }

  /// `sources` are the rows of the relation's sources, in order.
  func write(_ rows: BlockRows, _ type: ValueType, _ sources: [BlockRows], to sink: ByteSink) {
    let scratch = chooser.scratch
    sink.append(relationMarker)
    sink.append(count: sources.count)
    for slot in relation.sources { sink.append(count: slot) }
    sink.append(relation.kind.code)
    switch relation.kind {
    case .sum(let sum): sink.append(sum.rawValue)
    case .quotient(let divisor), .remainder(let divisor): sink.append(varint: UInt64(divisor))
    case .item(let joint): sink.append(joint)
    case .lastOfKey, .nearLastOfKey: break
    }
    writeNulls(rows, sources, to: sink)
    if rows.valueCount == 0 { return }
    if let joint = relation.kind.joint {
      return ItemRelation.write(rows, sources[0], joint: joint, to: sink, chooser)
    }
    let values = target(rows, type, to: sink)
    rows.compact(values)
    if relation.kind.isKeyed {
      writeKeyed(values, rows.valueCount, KeyedRows(sources, skipping: rows, scratch: scratch)!, to: sink)
    } else {
      writeDifferences(values, rows, sources, to: sink)
    }
  }

  /// The values as integers, and how they are made of these.
  private func target(_ rows: BlockRows, _ type: ValueType, to sink: ByteSink) -> UnsafeMutablePointer<Int64>
  {
    if type.integerRange != nil { return rows.integers(scratch: chooser.scratch) }
    let values = rows.bitPatterns(scratch: chooser.scratch)
    let whole = chooser.scratch.take(Int64.self, rows.count)
    for row in 0..<rows.count {
      guard let integer = ScaledDecimals.integer(for: values[row], 0, isFloat: type == .float) else {
        sink.append(PredictedView.patterns.rawValue)
        return values
      }
      whole[row] = integer
    }
    sink.append(PredictedView.whole.rawValue)
    return whole
  }

  // MARK: Nulls

  /// As in other payloads, or as a list of rows that differ from a source in being null.
  private func writeNulls(_ rows: BlockRows, _ sources: [BlockRows], to sink: ByteSink) {
    let scratch = chooser.scratch
    let mask = NullMaskWriter(chooser: chooser)
    if rows.nullCount == 0 || rows.nullCount == rows.count { return mask.write(rows, to: sink) }
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    var best: (index: Int, count: Int)?
    for (index, source) in sources.enumerated() where source.nullCount > 0 {
      let count = RelationWriter.differing(rows, source)
      if count < best?.count ?? Int.max { best = (index, count) }
    }
    guard let best else { return mask.write(rows, to: sink) }
    let listed = { (target: ByteSink) in
      target.append(NullForm.likeSource.rawValue)
      target.append(count: best.index)
      target.append(count: best.count)
      let list = scratch.take(Int64.self, best.count)
      var next = 0
      for row in 0..<rows.count where rows.isNull(row) != sources[best.index].isNull(row) {
        list[next] = Int64(row)
        next += 1
      }
      IntegerShaper.writeSmall(list, best.count, to: target, scratch: scratch)
    }
    if chooser.measure(listed) <= chooser.measure({ mask.write(rows, to: $0) }) {
      listed(sink)
    } else {
      mask.write(rows, to: sink)
    }
  }

  private static func differing(_ a: BlockRows, _ b: BlockRows) -> Int {
    var count = 0
    for word in 0..<((a.count + 63) / 64) { count += (a.nullBits[word] ^ b.nullBits[word]).nonzeroBitCount }
    return count
  }

  // MARK: Values

  private func writeKeyed(
    _ values: UnsafePointer<Int64>, _ n: Int, _ keys: KeyedRows, to sink: ByteSink
  ) {
    let scratch = chooser.scratch
    let seen = scratch.take(Int64.self, n)
    let listed = scratch.take(Int64.self, n)
    var (seenCount, listedCount) = (0, 0)
    let isNear = relation.kind == .nearLastOfKey
    keys.forEach { i, last in
      let value = values[i]
      if let last {
        seen[seenCount] = isNear ? value &- last : value == last ? 0 : 1
        seenCount += 1
      }
      if last == nil || !isNear && value != last {
        listed[listedCount] = value
        listedCount += 1
      }
      return value
    }
    chooser.write(seen, seenCount, to: sink)
    chooser.write(listed, listedCount, to: sink)
  }

  private func writeDifferences(
    _ values: UnsafePointer<Int64>, _ rows: BlockRows, _ sources: [BlockRows], to sink: ByteSink
  ) {
    let scratch = chooser.scratch
    let first = sources[0].integers(scratch: scratch)
    let second = sources.count > 1 ? sources[1].integers(scratch: scratch) : nil
    let differences = scratch.take(Int64.self, rows.count)
    relation.kind.predictions(first, second, rows.count, into: differences)
    rows.compact(differences)
    for i in 0..<rows.valueCount { differences[i] = values[i] &- differences[i] }
    chooser.write(differences, rows.valueCount, to: sink)
  }
}

/// The rows of a block that aren't null in one slot, by what others have there.
struct KeyedRows {
  private let codes: UnsafeMutablePointer<Int64>
  private let bound: Int
  private let n: Int
  private let scratch: Scratch

  /// nil where a source has a type that can't be part of a key.
  init?(_ sources: [BlockRows], skipping rows: BlockRows, scratch: Scratch) {
    guard let keys = KeyedRows.codes(sources, rows.count, scratch) else { return nil }
    rows.compact(keys.codes)
    self.init(keys, rows.valueCount, scratch: scratch)
  }

  /// The codes of the rows that aren't null, moved together.
  init(_ keys: KeyCodes, _ n: Int, scratch: Scratch) {
    codes = keys.codes
    bound = keys.bound
    self.n = n
    self.scratch = scratch
  }

  static func codes(_ sources: [BlockRows], _ n: Int, _ scratch: Scratch) -> KeyCodes? {
    var keys: KeyCodes?
    for source in sources {
      guard let type = source.parts.first?.type, let view = KeyCodes.view(source, type, scratch: scratch)
      else {
        return nil
      }
      let codes = KeyCodes(view, n, scratch: scratch)
      keys = keys.map { KeyCodes($0, codes, n, scratch: scratch) } ?? codes
    }
    return keys
  }

  /// How many rows have a key that an earlier row has.
  func seenCount() -> Int {
    var count = 0
    forEach { _, last in
      if last != nil { count += 1 }
      return 0
    }
    return count
  }

  /// Calls `body` with each row and the value that it returned for the last row of the same key.
  @inline(__always)
  func forEach(_ body: (_ index: Int, _ last: Int64?) -> Int64) {
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let isSeen = scratch.take(Bool.self, bound)
    isSeen.update(repeating: false, count: bound)
    let last = scratch.take(Int64.self, bound)
    for i in 0..<n {
      let code = Int(truncatingIfNeeded: codes[i])
      last[code] = body(i, isSeen[code] ? last[code] : nil)
      isSeen[code] = true
    }
  }
}
