// The door to the format language: strings and arguments in, trees out, with a cache of parsed formats between.

/// Parses the format strings of predicates and expressions.
///
/// Both functions may be called from any thread. What a format string parses to is kept for the next call with
/// the same string: the last thousand or so, as long as they are short.
public enum PredicateFormat {
  /// The predicate that `format` says, with `arguments` in the places of its placeholders, in order.
  ///
  /// - `%@` takes any expression: a constant, a list, an object, or an expression that is spliced in.
  /// - `%K` takes a `.constant(.string)` that names a key path; a `$` in it is part of a name.
  /// - `%d`, `%f` and their like take a number; `%c`, `%s`, `%S` a string, `%c` also the number of a scalar.
  ///
  /// Surplus arguments are ignored, as in Core Data. Throws `PredicateFormatError` for a format that is none,
  /// too few arguments, or one that doesn't fit. The tree is at most 100 deep, whatever the format; trees within
  /// arguments come on top of that.
  public static func parse(_ format: String, arguments: [ExpressionTree] = []) throws -> PredicateTree {
    if let template = cache.template(for: format, .predicate), case .predicate(let tree) = template.root {
      return try template.filled(tree, with: arguments)
    }
    var parser = try PredicateParser(format)
    let tree = try parser.parsePredicate()
    let template = FormatTemplate(
      format: format, root: .predicate(tree), holes: parser.holes, hasEscapes: parser.hasEscapes)
    cache.keep(template)
    return try template.filled(tree, with: arguments)
  }

  /// The same for the text of an expression.
  public static func parseExpression(
    _ format: String, arguments: [ExpressionTree] = []
  ) throws -> ExpressionTree {
    if let template = cache.template(for: format, .expression), case .expression(let tree) = template.root {
      return try template.filled(tree, with: arguments)
    }
    var parser = try PredicateParser(format)
    let tree = try parser.parseExpression()
    let template = FormatTemplate(
      format: format, root: .expression(tree), holes: parser.holes, hasEscapes: parser.hasEscapes)
    cache.keep(template)
    return try template.filled(tree, with: arguments)
  }

  private static let cache = FormatCache()
}

/// A parsed format with holes for its arguments.
struct FormatTemplate: Sendable {
  struct Hole: Sendable {
    var kind: FormatPlaceholder
    /// Where it stands in the format, for errors.
    var byte: Int
  }

  enum Root: Sendable {
    case predicate(PredicateTree)
    case expression(ExpressionTree)
  }

  let format: String
  let root: Root
  let holes: [Hole]
  let hasEscapes: Bool

  func filled(_ tree: PredicateTree, with arguments: [ExpressionTree]) throws -> PredicateTree {
    if holes.isEmpty, !hasEscapes { return tree }
    try check(arguments)
    return fill(tree, arguments)
  }

  func filled(_ tree: ExpressionTree, with arguments: [ExpressionTree]) throws -> ExpressionTree {
    if holes.isEmpty, !hasEscapes { return tree }
    try check(arguments)
    return fill(tree, arguments)
  }

  private func check(_ arguments: [ExpressionTree]) throws {
    for (number, hole) in holes.enumerated() {
      guard number < arguments.count else {
        throw PredicateLexer(format).error(
          "there are \(holes.count) placeholders and \(arguments.count) arguments", at: hole.byte)
      }
      if !hole.kind.accepts(arguments[number]) {
        throw PredicateLexer(format).error(
          "this placeholder needs \(hole.kind.requirement), not \(arguments[number].canonicalFormat)",
          at: hole.byte)
      }
    }
  }

