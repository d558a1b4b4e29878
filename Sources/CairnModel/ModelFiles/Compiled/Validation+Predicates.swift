// Validation as predicates, and the predicates that have a field of their own (`ValidationRule`).

import Foundation

extension ModelDocument.Validation {
  /// Takes a predicate in: into the field that it is the predicate of, or else among the others. One with a
  /// sentence for a warning is always among the others, so that the sentence isn't lost.
  mutating func add(_ tree: PredicateTree, warning: String?, kind: ModelDocument.AttributeKind) {
    if warning == nil || warning.flatMap({ Int($0) }) != nil, take(ValidationRule(tree), of: kind) { return }
    others.append(.init(tree.canonicalFormat, warning: warning))
  }

  /// Every predicate with its warning, in the order that Core Data checks them. The texts of others are parsed,
  /// which may throw a `PredicateFormatError`.
  package func predicates(
    for kind: ModelDocument.AttributeKind
  ) throws -> [(predicate: PredicateTree, warning: String?)] {
    var result: [(predicate: PredicateTree, warning: String?)] = rules.map { rule in
      (rule.tree, String(rule.errorCode(isDate: kind == .date)))
    }
    for other in others { result.append((try PredicateFormat.parse(other.predicate), other.warning)) }
    return result
  }

  /// The same validation with each predicate in the place where reading it back would put it.
  mutating func normalize(_ kind: ModelDocument.AttributeKind) {
    let (rules, conditions) = (rules, others)
    self = ModelDocument.Validation()
    for rule in rules where !take(rule, of: kind) {
      let warning = String(rule.errorCode(isDate: kind == .date))
      others.append(.init(rule.tree.canonicalFormat, warning: warning))
    }
    for condition in conditions {
      if let tree = try? PredicateFormat.parse(condition.predicate) {
        add(tree, warning: condition.warning.nonEmpty, kind: kind)
      } else {
        others.append(condition)
      }
    }
  }
}
