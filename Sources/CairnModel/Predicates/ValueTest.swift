// A question to one value: what a comparison of a property with constants becomes. `matches` is its plain
// meaning, which every kernel has to agree with.

import Foundation

/// A question to one value.
package enum ValueTest: Sendable {
  case isNull
  case isNotNull
  /// Against a value that isn't null. `op` is one of the six comparisons.
  case compare(ComparisonOperator, Value)
  /// Both ends included; neither is null.
  case between(Value, Value)
  /// The set, in the one order, without null.
  case isIn([Value])
  case string(StringMatcher)

  /// The answer for null.
  package var nullResult: Bool {
    switch self {
    case .isNull: true
    case .compare(.notEqual, _): true
    case .string(let matcher): matcher.nullResult
    default: false
    }
  }

  /// The answer for any value: the plain meaning of the test, which the kernels have to agree with.
  package func matches(_ value: Value) -> Bool {
    if value.isNull { return nullResult }
    switch self {
    case .isNull: return false
    case .isNotNull: return true
    case .compare(let op, let constant): return op.holds(Value.compare(value, constant))
    case .between(let low, let high): return Value.compare(value, low) >= 0 && Value.compare(value, high) <= 0
    case .isIn(let values): return ValueTest.contains(values, value)
    case .string(let matcher):
      if case .string(var text) = value { return text.withUTF8 { matcher.matches($0) } }
      // What is no string differs from every string, as nil does.
      return matcher.nullResult
    }
  }

  private static func contains(_ sorted: [Value], _ value: Value) -> Bool {
    var low = 0
    var high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      let order = Value.compare(sorted[middle], value)
      if order == 0 { return true }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return false
  }
}

extension ComparisonOperator {
  /// Whether one of the six comparisons holds for sides that compare as `order`.
  package func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: preconditionFailure("\(self) is no order comparison")
    }
  }

  var isOrdering: Bool {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

  var isOrderComparison: Bool { isOrdering || self == .equal || self == .notEqual }

  /// The operator that says the same with the sides exchanged, where `constant` was the left one; nil where
  /// there is none.
  func mirrored(constant: Value) -> ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .isIn where constant.family == .string: .contains
    case .contains where constant.family == .string: .isIn
    default: nil
    }
  }
}

extension Value {
  /// In the one order, each value once.
  static func sortedDistinct(_ values: [Value]) -> [Value] {
    var result: [Value] = []
    for value in values.sorted() where result.last != value { result.append(value) }
    return result
  }
}
