// Core Data's documented and observed answers: the test table of the Core Data notes (6.6), as trees. A row
// keeps its number there. Left out are rows about parsing alone, and rows with to-many key paths, functions,
// arithmetic, indexing, variables or SUBQUERY, which these trees can't say.

import Foundation
import Testing

@testable import CairnModel

struct PredicateTableTests {
  private static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "O",
        attributes: [
          .init("name", .string), .init("age", .int32), .init("height", .double), .init("active", .bool),
          .init("nick", .string), .init("city", .string), .init("bits", .int16), .init("born", .date),
          .init("addr", .composite([.init("street", .string), .init("zip", .string)])),
          .init("nick2", .string),
        ])
    ]))

  private static let object = TestSource(
    schema,
    [
      "O": [
        .init(
          key: 1,
          values: [
            "name": "Alice", "age": 30, "height": 1.7, "active": true, "city": "São Paulo", "bits": 6,
            "born": .date(Date(timeIntervalSinceReferenceDate: 0)), "addr.street": "Main", "addr.zip": "123",
          ])
      ]
    ])

  struct Row: Sendable, CustomTestStringConvertible {
    let number: Int
    let tree: PredicateTree
    /// nil where Core Data raises an exception, or refuses the predicate.
    let result: Bool?

    init(_ number: Int, _ tree: PredicateTree, _ result: Bool?) {
      self.number = number
      self.tree = tree
      self.result = result
    }

    var testDescription: String { "row \(number)" }
  }

  private static func constants(_ left: Value, _ op: ComparisonOperator, _ right: Value) -> PredicateTree {
    .comparison(.init(.constant(left), op, .constant(right)))
  }

  private static let c: StringOptions = .caseInsensitive
  private static let d: StringOptions = .diacriticInsensitive
  private static let epoch = Value.date(Date(timeIntervalSinceReferenceDate: 0))

  private static let numbers: [Row] = [
    Row(1, .compare("age", .equal, 30), true),
    Row(3, .comparison(.init(.constant(30), .equal, .path("age"))), true),
    Row(4, .compare("age", .notEqual, 30), false),
    Row(5, .compare("age", .notEqual, 31), true),
    Row(6, .compare("age", .greater, 29), true),
    Row(7, .compare("age", .greaterOrEqual, 30), true),
    Row(9, .compare("age", .lessOrEqual, 29), false),
    Row(10, .compare("age", .less, 10.5), false),
    Row(
      11, .and([.comparison(.init(.constant(1), .lessOrEqual, .path("age"))), .compare("age", .less, 10.5)]),
      false),
    Row(12, .between("age", 20, 30), true),
    Row(13, .between("age", 31, 40), false),
    Row(14, .between("age", 20, 40), true),
    Row(15, .not(.between("age", 1, 3)), true),
    Row(16, .between("name", "A", "B"), true),
    Row(52, .compare("active", .equal, true), true),
    Row(54, .compare("active", .equal, false), false),
    Row(55, .compare("active", .equal, 1), true),
    Row(129, .compare("born", .equal, epoch), true),
    Row(130, .compare("born", .equal, epoch), true),
    Row(142, .compare("age", .equal, "30"), false),
    Row(153, constants(false, .equal, true), false),
  ]

  private static let strings: [Row] = [
    Row(17, .compare("name", .equal, "Alice"), true),
    Row(18, .compare("name", .equal, "alice"), false),
    Row(19, .compare("name", .equal, "ALICE", options: c), true),
    Row(20, .compare("city", .equal, "Sao Paulo"), false),
    Row(21, .compare("city", .equal, "Sao Paulo", options: d), true),
    Row(22, .compare("city", .equal, "sao paulo", options: [c, d]), true),
    Row(24, .compare("name", .notEqual, "ALICE", options: c), false),
    Row(25, .compare("name", .less, "Bob"), true),
    Row(26, .compare("name", .beginsWith, "Al"), true),
    Row(27, .compare("name", .beginsWith, "al", options: c), true),
    Row(29, .compare("name", .endsWith, "ce"), true),
    Row(30, .compare("name", .contains, "lic"), true),
    Row(31, .compare("name", .contains, "LIC", options: [c, d]), true),
    Row(32, .not(.compare("name", .contains, "LIC", options: [c, d])), false),
    Row(33, .compare("name", .like, "A*e"), true),
    Row(34, .compare("name", .like, "A????"), true),
    Row(35, .compare("name", .like, "lic"), false),
    Row(36, .compare("name", .like, "a*", options: c), true),
    Row(37, .compare("name", .matches, "A.*e"), true),
    Row(38, .compare("name", .matches, "lic"), false),
    Row(39, .compare("name", .matches, "a[a-z]+", options: c), true),
    Row(69, .isIn("name", ["Alice", "Bob"]), true),
    Row(70, .isIn("age", [20, 21, 22]), false),
    Row(71, .isIn("age", [30, 31]), true),
    Row(72, .isIn("age", []), false),
    Row(73, .not(.isIn("name", ["Bob"])), true),
    Row(75, .compare("name", .isIn, "xAlicex"), true),
    Row(77, constants("AABBB", .contains, "BBB"), true),
    Row(100, .compare("addr.zip", .equal, "123"), true),
    Row(104, constants("Do", .equal, "Do"), true),
    Row(105, constants("aaaa", .beginsWith, "aaa"), true),
    Row(136, constants("Do", .equal, "%@"), false),
    Row(138, .compare("name", .equal, "O'Neil"), false),
    Row(139, .compare("name", .equal, "Quote \""), false),
    Row(140, .compare("name", .equal, "Quote \\"), false),
  ]

  private static let nils: [Row] = [
    Row(40, .compare("nick", .equal, .null), true),
    Row(42, .compare("nick", .notEqual, .null), false),
    Row(43, .compare("name", .equal, .null), false),
    Row(44, .compare("nick", .equal, "x"), false),
    Row(45, .compare("nick", .notEqual, "x"), true),
    Row(46, .compare("nick", .less, "x"), false),
    Row(47, .not(.compare("nick", .less, "x")), true),
    Row(48, .compare("nick", .contains, "x"), false),
    Row(49, .not(.compare("nick", .contains, "x")), true),
    Row(50, .isIn("nick", ["a"]), false),
    Row(51, .compare("nick", .equal, .null), true),
    Row(144, .comparison(.init(.path("nick"), .equal, .path("nick2"))), true),
  ]

  private static let compounds: [Row] = [
    Row(57, .and([.compare("age", .greater, 10), .compare("name", .equal, "Alice")]), true),
    Row(58, .and([.compare("age", .greater, 10), .compare("name", .equal, "Bob")]), false),
    Row(59, .or([.compare("age", .greater, 90), .compare("name", .equal, "Alice")]), true),
    Row(60, .or([.compare("age", .greater, 90), .compare("active", .equal, 1)]), true),
    Row(61, .not(.compare("age", .greater, 90)), true),
    Row(63, .not(.or([.compare("age", .greater, 90), .compare("name", .equal, "Z")])), true),
    Row(64, .and([1, 2, 3].map { .compare("age", .greater, $0) }), true),
    Row(
      65,
      .and([
        .compare("name", .equal, "Foo"), .or([.compare("age", .less, 13), .compare("age", .greater, 18)]),
      ]),
      false),
    Row(
      66,
      .or([
        .and([.compare("age", .greater, 90), .compare("age", .greater, 91)]), .compare("age", .greater, 1),
      ]),
      true),
    Row(67, .constant(true), true),
    Row(68, .or([.constant(false), .constant(true)]), true),
  ]

  private static let refused: [Row] = [
    Row(78, .comparison(.init(.path("name"), .isIn, .path("age"))), nil),
    Row(141, .comparison(.init(.path("name"), .equal, .path("Alice"))), nil),
    Row(143, .compare("name", .lessOrEqual, 2), nil),
  ]

  @Test(arguments: numbers + strings + nils + compounds + refused)
  func `the table of the Core Data notes`(row: Row) throws {
    let object = PredicateTableTests.object
    guard let result = row.result else {
      #expect(throws: StoreError.self) { try BoundPredicate(row.tree, to: EntityID(0), in: object.schema) }
      return
    }
    let query = try RowQuery(
      entity: EntityID(0), includesSubentities: true, predicate: row.tree, source: object)
    #expect(query.count() == (result ? 1 : 0), "\(row.tree)")
    #expect(try disagreements(row.tree, "O", object).isEmpty)
  }
}
