// Random predicates with functions, with collections and with subqueries. Most fit their entity; where a path has
// the wrong type for its place, both stores have to refuse it.

import CairnModel
import Foundation

extension RandomPredicate {

  /// A path to a value of one of `families`, if one is found soon.
  private func path(
    _ random: inout SplitMix64, to families: ValueType.Family...
  ) -> (names: [String], type: ValueType) {
    for _ in 0..<8 {
      let found = path(&random)
      if families.contains(found.type.family) { return found }
    }
    return path(&random)
  }

  // MARK: Functions

  func ofExpressions(_ random: inout SplitMix64) -> PredicateTree {
    let op = orderOperator(&random)
    switch random.below(12) {
    case ..<4:
      return .comparison(.init(number(&random, depth: 2), op, number(&random, depth: 1)))
    case 4:
      let text = ExpressionTree.keyPath(path(&random, to: .string).names)
      let function = random.pick(["uppercase:", "lowercase:"])
      return .comparison(.init(.function(function, [text]), op, constant(&random, .string)))
    case 5:
      let (a, b) = (path(&random, to: .string).names, path(&random, to: .string).names)
      let options = StringOptions(rawValue: UInt8(random.below(16)))
      return .comparison(
        .init(
          .keyPath(a), random.pick([.beginsWith, .endsWith, .contains, .like, .equal, .less, .isIn]),
          random.chance(20) ? constant(&random, .string) : .keyPath(b), options: options))
    case 6:
      let (names, type) = path(&random)
      let list = (0..<random.below(4)).map { _ in
        random.chance(50) ? .keyPath(path(&random).names) : constant(&random, type)
      }
      return .comparison(.init(.keyPath(names), .isIn, .list(list)))
    case 7:
      let (names, type) = path(&random)
      return .comparison(
        .init(
          .keyPath(names), .between,
          .list([constant(&random, type), .keyPath(path(&random, to: type.family).names)])))
    case 8:
      let (names, type) = path(&random)
      let value = ExpressionTree.conditional(
        .compare(path(&random, to: .number).names.joined(separator: "."), .greater, 1), .keyPath(names),
        constant(&random, type))
      return .comparison(.init(value, op, constant(&random, type)))
    case 9:
      let names = path(&random, to: .date).names
      return .comparison(.init(.function("now", []), op, .keyPath(names)))
    case 10:
      let (names, _) = path(&random, to: .string, .date, .number)
      return .comparison(
        .init(
          .function("castObject:toType:", [.keyPath(names), .constant("NSNumber")]), op,
          constant(&random, .int32)))
    default:
      return .comparison(
        .init(
          constant(&random, .string), random.pick([.beginsWith, .like, .isIn, .contains]),
          .keyPath(path(&random, to: .string).names)))
    }
  }

  private func number(_ random: inout SplitMix64, depth: Int) -> ExpressionTree {
    if depth == 0 || random.chance(20) {
      if random.chance(60) { return .keyPath(path(&random, to: .number).names) }
      // A tenth is no double.
      if random.chance(20) { return .constant(.decimal(Decimal(random.below(40)) / 10)) }
      return constant(&random, random.pick([.int32, .double, .decimal]))
    }
    switch random.below(10) {
    case 0: return .function("length:", [.keyPath(path(&random, to: .string).names)])
    case 1: return .function("abs:", [number(&random, depth: depth - 1)])
    case 2:
      let elements = (0..<1 + random.below(3)).map { _ in number(&random, depth: depth - 1) }
      // One value is no collection, and has to be refused.
      let isList = elements.count == 1 ? random.chance(90) : random.chance(30)
      return .function(random.pick(["min:", "max:", "sum:"]), isList ? [.list(elements)] : elements)
    case 3, 4: return bits(&random, depth: depth)
    default:
      let name = random.pick([
        "add:to:", "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:",
      ])
      return .function(name, [number(&random, depth: depth - 1), number(&random, depth: depth - 1)])
    }
  }

  /// Operations on bits, mostly of operands that plainly are whole numbers; where one may have a fraction, every
  /// store has to refuse it.
  private func bits(_ random: inout SplitMix64, depth: Int) -> ExpressionTree {
    if depth == 0 || random.chance(15) {
      switch random.below(16) {
      case 0: return constant(&random, random.pick([.double, .decimal]))
      case 1: return .keyPath(path(&random, to: .number).names)
      case 2: return .function("length:", [.keyPath(path(&random, to: .string).names)])
      case ..<7: return constant(&random, .int32)
      default:
        for _ in 0..<8 {
          let (names, type) = path(&random)
          if [.int16, .int32, .int64, .bool].contains(type) { return .keyPath(names) }
        }
        return constant(&random, .int32)
      }
    }
    let first = bits(&random, depth: depth - 1)
    if random.chance(15) { return .function("onesComplement:", [first]) }
    let name = random.pick([
      "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
    ])
    return .function(name, [first, bits(&random, depth: depth - 1)])
  }

