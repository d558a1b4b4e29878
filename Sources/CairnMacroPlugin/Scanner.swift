// Walks over the text of a declaration: trivia, attributes, brackets, string literals, types.
//
// `position` only grows and never passes the end, and every loop moves it or ends, so any text is
// read in linear time. Nesting costs a counter or a stack of bytes, never recursion, so no depth of
// brackets overflows the call stack.

struct Scanner {
  /// A byte of UTF-8. Everything that has a meaning here is ASCII; all else is part of a name.
  typealias Byte = Unicode.Scalar

  struct Word: Equatable {
    /// The identifier without its backticks.
    let text: String
    /// Where it stands, backticks included.
    let range: Range<Int>
  }

  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ source: String) {
    bytes = Array(source.utf8)
  }

  /// The byte at `position`, or `distance` bytes after it; nil at the end.
  func peek(_ distance: Int = 0) -> Byte? {
    let index = position + distance
    return index < bytes.count ? Byte(bytes[index]) : nil
  }

  var restOfSource: Range<Int> { position..<bytes.count }

  private mutating func advance(_ distance: Int = 1) {
    position = min(position + distance, bytes.count)
  }
}

// MARK: - Words

extension Scanner {
  /// Takes the identifier or keyword at `position`; nil, without moving, where there is none.
  mutating func identifier() -> Word? {
    if peek() == "`" { return quotedIdentifier() }
    let start = position
    while let byte = peek(), byte.isPartOfName { advance() }
    return position == start ? nil : word(start..<position, in: start..<position)
  }

  private mutating func quotedIdentifier() -> Word? {
    guard let closing = bytes[(position + 1)...].firstIndex(of: UInt8(ascii: "`")) else { return nil }
    let range = position..<closing + 1
    position = range.upperBound
    return word(range.lowerBound + 1..<closing, in: range)
  }

  private func word(_ name: Range<Int>, in range: Range<Int>) -> Word {
    Word(text: String(decoding: bytes[name], as: UTF8.self), range: range)
  }
}

extension Scanner.Byte {
  fileprivate var isPartOfName: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: !isASCII
    }
  }
}

// MARK: - Trivia

extension Scanner {
  /// Skips whitespace, newlines and comments.
  mutating func skipTrivia() {
    while let byte = peek() {
      switch byte {
      case " ", "\t", "\n", "\r", "\u{B}", "\u{C}", "\0": advance()
      case "/" where isAtComment: skipComment()
      default: return
      }
    }
  }

  /// Skips to the end of the line.
  mutating func skipLine() {
    while let byte = peek(), byte != "\n", byte != "\r" { advance() }
  }

  private var isAtComment: Bool {
    peek() == "/" && (peek(1) == "/" || peek(1) == "*")
  }

  private mutating func skipComment() {
    if peek(1) == "/" { return skipLine() }
    var depth = 0
    repeat {
      switch (peek(), peek(1)) {
      case ("/", "*"):
        depth += 1
        advance(2)
      case ("*", "/"):
        depth -= 1
        advance(2)
      default: advance()
      }
    } while depth > 0 && peek() != nil
  }
}

// MARK: - Attributes and types

extension Scanner {
  /// Skips `@Name`, `@Module.Name`, `@Module::Name`, `@Name<Type>`, each with or without an argument list.
  mutating func skipAttribute() {
    skipAttributeName()
    if peek() == "(" { skipBalanced() }
  }

  /// Skips an attribute up to its argument list, with the trivia before that.
  mutating func skipAttributeName() {
    advance()
    _ = identifier()
    while let byte = peek() {
      switch byte {
      case ".", ":":
        advance()
        _ = identifier()
      case "<": skipAngles()
      default: return skipTrivia()
      }
    }
  }

  private mutating func skipAngles() {
    var open = 0
    repeat {
      open += angleStep()
    } while open > 0 && peek() != nil
  }

