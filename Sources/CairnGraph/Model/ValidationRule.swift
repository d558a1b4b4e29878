// The conditions that Xcode's inspector and the short initialisers know by name (bounds, lengths, a regular
// expression), as validation predicates and back.

import CairnModel
import Foundation

/// One validation predicate, understood.
enum ValidationRule: Hashable {
  case minimum(Value)
  case maximum(Value)
  case minimumLength(Int)
  case maximumLength(Int)
  /// Matched by the whole string.
  case pattern(String)
  case other(PredicateTree)

  init(_ tree: PredicateTree) {
    self = .other(tree)
    guard case .comparison(let comparison) = tree, comparison.options == [], comparison.modifier == .direct,
      case .constant(let constant) = comparison.right
    else { return }
    switch (comparison.left, comparison.op, constant) {
    case (.evaluatedObject, .greaterOrEqual, _): self = .minimum(constant)
    case (.evaluatedObject, .lessOrEqual, _): self = .maximum(constant)
    case (.keyPath(["length"]), .greaterOrEqual, .int(let length)): self = .minimumLength(Int(length))
    case (.keyPath(["length"]), .lessOrEqual, .int(let length)): self = .maximumLength(Int(length))
    case (.evaluatedObject, .matches, .string(let text)): self = .pattern(text)
    default: break
    }
  }

  var tree: PredicateTree {
    switch self {
    case .minimum(let value): Self.compare(.evaluatedObject, .greaterOrEqual, value)
    case .maximum(let value): Self.compare(.evaluatedObject, .lessOrEqual, value)
    case .minimumLength(let length): Self.compare(.keyPath(["length"]), .greaterOrEqual, .int(Int64(length)))
    case .maximumLength(let length): Self.compare(.keyPath(["length"]), .lessOrEqual, .int(Int64(length)))
    case .pattern(let text): Self.compare(.evaluatedObject, .matches, .string(text))
    case .other(let tree): tree
    }
  }

  private static func compare(
    _ left: ExpressionTree, _ op: ComparisonOperator, _ right: Value
  ) -> PredicateTree {
    .comparison(.init(left, op, .constant(right)))
  }

  /// The number of the error that a value of the type makes by failing (3.10.3).
  func errorCode(for type: NSAttributeDescription.AttributeType) -> Int {
    switch self {
    case .minimum: type == .date ? NSValidationDateTooSoonError : NSValidationNumberTooSmallError
    case .maximum: type == .date ? NSValidationDateTooLateError : NSValidationNumberTooLargeError
    case .minimumLength: NSValidationStringTooShortError
    case .maximumLength: NSValidationStringTooLongError
    case .pattern: NSValidationStringPatternMatchingError
    case .other: NSManagedObjectValidationError
    }
  }
}

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
    let type = (self as? NSAttributeDescription)?.type ?? .undefined
    return validationPredicates.enumerated().map { index, predicate in
      let warning = validationWarnings.indices.contains(index) ? validationWarnings[index] : nil
      let code = (warning as? NSNumber)?.intValue ?? ValidationRule(predicate.tree).errorCode(for: type)
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
      warnings: present + rules.map { NSNumber(value: $0.errorCode(for: type)) })
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
