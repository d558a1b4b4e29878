// The words of the format language: what the lexer makes of text and the parser takes.

/// One word of a format string, by its place in the bytes.
struct PredicateToken {
  enum Kind: UInt8 {
    case end
    case identifier, hashIdentifier, variable, collectionOperator, number, string, placeholder
    // Keywords.
    case and, or, not, `in`, all, any, some, none, like, matches, contains, beginsWith, endsWith, between
    case `nil`, `self`, `true`, `false`, first, last, size, anyKey, subquery, fetch, cast, function, ternary
    case truePredicate, falsePredicate, union, intersect, minus
    case caseInsensitive, typeConforms, typeEquals
    // Symbols.
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case openParenthesis, closeParenthesis, openBrace, closeBrace, openBracket, closeBracket
    case comma, dot, colon, plus, dash, star, slash, power
    case ampersand, bar, caret, shiftLeft, shiftRight, tilde, assign
    case doubleAmpersand, doubleBar, exclamation, percent
  }

  var kind: Kind
  /// Offsets of bytes.
  var start: Int
  var end: Int

  static let keywords: [UInt128: Kind] = {
    var result: [UInt128: Kind] = [:]
    for (word, kind) in words { result[pack(Array(word.utf8)[...])!] = kind }
    return result
  }()

  private static let words: [(String, Kind)] = [
    ("AND", .and), ("OR", .or), ("NOT", .not), ("IN", .in), ("ALL", .all), ("ANY", .any), ("SOME", .some),
    ("NONE", .none), ("LIKE", .like), ("MATCHES", .matches), ("CONTAINS", .contains),
    ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith), ("BETWEEN", .between), ("NULL", .nil),
    ("NIL", .nil), ("SELF", .self), ("TRUE", .true), ("YES", .true), ("FALSE", .false), ("NO", .false),
    ("FIRST", .first), ("LAST", .last), ("SIZE", .size), ("ANYKEY", .anyKey), ("SUBQUERY", .subquery),
    ("FETCH", .fetch), ("CAST", .cast), ("FUNCTION", .function), ("TERNARY", .ternary),
    ("TRUEPREDICATE", .truePredicate), ("FALSEPREDICATE", .falsePredicate), ("UNION", .union),
    ("INTERSECT", .intersect), ("MINUS", .minus), ("CASEINSENSITIVE", .caseInsensitive),
    ("CI", .caseInsensitive),
  ]

  /// A word in upper case as one integer; nil where it is longer than any keyword.
  @inline(__always)
  static func pack(_ word: ArraySlice<UInt8>) -> UInt128? {
    guard word.count <= 15 else { return nil }
    var packed: UInt128 = 0
    for byte in word { packed = packed << 8 | UInt128(byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte) }
    return packed
  }

  /// The keyword that `name` would be read as; nil for other names.
  static func keyword(_ name: String) -> Kind? {
    pack(Array(name.utf8)[...]).flatMap { keywords[$0] }
  }
}

extension PredicateToken.Kind {
  /// Words that only mean something between brackets or operands, and are names elsewhere.
  var isContextual: Bool {
    switch self {
    case .first, .last, .size, .union, .intersect, .minus, .caseInsensitive: true
    default: false
    }
  }

  var isKeyword: Bool { rawValue >= Self.and.rawValue && rawValue <= Self.typeEquals.rawValue }

  var comparison: ComparisonOperator? {
    switch self {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    case .in: .isIn
    case .between: .between
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .like: .like
    case .matches: .matches
    default: nil
    }
  }
}
