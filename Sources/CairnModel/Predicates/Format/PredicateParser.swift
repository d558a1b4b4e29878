// Format strings to trees: precedence climbing over operands that are expressions or predicates.
//
// One parse serves both, and only an operator says which it needs, so that a parenthesis that may hold either
// is read once: the time is linear. Nesting, in the text and in the tree that comes of it, is bounded, since all
// that walks trees is recursive; an AND or an OR of any length is one level.

/// Parses one format string.
struct PredicateParser {
  /// An operand, with the depth of its tree.
  enum Operand {
    case expression(ExpressionTree, depth: Int)
    case predicate(PredicateTree, depth: Int)

    var depth: Int {
      switch self {
      case .expression(_, let depth), .predicate(_, let depth): depth
      }
    }
  }

  /// How tightly operators bind, loosest first.
  enum Level: Int {
    case or, and, comparison, set, bitOr, bitXor, bitAnd, shift, sum, product, power, unary

    var tighter: Level { Level(rawValue: rawValue + 1) ?? .unary }
  }

  static let greatestDepth = 100
  static let greatestByteCount = 1 << 24

  var lexer: PredicateLexer
  /// The word that comes next.
  var token: PredicateToken
  /// The word before it; nil at the beginning.
  var previous: PredicateToken?
  var nesting = 0
  var holes: [FormatTemplate.Hole] = []
  /// Whether a name in the tree is `FormatPlaceholder.escaped`.
  var hasEscapes = false

  init(_ format: String) throws {
    lexer = PredicateLexer(format)
    token = PredicateToken(kind: .end, start: 0, end: 0)
    guard lexer.bytes.count <= PredicateParser.greatestByteCount else {
      throw lexer.error("it is longer than \(PredicateParser.greatestByteCount) bytes", at: 0)
    }
    token = try lexer.next()
  }

  mutating func advance() throws {
    previous = token
    token = try lexer.next()
  }

  mutating func parsePredicate() throws -> PredicateTree {
    if token.kind == .end { throw lexer.error("it is empty", at: token.start) }
    let tree = try nextPredicate(.or).0
    try expectEnd()
    return tree
  }

  mutating func parseExpression() throws -> ExpressionTree {
    if token.kind == .end { throw lexer.error("it is empty", at: token.start) }
    let tree = try nextExpression(.or).0
    try expectEnd()
    return tree
  }

  private func expectEnd() throws {
    if token.kind == .end { return }
    if token.kind == .closeParenthesis {
      throw lexer.error("nothing is open that this closes", at: token.start)
    }
    throw lexer.error("\"\(lexer.text(token))\" stands where the string should end", at: token.start)
  }

  // MARK: Operators

  mutating func parse(_ minimum: Level) throws -> Operand {
    let start = token
    var left = try operand()
    while true {
      switch token.kind {
      case .or, .doubleBar:
        if minimum.rawValue > Level.or.rawValue { return left }
        left = try junction(left, .and) { $0 == .or || $0 == .doubleBar }
      case .and, .doubleAmpersand:
        if minimum.rawValue > Level.and.rawValue { return left }
        left = try junction(left, .comparison) { $0 == .and || $0 == .doubleAmpersand }
      default:
        if let op = token.kind.comparison {
          if minimum.rawValue > Level.comparison.rawValue { return left }
          left = try comparison(left, op, .direct, from: start)
          continue
        }
        guard let (level, function) = PredicateParser.infix(token.kind), level.rawValue >= minimum.rawValue
        else { return left }
        left = try infix(left, level, function, from: start)
      }
    }
  }

  /// All parts of an AND or an OR that stand side by side.
  private mutating func junction(
    _ first: Operand, _ level: Level, _ isSame: (PredicateToken.Kind) -> Bool
  ) throws -> Operand {
    let isAnd = level == .comparison
    let (tree, firstDepth) = try predicate(first)
    var parts = [tree]
    var depth = firstDepth
    while isSame(token.kind) {
      try advance()
      let (part, partDepth) = try nextPredicate(level)
      parts.append(part)
      depth = max(depth, partDepth)
    }
    return .predicate(isAnd ? .and(parts) : .or(parts), depth: try deeper(depth))
  }

  mutating func comparison(
    _ left: Operand, _ op: ComparisonOperator, _ modifier: PredicateTree.Comparison.Modifier,
    from start: PredicateToken
  ) throws -> Operand {
    let (leftTree, leftDepth) = try expression(left, from: start)
    try advance()
    let options = try stringOptions()
    let (rightTree, rightDepth) = try nextExpression(.set)
    if token.kind.comparison != nil {
      throw lexer.error("comparisons don't chain; join two with AND", at: token.start)
    }
    let tree = PredicateTree.comparison(
      .init(leftTree, op, rightTree, options: options, modifier: modifier))
    return .predicate(tree, depth: try deeper(max(leftDepth, rightDepth)))
  }

