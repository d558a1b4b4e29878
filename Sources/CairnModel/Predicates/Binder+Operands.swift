// Fits expressions: to values of one row, to lists, to collections of rows.

extension Binder {
  /// What stands on one side of a comparison.
  enum Operand {
    case value(BoundExpression)
    case list([BoundExpression])
    /// Elements, and what is asked of each.
    case collection(BoundCollection, of: BoundExpression, isOrdered: Bool)
  }

  func operand(_ tree: ExpressionTree, depth: Int) throws -> Operand {
    guard depth < 100 else {
      throw StoreError(.unbindablePredicate, "the predicate is nested deeper than 100", entity: name)
    }
    switch tree {
    case .constant(.composite): throw error("a composite value can't be compared", tree.canonicalFormat)
    case .constant(let value): return .value(.constant(value))
    case .object(let object):
      guard let value = object.object.storeValue else {
        throw beyond("a store can't compare with this object", tree.canonicalFormat)
      }
      return .value(.constant(value))
    case .list(let elements): return .list(try elements.map { try value($0, depth: depth + 1) })
    case .keyPath(let names): return try path(names, from: 0, tree)
    case .evaluatedObject: return .value(.path(BoundPath(base: 0)))
    case .variable(let name): return .value(.path(BoundPath(base: try number(of: name, tree))))
    case .keyPathOf(.evaluatedObject, let names): return try path(names, from: 0, tree)
    case .keyPathOf(.variable(let name), let names):
      return try path(names, from: try number(of: name, tree), tree)
    case .keyPathOf(let base, let names):
      guard
        case .collection(let collection, .path(let element), let isOrdered) = try operand(
          base, depth: depth + 1)
      else { throw beyond("columns don't follow keys from this", tree.canonicalFormat) }
      return try path(names, from: collection, element, isOrdered, tree)
    case .function(let name, let arguments): return .value(try function(name, arguments, depth, tree))
    case .conditional(let condition, let first, let second):
      return .value(
        .conditional(
          try bind(condition, depth: depth + 1), try value(first, depth: depth + 1),
          try value(second, depth: depth + 1)))
    case .subquery(let collection, let variable, let condition):
      return try subquery(collection, variable, condition, depth, tree)
    case .call, .element, .setOperation, .assignment, .fetch, .anyKey, .opaque:
      throw beyond("columns don't answer this expression", tree.canonicalFormat)
    }
  }

  /// An expression that has to have one value.
  func value(_ tree: ExpressionTree, depth: Int) throws -> BoundExpression {
    switch try operand(tree, depth: depth) {
    case .value(let value): return value
    case .list: throw beyond("a list stands where one value is needed", tree.canonicalFormat)
    case .collection: throw beyond("a to-many relationship has no single value", tree.canonicalFormat)
    }
  }

  /// The number of the row that a variable stands for.
  private func number(of variable: String, _ tree: ExpressionTree) throws -> Int {
    guard let place = elements.lastIndex(where: { $0.variable == variable }) else {
      throw error("the variable has no value", tree.canonicalFormat)
    }
    return place + 1
  }

  // MARK: Key paths

  private func entity(of row: Int) -> EntityID { row == 0 ? entity : elements[row - 1].entity }

  private func path(_ names: [String], from row: Int, _ tree: ExpressionTree) throws -> Operand {
    var walk = PathWalk(self, BoundPath(base: row), entity(of: row), tree)
    try walk.followAll(names)
    return walk.operand
  }

  private func path(
    _ names: [String], from collection: BoundCollection, _ element: BoundPath, _ isOrdered: Bool,
    _ tree: ExpressionTree
  ) throws -> Operand {
    guard element.target == .ownKey, element.hops.isEmpty else {
      throw beyond("columns don't follow keys from this", tree.canonicalFormat)
    }
    let destination = schema[collection.steps[collection.steps.count - 1]].destination
    var walk = PathWalk(self, element, destination, tree)
    walk.collection = collection
    walk.isOrdered = isOrdered
    try walk.followAll(names)
    return walk.operand
  }

