// Predicates as values: what NSPredicate, a format string and a Swift #Predicate all turn into.

/// A condition on a row, as a tree of plain values. `BoundPredicate` fits it to an entity.
public indirect enum PredicateTree: Sendable, Hashable {
  case constant(Bool)
  case comparison(Comparison)
  case and([PredicateTree])
  case or([PredicateTree])
  case not(PredicateTree)

  public struct Comparison: Sendable, Hashable {
    public var left: ExpressionTree
    public var op: ComparisonOperator
    public var right: ExpressionTree
    public var options: StringOptions

    public init(
      _ left: ExpressionTree, _ op: ComparisonOperator, _ right: ExpressionTree, options: StringOptions = []
    ) {
      self.left = left
      self.op = op
      self.right = right
      self.options = options
    }
  }
}

/// The operators of a comparison, with Core Data's meaning (an ordering or string operator with a nil side is
/// false; `!=` with one nil side is true).
public enum ComparisonOperator: Sendable, Hashable, CaseIterable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
  /// The right side is a list of two, both ends included.
  case between
  /// The right side is a list, or a string that the left side is part of.
  case isIn
  case beginsWith, endsWith, contains, like, matches
}

/// How strings are compared: the `[cd]` of a predicate.
public struct StringOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let caseInsensitive = StringOptions(rawValue: 1)
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

/// What a comparison compares.
public indirect enum ExpressionTree: Sendable, Hashable {
  case constant(Value)
  case list([ExpressionTree])
  /// Property names, one a step: `["airline", "carrier"]`.
  case keyPath([String])
  /// The row itself, compared by its key.
  case evaluatedObject

  /// A key path from its dotted text.
  public static func path(_ dotted: String) -> ExpressionTree {
    .keyPath(dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
  }
}

extension PredicateTree {
  /// `left op constant`, the most frequent form, from a dotted key path.
  public static func compare(
    _ path: String, _ op: ComparisonOperator, _ value: Value, options: StringOptions = []
  ) -> PredicateTree {
    .comparison(Comparison(.path(path), op, .constant(value), options: options))
  }

  public static func isIn(_ path: String, _ values: [Value]) -> PredicateTree {
    .comparison(Comparison(.path(path), .isIn, .list(values.map { .constant($0) })))
  }

  public static func between(_ path: String, _ low: Value, _ high: Value) -> PredicateTree {
    .comparison(Comparison(.path(path), .between, .list([.constant(low), .constant(high)])))
  }
}
