// Validation predicates of descriptions with the numbers of their errors, and those that the short initialisers make.
// What a predicate means says CairnModel's `ValidationRule`.

import CairnModel
import Foundation

/// A condition on the values of a property, for whoever validates objects.
struct PropertyValidation {
  let predicate: NSPredicate
  /// The number of the error that a failure is.
  let code: Int
  /// What is said of a failure, if the model has words for it.
  let message: String?
}

extension NSPropertyDescription {
  /// The validation predicates with what their failures are.
  final var validations: [PropertyValidation] {
    let isDate = (self as? NSAttributeDescription)?.type == .date
    return validationPredicates.enumerated().map { index, predicate in
      let warning = validationWarnings.indices.contains(index) ? validationWarnings[index] : nil
      let code = (warning as? NSNumber)?.intValue ?? ValidationRule(predicate.tree).errorCode(isDate: isDate)
      return PropertyValidation(predicate: predicate, code: code, message: warning as? String)
    }
  }
}

extension NSAttributeDescription {
  /// Adds the rules that `min`, `max` and `regex` say: bounds of a number or a date, of the length of a string.
  /// A bound that isn't of the type is a programmer error.
  final func addValidation(min: Any?, max: Any?, regex: String?) {
    var rules: [ValidationRule] = []
    if let min { rules.append(bound(min, "min", ValidationRule.minimum, ValidationRule.minimumLength)) }
    if let max { rules.append(bound(max, "max", ValidationRule.maximum, ValidationRule.maximumLength)) }
    if let regex { rules.append(.pattern(regex)) }
    if !rules.isEmpty { addValidation(rules) }
  }

  final func addValidation(_ rules: [ValidationRule]) {
    let present: [Any] = validations.map { rule in
      if let message = rule.message { return message }
      return NSNumber(value: rule.code)
    }
    setValidation(
      validationPredicates + rules.map { NSPredicate($0.tree) },
      warnings: present + rules.map { NSNumber(value: $0.errorCode(isDate: type == .date)) })
  }

  private func bound(
    _ given: Any, _ title: String, _ value: (Value) -> ValidationRule, _ length: (Int) -> ValidationRule
  ) -> ValidationRule {
    if type == .string {
      if let count = given as? Int { return length(count) }
    } else if let slot = ValueType(type), let made = Value(given, for: slot), !made.isNull {
      return value(made)
    }
    fatalError("\"\(name)\" is of the type \(type.title), and \(given) is no \(title) of that")
  }
}
