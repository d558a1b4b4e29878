// The meaning of predicates, spelled out row by row: what the engine's column programs are compared with.

import CairnModel
import Foundation

struct ToyInterpreter {
  let question: ToyQuestion
  let entity: EntityID

  /// Throws `unknownProperty` or `unbindablePredicate` if the tree can't be asked of the entity's rows.
  func check(_ tree: PredicateTree) throws {
    try ToyChecker(schema: question.schema, rows: [(nil, entity)]).check(tree)
  }

  func holds(_ tree: PredicateTree, _ row: Int64) throws -> Bool {
    try ToyEvaluator(question: question, rows: [(nil, row, entity)]).holds(tree)
  }
}

/// What an expression stands for.
enum ToyThing {
  case one(Value)
  case list([Value])
  /// Rows of a to-many relationship.
  case rows([Int64], EntityID, isOrdered: Bool)
  /// What such rows have.
  case values([Value], isOrdered: Bool)
  /// The collection of a row that isn't there.
  case absent
}

struct ToyEvaluator {
  let question: ToyQuestion
  /// The row asked, then the elements of the subqueries around, each with its variable.
  var rows: [(variable: String?, id: Int64, entity: EntityID)]

  func holds(_ tree: PredicateTree) throws -> Bool {
    switch tree {
    case .constant(let value): return value
    case .and(let parts): return try parts.allSatisfy { try holds($0) }
    case .or(let parts): return try parts.contains { try holds($0) }
    case .not(let part): return try !holds(part)
    case .opaque: throw ToyChecker.misfit("a block")
    case .comparison(let c):
      let left = try thing(c.left)
      let right = try thing(c.right)
      switch c.modifier {
      case .direct: return try holds(left, c.op, right, options(c))
      case .any: return try elements(left).contains { try holds($0, c, right) }
      case .all: return try elements(left).allSatisfy { try holds($0, c, right) }
      }
    }
  }

  private func options(_ c: PredicateTree.Comparison) -> StringOptions {
    c.options.contains(.normalized) ? [] : c.options.subtracting(.localeSensitive)
  }

  /// nil among the elements is one that equals nothing.
  private func holds(_ element: Value?, _ c: PredicateTree.Comparison, _ right: ToyThing) throws -> Bool {
    guard let element else { return c.op == .notEqual }
    return try holds(.one(element), c.op, right, options(c))
  }

  /// Of a set, those that aren't null; of an ordered collection all, null as nil.
  private func elements(_ thing: ToyThing) throws -> [Value?] {
    switch thing {
    case .one: throw ToyChecker.misfit("no collection")
    case .list(let values): return values
    case .rows(let ids, _, _): return ids.map { .key($0) }
    case .values(let values, true): return values.map { $0.isNull ? Value?.none : $0 }
    case .absent: return []
    case .values(let values, false): return values.filter { !$0.isNull }
    }
  }

  private func holds(
    _ left: ToyThing, _ op: ComparisonOperator, _ right: ToyThing, _ options: StringOptions
  ) throws -> Bool {
    switch (left, right) {
    case (.one(let a), .one(let b)): return try ToyComparison(options: options).holds(a, op, b)
    case (.one(let a), .list(let elements)) where op == .between:
      let comparison = ToyComparison(options: options)
      return try comparison.holds(a, .greaterOrEqual, elements[0])
        && comparison.holds(a, .lessOrEqual, elements[1])
    case (.one(let a), _):
      if a.isNull { return false }
      let comparison = ToyComparison(options: options)
      return try elements(right).contains {
        try $0.map { try !$0.isNull && comparison.holds($0, .equal, a) } ?? false
      }
    case (_, .one): return try holds(right, .isIn, left, options)
    default: throw ToyChecker.misfit("two collections")
    }
  }

  // MARK: Expressions

  func value(_ tree: ExpressionTree) throws -> Value {
    if case .one(let value) = try thing(tree) { return value }
    throw ToyChecker.misfit("no single value")
  }

  func thing(_ tree: ExpressionTree) throws -> ToyThing {
    switch tree {
    case .constant(let value): return .one(value)
    case .object(let object): return .one(object.object.storeValue ?? .null)
    case .list(let elements): return .list(try elements.map { try value($0) })
    case .evaluatedObject: return .one(.key(rows[0].id))
    case .variable(let name): return .one(.key(row(name).id))
    case .keyPath(let names), .keyPathOf(.evaluatedObject, let names):
      return follow(names, from: rows[0].id, rows[0].entity)
    case .keyPathOf(.variable(let name), let names):
      return follow(names, from: row(name).id, row(name).entity)
    case .keyPathOf(let base, let names):
      if case .absent = try thing(base) {
        return names.contains { $0.hasPrefix("@") } ? .one(.null) : .absent
      }
      guard case .rows(let ids, let entity, let isOrdered) = try thing(base) else {
        throw ToyChecker.misfit("no rows")
      }
      return follow(names, from: ids, entity, isOrdered)
    case .function(let name, let arguments):
      let values = try arguments.flatMap { argument -> [Value] in
        if case .list(let elements) = try thing(argument) { return elements }
        return [try value(argument)]
      }
      return .one(try ToyFunctions.apply(name, values))
    case .conditional(let condition, let first, let second):
      return .one(try value(holds(condition) ? first : second))
    case .subquery(let collection, let variable, let condition):
      if case .absent = try thing(collection) { return .absent }
      guard case .rows(let ids, let entity, let isOrdered) = try thing(collection) else {
        throw ToyChecker.misfit("no rows")
      }
      let kept = try ids.filter { id in
        var inner = self
        inner.rows.append((variable, id, entity))
        return try inner.holds(condition)
      }
      return .rows(kept, entity, isOrdered: isOrdered)
    default: throw ToyChecker.misfit("beyond columns")
    }
  }

