// What the predefined functions do. Their names and numbers of arguments are in CairnModel (PredicateFunctions);
// a new one is a case here.

import CairnModel
import Foundation

extension PredicateFunctions {
  /// Why there is no call of `name` with so many arguments; nil if there is one.
  static func problem(with name: String, argumentCount: Int) -> String? {
    guard let counts = self.argumentCount(of: name) else {
      return "there is no predefined function \"\(name)\"; there are \(names.joined(separator: ", "))"
    }
    if counts.contains(argumentCount) { return nil }
    return "the function \"\(name)\" doesn't take \(argumentCount) arguments"
  }
}

enum FunctionTable {
  /// Throws `PredicateEvaluationError`, without the expression.
  static func call(_ name: String, _ arguments: [Operand]) throws -> Operand {
    if let problem = PredicateFunctions.problem(with: name, argumentCount: arguments.count) {
      throw PredicateEvaluationError(.unknownFunction, problem)
    }
    switch arguments.count {
    case 0: return try call(name)
    case 1: return try collection(name, arguments) ?? call(name, arguments[0])
    case 2: return try collection(name, arguments) ?? call(name, arguments[0], arguments[1])
    default: return try collection(name, arguments) ?? .none
    }
  }

  private static func call(_ name: String) throws -> Operand {
    name == "now" ? .value(.date(Date())) : .value(.double(.random(in: 0..<1)))
  }

  // MARK: Over collections

  /// nil for a name that isn't about collections. One argument is the collection, several are its elements.
  private static func collection(_ name: String, _ arguments: [Operand]) throws -> Operand? {
    switch name {
    case "sum:": return .value(try Statistics.sum(numbers(name, arguments)))
    case "average:": return .value(try Statistics.averageWithNilAsZero(numbers(name, arguments)))
    case "median:": return .value(try Statistics.median(numbers(name, arguments)))
    case "mode:": return .list(Statistics.mode(try numbers(name, arguments)).map { .value($0) })
    case "stddev:": return .value(Statistics.standardDeviation(try numbers(name, arguments)))
    case "min:": return .value(try Statistics.extreme(values(name, arguments), .less))
    case "max:": return .value(try Statistics.extreme(values(name, arguments), .greater))
    case "count:": return .value(.int(Int64(try elements(name, arguments).count)))
    default: return nil
    }
  }

  private static func elements(_ name: String, _ arguments: [Operand]) throws -> [Operand] {
    if arguments.count > 1 { return arguments }
    if arguments[0].isMissing { return [] }
    guard let elements = arguments[0].elements else {
      throw PredicateEvaluationError(
        .unsupportedTypes, "\(name) needs a collection, not \(arguments[0].kind)")
    }
    return elements
  }

  private static func values(_ name: String, _ arguments: [Operand]) throws -> [Value] {
    try elements(name, arguments).map { operand in
      if operand.isMissing { return .null }
      guard case .value(let value) = operand else {
        throw PredicateEvaluationError(.unsupportedTypes, "\(name) needs plain values, not \(operand.kind)")
      }
      return value
    }
  }

  private static func numbers(_ name: String, _ arguments: [Operand]) throws -> [Value] {
    try values(name, arguments).map { value in
      guard value.isNull || value.family == .number else {
        throw PredicateEvaluationError(
          .unsupportedTypes, "\(name) needs numbers, not \(Operand.value(value).kind)")
      }
      return value
    }
  }

  // MARK: Of one argument

  private static func call(_ name: String, _ operand: Operand) throws -> Operand {
    if name == "noindex:" { return operand }
    if operand.isMissing { return .none }
    switch name {
    case "uppercase:": return .value(.string(try string(name, operand).uppercased()))
    case "lowercase:": return .value(.string(try string(name, operand).lowercased()))
    case "canonical:":
      return .value(ValueFunction.canonical.apply([.string(try string(name, operand))]))
    case "length:": return .value(.int(Int64(try string(name, operand).utf16.count)))
    case "onesComplement:": return .value(.int(~(try integer(name, operand))))
    case "randomn:":
      let bound = try integer(name, operand)
      return .value(.int(bound > 0 ? .random(in: 0..<bound) : 0))
    default: return .value(try rounded(name, operand) ?? .double(real(name, operand)))
    }
  }

  private static func real(_ name: String, _ operand: Operand) throws -> Double {
    let x = try number(name, operand).double
    switch name {
    case "sqrt:": return x.squareRoot()
    case "log:": return log10(x)
    case "ln:": return log(x)
    default: return exp(x)
    }
  }

