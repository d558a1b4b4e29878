// Operands: what stands between operators, with all that hangs on it by dots and brackets.

extension PredicateParser {
  /// An operand with its postfixes. All recursion of the parser passes through here.
  mutating func operand() throws -> Operand {
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= PredicateParser.greatestDepth else { throw tooDeep() }
    // Small frames on the ways that recur: each case has a function of its own.
    switch token.kind {
    case .not, .exclamation: return try negation()
    case .truePredicate, .falsePredicate: return try predicateConstant()
    case .any, .some: return try quantified(.any)
    case .all: return try quantified(.all)
    case .none: return try noneQuantified()
    case .dash: return try opposite()
    case .tilde: return try complement()
    default: return try postfixes(atom())
    }
  }

  private mutating func negation() throws -> Operand {
    try advance()
    let (tree, depth) = try nextPredicate(.comparison)
    return .predicate(.not(tree), depth: try deeper(depth))
  }

  private mutating func predicateConstant() throws -> Operand {
    let value = token.kind == .truePredicate
    try advance()
    return .predicate(.constant(value), depth: 1)
  }

  private mutating func noneQuantified() throws -> Operand {
    let some = try quantified(.any)
    let (tree, depth) = try predicate(some)
    return .predicate(.not(tree), depth: try deeper(depth))
  }

  private mutating func opposite() throws -> Operand {
    try advance()
    let (tree, depth) = try nextOperand()
    return try negative(tree, depth)
  }

  private mutating func complement() throws -> Operand {
    try advance()
    let (tree, depth) = try nextOperand()
    return .expression(.function(PredicateFunctions.complement, [tree]), depth: try deeper(depth))
  }

  private mutating func nextOperand() throws -> (ExpressionTree, Int) {
    let start = token
    let next = try operand()
    return try expression(next, from: start)
  }

  private mutating func quantified(_ modifier: PredicateTree.Comparison.Modifier) throws -> Operand {
    try advance()
    let start = token
    let left = try parse(.set)
    guard let op = token.kind.comparison else {
      _ = try expression(left, from: start)
      throw missingComparison()
    }
    return try comparison(left, op, modifier, from: start)
  }

  /// Of a literal the literal; of anything else its difference from 0.
  private func negative(_ tree: ExpressionTree, _ depth: Int) throws -> Operand {
    switch tree {
    case .constant(.int(let x)) where x != .min: return .expression(.constant(.int(-x)), depth: 1)
    case .constant(.double(let x)): return .expression(.constant(.double(-x)), depth: 1)
    case .constant(.decimal(let x)):
      let value = Value.decimal(-x)
      return .expression(.constant(value == .int(.min) ? .int(.min) : value), depth: 1)
    default:
      return .expression(
        .function(PredicateFunctions.subtract, [.constant(0), tree]), depth: try deeper(depth))
    }
  }

  private mutating func postfixes(_ operand: Operand) throws -> Operand {
    var operand = operand
    while case .expression(let tree, let depth) = operand {
      switch token.kind {
      case .dot: operand = try keyPath(from: tree, depth)
      case .openBracket: operand = try element(of: tree, depth)
      default: return operand
      }
    }
    return operand
  }

  private mutating func keyPath(from base: ExpressionTree, _ depth: Int) throws -> Operand {
    var names: [String] = []
    if case .keyPath(let first) = base { names = first }
    while token.kind == .dot {
      try advance()
      names.append(try step())
    }
    if case .keyPath = base { return .expression(.keyPath(names), depth: depth) }
    return .expression(.keyPathOf(base, names), depth: try deeper(depth))
  }

  private mutating func element(of base: ExpressionTree, _ depth: Int) throws -> Operand {
    try advance()
    let (index, indexDepth) = try elementIndex()
    try expect(.closeBracket, "]")
    return .expression(.element(of: base, index), depth: try deeper(max(depth, indexDepth)))
  }

  /// A name after a dot; reserved words can only be names there.
  private mutating func step() throws -> String {
    switch token.kind {
    case .identifier, .collectionOperator, .hashIdentifier: break
    case .placeholder:
      guard FormatPlaceholder(letter: lexer.bytes[token.end - 1]) == .key else {
        throw lexer.error("only %K can stand for a step of a key path", at: token.start)
      }
      return try hole()
    case _ where token.kind.isKeyword: break
    default: throw lexer.error("a name is missing after \".\"", at: token.start)
    }
    return try name()
  }

  /// The text of a name, without its `#`.
  private mutating func name() throws -> String {
    let start = token.start + (token.kind == .hashIdentifier ? 1 : 0)
    let text = String(decoding: lexer.bytes[start..<token.end], as: UTF8.self)
    try advance()
    return text
  }

  private mutating func elementIndex() throws -> (ExpressionTree.ElementIndex, Int) {
    let word: ExpressionTree.ElementIndex? =
      switch token.kind {
      case .first: .first
      case .last: .last
      case .size: .size
      default: nil
      }
    if let word {
      var ahead = lexer
      if try ahead.next().kind == .closeBracket {
        try advance()
        return (word, 0)
      }
    }
    let (tree, depth) = try nextExpression(.set)
    return (.at(tree), depth)
  }

  // MARK: Atoms

