// A predicate fitted to an entity: names become slots, constants are checked against types.
//
// Always holds: whatever a `BoundPredicate` contains can be evaluated without an error, except that a regular
// expression may run out of time. What can't be is refused here, with the entity, the sub-expression and the
// value, before any row is looked at.

/// A predicate whose names and types fit an entity of a schema.
public struct BoundPredicate: Sendable {
  package indirect enum Node: Sendable {
    case constant(Bool)
    case test(BoundPath, ValueTest)
    case comparePaths(BoundPath, ComparisonOperator, BoundPath)
    /// A test of what an expression gives.
    case check(BoundExpression, ValueTest)
    /// A comparison of two expressions, strings with options.
    case compare(BoundExpression, ComparisonOperator, BoundExpression, StringOptions)
    /// Whether any element is left over.
    case exists(BoundCollection)
    case and([Node])
    case or([Node])
    case not(Node)
  }

  package let root: Node

  init(root: Node) { self.root = root }

  /// Fits `tree` to `entity`. Throws `unknownProperty` for a name that isn't there, `unbindablePredicate` for
  /// types that can't be compared, a pattern that isn't one, what only objects can answer (`split` tells the
  /// latter from the former), or a tree nested deeper than 100, where an AND within an AND and an OR within an
  /// OR don't count. `now()` is the time of this call.
  public init(_ tree: PredicateTree, to entity: EntityID, in schema: Schema) throws {
    do {
      root = try Binder(schema: schema, entity: entity).bind(tree, depth: 0)
    } catch let problem as Binder.BeyondColumns {
      throw problem.error
    }
  }
}

extension BoundPredicate {
  /// Throws `unsupportedRequest` if a regular expression gave up on some row since the predicate was bound: what
  /// it answered doesn't count. To be asked after the rows were.
  package func checkPatterns() throws {
    if root.hasRunOut {
      throw StoreError(
        .unsupportedRequest, "a regular expression took too long on these rows",
        remedy: "write it so that no part of a text can match in more than one way")
    }
  }
}

extension BoundPredicate.Node {
  fileprivate var hasRunOut: Bool {
    switch self {
    case .constant, .comparePaths: false
    case .compare(let left, _, let right, _): left.hasRunOut || right.hasRunOut
    case .test(_, let test): test.hasRunOut
    case .check(let expression, let test): test.hasRunOut || expression.hasRunOut
    case .exists(let collection): collection.filters.contains(where: \.hasRunOut)
    case .and(let parts), .or(let parts): parts.contains(where: \.hasRunOut)
    case .not(let part): part.hasRunOut
    }
  }
}

extension BoundExpression {
  fileprivate var hasRunOut: Bool {
    switch self {
    case .constant, .path: false
    case .function(_, let parts): parts.contains(where: \.hasRunOut)
    case .conditional(let node, let first, let second):
      node.hasRunOut || first.hasRunOut || second.hasRunOut
    case .aggregate(_, let collection, _): collection.filters.contains(where: \.hasRunOut)
    }
  }
}

extension ValueTest {
  fileprivate var hasRunOut: Bool { if case .string(let matcher) = self { matcher.hasRunOut } else { false } }
}

extension PredicateTree {
  /// Takes the predicate apart into what columns of `entity`'s rows can answer and what has to be asked of
  /// objects. Both halves together, joined by AND, mean the predicate; a half without parts is nil.
  ///
  /// Throws `StoreError` as `BoundPredicate` does for what is wrong anywhere, and not only beyond columns: names
  /// and functions that aren't there, types that can't be compared, ANY of what is no collection, variables
  /// without a value. Within a part that goes to the objects, only what comes before the place that is beyond
  /// columns has been checked.
  public func split(
    bindableTo entity: EntityID, in schema: Schema
  ) throws -> (columns: PredicateTree?, rest: PredicateTree?) {
    let binder = Binder(schema: schema, entity: entity)
    var columns: [PredicateTree] = []
    var rest: [PredicateTree] = []
    for part in Binder.conjuncts(of: self) {
      do {
        _ = try binder.bind(part, depth: 0)
        columns.append(part)
      } catch is Binder.BeyondColumns {
        rest.append(part)
      }
    }
    func joined(_ parts: [PredicateTree]) -> PredicateTree? {
      parts.count == 1 ? parts[0] : parts.isEmpty ? nil : .and(parts)
    }
    if rest.isEmpty { return (self, nil) }
    return columns.isEmpty ? (nil, self) : (joined(columns), joined(rest))
  }
}
