// The classes of predicates that have a tree, besides `NSComparisonPredicate`, and what they share.
//
// Their superclass is initialised with a block, never with a truth value: Foundation's own predicates compare
// truth values only, and would take every such predicate for equal.

import CairnModel
import Foundation

/// A predicate that is a tree.
protocol TreePredicate: NSPredicate {
  var ownTree: PredicateTree { get }
}

extension NSPredicate {
  /// What Foundation's initialiser is given by a class that answers for itself.
  static var unasked: @Sendable (Any?, [String: Any]?) -> Bool {
    { _, _ in fatalError("a predicate with a tree answers for itself") }
  }
}

extension TreePredicate {
  /// Whether the tree holds for an object. What can't be compared traps, as Core Data raises an exception.
  func judge(_ object: Any?, _ bindings: [String: Any]?) -> Bool {
    do {
      return try Evaluator(variables: bindings ?? [:]).holds(ownTree, for: object)
    } catch {
      fatalError("\(error)")
    }
  }

  func isTree(equalTo object: Any?) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    if other === self { return true }
    return other.tree == ownTree
  }
}

/// TRUEPREDICATE, FALSEPREDICATE, and an opaque condition with the variables it was given.
final class ConstantPredicate: NSPredicate, TreePredicate {
  let ownTree: PredicateTree

  init(_ tree: PredicateTree) {
    ownTree = tree
    super.init(block: NSPredicate.unasked)
  }

  override func evaluate(with object: Any?) -> Bool { judge(object, nil) }
  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    judge(object, bindings)
  }
  override var predicateFormat: String { ownTree.canonicalFormat }
  override var description: String { ownTree.canonicalFormat }
  override func copy(with zone: NSZone? = nil) -> Any { self }
  override func isEqual(_ object: Any?) -> Bool { isTree(equalTo: object) }
  override var hash: Int { ownTree.hashValue }
}

/// AND, OR or NOT, as a Foundation compound predicate that works: it prints, compares and copies by its tree.
final class CompoundPredicate: NSCompoundPredicate, TreePredicate {
  let ownTree: PredicateTree

  /// nil for a tree that is no compound.
  init?(_ tree: PredicateTree) {
    ownTree = tree
    switch tree {
    case .and(let parts): super.init(type: .and, subpredicates: parts.map { NSPredicate($0) })
    case .or(let parts): super.init(type: .or, subpredicates: parts.map { NSPredicate($0) })
    case .not(let part): super.init(type: .not, subpredicates: [NSPredicate(part)])
    case .constant, .comparison, .opaque: return nil
    }
  }

  override func evaluate(with object: Any?) -> Bool { judge(object, nil) }
  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    judge(object, bindings)
  }
  override var predicateFormat: String { ownTree.canonicalFormat }
  override var description: String { ownTree.canonicalFormat }
  override func copy(with zone: NSZone? = nil) -> Any { self }
  override func isEqual(_ object: Any?) -> Bool { isTree(equalTo: object) }
  override var hash: Int { ownTree.hashValue }
}
