// The string operators by example.

import Foundation
import Testing

@testable import CairnModel

struct StringMatcherTests {
  private func matches(
    _ text: String, _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions = []
  ) -> Bool? {
    var text = text
    return StringMatcher(op, pattern, options).map { matcher in text.withUTF8 { matcher.matches($0) } }
  }

  private let c: StringOptions = .caseInsensitive
  private let d: StringOptions = .diacriticInsensitive

  @Test func `without options letters are compared by their bytes`() {
    #expect(matches("Émile", .beginsWith, "É") == true)
    #expect(matches("E\u{301}mile", .beginsWith, "É") == false)
    #expect(matches("café", .endsWith, "é") == true && matches("café", .contains, "f") == true)
    #expect(matches("abc", .beginsWith, "abcd") == false && matches("abc", .endsWith, "xabc") == false)
    #expect(matches("ababac", .contains, "abac") == true && matches("ababab", .contains, "abac") == false)
  }

  @Test func `an empty needle is found in every string`() {
    for op in [ComparisonOperator.beginsWith, .endsWith, .contains] {
      #expect(matches("abc", op, "") == true && matches("", op, "") == true)
    }
    #expect(
      matches("", .isIn, "abc") == true && matches("", .like, "") == true && matches("", .matches, "") == true
    )
    #expect(matches("", .like, "?") == false && matches("a", .like, "") == false)
  }

  @Test func `[c] folds case and [d] diacritics, of composed and decomposed letters alike`() {
    for (a, b) in [
      ("É", "é"), ("E\u{301}", "é"), ("ÀB", "a\u{300}b"), ("Σ", "σ"), ("Σ", "ς"), ("Ǆ", "ǆ"), ("K", "K"),
    ] {
      #expect(matches(a, .equal, b, c) == true, "\(a) \(b)")
      #expect(matches(b, .equal, a, c) == true, "\(b) \(a)")
    }
    for (a, b) in [("é", "e"), ("e\u{301}", "e"), ("São", "Sao"), ("nai\u{308}ve", "naïve"), ("ế", "e")] {
      #expect(matches(a, .equal, b, d) == true, "\(a) \(b)")
      #expect(matches(a, .equal, b) == false)
    }
    #expect(matches("É", .equal, "é", d) == false && matches("é", .equal, "e", c) == false)
    #expect(matches("ÉCOLE", .beginsWith, "eco", [c, d]) == true)
    #expect(matches("école", .contains, "COL", [c, d]) == true && matches("x", .isIn, "AXB", c) == true)
    #expect(matches("B", .greater, "a", c) == true && matches("b", .greater, "B", c) == false)
  }

  @Test func `folding ASCII is lower-casing, whatever the options`() {
    for options in [c, d, [c, d]] as [StringOptions] {
      for byte in UInt8(0)..<128 {
        let text = String(UnicodeScalar(byte))
        #expect(
          StringMatcher.fold(text, options) == (options.contains(c) ? text.lowercased() : text), "\(byte)")
      }
    }
  }

  @Test func `LIKE: a star is any run, a question mark one character, a backslash takes the next as it is`() {
    for (text, pattern, expected) in [
      ("Alice", "A*e", true), ("Alice", "*", true), ("", "*", true), ("Alice", "A????", true),
      ("Alice", "A???", false),
      ("Alice", "lic", false), ("a*b", "a\\*b", true), ("axb", "a\\*b", false), ("a?b", "a\\?b", true),
      ("a\\b", "a\\\\b", true), ("a\\", "a\\", true), ("abcabd", "*abd", true), ("aaaaab", "*a*b", true),
      ("mississippi", "m*iss*ip*", true), ("mississippi", "m*iss*ix*", false), ("é", "?", true),
      ("👍", "?", true),
      ("a.b", "a.b", true), ("axb", "a.b", false), ("a\nb", "a*b", true), ("**", "\\**", true),
      ("ab", "a**b", true),
    ] {
      #expect(matches(text, .like, pattern) == expected, "\(text) LIKE \(pattern)")
    }
  }

  @Test func `LIKE with options takes a letter with its accents for one character`() {
    #expect(matches("CAFÉ", .like, "caf?", c) == true)
    #expect(matches("CAFE\u{301}", .like, "caf?", c) == true)
    #expect(
      matches("CAFÉ", .like, "caf\u{E9}", c) == true && matches("CAFÉ", .like, "cafe\u{301}", c) == true)
    #expect(matches("café", .like, "CAF?", [c, d]) == true && matches("café", .like, "*FE", [c, d]) == true)
  }

  @Test func `a long LIKE takes no longer than the product of the lengths`() {
    let text = String(repeating: "a", count: 2000)
    #expect(matches(text, .like, String(repeating: "*a", count: 20) + "b") == false)
  }

  @Test func `MATCHES has to match the whole string`() {
    for (text, pattern, expected) in [
      ("Alice", "A.*e", true), ("Alice", "lic", false), ("ab", "a|ab", true), ("abc", "a|ab", false),
      ("abc", "a|abc", true),
      ("abc\n", "abc", false), ("abc\r", "abc", false), ("abc\u{2028}", "abc", false),
      ("a\nb", "a\\sb", true),
      ("x", "", false), ("a b", "(?x) a \\  b  # comment", true), ("a+", "\\Qa+", true), ("A", "(?i)a", true),
      ("a\nb", "(?m)a$", false), ("日本", "..", true), ("👍", ".", true),
    ] {
      #expect(matches(text, .matches, pattern) == expected, "\(text.debugDescription) MATCHES \(pattern)")
    }
    #expect(
      matches("ALICE", .matches, "a[a-z]+", c) == true && matches("ALICE", .matches, "a[a-z]+") == false)
    #expect(matches("São", .matches, "S[a]o", d) == true && matches("Sao", .matches, "São", d) == true)
  }

  @Test func `what is no expression is refused, even if brackets around it would mend it`() {
    for pattern in ["a)(b", "[", "(", ")", "*a", "a{2,1}", "\\"] {
      #expect(matches("x", .matches, pattern) == nil, "\(pattern)")
    }
  }

  @Test func `only a comparison for being different holds for nil`() throws {
    for op in ComparisonOperator.allCases where op != .between {
      #expect(try #require(StringMatcher(op, "x", c)).nullResult == (op == .notEqual))
    }
  }

  @Test func `an expression that backtracks without end gives up, and the request says so`() throws {
    var text = String(repeating: "a", count: 60)
    let hostile = try #require(StringMatcher(.matches, "(a+)+b", [], regexWork: 20))
    #expect(text.withUTF8 { !hostile.matches($0) } && hostile.hasRunOut)
    let sound = try #require(StringMatcher(.matches, "a*", [], regexWork: 0))
    #expect(text.withUTF8 { sound.matches($0) } && !sound.hasRunOut)

    let source = TestSource(itemSchema, ["Item": [.init(key: 1, values: ["string": .string(text)])]])
    func query(_ pattern: Value) throws -> RowQuery {
      try RowQuery(
        entity: EntityID(0), includesSubentities: true, predicate: .compare("string", .matches, pattern),
        source: source)
    }
    let fine = try query("a+")
    #expect(fine.count() == 1)
    try fine.checkPatterns()
    let endless = try query("(a+)+b")
    _ = endless.count()
    #expect(throws: StoreError(.unsupportedRequest, "")) { try endless.checkPatterns() }
  }
}
