// Makes columns of fixed width of decoded values: one a part, at the narrowest layout, with its bounds.

import CairnModel

/// What all parts of a block have in common.
struct ColumnAssembly {
  let type: ValueType
  let counts: [Int]
  let mask: NullMask
  let scratch: Scratch

  var rowCount: Int { mask.rowCount }
  var valueCount: Int { mask.rowCount - mask.nullCount }

  /// Calls `body` with each part's first row, count and nulls.
  func parts(_ body: (_ start: Int, _ count: Int, _ nulls: Bitmap?) throws -> Column) rethrows -> [Column] {
    var columns: [Column] = []
    columns.reserveCapacity(counts.count)
    var start = 0
    for count in counts {
      columns.append(try body(start, count, mask.bitmap(from: start, count: count, scratch: scratch)))
      start += count
    }
    return columns
  }

  /// Columns of integers, which are 0 where rows are null. Throws for one that the type can't hold.
  func integers(_ values: UnsafeMutablePointer<Int64>) throws -> [Column] {
    try parts { start, count, nulls in
      let source = values + start
      let (low, high) = IntegerBounds.of(source, count, without: nulls)
      if let range = type.integerRange, low <= high, low < range.lowerBound || high > range.upperBound {
        throw PayloadError(what: "a value isn't of type \(type)", byteOffset: 0)
      }
      var zone = Zone()
      zone.minInteger = low
      zone.maxInteger = high
      let layout = Column.Layout.narrowest(low: low, high: high)
      return Column.raw(type: type, layout: layout, count: count, nulls: nulls, zone: zone) { memory in
        switch layout {
        case .int8: ColumnAssembly.narrow(source, count, memory.assumingMemoryBound(to: Int8.self))
        case .int16: ColumnAssembly.narrow(source, count, memory.assumingMemoryBound(to: Int16.self))
        case .int32: ColumnAssembly.narrow(source, count, memory.assumingMemoryBound(to: Int32.self))
        default: memory.assumingMemoryBound(to: Int64.self).update(from: source, count: count)
        }
      }
    }
  }

  @inline(__always)
  static func narrow<T: FixedWidthInteger>(
    _ source: UnsafePointer<Int64>, _ n: Int, _ target: UnsafeMutablePointer<T>
  ) {
    for i in 0..<n { target[i] = T(truncatingIfNeeded: source[i]) }
  }

  /// Columns of doubles or dates, which are 0 where rows are null.
  func doubles(_ values: UnsafePointer<Double>) -> [Column] {
    parts { start, count, nulls in
      let source = values + start
      return Column.raw(
        type: type, layout: .double, count: count, nulls: nulls, zone: zone(start, count) { source[$0] }
      ) { $0.assumingMemoryBound(to: Double.self).update(from: source, count: count) }
    }
  }

  func floats(_ values: UnsafePointer<Float>) -> [Column] {
    parts { start, count, nulls in
      let source = values + start
      return Column.raw(
        type: type, layout: .float, count: count, nulls: nulls,
        zone: zone(start, count) { Double(source[$0]) }
      ) { $0.assumingMemoryBound(to: Float.self).update(from: source, count: count) }
    }
  }

  /// Columns of a layout whose values have no bounds.
  func unbounded<T: BitwiseCopyable>(_ values: UnsafePointer<T>, _ layout: Column.Layout) -> [Column] {
    parts { start, count, nulls in
      Column.raw(type: type, layout: layout, count: count, nulls: nulls, zone: Zone()) {
        $0.assumingMemoryBound(to: T.self).update(from: values + start, count: count)
      }
    }
  }

  @inline(__always)
  private func zone(_ start: Int, _ count: Int, _ value: (Int) -> Double) -> Zone {
    var zone = Zone()
    for i in 0..<count where mask.nullCount == 0 || !mask.isNull(start + i) {
      let x = value(i)
      if x.isNaN { zone.mayHoldNaN = true }
      // Comparisons with NaN are false, so it leaves the bounds alone.
      if x < zone.minDouble { zone.minDouble = x }
      if x > zone.maxDouble { zone.maxDouble = x }
    }
    return zone
  }
}