  /// `[cdnl]` after an operator.
  private mutating func stringOptions() throws -> StringOptions {
    guard token.kind == .openBracket else { return [] }
    try advance()
    var options: StringOptions = []
    guard token.kind == .identifier || token.kind.isKeyword else {
      throw lexer.error("options are letters of \"cdnl\"", at: token.start)
    }
    for offset in token.start..<token.end {
      switch lexer.bytes[offset] | 0x20 {
      case UInt8(ascii: "c"): options.insert(.caseInsensitive)
      case UInt8(ascii: "d"): options.insert(.diacriticInsensitive)
      case UInt8(ascii: "n"): options.insert(.normalized)
      case UInt8(ascii: "l"): options.insert(.localeSensitive)
      default: throw lexer.error("options are letters of \"cdnl\"", at: offset)
      }
    }
    try advance()
    try expect(.closeBracket, "]")
    return options
  }

  private enum Infix {
    case function(String)
    case set(ExpressionTree.SetOperator)
  }

  private static func infix(_ kind: PredicateToken.Kind) -> (Level, Infix)? {
    switch kind {
    case .union: (.set, .set(.union))
    case .intersect: (.set, .set(.intersect))
    case .minus: (.set, .set(.minus))
    case .bar: (.bitOr, .function(PredicateFunctions.or))
    case .caret: (.bitXor, .function(PredicateFunctions.xor))
    case .ampersand: (.bitAnd, .function(PredicateFunctions.and))
    case .shiftLeft: (.shift, .function(PredicateFunctions.shiftLeft))
    case .shiftRight: (.shift, .function(PredicateFunctions.shiftRight))
    case .plus: (.sum, .function(PredicateFunctions.add))
    case .dash: (.sum, .function(PredicateFunctions.subtract))
    case .star: (.product, .function(PredicateFunctions.multiply))
    case .slash: (.product, .function(PredicateFunctions.divide))
    case .power: (.power, .function(PredicateFunctions.power))
    default: nil
    }
  }

  private mutating func infix(
    _ left: Operand, _ level: Level, _ infix: Infix, from start: PredicateToken
  ) throws -> Operand {
    let (leftTree, leftDepth) = try expression(left, from: start)
    try advance()
    let (rightTree, rightDepth) = try nextExpression(level.tighter)
    let tree: ExpressionTree =
      switch infix {
      case .function(let name): .function(name, [leftTree, rightTree])
      case .set(let op): .setOperation(op, leftTree, rightTree)
      }
    return .expression(tree, depth: try deeper(max(leftDepth, rightDepth)))
  }

  // MARK: What is needed where

  func predicate(_ operand: Operand) throws -> (PredicateTree, Int) {
    if case .predicate(let tree, let depth) = operand { return (tree, depth) }
    throw missingComparison()
  }

  func missingComparison() -> PredicateFormatError {
    if token.kind == .typeConforms || token.kind == .typeEquals {
      return lexer.error("\(lexer.text(token)) needs type identifiers, which only Apple has", at: token.start)
    }
    let what = previous.map { "after \"\(lexer.text($0))\"" } ?? "here"
    return lexer.error("a comparison is missing \(what)", at: token.start)
  }

  func expression(_ operand: Operand, from start: PredicateToken) throws -> (ExpressionTree, Int) {
    if case .expression(let tree, let depth) = operand { return (tree, depth) }
    throw lexer.error("a predicate stands where a value is needed", at: start.start)
  }

  mutating func nextPredicate(_ level: Level) throws -> (PredicateTree, Int) {
    let operand = try parse(level)
    return try predicate(operand)
  }

  mutating func nextExpression(_ level: Level) throws -> (ExpressionTree, Int) {
    let start = token
    let operand = try parse(level)
    return try expression(operand, from: start)
  }

  mutating func expect(_ kind: PredicateToken.Kind, _ text: String) throws {
    guard token.kind == kind else {
      let found = token.kind == .end ? "" : " before \"\(lexer.text(token))\""
      throw lexer.error("\"\(text)\" is missing\(found)", at: token.start)
    }
    try advance()
  }

  /// One more than `depth`, if that isn't too much.
  func deeper(_ depth: Int) throws -> Int {
    guard depth < PredicateParser.greatestDepth else { throw tooDeep() }
    return depth + 1
  }

  func tooDeep() -> PredicateFormatError {
    lexer.error(
      "it is nested deeper than \(PredicateParser.greatestDepth), where each operator of a chain like 1 + 1 + 1 counts",
      at: token.start)
  }
}
