// Laws of the order of rows.

import CairnModel
import Foundation

extension StoreLaw {
  static let sorting: [StoreLaw] = [
    law("sorting", "nil comes first ascending and last descending") { trial in
      let ids = try trial.insert("Room", rows: [["number": 2], [:], ["number": 1], [:], ["number": -5]]).map(
        \.id)
      try expectEqual(
        try trial.ids("Room", sort: [SortTerm("number")]), [1, 3, 4, 2, 0].map { ids[$0] }, "ascending")
      try expectEqual(
        try trial.ids("Room", sort: [SortTerm("number", ascending: false)]), [0, 2, 4, 1, 3].map { ids[$0] },
        "descending")
    },
    law("sorting", "rows that tie come in the order of their keys, descending too") { trial in
      let ids = try trial.insert("Room", rows: [1, 0, 1, 0, 1].map { ["number": .int($0)] }).map(\.id)
      try expectEqual(
        try trial.ids("Room", sort: [SortTerm("number", ascending: false)]), [0, 2, 4, 1, 3].map { ids[$0] },
        "descending")
      try expectEqual(
        try trial.ids("Room", sort: [SortTerm("number", ascending: false)], limit: 2), [ids[0], ids[2]],
        "the first two descending")
    },
    law("sorting", "the first term weighs most, and each has its own direction") { trial in
      let rows: [[String: Value]] = [
        ["name": "b", "age": 1], ["name": "a", "age": 2], ["name": "a", "age": 3], ["name": "b"], ["age": 9],
      ]
      let ids = try trial.insert("Person", rows: rows).map(\.id)
      try expectEqual(
        try trial.ids("Person", sort: [SortTerm("name"), SortTerm("age", ascending: false)]),
        [4, 2, 1, 0, 3].map { ids[$0] }, "by name, then age descending")
      try expectEqual(
        try trial.ids("Person", sort: [SortTerm("name", ascending: false), SortTerm("age")]),
        [3, 0, 1, 2, 4].map { ids[$0] }, "by name descending, then age")
    },
    law("sorting", "strings sort by their decomposed characters, not by bytes") { trial in
      let names = ["f", "é", "e", "z", "E", "ea", "", "Z", "äb", "ac"]
      let keys = try trial.insert("Person", rows: names.map { ["name": .string($0)] })
      let expected = ["", "E", "Z", "ac", "äb", "e", "ea", "é", "f", "z"]
      let ids = try trial.ids("Person", sort: [SortTerm("name")])
      let sorted = ids.map { id in names[keys.firstIndex { $0.id == id }!] }
      try expectEqual(sorted, expected, "the names")
    },
    law("sorting", "a path over to-one relationships sorts by the value at its end, nil where there is none")
    {
      trial in
      let depts = try trial.insert("Department", rows: [["name": "z"], ["name": "a"], [:]])
      let rows = [depts[0].value, depts[1].value, depts[2].value, Value.null, depts[1].value]
      let ids = try trial.insert("Person", rows: rows.map { ["dept": $0] }).map(\.id)
      try expectEqual(
        try trial.ids("Person", sort: [SortTerm("dept.name")]), [2, 3, 1, 4, 0].map { ids[$0] }, "ascending")
      try expectEqual(
        try trial.ids("Person", sort: [SortTerm("dept.name", ascending: false)]),
        [0, 1, 4, 2, 3].map { ids[$0] }, "descending")
      try trial.delete(depts[0])
      try expectEqual(
        try trial.ids("Person", sort: [SortTerm("dept.name")]), [0, 2, 3, 1, 4].map { ids[$0] },
        "after deleting a destination")
    },
    law("sorting", "a path may lead over the side of a one-to-one that doesn't hold the key") { trial in
      let desks = try trial.insert("Desk", count: 3)
      try trial.insert("Person", ["name": "z", "desk": desks[0].value])
      try trial.insert("Manager", ["name": "a", "desk": desks[2].value])
      try expectEqual(
        try trial.ids("Desk", sort: [SortTerm("person.name")]), [desks[1].id, desks[2].id, desks[0].id],
        "the desks by their person's name")
    },
    law("sorting", "rows of several entities sort together") { trial in
      let people = try trial.insert("Person", rows: [["rank": 5], ["rank": 1]])
      let robots = try trial.insert("Robot", rows: [["rank": 3], ["rank": 7]])
      let boss = try trial.insert("Manager", ["rank": 4])
      try expectEqual(
        try trial.ids("Thing", sort: [SortTerm("rank")]),
        [people[1].id, robots[0].id, boss.id, people[0].id, robots[1].id], "by rank")
      try expectEqual(
        try trial.ids("Thing", sort: [SortTerm("rank", ascending: false)], offset: 1, limit: 3),
        [people[0].id, boss.id, robots[0].id], "a window of it descending")
    },
    law(
      "sorting", "a sort by all values there are of a type is total: -0.0 ties 0.0, NaN comes first",
      .specimen
    ) {
      trial in
      let values: [Value] = [
        .double(0), .double(-0.0), .double(.nan), .double(-.infinity), .null, .double(.infinity),
      ]
      let ids = try trial.insert("Specimen", rows: values.map { ["double": $0] }).map(\.id)
      try expectEqual(
        try trial.ids("Specimen", sort: [SortTerm("double")]), [4, 2, 3, 0, 1, 5].map { ids[$0] }, "the order"
      )
    },
    law("sorting", "updates and deletes move rows to their new places") { trial in
      let keys = try trial.insert("Robot", rows: (0..<10).map { ["rank": .int($0)] })
      _ = try trial.ids("Robot", sort: [SortTerm("rank")])
      try trial.update(keys[9], ["rank": -1])
      try trial.update(keys[0], ["rank": .null])
      try trial.delete(keys[5])
      try expectEqual(
        try trial.ids("Robot", sort: [SortTerm("rank")]),
        [0, 9, 1, 2, 3, 4, 6, 7, 8].map { keys[$0].id }, "the order")
    },
    law("sorting", "many rows with long strings sort the same whole and in windows") { trial in
      let rows = (0..<6_000).map { index -> [String: Value] in
        ["name": .string(String(repeating: "x", count: index % 3) + "\(index * 7_919 % 6_000)")]
      }
      let keys = try trial.insert("Person", rows: rows)
      let order = keys.indices.sorted { a, b in
        let order = Value.compare(rows[a]["name"]!, rows[b]["name"]!)
        return order == 0 ? a < b : order < 0
      }
      let sort = [SortTerm("name")]
      try expect(try trial.ids("Person", sort: sort) == order.map { keys[$0].id }, "the whole in order")
      for (offset, limit) in [(0, 10), (100, 25), (5_990, 100)] {
        try expectEqual(
          try trial.ids("Person", sort: sort, offset: offset, limit: limit),
          order.dropFirst(offset).prefix(limit).map { keys[$0].id }, "the window \(offset), \(limit)")
      }
    },
  ]
}