  private func fill(_ tree: PredicateTree, _ arguments: [ExpressionTree]) -> PredicateTree {
    switch tree {
    case .comparison(var comparison):
      comparison.left = fill(comparison.left, arguments)
      comparison.right = fill(comparison.right, arguments)
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { fill($0, arguments) })
    case .or(let parts): return .or(parts.map { fill($0, arguments) })
    case .not(let part): return .not(fill(part, arguments))
    case .constant, .opaque: return tree
    }
  }

  private func fill(_ tree: ExpressionTree, _ arguments: [ExpressionTree]) -> ExpressionTree {
    switch tree {
    case .constant, .object, .evaluatedObject, .anyKey, .opaque: return tree
    case .list(let elements): return .list(elements.map { fill($0, arguments) })
    case .keyPath(let names): return .keyPath(fill(names, arguments))
    case .keyPathOf(let base, let names): return .keyPathOf(fill(base, arguments), fill(names, arguments))
    case .variable(let name):
      guard let number = FormatPlaceholder.number(of: name) else { return tree }
      if holes[number].kind == .text, case .constant(.int(let code)) = arguments[number] {
        return .constant(.string(String(Unicode.Scalar(UInt32(clamping: code)) ?? "\u{FFFD}")))
      }
      return arguments[number]
    case .function(let name, let parts):
      let filled = parts.map { fill($0, arguments) }
      return name == PredicateFunctions.cast
        ? .cast(filled[0], to: filled[1]) : .function(name, filled)
    case .call(let target, let selector, let parts):
      let name: String
      if let number = FormatPlaceholder.number(of: selector),
        case .constant(.string(let text)) = arguments[number]
      {
        name = text
      } else {
        name = FormatPlaceholder.unescaped(selector)
      }
      return .call(fill(target, arguments), selector: name, parts.map { fill($0, arguments) })
    case .element(let collection, .at(let index)):
      return .element(of: fill(collection, arguments), .at(fill(index, arguments)))
    case .element(let collection, let index): return .element(of: fill(collection, arguments), index)
    case .conditional(let condition, let first, let second):
      return .conditional(fill(condition, arguments), fill(first, arguments), fill(second, arguments))
    case .subquery(let collection, let variable, let condition):
      return .subquery(fill(collection, arguments), variable: variable, fill(condition, arguments))
    case .setOperation(let op, let left, let right):
      return .setOperation(op, fill(left, arguments), fill(right, arguments))
    case .assignment(let name, let value): return .assignment(name, fill(value, arguments))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        request: fill(request, arguments), context: fill(context, arguments), countOnly: countOnly)
    }
  }

  private func fill(_ names: [String], _ arguments: [ExpressionTree]) -> [String] {
    guard names.contains(where: { $0.utf8.first == 0 }) else { return names }
    return names.flatMap { name -> [String] in
      guard let number = FormatPlaceholder.number(of: name),
        case .constant(.string(let text)) = arguments[number]
      else { return [name] }
      return text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
  }
}

/// Templates by their format, in two generations: when the younger is full, the older is dropped.
private final class FormatCache: Sendable {
  enum Kind: Hashable { case predicate, expression }

  private struct State {
    var young: [String: FormatTemplate] = [:]
    var old: [String: FormatTemplate] = [:]
  }

  private static let generationSize = 512
  private static let longestFormat = 1024

  private let predicates = Lock(State())
  private let expressions = Lock(State())

  func template(for format: String, _ kind: Kind) -> FormatTemplate? {
    (kind == .predicate ? predicates : expressions).withLock { state in
      // Composed and decomposed letters are one key, and two formats.
      func isSame(_ found: FormatTemplate) -> Bool { found.format.utf8.elementsEqual(format.utf8) }
      if let found = state.young[format] { return isSame(found) ? found : nil }
      guard let found = state.old[format], isSame(found) else { return nil }
      FormatCache.insert(found, into: &state)
      return found
    }
  }

  func keep(_ template: FormatTemplate) {
    guard template.format.utf8.count <= FormatCache.longestFormat else { return }
    switch template.root {
    case .predicate: predicates.withLock { FormatCache.insert(template, into: &$0) }
    case .expression: expressions.withLock { FormatCache.insert(template, into: &$0) }
    }
  }

  private static func insert(_ template: FormatTemplate, into state: inout State) {
    if state.young.count >= generationSize {
      state.old = state.young
      state.young = [:]
    }
    state.young[template.format] = template
  }
}
