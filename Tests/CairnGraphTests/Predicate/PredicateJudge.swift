// A third evaluator, to judge the other two by: over plain rows, naive, and sharing no code with either. It has
// conditions of its own, which know their text in the format language and what they mean.

import Foundation

/// A value of a row.
enum JudgeValue {
  case none
  case int(Int)
  case real(Double)
  case decimal(Decimal)
  case text(String)

  var number: Double? {
    switch self {
    case .int(let x): Double(x)
    case .real(let x): x
    case .decimal(let x): Double("\(x)")
    default: nil
    }
  }

  var isNone: Bool {
    if case .none = self { true } else { false }
  }

  /// As a literal of the format language; `%@` and an argument where there is none.
  var argument: Any? {
    switch self {
    case .none: nil
    case .int(let x): x
    case .real(let x): x
    case .decimal(let x): NSDecimalNumber(decimal: x)
    case .text(let x): x
    }
  }

  /// nil for what isn't exactly one, or of another type.
  var exact: Decimal? {
    switch self {
    case .int(let x): Decimal(x)
    case .decimal(let x): x
    default: nil
    }
  }
}

/// A row: its values, a to-one, an unordered and an ordered to-many, by their numbers.
struct JudgeRow {
  var values: [String: JudgeValue]
  var parent: Int?
  var kids: [Int] = []
  var links: [Int] = []
}

/// What is compared.
indirect enum JudgeExpression {
  case constant(JudgeValue)
  /// An attribute behind so many steps to the parent.
  case attribute(parents: Int, String)
  case arithmetic(JudgeExpression, String, JudgeExpression)
  /// `kids.@sum.i` and its like; `kids` or `links`.
  case figure(String, String, String?)

  func text(_ variable: String, _ arguments: inout [Any?]) -> String {
    switch self {
    case .constant(let value):
      arguments.append(value.argument)
      return "%@"
    case .attribute(let parents, let name):
      return variable + String(repeating: "parent.", count: parents) + name
    case .arithmetic(let a, "%", let b):
      let left = a.text(variable, &arguments)
      return "modulus:by:(\(left), \(b.text(variable, &arguments)))"
    case .arithmetic(let a, let op, let b):
      let left = a.text(variable, &arguments)
      return "(\(left) \(op) \(b.text(variable, &arguments)))"
    case .figure(let relation, let op, let name):
      return "\(variable)\(relation).\(op)" + (name.map { ".\($0)" } ?? "")
    }
  }
}

/// A condition.
indirect enum JudgeCondition {
  case compare(JudgeExpression, String, JudgeExpression, options: String)
  case isIn(JudgeExpression, [JudgeValue])
  case between(JudgeExpression, JudgeValue, JudgeValue)
  /// ANY or ALL over an attribute of the members.
  case some(String, relation: String, name: String, String, JudgeValue, options: String)
  case count(relation: String, JudgeCondition, String, Int)
  case and([JudgeCondition])
  case or([JudgeCondition])
  case not(JudgeCondition)

  func text(_ variable: String, _ depth: Int, _ arguments: inout [Any?]) -> String {
    switch self {
    case .compare(let a, let op, let b, let options):
      let left = a.text(variable, &arguments)
      return "\(left) \(op)\(options) \(b.text(variable, &arguments))"
    case .isIn(let a, let list):
      let left = a.text(variable, &arguments)
      arguments.append(list.map { $0.argument ?? NSNull() })
      return "\(left) IN %@"
    case .between(let a, let low, let high):
      let left = a.text(variable, &arguments)
      arguments.append([low.argument, high.argument])
      return "\(left) BETWEEN %@"
    case .some(let word, let relation, let name, let op, let value, let options):
      arguments.append(value.argument)
      return "\(word) \(variable)\(relation).\(name) \(op)\(options) %@"
    case .count(let relation, let condition, let op, let number):
      let inner = condition.text("$v\(depth).", depth + 1, &arguments)
      return "SUBQUERY(\(variable)\(relation), $v\(depth), \(inner)).@count \(op) \(number)"
    case .and(let parts):
      return parts.map { "(\($0.text(variable, depth, &arguments)))" }.joined(separator: " AND ")
    case .or(let parts):
      return parts.map { "(\($0.text(variable, depth, &arguments)))" }.joined(separator: " OR ")
    case .not(let part): return "NOT (\(part.text(variable, depth, &arguments)))"
    }
  }
}

