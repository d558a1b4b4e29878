// Fits comparisons: operators to types, quantifiers and memberships to collections.

extension Binder {
  func bind(_ c: PredicateTree.Comparison, depth: Int) throws -> BoundPredicate.Node {
    var options = c.options
    // [n] says that nothing needs folding, and overrides the others.
    if options.contains(.normalized) { options = [] }
    if options.contains(.localeSensitive), c.op.isOrdering {
      throw beyond("an order by the rules of a locale", c.left.canonicalFormat)
    }
    // Folding doesn't depend on the locale.
    options.remove(.localeSensitive)
    let left = try operand(c.left, depth: depth)
    let sides = Sides(left: c.left, op: c.op, right: c.right, options: options)
    if c.modifier != .direct { return try quantified(left, c.modifier == .all, sides, depth) }
    return try compare(left, sides, depth)
  }

  /// A comparison's text, for errors, and what it is about.
  private struct Sides {
    var left: ExpressionTree
    var op: ComparisonOperator
    var right: ExpressionTree
    var options: StringOptions
  }

  private func compare(_ left: Operand, _ sides: Sides, _ depth: Int) throws -> BoundPredicate.Node {
    let right = try operand(sides.right, depth: depth)
    switch (left, right) {
    case (.value(let value), .list(let elements)): return try compare(value, elements, sides)
    case (.value(let value), .collection(let collection, let element, _)) where sides.op == .isIn:
      return try isMember(value, collection, element, sides)
    case (.collection(let collection, let element, _), .value(let value)) where sides.op == .contains:
      return try isMember(value, collection, element, sides)
    case (.list(let elements), .value(let value)) where sides.op == .contains:
      var mirrored = sides
      (mirrored.left, mirrored.op, mirrored.right) = (sides.right, .isIn, sides.left)
      return try compare(value, elements, mirrored)
    case (.value(let left), .value(let right)): return try compare(left, right, sides)
    case (.list, _):
      throw error("a list stands only on the right of IN and BETWEEN", sides.left.canonicalFormat)
    case (.collection, _):
      throw beyond("a to-many relationship has no single value", sides.left.canonicalFormat)
    case (_, .collection):
      throw beyond("a to-many relationship has no single value", sides.right.canonicalFormat)
    }
  }

  // MARK: Collections

  private func quantified(
    _ left: Operand, _ isAll: Bool, _ sides: Sides, _ depth: Int
  ) throws -> BoundPredicate.Node {
    switch left {
    case .value:
      throw error("ANY and ALL need a collection on their left", sides.left.canonicalFormat)
    case .list(let elements):
      let parts = try elements.map { try compare(.value($0), sides, depth) }
      return isAll ? .and(parts) : .or(parts)
    case .collection(let collection, let value, let isOrdered):
      var inner = self
      let last = schema[collection.steps[collection.steps.count - 1]]
      inner.elements.append((nil, last.destination))
      let condition = try inner.compare(.value(value), sides, depth)
      let isNull = BoundPredicate.Node.check(value, .isNull).simplified
      // Over a set, nil is no element; in an ordered collection it is one that equals nothing.
      let holds: BoundPredicate.Node
      if isOrdered {
        holds = .or([.and([.not(isNull), condition]), .and([isNull, .constant(sides.op == .notEqual)])])
        return isAll
          ? .not(.exists(collection.filtered(by: .not(holds)))) : .exists(collection.filtered(by: holds))
      }
      return isAll
        ? .not(.exists(collection.filtered(by: .and([.not(isNull), .not(condition)]))))
        : .exists(collection.filtered(by: .and([.not(isNull), condition])))
    }
  }

  /// Whether a value is among those of the elements. nil is in no collection.
  private func isMember(
    _ value: BoundExpression, _ collection: BoundCollection, _ element: BoundExpression, _ sides: Sides
  ) throws -> BoundPredicate.Node {
    var equal = sides
    equal.op = .equal
    let condition = try compare(element, value, equal)
    let isNull = BoundPredicate.Node.check(element, .isNull).simplified
    return .exists(collection.filtered(by: .and([.not(isNull), condition])))
  }

  // MARK: Lists

