// Values that have broken databases before, and random ones.

import Foundation

@testable import CairnModel

enum Nasty {
  static let integers: [Int64] = [
    0, 1, -1, 2, 30, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536,
    2_147_483_647,
    2_147_483_648, -2_147_483_648, -2_147_483_649, 4_294_967_295, 4_294_967_296, 1 << 53, 1 << 53 - 1,
    1 << 53 + 1,
    -(1 << 53), -(1 << 53) - 1, 1 << 62, .max, .max - 1, .max - 511, .max - 512, .max - 1024, .min, .min + 1,
    .min + 1024, 999_999_999_999_999_999, 1_000_000_000_000_000_000,
  ]

  static let doubles: [Double] =
    integers.map { Double($0) } + [
      -0.0, 0.1, 0.2, 0.30000000000000004, 0.3, 0.5, -0.5, 1.5, 2.5, 1e15, 1e16, 1e17 + 16, 1e18, 1e19, 1e22,
      1e23,
      1e37, 1e38, 1e39, 1e100, 1e126, 1e127, 1e128, 1e165, 1e166, 1e300, -1e300, 1e-5, 1e-17, 1e-100, 1e-127,
      1e-128,
      1e-129, 1e-300, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude,
      .greatestFiniteMagnitude,
      .infinity, -.infinity, .nan, -.nan, .signalingNaN, .pi, 0x1p63, -0x1p63, 0x1p64, 0x1.fffffffffffffp62,
      0x1p-60,
    ] + [0.1, 1e22, 0.5, 0x1p53, 1e100, 1e-100, 1e127].flatMap { [$0.nextUp, $0.nextDown] }

  static let floats: [Float] = [
    0, -0.0, 0.1, 0.5, 1.5, 16_777_216, 16_777_218, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    .infinity,
    -.infinity, .nan, 0x1p63, -0x1p63, 3, -1,
  ]

  static let decimals: [Decimal] =
    [
      "0", "-0", "1", "-1", "0.1", "0.10", "0.2", "0.3", "0.5", "-0.5", "1.5", "1e22", "1e23", "1e37", "1e38",
      "1e100",
      "1e126", "1e127", "-1e127", "1e-127", "1e-128", "-1e-128", "9007199254740992", "9007199254740993",
      "9007199254740991", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "-9223372036854775809", "18446744073709551615", "18446744073709551616",
      "340282366920938463463374607431768211455", "0.1000000000000000055511151231257827021",
      "0.3000000000000000444089209850062616169", "3.141592653589793115997963468544185161",
      "3.141592653589793115997963468544185162", "12345678901234567890.123456789012345678",
      "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999e89", "1e165",
      "5e-324",
    ].compactMap { Decimal(string: $0) }
    + [
      .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
      Decimal(sign: .plus, exponent: -3, significand: 1000),
      Decimal(sign: .plus, exponent: -5, significand: 150_000),
      Decimal(sign: .minus, exponent: 5, significand: 10),
      Decimal(sign: .plus, exponent: 127, significand: 0),
    ]

  static let strings = [
    "", "a", "b", "A", "Z", "z", "e", "f", "é", "e\u{301}", "E\u{301}", "\u{301}", "e\u{301}\u{327}",
    "e\u{327}\u{301}",
    "e\u{323}\u{302}", "\u{1EC7}", "ab", "abc", "abd", "a b", "Alice", "alice", "ALICE", "São Paulo",
    "Sao Paulo",
    "Sa\u{303}o Paulo", "\u{FB01}", "fi", "ß", "ss", "ẞ", "İ", "i\u{307}", "ı", "I", "Σ", "σ", "ς", "Ω",
    "\u{2126}", "Å",
    "\u{212B}", "A\u{30A}", "가", "\u{1100}\u{1161}", "각", "\u{1100}\u{1161}\u{11A8}", "\u{1F600}", "\u{FFFF}",
    "\u{E000}",
    "\u{10FFFF}", "👩‍👩‍👧", "🇩🇪",
    "a\u{0}", "a\u{0}b", "\u{0}", "\u{7F}", "\u{80}", "\u{FEFF}a", "a\u{200D}", "日本語",
    "日本",
    "%_*?\\", "*", "?", "\\", "naïve", "nai\u{308}ve", "é1", "e\u{301}1", "é2", "prefix", "prefix of another",
    "0", "10", "9", "a.b", "a\nb", "a\r\n", "\u{2F800}", "\u{4E3D}", "\u{0F73}", "\u{0F71}\u{0F72}",
    "\u{1D160}",
    String(repeating: "long ", count: 40), String(repeating: "long ", count: 40) + "é",
  ]

