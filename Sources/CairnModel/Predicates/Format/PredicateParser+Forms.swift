// The forms with a name of their own: SUBQUERY, FETCH, CAST, FUNCTION, TERNARY.

extension PredicateParser {
  mutating func form() throws -> Operand {
    let kind = token.kind
    try advance()
    try expect(.openParenthesis, "(")
    switch kind {
    case .subquery: return try subquery()
    case .fetch: return try fetch()
    case .cast: return try cast()
    case .ternary: return try ternary()
    default: return try call()
    }
  }

  private mutating func cast() throws -> Operand {
    let (value, depth) = try argument()
    try expect(.comma, ",")
    let (type, _) = try argument()
    try expect(.closeParenthesis, ")")
    return .expression(.cast(value, to: type), depth: try deeper(depth))
  }

  private mutating func ternary() throws -> Operand {
    let (condition, conditionDepth) = try nextPredicate(.or)
    try expect(.comma, ",")
    let (first, firstDepth) = try argument()
    try expect(.comma, ",")
    let (second, secondDepth) = try argument()
    try expect(.closeParenthesis, ")")
    let depth = max(conditionDepth, firstDepth, secondDepth)
    return .expression(.conditional(condition, first, second), depth: try deeper(depth))
  }

  private mutating func argument() throws -> (ExpressionTree, Int) {
    return try nextExpression(.set)
  }

  private mutating func subquery() throws -> Operand {
    let (collection, depth) = try argument()
    try expect(.comma, ",")
    guard token.kind == .variable else {
      throw lexer.error("SUBQUERY needs a variable, as $x, as its second argument", at: token.start)
    }
    let variable = String(decoding: lexer.bytes[token.start + 1..<token.end], as: UTF8.self)
    try advance()
    try expect(.comma, ",")
    let (condition, conditionDepth) = try nextPredicate(.or)
    try expect(.closeParenthesis, ")")
    return .expression(
      .subquery(collection, variable: variable, condition), depth: try deeper(max(depth, conditionDepth)))
  }

  private mutating func fetch() throws -> Operand {
    let (request, depth) = try argument()
    try expect(.comma, ",")
    let (context, contextDepth) = try argument()
    try expect(.comma, ",")
    let start = token
    let countOnly: Bool
    switch try argument().0 {
    case .constant(.bool(let value)): countOnly = value
    case .constant(.int(let value)): countOnly = value != 0
    default: throw lexer.error("FETCH needs YES or NO as its third argument", at: start.start)
    }
    try expect(.closeParenthesis, ")")
    return .expression(
      .fetch(request: request, context: context, countOnly: countOnly),
      depth: try deeper(max(depth, contextDepth)))
  }

  /// `FUNCTION(target, "selector:", …)`
  private mutating func call() throws -> Operand {
    let (target, depth) = try argument()
    try expect(.comma, ",")
    let start = token
    let selector = try selector(try argument().0, at: start)
    var arguments: [ExpressionTree] = []
    var argumentDepth = 0
    if token.kind == .comma {
      try advance()
      (arguments, argumentDepth) = try expressions(until: .closeParenthesis, ")")
    } else {
      try expect(.closeParenthesis, ")")
    }
    return .expression(
      .call(target, selector: selector, arguments), depth: try deeper(max(depth, argumentDepth)))
  }

  /// A literal, or the hole of a placeholder for one.
  private mutating func selector(_ tree: ExpressionTree, at start: PredicateToken) throws -> String {
    switch tree {
    case .constant(.string(let text)):
      guard text.utf8.first == 0 else { return text }
      hasEscapes = true
      return FormatPlaceholder.escaped(text)
    case .variable(let marker):
      guard let number = FormatPlaceholder.number(of: marker), holes[number].kind != .number else { break }
      holes[number].kind = .selector
      return marker
    default: break
    }
    throw lexer.error("FUNCTION needs the name of a method as its second argument", at: start.start)
  }
}
