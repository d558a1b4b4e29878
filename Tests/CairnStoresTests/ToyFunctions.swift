// The functions of predicates and the comparisons of values, in the plainest words there are.

import CairnModel
import Foundation

enum ToyFunctions {
  static func apply(_ name: String, _ values: [Value]) throws -> Value {
    switch name {
    case "now": return .date(Date())
    case "min:": return values.filter { !$0.isNull }.min() ?? .null
    case "max:": return values.filter { !$0.isNull }.max() ?? .null
    case "sum:": return values.filter { !$0.isNull }.reduce(.int(0)) { arithmetic("add:to:", $0, $1) }
    case "count:": return .int(Int64(values.count))
    default: break
    }
    if values.contains(.null) { return .null }
    switch (name, values[0]) {
    case ("uppercase:", .string(let text)): return .string(text.uppercased())
    case ("lowercase:", .string(let text)): return .string(text.lowercased())
    case ("length:", .string(let text)): return .int(Int64((text as NSString).length))
    case ("castObject:toType:", let value): return cast(value, values[1])
    case ("canonical:", .string(let text)):
      return .string(
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
          .precomposedStringWithCanonicalMapping)
    case ("sqrt:", let value): return .double(double(value).squareRoot())
    case ("floor:", let value) where whole(value) == nil: return .double(double(value).rounded(.down))
    case ("ceiling:", let value) where whole(value) == nil: return .double(double(value).rounded(.up))
    case ("onesComplement:", let value): return bits(value).map { .int(-1 - $0) } ?? .null
    case ("abs:", let value): return value < 0 ? arithmetic("from:subtract:", 0, value) : value
    // What rounds leaves whole numbers alone.
    case ("floor:", let value), ("ceiling:", let value): return value
    default: break
    }
    guard values.count == 2 else { throw ToyChecker.misfit("\(name) of \(values.count)") }
    return arithmetic(name, values[0], values[1])
  }

  private static func cast(_ value: Value, _ type: Value) -> Value {
    switch (value, type) {
    case (.string(let text), "NSNumber"):
      return Int64(text).map { .int($0) } ?? Double(text).map { .double($0) } ?? .null
    case (.date(let date), "NSNumber"): return .double(date.timeIntervalSinceReferenceDate)
    case (_, "NSDate") where value.family == .number:
      return .date(Date(timeIntervalSinceReferenceDate: double(value)))
    case (.string, "NSString"), (.date, "NSDate"): return value
    case (.int(let x), "NSString"): return .string("\(x)")
    case (.double(let x), "NSString"): return .string("\(x)")
    default: return value.family == .number && type == "NSNumber" ? value : .null
    }
  }

  static func arithmetic(_ name: String, _ a: Value, _ b: Value) -> Value {
    if let x = whole(a), let y = whole(b) { return integers(name, x, y) }
    if case .decimal(let x) = a, let y = decimal(b) { return decimals(name, x, y) }
    if case .decimal(let y) = b, let x = decimal(a) { return decimals(name, x, y) }
    return doubles(name, double(a), double(b))
  }

  private static func integers(_ name: String, _ x: Int64, _ y: Int64) -> Value {
    // Wide enough for any product.
    let (wideX, wideY) = (Int128(x), Int128(y))
    let exact: Int128
    switch name {
    case "add:to:": exact = wideX + wideY
    case "from:subtract:": exact = wideX - wideY
    case "multiply:by:": exact = wideX * wideY
    case "divide:by:":
      if y == 0 { return .null }
      exact = wideX / wideY
    case "modulus:by:":
      if y == 0 { return .null }
      exact = wideX % wideY
    case "raise:toPower:":
      let power = pow(Double(x), Double(y))
      return y >= 0 && abs(power) < 1e15 ? .int(Int64(power)) : .double(power)
    case "leftshift:by:": return .int(x << y)
    case "rightshift:by:": return .int(x >> y)
    case "bitwiseAnd:with:": return .int(x & y)
    case "bitwiseOr:with:": return .int(x | y)
    case "bitwiseXor:with:": return .int(x ^ y)
    default: return .null
    }
    return Int64(exactly: exact).map { .int($0) } ?? doubles(name, Double(x), Double(y))
  }

  private static func doubles(_ name: String, _ x: Double, _ y: Double) -> Value {
    switch name {
    case "add:to:": return .double(x + y)
    case "from:subtract:": return .double(x - y)
    case "multiply:by:": return .double(x * y)
    case "divide:by:": return .double(x / y)
    case "modulus:by:": return .double(fmod(x, y))
    default:
      // Bits are of whole numbers.
      guard let a = Int64(exactly: x), let b = Int64(exactly: y) else { return .null }
      return integers(name, a, b)
    }
  }

