// Numbers as numbers of another type, and values as text: the one conversion of each pair, which columns and
// objects share.

import Foundation

extension Decimal {
  /// The double next to the number, of two equally near the one with an even significand. NaN for NaN, 0 or
  /// infinity beyond the range of doubles.
  package var nearestDouble: Double {
    if isNaN { return .nan }
    let parts = DecimalParts(self)
    // Both are exact, so that the one operation rounds correctly.
    if parts.significand < 1 << 53, parts.exponent >= -22, parts.exponent <= 22 {
      let size = Double(UInt64(parts.significand))
      let power = Decimal.exactPowers[abs(parts.exponent)]
      let magnitude = parts.exponent < 0 ? size / power : size * power
      return parts.isNegative ? -magnitude : magnitude
    }
    // The reader of numerals rounds correctly, whatever their length.
    return Double("\(parts.isNegative ? "-" : "")\(parts.significand)e\(parts.exponent)") ?? .nan
  }

  private static let exactPowers: [Double] = (0...22).map { Double("1e\($0)")! }

  /// A decimal for a double; NaN for NaN, infinity, and what is too great or too small for a decimal.
  package init(nearest x: Double) {
    self = x.isFinite ? Decimal(x) : .nan
  }
}

extension Value {
  /// The number as a double; nil for what is no number.
  package var nearestDouble: Double? {
    switch self {
    case .double(let x): x
    case .float(let x): Double(x)
    case .decimal(let x): x.nearestDouble
    case .int(let x): Double(x)
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  /// The number as a decimal; nil for what is no number.
  package var nearestDecimal: Decimal? {
    switch self {
    case .decimal(let x): x
    case .double(let x): Decimal(nearest: x)
    case .float(let x): Decimal(nearest: Double(x))
    case .int(let x): Decimal(x)
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  /// The number, if it is whole and Int64 holds it, whatever its type.
  package var wholeNumber: Int64? {
    switch self {
    case .int(let x): x
    case .bool(let x): x ? 1 : 0
    case .double(let x): Int64(exactly: x)
    case .float(let x): Int64(exactly: x)
    case .decimal(let x): x.isNaN ? nil : DecimalParts(x).asInteger
    default: nil
    }
  }

  /// What `CAST(value, "NSString")` gives: text that shows nothing but the value.
  package var castText: String {
    switch self {
    case .string(let x), .uri(let x): x
    case .bool(let x): x ? "1" : "0"
    case .date(let x): x.description
    case .uuid(let x): x.uuidString
    case .data(let x): x.description
    default: description
    }
  }
}
