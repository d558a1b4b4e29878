// Random values: few enough that equal ones meet, with the odd extreme among them.
//
// Always holds: doubles are multiples of a half or not finite, so that a sum doesn't depend on the order of
// adding.

import CairnModel
import Foundation

extension SplitMix64 {
  /// A value that fits `type`, from about `variety` different ones. Keys aren't made here.
  mutating func value(_ type: ValueType, variety: Int) -> Value {
    let number = Int64(below(variety)) - Int64(variety / 3)
    switch type {
    case .int16: return .int(chance(3) ? pick([Int64(Int16.min), Int64(Int16.max)]) : number)
    case .int32: return .int(chance(3) ? pick([Int64(Int32.min), Int64(Int32.max)]) : number)
    case .int64: return .int(chance(3) ? pick([.min, .max, 1 << 53 + 1]) : number)
    case .decimal: return .decimal(Decimal(number) / 4)
    case .double: return .double(chance(5) ? pick([-0.0, .nan, .infinity, -.infinity]) : Double(number) / 2)
    case .float: return .float(chance(5) ? pick([-0.0, .nan, .infinity, -.infinity]) : Float(number) / 2)
    case .string: return .string(string(variety))
    case .bool: return .bool(chance(50))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) * 1_000_000.5))
    case .data, .transformable:
      return .data(Data(repeating: UInt8(truncatingIfNeeded: number), count: below(4)))
    case .uuid:
      return .uuid(
        UUID(uuid: (0, UInt8(truncatingIfNeeded: number), 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 1)))
    case .uri: return .uri("x:/\(number)")
    case .key: return .null
    }
  }

  private mutating func string(_ variety: Int) -> String {
    if chance(3) { return String(repeating: pick(["long", "lông"]), count: 100 + below(300)) }
    if chance(50) { return "s\(below(variety))" }
    return pick([
      "", "a", "A", "b", "ab", "aB", "\u{e9}", "e\u{301}", "É", "aé", "zz", "日本", "b*", "x\u{0}y", "s1x", "ß",
      "İ", "👍🏽",
    ])
  }
}
