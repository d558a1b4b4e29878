// Trees changed or searched as a whole, part by part.

import CairnModel

extension PredicateTree {
  /// The tree with each expression for which `replace` gives another replaced by that; parts of what was
  /// replaced aren't looked at.
  func rewritten(_ replace: (ExpressionTree) throws -> ExpressionTree?) rethrows -> PredicateTree {
    switch self {
    case .constant, .opaque: return self
    case .and(let parts): return .and(try parts.map { try $0.rewritten(replace) })
    case .or(let parts): return .or(try parts.map { try $0.rewritten(replace) })
    case .not(let part): return .not(try part.rewritten(replace))
    case .comparison(var comparison):
      comparison.left = try comparison.left.rewritten(replace)
      comparison.right = try comparison.right.rewritten(replace)
      return .comparison(comparison)
    }
  }

  /// Whether a condition without text is among its conditions; those inside of expressions don't count.
  var hasBlock: Bool {
    switch self {
    case .opaque: true
    case .constant, .comparison: false
    case .not(let part): part.hasBlock
    case .and(let parts), .or(let parts): parts.contains { $0.hasBlock }
    }
  }

  /// The names of all variables, those of subqueries included.
  var variables: Set<String> {
    var names: Set<String> = []
    _ = rewritten { expression in
      expression.collectVariable(&names)
      return nil
    }
    return names
  }
}

extension ExpressionTree {
  /// As for a predicate.
  func rewritten(_ replace: (ExpressionTree) throws -> ExpressionTree?) rethrows -> ExpressionTree {
    if let replacement = try replace(self) { return replacement }
    switch self {
    case .constant, .object, .keyPath, .evaluatedObject, .variable, .anyKey: return self
    case .list(let elements): return .list(try elements.map { try $0.rewritten(replace) })
    case .keyPathOf(let base, let names): return .keyPathOf(try base.rewritten(replace), names)
    case .function(let name, let arguments):
      return .function(name, try arguments.map { try $0.rewritten(replace) })
    case .call(let target, let selector, let arguments):
      return .call(
        try target.rewritten(replace), selector: selector, try arguments.map { try $0.rewritten(replace) })
    case .element(let base, .at(let place)):
      return .element(of: try base.rewritten(replace), .at(try place.rewritten(replace)))
    case .element(let base, let index): return .element(of: try base.rewritten(replace), index)
    case .conditional(let test, let then, let otherwise):
      return .conditional(
        try test.rewritten(replace), try then.rewritten(replace), try otherwise.rewritten(replace))
    case .subquery(let collection, let variable, let condition):
      return .subquery(
        try collection.rewritten(replace), variable: variable, try condition.rewritten(replace))
    case .setOperation(let op, let left, let right):
      return .setOperation(op, try left.rewritten(replace), try right.rewritten(replace))
    case .assignment(let name, let value): return .assignment(name, try value.rewritten(replace))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        request: try request.rewritten(replace), context: try context.rewritten(replace),
        countOnly: countOnly)
    case .opaque(let block, let arguments):
      return .opaque(block, try arguments.map { try $0.rewritten(replace) })
    }
  }

  var variables: Set<String> {
    var names: Set<String> = []
    _ = rewritten { expression in
      expression.collectVariable(&names)
      return nil
    }
    return names
  }

  fileprivate func collectVariable(_ names: inout Set<String>) {
    switch self {
    case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): names.insert(name)
    default: break
    }
  }
}