/// Rows, and what conditions say of them.
struct Judge {
  let rows: [JudgeRow]

  func holds(_ condition: JudgeCondition, _ row: JudgeRow) -> Bool {
    switch condition {
    case .compare(let a, let op, let b, let options):
      return Judge.compare(value(a, row), op, value(b, row), options)
    case .isIn(let a, let list):
      let value = value(a, row)
      return !value.isNone && list.contains { !$0.isNone && Judge.compare(value, "==", $0, "") }
    case .between(let a, let low, let high):
      let value = value(a, row)
      return Judge.compare(value, ">=", low, "") && Judge.compare(value, "<=", high, "")
    case .some(let word, let relation, let name, let op, let value, let options):
      var elements = members(row, relation).map { rows[$0].values[name] ?? .none }
      // In a set nil is dropped; in order it stays, as something that equals nothing and has no order.
      let isOrdered = relation == "links"
      if !isOrdered { elements.removeAll { $0.isNone } }
      let answers = elements.map { element in
        element.isNone ? op == "!=" : Judge.compare(element, op, value, options)
      }
      return word == "ALL" ? !answers.contains(false) : answers.contains(true)
    case .count(let relation, let condition, let op, let number):
      let count = members(row, relation).count { holds(condition, rows[$0]) }
      return Judge.compare(.int(count), op, .int(number), "")
    case .and(let parts): return parts.allSatisfy { holds($0, row) }
    case .or(let parts): return parts.contains { holds($0, row) }
    case .not(let part): return !holds(part, row)
    }
  }

  private func members(_ row: JudgeRow, _ relation: String) -> [Int] {
    relation == "kids" ? row.kids : row.links
  }

  func value(_ expression: JudgeExpression, _ row: JudgeRow) -> JudgeValue {
    switch expression {
    case .constant(let value): return value
    case .attribute(let parents, let name):
      var row = row
      for _ in 0..<parents {
        guard let parent = row.parent else { return .none }
        row = rows[parent]
      }
      return row.values[name] ?? .none
    case .arithmetic(let a, let op, let b): return Judge.arithmetic(value(a, row), op, value(b, row))
    case .figure(let relation, let op, let name):
      let members = members(row, relation)
      guard let name else { return .int(members.count) }
      let values = members.map { rows[$0].values[name] ?? .none }
      let sum = values.reduce(JudgeValue.int(0)) { $1.isNone ? $0 : Judge.arithmetic($0, "+", $1) }
      switch op {
      case "@sum": return sum
      case "@avg":
        if members.isEmpty { return .real(0) }
        if case .decimal(let x) = sum { return .decimal(x / Decimal(members.count)) }
        return .real((sum.number ?? 0) / Double(members.count))
      default:
        let present = values.filter { !$0.isNone }
        return present.first { candidate in
          present.allSatisfy { Judge.compare(candidate, op == "@min" ? "<=" : ">=", $0, "") }
        } ?? .none
      }
    }
  }

  private static func arithmetic(_ a: JudgeValue, _ op: String, _ b: JudgeValue) -> JudgeValue {
    if case .int(let x) = a, case .int(let y) = b {
      switch op {
      case "+": return .int(x + y)
      case "-": return .int(x - y)
      case "*": return .int(x * y)
      case "/": return y == 0 ? .none : .int(x / y)
      case "&": return .int(x & y)
      case "|": return .int(x | y)
      case "^": return .int(x ^ y)
      case "<<": return .int(x << y)
      case ">>": return .int(x >> y)
      default: return y == 0 ? .none : .int(x % y)
      }
    }
    if let x = a.exact, let y = b.exact {
      switch op {
      case "+": return .decimal(x + y)
      case "-": return .decimal(x - y)
      case "*": return .decimal(x * y)
      case "/": return y == 0 ? .none : .decimal(x / y)
      default: return y == 0 ? .none : .decimal(remainder(x, y))
      }
    }
    guard let x = a.number, let y = b.number else { return .none }
    switch op {
    case "+": return .real(x + y)
    case "-": return .real(x - y)
    case "*": return .real(x * y)
    case "/": return .real(x / y)
    default: return .real(fmod(x, y))
    }
  }

  private static func remainder(_ x: Decimal, _ y: Decimal) -> Decimal {
    var quotient = x / y
    var whole = Decimal()
    NSDecimalRound(&whole, &quotient, 0, quotient < 0 ? .up : .down)
    return x - whole * y
  }

