// Trees to archived predicates and expressions: the twin of `ArchiveReader+Predicates`.

import Foundation

/// A predicate that no archive can hold.
struct UnarchivableTree: Error {
  let what: String
}

extension ArchiveWriter {
  /// The number of the archived predicate. Throws `UnarchivableTree`.
  mutating func predicate(_ tree: PredicateTree) throws -> Int {
    switch tree {
    case .constant(let truth): return object(truth ? "NSTruePredicate" : "NSFalsePredicate", [])
    case .not(let part): return compound(0, [try predicate(part)])
    case .and(let parts): return compound(1, try parts.map { try predicate($0) })
    case .or(let parts): return compound(2, try parts.map { try predicate($0) })
    case .comparison(let comparison): return try self.comparison(comparison)
    case .opaque: throw UnarchivableTree(what: "a condition that is a program's block")
    }
  }

  private mutating func compound(_ type: Int, _ parts: [Int]) -> Int {
    let list = list(parts)
    return object(
      "NSCompoundPredicate",
      [("NSCompoundPredicateType", .integer(type)), ("NSSubpredicates", .reference(list))])
  }

  private mutating func comparison(_ comparison: PredicateTree.Comparison) throws -> Int {
    let options = Int(comparison.options.rawValue)
    var fields: [(String, Field)] = [
      ("NSOperatorType", .integer(comparison.op.archived)),
      ("NSModifier", .integer(Int(comparison.modifier.rawValue))),
    ]
    let className: String
    switch comparison.op {
    case .equal, .notEqual:
      className = "NSEqualityPredicateOperator"
      fields += [("NSNegate", .bool(comparison.op == .notEqual)), ("NSOptions", .integer(options))]
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      className = "NSComparisonPredicateOperator"
      fields += [("NSVariant", .integer(comparison.op.archived)), ("NSOptions", .integer(options))]
    case .between:
      className = "NSBetweenPredicateOperator"
      fields.append(("NSOptions", .integer(options)))
    case .isIn, .contains:
      className = "NSInPredicateOperator"
      fields.append(("NSFlags", .integer(options)))
    case .like:
      className = "NSLikePredicateOperator"
      fields.append(("NSFlags", .integer(options)))
    case .matches:
      className = "NSMatchingPredicateOperator"
      fields.append(("NSFlags", .integer(options)))
    case .beginsWith, .endsWith:
      className = "NSSubstringPredicateOperator"
      fields += [
        ("NSFlags", .integer(options)), ("NSPosition", .integer(comparison.op == .beginsWith ? 0 : 1)),
      ]
    }
    let op = object(className, fields)
    let left = try expression(comparison.left)
    let right = try expression(comparison.right)
    return object(
      "NSComparisonPredicate",
      [
        ("NSLeftExpression", .reference(left)), ("NSRightExpression", .reference(right)),
        ("NSPredicateOperator", .reference(op)),
      ])
  }

  /// The number of the archived expression. Throws `UnarchivableTree`.
  mutating func expression(_ tree: ExpressionTree) throws -> Int {
    switch tree {
    case .constant(let value):
      return expression("ConstantValue", 0, [("NSConstantValue", .reference(try self.value(value)))])
    case .evaluatedObject: return expression("Self", 1, [])
    case .anyKey: return expression("AnyKey", 15, [])
    case .variable(let name): return expression("Variable", 2, [("NSVariable", .reference(string(name)))])
    case .keyPath(let steps): return try keyPath(steps, of: .evaluatedObject)
    case .keyPathOf(let base, let steps): return try keyPath(steps, of: base)
    case .list(let members):
      let list = list(try members.map { try expression($0) })
      return expression("Aggregate", 14, [("NSCollection", .reference(list))])
    case .function(let name, let arguments):
      return function(name, of: utilities(), try arguments.map { try expression($0) })
    case .call(let target, let selector, let arguments):
      return function(selector, of: try expression(target), try arguments.map { try expression($0) })
    case .element(let collection, let index):
      let collection = try expression(collection)
      return function("objectFrom:withIndex:", of: utilities(), [collection, try self.index(index)])
    case .setOperation(let op, let left, let right):
      let (left, right) = (try expression(left), try expression(right))
      let (kind, type) =
        switch op {
        case .union: ("UnionSet", 5)
        case .intersect: ("IntersectSet", 6)
        case .minus: ("MinusSet", 7)
        }
      return expression(
        kind, type, [("NSLeftExpression", .reference(left)), ("NSRightExpression", .reference(right))])
    case .conditional(let condition, let yes, let no):
      let fields: [(String, Field)] = [
        ("NSPredicate", .reference(try predicate(condition))),
        ("NSTrueExpression", .reference(try expression(yes))),
        ("NSFalseExpression", .reference(try expression(no))),
      ]
      return expression("Ternary", 20, fields)
    case .subquery(let collection, let variable, let condition):
      let fields: [(String, Field)] = [
        ("NSExpression", .reference(try expression(collection))),
        ("NSVariable", .reference(string(variable))),
        ("NSPredicate", .reference(try predicate(condition))),
      ]
      return expression("Subquery", 13, fields)
    case .assignment(let name, let value):
      let fields: [(String, Field)] = [
        ("NSAssignmentVariable", .reference(string(name))),
        ("NSSubexpression", .reference(try expression(value))),
      ]
      return expression("VariableAssignment", 12, fields)
    case .object: throw UnarchivableTree(what: "an object as a constant")
    case .fetch: throw UnarchivableTree(what: "a fetch within an expression")
    case .opaque: throw UnarchivableTree(what: "an expression that is a program's block")
    }
  }

