// The whole language over objects, beyond the table: nil, collections, functions, scopes, and what is refused.

import Cairn
import Testing

import class CairnGraph.NSComparisonPredicate
import class CairnGraph.NSExpression

@testable import CairnGraph

/// What a format says of an object; nil where it is refused.
private func ask(_ format: String, _ object: Any?, _ arguments: Any?...) throws -> Bool? {
  do {
    return try NSPredicate(parsing: format, arguments: arguments).matches(object)
  } catch is PredicateEvaluationError {
    return nil
  }
}

private func value(_ format: String, _ object: Any? = nil) throws -> Any? {
  try NSExpression(parsing: format).value(of: object)
}

@Suite struct EvaluationTests {
  @Test func `nil is equal to nil, unequal to all else, and in no order`() throws {
    let o: [String: Any?] = ["n": nil, "one": 1, "s": "x"]
    for (format, answer) in [
      ("n == n", true), ("n != n", false), ("n == one", false), ("n != one", true), ("one != n", true),
      ("n >= n", false), ("n <= n", false), ("n < one", false), ("one > n", false),
      ("n BETWEEN {0, 1}", false),
      ("one BETWEEN {n, 2}", false), ("n LIKE n", false), ("n LIKE '*'", false), ("n MATCHES '.*'", false),
      ("s BEGINSWITH n", false), ("s ENDSWITH n", false), ("n ENDSWITH 'x'", false), ("n IN 'x'", false),
      ("s IN n", false), ("n CONTAINS 'x'", false), ("n IN {nil}", false), ("n + 1 == nil", true),
      ("n.anything.else == nil", true), ("sum:({n, 1}) == 1", true), ("ANY n == 1", false),
      ("ALL n == 1", true),
    ] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
  }

  /// 6.4.10: over an ordered collection NSNull stands for nil, over a set nil is dropped and equals merge.
  @Test func `keys over collections keep nil in order and drop it in sets`() throws {
    let kids: [[String: Any]] = [["age": 1], [:], ["age": 1]]
    let list: [String: Any] = ["kids": kids]
    let set: [String: Any] = ["kids": NSSet(array: kids)]
    #expect(try ask("ANY kids.age == nil", list) == false)
    #expect(try ask("ANY kids.age != nil", list) == true)
    #expect(try ask("ALL kids.age == 1", list) == false)
    #expect(try ask("ALL kids.age > 0", list) == false)
    #expect(try ask("kids.age.@count == 3", list) == true)
    #expect(try ask("ALL kids.age == 1", set) == true)
    #expect(try ask("kids.age.@count == 1", set) == true)
    #expect(try ask("kids.age == {1}", set) == true)
    #expect(try ask("kids.@count == 2", set) == true)
  }

  @Test func `a path over two to-manys is one collection for ANY and ALL`() throws {
    let o: [String: Any] = ["kids": [["toys": [["n": 1], ["n": 2]]], ["toys": [["n": 3]]]]]
    #expect(try ask("ANY kids.toys.n == 3", o) == true)
    #expect(try ask("ALL kids.toys.n < 3", o) == false)
    #expect(try ask("ANY kids.toys.n IN {9, 2}", o) == true)
    #expect(try ask("ANY kids.toys CONTAINS %@", o, ["n": 3]) == true)
  }

  @Test func `values of different types are unequal and have no order`() throws {
    let o: [String: Any] = [
      "s": "1", "i": 1, "d": Date(timeIntervalSinceReferenceDate: 1), "u": UUID(), "l": [1], "b": true,
    ]
    for a in ["s", "i", "d", "u", "l"] {
      for b in ["s", "i", "d", "u", "l"] where a != b {
        #expect(try ask("\(a) == \(b)", o) == false, "\(a) == \(b)")
        #expect(try ask("\(a) != \(b)", o) == true, "\(a) != \(b)")
        #expect(try ask("\(a) < \(b)", o) == nil, "\(a) < \(b)")
        #expect(try ask("\(a) BETWEEN {\(a), \(b)}", o) == nil, "\(a) BETWEEN \(b)")
      }
    }
    #expect(try ask("b == i AND b >= 1 AND i == 1.0", o) == true)
    for format in [
      "i BEGINSWITH '1'", "s LIKE 1", "i MATCHES '1'", "i CONTAINS '1'", "l BEGINSWITH '1'", "i IN 1",
      "i BETWEEN {1}", "i BETWEEN 1", "s MATCHES '('", "ANY s == '1'", "i.nothing == 1", "s + 1 == 2",
      "l[0] + s == 1", "i[0] == 1", "l.@sum.self.x == 1", "i.@count == 1",
      "SUBQUERY(i, $x, $x == 1).@count == 1",
      "l UNION i == l", "uppercase:(i) == 'x'", "sum:(i) == 1", "CAST(i, 'NSFoo') == 1",
      "CAST(u, 'NSNumber') == 1",
      "$x == 1", "FUNCTION(s, 'launch') == 1", "FUNCTION(s, 'hasPrefix:') == 1", "l.@nonsense == 1",
      "{1, 'x'}.@max.self == 1",
    ] {
      #expect(try ask(format, o) == nil, "\(format)")
    }
  }

