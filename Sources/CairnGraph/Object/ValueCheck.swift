// One validation predicate of an attribute, with the error code that Core Data has for its kind.

import CairnModel
import Foundation

/// A condition on an attribute's value.
///
/// Model files say least and greatest values, lengths and patterns as predicates over the value (`SELF >= 3`,
/// `length <= 10`, `SELF MATCHES "…"`); these have codes of their own, any other predicate is 1550.
struct ValueCheck {
  struct Failure {
    let code: Int
    let reason: String
    let predicate: NSPredicate
  }

  private enum Kind {
    case least(Value)
    case greatest(Value)
    case leastLength(Int64)
    case greatestLength(Int64)
    case pattern
    case any
  }

  private let kind: Kind
  private let predicate: NSPredicate
  private let warning: String?

  /// The checks of an attribute, one a predicate, or one a part of a conjunction.
  static func all(_ attribute: NSAttributeDescription) -> [ValueCheck] {
    attribute.validationPredicates.enumerated().flatMap { index, predicate in
      let warnings = attribute.validationWarnings
      let warning = warnings.indices.contains(index) ? warnings[index] as? String : nil
      return parts(predicate.tree).map { part in
        ValueCheck(kind: kind(part), predicate: NSPredicate(part), warning: warning)
      }
    }
  }

  private static func parts(_ tree: PredicateTree) -> [PredicateTree] {
    if case .and(let parts) = tree { parts.flatMap(self.parts) } else { [tree] }
  }

  private static func kind(_ tree: PredicateTree) -> Kind {
    guard case .comparison(let c) = tree, c.modifier == .direct, case .constant(let limit) = c.right else {
      return .any
    }
    switch (c.left, c.op, limit) {
    case (.evaluatedObject, .matches, _): return .pattern
    case (.evaluatedObject, .greaterOrEqual, _): return .least(limit)
    case (.evaluatedObject, .lessOrEqual, _): return .greatest(limit)
    case (.keyPath(["length"]), .greaterOrEqual, .int(let length)),
      (.keyPathOf(.evaluatedObject, ["length"]), .greaterOrEqual, .int(let length)):
      return .leastLength(length)
    case (.keyPath(["length"]), .lessOrEqual, .int(let length)),
      (.keyPathOf(.evaluatedObject, ["length"]), .lessOrEqual, .int(let length)):
      return .greatestLength(length)
    default: return .any
    }
  }

  /// What is wrong with the value, or nil. Lengths are counted in UTF-16 units, as Core Data does.
  func failure(_ value: Any) -> Failure? {
    switch kind {
    case .least(let limit):
      guard let value = ValueCheck.comparable(value), Value.compare(value, limit) < 0 else { return nil }
      let code = limit.family == .date ? NSValidationDateTooSoonError : NSValidationNumberTooSmallError
      return failure(code, limit.family == .date ? "is too early." : "is too small.")
    case .greatest(let limit):
      guard let value = ValueCheck.comparable(value), Value.compare(value, limit) > 0 else { return nil }
      let code = limit.family == .date ? NSValidationDateTooLateError : NSValidationNumberTooLargeError
      return failure(code, limit.family == .date ? "is too late." : "is too large.")
    case .leastLength(let limit):
      guard ValueCheck.length(value) < limit else { return nil }
      return failure(NSValidationStringTooShortError, "is too short.")
    case .greatestLength(let limit):
      guard ValueCheck.length(value) > limit else { return nil }
      return failure(NSValidationStringTooLongError, "is too long.")
    case .pattern:
      return holds(value)
        ? nil : failure(NSValidationStringPatternMatchingError, "doesn't match its pattern.")
    case .any:
      return holds(value) ? nil : failure(NSManagedObjectValidationError, "is not valid.")
    }
  }

  /// A predicate that can't be asked of the value isn't satisfied.
  private func holds(_ value: Any) -> Bool { (try? predicate.matches(value)) ?? false }

  private func failure(_ code: Int, _ reason: String) -> Failure {
    Failure(code: code, reason: warning ?? reason, predicate: predicate)
  }

  private static func comparable(_ any: Any) -> Value? {
    if case .constant(let value) = ExpressionTree(argument: any) { value } else { nil }
  }

  private static func length(_ any: Any) -> Int64 {
    switch any {
    case let text as String: Int64(text.utf16.count)
    case let data as Data: Int64(data.count)
    default: 0
    }
  }
}
