// Every kernel of a filter against `ValueTest.matches` row by row.

import Foundation
import Testing

@testable import CairnModel

struct FilteringTests {
  /// Rows of Item in which only the slot `type` has values.
  private func source(_ type: ValueType, _ values: [Value], chunkSize: Int) -> TestSource {
    let rows = values.enumerated().map { index, value in
      TestSource.Row(key: Int64(index * 2 + 1), values: ["\(type)": value], isDeleted: index % 11 == 5)
    }
    return TestSource(itemSchema, ["Item": rows], chunkSize: chunkSize)
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `a mask says of each row what the test says of its value`(type: ValueType, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var shapes = Shapes(random: random)
    var failures = Failures()
    for (name, values) in shapes.all(type) where values.count < 1000 && !values.isEmpty {
      // Ordered columns cut into chunks are where zones decide.
      let source = source(type, values, chunkSize: random.pick([16, 64, 4096]))
      for _ in 0..<14 {
        let tree = random.comparison("\(type)", type, like: values)
        for found in try disagreements(tree, "Item", source) { failures.add("\(name), \(tree): \(found)") }
      }
    }
    #expect(failures.isEmpty, "\(type), seed \(seed): \(failures)")
  }

  @Test(arguments: ValueType.allCases)
  func `bounds at and beside the least and the greatest value`(type: ValueType) throws {
    guard type.family == .number || type == .date else { return }
    var random = SplitMix64(seed: 9)
    var failures = Failures()
    for _ in 0..<12 {
      let values = (0..<40).map { _ in random.oneIn(6) ? Value.null : random.value(type) }
      let source = source(type, values, chunkSize: 8)
      let known = values.filter { !$0.isNull }
      let edges =
        [known.min()!, known.max()!, known[0]] + neighbours(known.min()!) + neighbours(known.max()!)
      for constant in edges {
        for op in ComparisonOperator.allCases where op.isOrderComparison {
          let tree = PredicateTree.compare("\(type)", op, constant)
          for found in try disagreements(tree, "Item", source) { failures.add("\(tree): \(found)") }
        }
        for other in edges {
          for found in try disagreements(.between("\(type)", constant, other), "Item", source) {
            failures.add("between \(constant) and \(other): \(found)")
          }
        }
      }
    }
    #expect(failures.isEmpty, "\(type): \(failures)")
  }

  private func neighbours(_ value: Value) -> [Value] {
    switch value {
    case .int(let x):
      [.int(x &- 1), .int(x &+ 1), .double(Double(x)), .double(Double(x).nextUp), .double(Double(x) - 0.5)]
    case .double(let x):
      [.double(x.nextUp), .double(x.nextDown), .decimal(x.isFinite && abs(x) < 1e100 ? Decimal(x) : 0)]
    case .float(let x): [.float(x.nextUp), .double(Double(x).nextDown), .int(0)]
    case .bool: [.int(2), .int(-1), .double(0.5)]
    case .date(let x): [.date(x.addingTimeInterval(1)), .date(x.addingTimeInterval(-1))]
    default: [.int(0)]
    }
  }

  @Test(arguments: seeds)
  func `AND, OR and NOT of tests, with whole chunks decided by zones`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let types: [ValueType] = [.int16, .int64, .double, .string, .bool, .date, .key]
    let rows = (0..<600).map { index in
      // int64 ascends, so that zones rule chunks out; int16 is null in whole chunks, bool in none.
      var values: [String: Value] = ["int64": .int(Int64(index)), "bool": .bool(index % 3 == 0)]
      if (index / 32) % 2 == 0 { values["int16"] = random.value(.int16) }
      for type in types where values["\(type)"] == nil && type != .int16 {
        values["\(type)"] = random.oneIn(5) ? .null : random.value(type)
      }
      return TestSource.Row(key: Int64(index + 1), values: values, isDeleted: random.oneIn(20))
    }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 32)
    var failures = Failures()
    for _ in 0..<60 {
      let tree = random.tree(depth: 4) { random in
        let type = random.pick(types)
        let limit = Value.int(Int64(random.below(700)) - 50)
        if random.oneIn(2) {
          return .compare("int64", random.pick([.less, .greater, .equal, .notEqual]), limit)
        }
        return random.comparison("\(type)", type, like: rows.prefix(50).compactMap { $0.values["\(type)"] })
      }
      for found in try disagreements(tree, "Item", source) { failures.add("\(tree): \(found)") }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  @Test func `two properties of a row compare by value, nil equal only to nil`() throws {
    let pairs: [(Value, Value)] = [(1, 1), (1, 2), (.null, 1), (1, .null), (.null, .null), (3, -3)]
    let rows = pairs.enumerated().map {
      TestSource.Row(key: Int64($0 + 1), values: ["int16": $1.0, "int64": $1.1])
    }
    let source = TestSource(itemSchema, ["Item": rows])
    func ids(_ op: ComparisonOperator) throws -> [Int64] {
      let tree = PredicateTree.comparison(.init(.path("int16"), op, .path("int64")))
      #expect(try disagreements(tree, "Item", source).isEmpty)
      return try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: tree, source: source)
        .rows(sort: [], offset: 0, limit: nil).ids
    }
    #expect(try ids(.equal) == [1, 5])
    #expect(try ids(.notEqual) == [2, 3, 4, 6])
    #expect(try ids(.less) == [2])
    #expect(try ids(.greaterOrEqual) == [1, 6])
  }