  @Test func `strings compare literally without options and folded with them`() throws {
    let o: [String: Any] = ["composed": "\u{E9}t\u{E9}", "decomposed": "e\u{301}te\u{301}", "f": "f"]
    for (format, answer) in [
      ("composed == decomposed", false), ("composed ==[c] decomposed", true), ("composed ==[d] 'ete'", true),
      ("composed ==[n] decomposed", false), ("composed ==[cn] 'ÉTÉ'", false), ("composed < f", true),
      ("decomposed < f", true), ("composed CONTAINS[d] 'T'", false), ("composed CONTAINS[cd] 'T'", true),
      ("'ÉT' IN[cd] composed", true), ("'ET' IN[c] composed", false), ("composed IN[cd] {'ete'}", true),
      ("composed LIKE '?t?'", true), ("'a*b' LIKE 'a\\\\*b'", true), ("'axb' LIKE 'a\\\\*b'", false),
      ("composed MATCHES[d] 'e.e'", true), ("'ABC' BETWEEN[c] {'abb', 'abd'}", true),
      ("'ab' <[c] 'AC'", true),
    ] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
  }

  @Test func `collection operators do what each is for`() throws {
    let o: [String: Any] = [
      "kids": [["a": 4, "l": [1, 2]], ["a": 1, "l": [2, 3]], ["l": [Int]()], ["a": 1, "l": [3]]],
      "void": [Int](),
      "dates": [Date(timeIntervalSinceReferenceDate: 9), Date(timeIntervalSinceReferenceDate: 5)],
      "mixed": [1, 2.5], "table": ["x": 1, "y": 2],
    ]
    for (format, answer) in [
      ("kids.@count", 4), ("kids.@sum.a", 6), ("kids.@avg.a", 1.5), ("kids.@min.a", 1), ("kids.@max.a", 4),
      ("void.@sum.self", 0), ("void.@avg.self", 0), ("void.@count", 0), ("mixed.@sum.self", 3.5),
      ("table.@count", 2), ("kids.@unionOfObjects.a.@count", 3), ("kids.@distinctUnionOfObjects.a.@count", 2),
      ("kids.@unionOfArrays.l.@count", 5), ("kids.@distinctUnionOfArrays.l.@count", 3),
      ("kids.@distinctUnionOfSets.l.@count", 3), ("kids.l.@unionOfArrays.self.@sum.self", 11),
    ] as [(String, Double)] {
      #expect(try (value(format, o) as? NSNumber)?.doubleValue == answer, "\(format)")
    }
    #expect(try value("void.@min.self", o) == nil && value("void.@max.self", o) == nil)
    #expect(try value("dates.@max.self", o) as? Date == Date(timeIntervalSinceReferenceDate: 9))
    #expect(try value("kids.@unionOfObjects.a", o) as? [Int] == [4, 1, 1])
  }

  @Test func `arithmetic keeps whole numbers whole`() throws {
    for (format, answer) in [
      ("5 / 2", 2), ("-5 / 2", -2), ("5.0 / 2", 2.5), ("modulus:by:(-7, 3)", -1),
      ("modulus:by:(7.5, 2)", 1.5),
      ("2 ** 10", 1024), ("2 ** -1", 0.5), ("2 ** 64", 0x1p64), ("9223372036854775807 + 1", 0x1p63),
      ("3000000000 * 4000000000", 1.2e19), ("7 & 12", 4), ("7 | 8", 15), ("7 ^ 2", 5), ("1 << 4", 16),
      ("1 << 99", 0), ("-16 >> 2", -4), ("~0", -1), ("1 + TRUE", 2), ("10 - 2 - 3", 5),
    ] as [(String, Double)] {
      #expect(try (value(format) as? NSNumber)?.doubleValue == answer, "\(format)")
    }
    #expect(try value("5 / 0") == nil && value("modulus:by:(5, 0)") == nil)
    #expect(try value("5.0 / 0") as? Double == .infinity)
    let half = NSExpression(format: "%@ / 4", Decimal(string: "0.2"))
    #expect(try half.value(of: nil) as? NSDecimalNumber == NSDecimalNumber(string: "0.05"))
  }

