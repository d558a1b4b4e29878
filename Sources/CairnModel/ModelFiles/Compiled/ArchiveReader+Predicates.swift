// Archived predicates and expressions to trees.

import Foundation

extension ArchiveReader {
  /// How deep predicates and expressions may be nested in an archive.
  static let treeDepthLimit = 100

  /// The canonical text of the predicate that a field refers to; nil for null.
  mutating func predicateText(_ object: ArchivedObject, _ name: String) throws -> String? {
    guard let predicate = try object.object(name) else { return nil }
    return try self.predicate(predicate, depth: 0).canonicalFormat
  }

  mutating func expressionText(_ object: ArchivedObject, _ name: String) throws -> String? {
    guard let expression = try object.object(name) else { return nil }
    return try self.expression(expression, depth: 0).canonicalFormat
  }

  mutating func predicate(_ object: ArchivedObject, depth: Int) throws -> PredicateTree {
    try visit(object, depth)
    switch object.className {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSCompoundPredicate":
      let parts = try object.list("NSSubpredicates").map {
        try predicate(archived($0, object), depth: depth + 1)
      }
      switch try object.integer("NSCompoundPredicateType") {
      case 0 where parts.count == 1: return .not(parts[0])
      case 1: return .and(parts)
      case 2: return .or(parts)
      default: throw object.wrong("NSCompoundPredicateType", "0 for NOT of one part, 1 for AND or 2 for OR")
      }
    case "NSComparisonPredicate": return .comparison(try comparison(object, depth: depth))
    default: throw archive.fault("a predicate of the class \(object.className) isn't known", object.number)
    }
  }

  private mutating func comparison(
    _ object: ArchivedObject, depth: Int
  ) throws -> PredicateTree.Comparison {
    guard let op = try object.object("NSPredicateOperator") else {
      throw archive.fault("a comparison has no operator", object.number)
    }
    guard let kind = ComparisonOperator(archived: try op.integer("NSOperatorType")) else {
      throw op.wrong("NSOperatorType", "a known operator")
    }
    // Operators on strings and lists keep their options under another name than those on values.
    let options = try op.integer(op.has("NSFlags") ? "NSFlags" : "NSOptions")
    guard
      let modifier = UInt8(exactly: try op.integer("NSModifier")).flatMap(
        PredicateTree.Comparison.Modifier.init)
    else { throw op.wrong("NSModifier", "0, 1 or 2") }
    return PredicateTree.Comparison(
      try expression(object, "NSLeftExpression", depth: depth), kind,
      try expression(object, "NSRightExpression", depth: depth),
      options: StringOptions(rawValue: UInt8(truncatingIfNeeded: options & 15)), modifier: modifier)
  }

  /// The expression that a field refers to.
  private mutating func expression(
    _ owner: ArchivedObject, _ name: String, depth: Int
  ) throws -> ExpressionTree {
    guard let object = try owner.object(name) else {
      throw archive.fault("\(owner.className) has no \(name)", owner.number)
    }
    return try expression(object, depth: depth + 1)
  }

  mutating func expression(_ object: ArchivedObject, depth: Int) throws -> ExpressionTree {
    try visit(object, depth)
    switch object.className {
    case "NSSelfExpression": return .evaluatedObject
    case "NSAnyKeyExpression": return .anyKey
    case "NSVariableExpression": return .variable(try object.required("NSVariable"))
    case "NSConstantValueExpression": return try constant(object, "NSConstantValue", depth: depth)
    case "NSKeyPathSpecifierExpression": return .path(try object.required("NSKeyPath"))
    case "NSKeyPathExpression": return try keyPath(object, depth: depth)
    case "NSFunctionExpression": return try function(object, depth: depth)
    case "NSAggregateExpression":
      return .list(
        try object.list("NSCollection").map { try expression(archived($0, object), depth: depth + 1) })
    case "NSUnionSetExpression": return try setOperation(object, .union, depth: depth)
    case "NSIntersectSetExpression": return try setOperation(object, .intersect, depth: depth)
    case "NSMinusSetExpression": return try setOperation(object, .minus, depth: depth)
    case "NSVariableAssignmentExpression":
      return .assignment(
        try object.required("NSAssignmentVariable"), try expression(object, "NSSubexpression", depth: depth))
    case "NSSubqueryExpression":
      guard let condition = try object.object("NSPredicate") else {
        throw archive.fault("a subquery has no condition", object.number)
      }
      return .subquery(
        try expression(object, "NSExpression", depth: depth), variable: try object.required("NSVariable"),
        try predicate(condition, depth: depth + 1))
    case "NSTernaryExpression":
      guard let condition = try object.object("NSPredicate") else {
        throw archive.fault("a choice has no condition", object.number)
      }
      return .conditional(
        try predicate(condition, depth: depth + 1), try expression(object, "NSTrueExpression", depth: depth),
        try expression(object, "NSFalseExpression", depth: depth))
    default: throw archive.fault("an expression of the class \(object.className) isn't known", object.number)
    }
  }

