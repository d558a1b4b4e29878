// Laws of changing rows.

import CairnModel
import Foundation

extension StoreLaw {
  static let updating: [StoreLaw] = [
    law("updating", "an update changes the slots it names and no others, and raises the version by one") {
      trial in
      let key = try trial.insert("Person", ["name": "Ada", "age": 36, "code": "a"])
      try trial.update(key, ["age": 37])
      let row = try trial.row(key)
      try expectEqual(row?.version, 2, "the version")
      try expectEqual(try trial.value(key, "age"), 37, "the changed slot")
      try expectEqual(try trial.value(key, "name"), "Ada", "another slot")
      try expectEqual(try trial.value(key, "code"), "a", "an inherited slot")
    },
    law("updating", "rows that an update doesn't name keep their values and versions") { trial in
      let keys = try trial.insert("Person", rows: [["age": 1], ["age": 2], ["age": 3]])
      try trial.update(keys[1], ["age": 20])
      try expectEqual(try keys.map { try trial.value($0, "age") }, [1, 20, 3], "the ages")
      try expectEqual(try keys.map { try trial.row($0)?.version }, [1, 2, 1], "the versions")
    },
    law("updating", "an update can make a slot null, and give a null slot a value") { trial in
      let key = try trial.insert("Person", ["name": "Ada"])
      try trial.update(key, ["name": .null, "age": 1])
      try expectEqual(try trial.value(key, "name"), .null, "the name")
      try trial.update(key, ["name": "Bea", "age": .null])
      try expectEqual(try trial.value(key, "name"), "Bea", "the name")
      try expectEqual(try trial.value(key, "age"), .null, "the age")
    },
    law("updating", "an update may hold a value far wider than the ones before it", .specimen) { trial in
      let keys = try trial.insert(
        "Specimen", rows: [["int64": 1, "string": "a"], ["int64": 2, "string": "b"]])
      let long = String(repeating: "long ", count: 20_000)
      try trial.update(keys[0], ["int64": .int(.max), "string": .string(long)])
      try trial.update(keys[1], ["int64": .int(.min)])
      try expectEqual(try trial.value(keys[0], "int64"), .int(.max), "the widened integer")
      try expectEqual(try trial.value(keys[1], "int64"), .int(.min), "the other integer")
      try expect(try trial.value(keys[0], "string") == .string(long), "the long string to be back")
      try expectEqual(try trial.value(keys[1], "string"), "b", "the other string")
    },
    law("updating", "one batch updates many rows at once") { trial in
      let keys = try trial.insert("Room", count: Chunk.capacity + 100)
      let chosen = keys.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
      let numbers = ColumnBuilder(.int64)
      for index in chosen.indices { numbers.append(Int64(index)) }
      let slot = try trial.slot("Room", "number")
      let column = numbers.finish()
      try trial.commit {
        $0.updates = [
          .init(
            entity: chosen[0].entity, keys: chosen.map(\.id), versions: nil, slots: [slot], columns: [column])
        ]
      }
      let batch = try trial.fetch(trial.request("Room"))
      try expectEqual(batch.count, keys.count, "the count")
      for index in 0..<batch.count {
        let expected: Value = index % 3 == 0 ? .int(Int64(index / 3)) : .null
        try expectEqual(batch.value(index, slot: slot), expected, "row \(index)")
        try expectEqual(batch.version(index), index % 3 == 0 ? 2 : 1, "the version of row \(index)")
      }
    },
    law("updating", "one commit may update rows of several entities and several sets of slots") { trial in
      let people = try trial.insert("Person", rows: [["age": 1], ["age": 2]])
      let boss = try trial.insert("Manager", ["age": 3, "bonus": 10])
      try trial.commit { changes in
        try changes.update(people[0], ["name": "A"], in: trial.schema)
        try changes.update(people[1], ["age": 20, "name": "B"], in: trial.schema)
        try changes.update(boss, ["bonus": 11], in: trial.schema)
      }
      try expectEqual(try trial.value(people[0], "name"), "A", "the first name")
      try expectEqual(try trial.value(people[1], "age"), 20, "the second age")
      try expectEqual(try trial.value(boss, "bonus"), .decimal(11), "the bonus")
    },
    law("updating", "an update to the value a slot has already raises the version") { trial in
      let key = try trial.insert("Person", ["name": "Ada"])
      try trial.update(key, version: 1, ["name": "Ada"])
      try expectEqual(try trial.row(key)?.version, 2, "the version")
    },
    law("updating", "predicates see the new values and not the old ones") { trial in
      let keys = try trial.insert("Person", rows: [["name": "A", "age": 1], ["name": "B", "age": 2]])
      _ = try trial.ids("Person", .compare("name", .equal, "A"))  // an index on names would be built now
      try trial.update(keys[0], ["name": "C"])
      try expectEqual(try trial.ids("Person", .compare("name", .equal, "A")), [], "the rows named A")
      try expectEqual(
        try trial.ids("Person", .compare("name", .equal, "C")), [keys[0].id], "the rows named C")
      try trial.update(keys[0], ["name": "A"])
      try expectEqual(
        try trial.ids("Person", .compare("name", .equal, "A")), [keys[0].id], "the rows named A")
    },
  ]

