// The sentences of Formats/common.md about single types. Sentences about order are in ValueOrderTests and
// StringOrderTests.

import Foundation
import Testing

@testable import CairnModel

struct ValueMeaningTests {
  /// The memory of a column's values, `count` bytes from its start.
  private func memory(_ column: Column, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: column.values, count: count))
  }

  @Test func `null is no value: not 0, not false, not empty (COM-3)`() {
    for (type, value) in [
      (ValueType.int16, 0 as Value), (.bool, false), (.string, ""), (.data, .data(Data())), (.double, 0),
      (.uuid, .uuid(Nasty.uuids[0])), (.decimal, .decimal(0)), (.uri, .uri("")),
    ] {
      let column = column(type, [.null, value])
      #expect(column.isNull(0) && !column.isNull(1) && column.value(0) != column.value(1))
    }
  }

  @Test func `any NaN is the one NaN (COM-5)`() {
    let column = column(.double, [.double(.nan), .double(-.nan), .double(Double(nan: 5, signaling: false))])
    #expect(column.allValues.allSatisfy { $0 == .double(.nan) })
    #expect(Set(column.allValues + [.float(.nan), .decimal(.nan)]).count == 1)
  }

  @Test func `minus zero keeps its sign (COM-6)`() {
    #expect(column(.double, [.double(-0.0)]).double(0).sign == .minus)
    #expect(column(.float, [.float(-0.0)]).double(0).sign == .minus)
  }

  @Test func `dates count from 2001 (COM-7)`() {
    let column = column(
      .date, [.date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSinceReferenceDate: 0.5))])
    #expect(column.double(0) == -978_307_200 && column.double(1) == 0.5)
  }

  @Test func `a decimal is its number, whichever exponent is stored (COM-8)`() throws {
    let forms = [
      Decimal(sign: .plus, exponent: 0, significand: 1), Decimal(sign: .plus, exponent: -2, significand: 100),
      try #require(Decimal(string: "1.00")),
    ]
    #expect(Set(forms.map { Value.decimal($0) }).count == 1)
    #expect(Value.decimal(try #require(Decimal(string: "-0"))) == .decimal(0))
    let parts = DecimalParts(try #require(Decimal(string: "-340282366920938463463374607431768211455e127")))
    #expect(parts.isNegative && parts.exponent == 127 && parts.significand == .max)
  }

  @Test func `text keeps its scalars (COM-9)`() {
    for text in ["e\u{301}", "\u{E9}", "\u{FEFF}a", "a\u{0}b", "\u{212B}"] {
      let column = column(.string, [.string(text)])
      #expect(Array(column.bytes(0)) == Array(text.utf8))
      #expect(Array(column.string(0).unicodeScalars) == Array(text.unicodeScalars))
    }
  }

  @Test func `a UUID's bytes are in the order of its text (COM-10)`() {
    let column = column(.uuid, [.uuid(Nasty.uuids[6])])
    #expect(Nasty.uuids[6].uuidString == "12345678-9ABC-DEF0-1234-56789ABCDEF0")
    #expect(memory(column, 8) == [0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0])
  }

  @Test func `a URI is no string (COM-11)`() {
    #expect(Value.uri("https://example.org") != .string("https://example.org"))
    #expect(column(.uri, [.uri("https://example.org/é")]).string(0) == "https://example.org/é")
  }

  @Test func `transformable values are bytes (COM-12)`() {
    let column = column(.transformable, [.data(Data([1, 2]))])
    #expect(column.value(0) == .data(Data([1, 2])) && ValueType.transformable.family == .bytes)
  }

  @Test func `dates and keys compare as their numbers (COM-29)`() {
    let dates = [-.infinity, -1, 0, 0.5, .infinity].map {
      Value.date(Date(timeIntervalSinceReferenceDate: $0))
    }
    #expect(dates.reversed().sorted() == dates)
    #expect([Value.key(3), .key(20), .key(1)].sorted() == [.key(1), .key(3), .key(20)])
  }
}

struct ChecksumTests {
  /// COM-40 word by word, a bit at a time.
  private func checksum(_ bytes: [UInt8]) -> UInt32 {
    func reflected(_ x: UInt32, _ width: Int) -> UInt32 {
      (0..<width).reduce(0) { $0 << 1 | (x >> UInt32($1)) & 1 }
    }
    var register: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      register ^= reflected(UInt32(byte), 8) << 24
      for _ in 0..<8 { register = register >> 31 == 1 ? register << 1 ^ 0x04C1_1DB7 : register << 1 }
    }
    return reflected(register, 32) ^ 0xFFFF_FFFF
  }

  @Test func `the CRC-32 that the specification spells out gives its check value (COM-40)`() {
    #expect(checksum(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(checksum([]) == 0)
  }
}
