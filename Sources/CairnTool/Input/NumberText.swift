// Numbers that no literal says, as texts that say every bit of them.

import Cairn

enum NumberText {
  /// As Swift writes it, which is read as the same number: `inf`, `-inf`, and `nan`, which is followed by the bits where
  /// they aren't those of `Double.nan`, as in `nan:fff8000000000000`.
  static func text(_ number: Double) -> String {
    guard number.isNaN, number.bitPattern != Double.nan.bitPattern else { return number.description }
    return bits + digits(number.bitPattern, 16)
  }

  static func text(_ number: Float) -> String {
    guard number.isNaN, number.bitPattern != Float.nan.bitPattern else { return number.description }
    return bits + digits(UInt64(number.bitPattern), 8)
  }

  /// What `text` writes; nil for anything else. Neither in hexadecimal nor between spaces.
  static func double(_ text: String) -> Double? {
    special(text) ?? (isLiteral(text) ? Double(text) : nil)
  }

  /// A number of which no digits are written: `nan`, or `inf` or `infinity` with or without a sign, in whatever case,
  /// or the bits of one that is none.
  static func special(_ text: String) -> Double? {
    special(text) { UInt64($0, radix: 16).map(Double.init(bitPattern:)) }
  }

  static func specialFloat(_ text: String) -> Float? {
    special(text) { UInt32($0, radix: 16).map(Float.init(bitPattern:)) }
  }

  private static func special<T: BinaryFloatingPoint>(_ text: String, _ number: (Substring) -> T?) -> T? {
    if text.hasPrefix(bits) { return number(text.dropFirst(bits.count)).flatMap { $0.isNaN ? $0 : nil } }
    switch text.lowercased() {
    case "nan": return .nan
    case "inf", "+inf", "infinity", "+infinity": return .infinity
    case "-inf", "-infinity": return -.infinity
    default: return nil
    }
  }

  private static let bits = "nan:"

  private static func isLiteral(_ text: String) -> Bool {
    text.utf8.allSatisfy { ($0 &- 0x30) < 10 || "+-.eE".utf8.contains($0) }
  }

  private static func digits(_ bits: UInt64, _ count: Int) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: count - digits.count) + digits
  }
}
