// Columns to encode: for each type the values at its edges, in every arrangement that suits some form.

import CairnModel
import Foundation

/// A block's worth of rows with a name to find it by.
struct EncodingSample: CustomStringConvertible, Sendable {
  let name: String
  let type: ValueType
  let parts: [Column]

  var description: String { "\(type), \(name)" }
  var counts: [Int] { parts.map(\.count) }
}

/// The same numbers on every run.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}

enum EncodingSamples {
  /// Every type in every arrangement.
  static let all: [EncodingSample] = ValueType.allCases.flatMap { type in
    arrangements(edges(type), type) + special(type)
  }

  static func column(_ values: [Value], _ type: ValueType) -> Column {
    let builder = ColumnBuilder(type)
    for value in values { try! builder.append(value: value) }
    return builder.finish()
  }

  static func sample(_ name: String, _ type: ValueType, _ values: [Value], parts: Int = 1) -> EncodingSample {
    let size = max((values.count + parts - 1) / parts, 1)
    var columns: [Column] = []
    for part in 0..<parts {
      let range = min(part * size, values.count)..<min((part + 1) * size, values.count)
      columns.append(column(Array(values[range]), type))
    }
    return EncodingSample(name: name, type: type, parts: columns)
  }

  /// The values of a type at which something changes.
  static func edges(_ type: ValueType) -> [Value] {
    switch type {
    case .int16: return [0, 1, -1, 127, 128, -128, -129, 32767, -32768].map { .int($0) }
    case .int32: return [0, 1, -1, 32767, 32768, Int64(Int32.max), Int64(Int32.min)].map { .int($0) }
    case .int64: return [0, 1, -1, 1 << 40, -1 << 52, .max, .min, .max - 1, .min + 1].map { .int($0) }
    case .bool: return [.bool(true), .bool(false)]
    case .key: return [1, 2, 255, 65536, .max].map { .key($0) }
    case .double: return doubles.map { .double($0) }
    case .date: return doubles.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .float: return floats.map { .float($0) }
    case .decimal: return decimals.map { .decimal($0) }
    case .uuid: return uuids.map { .uuid($0) }
    case .string: return strings.map { .string($0) }
    case .uri: return strings.map { .uri("x:" + $0) }
    case .data, .transformable: return blobs.map { .data($0) }
    }
  }

