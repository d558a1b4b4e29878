// Laws of inserting rows and of reading them back.

import CairnModel
import Foundation

extension StoreLaw {
  static let inserting: [StoreLaw] = [
    law("inserting", "a new store is at generation 0 and has no rows") { trial in
      let snapshot = try trial.store.snapshot()
      try expectEqual(snapshot.generation, Generation(0), "the generation")
      for entity in trial.schema.entities {
        let count = try trial.store.count(StoreRequest(entity: entity.id), in: snapshot)
        try expectEqual(count, 0, "the count of \(entity.name)")
      }
    },
    law("inserting", "an inserted row has its key, version 1 and its values, and null where none was given") {
      trial in
      let key = try trial.insert("Person", ["name": "Ada", "age": 36])
      let row = try trial.row(key)
      try expectEqual(row?.key, key, "the key")
      try expectEqual(row?.version, 1, "the version")
      for (index, slot) in try trial.entity("Person").slots.enumerated() {
        let expected: Value = slot.name == "name" ? "Ada" : slot.name == "age" ? 36 : .null
        try expectEqual(row?.values[index], expected, "the value of \(slot.name)")
      }
    },
    law("inserting", "default values aren't the store's: a slot without a value is null", .specimen) {
      trial in
      let key = try trial.insert("Specimen")
      try expect(try trial.row(key)?.values.allSatisfy(\.isNull) == true, "every slot to be null")
    },
    law("inserting", "one commit inserts rows of several entities, which refer to each other") { trial in
      let dept = try trial.reserve("Department", 1)[0]
      let people = try trial.reserve("Person", 2)
      try trial.commit { changes in
        try changes.insert(people[0], ["dept": dept.value, "mentor": people[1].value], in: trial.schema)
        try changes.insert(people[1], ["mentor": people[0].value], in: trial.schema)
        try changes.insert(dept, ["name": "R&D"], in: trial.schema)
      }
      try expectEqual(try trial.value(people[0], "dept"), dept.value, "the department")
      try expectEqual(try trial.value(people[1], "mentor"), people[0].value, "the mentor")
      try expectEqual(try trial.related(dept, "staff"), [people[0].id], "the staff")
    },
    law("inserting", "a batch of columns inserts as many rows as it has, more than a chunk holds too") {
      trial in
      let count = Chunk.capacity + 1_000
      let keys = try trial.reserve("Room", count)
      let numbers = ColumnBuilder(.int64)
      for index in 0..<count { index % 7 == 0 ? numbers.appendNull() : numbers.append(Int64(index)) }
      let slot = try trial.slot("Room", "number")
      var columns = [Column?](repeating: nil, count: try trial.entity("Room").slots.count)
      columns[slot] = numbers.finish()
      try trial.commit {
        $0.inserts = [.init(entity: keys[0].entity, keys: keys.map(\.id), columns: columns)]
      }
      let batch = try trial.fetch(trial.request("Room"))
      try expectEqual(batch.ids, keys.map(\.id), "the keys")
      for index in 0..<count {
        let expected: Value = index % 7 == 0 ? .null : .int(Int64(index))
        try expectEqual(batch.value(index, slot: slot), expected, "row \(index)")
      }
    },
    law(
      "inserting", "rows inserted in another order than their keys were reserved in are found, in key order"
    ) {
      trial in
      let early = try trial.reserve("Room", 3)
      let late = try trial.reserve("Room", 3)
      for (number, key) in [late[1], early[2], late[2], early[0], late[0], early[1]].enumerated() {
        try trial.commit { try $0.insert(key, ["number": .int(Int64(number))], in: trial.schema) }
      }
      try expectEqual(try trial.ids("Room"), (early + late).map(\.id), "the keys")
      try expectEqual(try trial.value(early[0], "number"), 3, "the first key's number")
      try expectEqual(
        try trial.ids("Room", .compare("number", .equal, 0)), [late[1].id], "the row with number 0")
    },
    law("inserting", "keys reserved before many rows were committed can be used between them") { trial in
      let early = try trial.reserve("Room", 10)
      let many = try trial.insert("Room", count: Chunk.capacity * 2 + 5)
      let last = try trial.reserve("Room", 2)
      try trial.commit { try $0.insert(last[1], ["number": 1], in: trial.schema) }
      try trial.commit { changes in
        for key in early { try changes.insert(key, ["number": 2], in: trial.schema) }
      }
      try trial.commit { try $0.insert(last[0], ["number": 3], in: trial.schema) }
      try expectEqual(try trial.ids("Room"), (early + many + last).map(\.id), "the keys")
      try expectEqual(try trial.value(early[9], "number"), 2, "the number of a row with an early key")
      try expectEqual(try trial.value(many[0], "number"), .null, "the number of a row in the middle")
      try expectEqual(try trial.value(last[0], "number"), 3, "the number of the last but one")
    },
    law("inserting", "rows() answers in the order asked, leaves out missing rows and repeats repeated keys") {
      trial in
      let keys = try trial.insert("Room", rows: [["number": 0], ["number": 1], ["number": 2]])
      let spare = try trial.reserve("Room", 1)
      try trial.delete(keys[1])
      let batch = try trial.store.rows(
        [keys[2], spare[0], keys[0], keys[1], keys[2]], in: trial.store.snapshot())
      try expectEqual(batch.keys, [keys[2], keys[0], keys[2]], "the keys")
    },
    law(
      "inserting", "rows() takes keys that name any entity of the hierarchy, and answers with the row's own"
    ) {
      trial in
      let boss = try trial.insert("Manager", ["name": "Bo"])
      for name in ["Thing", "Person", "Manager"] {
        let key = RowKey(entity: try trial.entity(name).id, id: boss.id)
        let batch = try trial.store.rows([key], in: trial.store.snapshot())
        try expectEqual(batch.keys, [boss], "the keys found by a key of \(name)")
      }
    },
    law("inserting", "rows() of no keys is empty") { trial in
      try expectEqual(try trial.store.rows([], in: trial.store.snapshot()).count, 0, "the count")
    },
    law("inserting", "each commit makes the next generation, which it returns") { trial in
      for number in 1...3 {
        let commit = try trial.commit { changes in
          try changes.insert(trial.reserve("Room", 1)[0], [:], in: trial.schema)
        }
        try expectEqual(commit.generation, Generation(Int64(number)), "the commit's generation")
        try expectEqual(try trial.store.snapshot().generation, commit.generation, "the snapshot's generation")
      }
    },
    law("inserting", "an empty change set commits, and changes no row") { trial in
      try trial.insert("Room", ["number": 1])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let commit = try trial.commit { _ in }
      let after = try StoreContents(of: trial.store, in: trial.store.snapshot())
      try expectEqual(after.rows, before.rows, "the rows")
      try expectEqual(after.generation, commit.generation, "the generation")
      try expect(commit.inserted.isEmpty && commit.updated.isEmpty && commit.deleted.isEmpty, "no changes")
    },
  ]
}