  static let deleting: [StoreLaw] = [
    law("deleting", "a deleted row is gone from every answer") { trial in
      let dept = try trial.insert("Department", ["name": "D"])
      let keys = try trial.insert("Person", rows: [["dept": dept.value], ["dept": dept.value, "name": "X"]])
      _ = try trial.ids("Person", .compare("name", .equal, "X"))
      try trial.delete(keys[1])
      try expectEqual(try trial.ids("Person"), [keys[0].id], "the rows")
      try expectEqual(try trial.ids("Person", .compare("name", .equal, "X")), [], "the rows named X")
      try expect(try trial.row(keys[1]) == nil, "the row to be gone")
      try expectEqual(try trial.related(dept, "staff"), [keys[0].id], "the staff")
      let count = try trial.store.count(trial.request("Person"), in: trial.store.snapshot())
      try expectEqual(count, 1, "the count")
      try expectEqual(try trial.aggregate("Person", [(.count, nil)]).map(\.values), [[1]], "the aggregate")
    },
    law("deleting", "one commit may delete rows of several entities, insert others and update others") {
      trial in
      let rooms = try trial.insert("Room", rows: [["number": 1], ["number": 2]])
      let tag = try trial.insert("Tag")
      let new = try trial.reserve("Room", 1)[0]
      try trial.commit { changes in
        changes.delete(rooms[0])
        changes.delete(tag)
        try changes.update(rooms[1], ["number": 20], in: trial.schema)
        try changes.insert(new, ["number": 3], in: trial.schema)
      }
      try expectEqual(try trial.ids("Room"), [rooms[1].id, new.id], "the rooms")
      try expectEqual(try trial.value(rooms[1], "number"), 20, "the number")
      try expectEqual(try trial.ids("Tag"), [], "the tags")
    },
    law("deleting", "all rows of an entity can be deleted, and rows inserted after that") { trial in
      let keys = try trial.insert("Room", count: Chunk.capacity + 10)
      try trial.commit { $0.deletes = [.init(entity: keys[0].entity, keys: keys.map(\.id))] }
      try expectEqual(try trial.ids("Room"), [], "the rows")
      let key = try trial.insert("Room", ["number": 5])
      try expectEqual(try trial.ids("Room"), [key.id], "the rows")
      try expectEqual(
        try trial.ids("Room", .compare("number", .equal, 5)), [key.id], "the rows with number 5")
    },
    law("deleting", "deleting a row leaves keys in other rows' slots as they are") { trial in
      let dept = try trial.insert("Department")
      let person = try trial.insert("Person", ["dept": dept.value])
      try trial.delete(dept)
      try expectEqual(try trial.value(person, "dept"), dept.value, "the stored key")
      try expectEqual(try trial.related(person, "dept"), [dept.id], "the to-one's destination")
      try expectEqual(try trial.row(person)?.version, 1, "the version of the row that refers to it")
    },
    law("deleting", "a path over a key whose row was deleted gives nil, and the key itself isn't nil") {
      trial in
      let dept = try trial.insert("Department", ["name": "D"])
      let person = try trial.insert("Person", ["dept": dept.value])
      try trial.delete(dept)
      try expectEqual(
        try trial.ids("Person", .compare("dept.name", .equal, .null)), [person.id], "rows without dept.name")
      try expectEqual(
        try trial.ids("Person", .compare("dept.name", .equal, "D")), [], "rows with dept.name D")
      try expectEqual(try trial.ids("Person", .compare("dept", .equal, .null)), [], "rows without dept")
    },
    law("deleting", "a row that refers to a deleted row can still be updated in its other slots") { trial in
      let dept = try trial.insert("Department")
      let person = try trial.insert("Person", ["dept": dept.value])
      try trial.delete(dept)
      try trial.update(person, ["name": "N"])
      try expectEqual(try trial.value(person, "dept"), dept.value, "the stored key")
    },
    law("deleting", "join rows that lead to or from a deleted row go too, on both sides") { trial in
      let tags = try trial.insert("Tag", count: 2)
      let people = try trial.insert("Person", count: 2)
      try trial.commit { changes in
        changes.links = [
          try trial.links(people[0], "tags", .add(tags)), try trial.links(people[1], "tags", .add(tags)),
        ]
      }
      try trial.delete(tags[0])
      try expectEqual(try trial.related(people[0], "tags"), [tags[1].id], "the first person's tags")
      try trial.delete(people[0])
      try expectEqual(try trial.related(tags[1], "things"), [people[1].id], "the tag's things")
      try expectEqual(try trial.related(people[1], "tags"), [tags[1].id], "the second person's tags")
    },
    law("deleting", "a deleted row's links are gone from ordered lists, whose order stays otherwise") {
      trial in
      let songs = try trial.insert("Song", count: 4)
      let list = try trial.insert("Playlist")
      try trial.link(list, "songs", .replace([songs[3], songs[1], songs[0], songs[2]]))
      try trial.delete(songs[1])
      try expectEqual(
        try trial.related(list, "songs"), [songs[3].id, songs[0].id, songs[2].id], "the songs")
    },
    law("deleting", "deleting one friend takes the friendship from the other") { trial in
      let people = try trial.insert("Person", count: 3)
      try trial.link(people[0], "friends", .add([people[1], people[2]]))
      try trial.delete(people[0])
      try expectEqual(try trial.related(people[1], "friends"), [], "the friends")
    },
    law("deleting", "a deleted source has no destinations") { trial in
      let tag = try trial.insert("Tag")
      let person = try trial.insert("Person")
      try trial.link(person, "tags", .add([tag]))
      try trial.delete(person)
      try expectEqual(try trial.related(person, "tags"), [], "the tags")
      try expectEqual(try trial.related(person, "dept"), [], "the department")
    },
  ]
}
