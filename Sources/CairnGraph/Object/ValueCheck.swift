// One validation predicate of an attribute, with the error code that Core Data has for its kind.

import CairnModel
import Foundation

/// A condition on an attribute's value.
///
/// Model files say least and greatest values, lengths and patterns as predicates over the value (`SELF >= 3`,
/// `length <= 10`, `SELF MATCHES "…"`); these have codes of their own, any other predicate is 1550 (`ValidationRule`).
struct ValueCheck {
  struct Failure {
    let code: Int
    let reason: String
    let predicate: NSPredicate
  }

  private let rule: ValidationRule
  private let predicate: NSPredicate
  private let warning: String?

  /// The checks of an attribute, one a predicate, or one a part of a conjunction.
  static func all(_ attribute: NSAttributeDescription) -> [ValueCheck] {
    attribute.validationPredicates.enumerated().flatMap { index, predicate in
      let warnings = attribute.validationWarnings
      let warning = warnings.indices.contains(index) ? warnings[index] as? String : nil
      return parts(predicate.tree).map { part in
        ValueCheck(rule: ValidationRule(part), predicate: NSPredicate(part), warning: warning)
      }
    }
  }

  private static func parts(_ tree: PredicateTree) -> [PredicateTree] {
    if case .and(let parts) = tree { parts.flatMap(self.parts) } else { [tree] }
  }

  /// What is wrong with the value, or nil. Lengths are counted in UTF-16 units, as Core Data does.
  func failure(_ value: Any) -> Failure? {
    switch rule {
    case .minimum(let limit):
      guard let value = ValueCheck.comparable(value), Value.compare(value, limit) < 0 else { return nil }
      return failure(limit, limit.family == .date ? "is too early." : "is too small.")
    case .maximum(let limit):
      guard let value = ValueCheck.comparable(value), Value.compare(value, limit) > 0 else { return nil }
      return failure(limit, limit.family == .date ? "is too late." : "is too large.")
    case .minimumLength(let limit):
      return ValueCheck.length(value) < limit ? failure(nil, "is too short.") : nil
    case .maximumLength(let limit):
      return ValueCheck.length(value) > limit ? failure(nil, "is too long.") : nil
    case .pattern: return holds(value) ? nil : failure(nil, "doesn't match its pattern.")
    case .other: return holds(value) ? nil : failure(nil, "is not valid.")
    }
  }

  /// A predicate that can't be asked of the value isn't satisfied.
  private func holds(_ value: Any) -> Bool { (try? predicate.matches(value)) ?? false }

  private func failure(_ limit: Value?, _ reason: String) -> Failure {
    let code = rule.errorCode(isDate: limit?.family == .date)
    return Failure(code: code, reason: warning ?? reason, predicate: predicate)
  }

  private static func comparable(_ any: Any) -> Value? {
    if case .constant(let value) = ExpressionTree(argument: any) { value } else { nil }
  }

  private static func length(_ any: Any) -> Int {
    switch any {
    case let text as String: text.utf16.count
    case let data as Data: data.count
    default: 0
    }
  }
}
