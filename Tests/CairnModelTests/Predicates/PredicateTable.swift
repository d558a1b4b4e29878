// The test table of the Core Data notes (6.6) as data: what each format means for one object, and how it prints.
// A row keeps its number there; a row that lists several formats is several rows here. A new one goes to the end.

struct PredicateTableRow: Sendable {
  enum Result: Sendable {
    case holds, fails
    /// Core Data raises an exception when it is asked.
    case refuses
    /// Not even parsed.
    case unparsable
    /// Only its text is known.
    case open
  }

  let number: Int
  let format: String
  let result: Result
  /// The canonical text.
  let canonical: String
  /// Texts of expressions, but for `<null>`, which is NSNull, and the text of a UUID.
  let arguments: [String]
  /// Whom it is asked of: the text of an expression, or "O" for the object of the notes.
  let object: String

  init(
    _ number: Int, _ format: String, _ result: Result, canonical: String? = nil, arguments: [String] = [],
    on object: String = "O"
  ) {
    self.number = number
    self.format = format
    self.result = result
    self.canonical = canonical ?? format
    self.arguments = arguments
    self.object = object
  }

  /// Where the notes leave the canonical text open, it is stated here: (116, 137) operations within operations are
  /// parenthesised, as GNUstep does and as compounds within compounds are; (122, 123, 125) functions show their
  /// colons; (154) a key path's own parentheses are dropped.
  static let all: [PredicateTableRow] = comparisons + strings + collections + expressions

  private typealias Row = PredicateTableRow

