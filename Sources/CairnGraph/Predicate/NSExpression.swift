// NSExpression: what a comparison compares, as a class. How one is made; how it is read is in
// NSExpression+Reading.swift, how it is evaluated in Interpreter.
//
// Foundation on Linux has the name, but marks all of it unavailable, so this class is Cairn's own. Calls compile
// everywhere; a type annotation in a file that imports Foundation itself needs `import class Cairn.NSExpression`.

public import CairnModel
public import Foundation

/// An expression over the evaluated object: a constant, a key path, a function of expressions.
///
/// Immutable, and compared by its tree: expressions that are written alike are equal.
open class NSExpression: NSObject, NSCopying, NSSecureCoding {
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case unionSet = 5
    case intersectSet = 6
    case minusSet = 7
    /// `$name := expression`
    case variableAssignment = 12
    case subquery = 13
    case aggregate = 14
    case anyKey = 15
    case block = 19
    case conditional = 20
    /// `FETCH(…)`: Core Data's `NSFetchRequestExpressionType`.
    case fetchRequest = 50
  }

  /// The expression as a value.
  public final let tree: ExpressionTree
  /// Whether a list was given as one constant, not as an aggregate of expressions.
  final let isConstantList: Bool

  /// Cairn's own: the expression that a tree says.
  public init(_ tree: ExpressionTree) {
    self.tree = tree
    isConstantList = false
  }

  /// The expression that `format` says, with `%@` and `%K` replaced as in `NSPredicate(format:)`. A malformed
  /// format is a programmer error; `init(parsing:arguments:)` throws instead.
  public convenience init(format expressionFormat: String, _ args: Any?...) {
    self.init(trapping: expressionFormat, args)
  }

  public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
    self.init(trapping: expressionFormat, arguments)
  }

  /// Cairn's own. Throws `PredicateFormatError` for a malformed format.
  public convenience init(parsing format: String, arguments: [Any?] = []) throws {
    self.init(
      try PredicateFormat.parseExpression(format, arguments: arguments.map { ExpressionTree(argument: $0) }))
  }

  private convenience init(trapping format: String, _ arguments: [Any?]) {
    do {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Arrays and sets become lists; other objects are kept as they are.
  public init(forConstantValue obj: Any?) {
    tree = ExpressionTree(argument: obj)
    if case .list = tree { isConstantList = true } else { isConstantList = false }
  }

  public convenience init(forVariable string: String) { self.init(.variable(string)) }

  /// `keyPath` is dotted; collection operators stand in it as in `kids.@sum.age`.
  public convenience init(forKeyPath keyPath: String) { self.init(ExpressionTree(keyPath: keyPath)) }

  /// A key path of an object class, by the names of its properties. One that leads through a computed property,
  /// or through anything but an object class, is a programmer error.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    self.init(ExpressionTree(keyPath: KeyPathNames.requireName(of: keyPath)))
  }

  /// A predefined function by its name with colons, as `sum:` or `add:to:`. An unknown name, or a wrong number of
  /// arguments, is a programmer error.
  public convenience init(forFunction name: String, arguments parameters: [Any]) {
    let arguments = parameters.map { ExpressionTree(argument: $0) }
    if let problem = PredicateFunctions.problem(with: name, argumentCount: arguments.count) {
      fatalError(problem)
    }
    self.init(.function(name, arguments))
  }

  /// `selector` called on what `target` gives. Evaluation finds it in the built-in table or among the class's
  /// `keyedMembers`.
  public convenience init(
    forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?
  ) {
    self.init(
      .call(target.tree, selector: name, (parameters ?? []).map { ExpressionTree(argument: $0) }))
  }

  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(.list(subexpressions.map { ExpressionTree(argument: $0) }))
  }

  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.union, left.tree, right.tree))
  }

  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.intersect, left.tree, right.tree))
  }

  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.setOperation(.minus, left.tree, right.tree))
  }

  /// The elements of a collection for which `predicate` holds. In it a key path that doesn't start from the
  /// variable belongs to the outer object.
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    self.init(.subquery(expression.tree, variable: variable, predicate.tree))
  }

  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    self.init(.conditional(predicate.tree, trueExpression.tree, falseExpression.tree))
  }

  /// What `block` gives for the evaluated object, the arguments' values and the context. No store can answer it.
  public convenience init(
    block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]? = nil
  ) {
    self.init(.opaque(ConstantObject(ExpressionBlock(block)), (arguments ?? []).map(\.tree)))
  }

  open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(.evaluatedObject) }

  open class func expressionForAnyKey() -> NSExpression { NSExpression(.anyKey) }

  // MARK: Evaluating

  /// What the expression gives for an object: numbers as NSNumber, lists as arrays, sets as NSSet. `context` holds
  /// the values of variables by name; NSNull means nil.
  ///
  /// Values that an operator or function doesn't take, unknown keys and variables without a value are programmer
  /// errors; `value(of:substitutionVariables:)` throws instead.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    do {
      return try value(of: object, substitutionVariables: context as? [String: Any] ?? [:])
    } catch {
      fatalError("\(error)")
    }
  }

  /// Cairn's own. Throws `PredicateEvaluationError`.
  public final func value(
    of object: Any?, substitutionVariables bindings: [String: Any] = [:]
  ) throws -> Any? {
    try Evaluator(variables: bindings).value(tree, for: object)
  }

  // MARK: Coding

  public static var supportsSecureCoding: Bool { true }

  /// As the text of a predicate with its constants beside it. Constants that are objects, and names that the
  /// format language can't say, can't be encoded, and fail the coder.
  open func encode(with coder: NSCoder) {
    PredicateArchive.encode(coder) { try PredicateArchive(tree) }
    coder.encode(isConstantList, forKey: "constantList")
  }

  public required init?(coder: NSCoder) {
    guard let tree = PredicateArchive.decode(coder, { try $0.expression() }) else { return nil }
    self.tree = tree
    isConstantList = coder.decodeBool(forKey: "constantList")
  }

  // MARK: NSObject

  /// Itself: an expression never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return tree == other.tree
  }

  open override var hash: Int { tree.hashValue }

  /// The canonical text.
  open override var description: String { tree.canonicalFormat }

  /// Does nothing: decoding an expression makes nothing that would have to be allowed.
  open func allowEvaluation() {}
}

/// `FETCH(request, context, countOnly)`: the results of a fetch, or their number.
open class NSFetchRequestExpression: NSExpression {
  /// `fetch` gives an `NSFetchRequest`, `context` an `NSManagedObjectContext`, when the expression is evaluated.
  open class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(.fetch(request: fetch.tree, context: context.tree, countOnly: countFlag))
  }

  public var requestExpression: NSExpression { NSExpression(parts.0) }
  public var contextExpression: NSExpression { NSExpression(parts.1) }
  public var isCountOnlyRequest: Bool { parts.2 }

  private var parts: (ExpressionTree, ExpressionTree, Bool) {
    guard case .fetch(let request, let context, let countOnly) = tree else {
      fatalError("\(tree.canonicalFormat) is no fetch: make it with expression(forFetch:context:countOnly:)")
    }
    return (request, context, countOnly)
  }
}

extension ExpressionTree {
  /// A key path from its text, in which names that are reserved words may have their `#`.
  init(keyPath text: String) {
    let names = text.split(separator: ".", omittingEmptySubsequences: false)
    self = .keyPath(names.map { String($0.hasPrefix("#") ? $0.dropFirst() : $0) })
  }
}
