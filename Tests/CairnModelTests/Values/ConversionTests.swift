// Numbers as numbers of another type, and functions of values at their edges.

import Foundation
import Testing

@testable import CairnModel

struct ConversionTests {
  @Test func `a decimal becomes the double that its digits are read as`() throws {
    var random = SplitMix64(seed: 11)
    var texts = [
      "0", "0.1", "-0.3", "0.7", "9007199254740993", "9007199254740992.5", "-9007199254740995",
      "123456789012345678901234567890.12345678", "1e127", "-340282366920938463463374607431768211455e127",
      "0.000000000000000000000000000000000001", "1.7976931348623157", "4503599627370497.5", "1e22", "1e23",
      "0.30000000000000004", "8.41", "2.675", "99999999999999999999999999999999999999",
    ]
    for _ in 0..<2000 {
      let digits = (0..<1 + random.below(38)).map { _ in String(random.below(10)) }.joined()
      texts.append("\(random.oneIn(2) ? "-" : "")\(digits)e\(Int(random.below(60)) - 40)")
    }
    for text in texts {
      let decimal = try #require(Decimal(string: text))
      // What the decimal holds, which may be less than what the text says.
      let wanted = try #require(Double(decimal.description))
      #expect(decimal.nearestDouble == wanted, "\(text)")
      #expect(Value.decimal(decimal).nearestDouble == wanted)
      // No neighbour is nearer, by the exact order.
      if decimal.nearestDouble == Double(text), Decimal(string: text)?.description == text {
        #expect(Value.compare(.decimal(decimal), .double(wanted.nextUp)) < 0)
        #expect(Value.compare(.decimal(decimal), .double(wanted.nextDown)) > 0)
      }
    }
    #expect(Decimal.nan.nearestDouble.isNaN)
  }

  @Test func `an average of decimals is rounded once`() {
    let values = ["0.1", "0.2", "0.6"].map { Value.decimal(Decimal(string: $0)!) }
    #expect(Aggregator.figure(.average, values) == .double(0.3))
    let great = ["9007199254740993", "9007199254740993"].map { Value.decimal(Decimal(string: $0)!) }
    #expect(Aggregator.figure(.average, great) == .double(9_007_199_254_740_992))
    #expect(Aggregator.figure(.average, [.decimal(Decimal(string: "8.41")!)]) == .double(8.41))
  }

  @Test func `a double that no decimal is near becomes NaN`() {
    for x in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 1e-300] {
      #expect(Decimal(nearest: x).isNaN, "\(x)")
      #expect(ValueFunction.toDecimal.apply([.double(x)]) == .decimal(.nan))
    }
    #expect(Decimal(nearest: 0.25) == Decimal(string: "0.25"))
  }

  @Test func `a whole number is one whatever its type, exactly`() {
    let exact = Decimal(string: "9007199254740993")!
    for (value, whole) in [
      (Value.int(5), 5), (.bool(true), 1), (.double(2), 2), (.double(2.5), nil), (.float(0.5), nil),
      (.double(.nan), nil), (.double(.infinity), nil), (.double(0x1p63), nil), (.double(-0x1p63), Int64.min),
      (.decimal(exact), 9_007_199_254_740_993), (.decimal(Decimal(string: "0.5")!), nil),
      (.decimal(.nan), nil),
      (.string("1"), nil), (.null, nil),
    ] as [(Value, Int64?)] {
      #expect(value.wholeNumber == whole, "\(value)")
    }
    #expect(ValueFunction.and.apply([.decimal(exact), .int(-1)]) == .int(9_007_199_254_740_993))
    #expect(ValueFunction.and.apply([.double(2.5), .int(-1)]).isNull)
  }

  @Test func `the average of nothing is 0, and what CAST writes of a number shows nothing but the number`() {
    guard case .double(0) = ValueFunction.average.apply([]) else {
      Issue.record("\(ValueFunction.average.apply([]))")
      return
    }
    for (value, text) in [
      (Value.double(.nan), "nan"), (.double(.infinity), "inf"), (.double(-.infinity), "-inf"),
      (.decimal(.nan), "NaN"), (.float(0.1), "0.1"), (.int(-3), "-3"), (.bool(true), "1"),
    ] {
      #expect(ValueFunction.toString.apply([value]) == .string(text), "\(value)")
    }
  }
}