  private mutating func expression(_ kind: String, _ type: Int, _ fields: [(String, Field)]) -> Int {
    object("NS\(kind)Expression", [("NSExpressionType", .integer(type))] + fields)
  }

  private mutating func keyPath(_ steps: [String], of base: ExpressionTree) throws -> Int {
    // The archive has the path as one text, where a dot can only be between two steps.
    guard !steps.isEmpty, steps.allSatisfy({ !$0.contains(".") }) else {
      throw UnarchivableTree(what: "a key path with a dot in a name")
    }
    let base = try expression(base)
    let path = expression(
      "KeyPathSpecifier", 10, [("NSKeyPath", .reference(string(steps.joined(separator: "."))))])
    let arguments = list([path], "NSMutableArray")
    let selector = string(steps.count == 1 ? "valueForKey:" : "valueForKeyPath:")
    return expression(
      "KeyPath", 3,
      [
        ("NSOperand", .reference(base)), ("NSSelectorName", .reference(selector)),
        ("NSArguments", .reference(arguments)),
      ])
  }

  private mutating func function(_ selector: String, of target: Int, _ arguments: [Int]) -> Int {
    let list = list(arguments)
    return expression(
      "Function", 4,
      [
        ("NSOperand", .reference(target)), ("NSSelectorName", .reference(string(selector))),
        ("NSArguments", .reference(list)),
      ])
  }

  /// The class that has the predefined functions.
  private mutating func utilities() -> Int {
    expression(
      "ConstantValue", 0, [("NSConstantValueClassName", .reference(string("_NSPredicateUtilities")))])
  }

  private mutating func index(_ index: ExpressionTree.ElementIndex) throws -> Int {
    let name: String
    switch index {
    case .at(let place): return try expression(place)
    case .first: name = "FIRST"
    case .last: name = "LAST"
    case .size: name = "SIZE"
    }
    return expression("Symbolic", 11, [("NSSymbol", .reference(string(name)))])
  }

  /// The number of an archived value. Throws `UnarchivableTree` for a composite.
  mutating func value(_ value: Value) throws -> Int {
    switch value {
    case .null: return ArchiveWriter.null
    case .bool(let x): return bool(x)
    case .int(let x), .key(let x): return integer(x)
    case .double(let x): return real(x)
    case .float(let x): return real(Double(x))
    case .string(let x): return string(x)
    case .date(let x): return object("NSDate", [("NS.time", .real(x.timeIntervalSinceReferenceDate))])
    case .data(let x): return object("NSData", [("NS.data", .data(x))])
    case .uuid(let x):
      return object("NSUUID", [("NS.uuidbytes", .data(withUnsafeBytes(of: x.uuid) { Data($0) }))])
    case .uri(let x):
      return object(
        "NSURL", [("NS.base", .reference(ArchiveWriter.null)), ("NS.relative", .reference(string(x)))])
    case .decimal(let x): return decimal(x)
    case .composite: throw UnarchivableTree(what: "the value of a composite")
    }
  }

  private mutating func decimal(_ x: Decimal) -> Int {
    let parts = x.isNaN ? DecimalParts(isNegative: true, exponent: 0, significand: 0) : DecimalParts(x)
    var mantissa = Data()
    for byte in 0..<16 { mantissa.append(UInt8(truncatingIfNeeded: parts.significand >> UInt128(8 * byte))) }
    let wordCount = (128 - parts.significand.leadingZeroBitCount + 15) / 16
    return object(
      "NSDecimalNumber",
      [
        ("NS.mantissa", .data(mantissa)), ("NS.negative", .bool(parts.isNegative)),
        ("NS.exponent", .integer(parts.exponent)), ("NS.mantissa.bo", .integer(1)),
        ("NS.length", .integer(wordCount)), ("NS.compact", .bool(true)),
      ])
  }
}
