// What arguments of a format mean.

import Cairn
import Testing

import class CairnGraph.NSComparisonPredicate
import class CairnGraph.NSExpression

@testable import CairnGraph

@Suite struct FormatArgumentTests {
  enum Size: Int16 { case small = 1, large }
  enum Colour: String { case red }

  @Test func `values of Swift's and of Foundation's types are the same constants`() {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let id = UUID()
    let url = URL(string: "http://a.b")!
    let cases: [(Any?, Value)] = [
      (nil, .null), (Int?.none, .null), (3, .int(3)), (Int8(3), .int(3)), (UInt16(3), .int(3)),
      (Int64.min, .int(.min)), (UInt64.max, .decimal(Decimal(string: "18446744073709551615")!)),
      (1.5, .double(1.5)), (Float(1.5), .float(1.5)), (CGFloat(1.5), .double(1.5)), (true, .bool(true)),
      (NSNumber(value: true), .bool(true)), (NSNumber(value: 1), .int(1)),
      (NSNumber(value: 1.5), .double(1.5)),
      (NSNumber(value: Int8(1)), .int(1)), (NSNumber(value: UInt64.max), .decimal(Decimal(UInt64.max))),
      (Decimal(string: "0.1"), .decimal(Decimal(string: "0.1")!)),
      (NSDecimalNumber(string: "0.1"), .decimal(Decimal(string: "0.1")!)), ("x", .string("x")),
      ("xyz".prefix(1), .string("x")), ("x" as NSString, .string("x")), (Character("x"), .string("x")),
      (date, .date(date)), (date as NSDate, .date(date)), (Data([1]), .data(Data([1]))),
      (Data([1]) as NSData, .data(Data([1]))), (id, .uuid(id)), (id as CVarArg, .uuid(id)),
      (url, .uri("http://a.b")), (Size.large, .int(2)), (Colour.red, .string("red")),
      (Optional(Optional("x") as Any) as Any, .string("x")), (AnyHashable(3), .int(3)),
    ]
    for (argument, value) in cases {
      let tree = ExpressionTree(argument: argument)
      #expect(tree == .constant(value), "\(String(describing: argument)) is \(tree)")
      guard case .constant(let made) = tree else { continue }
      #expect(
        String(reflecting: made).prefix { $0 != "(" } == String(reflecting: value).prefix { $0 != "(" },
        "\(String(describing: argument)) is \(made)")
    }
  }

  @Test func `truth values stay truth values`() {
    for argument in [true, NSNumber(value: true), true as Any] as [Any] {
      guard case .constant(.bool(true)) = ExpressionTree(argument: argument) else {
        Issue.record("\(argument)")
        continue
      }
    }
  }

  @Test func `collections are lists of their elements`() {
    let list = ExpressionTree.list([.constant(1), .constant(2)])
    let collections: [Any] = [
      [1, 2], [1, 2] as NSArray, NSOrderedSet(array: [1, 2]), Set([2, 1]), NSSet(array: [2, 1]),
      [1, 2][0...],
      ContiguousArray([1, 2]), [Size.small, Size.large],
    ]
    for collection in collections {
      #expect(ExpressionTree(argument: collection) == list, "\(type(of: collection))")
    }
    #expect(ExpressionTree(argument: [1, nil] as [Int?]) == .list([.constant(1), .constant(.null)]))
    #expect(ExpressionTree(argument: [String: Int]().keys) == .list([]))
    #expect(NSPredicate(format: "a IN %@", ["b", "c"]).canonicalFormat == #"a IN {"b", "c"}"#)
  }

  @Test func `objects are constants by themselves`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    let text = ada.objectID.description
    #expect(NSPredicate(format: "partner == %@", ada).canonicalFormat == "partner == \(text)")
    #expect(
      NSPredicate(format: "partner == %@", ada) == NSPredicate(format: "partner == %@", ada.objectID))
    #expect(
      NSPredicate(format: "partner == %@", ada) != NSPredicate(format: "partner == %@", stack.person("Bob")))
    #expect(NSPredicate(format: "a == %@", NSNull()).canonicalFormat == "a == <null>")
    let expression = NSExpression(format: "b + 1")
    #expect(NSPredicate(format: "a == %@", expression).canonicalFormat == "a == b + 1")
    let dictionary = NSPredicate(format: "a == %@", ["k": 1])
    #expect(dictionary.evaluate(with: ["a": ["k": 1]]) && !dictionary.evaluate(with: ["a": ["k": 2]]))
    let object = NSObject()
    #expect(NSPredicate(format: "a == %@", object).evaluate(with: ["a": object]))
    #expect(!NSPredicate(format: "a == %@", object).evaluate(with: ["a": NSObject()]))
  }

  @Test func `a key path of a class is its name, as an argument and as an expression`() {
    #expect(
      NSPredicate(format: "%K == %@", \Person.company?.name, "Acme").canonicalFormat
        == #"company.name == "Acme""#)
    #expect(NSExpression(forKeyPath: \Person.age).keyPath == "age")
  }

  @Test func `an argument array and a list of arguments are the same`() {
    #expect(
      NSPredicate(format: "%K > %d AND b == %@", argumentArray: ["a", 3, NSNull()])
        == NSPredicate(format: "%K > %d AND b == %@", "a", 3, NSNull()))
    #expect(NSPredicate(format: "a == 1", argumentArray: nil) == NSPredicate(format: "a == 1"))
  }

  @Test func `a malformed format throws with the place`() {
    for (format, arguments) in [
      ("", []), ("age", []), ("age ==", []), ("name LIKE %@*", ["a"]), ("a == %@", []), ("a == %d", ["x"]),
    ] as [(String, [Any?])] {
      let error = #expect(throws: PredicateFormatError.self) {
        try NSPredicate(parsing: format, arguments: arguments)
      }
      #expect(error?.format == format)
    }
  }

  @Test func `a malformed format traps with the format and a caret`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "age > AND b")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Unable to parse the format string \"age > AND b\"") && text.contains("\n      ^"))
  }

  @Test func `what can't be compared traps in evaluate, with the part of the predicate`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "a == 1 OR foo <= 2").evaluate(with: ["foo": "2"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("a string and a number have no order, in: foo <= 2"))
  }

  @Test func `an unknown function traps when it is named`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSExpression(forFunction: "summ:", arguments: [])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("there is no predefined function \"summ:\""))
  }
}