  private func subquery(
    _ collectionTree: ExpressionTree, _ variable: String, _ condition: PredicateTree, _ depth: Int,
    _ tree: ExpressionTree
  ) throws -> Operand {
    guard
      case .collection(let collection, .path(let element), let isOrdered) = try operand(
        collectionTree, depth: depth + 1)
    else { throw beyond("SUBQUERY of what is no to-many relationship", tree.canonicalFormat) }
    guard element.target == .ownKey, element.hops.isEmpty else {
      throw beyond("SUBQUERY of values and not of rows", tree.canonicalFormat)
    }
    var inner = self
    let last = schema[collection.steps[collection.steps.count - 1]]
    inner.elements.append((variable, last.destination))
    let filter = try inner.bind(condition, depth: depth + 1)
    return .collection(
      collection.filtered(by: filter), of: .path(element), isOrdered: isOrdered)
  }

  // MARK: Functions

  private func function(
    _ name: String, _ arguments: [ExpressionTree], _ depth: Int, _ tree: ExpressionTree
  ) throws -> BoundExpression {
    guard let counts = PredicateFunctions.argumentCount(of: name) else {
      throw error("there is no function \"\(name)\"", tree.canonicalFormat)
    }
    guard counts.contains(arguments.count) else {
      throw error("the function doesn't take \(arguments.count) arguments", tree.canonicalFormat)
    }
    if name == "now" { return .constant(.date(now)) }
    if name == PredicateFunctions.cast { return try cast(arguments[0], arguments[1], depth, tree) }
    guard let function = ValueFunction(rawValue: name) else {
      throw beyond("columns don't answer this function", tree.canonicalFormat)
    }
    let isOfCollection = counts.upperBound == .max
    var operands: [BoundExpression] = []
    for argument in arguments {
      switch try operand(argument, depth: depth + 1) {
      // One argument is a collection; nil is an empty one.
      case .value(.constant(.null)) where isOfCollection && arguments.count == 1: break
      case .value where isOfCollection && arguments.count == 1:
        throw error("\(name) needs a collection, not one value", argument.canonicalFormat)
      case .value(let value): operands.append(value)
      case .list(let elements) where isOfCollection && arguments.count == 1: operands += elements
      default: throw beyond("columns don't answer this function of a collection", tree.canonicalFormat)
      }
    }
    for (index, operand) in operands.enumerated() {
      // More operands than arguments are the elements of a list.
      let argument = operands.count == arguments.count ? arguments[index] : tree
      for case let family? in operand.families {
        if let needed = function.argument, family != needed {
          throw error("\(name) of a \(family)", argument.canonicalFormat)
        }
      }
    }
    if function.isOfBits, !operands.allSatisfy(\.isSurelyWhole) {
      throw beyond("\(name) needs numbers that are sure to be whole", tree.canonicalFormat)
    }
    return Binder.folded(.function(function, operands))
  }

  private func cast(
    _ argument: ExpressionTree, _ type: ExpressionTree, _ depth: Int, _ tree: ExpressionTree
  ) throws -> BoundExpression {
    guard case .constant(.string(let typeName)) = type else {
      throw beyond("CAST to a type that isn't known beforehand", tree.canonicalFormat)
    }
    guard let function = ValueFunction(rawValue: "CAST " + typeName) else {
      throw beyond("CAST to \(typeName)", tree.canonicalFormat)
    }
    let operand = try value(argument, depth: depth + 1)
    for case let family? in operand.families {
      let fits: [ValueType.Family] =
        switch function {
        case .toNumber: [.number, .string, .date]
        case .toDecimal, .toString: [.number, .string]
        default: [.number, .date]
        }
      if !fits.contains(family) {
        throw beyond("CAST of a \(family) to \(typeName)", tree.canonicalFormat)
      }
    }
    return Binder.folded(.function(function, [operand]))
  }

  /// Of constants the constant that comes of them.
  private static func folded(_ expression: BoundExpression) -> BoundExpression {
    guard case .function(let function, let operands) = expression else { return expression }
    var values: [Value] = []
    for operand in operands {
      guard case .constant(let value) = operand else { return expression }
      values.append(value)
    }
    return .constant(function.apply(values))
  }
}

/// Follows the names of a key path from a row, over to-one relationships, then to-many ones.
private struct PathWalk {
  let binder: Binder
  let tree: ExpressionTree
  /// Leads from a row, or from an element of `collection`.
  var path: BoundPath
  /// Where `path` has come to.
  var current: EntityID
  var collection: BoundCollection?
  var isOrdered = false
  var aggregate: BoundExpression?

