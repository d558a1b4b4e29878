// The places of a format string that arguments go to.
//
// In a parsed template a hole stands as a variable, a step of a key path or a selector whose name begins with a NUL;
// the number of the hole follows. No name in a text begins so but a selector, which is a string: that is escaped.

/// What an argument has to be.
enum FormatPlaceholder: Sendable {
  /// `%@`: any expression.
  case any
  /// `%K`: the text of a key path.
  case key
  /// `%d`, `%f` and their like.
  case number
  /// `%c`, `%s`, `%S`.
  case text
  /// A placeholder for a string where FUNCTION has the name of a method.
  case selector

  init?(letter: UInt8) {
    switch letter {
    case UInt8(ascii: "@"): self = .any
    case UInt8(ascii: "K"): self = .key
    case UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "U"),
      UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "o"), UInt8(ascii: "O"), UInt8(ascii: "f"),
      UInt8(ascii: "F"), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "g"), UInt8(ascii: "G"),
      UInt8(ascii: "a"), UInt8(ascii: "A"):
      self = .number
    case UInt8(ascii: "c"), UInt8(ascii: "C"), UInt8(ascii: "s"), UInt8(ascii: "S"): self = .text
    default: return nil
    }
  }

  static func marker(_ number: Int) -> String { "\u{0}\(number)" }

  /// The number of the hole that a name stands for; nil for other names.
  @inline(__always)
  static func number(of name: String) -> Int? {
    name.utf8.first == 0 ? Int(name.dropFirst()) : nil
  }

  /// A literal name that begins with a NUL, so that it isn't read as a marker.
  static func escaped(_ name: String) -> String { "\u{0}" + name }

  static func unescaped(_ name: String) -> String {
    name.utf8.starts(with: [0, 0]) ? String(name.unicodeScalars.dropFirst()) : name
  }

  /// What stands in the place of the hole for `argument`; nil if it doesn't fit.
  func accepts(_ argument: ExpressionTree) -> Bool {
    switch (self, argument) {
    case (.any, _): return true
    case (.number, .constant(let value)): return value.family == .number
    case (.key, .constant(.string(let text))), (.selector, .constant(.string(let text))):
      return !text.isEmpty
    case (.text, .constant(.string)), (.text, .constant(.int)): return true
    default: return false
    }
  }

  var requirement: String {
    switch self {
    case .any: "an expression"
    case .key: "a string that names a key path"
    case .number: "a number"
    case .text: "a string"
    case .selector: "a string that names a method"
    }
  }
}
