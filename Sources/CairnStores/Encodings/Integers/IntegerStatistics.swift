// What one look at a stream of integers says about which forms suit it.

struct IntegerStatistics {
  var low = Int64.max
  var high = Int64.min
  /// How many values differ from the one before, and the first.
  var runs = 0
  /// The bounds of the differences, which wrap.
  var lowestDelta = Int64.max
  var highestDelta = Int64.min
  /// The greatest number that divides all differences; 0 where all values are equal.
  var factor: UInt64 = 0

  init(_ values: UnsafePointer<Int64>, _ n: Int) {
    if n == 0 { return }
    var previous = values[0]
    low = previous
    high = previous
    runs = 1
    for i in 1..<max(n, 1) {
      let value = values[i]
      let delta = value &- previous
      low = min(low, value)
      high = max(high, value)
      lowestDelta = min(lowestDelta, delta)
      highestDelta = max(highestDelta, delta)
      runs &+= delta == 0 ? 0 : 1
      previous = value
    }
    factor = IntegerStatistics.commonFactor(values, n, range: range)
  }

  /// The difference of the bounds. It has no sign: the whole of Int64 is 2^64 - 1.
  var range: UInt64 { UInt64(bitPattern: high &- low) }

  /// 1 where the differences might wrap.
  private static func commonFactor(_ values: UnsafePointer<Int64>, _ n: Int, range: UInt64) -> UInt64 {
    if range > UInt64(Int64.max) { return 1 }
    var factor: UInt64 = 0
    let first = values[0]
    for i in 1..<max(n, 1) {
      let difference = (values[i] &- first).magnitude
      if factor != 0, difference < factor ? difference == 0 : difference % factor == 0 { continue }
      factor = greatestCommonDivisor(factor, difference)
      if factor == 1 { return 1 }
    }
    return factor
  }

  private static func greatestCommonDivisor(_ a: UInt64, _ b: UInt64) -> UInt64 {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }

  static func bitWidth(_ range: UInt64) -> Int { 64 - range.leadingZeroBitCount }

  static func byteWidth(_ range: UInt64) -> Int { (bitWidth(range) + 7) / 8 }
}
