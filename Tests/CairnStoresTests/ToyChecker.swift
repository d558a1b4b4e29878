// Which predicates can be asked of rows at all, decided before any row is looked at.

import CairnModel
import Foundation

struct ToyChecker {
  let schema: Schema
  /// The entity asked, then those of the elements around, each with its variable.
  var rows: [(variable: String?, entity: EntityID)]

  /// What an expression stands for, with the families of its values; nil is null.
  enum Kind {
    case one([ValueType.Family?])
    case list([Kind])
    /// Rows, and whether a path of to-many relationships led straight to them.
    case rows(EntityID, steps: Int, isStraight: Bool)
    case values([ValueType.Family?])

    var families: [ValueType.Family?] {
      switch self {
      case .one(let families), .values(let families): families
      case .rows: [.key]
      case .list(let kinds): kinds.flatMap(\.families)
      }
    }
  }

  static func misfit(_ message: String) -> StoreError { StoreError(.unbindablePredicate, message) }

  func check(_ tree: PredicateTree) throws {
    switch tree {
    case .constant: return
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    case .comparison(let comparison): try check(comparison)
    case .opaque: throw ToyChecker.misfit("a block")
    }
  }

  private func check(_ c: PredicateTree.Comparison) throws {
    if c.options.contains(.localeSensitive), !c.options.contains(.normalized) {
      switch c.op {
      case .less, .lessOrEqual, .greater, .greaterOrEqual: throw ToyChecker.misfit("a locale's order")
      default: break
      }
    }
    let left = try kind(c.left)
    guard c.modifier != .direct else { return try check(c, left) }
    switch left {
    case .one: throw ToyChecker.misfit("ANY of one value")
    case .list(let elements): for element in elements { try check(c, element) }
    case .rows, .values: try check(c, .one(left.families))
    }
  }

  private func check(_ c: PredicateTree.Comparison, _ left: Kind) throws {
    let right = try kind(c.right)
    switch (left, right) {
    case (.one(let a), .one(let b)): try check(c, a, b)
    case (.one(let a), .list(let elements)):
      guard c.op == .isIn || c.op == .between else { throw ToyChecker.misfit("\(c.op) with a list") }
      if c.op == .between { try checkRange(c, a, elements) }
    case (.one, .rows), (.one, .values):
      if c.op != .isIn { throw ToyChecker.misfit("a collection on the right") }
    case (.rows, .one), (.values, .one), (.list, .one):
      if c.op != .contains { throw ToyChecker.misfit("a collection on the left") }
    default: throw ToyChecker.misfit("two collections")
    }
  }

  private func checkRange(
    _ c: PredicateTree.Comparison, _ left: [ValueType.Family?], _ ends: [Kind]
  ) throws {
    if ends.count != 2 { throw ToyChecker.misfit("BETWEEN needs two") }
    var isConstant = true
    if case .list(let elements) = c.right {
      isConstant = elements.allSatisfy { if case .constant = $0 { true } else { false } }
    }
    // Where one end is a constant nil, nothing is compared.
    if isConstant, ends.contains(where: { $0.families == [nil] }) { return }
    for end in ends { try checkOrder(left, end.families) }
  }

  private func checkOrder(_ a: [ValueType.Family?], _ b: [ValueType.Family?]) throws {
    for case let x? in a {
      for case let y? in b where x != y { throw ToyChecker.misfit("\(x) and \(y) have no order") }
    }
  }

  private func check(
    _ c: PredicateTree.Comparison, _ a: [ValueType.Family?], _ b: [ValueType.Family?]
  ) throws {
    switch c.op {
    case .equal, .notEqual: break
    case .less, .lessOrEqual, .greater, .greaterOrEqual: try checkOrder(a, b)
    case .between: throw ToyChecker.misfit("BETWEEN needs a list")
    case .isIn, .beginsWith, .endsWith, .contains, .like, .matches:
      let isConstant = if case .constant = c.right { true } else { false }
      if isConstant, b == [nil] {
        if c.op == .isIn { throw ToyChecker.misfit("IN nil") }
        return
      }
      for case let family? in a + b where family != .string {
        throw ToyChecker.misfit("\(c.op) of a \(family)")
      }
      if c.op == .matches {
        guard case .constant(.string(let pattern)) = c.right else { throw ToyChecker.misfit("a pattern") }
        _ = try ToyComparison.regex(pattern, c.options.contains(.normalized) ? [] : c.options)
      }
    }
  }

  // MARK: Expressions

  private func one(_ tree: ExpressionTree) throws -> [ValueType.Family?] {
    guard case .one(let families) = try kind(tree) else { throw ToyChecker.misfit("no single value") }
    return families
  }

  private func entity(_ variable: String) throws -> EntityID {
    guard let row = rows.last(where: { $0.variable == variable }) else {
      throw ToyChecker.misfit("$\(variable) has no value")
    }
    return row.entity
  }

