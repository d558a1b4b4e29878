// Laws of predicates: Core Data's meaning of every operator, its rules for nil, and what doesn't fit.

import CairnModel
import Foundation

extension StoreLaw {
  typealias Tree = PredicateTree

  /// What a predicate selects of `people`, by name.
  private struct Case: Sendable {
    let what: String
    let tree: Tree
    let names: String

    init(_ what: String, _ tree: Tree, _ names: String) {
      self.what = what
      self.tree = tree
      self.names = names
    }
  }

  /// Four people: "a" in the department "Ärzte", "b" in "Zoo", "c" with a department without a name, "d"
  /// with nothing but a code.
  private static func people(_ trial: Trial) throws {
    let depts = try trial.insert(
      "Department", rows: [["name": "Ärzte", "budget": 10], ["name": "Zoo"], [:]])
    let desks = try trial.insert("Desk", rows: [["label": "window"], ["label": "door"]])
    let keys = try trial.insert(
      "Person",
      rows: [
        [
          "code": "a", "name": "Alice", "age": 30, "height": 1.5, "rank": 30, "dept": depts[0].value,
          "desk": desks[0].value,
        ],
        [
          "code": "b", "name": "bob", "age": 20, "height": 20, "dept": depts[1].value, "desk": desks[1].value,
        ],
        ["code": "c", "name": "Émile", "age": 40, "rank": 7, "dept": depts[2].value],
        ["code": "d"],
      ])
    try trial.update(keys[1], ["mentor": keys[0].value])
    try trial.update(keys[2], ["mentor": keys[1].value])
    try trial.update(keys[0], ["mentor": keys[0].value])
  }

  private static func selecting(_ name: String, _ cases: [Case]) -> StoreLaw {
    law("predicates", name) { trial in
      try people(trial)
      let slot = try trial.slot("Person", "code")
      for test in cases {
        for (tree, isInverted) in [
          (test.tree, false), (Tree.not(test.tree), true), (.and([test.tree]), false),
        ] {
          let batch = try trial.fetch(trial.request("Person", tree))
          let found = (0..<batch.count).map { batch.value($0, slot: slot) }
          let expected = "abcd".filter { test.names.contains($0) != isInverted }.map {
            Value.string(String($0))
          }
          try expectEqual(found, expected, "the people selected by \(isInverted ? "NOT " : "")\(test.what)")
        }
      }
    }
  }