  /// Whole numbers stay what they are, and decimals decimals. nil for another function.
  private static func rounded(_ name: String, _ operand: Operand) throws -> Value? {
    switch name {
    case "ceiling:", "floor:", "trunc:", "abs:": break
    default: return nil
    }
    switch try number(name, operand) {
    case .integer(let x):
      guard name == "abs:", x < 0 else { return .int(x) }
      return x == .min ? .double(-Double(x)) : .int(-x)
    case .double(let x):
      switch name {
      case "ceiling:": return .double(x.rounded(.up))
      case "floor:": return .double(x.rounded(.down))
      case "trunc:": return .double(x.rounded(.towardZero))
      default: return .double(abs(x))
      }
    case .decimal(var x):
      if name == "abs:" { return .decimal(x.magnitude) }
      var result = Decimal()
      let mode: NSDecimalNumber.RoundingMode =
        name == "ceiling:" || (name == "trunc:" && x < 0) ? .up : .down
      NSDecimalRound(&result, &x, 0, mode)
      return .decimal(result)
    }
  }

  // MARK: Of two arguments

  private static func call(_ name: String, _ a: Operand, _ b: Operand) throws -> Operand {
    switch name {
    case "add:to:": return try arithmetic(.add, a, b)
    case "from:subtract:": return try arithmetic(.subtract, a, b)
    case "multiply:by:": return try arithmetic(.multiply, a, b)
    case "divide:by:": return try arithmetic(.divide, a, b)
    case "modulus:by:": return try arithmetic(.remainder, a, b)
    case "raise:toPower:": return try arithmetic(.power, a, b)
    case "castObject:toType:": return try Casting.cast(a, to: b)
    case "objectFrom:withIndex:": return try element(of: a, b)
    case "distanceToLocation:fromLocation:": return try distance(a, b)
    default: return try bits(name, a, b)
    }
  }

  private static func arithmetic(_ op: Arithmetic.Operator, _ a: Operand, _ b: Operand) throws -> Operand {
    if a.isMissing || b.isMissing { return .none }
    guard case .value(let x) = a, case .value(let y) = b else {
      throw PredicateEvaluationError(
        .unsupportedTypes, "\(op.rawValue) needs numbers, not \(a.kind) and \(b.kind)")
    }
    return .value(try Arithmetic.apply(op, x, y))
  }

  private static func bits(_ name: String, _ a: Operand, _ b: Operand) throws -> Operand {
    if a.isMissing || b.isMissing { return .none }
    let (x, y) = (try integer(name, a), try integer(name, b))
    switch name {
    case "bitwiseAnd:with:": return .value(.int(x & y))
    case "bitwiseOr:with:": return .value(.int(x | y))
    case "bitwiseXor:with:": return .value(.int(x ^ y))
    case "leftshift:by:": return .value(.int(x << y))
    default: return .value(.int(x >> y))
    }
  }

  private static func element(of collection: Operand, _ index: Operand) throws -> Operand {
    if collection.isMissing { return .none }
    switch collection {
    case .dictionary(let values): return Operand((index.any as? AnyHashable).flatMap { values[$0] })
    case .list(let elements):
      let place = try integer("objectFrom:withIndex:", index)
      return elements.indices.contains(Int(place)) ? elements[Int(place)] : .none
    default:
      throw PredicateEvaluationError(
        .unsupportedTypes, "objectFrom:withIndex: needs a list or a dictionary, not \(collection.kind)")
    }
  }

  /// In metres, over a sphere. A location is anything with the keys `latitude` and `longitude`, in degrees.
  private static func distance(_ a: Operand, _ b: Operand) throws -> Operand {
    if a.isMissing || b.isMissing { return .none }
    func radians(_ operand: Operand, _ key: String) throws -> Double {
      let value = try KeyPathWalker().step(operand, key)
      return try number("distanceToLocation:fromLocation:", value).double * .pi / 180
    }
    let (latitude1, latitude2) = (try radians(a, "latitude"), try radians(b, "latitude"))
    let (longitude1, longitude2) = (try radians(a, "longitude"), try radians(b, "longitude"))
    let x = sin((latitude2 - latitude1) / 2)
    let y = sin((longitude2 - longitude1) / 2)
    let root = (x * x + cos(latitude1) * cos(latitude2) * y * y).squareRoot()
    return .value(.double(2 * 6_371_008.8 * asin(min(1, root))))
  }

  // MARK: Types

  private static func string(_ name: String, _ operand: Operand) throws -> String {
    if case .value(.string(let text)) = operand { return text }
    throw PredicateEvaluationError(.unsupportedTypes, "\(name) needs a string, not \(operand.kind)")
  }

  private static func number(_ name: String, _ operand: Operand) throws -> Arithmetic.Number {
    if case .value(let value) = operand, let number = Arithmetic.Number(value) { return number }
    throw PredicateEvaluationError(.unsupportedTypes, "\(name) needs a number, not \(operand.kind)")
  }

  private static func integer(_ name: String, _ operand: Operand) throws -> Int64 {
    _ = try number(name, operand)
    if case .value(let value) = operand, let whole = value.wholeNumber { return whole }
    throw PredicateEvaluationError(.unsupportedTypes, "\(name) needs a whole number")
  }
}