  private func kind(_ tree: ExpressionTree) throws -> Kind {
    switch tree {
    case .constant(.composite): throw ToyChecker.misfit("a composite value can't be compared")
    case .constant(let value): return .one([value.family])
    case .object(let object):
      guard let value = object.object.storeValue else { throw ToyChecker.misfit("an object") }
      return .one([value.family])
    case .list(let elements): return .list(try elements.map { .one(try one($0)) })
    case .evaluatedObject: return .one([.key])
    case .variable(let name):
      _ = try entity(name)
      return .one([.key])
    case .keyPath(let names), .keyPathOf(.evaluatedObject, let names):
      return try path(names, rows[0].entity, steps: 0, isStraight: true)
    case .keyPathOf(.variable(let name), let names):
      return try path(names, try entity(name), steps: 0, isStraight: true)
    case .keyPathOf(let base, let names):
      guard case .rows(let entity, let steps, true) = try kind(base) else {
        throw ToyChecker.misfit("no rows")
      }
      return try path(names, entity, steps: steps, isStraight: true)
    case .conditional(let condition, let first, let second):
      try check(condition)
      return .one(try one(first) + one(second))
    case .subquery(let collection, let variable, let condition):
      guard case .rows(let entity, let steps, true) = try kind(collection) else {
        throw ToyChecker.misfit("no rows")
      }
      var inner = self
      inner.rows.append((variable, entity))
      try inner.check(condition)
      return .rows(entity, steps: steps, isStraight: true)
    case .function(let name, let arguments): return .one([try function(name, arguments)])
    default: throw ToyChecker.misfit("beyond columns")
    }
  }

  private func function(_ name: String, _ arguments: [ExpressionTree]) throws -> ValueType.Family? {
    var families: [ValueType.Family?] = []
    let isOfCollection = ["sum:", "count:", "min:", "max:", "average:"].contains(name)
    for argument in arguments {
      let found = try kind(argument)
      switch found {
      case .list where isOfCollection && arguments.count > 1: throw ToyChecker.misfit("a list among values")
      case .one where isOfCollection && arguments == [argument] && argument != .constant(.null):
        throw ToyChecker.misfit("\(name) of one value")
      case .one, .list: families += found.families
      default: throw ToyChecker.misfit("a function of a collection")
      }
    }
    func need(_ family: ValueType.Family, _ result: ValueType.Family) throws -> ValueType.Family {
      if families.contains(where: { $0 != nil && $0 != family }) { throw ToyChecker.misfit("\(name)") }
      return result
    }
    switch name {
    case "now": return .date
    case "uppercase:", "lowercase:", "canonical:": return try need(.string, .string)
    case "length:": return try need(.string, .number)
    case "min:", "max:": return families.first ?? nil
    case "castObject:toType:":
      return arguments[1] == .constant("NSDate")
        ? .date : arguments[1] == .constant("NSString") ? .string : .number
    default:
      if ToyChecker.isOfBits(name), try !arguments.allSatisfy({ try isWhole($0) }) {
        throw ToyChecker.misfit("the bits of a fraction")
      }
      return try need(.number, .number)
    }
  }

  private static func isOfBits(_ name: String) -> Bool {
    name.hasPrefix("bitwise") || name.hasSuffix("shift:by:") || name == "onesComplement:"
  }

  /// Whether it is plain that an operand is whole: the random predicates give bit operators no other ones that are.
  private func isWhole(_ tree: ExpressionTree) throws -> Bool {
    switch tree {
    case .constant(.int), .constant(.bool), .constant(.null): return true
    case .constant(.double(let x)): return Int64(exactly: x) != nil
    case .constant(.decimal(let x)): return !x.description.contains(".") && !x.isNaN
    case .function(let name, _): return name == "length:" || ToyChecker.isOfBits(name)
    case .keyPath(let names):
      var entity = rows[0].entity
      var rest = names
      while let name = rest.first, let id = schema[entity].relationship(named: name) {
        entity = schema[id].destination
        rest.removeFirst()
      }
      if rest.isEmpty { return false }
      return [.int16, .int32, .int64, .bool].contains(try ToyPath(rest, from: entity, in: schema).type)
    default: return false
    }
  }

  // MARK: Key paths

  private func path(_ names: [String], _ entity: EntityID, steps: Int, isStraight: Bool) throws -> Kind {
    var current = schema[entity]
    var steps = steps
    var isStraight = isStraight
    for (index, name) in names.enumerated() {
      let rest = Array(names[(index + 1)...])
      if name.hasPrefix("@") {
        guard steps == 1, isStraight else { throw ToyChecker.misfit("\(name)") }
        return .one([try aggregate(name, rest, current.id)])
      }
      guard let id = current.relationship(named: name) else {
        let end = names[index...].firstIndex { $0.hasPrefix("@") } ?? names.endIndex
        let slot = try ToyPath(Array(names[index..<end]), from: current.id, in: schema)
        if end < names.endIndex { throw ToyChecker.misfit("an operator on values") }
        return steps == 0 ? .one([slot.type.family]) : .values([slot.type.family])
      }
      if schema[id].isToMany { steps += 1 }
      isStraight = schema[id].isToMany
      current = schema[schema[id].destination]
    }
    if steps == 0 { return .one([.key]) }
    return isStraight ? .rows(current.id, steps: steps, isStraight: true) : .values([.key])
  }

  private func aggregate(_ name: String, _ rest: [String], _ entity: EntityID) throws -> ValueType.Family? {
    if name == "@count" {
      if !rest.isEmpty { throw ToyChecker.misfit("@count is a number") }
      return .number
    }
    guard ["@sum", "@avg", "@min", "@max"].contains(name),
      case .one(let families) = try path(rest, entity, steps: 0, isStraight: true)
    else { throw ToyChecker.misfit(name) }
    if name == "@sum" || name == "@avg", families != [.number] { throw ToyChecker.misfit(name) }
    return name == "@sum" || name == "@avg" ? .number : families[0]
  }
}