  // MARK: Collections

  /// A path over one to-many relationship, now and then over two, with to-one steps before it.
  private func collection(_ random: inout SplitMix64) -> (names: [String], destination: EntityID)? {
    var names: [String] = []
    var current = schema[entity]
    var steps = 0
    for _ in 0..<4 {
      let next = current.relationships.map { schema[$0] }.filter {
        $0.storage != .none && ($0.isToMany || steps == 0 && random.chance(30))
      }
      guard !next.isEmpty else { break }
      let relation = random.pick(next)
      names.append(relation.name)
      current = schema[relation.destination]
      if relation.isToMany { steps += 1 }
      if steps > 0, !random.chance(15) { break }
    }
    return steps > 0 ? (names, current.id) : nil
  }

  func ofCollections(_ random: inout SplitMix64, depth: Int) -> PredicateTree {
    guard let (names, destination) = collection(&random) else { return ofExpressions(&random) }
    let members = ExpressionTree.keyPath(names)
    let inner = RandomPredicate(schema, destination)
    let (rest, type) = inner.path(&random)
    let values = ExpressionTree.keyPath(names + rest)
    let op = orderOperator(&random)
    let key = ExpressionTree.constant(.key(Int64(1 + random.below(40))))
    switch random.below(12) {
    case ..<3:
      return .comparison(
        .init(
          values, op, random.chance(25) ? .keyPath(path(&random).names) : inner.constant(&random, type),
          modifier: random.pick([.any, .any, .all])))
    case 3: return .comparison(.init(members, op, key, modifier: random.pick([.any, .all])))
    case 4:
      return random.chance(50)
        ? .comparison(.init(key, .isIn, members))
        : .comparison(.init(values, .contains, inner.constant(&random, type)))
    case 5:
      return .comparison(.init(.keyPath(path(&random).names), .isIn, values))
    case 6, 7:
      let count = ExpressionTree.keyPath(names + ["@count"])
      return .comparison(
        .init(
          count, op, random.chance(20) ? number(&random, depth: 1) : .constant(.int(Int64(random.below(4))))))
    case 8:
      let function = random.pick(
        type.family == .number ? ["@sum", "@avg", "@min", "@max"] : ["@min", "@max"])
      return .comparison(.init(.keyPath(names + [function] + rest), op, inner.constant(&random, type)))
    default: return subquery(&random, names, destination, depth)
    }
  }

  private func subquery(
    _ random: inout SplitMix64, _ names: [String], _ destination: EntityID, _ depth: Int
  ) -> PredicateTree {
    let inner = RandomPredicate(schema, destination)
    let variable = "x\(depth)"
    let (element, type) = inner.path(&random)
    let left = ExpressionTree.keyPathOf(.variable(variable), element)
    let op = orderOperator(&random)
    var condition: PredicateTree
    switch random.below(5) {
    case 0: condition = .comparison(.init(left, op, .keyPath(path(&random, to: type.family).names)))
    case 1: condition = .comparison(.init(.variable(variable), .notEqual, .evaluatedObject))
    default: condition = .comparison(.init(left, op, inner.constant(&random, type)))
    }
    if random.chance(20), let (names, _) = inner.collection(&random) {
      // A collection of the element, within the condition.
      let nested = ExpressionTree.subquery(
        .keyPathOf(.variable(variable), names), variable: "y",
        .comparison(
          .init(.variable("y"), .notEqual, random.chance(50) ? .variable(variable) : .evaluatedObject)))
      condition = .and([condition, .comparison(.init(.keyPathOf(nested, ["@count"]), op, .constant(1)))])
    }
    let found = ExpressionTree.subquery(.keyPath(names), variable: variable, condition)
    if random.chance(20) {
      return .comparison(.init(.keyPathOf(found, element), op, inner.constant(&random, type), modifier: .any))
    }
    return .comparison(
      .init(.keyPathOf(found, ["@count"]), op, .constant(.int(Int64(random.below(3))))))
  }
}
