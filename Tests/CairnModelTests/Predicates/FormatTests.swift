// Format strings: what they parse to, how trees print, and what is refused where.

import Foundation
import Testing

@testable import CairnModel

/// A constant with a text of its own.
final class NamedConstant: PredicateConstant {
  let canonicalText: String
  init(_ text: String) { canonicalText = text }
  var storeValue: Value? { nil }
  func isEqual(to other: any PredicateConstant) -> Bool {
    (other as? NamedConstant)?.canonicalText == canonicalText
  }
  func hash(into hasher: inout Hasher) { hasher.combine(canonicalText) }
}

private func expression(_ text: String) throws -> ExpressionTree { try PredicateFormat.parseExpression(text) }

/// The refusal of a format, described.
private func refusal(_ format: String, _ arguments: [ExpressionTree] = []) -> PredicateFormatError? {
  do {
    _ = try PredicateFormat.parse(format, arguments: arguments)
    return nil
  } catch {
    return error as? PredicateFormatError
  }
}

struct FormatTests {
  // MARK: The table

  private static func argument(_ text: String) throws -> ExpressionTree {
    if text == "<null>" { return .object(ConstantObject(NamedConstant(text))) }
    if let uuid = UUID(uuidString: text) { return .constant(.uuid(uuid)) }
    return try expression(text)
  }

  @Test(arguments: PredicateTableRow.all)
  func `a format of the table prints as the table says, and parses to the same tree again`(
    row: PredicateTableRow
  ) throws {
    let arguments = try row.arguments.map(FormatTests.argument)
    guard row.result != .unparsable else {
      #expect(throws: PredicateFormatError.self) {
        try PredicateFormat.parse(row.format, arguments: arguments)
      }
      return
    }
    let tree = try PredicateFormat.parse(row.format, arguments: arguments)
    #expect(tree.canonicalFormat == row.canonical)
    // NSNull, a UUID and a key with a dollar sign have a text that says something else.
    if ![51, 137, 152].contains(row.number) { #expect(try PredicateFormat.parse(row.canonical) == tree) }
  }

  // MARK: Literals

  @Test(
    arguments: [
      ("0", 0), ("42", 42), ("-42", -42), ("0x1F", 31), ("0XfF", 255), ("0b101", 5), ("0o17", 15),
      ("1.5", 1.5),
      (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("2.5E-1", 0.25), ("1e+2", 100.0),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("9223372036854775808", .decimal(Decimal(string: "9223372036854775808")!)),
      ("0xFFFFFFFFFFFFFFFF", .decimal(Decimal(UInt64.max))), ("yes", true), ("FALSE", false), ("No", false),
      ("nIl", .null), ("NULL", .null), ("'a'", "a"), ("\"a'b\"", "a'b"), ("'a\"b'", "a\"b"),
      (#"'\\ \' \" \n \r \t'"#, "\\ ' \" \n \r \t"), (#"'\d+'"#, "d+"), (#"'\u00e9\u0041x'"#, "\u{E9}Ax"),
      (#"'\ud83d\ude00'"#, "😀"), (#"'\u12'"#, "u12"), ("'%@ %K $x'", "%@ %K $x"), ("'日本'", "日本"),
      ("CAST(1.5, 'NSDate')", .date(Date(timeIntervalSinceReferenceDate: 1.5))),
    ] as [(String, Value)])
  func `literals of every form`(text: String, value: Value) throws {
    #expect(try expression(text) == .constant(value))
  }

  @Test func `names: reserved words behind a hash or a dot, names of other scripts behind a hash`() throws {
    #expect(try expression("#in") == .keyPath(["in"]))
    #expect(try expression("a.#self.in.AND") == .keyPath(["a", "self", "in", "AND"]))
    #expect(try expression("#étrange") == .keyPath(["étrange"]))
    #expect(try expression("café_2") == .keyPath(["café_2"]))
    #expect(
      try expression("first") == .keyPath(["first"]) && expression("a[first]") != expression("a[#first]"))
    #expect(try expression("kids.@sum.age") == .keyPath(["kids", "@sum", "age"]))
    #expect(try expression("@count") == .keyPath(["@count"]))
    #expect(try expression("$x.age") == .keyPathOf(.variable("x"), ["age"]))
    #expect(
      ExpressionTree.keyPath(["In", "étrange", "size", "@max", "b"]).canonicalFormat
        == "#In.#étrange.size.@max.b")
    #expect(
      ExpressionTree.element(of: .keyPath(["a"]), .at(.keyPath(["size"]))).canonicalFormat == "a[#size]")
  }

  @Test func `blanks don't matter, nor the case of keywords`() throws {
    let tree = try PredicateFormat.parse("a.b==1 AND NOT c BEGINSWITH[cd]'x'")
    #expect(try PredicateFormat.parse(" a . b\n==\t1\u{A0}and not\u{2003}c beginswith [ dC ] 'x' ") == tree)
  }

