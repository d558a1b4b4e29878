// Foundation's typed predicates (`#Predicate`) as trees: the rules of one conversion.
//
// Foundation's trees are generic types with public parts. Each that can be converted says so by conforming to
// `ConvertibleExpression`; those that don't are refused by name.

import CairnModel
public import Foundation

/// A part of a typed predicate that no tree can say, or a key path without a name.
public struct PredicateConversionError: LocalizedError, Sendable, CustomStringConvertible {
  /// Foundation's name for the part, as `PredicateExpressions.ForceCast`.
  public let expression: String
  public let message: String

  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  public var description: String { "\(expression) can't become an NSPredicate: \(message)" }
}

extension NSPredicateFormatInitializable where Self: NSPredicate {
  /// Foundation's typed predicate as one that a fetch takes; nil where it can't be converted.
  /// `init(converting:)` says why.
  public init?<Input>(_ predicate: Predicate<Input>) {
    guard let converted = try? Self(converting: predicate) else { return nil }
    self = converted
  }

  /// Cairn's own. Throws `PredicateConversionError`, which names the part that has no counterpart.
  ///
  /// Key paths lead through properties declared with `@Managed`; `count` and `isEmpty` of collections and the
  /// methods of strings that `#Predicate` knows are converted too.
  public init<Input>(converting predicate: Predicate<Input>) throws {
    var conversion = PredicateConversion()
    conversion.bind(predicate.variable.key, to: .evaluatedObject)
    self.init(try conversion.predicate(predicate.expression))
  }
}

/// What a part became.
enum ConvertedExpression {
  case predicate(PredicateTree)
  case expression(ExpressionTree)

  /// As a value: a condition becomes 1 or 0.
  var expression: ExpressionTree {
    switch self {
    case .expression(let tree): tree
    case .predicate(let tree): .conditional(tree, .constant(true), .constant(false))
    }
  }

  /// As a condition: a value has to be true.
  var predicate: PredicateTree {
    switch self {
    case .predicate(let tree): tree
    case .expression(.constant(.bool(let value))): .constant(value)
    case .expression(.conditional(let tree, .constant(.bool(true)), .constant(.bool(false)))): tree
    case .expression(let tree): .comparison(.init(tree, .equal, .constant(true)))
    }
  }
}

/// A part of a typed predicate that has a counterpart.
protocol ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression
}

/// One conversion: what its variables stand for.
struct PredicateConversion {
  private var variables: [PredicateExpressions.VariableID: ExpressionTree] = [:]
  private var madeNames = 0

  mutating func bind(_ id: PredicateExpressions.VariableID, to tree: ExpressionTree) { variables[id] = tree }

  func value(of id: PredicateExpressions.VariableID) -> ExpressionTree? { variables[id] }

  /// A variable for the elements of a collection.
  mutating func bindElement(_ id: PredicateExpressions.VariableID) -> String {
    madeNames += 1
    let name = "element\(madeNames)"
    bind(id, to: .variable(name))
    return name
  }

  mutating func convert<E: PredicateExpression>(_ expression: E) throws -> ConvertedExpression {
    guard let convertible = expression as? any ConvertibleExpression else {
      throw PredicateConversionError(
        expression: PredicateConversion.name(E.self), message: "the format language has no such expression")
    }
    return try convertible.convert(&self)
  }

  mutating func predicate<E: PredicateExpression>(_ expression: E) throws -> PredicateTree {
    try convert(expression).predicate
  }

  mutating func expression<E: PredicateExpression>(_ expression: E) throws -> ExpressionTree {
    try convert(expression).expression
  }

  mutating func function<A: PredicateExpression, B: PredicateExpression>(
    _ name: String, _ a: A, _ b: B
  ) throws -> ConvertedExpression {
    .expression(.function(name, [try expression(a), try expression(b)]))
  }

  mutating func comparison<A: PredicateExpression, B: PredicateExpression>(
    _ a: A, _ op: ComparisonOperator, _ b: B, _ options: StringOptions = []
  ) throws -> ConvertedExpression {
    .predicate(.comparison(.init(try expression(a), op, try expression(b), options: options)))
  }

  /// `path` from what an expression gives, joined to a path that is one already.
  static func path(_ base: ExpressionTree, _ names: [String]) -> ExpressionTree {
    switch base {
    case .evaluatedObject: .keyPath(names)
    case .keyPath(let first): .keyPath(first + names)
    case .keyPathOf(let start, let first): .keyPathOf(start, first + names)
    default: .keyPathOf(base, names)
    }
  }

  /// The name of a part without its arguments.
  static func name(_ type: Any.Type) -> String {
    let full = String(describing: type)
    return "PredicateExpressions." + String(full.prefix { $0 != "<" })
  }
}