  init(_ binder: Binder, _ path: BoundPath, _ entity: EntityID, _ tree: ExpressionTree) {
    self.binder = binder
    self.path = path
    current = entity
    self.tree = tree
  }

  var operand: Binder.Operand {
    if let aggregate { return .value(aggregate) }
    if let collection { return .collection(collection, of: .path(path), isOrdered: isOrdered) }
    return .value(.path(path))
  }

  private var schema: Schema { binder.schema }

  /// Throws errors that name the path.
  mutating func followAll(_ names: [String]) throws {
    let start = current
    do {
      try follow(names[...])
    } catch let error as StoreError {
      throw error.inKeyPath(tree.canonicalFormat, from: schema[start].name)
    }
  }

  private mutating func follow(_ names: ArraySlice<String>) throws {
    var names = names
    while let name = names.first {
      if name.hasPrefix("@") { return try aggregate(name, names.dropFirst()) }
      let described = schema[current]
      // `self` leads nowhere, unless there is a property of that name.
      if name.lowercased() == "self", described.attribute(named: name) == nil,
        described.relationship(named: name) == nil
      {
        names = names.dropFirst()
        continue
      }
      guard let id = described.relationship(named: name) else { return try attribute(names, described) }
      let relation = schema[id]
      guard relation.storage != .none else {
        throw binder.beyond("a transient relationship isn't stored", name, described.name)
      }
      names = names.dropFirst()
      if relation.isToMany {
        try enter(id, relation)
      } else if names.isEmpty, case .key(let slot) = relation.storage {
        (path.target, path.type) = (.slot(slot), .key)
        return
      } else {
        path.hops.append(id)
        current = relation.destination
      }
    }
  }

  private mutating func attribute(_ names: ArraySlice<String>, _ described: SchemaEntity) throws {
    let end = names.firstIndex { $0.hasPrefix("@") } ?? names.endIndex
    do {
      let rest = try BoundPath(steps: Array(names[..<end]), from: described.id, in: schema)
      (path.target, path.type) = (rest.target, rest.type)
    } catch let error as StoreError {
      // Objects have transient attributes, and composite ones whole.
      if described.attribute(named: names[names.startIndex]) != nil,
        error.message.contains("transient") || error.message.contains("compared by one of its elements")
      {
        throw Binder.BeyondColumns(error: error)
      }
      throw error
    }
    if end < names.endIndex {
      throw collection == nil
        ? binder.error("\(names[end]) of what is no collection", tree.canonicalFormat)
        : binder.beyond("columns don't answer \(names[end]) of values", tree.canonicalFormat)
    }
  }

  /// A to-many step: to-one hops that came after an earlier one become steps of the collection.
  private mutating func enter(_ id: RelationshipID, _ relation: SchemaRelationship) throws {
    if collection != nil {
      collection!.steps += path.hops + [id]
    } else {
      isOrdered = relation.isOrdered
      collection = BoundCollection(start: path, steps: [id], element: binder.elements.count + 1)
    }
    path = BoundPath(base: collection!.element)
    current = relation.destination
  }

  private mutating func aggregate(_ name: String, _ rest: ArraySlice<String>) throws {
    guard let collection else {
      throw binder.error("\(name) of what is no collection", tree.canonicalFormat)
    }
    guard let function = CollectionAggregate(rawValue: name) else {
      throw binder.beyond("columns don't answer \(name)", tree.canonicalFormat)
    }
    let isSingleStep = collection.steps.count == 1
    guard isSingleStep, path.hops.isEmpty, path.target == .ownKey else {
      throw binder.beyond(
        "columns don't answer \(name) of values, or of a collection of collections", tree.canonicalFormat)
    }
    if function == .count {
      guard rest.isEmpty else { throw binder.error("\(name) is a number", tree.canonicalFormat) }
    } else {
      try follow(rest)
      guard self.collection!.steps.count == 1, aggregate == nil else {
        throw binder.beyond("columns don't answer \(name) of collections", tree.canonicalFormat)
      }
      if function == .sum || function == .average, path.type.family != .number {
        throw binder.error("\(name) of a \(path.type.family)", tree.canonicalFormat)
      }
    }
    aggregate = .aggregate(function, collection, of: .path(path))
  }
}

extension BoundPath {
  /// The key of row number `base` itself.
  init(base: Int) {
    self.base = base
    hops = []
    target = .ownKey
    type = .key
  }
}