  @Test(arguments: [
    ("a - -1", "a - -1"), ("-a", "0 - a"), ("- -a", "0 - (0 - a)"), ("~a & b", "~a & b"),
    ("a | b ^ c & d << e + f * g ** h", "a | (b ^ (c & (d << (e + (f * (g ** h))))))"),
    ("a ** b * c + d >> e & f ^ g | h", "((((((a ** b) * c) + d) >> e) & f) ^ g) | h"),
    ("a - b - c", "(a - b) - c"), ("-2 ** 2", "-2 ** 2"), ("-a.b", "0 - a.b"), ("(-5).x", "(-5).x"),
    ("a UNION b intersect c Minus d", "((a UNION b) INTERSECT c) MINUS d"),
    ("$x := 1 + 2", "$x := 1 + 2"), ("1 + ($x := 2)", "1 + ($x := 2)"), ("(~a)[0]", "(~a)[0]"),
    ("(a + b).c", "(a + b).c"), ("a[0].b[last].@count", "a[0].b[LAST].@count"),
    ("FETCH($r, $c, no)", "FETCH($r, $c, NO)"), ("fetch($r, $c, 1)", "FETCH($r, $c, YES)"),
    ("anykey", "ANYKEY"), ("now()", "now()"), ("max(a, b)", "max:(a, b)"), ("2.0", "2.0"),
    ("1e400", "CAST(\"inf\", \"NSNumber\")"),
    ("castObject:toType:(a, 'NSDate')", "CAST(a, \"NSDate\")"), ("{}", "{}"),
    ("{1, {a, 'b'}}", "{1, {a, \"b\"}}"),
    ("function(a, 'f')", "FUNCTION(a, \"f\" )"),
    ("FUNCTION(a, 'f:g:', 1, 2)", "FUNCTION(a, \"f:g:\" , 1, 2)"),
  ])
  func `expressions print with every operation within an operation in parentheses`(
    text: String, canonical: String
  ) throws {
    let tree = try expression(text)
    #expect(tree.canonicalFormat == canonical)
    #expect(try expression(canonical) == tree)
  }

