// A fetch's predicate: what of it a store answers, and what is left to be asked of objects.

import CairnModel

/// A predicate taken apart for one entity.
struct FetchCondition {
  /// What the store is asked; nil for every row.
  let columns: PredicateTree?
  /// What has to be asked of each object that the store found; nil for nothing.
  let rest: PredicateTree?
  private let whole: PredicateTree?
  private let entity: EntityID
  private let schema: Schema
  private let evaluator: Evaluator

  /// Throws `StoreError` for names that the entity doesn't have and for types that can't be compared, as far as
  /// that can be told without an object.
  init(
    _ tree: PredicateTree?, of entity: EntityID, in schema: Schema, _ context: NSManagedObjectContext
  ) throws {
    whole = tree
    (self.entity, self.schema) = (entity, schema)
    (columns, rest) = try tree?.split(bindableTo: entity, in: schema) ?? (nil, nil)
    // A fetch may look at every object there is, and mustn't wake them all up for that.
    evaluator = Evaluator(firesFaults: false, context: context)
  }

  /// Whether an object satisfies the predicate as it is now. Throws `PredicateEvaluationError`.
  func holds(_ object: NSManagedObject) throws -> Bool {
    try whole.map { try evaluator.holds($0, for: object) } ?? true
  }

  /// Of changed objects, those that satisfy the predicate as they are now. Throws `PredicateEvaluationError`, and
  /// `StoreError` for a regular expression that took too long.
  func holding(_ changed: [NSManagedObject]) throws -> [NSManagedObject] {
    guard changed.count >= FetchCondition.fewest, rest == nil, let whole else {
      return try changed.filter(holds)
    }
    let bound = try BoundPredicate(whole, to: entity, in: schema)
    guard bound.asksOnlyOwnAttributes else { return try changed.filter(holds) }
    let found = changed.filter { bound.holds(for: ObjectRow(object: $0)) }
    try bound.checkPatterns()
    return found
  }

  /// From so many objects on, fitting the predicate to the entity's slots costs less than it saves.
  private static let fewest = 8

  /// Of objects that the store found, those that satisfy the rest. Throws `PredicateEvaluationError`.
  func filter(_ found: [NSManagedObject]) throws -> [NSManagedObject] {
    guard let rest else { return found }
    return try found.filter { try evaluator.holds(rest, for: $0) }
  }
}

/// An object whose own attributes a bound predicate asks for. Fires no faults.
private struct ObjectRow: PredicateRow {
  let object: NSManagedObject

  func value(_ target: BoundPath.Target) -> Value {
    switch target {
    case .slot(let slot): object.peekedValue(slot)
    case .ownKey: .key(object.key)
    }
  }

  // Not asked: see `asksOnlyOwnAttributes`.
  func destination(of relationship: RelationshipID) -> ObjectRow? { nil }
  func members(of relationship: RelationshipID) -> [ObjectRow] { [] }
}

extension BoundPredicate {
  /// Whether all that it looks at is attributes of the row itself. What relationships lead to among unsaved changes
  /// is known to objects only.
  fileprivate var asksOnlyOwnAttributes: Bool { root.asksOnlyOwnAttributes }
}

extension BoundPredicate.Node {
  fileprivate var asksOnlyOwnAttributes: Bool {
    switch self {
    case .constant: true
    case .test(let path, _): path.isOwnAttribute
    case .comparePaths(let left, _, let right): left.isOwnAttribute && right.isOwnAttribute
    case .check(let expression, _): expression.asksOnlyOwnAttributes
    case .compare(let left, _, let right, _): left.asksOnlyOwnAttributes && right.asksOnlyOwnAttributes
    case .exists: false
    case .and(let parts), .or(let parts): parts.allSatisfy(\.asksOnlyOwnAttributes)
    case .not(let part): part.asksOnlyOwnAttributes
    }
  }
}

extension BoundExpression {
  fileprivate var asksOnlyOwnAttributes: Bool {
    switch self {
    case .constant: true
    case .path(let path): path.isOwnAttribute
    case .function(_, let arguments): arguments.allSatisfy(\.asksOnlyOwnAttributes)
    case .conditional, .aggregate: false
    }
  }
}

extension BoundPath {
  fileprivate var isOwnAttribute: Bool {
    if case .slot = target { base == 0 && hops.isEmpty && type != .key } else { false }
  }
}
