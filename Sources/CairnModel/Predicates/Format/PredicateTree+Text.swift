// Trees to canonical text: what `predicateFormat` shows. The work waits on a list and not on the stack, so that
// trees of any depth print.

import Foundation

extension PredicateTree {
  /// The predicate in Core Data's canonical form, which parses to the same tree again, except that
  ///
  /// - what has no text shows its own: objects, UUIDs, URIs, bytes, blocks;
  /// - times are rounded to microseconds, and decimals with a fraction come back as doubles;
  /// - names that hold what no name in a text can (`%K` makes them) show as they are;
  /// - an AND or OR of fewer than two parts shows as what it means.
  public var canonicalFormat: String {
    var printer = TreePrinter()
    return printer.print(.predicate(self))
  }
}

extension ExpressionTree {
  /// The expression in canonical form: see `PredicateTree.canonicalFormat`.
  public var canonicalFormat: String {
    var printer = TreePrinter()
    return printer.print(.expression(self, isOperand: false))
  }
}

private struct TreePrinter {
  enum Piece {
    case text(String)
    case predicate(PredicateTree)
    /// In parentheses if it is an AND or an OR.
    case part(PredicateTree)
    /// `isOperand`: in parentheses if it is an operation itself.
    case expression(ExpressionTree, isOperand: Bool)
    /// What a dot or a bracket follows.
    case base(ExpressionTree)
  }

  private var result = ""
  /// What is still to print, the next one last.
  private var pieces: [Piece] = []

  mutating func print(_ root: Piece) -> String {
    pieces = [root]
    while let piece = pieces.popLast() {
      switch piece {
      case .text(let text): result += text
      case .predicate(let tree): print(tree)
      case .part(let tree): printPart(tree)
      case .expression(let tree, let isOperand): print(tree, isOperand: isOperand)
      case .base(let tree): printBase(tree)
      }
    }
    return result
  }

  private mutating func push(_ next: Piece...) { pieces.append(contentsOf: next.reversed()) }

  private mutating func push(all next: [Piece]) { pieces.append(contentsOf: next.reversed()) }

  /// Pieces with a text between each two, then a last one.
  private mutating func push(_ list: [Piece], between separator: String, _ end: String) {
    pieces.append(.text(end))
    for (index, piece) in list.enumerated().reversed() {
      pieces.append(piece)
      if index > 0 { pieces.append(.text(separator)) }
    }
  }

  // MARK: Predicates

  private mutating func print(_ tree: PredicateTree) {
    switch tree {
    case .constant(let value): result += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .opaque(let object): result += object.object.canonicalText
    case .and(let parts) where parts.isEmpty: result += "TRUEPREDICATE"
    case .or(let parts) where parts.isEmpty: result += "FALSEPREDICATE"
    case .and(let parts): push(parts.map { .part($0) }, between: " AND ", "")
    case .or(let parts): push(parts.map { .part($0) }, between: " OR ", "")
    case .not(let part): push(.text("NOT "), .part(part))
    case .comparison(let c):
      switch c.modifier {
      case .direct: break
      case .any: result += "ANY "
      case .all: result += "ALL "
      }
      push(
        .expression(c.left, isOperand: false), .text(" " + c.op.symbol + c.options.canonicalText + " "),
        .expression(c.right, isOperand: false))
    }
  }

  private mutating func printPart(_ tree: PredicateTree) {
    switch tree {
    case .and(let parts) where !parts.isEmpty, .or(let parts) where !parts.isEmpty:
      push(.text("("), .predicate(tree), .text(")"))
    default: print(tree)
    }
  }

  // MARK: Expressions

  private mutating func print(_ tree: ExpressionTree, isOperand: Bool) {
    switch tree {
    case .constant(let value): result += value.canonicalText
    case .object(let object): result += object.object.canonicalText
    case .list(let elements):
      result += "{"
      push(elements.map { .expression($0, isOperand: false) }, between: ", ", "}")
    case .keyPath(let names): result += names.map(TreePrinter.step).joined(separator: ".")
    case .keyPathOf(let base, let names):
      push(.base(base), .text(names.map { "." + TreePrinter.step($0) }.joined()))
    case .evaluatedObject: result += "SELF"
    case .variable(let name): result += "$" + name
    case .function(let name, let arguments): print(name, arguments, isOperand)
    case .call(let target, let selector, let arguments):
      push(
        all: [.text("FUNCTION("), .expression(target, isOperand: false)]
          + [.text(", \(Value.string(selector).canonicalText) ")]
          + arguments.flatMap { [.text(", "), .expression($0, isOperand: false)] } + [.text(")")])
    case .element(let collection, let index):
      switch index {
      case .first: push(.base(collection), .text("[FIRST]"))
      case .last: push(.base(collection), .text("[LAST]"))
      case .size: push(.base(collection), .text("[SIZE]"))
      case .at(.keyPath(let names)) where names.count == 1 && TreePrinter.isContextual(names[0]):
        push(.base(collection), .text("[#\(names[0])]"))
      case .at(let index):
        push(.base(collection), .text("["), .expression(index, isOperand: false), .text("]"))
      }
    case .conditional(let condition, let first, let second):
      push(
        .text("TERNARY("), .predicate(condition), .text(", "), .expression(first, isOperand: false),
        .text(", "), .expression(second, isOperand: false), .text(")"))
    case .subquery(let collection, let variable, let condition):
      push(
        .text("SUBQUERY("), .expression(collection, isOperand: false), .text(", $\(variable), "),
        .predicate(condition), .text(")"))
    case .setOperation(let op, let left, let right):
      printInfix(left, "\(op)".uppercased(), right, isOperand)
    case .assignment(let name, let value):
      push(
        .text(isOperand ? "($\(name) := " : "$\(name) := "), .expression(value, isOperand: false),
        .text(isOperand ? ")" : ""))
    case .fetch(let request, let context, let countOnly):
      push(
        .text("FETCH("), .expression(request, isOperand: false), .text(", "),
        .expression(context, isOperand: false), .text(countOnly ? ", YES)" : ", NO)"))
    case .anyKey: result += "ANYKEY"
    case .opaque(let object, _): result += object.object.canonicalText
    }
  }

