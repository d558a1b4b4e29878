// What one look at a stream of integers says about which forms suit it.

import CairnModel

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
    (low, high) = IntegerBounds.of(values, n)
    runs = 1
    if range <= UInt64(Int16.max) { compareNarrowNeighbours(values, n) } else { compareNeighbours(values, n) }
    factor = IntegerStatistics.commonFactor(values, n, range: range)
  }

  private mutating func compareNeighbours(_ values: UnsafePointer<Int64>, _ n: Int) {
    for i in 1..<max(n, 1) {
      let delta = values[i] &- values[i - 1]
      lowestDelta = min(lowestDelta, delta)
      highestDelta = max(highestDelta, delta)
      runs &+= delta == 0 ? 0 : 1
    }
  }

  /// The same, two differences at a time, for those that fit into 16 bits: x86-64 without extensions has the least and
  /// the greatest of 16 bits alone. What the other lanes hold doesn't matter.
  private mutating func compareNarrowNeighbours(_ values: UnsafePointer<Int64>, _ n: Int) {
    typealias Lanes = SIMD8<Int16>
    let lanes = Int(littleEndian: 1) == 1 ? (first: 0, second: 4) : (first: 3, second: 7)
    let bytes = UnsafeRawPointer(values)
    let count = n - 1
    var lowest = Lanes(repeating: .max)
    var highest = Lanes(repeating: .min)
    var equalCount = 0
    var i = 0
    while i + 2 <= count {
      // Before a lane overflows.
      let end = min(i + 32_000, count - 1)
      var equals = Lanes()
      while i < end {
        let before = bytes.loadUnaligned(fromByteOffset: 8 &* i, as: SIMD2<UInt64>.self)
        let after = bytes.loadUnaligned(fromByteOffset: 8 &* i &+ 8, as: SIMD2<UInt64>.self)
        let deltas = unsafeBitCast(after &- before, to: Lanes.self)
        lowest = lowest.replacing(with: deltas, where: deltas .< lowest)
        highest = highest.replacing(with: deltas, where: deltas .> highest)
        equals &-= unsafeBitCast(deltas .== Lanes(), to: Lanes.self)
        i &+= 2
      }
      equalCount += Int(equals[lanes.first]) + Int(equals[lanes.second])
    }
    if count >= 2 {
      lowestDelta = Int64(min(lowest[lanes.first], lowest[lanes.second]))
      highestDelta = Int64(max(highest[lanes.first], highest[lanes.second]))
      runs += i - equalCount
    }
    if i < count {
      let delta = values[i + 1] &- values[i]
      lowestDelta = min(lowestDelta, delta)
      highestDelta = max(highestDelta, delta)
      runs += delta == 0 ? 0 : 1
    }
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