  /// Skips a type from its colon on; returns what ended it: `=`, `{`, `,`, or nil for the end of the source.
  mutating func skipType() -> Byte? {
    advance()
    var openAngles = 0
    while let byte = peek() {
      switch byte {
      case "=", "{": return byte
      case "," where openAngles == 0: return byte
      default: openAngles = max(0, openAngles + angleStep())
      }
    }
    return nil
  }

  // One step inside a type; returns by how much it changes the number of open angle brackets.
  private mutating func angleStep() -> Int {
    switch peek() {
    case "<":
      advance()
      return 1
    case ">":
      advance()
      return -1
    case "-" where peek(1) == ">":
      advance(2)  // the arrow of a function type closes no generic list
      return 0
    default:
      skipToken()
      return 0
    }
  }

  // A comment, a bracketed list, a quoted name, or any byte.
  private mutating func skipToken() {
    switch peek() {
    case "/" where isAtComment: skipComment()
    case "(", "[": skipBalanced()
    case "`" where identifier() != nil: break
    default: advance()
    }
  }
}

// MARK: - Lists

extension Scanner {
  /// Skips `(` or another single byte.
  mutating func skipByte() { advance() }

  /// Skips a comment, a bracketed list, a quoted name, a string literal, or any byte.
  mutating func skipElement() {
    guard peek() == "\"" || peek() == "#" else { return skipToken() }
    var open: [Nesting] = []
    openString(&open)
    while !open.isEmpty && peek() != nil { step(&open) }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The text of a range without trivia at its end.
  func trimmedText(_ range: Range<Int>) -> String {
    var inner = Scanner(text(range))
    inner.skipTrivia()
    let start = inner.position
    var end = start
    while inner.peek() != nil {
      inner.skipElement()
      end = inner.position
      inner.skipTrivia()
    }
    return inner.text(start..<end)
  }
}

// MARK: - Brackets and string literals

extension Scanner {
  private enum Nesting {
    case bracket
    /// A string literal with this many `#` on either side, and one or three quotes.
    case string(hashes: Int, quotes: Int)
  }

  /// Skips from an opening bracket to the one that closes it, whatever strings and comments hold.
  ///
  /// The kinds of brackets aren't told apart: the compiler has seen that they match.
  mutating func skipBalanced() {
    var open: [Nesting] = []
    repeat { step(&open) } while !open.isEmpty && peek() != nil
  }

  private mutating func step(_ open: inout [Nesting]) {
    if case .string(let hashes, let quotes) = open.last {
      stepInString(hashes: hashes, quotes: quotes, &open)
    } else {
      stepInBrackets(&open)
    }
  }

  private mutating func stepInBrackets(_ open: inout [Nesting]) {
    switch peek() {
    case "(", "[", "{":
      open.append(.bracket)
      advance()
    case ")", "]", "}":
      open.removeLast()
      advance()
    case "/" where isAtComment: skipComment()
    case "`" where identifier() != nil: break
    case "#", "\"": openString(&open)
    default: advance()
    }
  }

  // Takes the whole run of `#` in one go, be it a string or not, so that a long run isn't read twice.
  private mutating func openString(_ open: inout [Nesting]) {
    let start = position
    while peek() == "#" { advance() }
    let hashes = position - start
    guard peek() == "\"" else { return }
    let quotes = peek(1) == "\"" && peek(2) == "\"" ? 3 : 1
    advance(quotes)
    open.append(.string(hashes: hashes, quotes: quotes))
  }

  private mutating func stepInString(hashes: Int, quotes: Int, _ open: inout [Nesting]) {
    switch peek() {
    case "\\" where isAt("#", count: hashes, after: 1):
      advance(1 + hashes)
      if peek() == "(" { open.append(.bracket) }
      advance()
    case "\"" where isAt("\"", count: quotes, after: 0) && isAt("#", count: hashes, after: quotes):
      open.removeLast()
      advance(quotes + hashes)
    case "\n" where quotes == 1: open.removeLast()
    default: advance()
    }
  }

  private func isAt(_ byte: Byte, count: Int, after distance: Int) -> Bool {
    for index in 0..<count where peek(distance + index) != byte { return false }
    return true
  }
}