  private func row(_ name: String) -> (variable: String?, id: Int64, entity: EntityID) {
    rows.last { $0.variable == name }!
  }

  // MARK: Key paths

  private func related(_ id: Int64, _ entity: EntityID, _ relation: RelationshipID) -> [Int64] {
    question.destinations(
      of: RowKey(entity: entity, id: id), through: question.schema[relation]
    ).map(\.id)
  }

  private func follow(_ names: [String], from id: Int64, _ entity: EntityID) -> ToyThing {
    var id = id
    var entity = entity
    var rest = names[...]
    while let name = rest.first, let relation = question.schema[entity].relationship(named: name) {
      let described = question.schema[relation]
      let found = related(id, entity, relation)
      rest = rest.dropFirst()
      if described.isToMany {
        return follow(Array(rest), from: found, described.destination, described.isOrdered)
      }
      // The key itself is what is stored; a step on from it needs the row.
      guard let next = found.first else { return nothing(rest, described.destination) }
      if rest.isEmpty { return .one(.key(next)) }
      guard question.state.rows[question.schema[described.destination].root]?[next] != nil else {
        return nothing(rest, described.destination)
      }
      (id, entity) = (next, described.destination)
    }
    return .one(rest.isEmpty ? .key(id) : attribute(Array(rest), id, entity))
  }

  private func attribute(_ names: [String], _ id: Int64, _ entity: EntityID) -> Value {
    question.state.rows[question.schema[entity].root]![id]!
      .values[question.schema[entity].slot(named: names.joined(separator: "."))!]
  }

  /// What comes of a step that leads nowhere: no value, or no elements.
  private func nothing(_ names: ArraySlice<String>, _ entity: EntityID) -> ToyThing {
    var entity = entity
    for name in names {
      if name.hasPrefix("@") { return .one(.null) }
      guard let relation = question.schema[entity].relationship(named: name) else { break }
      if question.schema[relation].isToMany {
        return names.contains { $0.hasPrefix("@") } ? .one(.null) : .absent
      }
      entity = question.schema[relation].destination
    }
    return .one(.null)
  }

  private func follow(
    _ names: [String], from ids: [Int64], _ entity: EntityID, _ isOrdered: Bool
  ) -> ToyThing {
    guard let name = names.first else { return .rows(ids, entity, isOrdered: isOrdered) }
    if name.hasPrefix("@") {
      let rest = Array(names.dropFirst())
      if name == "@count" { return .one(.int(Int64(ids.count))) }
      let values = ids.map { id -> Value in
        if case .one(let value) = follow(rest, from: id, entity) { return value }
        return .null
      }
      return .one(figure(name, values))
    }
    let things = ids.map { follow(names, from: $0, entity) }
    if let relation = lastToMany(names, entity), relation.isWholePath {
      let all = things.flatMap { thing -> [Int64] in
        if case .rows(let ids, _, _) = thing { return ids }
        return []
      }
      return .rows(all, relation.destination, isOrdered: isOrdered)
    }
    let values = things.flatMap { thing -> [Value] in
      switch thing {
      case .one(let value): [value]
      case .values(let values, _): values
      case .rows(let ids, _, _): ids.map { .key($0) }
      case .list(let values): values
      case .absent: []
      }
    }
    return .values(values, isOrdered: isOrdered)
  }

  /// Whether a path leads over a to-many relationship, and ends with it.
  private func lastToMany(
    _ names: [String], _ entity: EntityID
  ) -> (destination: EntityID, isWholePath: Bool)? {
    var entity = entity
    var result: (EntityID, Bool)?
    for name in names {
      guard let relation = question.schema[entity].relationship(named: name) else {
        return result.map { ($0.0, false) }
      }
      let described = question.schema[relation]
      entity = described.destination
      result = described.isToMany ? (entity, true) : result.map { ($0.0, false) }
    }
    return result
  }

  private func figure(_ name: String, _ values: [Value]) -> Value {
    let known = values.filter { !$0.isNull }
    switch name {
    case "@min": return known.min() ?? .null
    case "@max": return known.max() ?? .null
    default:
      let sum = known.reduce(Value.int(0)) { ToyFunctions.arithmetic("add:to:", $0, $1) }
      if name == "@sum" { return sum }
      if values.isEmpty { return .double(0) }
      if case .decimal = sum { return ToyFunctions.arithmetic("divide:by:", sum, .int(Int64(values.count))) }
      return ToyFunctions.arithmetic("divide:by:", sum, .double(Double(values.count)))
    }
  }
}
