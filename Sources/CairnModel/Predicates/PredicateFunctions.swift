// The predefined functions of predicates: their names, how many arguments they take, and which of them are
// written as operators. A new one is a line here, then a case in each evaluator.

/// What `.function` nodes may name.
public enum PredicateFunctions {
  /// How many arguments a function takes; nil for a name that isn't predefined.
  public static func argumentCount(of name: String) -> ClosedRange<Int>? { counts[name] }

  /// Every predefined name, in alphabetical order.
  public static let names: [String] = counts.keys.sorted()

  static let add = "add:to:"
  static let subtract = "from:subtract:"
  static let multiply = "multiply:by:"
  static let divide = "divide:by:"
  static let power = "raise:toPower:"
  static let and = "bitwiseAnd:with:"
  static let or = "bitwiseOr:with:"
  static let xor = "bitwiseXor:with:"
  static let shiftLeft = "leftshift:by:"
  static let shiftRight = "rightshift:by:"
  static let complement = "onesComplement:"
  static let cast = "castObject:toType:"

  private static let counts: [String: ClosedRange<Int>] = {
    var result: [String: ClosedRange<Int>] = [:]
    // Of a collection, or of the arguments themselves.
    for name in ["sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:"] {
      result[name] = 1...Int.max
    }
    for name in [
      add, subtract, multiply, divide, power, "modulus:by:", and, or, xor, shiftLeft, shiftRight, cast,
      "objectFrom:withIndex:", "distanceToLocation:fromLocation:",
    ] { result[name] = 2...2 }
    for name in [
      "sqrt:", "log:", "ln:", "exp:", "ceiling:", "abs:", "trunc:", "floor:", "randomn:", complement,
      "uppercase:", "lowercase:", "length:", "canonical:", "noindex:",
    ] { result[name] = 1...1 }
    result["now"] = 0...0
    result["random"] = 0...0
    return result
  }()

  /// The sign between the two arguments of a function that is written so.
  static func infix(_ name: String) -> String? { signs[name] }

  private static let signs = [
    add: "+", subtract: "-", multiply: "*", divide: "/", power: "**", and: "&", or: "|", xor: "^",
    shiftLeft: "<<", shiftRight: ">>",
  ]
}

extension ExpressionTree {
  /// `CAST(value, type)`. Of constants that have no other text in the language, the constant itself: a number
  /// as a date, and a double that is no number or infinite.
  static func cast(_ value: ExpressionTree, to type: ExpressionTree) -> ExpressionTree {
    if case .constant(let constant) = value, case .constant(.string(let name)) = type {
      switch (constant, name) {
      case (.int(let x), "NSDate"): return .constant(.date(.init(timeIntervalSinceReferenceDate: Double(x))))
      case (.double(let x), "NSDate"): return .constant(.date(.init(timeIntervalSinceReferenceDate: x)))
      case (.string("nan"), "NSNumber"): return .constant(.double(.nan))
      case (.string("inf"), "NSNumber"): return .constant(.double(.infinity))
      case (.string("-inf"), "NSNumber"): return .constant(.double(-.infinity))
      default: break
      }
    }
    return .function(PredicateFunctions.cast, [value, type])
  }
}
