// The meaning of predicates, spelled out row by row: what the engine's column programs are compared with.

import CairnModel
import Foundation

struct ToyInterpreter {
  let question: ToyQuestion
  let entity: EntityID

  // MARK: Whether a predicate fits

  /// Throws `unknownProperty` or `unbindablePredicate` if the tree can't be asked of the entity's rows.
  func check(_ tree: PredicateTree) throws {
    switch tree {
    case .constant: return
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    case .comparison(let comparison): try check(comparison)
    case .opaque: throw misfit("a block")
    }
  }

  private func check(_ c: PredicateTree.Comparison) throws {
    let left = try family(c.left)
    if case .list(let elements) = c.right { return try checkList(c, left, elements) }
    let right = try family(c.right)
    switch c.op {
    case .equal, .notEqual: break
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      if let left, let right, left != right { throw misfit("\(left) and \(right) have no order") }
    case .between: throw misfit("BETWEEN needs a list")
    case .isIn, .beginsWith, .endsWith, .contains, .like, .matches: try checkStrings(c, left)
    }
    if !c.options.isEmpty, case .keyPath = c.left, case .keyPath = c.right { throw misfit("options") }
  }

  private func checkStrings(_ c: PredicateTree.Comparison, _ left: ValueType.Family?) throws {
    guard case .constant(let right) = c.right else { throw misfit("\(c.op) needs a constant") }
    if right.isNull, c.op != .isIn { return }
    guard case .string(let pattern) = right else { throw misfit("\(c.op) needs a string") }
    if let left, left != .string { throw misfit("\(c.op) of a \(left)") }
    if c.op == .matches { _ = try regex(pattern, c.options) }
  }

  private func checkList(
    _ c: PredicateTree.Comparison, _ left: ValueType.Family?, _ elements: [ExpressionTree]
  ) throws {
    guard c.op == .isIn || c.op == .between else { throw misfit("\(c.op) with a list") }
    let families = try elements.map { element -> ValueType.Family? in
      guard case .constant(let value) = element else { throw misfit("a list holds constants") }
      return value.family
    }
    guard c.op == .between else { return }
    if elements.count != 2 { throw misfit("BETWEEN needs two") }
    for case let family? in families where families.allSatisfy({ $0 != nil }) {
      if let left, left != family { throw misfit("\(left) and \(family) have no order") }
    }
  }

  private func family(_ expression: ExpressionTree) throws -> ValueType.Family? {
    switch expression {
    case .constant(.composite): throw misfit("a composite value can't be compared")
    case .constant(let value): return value.family
    case .keyPath(let names): return try ToyPath(names, from: entity, in: question.schema).type.family
    case .evaluatedObject: return .key
    case .list: throw misfit("a list on the left")
    default: throw misfit("beyond the toy")
    }
  }

  private func misfit(_ message: String) -> StoreError { StoreError(.unbindablePredicate, message) }

  // MARK: Whether a row matches

  func holds(_ tree: PredicateTree, _ row: Int64) throws -> Bool {
    switch tree {
    case .constant(let value): return value
    case .and(let parts): return try parts.allSatisfy { try holds($0, row) }
    case .or(let parts): return try parts.contains { try holds($0, row) }
    case .not(let part): return try !holds(part, row)
    case .comparison(let c):
      let left = try value(c.left, row)
      if case .list(let elements) = c.right {
        return isListed(left, c.op, try elements.map { try value($0, row) })
      }
      return try compare(left, c.op, try value(c.right, row), c.options)
    case .opaque: throw misfit("a block")
    }
  }

  private func value(_ expression: ExpressionTree, _ row: Int64) throws -> Value {
    switch expression {
    case .constant(let value): value
    case .keyPath(let names):
      question.value(try ToyPath(names, from: entity, in: question.schema), row, entity)
    case .evaluatedObject: .key(row)
    default: .null
    }
  }

  private func isListed(_ left: Value, _ op: ComparisonOperator, _ elements: [Value]) -> Bool {
    if left.isNull { return false }
    if op == .isIn { return elements.contains(left) }
    return !elements.contains(.null) && elements[0] <= left && left <= elements[1]
  }

  private func compare(
    _ left: Value, _ op: ComparisonOperator, _ right: Value, _ options: StringOptions
  ) throws -> Bool {
    if left.isNull || right.isNull {
      if op == .equal { return left.isNull && right.isNull }
      if op == .notEqual { return left.isNull != right.isNull }
      return false
    }
    if case .string(let a) = left, case .string(let b) = right {
      return try compare(a, op, b, options)
    }
    return holds(op, Value.compare(left, right))
  }

  private func holds(_ op: ComparisonOperator, _ order: Int) -> Bool {
    switch op {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: false
    }
  }

  // MARK: Strings

  private func compare(
    _ text: String, _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions
  ) throws -> Bool {
    if op == .matches {
      let text = options.contains(.diacriticInsensitive) ? fold(text, .diacriticInsensitive) : text
      let whole = NSRange(text.startIndex..., in: text)
      return try regex(pattern, options).firstMatch(in: text, options: [], range: whole) != nil
    }
    let a = Array(fold(text, options).unicodeScalars)
    let b = Array(fold(pattern, options).unicodeScalars)
    switch op {
    case .beginsWith: return a.starts(with: b)
    case .endsWith: return a.reversed().starts(with: b.reversed())
    case .contains: return contains(a, b)
    case .isIn: return contains(b, a)
    case .like: return isLike(a[...], b[...])
    default: return holds(op, Value.compare(.string(fold(text, options)), .string(fold(pattern, options))))
    }
  }

  private func fold(_ text: String, _ options: StringOptions) -> String {
    if options.isEmpty { return text }
    var how: String.CompareOptions = []
    if options.contains(.caseInsensitive) { how.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { how.insert(.diacriticInsensitive) }
    return text.folding(options: how, locale: nil).decomposedStringWithCanonicalMapping
  }

  private func contains(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Bool {
    b.count <= a.count && (0...a.count - b.count).contains { a[$0...].starts(with: b) }
  }

  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ glob: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = glob.first else { return text.isEmpty }
    let rest = glob.dropFirst()
    switch first {
    case "*": return isLike(text, rest) || !text.isEmpty && isLike(text.dropFirst(), glob)
    case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
    case "\\" where !rest.isEmpty:
      return text.first == rest.first && isLike(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), rest)
    }
  }

  private func regex(_ pattern: String, _ options: StringOptions) throws -> NSRegularExpression {
    let pattern = options.contains(.diacriticInsensitive) ? fold(pattern, .diacriticInsensitive) : pattern
    do {
      return try NSRegularExpression(
        pattern: "\\A(?:\(pattern))\\z", options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    } catch {
      throw misfit("\"\(pattern)\" is no regular expression")
    }
  }
}
