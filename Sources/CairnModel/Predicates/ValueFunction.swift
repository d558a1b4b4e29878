// The predefined functions on values, one by one: the meaning that every kernel has to agree with.
//
// A nil operand makes nil. Whole numbers stay whole; what doesn't fit Int64 becomes the nearest double, and a
// division by 0 nil. A double (or float) on any side makes doubles, a decimal beside whole numbers decimals.
// Operations on bits need whole numbers; the binder keeps others away from columns.

import Foundation

/// The functions that columns can answer.
package enum ValueFunction: String, Sendable {
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case power = "raise:toPower:"
  case and = "bitwiseAnd:with:"
  case or = "bitwiseOr:with:"
  case xor = "bitwiseXor:with:"
  case shiftLeft = "leftshift:by:"
  case shiftRight = "rightshift:by:"
  case complement = "onesComplement:"
  case squareRoot = "sqrt:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case ceiling = "ceiling:"
  case floor = "floor:"
  case truncate = "trunc:"
  case absolute = "abs:"
  case sum = "sum:"
  case average = "average:"
  case min = "min:"
  case max = "max:"
  case count = "count:"
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case length = "length:"
  case canonical = "canonical:"
  case noindex = "noindex:"
  case toNumber = "CAST NSNumber"
  case toDecimal = "CAST NSDecimalNumber"
  case toString = "CAST NSString"
  case toDate = "CAST NSDate"

  /// What arguments have to be; nil where any will do.
  var argument: ValueType.Family? {
    switch self {
    case .uppercase, .lowercase, .length, .canonical: .string
    case .min, .max, .count, .noindex, .toNumber, .toDecimal, .toString, .toDate: nil
    default: .number
    }
  }

  /// Whether its arguments are taken by their bits.
  var isOfBits: Bool {
    switch self {
    case .and, .or, .xor, .shiftLeft, .shiftRight, .complement: true
    default: false
    }
  }

  /// What comes of it; nil where that is what its arguments are.
  var family: ValueType.Family? {
    switch self {
    case .uppercase, .lowercase, .canonical, .toString: .string
    case .min, .max, .noindex: nil
    case .toDate: .date
    default: .number
    }
  }

  package func apply(_ arguments: [Value]) -> Value {
    switch self {
    case .sum: return arguments.reduce(.int(0)) { $1.isNull ? $0 : ValueFunction.add.apply([$0, $1]) }
    case .average:
      if arguments.isEmpty { return .double(0) }
      let sum = ValueFunction.sum.apply(arguments)
      let count = Double(arguments.count)
      if case .decimal = sum { return ValueFunction.divide.apply([sum, .int(Int64(arguments.count))]) }
      return ValueFunction.divide.apply([sum, .double(count)])
    case .min: return arguments.lazy.filter { !$0.isNull }.min() ?? .null
    case .max: return arguments.lazy.filter { !$0.isNull }.max() ?? .null
    case .count: return .int(Int64(arguments.count))
    default: break
    }
    if arguments.contains(where: \.isNull) { return .null }
    switch (arguments.first, arguments.count) {
    case (.string(let text)?, 1): return apply(text)
    case (let value?, 1): return apply(value)
    case (let left?, 2): return apply(left, arguments[1])
    default: return .null
    }
  }

  // MARK: One argument

  private func apply(_ text: String) -> Value {
    switch self {
    case .uppercase: .string(text.uppercased())
    case .lowercase: .string(text.lowercased())
    // As NSString counts: in UTF-16.
    case .length: .int(Int64(text.utf16.count))
    case .canonical:
      .string(StringMatcher.fold(text, [.caseInsensitive, .diacriticInsensitive], composed: true))
    case .noindex, .toString: .string(text)
    case .toNumber: Int64(text).map { .int($0) } ?? Double(text).map { .double($0) } ?? .null
    case .toDecimal: Decimal(string: text).map { .decimal($0) } ?? .null
    default: .null
    }
  }

  private func apply(_ value: Value) -> Value {
    switch self {
    case .noindex: return value
    case .complement: return value.wholeNumber.map { .int(~$0) } ?? .null
    case .squareRoot: return value.nearestDouble.map { .double($0.squareRoot()) } ?? .null
    case .logarithm: return value.nearestDouble.map { .double(log10($0)) } ?? .null
    case .naturalLogarithm: return value.nearestDouble.map { .double(log($0)) } ?? .null
    case .exponential: return value.nearestDouble.map { .double(exp($0)) } ?? .null
    case .ceiling: return rounded(value, .up, .up)
    case .floor: return rounded(value, .down, .down)
    case .truncate:
      return rounded(value, .towardZero, value < .int(0) ? .up : .down)
    case .absolute:
      return value < .int(0) ? ValueFunction.subtract.apply([.int(0), value]) : value
    case .toNumber:
      if case .date(let date) = value { return .double(date.timeIntervalSinceReferenceDate) }
      return value.family == .number ? value : .null
    case .toDecimal: return value.nearestDecimal.map { .decimal($0) } ?? .null
    case .toString: return value.family == .number ? .string(value.castText) : .null
    case .toDate:
      if case .date = value { return value }
      return value.nearestDouble.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
    default: return .null
    }
  }

  private func rounded(
    _ value: Value, _ rule: FloatingPointRoundingRule, _ mode: NSDecimalNumber.RoundingMode
  ) -> Value {
    switch value {
    case .double(let x): return .double(x.rounded(rule))
    case .float(let x): return .double(Double(x).rounded(rule))
    case .decimal(var x):
      var result = Decimal()
      NSDecimalRound(&result, &x, 0, mode)
      return .decimal(result)
    default: return value.family == .number ? value : .null
    }
  }

  // MARK: Two arguments

  private func apply(_ left: Value, _ right: Value) -> Value {
    switch self {
    case .and, .or, .xor, .shiftLeft, .shiftRight:
      guard let a = left.wholeNumber, let b = right.wholeNumber else { return .null }
      switch self {
      case .and: return .int(a & b)
      case .or: return .int(a | b)
      case .xor: return .int(a ^ b)
      case .shiftLeft: return .int(a << b)
      default: return .int(a >> b)
      }
    default: break
    }
    if let a = ValueFunction.whole(left), let b = ValueFunction.whole(right) { return integers(a, b) }
    if ValueFunction.isDouble(left) || ValueFunction.isDouble(right) {
      guard let a = left.nearestDouble, let b = right.nearestDouble else { return .null }
      return doubles(a, b)
    }
    guard let a = left.nearestDecimal, let b = right.nearestDecimal else { return .null }
    return decimals(a, b)
  }

  private func integers(_ a: Int64, _ b: Int64) -> Value {
    let result: (partialValue: Int64, overflow: Bool)
    switch self {
    case .add: result = a.addingReportingOverflow(b)
    case .subtract: result = a.subtractingReportingOverflow(b)
    case .multiply: result = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return .null }
      result = a.dividedReportingOverflow(by: b)
    case .modulus: return b == 0 ? .null : b == -1 ? .int(0) : .int(a % b)
    default: return power(a, b)
    }
    return result.overflow ? doubles(Double(a), Double(b)) : .int(result.partialValue)
  }

  private func power(_ base: Int64, _ exponent: Int64) -> Value {
    if exponent < 0 { return .double(pow(Double(base), Double(exponent))) }
    var result: Int64 = 1
    var square = base
    var rest = exponent
    while rest > 0 {
      if rest & 1 == 1 {
        let (product, overflow) = result.multipliedReportingOverflow(by: square)
        if overflow { return .double(pow(Double(base), Double(exponent))) }
        result = product
      }
      rest >>= 1
      if rest == 0 { break }
      let (product, overflow) = square.multipliedReportingOverflow(by: square)
      if overflow { return .double(pow(Double(base), Double(exponent))) }
      square = product
    }
    return .int(result)
  }

  private func doubles(_ a: Double, _ b: Double) -> Value {
    switch self {
    case .add: .double(a + b)
    case .subtract: .double(a - b)
    case .multiply: .double(a * b)
    case .divide: .double(a / b)
    case .modulus: .double(a.truncatingRemainder(dividingBy: b))
    default: .double(pow(a, b))
    }
  }

  private func decimals(_ a: Decimal, _ b: Decimal) -> Value {
    switch self {
    case .add: return .decimal(a + b)
    case .subtract: return .decimal(a - b)
    case .multiply: return .decimal(a * b)
    case .divide: return b.isZero ? .null : .decimal(a / b)
    case .modulus:
      if b.isZero { return .null }
      var quotient = a / b
      var whole = Decimal()
      NSDecimalRound(&whole, &quotient, 0, quotient < 0 ? .up : .down)
      return .decimal(a - whole * b)
    default:
      guard let exponent = DecimalParts(b).asInteger, exponent >= 0, exponent <= 1000 else {
        return doubles(a.nearestDouble, b.nearestDouble)
      }
      return .decimal(pow(a, Int(exponent)))
    }
  }

  // MARK: Numbers

  private static func whole(_ value: Value) -> Int64? {
    switch value {
    case .int(let x): x
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  private static func isDouble(_ value: Value) -> Bool {
    switch value {
    case .double, .float: true
    default: false
    }
  }
}
