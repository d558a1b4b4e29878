// Round trips through columns: whatever goes in comes out, at every width, with and without nulls.

import Foundation
import Testing

@testable import CairnModel

/// Named runs of values of one type: the shapes that columns take.
struct Shapes {
  var random: SplitMix64

  mutating func all(_ type: ValueType) -> [(name: String, values: [Value])] {
    let values = (0..<200).map { _ in random.value(type) }
    var withNulls = values
    for i in withNulls.indices where random.oneIn(3) { withNulls[i] = .null }
    var shapes: [(String, [Value])] = [
      ("empty", []), ("one", [random.value(type)]), ("one null", [.null]),
      ("all null", [Value](repeating: .null, count: 70)), ("random", values),
      ("random with nulls", withNulls),
      ("sorted", values.sorted()), ("constant", [Value](repeating: random.value(type), count: 130)),
    ]
    if let range = type.integerRange { shapes += integers(type, range) }
    if type == .string || type == .uri { shapes += texts(type) }
    if type.family == .bytes {
      shapes.append(("empty bytes and nulls", (0..<80).map { $0 % 2 == 0 ? .null : .data(Data()) }))
    }
    return shapes
  }

  private func integers(_ type: ValueType, _ range: ClosedRange<Int64>) -> [(String, [Value])] {
    func typed(_ x: Int64) -> Value { type == .bool ? .bool(x != 0) : type == .key ? .key(x) : .int(x) }
    let edges = Nasty.integers.filter(range.contains).sorted { $0.magnitude < $1.magnitude }
    return [
      ("least and greatest", [typed(range.lowerBound), .null, typed(range.upperBound)]),
      ("ever wider", edges.map(typed)), ("ever narrower", edges.reversed().map(typed)),
    ]
  }

  private func texts(_ type: ValueType) -> [(String, [Value])] {
    func typed(_ x: String) -> Value { type == .uri ? .uri(x) : .string(x) }
    return [
      ("few distinct", (0..<300).map { typed("v\($0 % 7)") }),
      ("from few to many", (0..<300).map { typed($0 < 100 ? "v\($0 % 5)" : "unique \($0)") }),
      ("exactly 64 distinct", (0..<128).map { typed("x\($0 % 64)") }),
      ("many distinct, repeated", (0..<400).map { typed("x\($0 % 200)") }),
      ("empty next to null", (0..<90).map { $0 % 3 == 0 ? .null : typed($0 % 3 == 1 ? "" : "\u{1F600}") }),
      ("four bytes a character", (0..<80).map { typed(String(repeating: "\u{1F9D1}", count: $0 % 5)) }),
      ("long", [typed(String(repeating: "x", count: 100_000)), .null, typed("")]),
    ]
  }
}

extension ValueType: CustomTestStringConvertible {
  public var testDescription: String { "\(self)" }
}

/// What must hold of any column that was made from `values`.
func problems(_ column: Column, _ values: [Value]) -> [String] {
  var found: [String] = []
  if !areSame(column.allValues, values) { found.append("values") }
  if column.count != values.count { found.append("count") }
  if column.nullCount != values.count(where: \.isNull) { found.append("null count") }
  for (row, value) in values.enumerated() where !value.isNull && !isInside(value, column.zone, column.layout)
  {
    found.append("row \(row), \(value), is outside of \(column.zone)")
  }
  return found
}

/// Whether a zone allows for a value.
private func isInside(_ value: Value, _ zone: Zone, _ layout: Column.Layout) -> Bool {
  if layout.isInteger {
    let x = value.storedInteger
    return x >= zone.minInteger && x <= zone.maxInteger
  }
  guard layout.isFloatingPoint else { return true }
  let x = value.storedDouble
  return x.isNaN ? zone.mayHoldNaN : x >= zone.minDouble && x <= zone.maxDouble
}

struct ColumnTests {
  @Test(arguments: ValueType.allCases, seeds)
  func `what a builder takes its column gives back (COM-1, COM-2)`(type: ValueType, seed: UInt64) {
    var shapes = Shapes(random: SplitMix64(seed: seed))
    for (name, values) in shapes.all(type) {
      let found = problems(column(type, values), values)
      #expect(found.isEmpty, "\(type), \(name), seed \(seed): \(found.prefix(3))")
    }
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `a builder reads and replaces what it holds`(type: ValueType, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let builder = ColumnBuilder(type)
    var values: [Value] = []
    for _ in 0..<300 {
      let value = random.oneIn(4) ? .null : random.value(type)
      if values.isEmpty || random.oneIn(2) {
        try builder.append(value: value)
        values.append(value)
      } else {
        let row = random.below(values.count)
        try builder.set(value, at: row)
        values[row] = value
      }
    }
    #expect(areSame((0..<builder.count).map(builder.value), values), "seed \(seed)")
    #expect(problems(builder.finish(), values).isEmpty, "seed \(seed)")
    let rows = (0..<100).map { _ in random.below(values.count) }
    #expect(problems(builder.finish(rows: rows), rows.map { values[$0] }).isEmpty, "seed \(seed)")
  }

  @Test func `integers lie at the narrowest width that holds them`() {
    func layout(_ values: [Int64]) -> Column.Layout { column(.int64, values.map { .int($0) }).layout }
    #expect(layout([]) == .int8 && layout([127, -128]) == .int8)
    #expect(layout([128]) == .int16 && layout([-129]) == .int16 && layout([32767, -32768]) == .int16)
    #expect(layout([32768]) == .int32 && layout([-32769]) == .int32 && layout([2_147_483_647]) == .int32)
    #expect(layout([2_147_483_648]) == .int64 && layout([-2_147_483_649]) == .int64)
    #expect(column(.int64, [.null, .int(1)]).layout == .int8)
  }

  @Test func `unboxed reading agrees with boxed`() {
    let numbers = column(.int32, [7, .null, -70_000])
    #expect(numbers.integer(0) == 7 && numbers.integer(1) == 0 && numbers.integer(2) == -70_000)
    let reals = column(.float, [.float(0.5), .null])
    #expect(reals.double(0) == 0.5 && reals.double(1) == 0)
    let texts = column(.string, ["é", .null])
    #expect(texts.string(0) == "é" && texts.string(1) == "" && texts.bytes(0).count == 2)
    #expect(column(.uuid, [.uuid(Nasty.uuids[6])]).uuid(0) == Nasty.uuids[6])
  }

  @Test func `integers appended all at once are those appended one by one, a stand-in being null`() {
    let builder = ColumnBuilder(.int32)
    [Int32(5), -1, 7, -1].withUnsafeBufferPointer { builder.append(contentsOf: $0, null: -1) }
    #expect(areSame(builder.finish().allValues, [5, .null, 7, .null]))
  }

  @Test func `distinct integers are each named once, in small and in wide ranges`() {
    #expect(column(.int64, [5, 3, .null, 5, 3, 9]).distinctIntegers().sorted() == [3, 5, 9])
    #expect(column(.int64, [.int(.min), .int(.max), 0, 0]).distinctIntegers().sorted() == [.min, 0, .max])
    #expect(column(.int64, [.null]).distinctIntegers() == [])
  }
}