  @Test func `parentheses around a predicate, an expression, or an expression in a predicate`() throws {
    let sum = try PredicateFormat.parse("((a) + (b)) > (c)")
    #expect(try PredicateFormat.parse("((((a + b)) > c))") == sum)
    #expect(
      try PredicateFormat.parse("(a == 1 AND b == 2) AND c == 3")
        != PredicateFormat.parse("a == 1 AND b == 2 AND c == 3"))
    guard case .and(let parts) = try PredicateFormat.parse("a == 1 AND b == 2 && c == 3") else {
      Issue.record("no AND")
      return
    }
    #expect(parts.count == 3)
    #expect(try PredicateFormat.parse("! (a) == 1") == .not(.compare("a", .equal, 1)))
  }

  // MARK: Arguments

  @Test func `every placeholder takes what it says`() throws {
    let tree = try PredicateFormat.parse(
      "%K == %@ OR a == %ld OR b == %.2f OR c == %s OR d == %c OR $x.%K == %@ OR e[%d] == %qu",
      arguments: [
        .constant("x.y"), .list([.constant(1)]), .constant(7), .constant(2.5), .constant("s"),
        .constant(.int(65)),
        .constant("p.@count"), .keyPath(["spliced"]), .constant(0), .constant(9),
      ])
    #expect(
      tree.canonicalFormat
        == #"x.y == {1} OR a == 7 OR b == 2.5 OR c == "s" OR d == "A" OR $x.p.@count == spliced OR e[0] == 9"#
    )
    let call = try PredicateFormat.parseExpression(
      "FUNCTION(a, %@, CAST(%f, %@))", arguments: [.constant("f:"), .constant(0), .constant("NSDate")])
    #expect(call.canonicalFormat == #"FUNCTION(a, "f:" , CAST(0.000000, "NSDate"))"#)
  }

  @Test func `a dollar sign in a key is part of a name, and surplus arguments are ignored`() throws {
    let tree = try PredicateFormat.parse("%K == 1", arguments: [.constant("$single"), .constant(1)])
    #expect(tree == .comparison(.init(.keyPath(["$single"]), .equal, .constant(1))))
  }

  @Test func `a literal that begins with a NUL is no placeholder, as a method's name either`() throws {
    for (text, selector) in [
      ("\"\\u00009\"", "\u{0}9"), ("'\\u00000'", "\u{0}0"), ("'\u{0}0'", "\u{0}0"), ("'\u{0}'", "\u{0}"),
      ("'\u{0}\u{0}0'", "\u{0}\u{0}0"), ("'\u{0}-1'", "\u{0}-1"),
    ] {
      for (format, right) in [
        ("FUNCTION(SELF, \(text)) == %@", "x"), ("FUNCTION(SELF, \(text)) == 'x'", "x"),
      ] {
        let tree = try PredicateFormat.parse(format, arguments: [.constant("x")])
        let call = ExpressionTree.call(.evaluatedObject, selector: selector, [])
        #expect(tree == .comparison(.init(call, .equal, .constant(.string(right)))), "\(format)")
        #expect(try PredicateFormat.parse(tree.canonicalFormat) == tree, "\(format)")
      }
    }
    for format in [
      "CAST(a, '\\u00000') == %@", "a['\\u00000'] == %@", "'\\u00000' == %@", "{'\\u00000'} == %@",
    ] {
      let tree = try PredicateFormat.parse(format, arguments: [.constant("x")])
      #expect(tree.canonicalFormat.contains("\"\u{0}0\""), "\(format)")
    }
  }

  @Test func `a placeholder for a method's name takes a string`() throws {
    for placeholder in ["%@", "%s"] {
      let format = "FUNCTION(SELF, \(placeholder), 1) == 2"
      #expect(
        try PredicateFormat.parse(format, arguments: [.constant("f:")])
          == PredicateFormat.parse("FUNCTION(SELF, 'f:', 1) == 2"))
      for argument in [.constant(3), .keyPath(["f"]), .constant("")] as [ExpressionTree] {
        #expect(throws: PredicateFormatError.self) {
          try PredicateFormat.parse(format, arguments: [argument])
        }
      }
    }
    #expect(throws: PredicateFormatError.self) {
      try PredicateFormat.parse("FUNCTION(SELF, %d) == 2", arguments: [.constant(3)])
    }
  }

  @Test func `the same format with other arguments gives other trees: what is cached is a template`() throws {
    for round in 0..<2000 {
      let format = "cached\(round % 1500) == %@ AND b == %@"
      let tree = try PredicateFormat.parse(
        format, arguments: [.constant(.int(Int64(round))), .constant(.int(Int64(-round)))])
      #expect(tree.canonicalFormat == "cached\(round % 1500) == \(round) AND b == \(-round)")
    }
    // The cache tells predicates from expressions.
    #expect(throws: PredicateFormatError.self) { try PredicateFormat.parse("abc") }
    #expect(try expression("abc") == .keyPath(["abc"]))
    #expect(throws: PredicateFormatError.self) { try PredicateFormat.parse("abc") }
  }

  @Test func `arguments that don't fit are refused at their placeholder`() {
    let short = refusal("a == %@ AND b == %d", [.constant(1)])
    #expect(short?.offset == 17 && short?.message.contains("2 placeholders and 1 arguments") == true)
    #expect(refusal("é == %d", [.constant(1)]) != nil)
    #expect(refusal("a == 'é' AND b == %d", [.constant("x")])?.offset == 18)
    #expect(refusal("%K == 1", [.constant(1)])?.message.contains("key path") == true)
    #expect(refusal("%K == 1", [.constant("")]) != nil)
    #expect(refusal("a == %s", [.constant(1.5)])?.offset == 5)
  }

  // MARK: Refusals

  @Test(arguments: [
    ("", 0, "empty"), ("  ", 2, "empty"), ("age", 3, "a comparison is missing after \"age\""),
    ("age ==", 6, "an operand is missing after \"==\""), ("age == ?", 7, "\"?\""),
    ("== 1", 0, "an operand is missing before \"==\""), ("a == 1 AND", 10, "after \"AND\""),
    ("a == 1 AND in == 2", 11, "written #in"), ("(age == 1", 9, "\")\" is missing"),
    ("age == 1)", 8, "nothing is open"),
    ("a == b == c", 7, "don't chain"), ("a == 1 b", 7, "should end"), ("a == 'x", 5, "has no end"),
    ("a == 5x", 5, "begin with a digit"), ("a == 0x", 5, "a number ends"),
    ("a == 0xFFFFFFFFFFFFFFFFF", 5, "64 bits"),
    ("$6650.x == 0", 0, "variable"), ("étrange == 1", 0, "#é"), ("a. == 1", 3, "a name is missing"),
    ("a.%d == 1", 2, "only %K"), ("a == %y", 5, "\"%y\" is no placeholder"), ("a == %%", 5, "no operand"),
    ("foo(a) == 1", 0, "no function \"foo:\""),
    ("x == 1 OR modulus:by:(a) == 1", 10, "takes 2 arguments, not 1"),
    ("a ==[cx] 'b'", 6, "cdnl"), ("a ==[cd 'b'", 8, "\"]\" is missing"),
    ("(a == 1) + 2 == 3", 0, "a predicate stands"),
    ("1 + (a == 1) == 3", 4, "a predicate stands"), ("NOT a", 5, "comparison is missing"),
    ("ANY a", 5, "comparison is missing"), ("a UTI-CONFORMS-TO 'x'", 2, "Apple"),
    ("uti-equals == 1", 0, "Apple"), ("SUBQUERY(a, b, c == 1).@count > 0", 12, "variable"),
    ("TERNARY(a, 1, 2) == 1", 9, "comparison is missing"), ("FETCH(a, b, c) == 1", 12, "YES or NO"),
    ("FUNCTION(a, b) == 1", 12, "name of a method"), ("a == {1, }", 9, "after \",\""),
    ("a == #", 5, "after \"#\""),
    (#"a == '\ud83dx'"#, 12, "surrogate"), (#"a == '\ude00'"#, 6, "surrogate"),
    ("name LIKE %@*", 13, "after \"*\""),
  ])
  func `what is wrong and where`(format: String, offset: Int, words: String) {
    let error = refusal(format, [.constant("x"), .constant("y")])
    #expect(error?.offset == offset, "\(error.map { "\($0)" } ?? "accepted")")
    #expect(error?.message.contains(words) == true, "\(error.map { "\($0)" } ?? "accepted")")
    #expect(error?.format == format)
  }

  @Test func `the description shows the line with a caret under the place`() {
    #expect(
      refusal("age ==")?.description == """
        Unable to parse the format string "age ==": an operand is missing after "=="
        age ==
              ^
        """)
    // A wide character takes two columns, one with a combining mark one; only the line in question is shown.
    let second = refusal("a == 1 AND\nb == '日e\u{301}' ?")
    #expect(second?.description.hasSuffix("\nb == '日e\u{301}' ?\n           ^") == true, "\(second!)")
    let long = refusal(String(repeating: "a == 1 AND ", count: 1000) + "? OR b == 1")
    #expect(long.map { $0.description.utf8.count < 600 && $0.description.contains("? OR b == 1") } == true)
  }

  // MARK: Bounds

  private static let deep: [String] = [
    String(repeating: "(", count: 1_000_000), String(repeating: "NOT ", count: 1_000_000) + "a == 1",
    String(repeating: "!", count: 1_000_000), String(repeating: "-", count: 1_000_000) + "1 == a",
    String(repeating: "{", count: 1_000_000), String(repeating: "a[", count: 300_000),
    String(repeating: "TERNARY(", count: 100_000), String(repeating: "SUBQUERY(a, $x, ", count: 100_000),
    String(repeating: "sum(", count: 300_000), String(repeating: "$x:=", count: 300_000),
    "a" + String(repeating: " + a", count: 1_000_000) + " == 1",
    "a" + String(repeating: "[0]", count: 300_000),
    String(repeating: "ANY ", count: 1_000_000), String(repeating: "1 + (2 * ", count: 300_000),
    "a" + String(repeating: "[0].b", count: 300_000) + " == 1",
    String(repeating: "FUNCTION(", count: 100_000),
  ]

  @Test(arguments: FormatTests.deep.indices)
  func `what nests without end is refused, on the stack of a small thread`(index: Int) {
    onSmallThread {
      let error = refusal(FormatTests.deep[index])
      #expect(error?.message.contains("nested deeper") == true, "\(error.map { $0.message } ?? "accepted")")
    }
  }

  @Test func `the deepest formats that are accepted print and go on the stack of a small thread`() {
    onSmallThread {
      for text in [
        String(repeating: "(", count: 99) + "a == 1" + String(repeating: ")", count: 99),
        String(repeating: "NOT ", count: 98) + "a == 1",
        "a" + String(repeating: " + a", count: 97) + " == 1",
        String(repeating: "TERNARY(", count: 48) + "a == 1" + String(repeating: ", 1, 2) == 1", count: 48),
        String(repeating: "SUBQUERY(a, $x, ", count: 32) + "a == 1"
          + String(repeating: ").@count > 1", count: 32),
      ] {
        do {
          let tree = try PredicateFormat.parse(text)
          #expect(try PredicateFormat.parse(tree.canonicalFormat) == tree)
        } catch {
          Issue.record("\(error)")
        }
      }
    }
  }

  @Test func `flat chains of a hundred thousand parts`() throws {
    let text = (0..<100_000).map { "a == \($0)" }.joined(separator: " AND ")
    let tree = try PredicateFormat.parse(text)
    #expect(tree.canonicalFormat == text)
    #expect(throws: PredicateFormatError.self) {
      try PredicateFormat.parse(String(repeating: " ", count: 1 << 24) + "a == 1")
    }
  }

  private func onSmallThread(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      body()
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
  }
}