  @Test func `each predefined function is known`() throws {
    let numbers: [(String, Double)] = [
      ("sum:({1, 2, 3})", 6), ("sum(1, 2, 3)", 6), ("count:({1, 2})", 2), ("min:({3, 1})", 1),
      ("max:({3, 1})", 3),
      ("average:({1, 2})", 1.5), ("median:({9, 1, 2})", 2), ("median:({1, 2, 3, 9})", 2.5),
      ("stddev:({2, 4, 4, 4, 5, 5, 7, 9})", 2), ("sqrt:(9)", 3), ("log:(1000)", 3), ("ln:(1)", 0),
      ("exp:(0)", 1),
      ("ceiling:(1.2)", 2), ("floor:(-1.2)", -2), ("trunc:(-1.8)", -1), ("abs:(-3)", 3),
      ("raise:toPower:(2, 3)", 8),
      ("add:to:(1, 2)", 3), ("from:subtract:(5, 2)", 3), ("multiply:by:(2, 3)", 6), ("divide:by:(7, 2)", 3),
      ("bitwiseAnd:with:(6, 3)", 2), ("bitwiseOr:with:(6, 1)", 7), ("bitwiseXor:with:(6, 3)", 5),
      ("leftshift:by:(1, 3)", 8), ("rightshift:by:(8, 2)", 2), ("onesComplement:(0)", -1),
      ("length:('abc')", 3),
      ("noindex:(4)", 4), ("objectFrom:withIndex:({7, 8}, 1)", 8), ("randomn:(1)", 0),
    ]
    for (format, answer) in numbers {
      #expect(try (value(format) as? NSNumber)?.doubleValue == answer, "\(format)")
    }
    #expect(try value("mode:({3, 1, 3, 1, 2})") as? [Int] == [1, 3])
    #expect(try value("uppercase:('aé')") as? String == "AÉ" && value("lowercase:('AÉ')") as? String == "aé")
    #expect(try value("canonical:('Éa')") as? String == "ea")
    let random = try #require(try value("random()") as? Double)
    #expect((0..<1).contains(random))
    #expect(try abs(#require(try value("now()") as? Date).timeIntervalSinceNow) < 60)
    let paris = ["latitude": 48.8566, "longitude": 2.3522]
    let london = ["latitude": 51.5074, "longitude": -0.1278]
    let distance = NSExpression(format: "distanceToLocation:fromLocation:(%@, %@)", paris, london)
    #expect(try abs((#require(try distance.value(of: nil) as? Double)) - 343_556) < 1_000)
    // Every name is a case somewhere: none of them is refused as unknown.
    for name in PredicateFunctions.names {
      let counts = try #require(PredicateFunctions.argumentCount(of: name))
      let arguments = [Operand](repeating: .none, count: counts.lowerBound)
      do {
        _ = try FunctionTable.call(name, arguments)
      } catch let error as PredicateEvaluationError {
        #expect(error.reason != .unknownFunction, "\(name): \(error)")
      }
    }
  }

  @Test func `CAST goes between the types that it names`() throws {
    for (format, answer) in [
      ("CAST('12', 'NSNumber') == 12", true), ("CAST('1.5', 'NSNumber') == 1.5", true),
      ("CAST('x', 'NSNumber') == nil", true), ("CAST(12, 'NSString') == '12'", true),
      ("CAST(CAST(5, 'NSDate'), 'NSNumber') == 5", true), ("CAST(a, 'NSDate') < CAST(b, 'NSDate')", true),
      ("CAST('0.1', 'NSDecimalNumber') * 3 == CAST('0.3', 'NSDecimalNumber')", true),
      ("CAST(nil, 'NSNumber') == nil", true), ("CAST('http://a', 'NSURL') == u", true),
    ] {
      #expect(try ask(format, ["a": 1, "b": 2, "u": URL(string: "http://a")!]) == answer, "\(format)")
    }
  }