  static let predicates: [StoreLaw] = [
    selecting(
      "equality and inequality: nil equals nil, and differs from every value",
      [
        Case("age == 30", .compare("age", .equal, 30), "a"),
        Case("age == 30.0", .compare("age", .equal, 30.0), "a"),
        Case("age == 30.5", .compare("age", .equal, 30.5), ""),
        Case("age != 30", .compare("age", .notEqual, 30), "bcd"),
        Case("age == nil", .compare("age", .equal, .null), "d"),
        Case("age != nil", .compare("age", .notEqual, .null), "abc"),
        Case("name == 'Alice'", .compare("name", .equal, "Alice"), "a"),
        Case("name == 'alice'", .compare("name", .equal, "alice"), ""),
        Case("name != 'Alice'", .compare("name", .notEqual, "Alice"), "bcd"),
        Case("name == nil", .compare("name", .equal, .null), "d"),
      ]),
    selecting(
      "orderings: a nil side is false",
      [
        Case("age < 30", .compare("age", .less, 30), "b"),
        Case("age <= 30", .compare("age", .lessOrEqual, 30), "ab"),
        Case("age > 20.5", .compare("age", .greater, 20.5), "ac"),
        Case("age >= 40", .compare("age", .greaterOrEqual, 40), "c"),
        Case("age >= -1", .compare("age", .greaterOrEqual, -1), "abc"),
        Case("age < 1e300", .compare("age", .less, .double(1e300)), "abc"),
        Case("age < nil", .compare("age", .less, .null), ""),
        Case("age >= nil", .compare("age", .greaterOrEqual, .null), ""),
        Case("name < 'B'", .compare("name", .less, "B"), "a"),
        Case("name < 'F'", .compare("name", .less, "F"), "ac"),
        Case("name > 'Alice'", .compare("name", .greater, "Alice"), "bc"),
      ]),
    selecting(
      "a constant may stand on the left",
      [
        Case("30 == age", .comparison(.init(.constant(30), .equal, .path("age"))), "a"),
        Case("30 < age", .comparison(.init(.constant(30), .less, .path("age"))), "c"),
        Case("30 >= age", .comparison(.init(.constant(30), .greaterOrEqual, .path("age"))), "ab"),
        Case("1 == 1", .comparison(.init(.constant(1), .equal, .constant(1.0))), "abcd"),
        Case("1 > 2", .comparison(.init(.constant(1), .greater, .constant(2))), ""),
      ]),
    selecting(
      "BETWEEN includes both ends, and is false for nil on any side",
      [
        Case("age BETWEEN {20, 30}", .between("age", 20, 30), "ab"),
        Case("age BETWEEN {20.5, 1000}", .between("age", 20.5, 1_000), "ac"),
        Case("age BETWEEN {30, 20}", .between("age", 30, 20), ""),
        Case("age BETWEEN {nil, 30}", .between("age", .null, 30), ""),
        Case("name BETWEEN {'A', 'B'}", .between("name", "A", "B"), "a"),
      ]),
    selecting(
      "IN a list compares by the one equality, and nil is in no list",
      [
        Case("age IN {40, 20, 7}", .isIn("age", [40, 20, 7]), "bc"),
        Case("age IN {30.0, 'x'}", .isIn("age", [30.0, "x"]), "a"),
        Case("age IN {}", .isIn("age", []), ""),
        Case("age IN {nil, 20}", .isIn("age", [.null, 20]), "b"),
        Case("name IN {'bob', 'Bob', 'Alice'}", .isIn("name", ["bob", "Bob", "Alice"]), "ab"),
      ]),
    selecting(
      "IN a string asks whether the left side is part of it",
      [
        Case("name IN 'xAlicex'", .compare("name", .isIn, "xAlicex"), "a"),
        Case("name IN[c] 'BOBALICE'", .compare("name", .isIn, "BOBALICE", options: .caseInsensitive), "ab"),
      ]),
    selecting(
      "string operators are literal, and false for nil",
      [
        Case("name BEGINSWITH 'Al'", .compare("name", .beginsWith, "Al"), "a"),
        Case("name BEGINSWITH 'al'", .compare("name", .beginsWith, "al"), ""),
        Case("name BEGINSWITH ''", .compare("name", .beginsWith, ""), "abc"),
        Case("name ENDSWITH 'e'", .compare("name", .endsWith, "e"), "ac"),
        Case("name CONTAINS 'l'", .compare("name", .contains, "l"), "ac"),
        Case("name CONTAINS 'Emil'", .compare("name", .contains, "Emil"), ""),
        Case("name CONTAINS nil", .compare("name", .contains, .null), ""),
      ]),
    selecting(
      "[c] and [d] fold case and diacritics on both sides",
      [
        Case("name ==[c] 'ALICE'", .compare("name", .equal, "ALICE", options: .caseInsensitive), "a"),
        Case("name !=[c] 'ALICE'", .compare("name", .notEqual, "ALICE", options: .caseInsensitive), "bcd"),
        Case("name ==[d] 'Emile'", .compare("name", .equal, "Emile", options: .diacriticInsensitive), "c"),
        Case("name ==[c] 'emile'", .compare("name", .equal, "emile", options: .caseInsensitive), ""),
        Case(
          "name ==[cd] 'EMILÉ'",
          .compare("name", .equal, "EMILÉ", options: [.caseInsensitive, .diacriticInsensitive]), "c"),
        Case("name BEGINSWITH[c] 'BO'", .compare("name", .beginsWith, "BO", options: .caseInsensitive), "b"),
        Case(
          "name CONTAINS[cd] 'EMI'",
          .compare("name", .contains, "EMI", options: [.caseInsensitive, .diacriticInsensitive]), "c"),
        Case("name <[c] 'B'", .compare("name", .less, "B", options: .caseInsensitive), "a"),
        Case("name LIKE[c] 'A*'", .compare("name", .like, "A*", options: .caseInsensitive), "a"),
        Case("name MATCHES[c] 'B.B'", .compare("name", .matches, "B.B", options: .caseInsensitive), "b"),
      ]),
    selecting(
      "LIKE takes * and ?, and matches the whole string",
      [
        Case("name LIKE 'A*e'", .compare("name", .like, "A*e"), "a"),
        Case("name LIKE 'b?b'", .compare("name", .like, "b?b"), "b"),
        Case("name LIKE 'b?'", .compare("name", .like, "b?"), ""),
        Case("name LIKE '*'", .compare("name", .like, "*"), "abc"),
        Case("name LIKE 'lic'", .compare("name", .like, "lic"), ""),
        Case("name LIKE '*l*'", .compare("name", .like, "*l*"), "ac"),
        Case("name LIKE 'b\\\\*'", .compare("name", .like, "b\\*"), ""),
        Case("name LIKE '.*'", .compare("name", .like, ".*"), ""),
      ]),
    selecting(
      "MATCHES takes a regular expression for the whole string",
      [
        Case("name MATCHES 'A.*e'", .compare("name", .matches, "A.*e"), "a"),
        Case("name MATCHES 'lic'", .compare("name", .matches, "lic"), ""),
        Case("name MATCHES 'bob|Al'", .compare("name", .matches, "bob|Al"), "b"),
        Case("name MATCHES '\\\\w+'", .compare("name", .matches, "\\w+"), "abc"),
      ]),
    selecting(
      "AND, OR and NOT, empty ones too",
      [
        Case("TRUEPREDICATE", .constant(true), "abcd"),
        Case("FALSEPREDICATE", .constant(false), ""),
        Case("AND of nothing", .and([]), "abcd"),
        Case("OR of nothing", .or([]), ""),
        Case(
          "age > 20 AND name CONTAINS 'l'",
          .and([.compare("age", .greater, 20), .compare("name", .contains, "l")]), "ac"),
        Case(
          "age == 20 OR name == nil", .or([.compare("age", .equal, 20), .compare("name", .equal, .null)]),
          "bd"),
        Case("NOT NOT age == 20", .not(.not(.compare("age", .equal, 20))), "b"),
        Case(
          "(age < 25 OR age > 35) AND NOT name == 'bob'",
          .and([
            .or([.compare("age", .less, 25), .compare("age", .greater, 35)]),
            .not(.compare("name", .equal, "bob")),
          ]), "c"),
      ]),
    selecting(
      "two properties of a row can be compared, by the same rules for nil",
      [
        Case("age == rank", .comparison(.init(.path("age"), .equal, .path("rank"))), "ad"),
        Case("age != rank", .comparison(.init(.path("age"), .notEqual, .path("rank"))), "bc"),
        Case("age > rank", .comparison(.init(.path("age"), .greater, .path("rank"))), "c"),
        Case("age > height", .comparison(.init(.path("age"), .greater, .path("height"))), "a"),
        Case("age <= height", .comparison(.init(.path("age"), .lessOrEqual, .path("height"))), "b"),
        Case("name == age", .comparison(.init(.path("name"), .equal, .path("age"))), "d"),
      ]),
    selecting(
      "key paths lead over to-one relationships, and are nil where a step leads nowhere",
      [
        Case("dept.name == 'Zoo'", .compare("dept.name", .equal, "Zoo"), "b"),
        Case("dept.name == nil", .compare("dept.name", .equal, .null), "cd"),
        Case("dept.name != 'Zoo'", .compare("dept.name", .notEqual, "Zoo"), "acd"),
        Case("dept.name < 'B'", .compare("dept.name", .less, "B"), "a"),
        Case(
          "dept.name BEGINSWITH[d] 'A'",
          .compare("dept.name", .beginsWith, "A", options: .diacriticInsensitive), "a"),
        Case("dept == nil", .compare("dept", .equal, .null), "d"),
        Case("mentor.dept.name == 'Ärzte'", .compare("mentor.dept.name", .equal, "Ärzte"), "ab"),
        Case("mentor.mentor.age == 30", .compare("mentor.mentor.age", .equal, 30), "abc"),
        Case("mentor.age < age", .comparison(.init(.path("mentor.age"), .less, .path("age"))), "c"),
        Case("desk.label == 'door'", .compare("desk.label", .equal, "door"), "b"),
        Case("dept.name IN {'Zoo', 'Ärzte'}", .isIn("dept.name", ["Zoo", "Ärzte"]), "ab"),
      ]),
    law("predicates", "a path may lead over the side of a one-to-one that doesn't hold the key") { trial in
      try people(trial)
      let desks = try trial.ids("Desk")
      let spare = try trial.insert("Desk", ["label": "spare"])
      try expectEqual(try trial.ids("Desk", .compare("person.name", .equal, "bob")), [desks[1]], "bob's desk")
      try expectEqual(
        try trial.ids("Desk", .compare("person.dept.name", .equal, "Ärzte")), [desks[0]], "by the department")
      try expectEqual(try trial.ids("Desk", .compare("person.name", .equal, .null)), [spare.id], "free desks")
      try expectEqual(try trial.ids("Desk", .compare("person", .equal, .null)), [spare.id], "free desks")
      try expectEqual(try trial.ids("Desk", .compare("person", .notEqual, .null)), desks, "taken desks")
    },
    law("predicates", "a to-one and the row itself are compared with keys") { trial in
      let depts = try trial.insert("Department", count: 2)
      let keys = try trial.insert(
        "Person", rows: [["dept": depts[0].value], ["dept": depts[1].value], [:]])
      func compare(_ left: ExpressionTree, _ op: ComparisonOperator, _ right: ExpressionTree) throws
        -> [Int64]
      {
        try trial.ids("Person", .comparison(.init(left, op, right)))
      }
      let dept = ExpressionTree.path("dept")
      let key = ExpressionTree.constant(depts[1].value)
      let list = ExpressionTree.list([.constant(keys[2].value), .constant(keys[0].value)])
      try expectEqual(try compare(dept, .equal, key), [keys[1].id], "dept == key")
      try expectEqual(try compare(dept, .notEqual, key), [keys[0].id, keys[2].id], "dept != key")
      try expectEqual(try compare(dept, .isIn, .list([key])), [keys[1].id], "dept IN keys")
      try expectEqual(
        try compare(.evaluatedObject, .equal, .constant(keys[1].value)), [keys[1].id], "SELF == key")
      try expectEqual(
        try compare(.evaluatedObject, .notEqual, .constant(keys[1].value)), [keys[0].id, keys[2].id],
        "SELF != key")
      try expectEqual(try compare(.evaluatedObject, .isIn, list), [keys[0].id, keys[2].id], "SELF IN keys")
    },
    law("predicates", "a predicate on an abstract entity sees all the rows that inherit from it") { trial in
      try people(trial)
      let robot = try trial.insert("Robot", ["code": "a", "rank": 30])
      let found = try trial.ids("Thing", .compare("rank", .equal, 30))
      try expectEqual(found.count, 2, "the count of things of rank 30")
      try expect(found.contains(robot.id), "the robot among them")
    },
    law("predicates", "an indexed property gives the same rows as any other, across many changes") { trial in
      var keys: [RowKey] = []
      for round in 0..<12 {
        keys += try trial.insert("Robot", rows: (0..<20).map { ["rank": .int($0 % 5), "model": "m"] })
        try trial.update(keys[round * 3], ["rank": .int(Int64(round % 3) + 100)])
        try trial.delete(keys.remove(at: round * 2))
        let slot = try trial.slot("Robot", "rank")
        let all = try trial.fetch(trial.request("Robot"))
        for rank in [0, 3, 100, 101, 999] as [Value] {
          let expected = (0..<all.count).filter { all.value($0, slot: slot) == rank }.map { all.key($0).id }
          try expectEqual(try trial.ids("Robot", .compare("rank", .equal, rank)), expected, "rank \(rank)")
          try expectEqual(try trial.ids("Thing", .compare("rank", .equal, rank)), expected, "rank \(rank)")
        }
        let range = try trial.ids("Robot", .between("rank", 3, 100))
        let expected = (0..<all.count).filter {
          3 <= all.value($0, slot: slot) && all.value($0, slot: slot) <= 100
        }
        try expectEqual(range, expected.map { all.key($0).id }, "ranks 3 to 100")
      }
    },
    law("predicates", "a predicate that doesn't fit throws before any row is looked at, without rows too") {
      trial in
      func refuse(_ code: StoreError.Code, _ what: String, _ tree: Tree) throws {
        try expectError(code, by: what) { try trial.ids("Person", tree) }
        try expectError(code, by: "a count with \(what)") {
          try trial.store.count(trial.request("Person", tree), in: trial.store.snapshot())
        }
        try expectError(code, by: "an aggregate with \(what)") {
          try trial.aggregate("Person", where: tree, [(.count, nil)])
        }
      }
      for _ in 0..<2 {
        try refuse(.unknownProperty, "an unknown name", .compare("nothing", .equal, 1))
        try refuse(
          .unknownProperty, "an unknown name at the end of a path", .compare("dept.nothing", .equal, 1))
        try refuse(.unknownProperty, "a subentity's property", .compare("bonus", .equal, 1))
        try refuse(.unknownProperty, "an order slot", .compare("dept.#order", .equal, 1))
        try refuse(.unbindablePredicate, "a to-many relationship", .compare("tags", .equal, .null))
        try refuse(.unbindablePredicate, "a path over a to-many", .compare("tags.name", .equal, "x"))
        try refuse(.unbindablePredicate, "an ordering of a string and a number", .compare("name", .less, 2))
        try refuse(.unbindablePredicate, "an ordering of a number and a string", .compare("age", .less, "2"))
        try refuse(
          .unbindablePredicate, "an ordering of two families",
          .comparison(.init(.path("age"), .less, .path("name"))))
        try refuse(.unbindablePredicate, "BEGINSWITH of a number", .compare("age", .beginsWith, "2"))
        try refuse(.unbindablePredicate, "CONTAINS with a number", .compare("name", .contains, 2))
        try refuse(.unbindablePredicate, "BETWEEN without a list", .compare("age", .between, 2))
        try refuse(.unbindablePredicate, "IN with a number", .compare("age", .isIn, 2))
        try refuse(.unbindablePredicate, "a pattern that is none", .compare("name", .matches, "(["))
        try refuse(
          .unbindablePredicate, "BETWEEN of three",
          .comparison(.init(.path("age"), .between, .list([.constant(1), .constant(2), .constant(3)]))))
        try refuse(
          .unbindablePredicate, "deep inside another",
          .not(.or([.constant(true), .compare("name", .less, 2)])))
        try trial.insert("Person", ["name": "now there is a row"])
      }
      try expectEqual(try trial.ids("Person", .compare("name", .equal, 2)), [], "mixed equality is false")
    },
    law("predicates", "a composite attribute is compared by its elements, a transient one not at all") {
      trial in
      try expectError(.unbindablePredicate, by: "a composite attribute") {
        try trial.ids("Place", .compare("location", .equal, .null))
      }
      try expectError(.unknownProperty, by: "a transient attribute") {
        try trial.ids("Place", .compare("cached", .equal, .null))
      }
    },
  ]
}
