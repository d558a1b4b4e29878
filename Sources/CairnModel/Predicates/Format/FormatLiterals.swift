// The values of literals.

import Foundation

enum NumberLiteral {
  /// A whole number that fits is an Int64; a greater one a decimal, as long as that holds all its digits.
  static func value(
    of bytes: ArraySlice<UInt8>, _ error: (String) -> PredicateFormatError
  ) throws -> Value {
    if bytes.count <= 18, bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
      return .int(bytes.reduce(0) { $0 * 10 + Int64($1 - 0x30) })
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if bytes.count > 2, bytes.first == 0x30, let radix = PredicateLexer.radix(bytes[bytes.startIndex + 1]) {
      guard let value = UInt64(text.dropFirst(2), radix: radix) else {
        throw error("\"\(text.prefix(40))\" doesn't fit 64 bits")
      }
      return Int64(exactly: value).map { .int($0) } ?? .decimal(Decimal(value))
    }
    if bytes.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) {
      if let value = Int64(text) { return .int(value) }
      if bytes.count <= 38, let value = Decimal(string: text) { return .decimal(value) }
    }
    return .double(Double(text) ?? .nan)
  }
}

enum StringLiteral {
  /// The text between quotes. A backslash before a letter that means nothing is dropped.
  ///
  /// `error` is given the message and the place within `bytes`.
  static func text(
    of bytes: ArraySlice<UInt8>, _ error: (String, Int) -> PredicateFormatError
  ) throws -> String {
    let inner = bytes.dropFirst().dropLast()
    guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
    var result: [UInt8] = []
    var highHalf: UInt16?
    var i = inner.startIndex
    while i < inner.endIndex {
      guard inner[i] == UInt8(ascii: "\\") else {
        if highHalf != nil { throw error("half of a surrogate pair", i - bytes.startIndex) }
        result.append(inner[i])
        i += 1
        continue
      }
      let letter = inner[i + 1]  // the lexer saw to it that something follows
      i += 2
      guard letter == UInt8(ascii: "u"), let unit = hexadecimal(inner[i...].prefix(4)) else {
        if highHalf != nil { throw error("half of a surrogate pair", i - 2 - bytes.startIndex) }
        switch letter {
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        default: result.append(letter)
        }
        continue
      }
      i += 4
      let scalar: UInt32
      switch (highHalf, unit) {
      case (nil, 0xD800...0xDBFF):
        highHalf = unit
        continue
      case (let high?, 0xDC00...0xDFFF):
        scalar = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
        highHalf = nil
      case (nil, 0xDC00...0xDFFF), (.some, _):
        throw error("half of a surrogate pair", i - 6 - bytes.startIndex)
      default: scalar = UInt32(unit)
      }
      result += Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
    }
    if highHalf != nil { throw error("half of a surrogate pair", i - 6 - bytes.startIndex) }
    return String(decoding: result, as: UTF8.self)
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt16? {
    guard digits.count == 4 else { return nil }
    var result: UInt16 = 0
    for byte in digits {
      guard let digit = PredicateLexer.digit(byte) else { return nil }
      result = result << 4 | UInt16(digit)
    }
    return result
  }
}
