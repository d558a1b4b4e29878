// Texts that are items of other texts in the same row: a name that is one of the row's names, or equals another.

import CairnModel

/// Which item of a source a text is. A source without the joint in it is one item.
enum ItemRelation {
  /// How many bytes the values of a block may have together: they may be far more than the payload.
  static func expansionLimit(_ payload: Int, values: Int) -> Int { 64 * payload + 1024 * values + 65_536 }

  static let types: Set<ValueType> = [.string, .uri, .data, .transformable]

  /// The number of the item that equals `value`, from 1; 0 where none does.
  static func number(
    of value: UnsafeBufferPointer<UInt8>, in source: UnsafeBufferPointer<UInt8>, joint: UInt8
  ) -> Int64 {
    var number: Int64 = 0
    var found: Int64 = 0
    forEachItem(of: source, joint) { item in
      number += 1
      if item.count == value.count, item.elementsEqual(value) { found = number }
      return found == 0
    }
    return found
  }

  /// The item of a number; nil where there are fewer.
  static func item(
    _ number: Int64, of source: UnsafeBufferPointer<UInt8>, joint: UInt8
  ) -> UnsafeBufferPointer<UInt8>? {
    var left = number
    var found: UnsafeBufferPointer<UInt8>?
    forEachItem(of: source, joint) { item in
      left -= 1
      if left == 0 { found = item }
      return left > 0
    }
    return found
  }

  /// Calls `body` with each item until it returns false. No bytes are one item.
  @inline(__always)
  private static func forEachItem(
    of source: UnsafeBufferPointer<UInt8>, _ joint: UInt8, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
  ) {
    var rest = source[...]
    while true {
      let end = rest.firstIndex(of: joint) ?? rest.endIndex
      guard body(UnsafeBufferPointer(rebasing: rest[..<end])), end < rest.endIndex else { return }
      rest = rest[(end + 1)...]
    }
  }

  /// Calls `body` with the bytes of each row of `source` where `rows` isn't null.
  static func forEach(
    _ rows: BlockRows, _ source: BlockRows,
    _ body: (_ value: UnsafeBufferPointer<UInt8>, _ source: UnsafeBufferPointer<UInt8>) -> Void
  ) {
    for (part, other) in zip(rows.parts, source.parts) {
      for row in 0..<part.count where !part.isNull(row) { body(part.bytes(row), other.bytes(row)) }
    }
  }

  // MARK: Writing

  /// Whether a reader lets the values grow that much, whatever the payload.
  static func isAllowed(_ rows: BlockRows) -> Bool {
    var byteCount = 0
    for part in rows.parts {
      for row in 0..<part.count where !part.isNull(row) { byteCount += part.bytes(row).count }
    }
    return byteCount <= expansionLimit(0, values: rows.valueCount)
  }

  /// A stream of numbers, then the list of the values that are no items.
  static func write(
    _ rows: BlockRows, _ source: BlockRows, joint: UInt8, to sink: ByteSink, _ chooser: IntegerChooser
  ) {
    let scratch = chooser.scratch
    let numbers = scratch.take(Int64.self, rows.valueCount)
    let others = TextList(capacity: rows.valueCount, scratch: scratch)
    var (next, otherCount, byteCount) = (0, 0, 0)
    forEach(rows, source) { value, source in
      numbers[next] = number(of: value, in: source, joint: joint)
      if numbers[next] == 0 {
        others.starts[otherCount] = value.baseAddress ?? TextList.nowhere
        others.lengths[otherCount] = Int64(value.count)
        otherCount += 1
        byteCount += value.count
      }
      next += 1
    }
    chooser.write(numbers, next, to: sink)
    if otherCount == 0 { return }
    TextWriter(chooser: chooser).writeList(
      TextList(starts: others.starts, lengths: others.lengths, count: otherCount, byteCount: byteCount),
      to: sink)
  }

  // MARK: Reading

  static func read(
    _ assembly: ColumnAssembly, _ source: BlockRows, joint: UInt8, from bytes: inout ByteSource,
    _ reader: IntegerReader
  ) throws -> [Column] {
    let n = assembly.valueCount
    let list = TextList(capacity: assembly.rowCount, scratch: reader.scratch)
    if n == 0 { return TextReader(reader: reader).spread(list, assembly) }
    let numbers = reader.scratch.take(Int64.self, n)
    try reader.read(n, from: &bytes, into: numbers)
    var otherCount = 0
    for i in 0..<n where numbers[i] == 0 { otherCount += 1 }
    var others: TextList?
    if otherCount > 0 {
      others = try TextReader(reader: reader).readList(
        otherCount, try bytes.byte(), room: otherCount, from: &bytes)
    }
    let limit = expansionLimit(bytes.count, values: n)
    var (row, next, nextOther, byteCount) = (0, 0, 0, 0)
    for part in source.parts {
      for place in 0..<part.count {
        defer { row += 1 }
        if assembly.mask.nullCount > 0, assembly.mask.isNull(row) { continue }
        if numbers[next] == 0 {
          list.starts[next] = others!.starts[nextOther]
          list.lengths[next] = others!.lengths[nextOther]
          nextOther += 1
        } else {
          guard numbers[next] > 0, let item = item(numbers[next], of: part.bytes(place), joint: joint) else {
            throw bytes.error("row \(row) has no item \(numbers[next])")
          }
          list.starts[next] = item.baseAddress ?? TextList.nowhere
          list.lengths[next] = Int64(item.count)
        }
        byteCount += Int(list.lengths[next])
        guard byteCount <= limit else { throw bytes.error("values grow to more than \(limit) bytes") }
        next += 1
      }
    }
    return TextReader(reader: reader).spread(
      TextList(starts: list.starts, lengths: list.lengths, count: n, byteCount: byteCount), assembly)
  }
}

extension RelationFinder {
  /// Texts that are items of others in a tenth of the rows at least.
  struct ItemGuesses {
    private(set) var guesses: [Guess] = []

    init(_ finder: RelationFinder, targets: [Int]) {
      let scratch = finder.scratch
      // One without values says nothing, though a null's one item equals every empty text.
      for source in finder.slots.indices.prefix(RelationFinder.maxSlots)
      where finder.isText(source) && finder.rows[source].valueCount > 0 {
        let mark = scratch.mark
        defer { scratch.release(to: mark) }
        let joint = TextItems.joint(TextWriter.list(finder.rows[source], scratch: scratch)) ?? 0
        for target in targets where target != source && finder.isText(target) {
          var (hits, total) = (0, 0)
          ItemRelation.forEach(finder.rows[target], finder.rows[source]) { value, bytes in
            total += 1
            if ItemRelation.number(of: value, in: bytes, joint: joint) > 0 { hits += 1 }
          }
          guard hits * 10 >= total, total > 0, ItemRelation.isAllowed(finder.rows[target]) else { continue }
          let plain = Double(finder.plainCost[target] * 8)
          guesses.append(
            Guess(
              target: target, relation: ColumnRelation(.item(joint), of: [source]),
              cost: plain * Double(total - hits) / Double(total)))
        }
      }
    }
  }
}