  private static let comparisons: [Row] = [
    Row(1, "age == 30", .holds),
    Row(2, "age = 30", .holds, canonical: "age == 30"),
    Row(3, "30 == age", .holds),
    Row(4, "age != 30", .fails),
    Row(5, "age <> 31", .holds, canonical: "age != 31"),
    Row(6, "age > 29", .holds),
    Row(7, "age >= 30", .holds),
    Row(8, "age => 30", .holds, canonical: "age >= 30"),
    Row(9, "age =< 29", .fails, canonical: "age <= 29"),
    Row(10, "age < 10.5", .fails),
    Row(11, "1 <= age AND age < 10.5", .fails),
    Row(12, "age BETWEEN {20, 30}", .holds),
    Row(13, "age BETWEEN {31, 40}", .fails),
    Row(14, "age BETWEEN %@", .holds, canonical: "age BETWEEN {20, 40}", arguments: ["{20, 40}"]),
    Row(15, "NOT age BETWEEN {1, 3}", .holds),
    Row(16, "name BETWEEN {'A','B'}", .holds, canonical: #"name BETWEEN {"A", "B"}"#),
    Row(40, "nick == nil", .holds),
    Row(41, "nick == NULL", .holds, canonical: "nick == nil"),
    Row(42, "nick != nil", .fails),
    Row(43, "name == nil", .fails),
    Row(44, "nick == 'x'", .fails, canonical: #"nick == "x""#),
    Row(45, "nick != 'x'", .holds, canonical: #"nick != "x""#),
    Row(46, "nick < 'x'", .fails, canonical: #"nick < "x""#),
    Row(47, "NOT nick < 'x'", .holds, canonical: #"NOT nick < "x""#),
    Row(48, "nick CONTAINS 'x'", .fails, canonical: #"nick CONTAINS "x""#),
    Row(49, "NOT nick CONTAINS 'x'", .holds, canonical: #"NOT nick CONTAINS "x""#),
    Row(50, "nick IN {'a'}", .fails, canonical: #"nick IN {"a"}"#),
    Row(51, "nick == %@", .holds, canonical: "nick == <null>", arguments: ["<null>"]),
    Row(52, "active == YES", .holds, canonical: "active == 1"),
    Row(53, "active == true", .holds, canonical: "active == 1"),
    Row(54, "active == NO", .fails, canonical: "active == 0"),
    Row(55, "active == %@", .holds, canonical: "active == 1", arguments: ["TRUE"]),
    Row(56, "active", .unparsable),
    Row(57, "age > 10 AND name == 'Alice'", .holds, canonical: #"age > 10 AND name == "Alice""#),
    Row(58, "age > 10 && name == 'Bob'", .fails, canonical: #"age > 10 AND name == "Bob""#),
    Row(59, "age > 90 OR name == 'Alice'", .holds, canonical: #"age > 90 OR name == "Alice""#),
    Row(60, "age > 90 || active == 1", .holds, canonical: "age > 90 OR active == 1"),
    Row(61, "NOT age > 90", .holds),
    Row(62, "!(age > 90)", .holds, canonical: "NOT age > 90"),
    Row(63, "NOT (age > 90 OR name == 'Z')", .holds, canonical: #"NOT (age > 90 OR name == "Z")"#),
    Row(64, "age > 1 AND age > 2 AND age > 3", .holds),
    Row(
      65, "name == 'Foo' AND (age < 13 OR age > 18)", .fails,
      canonical: #"name == "Foo" AND (age < 13 OR age > 18)"#),
    Row(66, "age > 90 AND age > 91 OR age > 1", .holds, canonical: "(age > 90 AND age > 91) OR age > 1"),
    Row(67, "TRUEPREDICATE", .holds),
    Row(68, "FALSEPREDICATE OR TRUEPREDICATE", .holds),
  ]

  private static let strings: [Row] = [
    Row(17, "name == 'Alice'", .holds, canonical: #"name == "Alice""#),
    Row(18, #"name == "alice""#, .fails),
    Row(19, "name ==[c] 'ALICE'", .holds, canonical: #"name ==[c] "ALICE""#),
    Row(20, "city == 'Sao Paulo'", .fails, canonical: #"city == "Sao Paulo""#),
    Row(21, "city ==[d] 'Sao Paulo'", .holds, canonical: #"city ==[d] "Sao Paulo""#),
    Row(22, "city ==[cd] 'sao paulo'", .holds, canonical: #"city ==[cd] "sao paulo""#),
    Row(23, "city ==[dc] 'sao paulo'", .holds, canonical: #"city ==[cd] "sao paulo""#),
    Row(24, "name !=[c] 'ALICE'", .fails, canonical: #"name !=[c] "ALICE""#),
    Row(25, "name < 'Bob'", .holds, canonical: #"name < "Bob""#),
    Row(26, "name BEGINSWITH 'Al'", .holds, canonical: #"name BEGINSWITH "Al""#),
    Row(27, "name beginswith[c] 'al'", .holds, canonical: #"name BEGINSWITH[c] "al""#),
    Row(28, "name BEGINSWITH[n] 'Al'", .holds, canonical: #"name BEGINSWITH[n] "Al""#),
    Row(29, "name ENDSWITH 'ce'", .holds, canonical: #"name ENDSWITH "ce""#),
    Row(30, "name CONTAINS 'lic'", .holds, canonical: #"name CONTAINS "lic""#),
    Row(31, "name CONTAINS[cd] 'LIC'", .holds, canonical: #"name CONTAINS[cd] "LIC""#),
    Row(32, "NOT name CONTAINS[cd] 'LIC'", .fails, canonical: #"NOT name CONTAINS[cd] "LIC""#),
    Row(33, "name LIKE 'A*e'", .holds, canonical: #"name LIKE "A*e""#),
    Row(34, "name LIKE 'A????'", .holds, canonical: #"name LIKE "A????""#),
    Row(35, "name LIKE 'lic'", .fails, canonical: #"name LIKE "lic""#),
    Row(36, "name LIKE[c] 'a*'", .holds, canonical: #"name LIKE[c] "a*""#),
    Row(37, "name MATCHES 'A.*e'", .holds, canonical: #"name MATCHES "A.*e""#),
    Row(38, "name MATCHES 'lic'", .fails, canonical: #"name MATCHES "lic""#),
    Row(39, "name MATCHES[c] 'a[a-z]+'", .holds, canonical: #"name MATCHES[c] "a[a-z]+""#),
  ]

  private static let collections: [Row] = [
    Row(69, "name IN {'Alice','Bob'}", .holds, canonical: #"name IN {"Alice", "Bob"}"#),
    Row(70, "age IN {20, 21, 22}", .fails),
    Row(71, "age IN %@", .holds, canonical: "age IN {30, 31}", arguments: ["{30, 31}"]),
    Row(72, "age IN %@", .fails, canonical: "age IN {}", arguments: ["{}"]),
    Row(73, "NOT name IN {'Bob'}", .holds, canonical: #"NOT name IN {"Bob"}"#),
    Row(74, "'b' IN tags", .holds, canonical: #""b" IN tags"#),
    Row(75, "name IN 'xAlicex'", .holds, canonical: #"name IN "xAlicex""#),
    Row(76, "tags CONTAINS 'b'", .holds, canonical: #"tags CONTAINS "b""#),
    Row(77, "'AABBB' CONTAINS 'BBB'", .holds, canonical: #""AABBB" CONTAINS "BBB""#),
    Row(78, "name IN age", .refuses),
    Row(79, "ANY kids.age > 10", .holds),
    Row(80, "SOME kids.age > 10", .holds, canonical: "ANY kids.age > 10"),
    Row(81, "ALL kids.age > 3", .holds),
    Row(82, "ALL kids.age > 10", .fails),
    Row(83, "NONE kids.age > 20", .holds, canonical: "NOT ANY kids.age > 20"),
    Row(84, "ANY empty == 1", .fails),
    Row(85, "ALL empty == 1", .holds),
    Row(86, "ANY age > 10", .refuses),
    Row(87, "ANY kids.name IN {'Bob'}", .holds, canonical: #"ANY kids.name IN {"Bob"}"#),
    Row(88, "ANY tags ==[c] 'B'", .holds, canonical: #"ANY tags ==[c] "B""#),
    Row(89, "SUBQUERY(kids, $k, $k.age > 10).@count > 0", .holds),
    Row(
      90, "SUBQUERY(kids, $k, $k.age > 1 AND $k.name == 'Bob').@count == 1", .holds,
      canonical: #"SUBQUERY(kids, $k, $k.age > 1 AND $k.name == "Bob").@count == 1"#),
    Row(
      91, "SUBQUERY(kids, $k, NOT ($k.age == 2)).@count == 0", .fails,
      canonical: "SUBQUERY(kids, $k, NOT $k.age == 2).@count == 0"),
    Row(92, "kids.@count == 2", .holds),
    Row(93, "tags.@count >= 3", .holds),
    Row(94, "kids.@sum.age == 17", .holds),
    Row(95, "kids.@avg.age == 8.5", .holds),
    Row(96, "kids.@max.age == 12", .holds),
    Row(97, "kids.@min.age == 5", .holds),
    Row(98, "nums.@max.self == 3", .holds, canonical: "nums.@max.#self == 3"),
    Row(99, "kids.@distinctUnionOfObjects.age.@count == 2", .holds),
    Row(100, "addr.zip == '123'", .holds, canonical: #"addr.zip == "123""#),
    Row(101, "%K == %@", .holds, canonical: #"addr.zip == "123""#, arguments: [#""addr.zip""#, #""123""#]),
    Row(102, "addr.missing == nil", .holds),
    Row(103, "SELF.name == 'Alice'", .holds, canonical: #"SELF.name == "Alice""#),
    Row(104, "SELF == 'Do'", .holds, canonical: #"SELF == "Do""#, on: #""Do""#),
    Row(105, "SELF BEGINSWITH 'aaa'", .holds, canonical: #"SELF BEGINSWITH "aaa""#, on: #""aaaa""#),
    Row(106, "SELF[FIRST] = 1", .holds, canonical: "SELF[FIRST] == 1", on: "{1, 2, 0}"),
    Row(107, "SELF[LAST] = 0", .holds, canonical: "SELF[LAST] == 0", on: "{1, 2, 0}"),
    Row(108, "SELF[SIZE] = 3", .holds, canonical: "SELF[SIZE] == 3", on: "{1, 2, 0}"),
    Row(109, "tags[0] == 'a'", .holds, canonical: #"tags[0] == "a""#),
    Row(110, "addr['zip'] == '123'", .holds, canonical: #"addr["zip"] == "123""#),
  ]

  private static let expressions: [Row] = [
    Row(111, "age + 1 == 31", .holds),
    Row(112, "age - 1 == 29", .holds),
    Row(113, "age * 2 == 60", .holds),
    Row(114, "age / 4 == 7", .holds),
    Row(115, "2 ** 3 == 8", .holds),
    Row(116, "4 + 5 - 2 ** 3 == 1", .holds, canonical: "(4 + 5) - (2 ** 3) == 1"),
    Row(117, "(age + 2) * 2 == 64", .holds),
    Row(118, "bits & 2 == 2", .holds),
    Row(119, "bits | 1 == 7", .holds),
    Row(120, "bits << 1 == 12", .holds),
    Row(121, "modulus:by:(age, 7) == 2", .holds),
    Row(122, "sum:(nums) == 6", .holds),
    Row(123, "sum(nums) == 6", .holds, canonical: "sum:(nums) == 6"),
    Row(124, "uppercase:(name) == 'ALICE'", .holds, canonical: #"uppercase:(name) == "ALICE""#),
    Row(125, "length:(name) == 5", .holds),
    Row(126, "now() > born", .holds),
    Row(
      127, "FUNCTION(name, 'uppercaseString') == 'ALICE'", .holds,
      canonical: #"FUNCTION(name, "uppercaseString" ) == "ALICE""#),
    Row(
      128, "FUNCTION(name, 'stringByAppendingString:', 'x') == 'Alicex'", .holds,
      canonical: #"FUNCTION(name, "stringByAppendingString:" , "x") == "Alicex""#),
    Row(129, "born == CAST(0, 'NSDate')", .holds, canonical: #"born == CAST(0.000000, "NSDate")"#),
    Row(
      130, "born == %@", .holds, canonical: #"born == CAST(0.000000, "NSDate")"#,
      arguments: [#"CAST(0, "NSDate")"#]),
    Row(131, "CAST('12', 'NSNumber') == 12", .holds, canonical: #"CAST("12", "NSNumber") == 12"#),
    Row(
      132, "TERNARY(age > 18, 'adult', 'minor') == 'adult'", .holds,
      canonical: #"TERNARY(age > 18, "adult", "minor") == "adult""#),
    Row(
      133, "TERNARY(nick != nil, nick, '') IN {'', 'a'}", .holds,
      canonical: #"TERNARY(nick != nil, nick, "") IN {"", "a"}"#),
    Row(134, "name == $N", .holds),
    Row(135, "name == $N", .refuses),
    Row(136, "SELF == '%@'", .fails, canonical: #"SELF == "%@""#, on: #""Do""#),
    Row(
      137, "%K LIKE %@+$b+$c", .open, canonical: #"$single LIKE ("b\"" + $b) + $c"#,
      arguments: [#""$single""#, #"'b"'"#]),
    Row(138, #"name == 'O\'Neil'"#, .fails, canonical: #"name == "O'Neil""#),
    Row(139, "name == %@", .fails, canonical: #"name == "Quote \"""#, arguments: [#"'Quote "'"#]),
    Row(140, "name == %@", .fails, canonical: #"name == "Quote \\""#, arguments: [#"'Quote \\'"#]),
    Row(141, "name == Alice", .fails),
    Row(142, "age == '30'", .fails, canonical: #"age == "30""#),
    Row(143, "foo <= 2", .refuses, on: #"{foo: "2"}"#),
    Row(144, "this = that", .open, canonical: "this == that"),
    Row(145, "sequence > %d", .open, canonical: "sequence > 0", arguments: ["0"]),
    Row(146, "h == %f", .open, canonical: "h == 42.42", arguments: ["42.42"]),
    Row(147, "i == %d", .open, canonical: "i == -42", arguments: ["-42"]),
    Row(148, "étrange == 1", .unparsable),
    Row(149, "$6650.x == 0", .unparsable),
    Row(150, "", .unparsable),
    Row(150, "age", .unparsable),
    Row(150, "age ==", .unparsable),
    Row(150, "age == ?", .unparsable),
    Row(150, "name LIKE %@*", .unparsable, arguments: [#""x""#]),
    Row(150, "(age == 1", .unparsable),
    Row(151, "fleet == {}", .open),
    Row(
      152, "k == %@", .open, canonical: "k == 12345678-9ABC-DEF0-1234-56789ABCDEF0",
      arguments: ["12345678-9ABC-DEF0-1234-56789ABCDEF0"]),
    Row(153, "NO == YES", .fails, canonical: "0 == 1"),
    Row(154, "(SELF.g)[0] == 2", .open, canonical: "SELF.g[0] == 2"),
    Row(155, "b CONTAINS[cdl] 'ABC'", .open, canonical: #"b CONTAINS[cdl] "ABC""#),
  ]
}
