// Fits predicate trees to entities: the compounds, and the refusals of all kinds.

import Foundation

struct Binder {
  /// Thrown for what only objects can answer.
  struct BeyondColumns: Error {
    let error: StoreError
  }

  let schema: Schema
  let entity: EntityID
  /// The elements of the collections around what is bound, outermost first: row number 1 and on.
  var elements: [(variable: String?, entity: EntityID)] = []
  /// What `now()` means.
  let now = Date()

  init(schema: Schema, entity: EntityID) {
    self.schema = schema
    self.entity = entity
  }

  func bind(_ tree: PredicateTree, depth: Int) throws -> BoundPredicate.Node {
    // All that walks predicates is recursive, and the smallest stacks of threads have half a megabyte.
    guard depth < 100 else {
      throw StoreError(.unbindablePredicate, "the predicate is nested deeper than 100", entity: name)
    }
    switch tree {
    case .constant(let value): return .constant(value)
    case .and: return .and(try Binder.parts(of: tree).map { try bind($0, depth: depth + 1) })
    case .or: return .or(try Binder.parts(of: tree).map { try bind($0, depth: depth + 1) })
    case .not(let part): return .not(try bind(part, depth: depth + 1))
    case .comparison(let comparison): return try bind(comparison, depth: depth)
    case .opaque: throw beyond("a block can't be asked of columns", tree.canonicalFormat)
    }
  }

  /// The parts of an AND or an OR, those of the same within it included: programs build long chains two by
  /// two.
  private static func parts(of tree: PredicateTree) -> [PredicateTree] {
    var result: [PredicateTree] = []
    var rest = [tree]
    while let next = rest.popLast() {
      switch (tree, next) {
      case (.and, .and(let parts)), (.or, .or(let parts)): rest.append(contentsOf: parts.reversed())
      default: result.append(next)
      }
    }
    return result
  }

  static func conjuncts(of tree: PredicateTree) -> [PredicateTree] {
    if case .and = tree { return parts(of: tree) }
    return [tree]
  }

  // MARK: Refusals

  var name: String { schema[entity].name }

  /// A predicate that is wrong, wherever it is asked.
  func error(_ message: String, _ text: String) -> StoreError {
    StoreError(.unbindablePredicate, message, entity: name, property: text)
  }

  func beyond(_ message: String, _ text: String, _ entity: String? = nil) -> BeyondColumns {
    BeyondColumns(
      error: StoreError(.unbindablePredicate, message, entity: entity ?? name, property: text))
  }
}
