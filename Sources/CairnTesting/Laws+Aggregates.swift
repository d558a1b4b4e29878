// Laws of figures over groups of rows.

import CairnModel
import Foundation

extension StoreLaw {
  /// The count of rows, and every function of one property.
  private static func figures(of name: String) -> [(AggregateRequest.Function, String?)] {
    [(.count, nil), (.count, name), (.sum, name), (.average, name), (.min, name), (.max, name)]
  }

  static let aggregates: [StoreLaw] = [
    law("aggregates", "nil values are ignored; without a path rows are counted") { trial in
      _ = try trial.insert("Person", rows: [["age": 10], [:], ["age": 30], ["age": 20], [:]])
      let rows = try trial.aggregate("Person", figures(of: "age"))
      try expectEqual(rows, [AggregateRow(group: [], values: [5, 3, 60, 20.0, 10, 30])], "the figures")
      try expectIdentical(rows[0].values, [.int(5), .int(3), .int(60), .double(20), .int(10), .int(30)])
    },
    law("aggregates", "over nothing, counts and sums are 0 and the others nil, in one row") { trial in
      let rows = try trial.aggregate("Person", figures(of: "age"))
      try expectEqual(rows, [AggregateRow(group: [], values: [0, 0, 0, .null, .null, .null])], "the figures")
      _ = try trial.insert("Person", rows: [[:], [:]])
      let nils = try trial.aggregate("Person", Array(figures(of: "height").dropFirst()))
      try expectEqual(nils, [AggregateRow(group: [], values: [0, 0, .null, .null, .null])], "over nils")
    },
    law("aggregates", "groups come in their order, nil first, and over nothing there are none") { trial in
      try expectEqual(try trial.aggregate("Person", by: ["name"], [(.count, nil)]), [], "groups of nothing")
      let names: [Value] = ["b", "é", .null, "f", "b", .null, "", "b"]
      _ = try trial.insert("Person", rows: names.map { ["name": $0, "age": 1] })
      let rows = try trial.aggregate("Person", by: ["name"], [(.count, nil), (.sum, "age")])
      try expectEqual(rows.map(\.group), [[.null], [""], ["b"], ["é"], ["f"]], "the groups")
      try expectEqual(rows.map(\.values), [[2, 2], [1, 1], [3, 3], [1, 1], [1, 1]], "the figures")
    },
    law("aggregates", "several paths together make a group") { trial in
      let rows: [[String: Value]] = [
        ["name": "a", "age": 2], ["name": "a", "age": 1], ["name": "b", "age": 1], ["name": "a", "age": 2],
        ["name": "a"],
      ]
      _ = try trial.insert("Person", rows: rows)
      let found = try trial.aggregate("Person", by: ["name", "age"], [(.count, nil)])
      try expectEqual(found.map(\.group), [["a", .null], ["a", 1], ["a", 2], ["b", 1]], "the groups")
      try expectEqual(found.map(\.values), [[1], [1], [2], [1]], "the counts")
    },
    law("aggregates", "paths lead over to-one relationships, in groups and in terms") { trial in
      let depts = try trial.insert(
        "Department", rows: [["name": "z", "budget": 10], ["name": "a", "budget": 5]])
      let keys: [Value] = [depts[0].value, depts[1].value, depts[0].value, .null]
      _ = try trial.insert("Person", rows: keys.map { ["dept": $0, "age": 4] })
      let rows = try trial.aggregate(
        "Person", by: ["dept.name"], [(.count, nil), (.sum, "dept.budget"), (.sum, "age")])
      try expectEqual(rows.map(\.group), [[.null], ["a"], ["z"]], "the groups")
      try expectEqual(rows.map(\.values), [[1, 0, 4], [1, 5, 4], [2, 20, 8]], "the figures")
    },
    law("aggregates", "a to-one relationship can make the groups, by its key") { trial in
      let depts = try trial.insert("Department", count: 2)
      let keys = [depts[1].value, depts[0].value, depts[1].value]
      _ = try trial.insert("Person", rows: keys.map { ["dept": $0] })
      let rows = try trial.aggregate("Person", by: ["dept"], [(.count, nil)])
      try expectEqual(rows.map(\.group), [[depts[0].value], [depts[1].value]], "the groups")
      try expectEqual(rows.map(\.values), [[1], [2]], "the counts")
    },
    law("aggregates", "a predicate and the choice of subentities select the rows") { trial in
      _ = try trial.insert("Person", rows: [["age": 1], ["age": 5]])
      try trial.insert("Manager", ["age": 9])
      try expectEqual(
        try trial.aggregate("Person", where: .compare("age", .greater, 2), [(.sum, "age")]).map(\.values),
        [[14]],
        "the sum over a predicate")
      var request = AggregateRequest(entity: try trial.entity("Person").id, terms: [.init(.sum, "age")])
      request.includesSubentities = false
      try expectEqual(
        try trial.store.aggregate(request, in: trial.store.snapshot()).map(\.values), [[6]],
        "without managers")
    },
    law("aggregates", "integers add exactly, and become a double where Int64 is too small", .specimen) {
      trial in
      _ = try trial.insert("Specimen", rows: [["int64": .int(.max)], ["int64": -1], ["int64": 1]])
      try expectIdentical(
        try trial.aggregate("Specimen", [(.sum, "int64")])[0].values, [.int(.max)])
      try trial.insert("Specimen", ["int64": 1])
      try expectIdentical(
        try trial.aggregate("Specimen", [(.sum, "int64")])[0].values, [.double(0x1p63)])
      try expectEqual(
        try trial.aggregate("Specimen", [(.average, "int64")])[0].values, [.double(0x1p61)], "the average")
    },
    law("aggregates", "decimals add as decimals, doubles and floats as doubles", .specimen) { trial in
      let tenth = Decimal(sign: .plus, exponent: -1, significand: 1)
      let rows: [[String: Value]] = Array(
        repeating: ["decimal": .decimal(tenth), "double": 0.5, "float": .float(0.25)], count: 3)
      _ = try trial.insert("Specimen", rows: rows)
      let found = try trial.aggregate(
        "Specimen", [(.sum, "decimal"), (.sum, "double"), (.sum, "float"), (.average, "decimal")])
      let sum = Decimal(sign: .plus, exponent: -1, significand: 3)
      try expectIdentical(found[0].values, [.decimal(sum), .double(1.5), .double(0.75), .double(0.1)])
    },
    law("aggregates", "min and max are the ends of the one order, of the slot's own type", .specimen) {
      trial in
      for (slot, values) in extremes {
        _ = try trial.insert("Specimen", rows: values.map { [slot: $0] })
        let found = try trial.aggregate("Specimen", [(.min, slot), (.max, slot), (.count, slot)])
        try expectEqual(found.count, 1, "the count of rows")
        let expected: [Value] = [values.min()!, values.max()!, .int(Int64(values.count))]
        try expect(found[0].values == expected, "the ends and the count of \(slot)", "they are others")
        let sameFamily = found[0].values[0].family == values[0].family
        try expect(sameFamily, "the least \(slot) to be of its own type")
      }
    },
    law("aggregates", "truth values are counted by sum, and make two groups", .specimen) { trial in
      _ = try trial.insert("Specimen", rows: [true, false, true, true].map { ["bool": $0] })
      let found = try trial.aggregate("Specimen", by: ["bool"], [(.count, nil), (.sum, "bool")])
      try expectEqual(found.map(\.group), [[false], [true]], "the groups")
      try expectEqual(found.map(\.values), [[1, 0], [3, 3]], "the figures")
    },
    law("aggregates", "values of every type make groups by the one equality", .specimen) { trial in
      for (slot, values) in extremes {
        _ = try trial.insert("Specimen", rows: (values + values).map { [slot: $0] })
        let found = try trial.aggregate(
          "Specimen", where: .compare(slot, .notEqual, .null), by: [slot], [(.count, nil)])
        let expected = Dictionary(grouping: values + values, by: { $0 }).sorted { $0.key < $1.key }
        try expect(
          found.map(\.group) == expected.map { [$0.key] }, "the groups of \(slot) in order", "they aren't")
        try expectEqual(
          found.map(\.values), expected.map { [.int(Int64($0.value.count))] }, "the counts of \(slot)")
      }
    },
    law("aggregates", "groups and figures over several chunks of rows add up") { trial in
      let count = Int64(Chunk.capacity * 2 + 100)
      _ = try trial.insert("Room", rows: (0..<count).map { ["number": .int($0 % 10)] })
      let found = try trial.aggregate("Room", by: ["number"], [(.count, nil), (.sum, "number")])
      try expectEqual(found.map(\.group), (0..<10).map { [.int($0)] }, "the groups")
      let counts = (0..<10).map { rest in (0..<count).count { $0 % 10 == rest } }
      try expectEqual(
        found.map(\.values), counts.enumerated().map { [.int(Int64($1)), .int(Int64($0 * $1))] },
        "the figures")
    },
  ]

  private static func expectIdentical(_ found: [Value], _ expected: [Value]) throws {
    let same = found.count == expected.count && zip(found, expected).allSatisfy { $0.isIdentical(to: $1) }
    try expect(same, "exactly \(expected), types included", "it is \(found)")
  }
}
