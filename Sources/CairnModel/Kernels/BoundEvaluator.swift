// A bound predicate asked of one row at a time: right for all of them, and the slow twin of the kernels. Rows can
// be of columns (ColumnRow) or objects.

/// A row as predicates see it.
package protocol PredicateRow {
  /// The value of a slot, or the row's own key.
  func value(_ target: BoundPath.Target) -> Value
  /// The row that a to-one relationship leads to.
  func destination(of relationship: RelationshipID) -> Self?
  /// The rows that a to-many relationship leads to.
  func members(of relationship: RelationshipID) -> [Self]
}

extension BoundPredicate {
  /// Whether the predicate holds for a row. Costs a walk over the members of each collection in it.
  package func holds<Row: PredicateRow>(for row: Row) -> Bool {
    var evaluator = BoundEvaluator(row)
    return evaluator.holds(root)
  }
}

/// Evaluates nodes and expressions about a row and the elements of collections around it.
package struct BoundEvaluator<Row: PredicateRow> {
  /// By number: see `BoundExpression`.
  private var rows: [Row]

  package init(_ row: Row) { rows = [row] }

  package mutating func holds(_ node: BoundPredicate.Node) -> Bool {
    switch node {
    case .constant(let value): return value
    case .test(let path, let test): return test.matches(value(path))
    case .comparePaths(let left, let op, let right): return op.holds(value(left), value(right), [])
    case .check(let expression, let test): return test.matches(value(expression))
    case .compare(let left, let op, let right, let options):
      return op.holds(value(left), value(right), options)
    case .exists(let collection):
      var found = false
      forEachElement(of: collection) { _ in
        found = true
        return false
      }
      return found
    case .and(let parts):
      for part in parts where !holds(part) { return false }
      return true
    case .or(let parts):
      for part in parts where holds(part) { return true }
      return false
    case .not(let part): return !holds(part)
    }
  }

  package mutating func value(_ expression: BoundExpression) -> Value {
    switch expression {
    case .constant(let value): return value
    case .path(let path): return value(path)
    case .function(let function, let arguments):
      var values: [Value] = []
      values.reserveCapacity(arguments.count)
      for argument in arguments { values.append(value(argument)) }
      return function.apply(values)
    case .conditional(let condition, let first, let second):
      return holds(condition) ? value(first) : value(second)
    case .aggregate(let function, let collection, let element):
      // Of no row there is no collection, and of that no count.
      guard row(at: collection.start) != nil else { return .null }
      var figure = CollectionFigure(function)
      forEachElement(of: collection) { evaluator in
        figure.add(function == .count ? .null : evaluator.value(element))
        return true
      }
      return figure.result
    }
  }

  private func value(_ path: BoundPath) -> Value { row(at: path)?.value(path.target) ?? .null }

  /// The row at the end of a path's hops.
  private func row(at path: BoundPath) -> Row? {
    var row = rows[path.base]
    for hop in path.hops {
      guard let next = row.destination(of: hop) else { return nil }
      row = next
    }
    return row
  }

  /// Calls `body` with each element in its place among the rows, until it returns false.
  private mutating func forEachElement(
    of collection: BoundCollection, _ body: (inout BoundEvaluator) -> Bool
  ) {
    guard let start = row(at: collection.start) else { return }
    // An element of a collection that isn't around this one may have the same number.
    let others = rows
    defer { rows = others }
    rows.removeSubrange(min(collection.element, rows.count)...)
    _ = follow(collection.steps[...], from: start, collection, body)
  }

  private mutating func follow(
    _ steps: ArraySlice<RelationshipID>, from row: Row, _ collection: BoundCollection,
    _ body: (inout BoundEvaluator) -> Bool
  ) -> Bool {
    guard let step = steps.first else {
      rows.append(row)
      defer { rows.removeLast() }
      for filter in collection.filters where !holds(filter) { return true }
      return body(&self)
    }
    for member in row.members(of: step) {
      if !follow(steps.dropFirst(), from: member, collection, body) { return false }
    }
    return true
  }
}

extension ComparisonOperator {
  /// The plain meaning of a comparison of two values, neither of them a list.
  package func holds(_ left: Value, _ right: Value, _ options: StringOptions) -> Bool {
    if left.isNull || right.isNull {
      switch self {
      case .equal: return left.isNull && right.isNull
      case .notEqual: return left.isNull != right.isNull
      default: return false
      }
    }
    if isOrderComparison, options.isEmpty || left.family != .string || right.family != .string {
      return holds(Value.compare(left, right))
    }
    guard case .string(var text) = left, case .string(let pattern) = right,
      let matcher = StringMatcher(self, pattern, options)
    else { return false }
    return text.withUTF8 { matcher.matches($0) }
  }
}