  // MARK: Comparing

  static func compare(_ a: JudgeValue, _ op: String, _ b: JudgeValue, _ options: String) -> Bool {
    switch (op, a.isNone, b.isNone) {
    case ("==", true, true): return true
    case ("!=", true, true): return false
    case ("!=", true, false), ("!=", false, true): return true
    case (_, true, _), (_, _, true): return false
    default: break
    }
    if case .text(let x) = a, case .text(let y) = b { return compare(x, op, y, options) }
    guard let x = a.number, let y = b.number else { return op == "!=" }
    if let x = a.exact, let y = b.exact { return test(x < y ? -1 : (x > y ? 1 : 0), op) }
    // A decimal and a double that round to one double differ where their digits do.
    if x == y, x.isFinite {
      if case .decimal(let x) = a { return test(numeralOrder("\(x)", String(format: "%.1080f", y)), op) }
      if case .decimal(let y) = b { return test(numeralOrder(String(format: "%.1080f", x), "\(y)"), op) }
    }
    // NaN is the least number, and equals itself.
    let order = x.isNaN || y.isNaN ? (x.isNaN ? (y.isNaN ? 0 : -1) : 1) : (x < y ? -1 : (x > y ? 1 : 0))
    return test(order, op)
  }

  /// The order of two numerals of one sign.
  private static func numeralOrder(_ a: String, _ b: String) -> Int {
    func digits(_ text: String) -> [UInt8] {
      let parts = text.drop { $0 == "-" }.split(separator: ".")
      let fraction = parts.count > 1 ? String(parts[1]) : ""
      let whole = String(repeating: "0", count: max(0, 400 - parts[0].count)) + parts[0]
      return Array((whole + fraction + String(repeating: "0", count: 1200 - fraction.count)).utf8)
    }
    let (x, y) = (digits(a), digits(b))
    let isZero = x.allSatisfy { $0 == 0x30 } && y.allSatisfy { $0 == 0x30 }
    if x == y || isZero { return 0 }
    return x.lexicographicallyPrecedes(y) != a.hasPrefix("-") ? -1 : 1
  }

  private static func test(_ order: Int, _ op: String) -> Bool {
    switch op {
    case "==": order == 0
    case "!=": order != 0
    case "<": order < 0
    case "<=": order <= 0
    case ">": order > 0
    default: order >= 0
    }
  }

  private static func compare(_ a: String, _ op: String, _ b: String, _ options: String) -> Bool {
    let isLike = op == "LIKE"
    let (x, y) = (folded(a, options, composed: isLike), folded(b, options, composed: isLike))
    switch op {
    case "BEGINSWITH": return Array(x.utf8).starts(with: Array(y.utf8))
    case "ENDSWITH": return Array(x.utf8).reversed().starts(with: Array(y.utf8).reversed())
    case "CONTAINS":
      let (text, part) = (Array(x.utf8), Array(y.utf8))
      return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
    case "LIKE": return like(Array(x.unicodeScalars)[...], Array(y.unicodeScalars)[...])
    case "==": return Array(x.utf8) == Array(y.utf8)
    case "!=": return Array(x.utf8) != Array(y.utf8)
    default: return test(order(x, y), op)
    }
  }

  private static func folded(_ text: String, _ options: String, composed: Bool) -> String {
    if options.isEmpty { return text }
    var how: String.CompareOptions = []
    if options.contains("c") { how.insert(.caseInsensitive) }
    if options.contains("d") { how.insert(.diacriticInsensitive) }
    let folded = text.folding(options: how, locale: nil)
    return composed
      ? folded.precomposedStringWithCanonicalMapping : folded.decomposedStringWithCanonicalMapping
  }

  /// By decomposed scalars, then by bytes.
  private static func order(_ a: String, _ b: String) -> Int {
    let x = a.decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
    let y = b.decomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
    if x != y { return x.lexicographicallyPrecedes(y) ? -1 : 1 }
    if Array(a.utf8) == Array(b.utf8) { return 0 }
    return Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8)) ? -1 : 1
  }

  private static func like(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
  ) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == "*" { return like(text, rest) || (!text.isEmpty && like(text.dropFirst(), pattern)) }
    guard let character = text.first else { return false }
    return (first == "?" || first == character) && like(text.dropFirst(), rest)
  }
}
