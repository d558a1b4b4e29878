// Predicate trees asked of objects: the second evaluator beside the column kernels, and the one that answers
// the whole language.
//
// Always holds: a scope's object is the one that a plain key belongs to, inside of subqueries too; only a
// subquery's variable is its element.

import CairnModel
import Foundation

/// How trees are evaluated: with which variables, and how objects are read. Made once for many objects.
struct Evaluator {
  private let variables: [String: Operand]
  private let firesFaults: Bool
  private let context: NSManagedObjectContext?

  /// NSNull as a variable's value means nil.
  init(
    variables: [String: Any] = [:], firesFaults: Bool = true, context: NSManagedObjectContext? = nil
  ) {
    self.variables = variables.mapValues { value in
      guard let expression = value as? NSExpression, case .constant(let constant) = expression.tree else {
        return value is NSNull ? .none : Operand(value)
      }
      return .value(constant)
    }
    self.firesFaults = firesFaults
    self.context = context
  }

  /// Throws `PredicateEvaluationError`.
  func holds(_ tree: PredicateTree, for object: Any?) throws -> Bool {
    try evaluation(of: object).holds(tree)
  }

  /// What an expression gives. Throws `PredicateEvaluationError`.
  func value(_ expression: ExpressionTree, for object: Any?) throws -> Any? {
    try evaluation(of: object).value(expression).any
  }

  private func evaluation(of object: Any?) -> Evaluation {
    let root = Operand(object)
    var context = context
    if context == nil, case .object(let managed) = root { context = managed.managedObjectContext }
    return Evaluation(
      object: root, variables: variables, walker: KeyPathWalker(firesFaults: firesFaults, context: context))
  }
}

/// One evaluation over one object.
final class Evaluation {
  let object: Operand
  let walker: KeyPathWalker
  private(set) var variables: [String: Operand]
  private var depth = 0

  /// How deep expressions may stand within each other. An AND within an AND and an OR within an OR don't
  /// count. All that walks trees is recursive, and the smallest stacks of threads have half a megabyte.
  static let greatestDepth = 100

  init(object: Operand, variables: [String: Operand], walker: KeyPathWalker) {
    self.object = object
    self.variables = variables
    self.walker = walker
  }

  // MARK: Predicates

  func holds(_ tree: PredicateTree) throws -> Bool {
    switch tree {
    case .constant(let value): return value
    case .comparison(let comparison): return try nested { try holds(comparison) }
    case .not(let part): return try nested { try !holds(part) }
    case .and, .or: return try nested { try holdsCompound(tree) }
    case .opaque(let constant): return try holds(constant)
    }
  }

  /// Parts from left to right, those of the same compound within it included, up to the first that decides.
  private func holdsCompound(_ tree: PredicateTree) throws -> Bool {
    var isAnd = false
    if case .and = tree { isAnd = true }
    var rest = [tree]
    while let next = rest.popLast() {
      switch next {
      case .and(let parts) where isAnd: rest.append(contentsOf: parts.reversed())
      case .or(let parts) where !isAnd: rest.append(contentsOf: parts.reversed())
      default: if try holds(next) != isAnd { return !isAnd }
      }
    }
    return isAnd
  }

  private func holds(_ constant: ConstantObject) throws -> Bool {
    guard let block = constant.object as? PredicateBlock else {
      throw PredicateEvaluationError(
        .unsupportedTypes, "\(constant.object.canonicalText) is no condition",
        in: constant.object.canonicalText)
    }
    let bindings = variables.compactMapValues(\.any)
    return bindings.isEmpty
      ? block.predicate.evaluate(with: object.any)
      : block.predicate.evaluate(with: object.any, substitutionVariables: bindings)
  }

  private func holds(_ c: PredicateTree.Comparison) throws -> Bool {
    do {
      if case .anyKey = c.left { return try anyKeyHolds(c) }
      let left = try value(c.left)
      let right = try value(c.right)
      let question = OperandComparison(c.op, c.options)
      switch c.modifier {
      case .direct: return try question.holds(left, right)
      case .any: return try quantified(left, c).contains { try question.holds($0, right) }
      case .all: return try quantified(left, c).allSatisfy { try question.holds($0, right) }
      }
    } catch let error as PredicateEvaluationError {
      throw error.about(PredicateTree.comparison(c).canonicalFormat)
    }
  }

  /// The elements that ANY or ALL ask. What a path over several to-manys gives is asked as one collection,
  /// unless it is the elements' being collections that the operator is about.
  private func quantified(_ operand: Operand, _ c: PredicateTree.Comparison) throws -> [Operand] {
    if operand.isNone { return [] }
    guard let elements = operand.elements else {
      throw PredicateEvaluationError(
        .unsupportedTypes,
        "The left hand side for an ALL or ANY operator must be either an NSArray or an NSSet, not \(operand.kind)"
      )
    }
    return c.op == .contains ? elements : Evaluation.flattened(elements)
  }

  private static func flattened(_ elements: [Operand]) -> [Operand] {
    guard elements.contains(where: { $0.elements != nil }) else { return elements }
    return elements.flatMap { element in
      switch element {
      case .list(let inner), .set(let inner): flattened(inner)
      default: [element]
      }
    }
  }

  /// Whether one of an object's attributes compares so; those of other types don't.
  private func anyKeyHolds(_ c: PredicateTree.Comparison) throws -> Bool {
    let right = try value(c.right)
    let question = OperandComparison(c.op, c.options)
    return try anyKeyValues().contains { candidate in
      do {
        return try question.holds(candidate, right)
      } catch let error as PredicateEvaluationError where error.reason == .unsupportedTypes {
        return false
      }
    }
  }

  private func anyKeyValues() throws -> [Operand] {
    switch object {
    case .dictionary(let values): return values.values
    case .object(let managed):
      return try managed.table.entity.properties.keys.sorted().compactMap { key in
        if case .relationship = managed.table.entity.properties[key] { return nil }
        return try walker.step(object, key)
      }
    default:
      throw PredicateEvaluationError(
        .unsupportedTypes, "ANYKEY needs an object with keys, not \(object.kind)")
    }
  }

  // MARK: Scope

  /// Counts a step into an expression.
  func nested<T>(_ body: () throws -> T) throws -> T {
    guard depth < Evaluation.greatestDepth else {
      throw PredicateEvaluationError(
        .tooDeep, "the predicate is nested deeper than \(Evaluation.greatestDepth)")
    }
    depth += 1
    defer { depth -= 1 }
    return try body()
  }

  /// Runs `body` with a variable that has a value only in it.
  func with<T>(_ variable: String, _ value: Operand, _ body: () throws -> T) rethrows -> T {
    let outer = variables[variable]
    variables[variable] = value
    defer { variables[variable] = outer }
    return try body()
  }

  func assign(_ variable: String, _ value: Operand) { variables[variable] = value }
}
