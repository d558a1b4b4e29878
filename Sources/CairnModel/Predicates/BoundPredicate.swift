// A predicate fitted to an entity: names become slots, constants are checked against types.
//
// Always holds: whatever a `BoundPredicate` contains can be evaluated without an error. What can't be is
// refused here, with the entity, the property and the value, before any row is looked at.

import Foundation

/// A predicate whose names and types fit an entity of a schema.
public struct BoundPredicate: Sendable {
  package indirect enum Node: Sendable {
    case constant(Bool)
    case test(BoundPath, ValueTest)
    case comparePaths(BoundPath, ComparisonOperator, BoundPath)
    case and([Node])
    case or([Node])
    case not(Node)
  }

  package let root: Node

  /// Fits `tree` to `entity`. Throws `unknownProperty` for a name that isn't there, `unbindablePredicate` for
  /// types that can't be compared, a pattern that isn't one, or a tree nested deeper than 100, where an AND
  /// within an AND and an OR within an OR don't count.
  public init(_ tree: PredicateTree, to entity: EntityID, in schema: Schema) throws {
    root = try Binder(schema: schema, entity: entity).bind(tree, depth: 0)
  }
}

private struct Binder {
  let schema: Schema
  let entity: EntityID

  func bind(_ tree: PredicateTree, depth: Int) throws -> BoundPredicate.Node {
    // All that walks predicates is recursive, and the smallest stacks of threads have half a megabyte.
    guard depth < 100 else {
      throw StoreError(.unbindablePredicate, "the predicate is nested deeper than 100", entity: name)
    }
    switch tree {
    case .constant(let value): return .constant(value)
    case .and: return .and(try Binder.parts(of: tree).map { try bind($0, depth: depth + 1) })
    case .or: return .or(try Binder.parts(of: tree).map { try bind($0, depth: depth + 1) })
    case .not(let part): return .not(try bind(part, depth: depth + 1))
    case .comparison(let comparison): return try bind(comparison)
    case .opaque: throw error("a block can't be asked of columns", "SELF")
    }
  }

  /// The parts of an AND or an OR, those of the same within it included: programs build long chains two by
  /// two.
  private static func parts(of tree: PredicateTree) -> [PredicateTree] {
    var result: [PredicateTree] = []
    var rest = [tree]
    while let next = rest.popLast() {
      switch (tree, next) {
      case (.and, .and(let parts)), (.or, .or(let parts)): rest.append(contentsOf: parts.reversed())
      default: result.append(next)
      }
    }
    return result
  }

  private var name: String { schema[entity].name }

  private func bind(_ c: PredicateTree.Comparison) throws -> BoundPredicate.Node {
    guard c.modifier == .direct, c.options.subtracting([.caseInsensitive, .diacriticInsensitive]).isEmpty else {
      throw error("columns don't answer this comparison", describe(c.left))
    }
    switch (c.left, c.right) {
    case (.constant(let left), .constant(let right)):
      return .constant(try constantTest(c.op, right, c.options, left.family, "\(left)").matches(left))
    case (.constant(let left), .list(let elements)):
      return .constant(try listTest(c.op, elements, left.family, "\(left)").matches(left))
    case (_, .list(let elements)):
      let path = try self.path(c.left)
      return .test(path, try listTest(c.op, elements, path.type.family, describe(c.left)))
    case (_, .constant(let right)):
      let path = try self.path(c.left)
      return try bind(path, c.op, right, c.options, describe(c.left))
    case (.constant(let left), _):
      let path = try self.path(c.right)
      guard let mirrored = c.op.mirrored(constant: left) else {
        throw error("\(c.op) with a constant on the left and a property on the right", describe(c.right))
      }
      return try bind(path, mirrored, left, c.options, describe(c.right))
    default:
      return try bindPaths(c)
    }
  }

  private func bind(
    _ path: BoundPath, _ op: ComparisonOperator, _ constant: Value, _ options: StringOptions, _ text: String
  ) throws -> BoundPredicate.Node {
    .test(path, try constantTest(op, constant, options, path.type.family, text))
  }