  private func compare(
    _ left: BoundExpression, _ elements: [BoundExpression], _ sides: Sides
  ) throws -> BoundPredicate.Node {
    let text = sides.left.canonicalFormat
    var constants: [Value]? = []
    for element in elements {
      if case .constant(let value) = element { constants?.append(value) } else { constants = nil }
    }
    switch sides.op {
    case .isIn:
      if let constants, sides.options.isEmpty {
        return BoundPredicate.Node.check(
          left, .isIn(Value.sortedDistinct(constants.filter { !$0.isNull }))
        ).simplified
      }
      var equal = sides
      equal.op = .equal
      let parts = try elements.map { try compare(left, $0, equal) }
      return .and([.not(BoundPredicate.Node.check(left, .isNull).simplified), .or(parts)])
    case .between:
      guard elements.count == 2 else {
        throw error("BETWEEN needs a list of two, not of \(elements.count)", text)
      }
      if let constants, sides.options.isEmpty {
        return try between(left, constants[0], constants[1], text)
      }
      var low = sides
      var high = sides
      (low.op, high.op) = (.greaterOrEqual, .lessOrEqual)
      return .and([try compare(left, elements[0], low), try compare(left, elements[1], high)])
    default: throw error("\(sides.op) with a list", text)
    }
  }

  private func between(
    _ left: BoundExpression, _ low: Value, _ high: Value, _ text: String
  ) throws -> BoundPredicate.Node {
    if low.isNull || high.isNull { return BoundPredicate.Node.check(left, .isIn([])).simplified }
    for value in [low, high] {
      for case let family? in left.families where family != value.family {
        throw error("BETWEEN of a \(family) and \(value)", text)
      }
    }
    return BoundPredicate.Node.check(left, .between(low, high)).simplified
  }

  // MARK: Two values

  private func compare(
    _ left: BoundExpression, _ right: BoundExpression, _ sides: Sides
  ) throws -> BoundPredicate.Node {
    let text = sides.left.canonicalFormat
    if case .constant(let constant) = right {
      var test: ValueTest?
      for family in left.families {
        test = try constantTest(sides.op, constant, sides.options, family, text)
      }
      if left.families.count > 1 { test = try constantTest(sides.op, constant, sides.options, nil, text) }
      return BoundPredicate.Node.check(left, test ?? .isNull).simplified
    }
    if case .constant(let constant) = left, let mirrored = sides.op.mirrored(constant: constant) {
      let turned = Sides(left: sides.right, op: mirrored, right: sides.left, options: sides.options)
      return try compare(right, left, turned)
    }
    return try compareUnknown(left, right, sides)
  }

  /// Neither side is known beforehand, or the left one is and can't change places.
  private func compareUnknown(
    _ left: BoundExpression, _ right: BoundExpression, _ sides: Sides
  ) throws -> BoundPredicate.Node {
    let text = sides.left.canonicalFormat
    if sides.op == .between {
      throw error("BETWEEN needs a list on its right", text)
    }
    if sides.op == .matches {
      throw beyond("MATCHES of an expression that isn't known beforehand", text)
    }
    for case let a? in left.families {
      for case let b? in right.families {
        if sides.op.isOrdering, a != b { throw error("\(sides.op) of a \(a) and a \(b)", text) }
        if !sides.op.isOrderComparison, a != .string || b != .string {
          throw error("\(sides.op) of a \(a) and a \(b)", text)
        }
      }
    }
    if sides.op.isOrderComparison, sides.options.isEmpty, case .path(let a) = left, case .path(let b) = right
    {
      return .comparePaths(a, sides.op, b)
    }
    return .compare(left, sides.op, right, sides.options)
  }

  // MARK: Tests of constants

  /// The test that `value op constant` makes of a value of `family`.
  private func constantTest(
    _ op: ComparisonOperator, _ constant: Value, _ options: StringOptions, _ family: ValueType.Family?,
    _ text: String
  ) throws -> ValueTest {
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
}

extension BoundPredicate.Node {
  /// A check of a constant is answered, one of a path a test.
  fileprivate var simplified: BoundPredicate.Node {
    switch self {
    case .check(.constant(let value), let test): .constant(test.matches(value))
    case .check(.path(let path), let test): .test(path, test)
    default: self
    }
  }
}
