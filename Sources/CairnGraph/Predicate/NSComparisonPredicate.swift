// NSComparisonPredicate: one comparison as a class. Cairn's own, as `NSExpression` is.

import CairnModel
public import Foundation

/// `left operator right`, with options for strings and a modifier for collections on the left.
open class NSComparisonPredicate: NSPredicate, TreePredicate {
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let caseInsensitive = Options(rawValue: 1)
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// Both sides need no folding: compared literally, whatever the other options say.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: by the rules of the current locale.
    static let localeSensitive = Options(rawValue: 8)
  }

  public enum Modifier: UInt, Sendable {
    case direct = 0
    case all = 1
    case any = 2
  }

  public enum Operator: UInt, Sendable {
    case lessThan = 0
    case lessThanOrEqualTo = 1
    case greaterThan = 2
    case greaterThanOrEqualTo = 3
    case equalTo = 4
    case notEqualTo = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case customSelector = 11
    case contains = 99
    case between = 100
  }

  final let comparison: PredicateTree.Comparison
  private let selector: Selector?

  final var ownTree: PredicateTree { .comparison(comparison) }

  /// `type` isn't `customSelector`, which has an initialiser of its own.
  public init(
    leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier = .direct,
    type: Operator, options: Options = []
  ) {
    guard let op = ComparisonOperator(type) else {
      fatalError("use init(leftExpression:rightExpression:customSelector:) for a comparison by a selector")
    }
    comparison = PredicateTree.Comparison(
      lhs.tree, op, rhs.tree, options: StringOptions(rawValue: UInt8(truncatingIfNeeded: options.rawValue)),
      modifier: PredicateTree.Comparison.Modifier(modifier))
    selector = nil
    super.init(block: NSPredicate.unasked)
  }

  /// Compares by a call: `FUNCTION(left, "selector:", right)` has to be true.
  public init(
    leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, customSelector selector: Selector
  ) {
    comparison = PredicateTree.Comparison(
      .call(lhs.tree, selector: selector.name, [rhs.tree]), .equal, .constant(true))
    self.selector = selector
    super.init(block: NSPredicate.unasked)
  }

  init(_ comparison: PredicateTree.Comparison) {
    self.comparison = comparison
    selector = nil
    super.init(block: NSPredicate.unasked)
  }

  // MARK: Parts

  public var leftExpression: NSExpression {
    if selector != nil, case .call(let left, _, _) = comparison.left { return NSExpression(left) }
    return NSExpression(comparison.left)
  }

  public var rightExpression: NSExpression {
    if selector != nil, case .call(_, _, let arguments) = comparison.left {
      return NSExpression(arguments[0])
    }
    return NSExpression(comparison.right)
  }

  public var predicateOperatorType: Operator {
    selector == nil ? Operator(comparison.op) : .customSelector
  }

  public var comparisonPredicateModifier: Modifier { Modifier(comparison.modifier) }
  public var options: Options { Options(rawValue: UInt(comparison.options.rawValue)) }
  public var customSelector: Selector? { selector }

  // MARK: NSPredicate

  open override func evaluate(with object: Any?) -> Bool { judge(object, nil) }

  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    judge(object, bindings)
  }

  open override var predicateFormat: String { ownTree.canonicalFormat }
  open override var description: String { ownTree.canonicalFormat }

  /// Itself: a predicate never changes.
  open override func copy(with zone: NSZone? = nil) -> Any { self }
  open override func isEqual(_ object: Any?) -> Bool { isTree(equalTo: object) }
  open override var hash: Int { ownTree.hashValue }
}

extension ComparisonOperator {
  /// nil for `customSelector`.
  init?(_ type: NSComparisonPredicate.Operator) {
    switch type {
    case .lessThan: self = .less
    case .lessThanOrEqualTo: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqualTo: self = .greaterOrEqual
    case .equalTo: self = .equal
    case .notEqualTo: self = .notEqual
    case .matches: self = .matches
    case .like: self = .like
    case .beginsWith: self = .beginsWith
    case .endsWith: self = .endsWith
    case .in: self = .isIn
    case .contains: self = .contains
    case .between: self = .between
    case .customSelector: return nil
    }
  }
}

extension NSComparisonPredicate.Operator {
  init(_ op: ComparisonOperator) {
    switch op {
    case .less: self = .lessThan
    case .lessOrEqual: self = .lessThanOrEqualTo
    case .greater: self = .greaterThan
    case .greaterOrEqual: self = .greaterThanOrEqualTo
    case .equal: self = .equalTo
    case .notEqual: self = .notEqualTo
    case .matches: self = .matches
    case .like: self = .like
    case .beginsWith: self = .beginsWith
    case .endsWith: self = .endsWith
    case .isIn: self = .in
    case .contains: self = .contains
    case .between: self = .between
    }
  }
}

extension PredicateTree.Comparison.Modifier {
  init(_ modifier: NSComparisonPredicate.Modifier) {
    switch modifier {
    case .direct: self = .direct
    case .all: self = .all
    case .any: self = .any
    }
  }
}

extension NSComparisonPredicate.Modifier {
  init(_ modifier: PredicateTree.Comparison.Modifier) {
    switch modifier {
    case .direct: self = .direct
    case .all: self = .all
    case .any: self = .any
    }
  }
}