  private mutating func atom() throws -> Operand {
    switch token.kind {
    case .openParenthesis: return try parenthesised()
    case .openBrace: return try list()
    case .identifier, .hashIdentifier, .first, .last, .size, .union, .intersect, .minus, .caseInsensitive:
      return try namedAtom()
    case .collectionOperator: return .expression(.keyPath([try name()]), depth: 1)
    case .variable: return try variable()
    case .number, .string, .placeholder, .nil, .true, .false, .self, .anyKey: return try literal()
    case .subquery, .fetch, .cast, .function, .ternary: return try form()
    default: throw missingOperand()
    }
  }

  private mutating func parenthesised() throws -> Operand {
    let open = token
    try advance()
    let inner = try parse(.or)
    guard token.kind == .closeParenthesis else { throw unclosed(open) }
    try advance()
    return inner
  }

  private func unclosed(_ open: PredicateToken) -> PredicateFormatError {
    if token.kind == .end { return lexer.error("\")\" is missing", at: token.start) }
    let place = lexer.error("", at: open.start).offset
    return lexer.error(
      "\")\" is missing before \"\(lexer.text(token))\", for the \"(\" at \(place)", at: token.start)
  }

  private mutating func list() throws -> Operand {
    try advance()
    let (elements, depth) = try expressions(until: .closeBrace, "}")
    return .expression(.list(elements), depth: try deeper(depth))
  }

  private mutating func literal() throws -> Operand {
    switch token.kind {
    case .number:
      let value = try NumberLiteral.value(of: lexer.bytes[token.start..<token.end]) {
        lexer.error($0, at: token.start)
      }
      return try word(.constant(value))
    case .string:
      let text = try StringLiteral.text(of: lexer.bytes[token.start..<token.end]) {
        lexer.error($0, at: token.start + $1)
      }
      return try word(.constant(.string(text)))
    case .placeholder:
      let kind = FormatPlaceholder(letter: lexer.bytes[token.end - 1])
      let marker = try hole()
      return .expression(kind == .key ? .keyPath([marker]) : .variable(marker), depth: 1)
    case .nil: return try word(.constant(.null))
    case .true: return try word(.constant(.bool(true)))
    case .false: return try word(.constant(.bool(false)))
    case .self: return try word(.evaluatedObject)
    default: return try word(.anyKey)
    }
  }

  private mutating func word(_ tree: ExpressionTree) throws -> Operand {
    try advance()
    return .expression(tree, depth: 1)
  }

  private mutating func hole() throws -> String {
    let letter = lexer.bytes[token.end - 1]
    holes.append(.init(kind: FormatPlaceholder(letter: letter) ?? .any, byte: token.start))
    try advance()
    return FormatPlaceholder.marker(holes.count - 1)
  }

  private mutating func variable() throws -> Operand {
    let text = String(decoding: lexer.bytes[token.start + 1..<token.end], as: UTF8.self)
    try advance()
    guard token.kind == .assign else { return .expression(.variable(text), depth: 1) }
    try advance()
    let (value, depth) = try nextExpression(.set)
    return .expression(.assignment(text, value), depth: try deeper(depth))
  }

  private func missingOperand() -> PredicateFormatError {
    switch token.kind {
    case .typeConforms, .typeEquals: return missingComparison()
    case .percent: return lexer.error("a percent sign is no operand", at: token.start)
    default: break
    }
    var message =
      previous.map { "an operand is missing after \"\(lexer.text($0))\"" }
      ?? "an operand is missing before \"\(lexer.text(token))\""
    if token.kind.isKeyword {
      message += "; a property of that name is written #\(lexer.text(token))"
    }
    return lexer.error(message, at: token.start)
  }

  /// Expressions between commas, and the word that closes them.
  mutating func expressions(
    until close: PredicateToken.Kind, _ text: String
  ) throws -> ([ExpressionTree], Int) {
    var result: [ExpressionTree] = []
    var greatest = 0
    if token.kind != close {
      while true {
        let (tree, depth) = try nextExpression(.set)
        result.append(tree)
        greatest = max(greatest, depth)
        guard token.kind == .comma else { break }
        try advance()
      }
    }
    try expect(close, text)
    return (result, greatest)
  }

  // MARK: Names and functions

  /// A key path's first step, or a call: `sum(x)`, `sum:(x)`, `modulus:by:(a, b)`, `now()`.
  private mutating func namedAtom() throws -> Operand {
    let start = token
    var name = try name()
    guard start.kind != .hashIdentifier, token.kind == .colon || token.kind == .openParenthesis else {
      return .expression(.keyPath([name]), depth: 1)
    }
    let isBare = token.kind == .openParenthesis
    while token.kind == .colon {
      name += ":"
      try advance()
      if token.kind == .identifier || token.kind.isKeyword { name += try self.name() }
    }
    try expect(.openParenthesis, "(")
    let (arguments, depth) = try expressions(until: .closeParenthesis, ")")
    if isBare, !arguments.isEmpty { name += ":" }
    try check(name, arguments.count, at: start)
    if name == PredicateFunctions.cast {
      return .expression(.cast(arguments[0], to: arguments[1]), depth: try deeper(depth))
    }
    return .expression(.function(name, arguments), depth: try deeper(depth))
  }

  private func check(_ name: String, _ count: Int, at start: PredicateToken) throws {
    guard let counts = PredicateFunctions.argumentCount(of: name) else {
      throw lexer.error("there is no function \"\(name)\"", at: start.start)
    }
    guard counts.contains(count) else {
      throw lexer.error("\"\(name)\" takes \(counts.lowerBound) arguments, not \(count)", at: start.start)
    }
  }
}