  @Test func `what has no decimal is NaN as one, and every number has its text`() throws {
    let o: [String: Any] = [
      "inf": Double.infinity, "least": -Double.infinity, "great": 1e300, "nan": Double.nan,
    ]
    for name in o.keys {
      #expect(
        try (value("CAST(\(name), 'NSDecimalNumber')", o) as? NSDecimalNumber)?.decimalValue.isNaN == true,
        "\(name)")
      #expect(
        try ask("FUNCTION(\(name), 'decimalValue') == CAST(nan, 'NSDecimalNumber')", o) == true, "\(name)")
    }
    for (name, text) in [("inf", "inf"), ("least", "-inf"), ("nan", "nan")] {
      #expect(try value("CAST(\(name), 'NSString')", o) as? String == text)
    }
  }

  @Test func `bits are only taken of whole numbers, of any type, exactly`() throws {
    let o: [String: Any] = [
      "half": 2.5, "two": 2.0, "d": NSDecimalNumber(string: "9007199254740993"),
      "e": NSDecimalNumber(string: "0.5"),
    ]
    for (format, answer) in [
      ("half & 1 == 0", nil), ("1 | half == 3", nil), ("~half == -3", nil), ("1 << half == 4", nil),
      ("e ^ 1 == 1", nil), ("two | 1 == 3", true), ("d & 1 == 1", true), ("d ^ 0 == d", true),
    ] as [(String, Bool?)] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
  }

  @Test func `the average of nothing is a double, so that dividing it makes doubles`() throws {
    let o: [String: Any] = ["kids": [Any]()]
    for format in ["average:({})", "kids.@avg.age"] {
      #expect(try Operand(value(format, o)) == .value(.double(0)))
      #expect(try (value("\(format) / 0", o) as? Double)?.isNaN == true, "\(format)")
    }
  }

  @Test func `canonical: is one composed text, over objects as in columns`() throws {
    let marks = try #require(try value("canonical:('\u{C5}\u{1112}\u{1161}\u{11AB}')") as? String)
    #expect(Array(marks.utf8) == Array("a\u{D55C}".utf8))
  }

  @Test func `selectors of values and collections can be called`() throws {
    let o: [String: Any] = [
      "s": "Foo/bar.txt", "n": 3.7, "l": [1, 2], "d": Date(timeIntervalSinceReferenceDate: 60),
      "u": URL(string: "https://host:81/p?q#f")!,
    ]
    for (format, answer) in [
      ("FUNCTION(s, 'lowercaseString') == 'foo/bar.txt'", true), ("s.length == 11", true),
      ("FUNCTION(s, 'hasSuffix:', '.txt') == YES", true), ("s.lastPathComponent == 'bar.txt'", true),
      ("FUNCTION(s, 'substringToIndex:', 3) == 'Foo'", true),
      ("FUNCTION(s, 'substringFromIndex:', 99) == ''", true),
      ("FUNCTION(s, 'componentsSeparatedByString:', '/')[1] == 'bar.txt'", true),
      ("FUNCTION(s, 'stringByReplacingOccurrencesOfString:withString:', 'Foo', 'x') == 'x/bar.txt'", true),
      ("FUNCTION('12 x', 'intValue') == 12", true), ("FUNCTION(n, 'intValue') == 3", true),
      ("FUNCTION(n, 'stringValue') == '3.7'", true), ("FUNCTION(l, 'count') == 2", true),
      ("FUNCTION(l, 'objectAtIndex:', 1) == 2", true), ("FUNCTION(l, 'containsObject:', 2) == YES", true),
      ("FUNCTION(l, 'componentsJoinedByString:', '-') == '1-2'", true),
      ("d.timeIntervalSinceReferenceDate == 60", true),
      ("FUNCTION(d, 'dateByAddingTimeInterval:', 40) == CAST(100, 'NSDate')", true),
      ("u.host == 'host'", true),
      ("u.port == 81 AND u.fragment == 'f'", true),
      ("FUNCTION(SELF, 'valueForKeyPath:', 's.length') == 11", true),
      ("FUNCTION(s, 'isEqual:', s) == YES", true), ("FUNCTION(nothing, 'length') == nil", true),
    ] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
  }

  @Test func `a plain key in a subquery belongs to the outer object`() throws {
    let o: [String: Any] = [
      "limit": 10,
      "kids": [["age": 12, "limit": 99, "pets": [["n": 12], ["n": 1]]], ["age": 5, "pets": [["n": 5]]]],
    ]
    for (format, answer) in [
      ("SUBQUERY(kids, $k, $k.age > limit).@count == 1", true),
      ("SUBQUERY(kids, $k, $k.limit > limit).@count == 1", true),
      ("SUBQUERY(kids, $k, SELF.limit == 10).@count == 2", true),
      (
        "SUBQUERY(kids, $k, SUBQUERY($k.pets, $p, $p.n == $k.age AND limit == 10).@count == 1).@count == 2",
        true
      ),
      ("SUBQUERY(kids, $k, SUBQUERY($k.pets, $k, $k.n == 1).@count == 1).@count == 1", true),
      ("SUBQUERY(kids, $k, $k.age > 1)[0].age == 12", true),
      ("ANY SUBQUERY(kids, $k, $k.age < 9).age == 5", true),
      ("SUBQUERY(kids, $k, $k.age > 1).@sum.age == 17", true),
      ("SUBQUERY(nothing, $k, $k.age > 1).@count == 0", false),
    ] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
    #expect(try ask("SUBQUERY(kids, $k, TRUEPREDICATE).@count == 2 AND $k == 1", o) == nil)
    #expect(
      try NSPredicate(format: "SUBQUERY(kids, $k, $k.age > 1).@count == 2 AND $k == 7")
        .matches(o, substitutionVariables: ["k": 7]))
  }

  @Test func `set operators, indexing, assignment and ANYKEY`() throws {
    let o: [String: Any] = ["a": [1, 2], "b": [2, 3], "d": ["x": 1, "y": 2], "s": "text"]
    for (format, answer) in [
      ("a UNION b == {1, 2, 3}", true), ("a INTERSECT b == {2}", true), ("a MINUS b == {1}", true),
      ("(a UNION d).@count == 2", true), ("a[LAST] == 2", true), ("a[5] == nil", true),
      ("a[-1] == nil", true),
      ("d['y'] == 2", true), ("d[SIZE] == 2", true), ("d['z'] == nil", true), ("1 IN d", true),
      ("'x' IN d", false),
      ("($x := 4) == 4 AND $x == 4", true), ("ANYKEY == 'text'", true), ("ANYKEY CONTAINS 'ex'", true),
      ("ANYKEY == 'other'", false), ("{} == {}", true), ("a == {1, 2}", true), ("a == {2, 1}", false),
    ] {
      #expect(try ask(format, o) == answer, "\(format)")
    }
  }

  // MARK: Objects of other kinds

  private struct Plain { let name = "x"; let inner = ["k": 1]; let missing: Int? = nil }
  private class Base { let base = 1 }
  private final class Derived: Base { let own = 2 }
  private struct Readable: KeyValueReadable {
    func value(forKey key: String) -> Any? { key.count }
    func hasValue(forKey key: String) -> Bool { key.hasPrefix("k") }
  }
  private final class Keyed: KeyedMembersProviding {
    let number = 4
    class var keyedMembers: KeyedMembers {
      KeyedMembers().key("double") { (object: Keyed) in object.number * 2 }
        .function("plus:") { (object: Keyed, arguments) in object.number + (arguments[0] as? Int ?? 0) }
    }
  }

  @Test func `stored properties are read by reflection, members by their table, keys by a protocol`() throws {
    #expect(try ask("name == 'x' AND inner.k == 1 AND missing == nil", Plain()) == true)
    #expect(try ask("nothing == nil", Plain()) == nil)
    #expect(try ask("base == 1 AND own == 2", Derived()) == true)
    #expect(try ask("keys == 4 AND k == 1", Readable()) == true)
    #expect(try ask("other == 5", Readable()) == nil)
    #expect(try ask("double == 8 AND number == 4", Keyed()) == true)
    #expect(try ask("FUNCTION(SELF, 'plus:', 3) == 7", Keyed()) == true)
    #expect(try ask("FUNCTION(SELF, 'minus:', 3) == 7", Keyed()) == nil)
  }

  @Test func `Foundation filters collections with our predicates`() {
    let people: NSArray = [["age": 1], ["age": 5]]
    #expect(people.filtered(using: NSPredicate(format: "age > 3")).count == 1)
    let set = NSSet(array: [1, 2, 3]).filtered(using: NSPredicate(format: "SELF > 1"))
    #expect(set.count == 2)
    let mutable = NSMutableArray(array: ["a", "b"])
    mutable.filter(using: NSPredicate(format: "SELF == 'a'"))
    #expect(mutable == ["a"])
  }

  @Test func `an expression's block gets the object, the arguments and the variables`() throws {
    let block = NSExpression(
      block: { object, arguments, context in
        ((object as? [String: Int])?["a"] ?? 0) + (arguments[0] as? Int ?? 0) + (context?["v"] as? Int ?? 0)
      }, arguments: [NSExpression(format: "a + 1")])
    let predicate = NSPredicate(format: "%@ == 23", block)
    #expect(try predicate.matches(["a": 1], substitutionVariables: ["v": 20]))
    #expect(block.description.hasPrefix("BLOCK(0x"))
  }

  @Test func `FETCH and the count of a request ask a context`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada", age: 30)
    stack.person("Bob", age: 40)
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.predicate = NSPredicate(format: "age > 35")
    #expect(try ask("FETCH(%@, %@, YES) == 1", nil, request, stack.context) == true)
    #expect(try ask("FETCH(%@, %@, NO)[0].name == 'Bob'", nil, request, stack.context) == true)
    #expect(try ask("%@.@count == 1", ada, NSExpression(forConstantValue: request)) == true)
    #expect(try ask("%@.@count == 1", nil, NSExpression(forConstantValue: request)) == nil)
    let fetch = NSFetchRequestExpression.expression(
      forFetch: NSExpression(forConstantValue: request),
      context: NSExpression(forConstantValue: stack.context), countOnly: true)
    #expect(fetch.expressionValue(with: nil, context: nil) as? Int == 1)
    #expect(
      fetch.expressionType == .fetchRequest
        && (fetch as? NSFetchRequestExpression)?.isCountOnlyRequest == true)
  }

  // MARK: Limits

  @Test func `depth is bounded, and long chains aren't deep`() throws {
    var deep = PredicateTree.constant(true)
    for _ in 0..<500 { deep = .not(deep) }
    let error = #expect(throws: PredicateEvaluationError.self) { try NSPredicate(deep).matches(nil) }
    #expect(error?.reason == .tooDeep)
    var chain = PredicateTree.compare("a", .equal, 1)
    for _ in 0..<5_000 { chain = .and([chain, .compare("a", .equal, 1)]) }
    #expect(try Evaluator().holds(chain, for: ["a": 1]))
  }

  /// On the smallest stack that a thread has by default anywhere.
  @Test func `the deepest predicate fits half a megabyte of stack`() {
    let format =
      String(repeating: "TERNARY(a == ", count: 40) + "1" + String(repeating: ", 1, 2) ", count: 40)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      _ = try? NSPredicate(parsing: format + "== 1").matches(["a": 1])
      var tree = ExpressionTree.path("a")
      for _ in 0..<300 { tree = .function("abs:", [tree]) }
      _ = try? Evaluator().holds(.comparison(.init(tree, .equal, .constant(1))), for: ["a": 1])
      done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    #expect(done.wait(timeout: .now() + 60) == .success)
  }

  @Test func `a regular expression that would take years is refused`() throws {
    let text = String(repeating: "a", count: 60) + "b"
    let predicate = NSPredicate(format: "SELF MATCHES '(a+)+'")
    let start = Date()
    let error = #expect(throws: PredicateEvaluationError.self) { try predicate.matches(text) }
    #expect(error?.reason == .badPattern && Date().timeIntervalSince(start) < 20)
    #expect(try predicate.matches("aaaa"))
  }

  @Test func `an error names the smallest part that it is about`() throws {
    for (format, part) in [
      ("a == 1 OR NOT (b < 2 AND s < 2)", "s < 2"), ("a + s * 2 == 3", "s * 2"),
      ("SUBQUERY(l, $x, $x < 'a').@count == 1", "$x < \"a\""), ("ANY a.b > 1", "a.b"),
      ("a == $missing", "$missing"),
      ("TERNARY(TRUEPREDICATE, FUNCTION(s, 'foo:', 1), 2) == 1", "FUNCTION(s, \"foo:\" , 1)"),
    ] {
      let error = #expect(throws: PredicateEvaluationError.self) {
        try NSPredicate(format: format).matches(["a": 0, "b": 0, "s": "x", "l": [1]] as [String: Any])
      }
      #expect(error?.expression == part, "\(format): \(error.map { "\($0)" } ?? "")")
    }
  }
}