  private func bindPaths(_ c: PredicateTree.Comparison) throws -> BoundPredicate.Node {
    let left = try path(c.left)
    let right = try path(c.right)
    guard c.op.isOrderComparison, c.options.isEmpty else {
      throw error("\(c.op) of two properties", describe(c.left))
    }
    if c.op.isOrdering, left.type.family != right.type.family {
      throw error("\(c.op) of a \(left.type.family) and a \(right.type.family)", describe(c.left))
    }
    return .comparePaths(left, c.op, right)
  }

  /// The test that `value op constant` makes of a value of `family`.
  private func constantTest(
    _ op: ComparisonOperator, _ constant: Value, _ options: StringOptions, _ family: ValueType.Family?,
    _ text: String
  ) throws -> ValueTest {
    if case .composite = constant { throw error("a composite value can't be compared", text) }
    if constant.isNull {
      switch op {
      case .equal: return .isNull
      case .notEqual: return .isNotNull
      case .isIn, .between: throw error("\(op) needs a list on its right", text)
      default: return .isIn([])  // an ordering or string operator with nil is false
      }
    }
    if case .string(let pattern) = constant, let matcher = try stringTest(op, pattern, options, text) {
      if family == .string || family == nil { return .string(matcher) }
      if op.isOrderComparison { return try mismatch(op, family, constant, text) }
      throw error("\(op) of a \(family.map { "\($0)" } ?? "nil") and a string", text)
    }
    guard op.isOrderComparison else {
      throw error(
        "\(op) needs a \(op == .isIn || op == .between ? "list" : "string") on its right, not \(constant)",
        text)
    }
    if let family, family != constant.family { return try mismatch(op, family, constant, text) }
    return .compare(op, constant)
  }

  /// nil where the plain comparison does: an order comparison without options.
  private func stringTest(
    _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions, _ text: String
  ) throws -> StringMatcher? {
    if op == .between { return nil }
    if op.isOrderComparison, options.isEmpty { return nil }
    guard let matcher = StringMatcher(op, pattern, options) else {
      throw error("\"\(pattern)\" is no regular expression", text)
    }
    return matcher
  }

  /// Values of different families never are equal; to order them is an error, as in Core Data.
  private func mismatch(
    _ op: ComparisonOperator, _ family: ValueType.Family?, _ constant: Value, _ text: String
  ) throws -> ValueTest {
    if op.isOrdering {
      throw error("\(op) of a \(family.map { "\($0)" } ?? "nil") and \(constant)", text)
    }
    return op == .equal ? .isIn([]) : .compare(.notEqual, constant)
  }

  private func listTest(
    _ op: ComparisonOperator, _ elements: [ExpressionTree], _ family: ValueType.Family?, _ text: String
  ) throws -> ValueTest {
    let values = try elements.map { element -> Value in
      guard case .constant(let value) = element else { throw error("a list holds constants", text) }
      return value
    }
    switch op {
    case .isIn:
      return .isIn(Value.sortedDistinct(values.filter { !$0.isNull }))
    case .between:
      guard values.count == 2 else {
        throw error("BETWEEN needs a list of two, not of \(values.count)", text)
      }
      if values.contains(where: \.isNull) { return .isIn([]) }
      for value in values where family != nil && value.family != family {
        throw error("BETWEEN of a \(family!) and \(value)", text)
      }
      return .between(values[0], values[1])
    default:
      throw error("\(op) with a list", text)
    }
  }

  private func path(_ expression: ExpressionTree) throws -> BoundPath {
    switch expression {
    case .keyPath(let names): return try BoundPath(names, from: entity, in: schema)
    case .evaluatedObject: return BoundPath(hops: [], target: .ownKey, type: .key)
    case .list: throw error("a list stands only on the right of IN and BETWEEN", "SELF")
    case .constant(let value): throw error("\(value) stands where a property is needed", "SELF")
    default: throw error("columns don't answer this expression", "SELF")
    }
  }

  private func describe(_ expression: ExpressionTree) -> String {
    if case .keyPath(let names) = expression { names.joined(separator: ".") } else { "SELF" }
  }

  private func error(_ message: String, _ property: String) -> StoreError {
    StoreError(.unbindablePredicate, message, entity: name, property: property)
  }
}
