// Laws of values: whatever a slot's type holds comes back exactly as it went in.

import CairnModel
import Foundation

extension StoreLaw {
  /// For each slot of `Schema.specimen` the values worth trying.
  static let extremes: [(slot: String, values: [Value])] = [
    ("int16", [0, 1, -1, .int(Int64(Int16.min)), .int(Int64(Int16.max))]),
    ("int32", [0, .int(Int64(Int16.max) + 1), .int(Int64(Int32.min)), .int(Int64(Int32.max))]),
    ("int64", [0, .int(Int64(Int32.max) + 1), .int(.min), .int(.max), .int(.min + 1), .int(.max - 1)]),
    ("decimal", decimals.map { .decimal($0) }),
    ("double", doubles.map { .double($0) }),
    (
      "float",
      [0, -0.0, 1.5, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1]
        .map { .float($0) }
    ),
    ("string", strings.map { .string($0) }),
    ("bool", [true, false]),
    (
      "date",
      [0, -1, -978_307_200, -63_114_076_800, 252_423_993_599, 0.1, -0.000_001, 1e300]
        .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    ),
    ("data", blobs.map { .data($0) }),
    ("transformable", blobs.map { .data($0) }),
    (
      "uuid",
      [
        .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
        .uuid(UUID(uuid: (255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, 243, 242, 241, 240))),
      ]
    ),
    ("uri", ["", "https://example.com/a?b=c#d", "x-app:/stäble/%20", "file:///tmp"].map { .uri($0) }),
  ]

  private static let decimals: [Decimal] = [
    0, 1, -1, Decimal(string: "0.1")!, Decimal(string: "-123456789.987654321")!, .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
    Decimal(string: "12345678901234567890123456789012345678")!,
    Decimal(sign: .minus, exponent: -127, significand: 7), .nan,
  ]

  private static let doubles: [Double] = [
    0, -0.0, 1, 0.1, -1e300, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, 0x1p53, 0x1p53 + 2, .pi,
  ]

  private static let strings: [String] = [
    "", " ", "a", "Grüße, 世界", "e\u{301}", "\u{e9}", "👩‍👩‍👧‍👦🇩🇪", "\u{0}", "a\u{0}b", "line\nbreak\r\n\ttab",
    "'\";--",
    "\u{FEFF}bom", "\u{10FFFF}", String(repeating: "x", count: 70_000), String(repeating: "世", count: 5_000),
  ]

  private static let blobs: [Data] = [
    Data(), Data([0]), Data([0, 0, 0]), Data([255, 0, 127, 128]),
    Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }),
  ]

  static let values: [StoreLaw] =
    extremes.flatMap { slot, values in
      [
        law("values", "every \(slot) comes back exactly as it was inserted", .specimen) { trial in
          let keys = try trial.insert("Specimen", rows: values.map { [slot: $0] })
          for (key, value) in zip(keys, values) {
            try expectIdentical(try trial.value(key, slot), value, "an inserted \(slot)")
          }
        },
        law("values", "every \(slot) comes back exactly as it was updated, and can become null", .specimen) {
          trial in
          let key = try trial.insert("Specimen")
          for value in values + [.null] + values.reversed() {
            try trial.update(key, [slot: value])
            try expectIdentical(try trial.value(key, slot), value, "an updated \(slot)")
          }
        },
        law("values", "every \(slot) is found by equality and put into the one order", .specimen) { trial in
          let rows = values.reversed().map { [slot: $0] } + [[:]]
          let keys = try trial.insert("Specimen", rows: rows)
          for value in values {
            let found = try trial.ids("Specimen", .compare(slot, .equal, value))
            let expected = zip(keys, rows).filter { $1[slot] == value }.map(\.0.id)
            try expectEqual(found, expected, "the rows whose \(slot) equals \(shortened(value))")
          }
          let sorted = zip(keys, rows).sorted { a, b in
            let order = Value.compare(a.1[slot] ?? .null, b.1[slot] ?? .null)
            return order == 0 ? a.0 < b.0 : order < 0
          }
          try expectEqual(
            try trial.ids("Specimen", sort: [SortTerm(slot)]), sorted.map(\.0.id),
            "the rows sorted by \(slot)")
        },
      ]
    } + [
      law("values", "a row holds values of all types at once", .specimen) { trial in
        let values = Dictionary(uniqueKeysWithValues: extremes.map { ($0.slot, $0.values.last!) })
        let key = try trial.insert("Specimen", values)
        for (slot, value) in values { try expectIdentical(try trial.value(key, slot), value, slot) }
      },
      law("values", "elements of composite attributes are slots of their own, by dotted names") { trial in
        let key = try trial.insert(
          "Place", ["location.latitude": 48.5, "location.address.zip": 70_173, "name": "S"])
        try expectEqual(try trial.value(key, "location.latitude"), 48.5, "an element")
        try expectEqual(try trial.value(key, "location.longitude"), .null, "an element without a value")
        try expectEqual(try trial.value(key, "location.address.zip"), 70_173, "a nested element")
        try trial.update(key, ["location.longitude": 9.25])
        try expectEqual(
          try trial.ids("Place", .compare("location.longitude", .greater, 9)), [key.id], "by an element")
        try expectEqual(
          try trial.ids("Place", .compare("location.address.zip", .equal, 70_173)), [key.id],
          "by a nested one")
      },
      law("values", "an empty string and empty data aren't null", .specimen) { trial in
        let keys = try trial.insert("Specimen", rows: [["string": "", "data": .data(Data())], [:]])
        for slot in ["string", "data"] {
          try expectEqual(
            try trial.ids("Specimen", .compare(slot, .equal, .null)), [keys[1].id],
            "rows whose \(slot) is nil")
        }
      },
      law("values", "strings of the same characters in other scalars are different values", .specimen) {
        trial in
        let keys = try trial.insert("Specimen", rows: [["string": "caf\u{e9}"], ["string": "cafe\u{301}"]])
        try expectEqual(
          try trial.ids("Specimen", .compare("string", .equal, "caf\u{e9}")), [keys[0].id], "the composed one"
        )
        try expectEqual(
          try trial.ids("Specimen", .compare("string", .equal, "cafe\u{301}")), [keys[1].id],
          "the decomposed one")
      },
    ]

  private static func expectIdentical(_ found: Value, _ expected: Value, _ what: String) throws {
    try expect(
      found.isIdentical(to: expected), "\(what) to be \(shortened(expected))", "it is \(shortened(found))")
  }

  private static func shortened(_ value: Value) -> String { String(value.description.prefix(80)) }
}
