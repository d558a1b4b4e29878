// Predicates as values: what NSPredicate, a format string and a Swift #Predicate all turn into.

/// A condition on a row or an object, as a tree of plain values.
///
/// The tree is the whole language; `BoundPredicate` fits what a store's columns can answer to an entity.
/// Two trees are equal if they are written alike: `a == b` and `b == a` are different trees.
public indirect enum PredicateTree: Sendable, Hashable {
  /// TRUEPREDICATE or FALSEPREDICATE.
  case constant(Bool)
  case comparison(Comparison)
  /// True without parts. Parts are asked from left to right, up to the first that decides.
  case and([PredicateTree])
  /// False without parts.
  case or([PredicateTree])
  case not(PredicateTree)
  /// A condition that has no text, as a program's block: only an evaluator over objects can ask it.
  case opaque(ConstantObject)

  public struct Comparison: Sendable, Hashable {
    /// How a left side that is a collection is compared.
    public enum Modifier: UInt8, Sendable, Hashable, CaseIterable {
      /// As one value.
      case direct
      /// Every element compares so; true for no elements.
      case all
      /// Some element compares so. SOME is parsed as ANY, NONE as NOT ANY.
      case any
    }

    public var left: ExpressionTree
    public var op: ComparisonOperator
    public var right: ExpressionTree
    public var options: StringOptions
    public var modifier: Modifier

    public init(
      _ left: ExpressionTree, _ op: ComparisonOperator, _ right: ExpressionTree,
      options: StringOptions = [], modifier: Modifier = .direct
    ) {
      self.left = left
      self.op = op
      self.right = right
      self.options = options
      self.modifier = modifier
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

/// How strings are compared: the `[cdnl]` of a predicate.
public struct StringOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let caseInsensitive = StringOptions(rawValue: 1)
  public static let diacriticInsensitive = StringOptions(rawValue: 2)
  /// Both sides are known to need no folding: compared literally, whatever the other options say.
  public static let normalized = StringOptions(rawValue: 4)
  /// By the rules of the current locale.
  public static let localeSensitive = StringOptions(rawValue: 8)
}

/// What a comparison compares.
public indirect enum ExpressionTree: Sendable, Hashable {
  case constant(Value)
  /// A constant that is no `Value`: an object, its ID, NSNull, a dictionary.
  case object(ConstantObject)
  /// `{a, b}`, and the elements of an array or set given as an argument.
  case list([ExpressionTree])
  /// Property names, one a step, from the evaluated object: `["airline", "carrier"]`. A step that begins
  /// with `@` is a collection operator: `["kids", "@sum", "age"]`. A name that is a reserved word stands
  /// here without the `#` of its text.
  case keyPath([String])
  /// The same from what an expression gives: `$x.age`, `SELF.name`, `SUBQUERY(…).@count`.
  case keyPathOf(ExpressionTree, [String])
  /// SELF. For a row, compared by its key.
  case evaluatedObject
  /// `$name`, without the dollar sign.
  case variable(String)
  /// A predefined function by its name with colons (`add:to:`, `sum:`, `now`); arithmetic, CAST
  /// (`castObject:toType:`) and bit operators are such functions.
  case function(String, [ExpressionTree])
  /// `FUNCTION(target, "selector:", …)`.
  case call(ExpressionTree, selector: String, [ExpressionTree])
  /// `collection[index]`
  case element(of: ExpressionTree, ElementIndex)
  /// `TERNARY(condition, then, else)`
  case conditional(PredicateTree, ExpressionTree, ExpressionTree)
  /// `SUBQUERY(collection, $variable, condition)`: the elements for which the condition holds. A key path in
  /// the condition that doesn't start from the variable belongs to the outer object.
  case subquery(ExpressionTree, variable: String, PredicateTree)
  case setOperation(SetOperator, ExpressionTree, ExpressionTree)
  /// `$name := expression`
  case assignment(String, ExpressionTree)
  /// `FETCH(request, context, countOnly)`
  case fetch(request: ExpressionTree, context: ExpressionTree, countOnly: Bool)
  case anyKey
  /// An expression that has no text, as a program's block.
  case opaque(ConstantObject, [ExpressionTree])

  public enum SetOperator: UInt8, Sendable, Hashable, CaseIterable { case union, intersect, minus }

  public indirect enum ElementIndex: Sendable, Hashable {
    /// A place, counted from 0, or the key of a dictionary.
    case at(ExpressionTree)
    case first, last, size
  }

  /// A key path from its dotted text.
  public static func path(_ dotted: String) -> ExpressionTree {
    .keyPath(dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
  }
}

/// A constant of a predicate that is no `Value`.
///
/// The object layer has its own classes behind this; the waist only needs to compare, print and (for an
/// object or an ID) find the row that is meant.
public protocol PredicateConstant: AnyObject, Sendable {
  /// What a store compares with: the key of a row, or null. nil if no store can compare with it.
  var storeValue: Value? { get }
  /// As canonical text shows it.
  var canonicalText: String { get }
  func isEqual(to other: any PredicateConstant) -> Bool
  func hash(into hasher: inout Hasher)
}

/// A `PredicateConstant` with the equality of its own class.
public struct ConstantObject: Sendable, Hashable {
  public let object: any PredicateConstant

  public init(_ object: any PredicateConstant) { self.object = object }

  public static func == (a: ConstantObject, b: ConstantObject) -> Bool {
    a.object === b.object || a.object.isEqual(to: b.object)
  }

  public func hash(into hasher: inout Hasher) { object.hash(into: &hasher) }
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
