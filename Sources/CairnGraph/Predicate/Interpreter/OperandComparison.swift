// What each operator of a comparison means for two operands that are no longer expressions.
//
// Strings go through the one order, equality and matcher of CairnModel, so that objects and columns agree.

import CairnModel
import Foundation

/// One comparison operator with its options.
struct OperandComparison {
  let op: ComparisonOperator
  let options: StringOptions

  /// For `[l]`: by which order of the current locale strings are ordered. Folding doesn't depend on the locale.
  private let collation: SortCollation?

  /// `[n]` says that nothing has to be folded.
  init(_ op: ComparisonOperator, _ options: StringOptions) {
    self.op = op
    let isNormalized = options.contains(.normalized)
    self.options = isNormalized ? [] : options.subtracting(.localeSensitive)
    if isNormalized || !options.contains(.localeSensitive) {
      collation = nil
    } else {
      collation = options.contains(.caseInsensitive) ? .localizedCaseInsensitive : .localized
    }
  }

  private init(_ op: ComparisonOperator, like other: OperandComparison) {
    self.op = op
    options = other.options
    collation = other.collation
  }

  /// Throws `PredicateEvaluationError`, without the expression, for operands that can't be compared so.
  func holds(_ left: Operand, _ right: Operand) throws -> Bool {
    switch op {
    case .equal: return try areEqual(left, right)
    case .notEqual: return try !areEqual(left, right)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return try isOrdered(left, right)
    case .between: return try isBetween(left, right)
    case .isIn: return try isMember(left, of: right)
    case .contains where left.elements != nil: return try isMember(right, of: left)
    case .contains, .beginsWith, .endsWith, .like, .matches: return try matches(left, right)
    }
  }

  // MARK: Equality and order

  private func areEqual(_ a: Operand, _ b: Operand) throws -> Bool {
    guard !options.isEmpty, case .value(.string(let x)) = a, case .value(.string(let y)) = b else {
      return a == b
    }
    return try StringQuestion.ask(x, .equal, y, options)
  }

  /// False with nil on either side.
  private func isOrdered(_ a: Operand, _ b: Operand) throws -> Bool {
    if a.isMissing || b.isMissing { return false }
    guard case .value(let x) = a, case .value(let y) = b, let family = x.family, family == y.family else {
      throw PredicateEvaluationError(.unsupportedTypes, "\(a.kind) and \(b.kind) have no order")
    }
    if case .string(let x) = x, case .string(let y) = y {
      if let collation { return op.holds(collation.compare(x, y)) }
      if !options.isEmpty { return try StringQuestion.ask(x, op, y, options) }
    }
    return op.holds(Value.compare(x, y))
  }

  private func isBetween(_ value: Operand, _ range: Operand) throws -> Bool {
    if range.isMissing { return false }
    guard let ends = range.elements, ends.count == 2 else {
      throw PredicateEvaluationError(
        .unsupportedTypes,
        "BETWEEN needs a collection of two on its right, not \(range.elements.map { "one of \($0.count)" } ?? range.kind)"
      )
    }
    let atLeast = OperandComparison(.greaterOrEqual, like: self)
    let atMost = OperandComparison(.lessOrEqual, like: self)
    // Both are asked, so that whether the types fit doesn't depend on the value.
    let (low, high) = (try atLeast.isOrdered(value, ends[0]), try atMost.isOrdered(value, ends[1]))
    return low && high
  }

  // MARK: Membership

  private func isMember(_ element: Operand, of collection: Operand) throws -> Bool {
    if let elements = collection.elements {
      if element.isNone { return false }
      let same = OperandComparison(.equal, like: self)
      return try elements.contains { try same.areEqual(element, $0) }
    }
    return try matches(element, collection)
  }

  // MARK: Strings

  private func matches(_ a: Operand, _ b: Operand) throws -> Bool {
    if a.isMissing || b.isMissing { return try refuseUnlessTextual(a, b) }
    guard case .value(.string(let x)) = a, case .value(.string(let y)) = b else {
      throw unfit(a, b)
    }
    return try StringQuestion.ask(x, op, y, options)
  }

  /// False with nil on a side, unless the other side couldn't be compared with anything.
  private func refuseUnlessTextual(_ a: Operand, _ b: Operand) throws -> Bool {
    let other = a.isMissing ? b : a
    if other.isMissing { return false }
    if case .value(.string) = other { return false }
    throw unfit(a, b)
  }

  private func unfit(_ a: Operand, _ b: Operand) -> PredicateEvaluationError {
    let what =
      switch op {
      case .isIn: "IN needs a collection on its right, or strings on both sides"
      case .contains: "CONTAINS needs a collection on its left, or strings on both sides"
      default: "\(name) needs strings"
      }
    return PredicateEvaluationError(.unsupportedTypes, "\(what), not \(a.kind) and \(b.kind)")
  }

  private var name: String {
    switch op {
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .like: "LIKE"
    default: "MATCHES"
    }
  }
}

/// Questions to strings. The last patterns are kept, since one predicate asks the same of many objects, and a
/// regular expression costs much more to make than to use.
enum StringQuestion {
  private struct Key: Hashable {
    let op: ComparisonOperator
    let pattern: [UInt8]
    let options: StringOptions
  }

  private static let kept = Lock<[Key: StringMatcher]>([:])
  private static let capacity = 64

  /// Whether `text op pattern` holds. Throws for a pattern that is none, or that takes too long.
  static func ask(
    _ text: String, _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions
  ) throws -> Bool {
    let matcher = try matcher(op, pattern, options)
    var text = text
    guard let answer = text.withUTF8({ matcher.answer($0) }) else {
      throw PredicateEvaluationError(
        .badPattern, "matching \"\(pattern)\" against \"\(text.prefix(100))\" takes too long")
    }
    return answer
  }

  private static func matcher(
    _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions
  ) throws -> StringMatcher {
    // By its bytes: to Swift's own equality composed and decomposed patterns are one.
    let key = Key(op: op, pattern: Array(pattern.utf8), options: options)
    if let known = kept.withLock({ $0[key] }) { return known }
    guard let made = StringMatcher(op, pattern, options) else {
      throw PredicateEvaluationError(.badPattern, "\"\(pattern)\" is no regular expression")
    }
    kept.withLock {
      if $0.count >= capacity { $0.removeAll() }
      $0[key] = made
    }
    return made
  }
}
