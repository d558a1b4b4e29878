// Walking trees: variables and what stands for them, key paths.

extension PredicateTree {
  /// The predicate with expressions in the places of its variables. A SUBQUERY's own variable hides one of the
  /// same name within its condition. Names that aren't in `variables` stay.
  public func substituting(variables: [String: ExpressionTree]) -> PredicateTree {
    if variables.isEmpty { return self }
    switch self {
    case .constant, .opaque: return self
    case .and(let parts): return .and(parts.map { $0.substituting(variables: variables) })
    case .or(let parts): return .or(parts.map { $0.substituting(variables: variables) })
    case .not(let part): return .not(part.substituting(variables: variables))
    case .comparison(var comparison):
      comparison.left = comparison.left.substituting(variables: variables)
      comparison.right = comparison.right.substituting(variables: variables)
      return .comparison(comparison)
    }
  }

  /// The variables that nothing in the tree gives a value, each once, in the order of their first use.
  public var unresolvedVariables: [String] {
    var walk = TreeWalk()
    walk.visit(self, [])
    return walk.variables
  }

  /// Every key path that starts from the evaluated object, each once, in the order of their first use; those
  /// from variables, as a SUBQUERY's, aren't among them.
  public var keyPaths: [[String]] {
    var walk = TreeWalk()
    walk.visit(self, [])
    return walk.paths
  }
}

extension ExpressionTree {
  /// The same for an expression.
  public func substituting(variables: [String: ExpressionTree]) -> ExpressionTree {
    if variables.isEmpty { return self }
    func substituted(_ tree: ExpressionTree) -> ExpressionTree { tree.substituting(variables: variables) }
    switch self {
    case .variable(let name): return variables[name] ?? self
    case .constant, .object, .keyPath, .evaluatedObject, .anyKey: return self
    case .list(let elements): return .list(elements.map(substituted))
    case .keyPathOf(let base, let names): return .keyPathOf(substituted(base), names)
    case .function(let name, let parts): return .function(name, parts.map(substituted))
    case .call(let target, let selector, let parts):
      return .call(substituted(target), selector: selector, parts.map(substituted))
    case .element(let base, .at(let index)): return .element(of: substituted(base), .at(substituted(index)))
    case .element(let base, let index): return .element(of: substituted(base), index)
    case .conditional(let condition, let first, let second):
      return .conditional(
        condition.substituting(variables: variables), substituted(first), substituted(second))
    case .subquery(let collection, let variable, let condition):
      var inner = variables
      inner[variable] = nil
      return .subquery(
        substituted(collection), variable: variable, condition.substituting(variables: inner))
    case .setOperation(let op, let left, let right):
      return .setOperation(op, substituted(left), substituted(right))
    case .assignment(let name, let value): return .assignment(name, substituted(value))
    case .fetch(let request, let context, let countOnly):
      return .fetch(request: substituted(request), context: substituted(context), countOnly: countOnly)
    case .opaque(let object, let parts): return .opaque(object, parts.map(substituted))
    }
  }

  public var unresolvedVariables: [String] {
    var walk = TreeWalk()
    walk.visit(self, [])
    return walk.variables
  }

  public var keyPaths: [[String]] {
    var walk = TreeWalk()
    walk.visit(self, [])
    return walk.paths
  }
}

/// Collects names on a walk from left to right.
private struct TreeWalk {
  private(set) var variables: [String] = []
  private(set) var paths: [[String]] = []

  mutating func visit(_ tree: PredicateTree, _ bound: Set<String>) {
    switch tree {
    case .constant, .opaque: break
    case .and(let parts), .or(let parts): for part in parts { visit(part, bound) }
    case .not(let part): visit(part, bound)
    case .comparison(let comparison):
      visit(comparison.left, bound)
      visit(comparison.right, bound)
    }
  }

  mutating func visit(_ tree: ExpressionTree, _ bound: Set<String>) {
    switch tree {
    case .constant, .object, .anyKey, .evaluatedObject: break
    case .variable(let name): if !bound.contains(name), !variables.contains(name) { variables.append(name) }
    case .keyPath(let names): note(names)
    case .keyPathOf(.evaluatedObject, let names): note(names)
    case .keyPathOf(let base, _): visit(base, bound)
    case .list(let parts), .function(_, let parts), .opaque(_, let parts):
      for part in parts { visit(part, bound) }
    case .call(let target, _, let parts):
      visit(target, bound)
      for part in parts { visit(part, bound) }
    case .element(let base, let index):
      visit(base, bound)
      if case .at(let index) = index { visit(index, bound) }
    case .conditional(let condition, let first, let second):
      visit(condition, bound)
      visit(first, bound)
      visit(second, bound)
    case .subquery(let collection, let variable, let condition):
      visit(collection, bound)
      visit(condition, bound.union([variable]))
    case .setOperation(_, let left, let right):
      visit(left, bound)
      visit(right, bound)
    case .assignment(_, let value): visit(value, bound)
    case .fetch(let request, let context, _):
      visit(request, bound)
      visit(context, bound)
    }
  }

  private mutating func note(_ path: [String]) {
    if !paths.contains(path) { paths.append(path) }
  }
}
