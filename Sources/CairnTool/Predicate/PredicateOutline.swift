// A predicate's tree as indented lines: one line a node, with its kind first.

import Cairn

/// The outline of a tree.
struct PredicateOutline {
  private(set) var text = ""

  init(_ tree: PredicateTree) { add(tree, 0) }

  private mutating func line(_ text: String, _ depth: Int) {
    self.text += String(repeating: "  ", count: depth) + text + "\n"
  }

  private mutating func add(_ tree: PredicateTree, _ depth: Int) {
    switch tree {
    case .constant, .opaque: line(tree.canonicalFormat, depth)
    case .and(let parts):
      line("AND", depth)
      for part in parts { add(part, depth + 1) }
    case .or(let parts):
      line("OR", depth)
      for part in parts { add(part, depth + 1) }
    case .not(let part):
      line("NOT", depth)
      add(part, depth + 1)
    case .comparison(let comparison):
      let modifier = comparison.modifier == .direct ? "" : "\(comparison.modifier)".uppercased() + " "
      line(modifier + comparison.op.symbol + comparison.options.canonicalText, depth)
      add(comparison.left, depth + 1)
      add(comparison.right, depth + 1)
    }
  }

  private mutating func add(_ tree: ExpressionTree, _ depth: Int) {
    switch tree {
    case .constant(let value): line("\(PredicateOutline.kind(value)) \(tree.canonicalFormat)", depth)
    case .object: line("object \(tree.canonicalFormat)", depth)
    case .evaluatedObject, .anyKey: line(tree.canonicalFormat, depth)
    case .keyPath: line("key path \(tree.canonicalFormat)", depth)
    case .variable: line("variable \(tree.canonicalFormat)", depth)
    case .list(let elements):
      add(elements.isEmpty ? "empty list" : "list of \(elements.count)", elements, depth)
    case .keyPathOf(let base, let names): add("key path .\(names.joined(separator: ".")) of", [base], depth)
    case .function(let name, let arguments): add("function \(name)", arguments, depth)
    case .call(let target, let selector, let arguments): add("call \(selector)", [target] + arguments, depth)
    case .element(let base, .first): add("first element of", [base], depth)
    case .element(let base, .last): add("last element of", [base], depth)
    case .element(let base, .size): add("size of", [base], depth)
    case .element(let base, .at(let place)): add("element of, at", [base, place], depth)
    case .conditional(let condition, let then, let otherwise):
      line("conditional", depth)
      add(condition, depth + 1)
      add(then, depth + 1)
      add(otherwise, depth + 1)
    case .subquery(let collection, let variable, let condition):
      line("subquery, each $\(variable) of", depth)
      add(collection, depth + 1)
      add(condition, depth + 1)
    case .setOperation(let op, let left, let right): add("\(op)", [left, right], depth)
    case .assignment(let name, let value): add("assignment to $\(name)", [value], depth)
    case .fetch(let request, let context, let countOnly):
      add(countOnly ? "count of a fetch" : "fetch", [request, context], depth)
    case .opaque(_, let arguments): add("block", arguments, depth)
    }
  }

  private mutating func add(_ title: String, _ parts: [ExpressionTree], _ depth: Int) {
    line(title, depth)
    for part in parts { add(part, depth + 1) }
  }

  private static func kind(_ value: Value) -> String {
    switch value {
    case .null: "constant"
    case .int: "integer"
    case .bool: "truth value"
    default: value.family.map { "\($0)" } ?? "constant"
    }
  }
}
