// Laws of fetching: which rows of which entities, in which window.

import CairnModel
import Foundation

extension StoreLaw {
  static let requests: [StoreLaw] = [
    law("requests", "without a predicate a request returns every row of the entity, by key") { trial in
      let keys = try trial.insert("Room", count: 5)
      try trial.insert("Desk")
      try expectEqual(try trial.ids("Room"), keys.map(\.id), "the rooms")
    },
    law("requests", "includesSubentities decides whether rows of subentities count") { trial in
      let person = try trial.insert("Person", ["age": 1])
      let boss = try trial.insert("Manager", ["age": 1])
      let robot = try trial.insert("Robot")
      let ofAge = PredicateTree.compare("age", .equal, 1)
      try expectEqual(Set(try trial.ids("Thing")), [person.id, boss.id, robot.id], "all things")
      try expectEqual(Set(try trial.ids("Person", ofAge)), [person.id, boss.id], "all people")
      try expectEqual(try trial.ids("Person", subentities: false), [person.id], "people and nobody else")
      try expectEqual(try trial.ids("Person", ofAge, subentities: false), [person.id], "those of age 1")
      try expectEqual(try trial.ids("Manager"), [boss.id], "the managers")
      try expectEqual(try trial.ids("Thing", subentities: false), [], "things of an abstract entity alone")
    },
    law("requests", "the rows of a batch have their own entity's key and all of its slots") { trial in
      try trial.insert("Manager", ["name": "M", "bonus": 5])
      try trial.insert("Robot", ["model": "R"])
      let batch = try trial.fetch(trial.request("Thing"))
      try expectEqual(batch.count, 2, "the count")
      for index in 0..<batch.count {
        let entity = trial.schema[batch.key(index).entity]
        let name = entity.name == "Robot" ? "model" : "bonus"
        guard let slot = entity.slot(named: name) else { throw Mismatch(expectation: name, outcome: "none") }
        let expected: Value = entity.name == "Robot" ? "R" : .decimal(5)
        try expectEqual(batch.value(index, slot: slot), expected, "the \(name)")
      }
    },
    law("requests", "a window skips offset rows and returns limit rows at most") { trial in
      let ids = try trial.insert("Room", rows: (0..<10).map { ["number": .int($0)] }).map(\.id)
      let windows: [(offset: Int, limit: Int?)] = [
        (0, nil), (0, 0), (0, 3), (3, 3), (8, 5), (9, 1), (10, 1), (50, 5), (4, nil), (0, 10), (0, 11),
        (0, Int.max), (5, Int.max), (Int.max, Int.max),
      ]
      for (offset, limit) in windows {
        let expected = ids.dropFirst(offset).prefix(limit ?? Int.max)
        let what = "rows \(offset)..., at most \(limit.map(String.init) ?? "all")"
        try expectEqual(try trial.ids("Room", offset: offset, limit: limit), Array(expected), what)
        let sorted = try trial.ids(
          "Room", sort: [SortTerm("number", ascending: false)], offset: offset, limit: limit)
        try expectEqual(
          sorted, Array(ids.reversed().dropFirst(offset).prefix(limit ?? Int.max)), "sorted \(what)")
        let filtered = try trial.ids("Room", .compare("number", .less, 5), offset: offset, limit: limit)
        try expectEqual(
          filtered, Array(ids.prefix(5).dropFirst(offset).prefix(limit ?? Int.max)), "filtered \(what)")
      }
    },
    law("requests", "the windows of a sorted request tile the whole of it, ties included") { trial in
      _ = try trial.insert("Room", rows: (0..<57).map { ["number": .int($0 * 13 % 5)] })
      let sort = [SortTerm("number")]
      let whole = try trial.ids("Room", sort: sort)
      for size in [1, 3, 10, 56] {
        let tiles = try stride(from: 0, to: whole.count, by: size).flatMap {
          try trial.ids("Room", sort: sort, offset: $0, limit: size)
        }
        try expectEqual(tiles, whole, "windows of \(size)")
      }
    },
    law("requests", "a window over several chunks of rows is the window of all") { trial in
      let count = Chunk.capacity * 2 + 77
      let ids = try trial.insert(
        "Room", rows: (0..<count).map { ["number": .int(Int64($0 * 7_919 % count))] }
      )
      .map(\.id)
      for (offset, limit) in [(0, 5), (Chunk.capacity - 2, 4), (count - 3, 10), (4_000, 500)] {
        try expectEqual(
          try trial.ids("Room", offset: offset, limit: limit), Array(ids.dropFirst(offset).prefix(limit)),
          "rows \(offset)..., at most \(limit)")
        let batch = try trial.fetch(
          trial.request("Room", sort: [SortTerm("number")], offset: offset, limit: limit))
        let expected = (offset..<min(offset + limit, count)).map { Value.int(Int64($0)) }
        let found = (0..<batch.count).map { batch.value($0, slot: 0) }
        try expectEqual(found, expected, "the numbers of sorted rows \(offset)..., at most \(limit)")
      }
    },
    law("requests", "count() is the number of rows that fetch() returns, window included") { trial in
      let dept = try trial.insert("Department", ["name": "D"])
      _ = try trial.insert("Person", rows: (0..<30).map { ["age": .int($0 % 4), "dept": dept.value] })
      let requests = [
        try trial.request("Person"), try trial.request("Thing"), try trial.request("Manager"),
        try trial.request("Person", .compare("age", .equal, 2)),
        try trial.request("Person", .compare("dept.name", .equal, "D"), offset: 3),
        try trial.request("Person", .compare("age", .less, 2), offset: 2, limit: 5),
        try trial.request("Person", offset: 28, limit: 5), try trial.request("Person", limit: 0),
        try trial.request("Person", .constant(false)), try trial.request("Person", offset: 100),
      ]
      for request in requests {
        let count = try trial.store.count(request, in: trial.store.snapshot())
        try expectEqual(count, try trial.fetch(request).count, "the count of \(request)")
      }
    },
    law("requests", "a question that names something unknown throws, and says which kind") { trial in
      let key = try trial.insert("Person", ["age": 1])
      let snapshot = try trial.store.snapshot()
      let unknown = EntityID(trial.schema.entities.count)
      try expectError(.unknownEntity, by: "a fetch of no entity") {
        try trial.store.fetch(StoreRequest(entity: unknown), in: snapshot)
      }
      try expectError(.unknownEntity, by: "a count of no entity") {
        try trial.store.count(StoreRequest(entity: unknown), in: snapshot)
      }
      try expectError(.unknownEntity, by: "an aggregate of no entity") {
        try trial.store.aggregate(
          AggregateRequest(entity: unknown, terms: [.init(.count, nil)]), in: snapshot)
      }
      try expectError(.unknownProperty, by: "a sort by nothing") {
        try trial.ids("Person", sort: [SortTerm("nothing")])
      }
      try expectError(.unknownProperty, by: "a sort by another entity's property") {
        try trial.ids("Person", sort: [SortTerm("bonus")])
      }
      try expectError(.unbindablePredicate, by: "a sort over a to-many relationship") {
        try trial.ids("Person", sort: [SortTerm("tags.name")])
      }
      try expectError(.unknownProperty, by: "a group by nothing") {
        try trial.aggregate("Person", by: ["nothing"], [(.count, nil)])
      }
      try expectError(.unknownProperty, by: "a sum of nothing") {
        try trial.aggregate("Person", [(.sum, "nothing")])
      }
      try expectError(.unknownEntity, by: "rows of no entity") {
        try trial.store.rows([RowKey(entity: unknown, id: key.id)], in: snapshot)
      }
      try expectError(.unknownProperty, by: "a relationship that isn't there") {
        try trial.store.related(
          [key], through: RelationshipID(trial.schema.relationships.count), in: snapshot)
      }
    },
    law("requests", "a negative offset or limit is an unsupported request") { trial in
      try trial.insert("Room")
      for (offset, limit) in [(-1, nil), (0, -1), (Int.min, 5), (3, Int.min)] as [(Int, Int?)] {
        let request = try trial.request("Room", offset: offset, limit: limit)
        let snapshot = try trial.store.snapshot()
        try expectError(.unsupportedRequest, by: "a fetch of \(offset), \(String(describing: limit))") {
          try trial.store.fetch(request, in: snapshot)
        }
        try expectError(.unsupportedRequest, by: "a count of \(offset), \(String(describing: limit))") {
          try trial.store.count(request, in: snapshot)
        }
      }
    },
  ]
}
