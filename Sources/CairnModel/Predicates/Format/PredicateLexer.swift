// Cuts a format string into words. Nothing is allocated for a word: the parser reads its bytes when it needs
// them.

/// Reads one word after the other. Throws for characters that begin none and for text that doesn't end.
struct PredicateLexer {
  let format: String
  let bytes: [UInt8]
  private var position = 0

  init(_ format: String) {
    self.format = format
    bytes = Array(format.utf8)
  }

  func error(_ message: String, at byte: Int) -> PredicateFormatError {
    let end = format.utf8.index(format.startIndex, offsetBy: byte)
    return PredicateFormatError(
      format: format, offset: format[..<end].count, message: message)
  }

  /// The text of a word as an error message shows it.
  func text(_ token: PredicateToken) -> String {
    let cut = bytes[token.start..<min(token.end, token.start + 40)]
    return String(decoding: cut, as: UTF8.self) + (token.end - token.start > 40 ? "…" : "")
  }

  private func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  mutating func next() throws -> PredicateToken {
    try skipBlanks()
    let start = position
    guard start < bytes.count else { return PredicateToken(kind: .end, start: start, end: start) }
    let first = bytes[start]
    let kind: PredicateToken.Kind
    switch first {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
      skipName()
      kind = keyword(start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      try skipNumber()
      kind = .number
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      try skipString()
      kind = .string
    case UInt8(ascii: "$"): kind = try named(.variable, "a variable")
    case UInt8(ascii: "@"): kind = try named(.collectionOperator, "a collection operator")
    case UInt8(ascii: "#"): kind = try hashed()
    case UInt8(ascii: "%"): kind = try placeholder()
    case UInt8(ascii: ".") where PredicateLexer.isDigit(byte(start + 1)):
      try skipNumber()
      kind = .number
    default:
      let (symbol, length) = symbol(first, byte(start + 1))
      guard let symbol else { throw unexpected(start) }
      position += length
      kind = symbol
    }
    return PredicateToken(kind: kind, start: start, end: position)
  }

  private func unexpected(_ start: Int) -> PredicateFormatError {
    let end = format.utf8.index(format.startIndex, offsetBy: start)
    let character = format[end...].first.map(String.init) ?? ""
    let isLetter = character.first?.isLetter ?? false
    return error(
      isLetter
        ? "a name begins with a letter from A to Z or \"_\"; write #\(character)… for another one"
        : "nothing begins with \"\(character)\"", at: start)
  }

  // MARK: Blanks and symbols

  private mutating func skipBlanks() throws {
    while position < bytes.count {
      let byte = bytes[position]
      if byte == 0x20 || byte >= 0x09 && byte <= 0x0D {
        position += 1
      } else if byte >= 0x80, let scalar = scalar(at: position), scalar.properties.isWhitespace {
        position += UTF8.width(scalar)
      } else {
        return
      }
    }
  }

  private func symbol(_ first: UInt8, _ second: UInt8) -> (PredicateToken.Kind?, Int) {
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): (.equal, 2)
    case (UInt8(ascii: "="), UInt8(ascii: "<")): (.lessOrEqual, 2)
    case (UInt8(ascii: "="), UInt8(ascii: ">")): (.greaterOrEqual, 2)
    case (UInt8(ascii: "="), _): (.equal, 1)
    case (UInt8(ascii: "!"), UInt8(ascii: "=")): (.notEqual, 2)
    case (UInt8(ascii: "!"), _): (.exclamation, 1)
    case (UInt8(ascii: "<"), UInt8(ascii: "=")): (.lessOrEqual, 2)
    case (UInt8(ascii: "<"), UInt8(ascii: ">")): (.notEqual, 2)
    case (UInt8(ascii: "<"), UInt8(ascii: "<")): (.shiftLeft, 2)
    case (UInt8(ascii: "<"), _): (.less, 1)
    case (UInt8(ascii: ">"), UInt8(ascii: "=")): (.greaterOrEqual, 2)
    case (UInt8(ascii: ">"), UInt8(ascii: ">")): (.shiftRight, 2)
    case (UInt8(ascii: ">"), _): (.greater, 1)
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): (.doubleAmpersand, 2)
    case (UInt8(ascii: "&"), _): (.ampersand, 1)
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): (.doubleBar, 2)
    case (UInt8(ascii: "|"), _): (.bar, 1)
    case (UInt8(ascii: "*"), UInt8(ascii: "*")): (.power, 2)
    case (UInt8(ascii: "*"), _): (.star, 1)
    case (UInt8(ascii: ":"), UInt8(ascii: "=")): (.assign, 2)
    case (UInt8(ascii: ":"), _): (.colon, 1)
    case (UInt8(ascii: "("), _): (.openParenthesis, 1)
    case (UInt8(ascii: ")"), _): (.closeParenthesis, 1)
    case (UInt8(ascii: "{"), _): (.openBrace, 1)
    case (UInt8(ascii: "}"), _): (.closeBrace, 1)
    case (UInt8(ascii: "["), _): (.openBracket, 1)
    case (UInt8(ascii: "]"), _): (.closeBracket, 1)
    case (UInt8(ascii: ","), _): (.comma, 1)
    case (UInt8(ascii: "."), _): (.dot, 1)
    case (UInt8(ascii: "+"), _): (.plus, 1)
    case (UInt8(ascii: "-"), _): (.dash, 1)
    case (UInt8(ascii: "/"), _): (.slash, 1)
    case (UInt8(ascii: "^"), _): (.caret, 1)
    case (UInt8(ascii: "~"), _): (.tilde, 1)
    default: (nil, 0)
    }
  }

  // MARK: Names

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  private static func beginsName(_ byte: UInt8) -> Bool {
    byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte == 0x5F
  }

  /// The scalar at a place that begins one: format strings are valid UTF-8.
  private func scalar(at offset: Int) -> Unicode.Scalar? {
    let first = bytes[offset]
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    return String(decoding: bytes[offset..<min(offset + length, bytes.count)], as: UTF8.self)
      .unicodeScalars.first
  }

  /// Beyond its first character a name may hold letters, digits and marks of all scripts.
  static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    if scalar == "_" { return true }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      return true
    default: return false
    }
  }

  private mutating func skipName() {
    while position < bytes.count {
      let byte = bytes[position]
      if PredicateLexer.beginsName(byte) || PredicateLexer.isDigit(byte) {
        position += 1
      } else if byte >= 0x80, let scalar = scalar(at: position), PredicateLexer.continuesName(scalar) {
        position += UTF8.width(scalar)
      } else {
        return
      }
    }
  }

  private mutating func keyword(_ start: Int) -> PredicateToken.Kind {
    guard let packed = PredicateToken.pack(bytes[start..<position]) else { return .identifier }
    if let kind = PredicateToken.keywords[packed] { return kind }
    if position - start == 3, byte(position) == UInt8(ascii: "-") {
      for (rest, kind) in [("-CONFORMS-TO", PredicateToken.Kind.typeConforms), ("-EQUALS", .typeEquals)] {
        let end = position + rest.utf8.count
        guard end <= bytes.count,
          String(decoding: bytes[start..<end], as: UTF8.self).uppercased() == "UTI" + rest
        else { continue }
        position = end
        return kind
      }
    }
    return .identifier
  }

  /// A name after one character that says what it is.
  private mutating func named(_ kind: PredicateToken.Kind, _ what: String) throws -> PredicateToken.Kind {
    let start = position
    position += 1
    guard PredicateLexer.beginsName(byte(position)) else {
      throw error("\(what) needs a name that begins with a letter from A to Z or \"_\"", at: start)
    }
    skipName()
    return kind
  }

  /// Names of any script may stand behind `#`.
  private mutating func hashed() throws -> PredicateToken.Kind {
    let start = position
    position += 1
    skipName()
    guard position > start + 1, !PredicateLexer.isDigit(bytes[start + 1]) else {
      throw error("a name is missing after \"#\"", at: start)
    }
    return .hashIdentifier
  }

  // MARK: Literals and placeholders

  private mutating func skipNumber() throws {
    let start = position
    if byte(start) == 0x30, let radix = PredicateLexer.radix(byte(start + 1)) {
      position += 2
      let digits = position
      while let digit = PredicateLexer.digit(byte(position)), digit < radix { position += 1 }
      if position == digits { throw error("a number ends after its \"\(text(start, digits))\"", at: start) }
    } else {
      while PredicateLexer.isDigit(byte(position)) { position += 1 }
      if byte(position) == UInt8(ascii: "."), PredicateLexer.isDigit(byte(position + 1)) {
        position += 1
        while PredicateLexer.isDigit(byte(position)) { position += 1 }
      }
      if byte(position) | 0x20 == UInt8(ascii: "e") {
        let sign = byte(position + 1) == UInt8(ascii: "+") || byte(position + 1) == UInt8(ascii: "-")
        if PredicateLexer.isDigit(byte(position + (sign ? 2 : 1))) {
          position += sign ? 2 : 1
          while PredicateLexer.isDigit(byte(position)) { position += 1 }
        }
      }
    }
    let end = position
    skipName()
    if position > end { throw error("a name can't begin with a digit", at: start) }
  }

  private func text(_ start: Int, _ end: Int) -> String {
    String(decoding: bytes[start..<end], as: UTF8.self)
  }

  static func radix(_ byte: UInt8) -> Int? {
    switch byte | 0x20 {
    case UInt8(ascii: "x"): 16
    case UInt8(ascii: "b"): 2
    case UInt8(ascii: "o"): 8
    default: nil
    }
  }

  static func digit(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte) - 0x30
    case 0x41...0x46: Int(byte) - 0x41 + 10
    case 0x61...0x66: Int(byte) - 0x61 + 10
    default: nil
    }
  }

  private mutating func skipString() throws {
    let start = position
    let quote = bytes[start]
    position += 1
    while position < bytes.count {
      let byte = bytes[position]
      if byte == quote {
        position += 1
        return
      }
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    position = bytes.count
    throw error("the string that begins here has no end", at: start)
  }

  /// `%` with the flags and lengths that C allows, and one letter.
  private mutating func placeholder() throws -> PredicateToken.Kind {
    let start = position
    position += 1
    if byte(position) == UInt8(ascii: "%") {
      position += 1
      return .percent
    }
    while PredicateLexer.isDigit(byte(position)) || byte(position) == UInt8(ascii: ".") { position += 1 }
    while "hlLqzjt".utf8.contains(byte(position)) { position += 1 }
    guard FormatPlaceholder(letter: byte(position)) != nil else {
      let end = min(position + 1, bytes.count)
      // The letter may be the first byte of a longer character.
      let shown = String(decoding: bytes[start..<end], as: UTF8.self).filter { $0 != "\u{FFFD}" }
      throw error("\"\(shown)\" is no placeholder", at: start)
    }
    position += 1
    return .placeholder
  }
}