  private mutating func setOperation(
    _ object: ArchivedObject, _ op: ExpressionTree.SetOperator, depth: Int
  ) throws -> ExpressionTree {
    .setOperation(
      op, try expression(object, "NSLeftExpression", depth: depth),
      try expression(object, "NSRightExpression", depth: depth))
  }

  private mutating func keyPath(_ object: ArchivedObject, depth: Int) throws -> ExpressionTree {
    guard let argument = try object.list("NSArguments").first,
      case .keyPath(let steps) = try expression(archived(argument, object), depth: depth + 1)
    else { throw archive.fault("a key path has no keys", object.number) }
    switch try expression(object, "NSOperand", depth: depth) {
    case .evaluatedObject: return .keyPath(steps)
    case let base: return .keyPathOf(base, steps)
    }
  }

  private mutating func function(_ object: ArchivedObject, depth: Int) throws -> ExpressionTree {
    let selector = try object.required("NSSelectorName")
    let arguments = try object.list("NSArguments").map { try archived($0, object) }
    guard let target = try object.object("NSOperand") else {
      throw archive.fault("a function has no target", object.number)
    }
    if target.className == "NSConstantValueExpression", target.has("NSConstantValueClassName") {
      if selector == "objectFrom:withIndex:", arguments.count == 2 {
        return .element(
          of: try expression(arguments[0], depth: depth + 1), try index(arguments[1], depth: depth))
      }
      return .function(selector, try arguments.map { try expression($0, depth: depth + 1) })
    }
    return .call(
      try expression(target, depth: depth + 1), selector: selector,
      try arguments.map { try expression($0, depth: depth + 1) })
  }

  private mutating func index(_ object: ArchivedObject, depth: Int) throws -> ExpressionTree.ElementIndex {
    guard object.className == "NSSymbolicExpression" else {
      return .at(try expression(object, depth: depth + 1))
    }
    switch try object.string("NSSymbol")?.uppercased() {
    case "FIRST": return .first
    case "LAST": return .last
    case "SIZE": return .size
    default: throw object.wrong("NSSymbol", "FIRST, LAST or SIZE")
    }
  }

  private mutating func constant(
    _ owner: ArchivedObject, _ name: String, depth: Int
  ) throws -> ExpressionTree {
    guard let number = try owner.reference(name) else {
      if let value = try value(owner, name) { return .constant(value) }
      throw owner.wrong(name, "a value that a predicate can hold")
    }
    return try constant(number, owner, depth: depth)
  }

  private mutating func constant(
    _ number: Int, _ owner: ArchivedObject, depth: Int
  ) throws -> ExpressionTree {
    if let object = archive.object(number), ArchiveReader.listClasses.contains(object.className) {
      try visit(object, depth)
      return .list(try object.members().map { try constant($0, owner, depth: depth + 1) })
    }
    guard let value = try value(number) else {
      throw owner.wrong("NSConstantValue", "a value that a predicate can hold")
    }
    return .constant(value)
  }

  private static let listClasses: Set = [
    "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet",
  ]

  private func archived(_ number: Int, _ owner: ArchivedObject) throws -> ArchivedObject {
    guard let object = archive.object(number) else {
      throw archive.fault("\(owner.className) should hold objects", owner.number)
    }
    return object
  }

  /// Counts what is looked at: parts may be shared, so that a small archive could stand for an enormous tree.
  private mutating func visit(_ object: ArchivedObject, _ depth: Int) throws {
    try archive.cost.charge(1, object: object.number)
    guard depth < ArchiveReader.treeDepthLimit else {
      throw ModelFileError(
        .tooLarge, file: archive.file, "a predicate is too deep",
        remedy: "compile the model again from its source", object: object.number)
    }
  }
}

extension ComparisonOperator {
  /// With the numbers of `NSComparisonPredicate.Operator`.
  private static let archived: [(Int, ComparisonOperator)] = [
    (0, .less), (1, .lessOrEqual), (2, .greater), (3, .greaterOrEqual), (4, .equal), (5, .notEqual),
    (6, .matches), (7, .like), (8, .beginsWith), (9, .endsWith), (10, .isIn), (99, .contains),
    (100, .between),
  ]

  init?(archived number: Int) {
    guard let pair = Self.archived.first(where: { $0.0 == number }) else { return nil }
    self = pair.1
  }

  var archived: Int { Self.archived.first { $0.1 == self }?.0 ?? 0 }
}