  @Test func `the row itself is compared by its key`() throws {
    let rows = (1...100).map { TestSource.Row(key: Int64($0 * 3), values: ["int16": .int(Int64($0))]) }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 32)
    let constants: [PredicateTree] = [
      .comparison(.init(.evaluatedObject, .equal, .constant(.key(30)))),
      .comparison(.init(.evaluatedObject, .notEqual, .constant(.key(30)))),
      .comparison(.init(.evaluatedObject, .greater, .constant(.key(30)))),
      .comparison(.init(.evaluatedObject, .less, .constant(.key(31)))),
      .comparison(.init(.evaluatedObject, .equal, .constant(.null))),
      .comparison(.init(.evaluatedObject, .notEqual, .constant(.null))),
      .comparison(
        .init(
          .evaluatedObject, .isIn,
          .list([.constant(.key(3)), .constant(.key(4)), .constant(.null), .constant(5)]))),
      .comparison(.init(.evaluatedObject, .isIn, .list([.constant(.key(3)), .constant(.key(.max))]))),
      .comparison(.init(.evaluatedObject, .between, .list([.constant(.key(9)), .constant(.key(21))]))),
      .comparison(.init(.evaluatedObject, .equal, .constant("x"))),
      .comparison(.init(.evaluatedObject, .notEqual, .constant("x"))),
      .comparison(.init(.constant(.key(30)), .equal, .evaluatedObject)),
    ]
    let counts = try constants.map { tree -> Int in
      #expect(try disagreements(tree, "Item", source).isEmpty, "\(tree)")
      return try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: tree, source: source)
        .count()
    }
    #expect(counts == [1, 99, 90, 10, 0, 100, 1, 1, 5, 0, 100, 1])
  }

  @Test func `the table of an IN is built once, with the predicate, for whole numbers and keys`() throws {
    func root(_ type: ValueType, _ values: [Value]) throws -> PreparedPredicate.Node {
      let source = source(type, [.null], chunkSize: 8)
      let bound = try BoundPredicate(.isIn("\(type)", values), to: EntityID(0), in: source.schema)
      return PreparedPredicate(bound, source: source).root
    }
    for (type, values) in [
      (ValueType.int16, [1, 5] as [Value]), (.int32, [1, .bool(true)]), (.int64, [.int(.min), .int(.max)]),
      (.bool, [true, false]), (.key, [.key(7), .key(3)]),
    ] {
      guard case .members(_, .isIn(let kept), let table) = try root(type, values) else {
        Issue.record("\(type) IN \(values) has no table")
        continue
      }
      #expect(kept == Value.sortedDistinct(values) && table.exceptions.count == kept.count)
    }
    // These compare by value, and of nothing there is no table.
    for (type, values) in [
      (ValueType.int16, [1, 2.5] as [Value]), (.int32, [.decimal(1)]), (.double, [1, 2]), (.int64, []),
      (.key, [.key(1), 2]), (.int16, [.key(1)]), (.string, ["x"]),
    ] {
      guard case .slot(_, .isIn) = try root(type, values) else {
        Issue.record("\(type) IN \(values)")
        continue
      }
    }
  }

  @Test func `a chunk whose rows are all deleted has no matches, and AND of nothing is true, OR false`()
    throws
  {
    let rows = (1...20).map { TestSource.Row(key: Int64($0), values: ["int16": 1], isDeleted: $0 <= 10) }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 10)
    func count(_ tree: PredicateTree?) throws -> Int {
      try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: tree, source: source).count()
    }
    #expect(try count(nil) == 10 && count(.and([])) == 10 && count(.or([])) == 0)
    #expect(try count(.compare("int16", .equal, 1)) == 10)
    #expect(try count(.not(.compare("int16", .equal, 1))) == 0)
  }

  @Test(arguments: seeds)
  func `arithmetic on columns says of each row what it says of its values alone`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let types: [ValueType] = [.int16, .int32, .int64, .double, .float, .bool, .decimal]
    let rows = (0..<300).map { index in
      var values: [String: Value] = [:]
      for type in types { values["\(type)"] = random.oneIn(6) ? .null : random.value(type) }
      return TestSource.Row(key: Int64(index + 1), values: values, isDeleted: random.oneIn(20))
    }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 64)
    func number(_ depth: Int) -> ExpressionTree {
      if depth == 0 {
        return random.oneIn(4)
          ? .constant(random.value(random.pick([.int16, .int64, .double]))) : .path("\(random.pick(types))")
      }
      if random.oneIn(6) { return bits(depth) }
      let functions = ["add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:"]
      return .function(
        functions[random.oneIn(3) ? random.below(5) : random.below(3)],
        [number(depth - 1), number(depth - 1)])
    }
    func bits(_ depth: Int) -> ExpressionTree {
      if depth == 0 {
        return random.oneIn(4)
          ? .constant(random.value(random.pick([.int16, .int64])))
          : .path("\(random.pick([ValueType.int16, .int32, .int64, .bool]))")
      }
      let functions = [
        "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
      ]
      if random.oneIn(6) { return .function("onesComplement:", [bits(depth - 1)]) }
      return .function(random.pick(functions), [bits(depth - 1), bits(depth - 1)])
    }
    var failures = Failures()
    for _ in 0..<80 {
      let op = random.pick(ComparisonOperator.allCases.filter(\.isOrderComparison))
      let right = random.constant(random.pick([.int32, .double]), like: [])
      let tree = PredicateTree.comparison(.init(number(1 + random.below(2)), op, .constant(right)))
      for found in try disagreements(tree, "Item", source) {
        failures.add("\(tree.canonicalFormat): \(found)")
      }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }
}
