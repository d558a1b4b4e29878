// What works for every predicate, whoever made it: its tree, its text, variables, evaluation that throws.

public import CairnModel
public import Foundation

extension NSPredicate {
  /// The predicate as a value, which is what a store is asked.
  ///
  /// Foundation's compound predicates are read through their `subpredicates`: they neither print, compare nor
  /// copy right on Linux. Blocks, and predicates of a program's own classes, become opaque conditions.
  public final var tree: PredicateTree {
    if let own = self as? any TreePredicate { return own.ownTree }
    if let compound = self as? NSCompoundPredicate { return compound.compoundTree }
    if type(of: self) == NSPredicate.self {
      if isEqual(NSPredicate(value: true)) { return .constant(true) }
      if isEqual(NSPredicate(value: false)) { return .constant(false) }
    }
    return .opaque(ConstantObject(PredicateBlock(self)))
  }

  /// The text of the predicate in its one canonical form; the same for predicates with equal trees. Right for
  /// Foundation's compound predicates too, whose `predicateFormat` isn't.
  public final var canonicalFormat: String { tree.canonicalFormat }

  /// Whether the predicate holds for an object, as `evaluate(with:substitutionVariables:)`, which traps instead.
  ///
  /// Throws `PredicateEvaluationError` for values that can't be compared, unknown keys and variables.
  public final func matches(
    _ object: Any?, substitutionVariables bindings: [String: Any] = [:]
  ) throws -> Bool {
    try Evaluator(variables: bindings).holds(tree, for: object)
  }

  /// The predicate with its variables replaced. NSNull stands for nil. A variable that isn't among them stays.
  public final func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    let bound = tree.substituting(
      variables: variables.mapValues { value in
        value is NSNull ? .constant(.null) : ExpressionTree(argument: value)
      })
    if case .opaque(let constant) = bound, let block = constant.object as? PredicateBlock {
      let binding = BoundBlock(block.predicate, variables)
      return adopted(NSPredicate(block: { object, more in binding.holds(object, more) }))
    }
    return adopted(NSPredicate(bound))
  }

  private func adopted(_ predicate: NSPredicate) -> Self {
    guard let result = predicate as? Self else {
      fatalError("a \(Self.self) can't be given variables: use evaluate(with:substitutionVariables:)")
    }
    return result
  }

  /// Does nothing: decoding a predicate makes nothing that would have to be allowed.
  public final func allowEvaluation() {}
}

extension NSCompoundPredicate {
  fileprivate var compoundTree: PredicateTree {
    let parts = subpredicates.map(\.tree)
    switch compoundPredicateType {
    case .and: return .and(parts)
    case .or: return .or(parts)
    case .not:
      guard let part = parts.first else { fatalError("a NOT predicate needs a subpredicate") }
      return .not(part)
    }
  }
}

/// A block predicate with variables of its own.
///
/// Sendable: constant, and asked on the thread that uses the predicate which holds it.
private final class BoundBlock: @unchecked Sendable {
  private let predicate: NSPredicate
  private let variables: [String: Any]

  init(_ predicate: NSPredicate, _ variables: [String: Any]) {
    self.predicate = predicate
    self.variables = variables
  }

  func holds(_ object: Any?, _ more: [String: Any]?) -> Bool {
    let all = variables.merging(more ?? [:]) { $1 }
    return predicate.evaluate(with: object, substitutionVariables: all)
  }
}