  private mutating func print(_ name: String, _ arguments: [ExpressionTree], _ isOperand: Bool) {
    if arguments.count == 2, let sign = PredicateFunctions.infix(name) {
      return printInfix(arguments[0], sign, arguments[1], isOperand)
    }
    if arguments.count == 1, name == PredicateFunctions.complement {
      return push(.text("~"), .expression(arguments[0], isOperand: true))
    }
    result += name == PredicateFunctions.cast ? "CAST(" : name + "("
    push(arguments.map { .expression($0, isOperand: false) }, between: ", ", ")")
  }

  private mutating func printInfix(
    _ left: ExpressionTree, _ sign: String, _ right: ExpressionTree, _ isOperand: Bool
  ) {
    push(
      .text(isOperand ? "(" : ""), .expression(left, isOperand: true), .text(" \(sign) "),
      .expression(right, isOperand: true), .text(isOperand ? ")" : ""))
  }

  private mutating func printBase(_ tree: ExpressionTree) {
    let needsParentheses: Bool
    switch tree {
    case .constant(let value): needsParentheses = value.canonicalText.hasPrefix("-")
    case .function(PredicateFunctions.complement, _): needsParentheses = true
    default: return print(tree, isOperand: true)
    }
    if needsParentheses {
      push(.text("("), .expression(tree, isOperand: false), .text(")"))
    } else {
      print(tree, isOperand: false)
    }
  }

  // MARK: Names

  /// A step of a key path: with `#` where it would be read as something else, or not at all.
  private static func step(_ name: String) -> String {
    guard let first = name.unicodeScalars.first, first != "@", first != "$" else { return name }
    if let keyword = PredicateToken.keyword(name) { return keyword.isContextual ? name : "#" + name }
    if first.isASCII { return name }
    return name.unicodeScalars.allSatisfy(PredicateLexer.continuesName) ? "#" + name : name
  }

  private static func isContextual(_ name: String) -> Bool {
    PredicateToken.keyword(name)?.isContextual ?? false
  }
}

extension ComparisonOperator {
  /// The operator as canonical text shows it.
  public var symbol: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .between: "BETWEEN"
    case .isIn: "IN"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .contains: "CONTAINS"
    case .like: "LIKE"
    case .matches: "MATCHES"
    }
  }
}

extension StringOptions {
  /// `[cdnl]` with the letters that are set, nothing where none is.
  public var canonicalText: String {
    if isEmpty { return "" }
    var letters = ""
    if contains(.caseInsensitive) { letters += "c" }
    if contains(.diacriticInsensitive) { letters += "d" }
    if contains(.normalized) { letters += "n" }
    if contains(.localeSensitive) { letters += "l" }
    return "[\(letters)]"
  }
}

extension Value {
  /// The value as canonical text shows it.
  public var canonicalText: String {
    switch self {
    case .null: "nil"
    case .int(let x): String(x)
    case .bool(let x): x ? "1" : "0"
    case .double(let x): Value.text(of: x)
    case .float(let x): Value.text(of: Double(x))
    case .decimal(let x): x.isNaN ? Value.text(of: .nan) : x.description
    case .string(let x): Value.quoted(x)
    case .date(let x): "CAST(\(String(format: "%f", x.timeIntervalSinceReferenceDate)), \"NSDate\")"
    case .data(let x): "<\(x.map { String(format: "%02x", $0) }.joined())>"
    case .uuid(let x): x.uuidString
    case .uri(let x): x
    case .key(let x): "<key \(x)>"
    case .composite: description
    }
  }

  /// What isn't finite has no literal: `ExpressionTree.cast` reads this back.
  private static func text(of x: Double) -> String {
    x.isFinite ? x.description : "CAST(\"\(x.isNaN ? "nan" : x > 0 ? "inf" : "-inf")\", \"NSNumber\")"
  }

  private static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }
}
