// What a predicate is refused for, and that the error says where.

import Foundation
import Testing

@testable import CairnModel

struct BindingTests {
  private let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Note",
        attributes: [
          .init("title", .string), .init("count", .int32), .init("at", .date), .init("id", .uuid),
          .init("link", .uri),
          .init("body", .data), .init("cache", .string, isTransient: true),
          .init(
            "place", .composite([.init("lat", .double), .init("inner", .composite([.init("x", .int16)]))])),
        ],
        relationships: [
          .init("tags", to: "Tag", inverse: "notes"), .init("folder", to: "Folder", maxCount: 1),
          .init("draft", to: "Folder", maxCount: 1, isTransient: true),
        ]),
      .init(name: "Tag", relationships: [.init("notes", to: "Note", inverse: "tags")]),
      .init(name: "Folder", attributes: [.init("name", .string)]),
    ]))

  /// Expects the refusal, at this place, with these words in it.
  private func expectRefusal(
    _ tree: PredicateTree, _ code: StoreError.Code = .unbindablePredicate, at property: String?,
    of entity: String = "Note", _ words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      _ = try BoundPredicate(tree, to: EntityID(0), in: schema)
      Issue.record("\(tree) was accepted", sourceLocation: sourceLocation)
    } catch let error as StoreError {
      #expect(error.code == code, sourceLocation: sourceLocation)
      #expect(
        error.entity == entity && error.property == property, "\(error)", sourceLocation: sourceLocation)
      #expect(error.message.contains(words), "\(error)", sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func `names that aren't there, with the names that are`() throws {
    expectRefusal(.compare("titel", .equal, "x"), .unknownProperty, at: "titel", "no property")
    expectRefusal(
      .compare("folder.title", .equal, "x"), .unknownProperty, at: "title", of: "Folder", "no property")
    expectRefusal(
      .compare("title.length", .equal, 1), .unknownProperty, at: "title.length", "no such element")
    expectRefusal(.compare("place.lon", .equal, 1), at: "place.lon", "one of its elements")
    expectRefusal(.compare("", .equal, 1), .unknownProperty, at: "", "no property")
    expectRefusal(
      .compare("folder..name", .equal, "x"), .unknownProperty, at: "", of: "Folder", "no property")
    let error = #expect(throws: StoreError.self) {
      try BoundPredicate(.compare("folder.titel", .equal, "x"), to: EntityID(0), in: schema)
    }
    #expect(error?.remedy == "its properties are: name")
  }

  @Test func `paths that have no single stored value`() {
    expectRefusal(.compare("tags", .equal, .null), at: "tags", "to-many")
    expectRefusal(.compare("tags.notes", .equal, "x"), at: "tags.notes", "to-many")
    expectRefusal(.compare("tags.name", .equal, "x"), .unknownProperty, at: "name", of: "Tag", "no property")
    expectRefusal(.compare("draft.name", .equal, "x"), at: "draft", "transient")
    expectRefusal(.compare("cache", .equal, "x"), .unknownProperty, at: "cache", "transient")
    expectRefusal(.compare("place", .equal, 1), at: "place", "elements")
    expectRefusal(.compare("place.inner", .equal, 1), at: "place.inner", "elements")
  }

  @Test func `an ordering of values that have no order with each other`() {
    for (path, value) in [
      ("count", "5" as Value), ("title", 5), ("at", 5), ("id", "x"), ("link", "x"), ("body", "x"),
      ("folder", 1),
      ("title", .bool(true)), ("place.lat", "x"), ("place.inner.x", .date(.distantPast)),
    ] {
      for op in [ComparisonOperator.less, .lessOrEqual, .greater, .greaterOrEqual] {
        expectRefusal(.compare(path, op, value), at: path, "\(op)")
        expectRefusal(
          .comparison(.init(.constant(value), op, .path(path))), at: path, "\(op.mirrored(constant: value)!)")
      }
      expectRefusal(.between(path, value, value), at: path, "BETWEEN")
      #expect(throws: Never.self, "equality is only false") {
        try BoundPredicate(.compare(path, .equal, value), to: EntityID(0), in: schema)
      }
    }
    expectRefusal(
      .comparison(.init(.path("count"), .less, .path("title"))), at: "count", "number and a string")
    expectRefusal(.comparison(.init(.evaluatedObject, .less, .constant(5))), at: "SELF", "key")
  }

  @Test func `string operators on what is no string`() {
    for op in [ComparisonOperator.beginsWith, .endsWith, .contains, .like, .matches] {
      expectRefusal(.compare("count", op, "x"), at: "count", "number and a string")
      expectRefusal(.compare("title", op, 5), at: "title", "needs a string")
    }
    expectRefusal(.compare("count", .isIn, "x"), at: "count", "number and a string")
    expectRefusal(
      .comparison(.init(.path("title"), .contains, .path("count"))), at: "title", "string and a number")
    expectRefusal(
      .comparison(.init(.path("title"), .matches, .path("folder.name"))), at: "title", "known beforehand")
  }

  @Test func `lists and patterns that are none`() {
    expectRefusal(
      .comparison(.init(.path("count"), .between, .list([.constant(1)]))), at: "count", "not of 1")
    expectRefusal(.compare("count", .between, 5), at: "count", "needs a list")
    expectRefusal(.compare("count", .isIn, 5), at: "count", "needs a list")
    expectRefusal(.compare("count", .isIn, .null), at: "count", "needs a list")
    expectRefusal(
      .comparison(.init(.path("count"), .equal, .list([.constant(1)]))), at: "count", "with a list")
    expectRefusal(.comparison(.init(.list([]), .equal, .constant(1))), at: "{}", "list")
    for pattern in ["[", "a)(b", "(", "*"] {
      expectRefusal(.compare("title", .matches, .string(pattern)), at: "title", "regular expression")
    }
    expectRefusal(.compare("title", .equal, .composite(["a": 1])), at: "{a: 1}", "composite")
  }

  private func number(_ text: String) throws -> PredicateTree {
    .comparison(.init(try PredicateFormat.parseExpression(text), .equal, .constant(1)))
  }

  @Test func `functions of a collection don't take one value, nor lists among values`() throws {
    for name in ["sum:", "count:", "min:", "max:", "average:"] {
      expectRefusal(try number("\(name)(count)"), at: "count", "needs a collection")
      expectRefusal(try number("\(name)(3)"), at: "3", "needs a collection")
      expectRefusal(try number("\(name)({count}, 3)"), at: "\(name)({count}, 3)", "collection")
      #expect(throws: Never.self) {
        for arguments in ["{count}", "count, 3", "nil", "{}"] {
          _ = try BoundPredicate(number("\(name)(\(arguments))"), to: EntityID(0), in: schema)
        }
      }
    }
    expectRefusal(try number("sum:({count, title})"), at: "sum:({count, title})", "string")
    // nil is an empty collection.
    for (text, holds) in [("count:(nil) == 0", true), ("sum:(nil) == 0", true), ("max:(nil) == nil", true)] {
      let bound = try BoundPredicate(PredicateFormat.parse(text), to: EntityID(0), in: schema)
      guard case .constant(holds) = bound.root else {
        Issue.record("\(text): \(bound.root)")
        continue
      }
    }
  }

  @Test func `bits are only taken of numbers that are sure to be whole`() throws {
    for text in [
      "place.lat & 1", "1 | place.lat", "count ^ 2.5", "~place.lat", "count << 0.5", "2.5 >> count",
      "(count / 2.0) & 1", "sqrt:(count) & 1", "average:({count, 1}) & 1", "(2 ** count) & 1",
      "CAST(count, 'NSDecimalNumber') & 1", "CAST(title, 'NSNumber') & 1",
      "(count * count * count) & 1", "TERNARY(count > 1, count, place.lat) & 1", "tags.@avg.x & 1",
    ] {
      let tree = try number(text.replacingOccurrences(of: "tags.@avg.x", with: "place.lat"))
      #expect(throws: StoreError.self, "\(text)") { try BoundPredicate(tree, to: EntityID(0), in: schema) }
    }
    expectRefusal(try number("place.lat & 1"), at: "place.lat & 1", "whole")
    for text in [
      "count & 1", "count | 2.0", "~place.inner.x", "(count + 1) & 1", "(count * count) ^ 3",
      "(count & 7) << count", "length:(title) >> 1", "abs:(count - 5) & 1", "modulus:by:(count, 3) & 1",
      "max:(count, place.inner.x) & 1", "(tags.@count + 1) & 1", "TERNARY(count > 1, count, 7) & 1",
      "(count / 2) & 1", "count & nil", "sum:({count, count, 1}) & 1", "floor:(count) & 1",
    ] {
      #expect(throws: Never.self, "\(text)") {
        try BoundPredicate(number(text), to: EntityID(0), in: schema)
      }
    }
  }

  /// `wholeBits` promises a size, on which the acceptance of bit operators rests.
  @Test func `a sum that bits are taken of never leaves Int64`() throws {
    let values: [Value] = [.int(Int64(Int32.min)), .int(-1), .int(0), .int(Int64(Int32.max))]
    let rows = values.enumerated().map { TestSource.Row(key: Int64($0 + 1), values: ["count": $1]) }
    let source = TestSource(schema, ["Note": rows])
    for text in [
      "(count * count) & -1", "~(count * count) & -1", "(count + count - 1) | 0", "abs:(count) ^ 0",
      "(count * 1073741824) | 0", "(count * 2147483647) | 0", "(count / -1) & -1", "(~count - 1) & -1",
    ] {
      let tree = PredicateTree.comparison(
        .init(try PredicateFormat.parseExpression(text), .notEqual, .constant(.null)))
      let query = try RowQuery(
        entity: EntityID(0), includesSubentities: true, predicate: tree, source: source)
      #expect(query.count() == values.count, "\(text)")
    }
  }

  @Test func `what is no string differs from every string, with and without options`() throws {
    let schema = try Schema(
      SchemaDescription(entities: [.init(name: "N", attributes: [.init("n", .int32), .init("s", .string)])]))
    let rows = [
      TestSource.Row(key: 1, values: ["n": 1, "s": "x"]), TestSource.Row(key: 2, values: ["n": 2, "s": "X"]),
      TestSource.Row(key: 3, values: ["n": 3, "s": "y"]),
    ]
    let source = TestSource(schema, ["N": rows])
    for (text, ids) in [
      ("TERNARY(n == 1, n, s) !=[c] 'x'", [1, 3]), ("TERNARY(n == 1, n, s) ==[c] 'x'", [2]),
      ("TERNARY(n == 1, n, s) != 'X'", [1, 3]),
    ] as [(String, [Int64])] {
      let found = try RowQuery(
        entity: EntityID(0), includesSubentities: true, predicate: PredicateFormat.parse(text), source: source
      )
      #expect(found.rows(sort: [], offset: 0, limit: nil).ids == ids, "\(text)")
    }
  }

  @Test func `a tree nested deeper than a hundred`() {
    func nested(_ depth: Int) -> PredicateTree {
      (0..<depth).reduce(.constant(true)) { tree, _ in .not(tree) }
    }
    #expect(throws: Never.self) { try BoundPredicate(nested(99), to: EntityID(0), in: schema) }
    expectRefusal(nested(100), at: nil, "deeper")
  }

  @Test func `an AND within an AND is no deeper, nor an OR within an OR: chains built two by two`() throws {
    let leaves = (0..<2000).map { PredicateTree.compare("count", .equal, .int($0)) }
    for chain in [
      leaves.reduce(.constant(false)) { .or([$0, $1]) }, leaves.reduce(.constant(false)) { .or([$1, $0]) },
    ] as [PredicateTree] {
      let bound = try BoundPredicate(.and([.constant(true), .and([chain])]), to: EntityID(0), in: schema)
      guard case .and(let parts) = bound.root, parts.count == 2, case .or(let tests) = parts[1] else {
        Issue.record("\(bound.root)")
        return
      }
      #expect(tests.count == 2001)
    }
    #expect(throws: Never.self) { try BoundPredicate(.and([.or([])]), to: EntityID(0), in: schema) }
  }

  /// Half a megabyte is what secondary threads have on Apple's platforms.
  @Test func `the deepest tree that is accepted fits the stack of a small thread`() {
    let rows = (1...1000).map { TestSource.Row(key: Int64($0), values: ["count": .int(Int64($0))]) }
    let source = TestSource(schema, ["Note": rows])
    let tree = (0..<99).reduce(PredicateTree.compare("count", .greater, 900)) { tree, level in
      let other = PredicateTree.compare("count", .greater, .int(Int64(level)))
      return level % 2 == 0 ? .and([other, tree]) : .or([.not(other), tree])
    }
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let query = try? RowQuery(
        entity: EntityID(0), includesSubentities: true, predicate: tree, source: source)
      #expect((query?.count() ?? 0) > 0)
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
  }

  @Test func `paths end in slots, in keys, or in the key of the row they lead to`() throws {
    func bound(_ path: String) throws -> BoundPath {
      try BoundPath(path.split(separator: ".").map(String.init), from: EntityID(0), in: schema)
    }
    let latitude = try bound("place.lat")
    #expect(latitude.hops.isEmpty && latitude.type == .double)
    #expect(latitude.target == .slot(try #require(schema[EntityID(0)].slot(named: "place.lat"))))
    #expect(try bound("place.inner.x").type == .int16)
    #expect(try bound("folder").type == .key && bound("folder").hops.isEmpty)
    #expect(try bound("folder.name").hops.count == 1)
    #expect(try BoundPath([], from: EntityID(0), in: schema).target == .ownKey)
  }

  @Test func `a constant on the left is mirrored; a string there may contain the property or be in it`()
    throws
  {
    let rows = ["lic", "Alice", "x"].enumerated().map {
      TestSource.Row(key: Int64($0 + 1), values: ["title": .string($1)])
    }
    let source = TestSource(schema, ["Note": rows])
    func ids(_ left: Value, _ op: ComparisonOperator) throws -> [Int64] {
      let tree = PredicateTree.comparison(.init(.constant(left), op, .path("title")))
      #expect(try disagreements(tree, "Note", source).isEmpty)
      return try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: tree, source: source)
        .rows(sort: [], offset: 0, limit: nil).ids
    }
    #expect(try ids("lic", .isIn) == [1, 2])
    #expect(try ids("Alice", .contains) == [1, 2])
    #expect(try ids("b", .less) == [1, 3])
    #expect(try ids("x", .notEqual) == [1, 2])
  }

  @Test func `constants on both sides are answered when bound`() throws {
    func answer(_ left: Value, _ op: ComparisonOperator, _ right: ExpressionTree) throws -> Bool {
      guard
        case .constant(let result) = try BoundPredicate(
          .comparison(.init(.constant(left), op, right)), to: EntityID(0), in: schema
        ).root
      else { return false }
      return result
    }
    #expect(try answer(.null, .equal, .constant(.null)) && !answer(.null, .notEqual, .constant(.null)))
    #expect(try !answer(.null, .less, .constant(5)) && answer(.null, .notEqual, .constant(5)))
    #expect(try !answer(.null, .like, .constant(.null)) && !answer("a", .contains, .constant(.null)))
    #expect(
      try answer(5, .isIn, .list([.constant("x"), .constant(5)]))
        && !answer(.null, .isIn, .list([.constant(.null)])))
    #expect(try answer(5, .between, .list([.constant(5), .constant(6)])))
    #expect(try !answer(.null, .between, .list([.constant(5), .constant(6)])))
  }
}
