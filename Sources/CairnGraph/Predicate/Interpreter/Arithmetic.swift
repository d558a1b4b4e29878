// Arithmetic on values, as NSNumber and NSDecimalNumber do it: whole numbers stay whole, a double makes a double,
// a decimal without a double makes a decimal. nil makes nil, and so does a division of whole numbers by zero.

import CairnModel
import Foundation

enum Arithmetic {
  enum Operator: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
    case power = "**"
  }

  /// Throws for operands that aren't numbers. Whole numbers that Int64 is too small for become doubles.
  static func apply(_ op: Operator, _ a: Value, _ b: Value) throws -> Value {
    if a.isNull || b.isNull { return .null }
    guard let x = Number(a), let y = Number(b) else {
      throw PredicateEvaluationError(
        .unsupportedTypes,
        "\(op.rawValue) needs numbers, not \(Operand.value(a).kind) and \(Operand.value(b).kind)")
    }
    switch (x, y) {
    case (.integer(let x), .integer(let y)): return apply(op, x, y)
    case (.decimal, .integer), (.integer, .decimal), (.decimal, .decimal):
      return apply(op, x.decimal, y.decimal)
    default: return .double(apply(op, x.double, y.double))
    }
  }

  private static func apply(_ op: Operator, _ x: Int64, _ y: Int64) -> Value {
    let (result, overflow): (Int64, Bool) =
      switch op {
      case .add: x.addingReportingOverflow(y)
      case .subtract: x.subtractingReportingOverflow(y)
      case .multiply: x.multipliedReportingOverflow(by: y)
      case .divide: y == 0 ? (0, true) : x.dividedReportingOverflow(by: y)
      case .remainder: y == 0 ? (0, true) : x.remainderReportingOverflow(dividingBy: y)
      case .power: power(x, y)
      }
    if !overflow { return .int(result) }
    if y == 0, op == .divide || op == .remainder { return .null }
    return .double(apply(op, Double(x), Double(y)))
  }

  /// The same as repeated multiplication, in as many steps as the exponent has bits.
  private static func power(_ base: Int64, _ exponent: Int64) -> (Int64, Bool) {
    if exponent < 0 { return (0, true) }
    var result: Int64 = 1
    var factor = base
    var rest = exponent
    while rest > 0 {
      if rest & 1 == 1 {
        let (product, overflow) = result.multipliedReportingOverflow(by: factor)
        if overflow { return (0, true) }
        result = product
      }
      rest >>= 1
      if rest > 0 {
        let (square, overflow) = factor.multipliedReportingOverflow(by: factor)
        if overflow { return (0, true) }
        factor = square
      }
    }
    return (result, false)
  }

  private static func apply(_ op: Operator, _ x: Decimal, _ y: Decimal) -> Value {
    switch op {
    case .add: return .decimal(x + y)
    case .subtract: return .decimal(x - y)
    case .multiply: return .decimal(x * y)
    case .divide: return y.isZero ? .null : .decimal(x / y)
    case .remainder:
      if y.isZero { return .null }
      var quotient = x / y
      var whole = Decimal()
      NSDecimalRound(&whole, &quotient, 0, quotient < 0 ? .up : .down)
      return .decimal(x - whole * y)
    case .power:
      if let exponent = Value.decimal(y).wholeNumber, (0...1000).contains(exponent) {
        return .decimal(pow(x, Int(exponent)))
      }
      return .double(apply(op, x.nearestDouble, y.nearestDouble))
    }
  }

  private static func apply(_ op: Operator, _ x: Double, _ y: Double) -> Double {
    switch op {
    case .add: x + y
    case .subtract: x - y
    case .multiply: x * y
    case .divide: x / y
    case .remainder: x.truncatingRemainder(dividingBy: y)
    case .power: pow(x, y)
    }
  }

  /// A number by how it is reckoned with.
  enum Number {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)

    /// nil for a value that is no number.
    init?(_ value: Value) {
      switch value {
      case .int(let x): self = .integer(x)
      case .bool(let x): self = .integer(x ? 1 : 0)
      case .double(let x): self = .double(x)
      case .float(let x): self = .double(Double(x))
      case .decimal(let x): self = .decimal(x)
      default: return nil
      }
    }

    var double: Double {
      switch self {
      case .integer(let x): Double(x)
      case .double(let x): x
      case .decimal(let x): x.nearestDouble
      }
    }

    var decimal: Decimal {
      switch self {
      case .integer(let x): Decimal(x)
      case .double(let x): Decimal(nearest: x)
      case .decimal(let x): x
      }
    }
  }
}

/// Figures over numbers. nil counts as the collection operators count it.
enum Statistics {
  /// nil counts as 0.
  static func sum(_ values: [Value]) throws -> Value {
    try values.reduce(.int(0)) { sum, value in
      value.isNull ? sum : try Arithmetic.apply(.add, sum, value)
    }
  }

  /// nil counts as 0, in the divisor too. 0 of nothing.
  static func averageWithNilAsZero(_ values: [Value]) throws -> Value {
    if values.isEmpty { return .double(0) }
    let total = try sum(values)
    if case .decimal = total { return try Arithmetic.apply(.divide, total, .int(Int64(values.count))) }
    return try Arithmetic.apply(.divide, total, .double(Double(values.count)))
  }

  /// The least or greatest; nil is left out, and nil of nothing. Throws for values that have no common order.
  static func extreme(_ values: [Value], _ op: ComparisonOperator) throws -> Value {
    var best = Value.null
    for value in values where !value.isNull {
      if best.isNull {
        best = value
        continue
      }
      guard let family = value.family, family == best.family else {
        throw PredicateEvaluationError(
          .unsupportedTypes, "\(Operand.value(best).kind) and \(Operand.value(value).kind) have no order")
      }
      if op.holds(Value.compare(value, best)) { best = value }
    }
    return best
  }

  /// Of the numbers in order the one in the middle, or the mean of the two there. nil of nothing.
  static func median(_ values: [Value]) throws -> Value {
    let sorted = values.filter { !$0.isNull }.sorted()
    if sorted.isEmpty { return .null }
    let middle = sorted[sorted.count / 2]
    if sorted.count % 2 == 1 { return middle }
    return try averageWithNilAsZero([sorted[sorted.count / 2 - 1], middle])
  }

  /// The most frequent numbers, in order.
  static func mode(_ values: [Value]) -> [Value] {
    var counts: [Value: Int] = [:]
    for value in values where !value.isNull { counts[value, default: 0] += 1 }
    let most = counts.values.max()
    return counts.filter { $0.value == most }.keys.sorted()
  }

  /// Of the whole population. nil of nothing.
  static func standardDeviation(_ values: [Value]) -> Value {
    let numbers = values.compactMap { Arithmetic.Number($0)?.double }
    if numbers.isEmpty { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }
}
