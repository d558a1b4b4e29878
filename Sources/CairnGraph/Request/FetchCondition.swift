// A fetch's predicate: what of it a store answers, and what is left to be asked of objects.

import CairnModel

/// A predicate taken apart for one entity.
struct FetchCondition {
  /// What the store is asked; nil for every row.
  let columns: PredicateTree?
  /// What has to be asked of each object that the store found; nil for nothing.
  let rest: PredicateTree?
  private let whole: PredicateTree?
  private let evaluator: Evaluator

  /// Throws `StoreError` for names that the entity doesn't have and for types that can't be compared, as far as
  /// that can be told without an object.
  init(
    _ tree: PredicateTree?, of entity: EntityID, in schema: Schema, _ context: NSManagedObjectContext
  ) throws {
    whole = tree
    (columns, rest) = try tree?.split(bindableTo: entity, in: schema) ?? (nil, nil)
    // A fetch may look at every object there is, and mustn't wake them all up for that.
    evaluator = Evaluator(firesFaults: false, context: context)
  }

  /// Whether an object satisfies the predicate as it is now. Throws `PredicateEvaluationError`.
  func holds(_ object: NSManagedObject) throws -> Bool {
    try whole.map { try evaluator.holds($0, for: object) } ?? true
  }

  /// Of objects that the store found, those that satisfy the rest. Throws `PredicateEvaluationError`.
  func filter(_ found: [NSManagedObject]) throws -> [NSManagedObject] {
    guard let rest else { return found }
    return try found.filter { try evaluator.holds(rest, for: $0) }
  }
}
