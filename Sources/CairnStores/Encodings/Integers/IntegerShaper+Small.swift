// Streams that are short beside others: lengths, dictionaries, lists of exceptions. They aren't worth a search.

import CairnModel

extension IntegerShaper {
  /// Writes a stream, as it is or as differences, in the form of fewest bytes before deflating.
  static func writeSmall(
    _ values: UnsafePointer<Int64>, _ n: Int, to sink: ByteSink, scratch: Scratch
  ) {
    if n == 0 { return }
    let plain = SmallForm(values, n)
    if n > 2 {
      let mark = scratch.mark
      defer { scratch.release(to: mark) }
      let deltas = scratch.take(Int64.self, n - 1)
      for i in 1..<n { deltas[i - 1] = values[i] &- values[i - 1] }
      let delta = SmallForm(deltas, n - 1)
      if delta.cost + 24 < plain.cost {
        sink.append(IntegerStreamKind.delta.rawValue)
        sink.append(zigzag: values[0])
        return delta.write(deltas, n - 1, to: sink)
      }
    }
    plain.write(values, n, to: sink)
  }

  private struct SmallForm {
    private var leaf = IntegerLeaf.planes
    private let low: Int64
    private let range: UInt64
    /// In eighths of a byte. Whole bytes deflate better than bits do, so that bits must save a ninth.
    private(set) var cost: Int

    init(_ values: UnsafePointer<Int64>, _ n: Int) {
      let bounds = IntegerBounds.of(values, n)
      low = bounds.low
      range = UInt64(bitPattern: bounds.high &- bounds.low)
      cost = range == 0 ? 0 : 8 * IntegerLeaf.planes.byteCount(n, range: range)
      if range == 0 { return }
      consider(.bits, costing: 9 * IntegerLeaf.bits.byteCount(n, range: range))
      if !IntegerLeaf.varints.suits(range) { return }
      var length = 0
      for i in 0..<n { length += Varint.length(Varint.zigzag(values[i])) }
      consider(.varints, costing: 8 * length)
    }

    private mutating func consider(_ other: IntegerLeaf, costing otherCost: Int) {
      guard other.suits(range), otherCost < cost else { return }
      leaf = other
      cost = otherCost
    }

    func write(_ values: UnsafePointer<Int64>, _ n: Int, to sink: ByteSink) {
      leaf.write(values, n, low: low, range: range, to: sink)
    }
  }
}