  static let dates = doubles.map { Date(timeIntervalSinceReferenceDate: $0) }

  static let blobs: [Data] = [
    Data(), Data([0]), Data([0, 0]), Data([255]), Data([1, 2, 3]), Data([1, 2]), Data([127]), Data([128]),
    Data(repeating: 7, count: 300),
  ]

  static let uuids: [UUID] = [
    "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
    "00000000-0000-0001-0000-000000000000", "80000000-0000-0000-0000-000000000000",
    "7FFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "12345678-9ABC-DEF0-1234-56789ABCDEF0",
  ].map { UUID(uuidString: $0)! }

  /// One pool of everything, for laws about all values.
  static let all: [Value] = {
    var pool: [Value] = [.null, .bool(false), .bool(true), .key(1), .key(2), .key(.max)]
    pool += integers.map { .int($0) }
    pool += doubles.map { .double($0) }
    pool += floats.map { .float($0) }
    pool += decimals.map { .decimal($0) }
    pool += strings.map { .string($0) }
    pool += strings.prefix(12).map { .uri($0) }
    pool += dates.map { .date($0) }
    pool += blobs.map { .data($0) }
    pool += uuids.map { .uuid($0) }
    return pool + composites
  }()

  static let composites: [Value] = [
    .composite([:]), .composite(["a": .null]), .composite(["a": 1]), .composite(["a": 1.0, "b": .null]),
    .composite(["a": 1, "b": 2]), .composite(["a": 2]), .composite(["b": 1]),
    .composite(["a": .composite(["x": "y"])]), .composite(["a": .composite([:])]),
  ]
}

extension SplitMix64 {
  /// A value that a slot of `type` holds; never null.
  mutating func value(_ type: ValueType) -> Value {
    switch type {
    case .int16, .int32, .int64: .int(integer(type.integerRange!))
    case .bool: .bool(next() & 1 == 0)
    case .key: .key(oneIn(8) ? Int64.random(in: 1...Int64.max, using: &self) : Int64(below(60)) + 1)
    case .double: .double(double())
    case .float: .float(oneIn(3) ? pick(Nasty.floats) : Float(below(40)) / 4)
    case .date: .date(Date(timeIntervalSinceReferenceDate: double()))
    case .decimal: .decimal(decimal())
    case .uuid: .uuid(oneIn(2) ? pick(Nasty.uuids) : uuid())
    case .string: .string(string())
    case .uri: .uri(string())
    case .data, .transformable:
      .data(
        oneIn(2)
          ? pick(Nasty.blobs) : Data((0..<below(12)).map { _ in UInt8(truncatingIfNeeded: next() & 3) }))
    }
  }

  mutating func integer(_ range: ClosedRange<Int64>) -> Int64 {
    if oneIn(4) {
      let x = pick(Nasty.integers)
      if range.contains(x) { return x }
    }
    return oneIn(8) ? Int64.random(in: range, using: &self) : Int64(below(41)) - 20
  }

  mutating func double() -> Double {
    switch below(6) {
    case 0: pick(Nasty.doubles)
    case 1: Double(bitPattern: next())
    default: Double(below(81) - 40) / 4
    }
  }

  mutating func decimal() -> Decimal {
    switch below(6) {
    case 0: pick(Nasty.decimals)
    case 1:
      Decimal(
        sign: next() & 1 == 0 ? .plus : .minus, exponent: below(256) - 128,
        significand: Decimal(next() >> UInt64(below(64))))
    default: Decimal(sign: .plus, exponent: -below(4), significand: Decimal(below(4000) - 2000))
    }
  }

  mutating func uuid() -> UUID {
    var bytes = [UInt8](repeating: 0, count: 16)
    for i in bytes.indices { bytes[i] = UInt8(truncatingIfNeeded: next()) }
    return NSUUID(uuidBytes: bytes) as UUID
  }

  mutating func string() -> String {
    switch below(4) {
    case 0: pick(Nasty.strings)
    case 1: pick(Nasty.strings) + pick(Nasty.strings)
    default: String((0..<below(6)).map { _ in pick(SplitMix64.letters) })
    }
  }

  private static let letters: [Character] = Array("aaabbcdeéABz ")
}