  private static func decimals(_ name: String, _ x: Decimal, _ y: Decimal) -> Value {
    switch name {
    case "add:to:": return .decimal(x + y)
    case "from:subtract:": return .decimal(x - y)
    case "multiply:by:": return .decimal(x * y)
    case "divide:by:": return y == 0 ? .null : .decimal(x / y)
    case "modulus:by:":
      if y == 0 { return .null }
      var quotient = x / y
      var cut = Decimal()
      NSDecimalRound(&cut, &quotient, 0, quotient < 0 ? .up : .down)
      return .decimal(x - cut * y)
    default: return doubles(name, double(.decimal(x)), double(.decimal(y)))
    }
  }

  private static func whole(_ value: Value) -> Int64? {
    switch value {
    case .int(let x): x
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  private static func bits(_ value: Value) -> Int64? { whole(value) ?? Int64(exactly: double(value)) }

  /// nil for doubles, which decimals give way to.
  private static func decimal(_ value: Value) -> Decimal? {
    if case .decimal(let x) = value { return x }
    return whole(value).map { Decimal($0) }
  }

  private static func double(_ value: Value) -> Double {
    switch value {
    case .double(let x): x
    case .float(let x): Double(x)
    case .decimal(let x): Double("\(x)") ?? .nan
    default: Double(whole(value) ?? 0)
    }
  }
}

struct ToyComparison {
  let options: StringOptions

  func holds(_ left: Value, _ op: ComparisonOperator, _ right: Value) throws -> Bool {
    if left.isNull || right.isNull {
      if op == .equal { return left.isNull && right.isNull }
      if op == .notEqual { return left.isNull != right.isNull }
      return false
    }
    if case .string(let a) = left, case .string(let b) = right {
      return try compare(a, op, b)
    }
    return holds(op, Value.compare(left, right))
  }

  private func holds(_ op: ComparisonOperator, _ order: Int) -> Bool {
    switch op {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    default: false
    }
  }

  // MARK: Strings

  private func compare(_ text: String, _ op: ComparisonOperator, _ pattern: String) throws -> Bool {
    if op == .matches {
      let text = options.contains(.diacriticInsensitive) ? fold(text, .diacriticInsensitive) : text
      let whole = NSRange(text.startIndex..., in: text)
      return try ToyComparison.regex(pattern, options).firstMatch(in: text, options: [], range: whole) != nil
    }
    let a = Array(fold(text, options).unicodeScalars)
    let b = Array(fold(pattern, options).unicodeScalars)
    switch op {
    case .beginsWith: return a.starts(with: b)
    case .endsWith: return a.reversed().starts(with: b.reversed())
    case .contains: return contains(a, b)
    case .isIn: return contains(b, a)
    case .like: return isLike(a[...], b[...])
    default: return holds(op, Value.compare(.string(fold(text, options)), .string(fold(pattern, options))))
    }
  }

  private func fold(_ text: String, _ options: StringOptions) -> String {
    ToyComparison.fold(text, options)
  }

  private static func fold(_ text: String, _ options: StringOptions) -> String {
    if options.isEmpty { return text }
    var how: String.CompareOptions = []
    if options.contains(.caseInsensitive) { how.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { how.insert(.diacriticInsensitive) }
    return text.folding(options: how, locale: nil).decomposedStringWithCanonicalMapping
  }

  private func contains(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Bool {
    b.count <= a.count && (0...a.count - b.count).contains { a[$0...].starts(with: b) }
  }

  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ glob: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = glob.first else { return text.isEmpty }
    let rest = glob.dropFirst()
    switch first {
    case "*": return isLike(text, rest) || !text.isEmpty && isLike(text.dropFirst(), glob)
    case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
    case "\\" where !rest.isEmpty:
      return text.first == rest.first && isLike(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), rest)
    }
  }

  static func regex(_ pattern: String, _ options: StringOptions) throws -> NSRegularExpression {
    let pattern = options.contains(.diacriticInsensitive) ? fold(pattern, .diacriticInsensitive) : pattern
    do {
      return try NSRegularExpression(
        pattern: "\\A(?:\(pattern))\\z", options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    } catch {
      throw ToyChecker.misfit("\"\(pattern)\" is no regular expression")
    }
  }
}
