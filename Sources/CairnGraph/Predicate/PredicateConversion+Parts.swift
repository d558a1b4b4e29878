// What each part of Foundation's typed predicates becomes. One that Foundation adds goes here.

import CairnModel
import Foundation

extension PredicateExpressions.Variable: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard let tree = conversion.value(of: key) else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.Variable", message: "it is a variable of another predicate")
    }
    return .expression(tree)
  }
}

extension PredicateExpressions.Value: ConvertibleExpression {
  /// A nested predicate, an expression or a regular expression is taken apart by what holds it.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(ExpressionTree(argument: value))
  }
}

extension PredicateExpressions.NilLiteral: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) -> ConvertedExpression {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let base = try conversion.expression(root)
    switch kind {
    case .collectionCount: return .expression(PredicateConversion.path(base, ["@count"]))
    case .collectionIsEmpty:
      if Root.Output.self == String.self {
        return .predicate(.comparison(.init(base, .equal, .constant(""))))
      }
      let count = PredicateConversion.path(base, ["@count"])
      return .predicate(.comparison(.init(count, .equal, .constant(0))))
    case .collectionFirst, .bidirectionalCollectionLast:
      let index: ExpressionTree.ElementIndex = kind == .collectionFirst ? .first : .last
      return .expression(.element(of: base, index))
    default: break
    }
    guard let names = (keyPath as AnyKeyPath).propertyNames else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.KeyPath",
        message: "the key path from \(Root.Output.self) to \(Output.self) doesn't lead through properties "
          + "declared with @Managed")
    }
    if names == "self" { return .expression(base) }
    return .expression(PredicateConversion.path(base, names.split(separator: ".").map(String.init)))
  }
}

// MARK: Logic

extension PredicateExpressions.Conjunction: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    var parts: [PredicateTree] = []
    for part in [try conversion.predicate(lhs), try conversion.predicate(rhs)] {
      if case .and(let inner) = part { parts += inner } else { parts.append(part) }
    }
    return .predicate(.and(parts))
  }
}

extension PredicateExpressions.Disjunction: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    var parts: [PredicateTree] = []
    for part in [try conversion.predicate(lhs), try conversion.predicate(rhs)] {
      if case .or(let inner) = part { parts += inner } else { parts.append(part) }
    }
    return .predicate(.or(parts))
  }
}

extension PredicateExpressions.Negation: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .predicate(.not(try conversion.predicate(wrapped)))
  }
}

extension PredicateExpressions.Conditional: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(
      .conditional(
        try conversion.predicate(test), try conversion.expression(trueBranch),
        try conversion.expression(falseBranch)))
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.comparison(lhs, .equal, rhs)
  }
}

extension PredicateExpressions.NotEqual: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.comparison(lhs, .notEqual, rhs)
  }
}

extension PredicateExpressions.Comparison: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    switch op {
    case .lessThan: try conversion.comparison(lhs, .less, rhs)
    case .lessThanOrEqual: try conversion.comparison(lhs, .lessOrEqual, rhs)
    case .greaterThan: try conversion.comparison(lhs, .greater, rhs)
    case .greaterThanOrEqual: try conversion.comparison(lhs, .greaterOrEqual, rhs)
    @unknown default:
      throw PredicateConversionError(
        expression: "PredicateExpressions.Comparison", message: "its operator isn't known")
    }
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    switch op {
    case .add: try conversion.function("add:to:", lhs, rhs)
    case .subtract: try conversion.function("from:subtract:", lhs, rhs)
    case .multiply: try conversion.function("multiply:by:", lhs, rhs)
    @unknown default:
      throw PredicateConversionError(
        expression: "PredicateExpressions.Arithmetic", message: "its operator isn't known")
    }
  }
}

extension PredicateExpressions.IntDivision: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.function("divide:by:", lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.function("modulus:by:", lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(.function("from:subtract:", [.constant(0), try conversion.expression(wrapped)]))
  }
}

// MARK: Optionals

extension PredicateExpressions.ForcedUnwrap: ConvertibleExpression {
  /// nil goes on as nil, where Swift would trap.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.convert(inner)
  }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let value = try conversion.expression(lhs)
    return .expression(
      .conditional(
        .comparison(.init(value, .notEqual, .constant(.null))), value, try conversion.expression(rhs)))
  }
}

extension PredicateExpressions.OptionalFlatMap: ConvertibleExpression {
  /// A path over nil is nil, so that the transformation of a value does for an optional too. A condition of nil
  /// is neither true nor false: it is asked of a value only.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let value = try conversion.expression(wrapped)
    conversion.bind(variable.key, to: value)
    let transformed = try conversion.convert(transform)
    guard case .predicate(let condition) = transformed else { return transformed }
    return .expression(
      .conditional(
        .comparison(.init(value, .equal, .constant(.null))), .constant(.null),
        .conditional(condition, .constant(true), .constant(false))))
  }
}

// MARK: Ranges

/// A range whose ends are expressions.
protocol ConvertibleRange {
  /// Whether an element lies within.
  func contains(_ element: ExpressionTree, _ conversion: inout PredicateConversion) throws -> PredicateTree
}

extension PredicateExpressions.ClosedRange: ConvertibleRange {
  func contains(
    _ element: ExpressionTree, _ conversion: inout PredicateConversion
  ) throws -> PredicateTree {
    let ends = [try conversion.expression(lower), try conversion.expression(upper)]
    return .comparison(.init(element, .between, .list(ends)))
  }
}

extension PredicateExpressions.Range: ConvertibleRange {
  func contains(
    _ element: ExpressionTree, _ conversion: inout PredicateConversion
  ) throws -> PredicateTree {
    .and([
      .comparison(.init(element, .greaterOrEqual, try conversion.expression(lower))),
      .comparison(.init(element, .less, try conversion.expression(upper))),
    ])
  }
}

extension PredicateExpressions.Value: ConvertibleRange where Output: RangeExpression {
  func contains(
    _ element: ExpressionTree, _ conversion: inout PredicateConversion
  ) throws -> PredicateTree {
    guard let ends = value as? any RangeWithEnds else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.RangeExpressionContains", message: "a \(Output.self) isn't known")
    }
    let (lower, upper, includesUpper) = ends.ends
    var parts: [PredicateTree] = []
    if let lower {
      parts.append(.comparison(.init(element, .greaterOrEqual, ExpressionTree(argument: lower))))
    }
    if let upper {
      let op: ComparisonOperator = includesUpper ? .lessOrEqual : .less
      parts.append(.comparison(.init(element, op, ExpressionTree(argument: upper))))
    }
    if parts.count == 2, includesUpper, let lower, let upper {
      let list = [ExpressionTree(argument: lower), ExpressionTree(argument: upper)]
      return .comparison(.init(element, .between, .list(list)))
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }
}

private protocol RangeWithEnds {
  var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { get }
}

extension ClosedRange: RangeWithEnds {
  fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, true) }
}

extension Range: RangeWithEnds {
  fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, upperBound, false) }
}

extension PartialRangeFrom: RangeWithEnds {
  fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (lowerBound, nil, false) }
}

extension PartialRangeThrough: RangeWithEnds {
  fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, true) }
}

extension PartialRangeUpTo: RangeWithEnds {
  fileprivate var ends: (lower: Any?, upper: Any?, includesUpper: Bool) { (nil, upperBound, false) }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard let range = range as? any ConvertibleRange else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.RangeExpressionContains", message: "its range isn't known")
    }
    return .predicate(try range.contains(try conversion.expression(element), &conversion))
  }
}