  private static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, 1.25, -12.34, 1e300, -1e-300, .infinity, -.infinity, .nan,
    Double(nan: 0x1234, signaling: false), .leastNonzeroMagnitude, -.leastNormalMagnitude,
    .greatestFiniteMagnitude, 9_007_199_254_740_992, 0x1p53, 1e15,
  ]

  private static let floats: [Float] = [
    0, -0.0, 1, -1, 0.1, 1.25, -12.34, 1e30, .infinity, -.infinity, .nan, Float(nan: 0x77, signaling: false),
    .leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216,
  ]

  private static let decimals: [Decimal] = [
    0, 1, -1, Decimal(string: "0.1")!, Decimal(string: "-12.34")!, Decimal(string: "1.00")!,
    Decimal(string: "340282366920938463463374607431768211455")!, Decimal(string: "1e127")!,
    Decimal(string: "1e-128")!, .nan, Decimal(sign: .minus, exponent: 3, significand: 70_000), Decimal(1000),
  ]

  private static let uuids: [UUID] = [
    "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "12345678-9ABC-DEF0-1234-56789ABCDEF0", "80000000-0000-0000-8000-000000000001",
  ].map { UUID(uuidString: $0)! }

  private static let strings = [
    "", "a", "\0", "a\0b", "e\u{301}", "\u{e9}", "\u{1F600}", "\u{FEFF}x",
    "long text " + String(repeating: "z", count: 300),
    "prefix-one", "prefix-two", "prefix-two-three",
  ]

  private static let blobs: [Data] = [
    Data(), Data([0]), Data([0xFF, 0xC0, 0x80]), Data(0...255), Data(repeating: 7, count: 1000),
  ]

  private static func arrangements(_ edges: [Value], _ type: ValueType) -> [EncodingSample] {
    var numbers = SeededNumbers(seed: UInt64(type.rawValue) + 1)
    let random = (0..<900).map { _ in edges[Int(numbers.next() % UInt64(edges.count))] }
    let some = random.map { numbers.next() % 7 == 0 ? Value.null : $0 }
    return [
      sample("no rows", type, []),
      sample("no rows in two parts", type, [], parts: 2),
      sample("one null", type, [.null]),
      sample("all null", type, Array(repeating: .null, count: 300), parts: 2),
      sample("edges", type, edges),
      sample("edges between nulls", type, [.null] + edges.flatMap { [$0, .null] }),
      sample("constant", type, Array(repeating: edges.last!, count: 500), parts: 3),
      sample("constant or null", type, (0..<500).map { $0 % 3 == 0 ? .null : edges[0] }, parts: 3),
      sample("nulls in runs", type, (0..<700).map { $0 / 100 % 2 == 0 ? .null : edges[$0 % edges.count] }),
      sample("random edges", type, random, parts: 4),
      sample("random edges and nulls", type, some, parts: 4),
      sample("runs of edges", type, (0..<900).map { edges[$0 / 90 % edges.count] }, parts: 2),
    ] + edges.map { sample("one row of \($0)", type, [$0]) }
  }

  /// Arrangements that only make sense for a type.
  private static func special(_ type: ValueType) -> [EncodingSample] {
    var numbers = SeededNumbers(seed: UInt64(type.rawValue) + 100)
    func random(_ n: UInt64) -> Int64 { Int64(numbers.next() % n) }
    switch type {
    case .int16, .int32, .int64:
      let range = type.integerRange!
      return [
        sample(
          "all of the range", type, (0..<600).map { _ in .int(.random(in: range, using: &numbers)) }, parts: 2
        ),
        sample("ascending", type, (0..<2000).map { .int(Int64($0) * 3 + random(3)) }, parts: 2),
        sample("steps", type, (0..<2000).map { .int(Int64($0) * 7 - 3000) }, parts: 2),
        sample("multiples", type, (0..<2000).map { _ in .int(random(50) * 500) }, parts: 2),
        sample(
          "few far away", type,
          (0..<2000).map { _ in .int(random(100) == 0 ? 30_000 - random(99) : random(6)) }),
        sample(
          "skewed", type,
          (0..<3000).map { _ in .int([5, 900, -77, 12_345][Int(random(4) * random(2) * random(2))]) }),
        sample(
          "small and null", type, (0..<2000).map { _ in random(9) == 0 ? .null : .int(random(90)) }, parts: 2),
      ]
    case .key:
      return [
        sample("serial", type, (0..<2000).map { .key(Int64($0) + 1) }, parts: 2),
        sample("references", type, (0..<3000).map { _ in .key(random(1200) * 1117 + 1) }),
      ]
    case .double:
      return [
        sample("prices", type, (0..<2000).map { _ in .double(Double(random(100_000)) / 100) }, parts: 2),
        sample(
          "prices and oddities", type,
          (0..<2000).map { _ in
            random(50) == 0
              ? .double([-0.0, .nan, .infinity, 1.0 / 3][Int(random(4))])
              : .double(Double(random(10_000)) / 1000)
          }, parts: 2),
        sample("noise", type, (0..<1000).map { _ in .double(Double(bitPattern: numbers.next())) }),
      ]
    case .float:
      return [
        sample("tenths", type, (0..<2000).map { _ in .float(Float(random(1000)) / 10) }, parts: 2),
        sample(
          "noise", type,
          (0..<1000).map { _ in .float(Float(bitPattern: UInt32(truncatingIfNeeded: numbers.next()))) }),
      ]
    case .date:
      return [
        sample(
          "hours", type, (0..<2000).map { .date(Date(timeIntervalSinceReferenceDate: Double($0 / 3) * 3600)) }
        ),
        sample(
          "milliseconds", type,
          (0..<2000).map { _ in
            .date(Date(timeIntervalSinceReferenceDate: 7e8 + Double(random(100_000_000)) / 1000))
          }),
      ]
    case .decimal:
      return [
        sample(
          "prices", type,
          (0..<2000).map { _ in
            .decimal(
              Decimal(
                sign: random(9) == 0 ? .minus : .plus, exponent: -2, significand: Decimal(random(50_000) + 1))
            )
          })
      ]
    case .uuid:
      func uuid(_ high: UInt64, _ low: UInt64) -> Value {
        let bytes = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { $0.load(as: uuid_t.self) }
        return .uuid(UUID(uuid: bytes))
      }
      let few = (0..<40).map { _ in uuid(numbers.next(), numbers.next()) }
      return [
        sample("random", type, (0..<600).map { _ in uuid(numbers.next(), numbers.next()) }, parts: 2),
        sample("of few", type, (0..<900).map { _ in few[Int(random(40))] }, parts: 2),
        sample(
          "by time", type, (0..<900).map { uuid(0x0190_0000_0000_7000 + UInt64($0) << 20, numbers.next()) }),
        sample("serial", type, (0..<900).map { uuid(0, UInt64($0)) }),
      ]
    case .string, .uri:
      func text(_ string: String) -> Value { type == .string ? .string(string) : .uri(string) }
      // Words of seven scripts, too many for deflate to remember all at once.
      let joined = (0..<2100).map { i in
        let letters = Array(
          [
            "townshipabcdef", "Πόληκαιχωριόν", "городидеревня", "مدينةوقرية", "市町村里都道府县", "नगरगांव", "ßüöäéèçñ",
          ][i % 7])
        return String((0..<6).map { _ in letters[Int(random(UInt64(letters.count)))] })
      }
      let words = (0..<60).map { "word-\($0 * $0 * 7919)" }
      return [
        sample("words", type, (0..<2000).map { _ in text(words[Int(random(60))]) }, parts: 3),
        sample(
          "words and nulls", type,
          (0..<2000).map { _ in random(5) == 0 ? .null : text(words[Int(random(60))]) }, parts: 3),
        sample("sorted", type, (0..<900).map { text("https://example.org/items/\(10_000 + $0)/pictures") }),
        sample(
          "joined", type,
          (0..<1000).map { _ in
            text((0..<(1 + random(9))).map { _ in joined[Int(random(2100))] }.joined(separator: "|"))
          }),
        sample("huge", type, [text(String(repeating: "aé", count: 700_000)), text("b"), .null]),
        sample("numbers", type, (0..<900).map { _ in text("\(numbers.next())") }, parts: 2),
      ]
    case .data, .transformable:
      func noise(_ n: Int) -> Value {
        .data(Data((0..<n).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }))
      }
      return [
        sample("noise", type, (0..<200).map { _ in noise(Int(random(60))) }, parts: 2),
        sample("alike", type, (0..<200).map { .data(Data(repeating: 3, count: 400) + Data([UInt8($0)])) }),
        sample("one twice", type, [noise(5000), .null, noise(5000)]),
      ]
    case .bool:
      return [
        sample("random", type, (0..<3000).map { _ in .bool(random(2) == 0) }, parts: 2),
        sample("true but thrice", type, (0..<3000).map { .bool($0 % 1000 != 5) }, parts: 2),
      ]
    }
  }
}

/// Whether two columns hold the same bits and nulls in the same rows.
func areSame(_ a: Column, _ b: Column) -> Bool {
  guard a.type == b.type, a.count == b.count, a.nullCount == b.nullCount else { return false }
  for row in 0..<a.count {
    guard a.isNull(row) == b.isNull(row) else { return false }
    switch a.type {
    case .int16, .int32, .int64, .bool, .key: if a.integer(row) != b.integer(row) { return false }
    case .string, .uri, .data, .transformable:
      if !a.bytes(row).elementsEqual(b.bytes(row)) { return false }
    case .double, .date: if a.double(row).bitPattern != b.double(row).bitPattern { return false }
    case .float, .decimal, .uuid:
      let size = a.type == .float ? 4 : a.type == .decimal ? 20 : 16
      if memcmp(a.rawValues + row * size, b.rawValues + row * size, size) != 0 { return false }
    }
  }
  return true
}
