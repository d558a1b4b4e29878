// Validation as predicates, and the predicates that have a field of their own.

import Foundation

extension ModelDocument.Validation {
  /// Core Data's error codes, which stand as warnings beside the predicates of limits.
  private enum Code {
    static let numberTooLarge = 1610
    static let numberTooSmall = 1620
    static let dateTooLate = 1630
    static let dateTooSoon = 1640
    static let stringTooLong = 1660
    static let stringTooShort = 1670
    static let patternMatching = 1680
  }

  /// Takes a predicate in: into the field that it is the predicate of, or else among the others. One with a
  /// sentence for a warning is always among the others, so that the sentence isn't lost.
  mutating func add(_ tree: PredicateTree, warning: String?, kind: ModelDocument.AttributeKind) {
    if warning == nil || warning.flatMap({ Int($0) }) != nil, takeLimit(tree, kind) { return }
    others.append(.init(tree.canonicalFormat, warning: warning))
  }

  private mutating func takeLimit(_ tree: PredicateTree, _ kind: ModelDocument.AttributeKind) -> Bool {
    guard case .comparison(let comparison) = tree, comparison.options == [], comparison.modifier == .direct,
      let value = comparison.right.plainValue
    else { return false }
    let isLength = [.keyPath(["length"]), .keyPathOf(.evaluatedObject, ["length"])].contains(comparison.left)
    if comparison.op == .matches {
      guard comparison.left == .evaluatedObject, regularExpression == nil, case .string(let pattern) = value,
        !pattern.isEmpty
      else { return false }
      regularExpression = pattern
      return true
    }
    if kind == .string {
      switch (comparison.op, value) {
      case (.greaterOrEqual, .int(let x)) where isLength && minimumLength == nil: minimumLength = Int(x)
      case (.lessOrEqual, .int(let x)) where isLength && maximumLength == nil: maximumLength = Int(x)
      default: return false
      }
      return true
    }
    guard comparison.left == .evaluatedObject, !value.isNull else { return false }
    switch comparison.op {
    case .greaterOrEqual where minimum.isNull: minimum = kind.typed(value)
    case .lessOrEqual where maximum.isNull: maximum = kind.typed(value)
    default: return false
    }
    return true
  }

  /// Every predicate with its warning, in the order that Core Data checks them. The texts of others are parsed,
  /// which may throw a `PredicateFormatError`.
  package func predicates(
    for kind: ModelDocument.AttributeKind
  ) throws -> [(predicate: PredicateTree, warning: String?)] {
    var result: [(predicate: PredicateTree, warning: String?)] = []
    func add(_ left: ExpressionTree, _ op: ComparisonOperator, _ value: Value, _ code: Int) {
      result.append((.comparison(.init(left, op, .constant(value))), String(code)))
    }
    if kind == .string {
      if let minimumLength {
        add(.path("length"), .greaterOrEqual, .int(Int64(minimumLength)), Code.stringTooShort)
      }
      if let maximumLength {
        add(.path("length"), .lessOrEqual, .int(Int64(maximumLength)), Code.stringTooLong)
      }
    } else {
      let isDate = kind == .date
      if !minimum.isNull {
        add(.evaluatedObject, .greaterOrEqual, minimum, isDate ? Code.dateTooSoon : Code.numberTooSmall)
      }
      if !maximum.isNull {
        add(.evaluatedObject, .lessOrEqual, maximum, isDate ? Code.dateTooLate : Code.numberTooLarge)
      }
    }
    if let regularExpression {
      add(.evaluatedObject, .matches, .string(regularExpression), Code.patternMatching)
    }
    for other in others { result.append((try PredicateFormat.parse(other.predicate), other.warning)) }
    return result
  }

  /// The same validation with each predicate in the place where reading it back would put it.
  mutating func normalize(_ kind: ModelDocument.AttributeKind) {
    let conditions = others
    others = []
    for condition in conditions {
      if let tree = try? PredicateFormat.parse(condition.predicate) {
        add(tree, warning: condition.warning.nonEmpty, kind: kind)
      } else {
        others.append(condition)
      }
    }
  }
}

extension ExpressionTree {
  fileprivate var plainValue: Value? {
    if case .constant(let value) = self { value } else { nil }
  }
}
