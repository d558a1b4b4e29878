// Laws of relationships without an order: every way of storing one, read from both sides.

import CairnModel
import Foundation

extension StoreLaw {
  static let relationships: [StoreLaw] = [
    // MARK: To-one with a to-many inverse
    law("relationships", "the to-many side of a to-one holds the rows whose keys lead to it, ascending") {
      trial in
      let depts = try trial.insert("Department", count: 2)
      let keys = try trial.insert(
        "Person", rows: [["dept": depts[0].value], ["dept": depts[1].value], ["dept": depts[0].value], [:]])
      try expectEqual(try trial.related(depts[0], "staff"), [keys[0].id, keys[2].id], "the first's staff")
      try expectEqual(try trial.related(depts[1], "staff"), [keys[1].id], "the second's staff")
      try expectEqual(try trial.related(keys[0], "dept"), [depts[0].id], "the department")
      try expectEqual(try trial.related(keys[3], "dept"), [], "the department of who has none")
    },
    law("relationships", "changing or clearing a to-one moves its row from one to-many side to the other") {
      trial in
      let depts = try trial.insert("Department", count: 2)
      let key = try trial.insert("Person", ["dept": depts[0].value])
      _ = try trial.related(depts[0], "staff")
      try trial.update(key, ["dept": depts[1].value])
      try expectEqual(try trial.related(depts[0], "staff"), [], "the old staff")
      try expectEqual(try trial.related(depts[1], "staff"), [key.id], "the new staff")
      try trial.update(key, ["dept": .null])
      try expectEqual(try trial.related(depts[1], "staff"), [], "the staff after clearing")
    },
    law("relationships", "rows of subentities are members too, with the key of their own entity") { trial in
      let dept = try trial.insert("Department")
      let person = try trial.insert("Person", ["dept": dept.value])
      let boss = try trial.insert("Manager", ["dept": dept.value])
      let related = try trial.store.related(
        [dept], through: trial.relationship("Department", "staff"), in: trial.store.snapshot())
      try expectEqual(Set(related[0].map(\.id)), [person.id, boss.id], "the staff")
      try expectEqual(try trial.related(boss, "dept"), [dept.id], "an inherited to-one")
      let batch = try trial.store.rows(Array(related[0]), in: trial.store.snapshot())
      try expectEqual(Set(batch.keys), [person, boss], "the rows of the staff")
    },
    law("relationships", "a to-one that leads to an ancestor may hold a row of a subentity") { trial in
      let boss = try trial.insert("Manager", ["name": "M"])
      let person = try trial.insert("Person", ["mentor": boss.value])
      try expectEqual(try trial.related(person, "mentor"), [boss.id], "the mentor")
      try expectEqual(
        try trial.ids("Person", .compare("mentor.name", .equal, "M")), [person.id], "by the mentor's name")
    },
    law("relationships", "an entity may relate to itself, and a row to itself") { trial in
      let top = try trial.insert("Department", ["name": "top"])
      let low = try trial.insert("Department", ["name": "low", "parent": top.value])
      try trial.update(top, ["parent": top.value])
      try expectEqual(try trial.related(top, "children"), [top.id, low.id], "the children")
      try expectEqual(try trial.related(top, "parent"), [top.id], "the parent")
      try expectEqual(
        try trial.ids("Department", .compare("parent.parent.name", .equal, "top")), [top.id, low.id],
        "by a path of two steps")
    },
    // MARK: One-to-one
    law("relationships", "a one-to-one is read from the side without the key as well") { trial in
      let desks = try trial.insert("Desk", rows: [["label": "x"], ["label": "y"]])
      let key = try trial.insert("Person", ["desk": desks[1].value])
      try expectEqual(try trial.related(key, "desk"), [desks[1].id], "the desk")
      try expectEqual(try trial.related(desks[1], "person"), [key.id], "the person")
      try expectEqual(try trial.related(desks[0], "person"), [], "the person of the other desk")
      try trial.update(key, ["desk": desks[0].value])
      try expectEqual(try trial.related(desks[0], "person"), [key.id], "the person after moving")
      try expectEqual(try trial.related(desks[1], "person"), [], "the person of the desk that was left")
    },
    law(
      "relationships",
      "of two rows that claim one partner in a one-to-one, the one with the smaller key counts"
    ) {
      trial in
      let desk = try trial.insert("Desk", ["label": "x"])
      let keys = try trial.insert("Person", rows: [["name": "A"], ["name": "B"]])
      try trial.update(keys[1], ["desk": desk.value])
      try trial.update(keys[0], ["desk": desk.value])
      try expectEqual(try trial.related(desk, "person"), [keys[0].id], "the person")
      try expectEqual(
        try trial.ids("Desk", .compare("person.name", .equal, "A")), [desk.id], "by the person's name")
      try trial.delete(keys[0])
      try expectEqual(try trial.related(desk, "person"), [keys[1].id], "the person that is left")
    },
    law("relationships", "rows of several entities that claim one partner are told apart by their keys alone")
    {
      trial in
      let desk = try trial.insert("Desk")
      let boss = try trial.insert("Manager", ["name": "M", "desk": desk.value])
      let person = try trial.insert("Person", ["name": "P", "desk": desk.value])
      try expectEqual(try trial.related(desk, "person"), [boss.id], "the person with the smaller key")
      try expectEqual(try trial.ids("Desk", .compare("person.name", .equal, "M")), [desk.id], "by its name")
      try expectEqual(
        try trial.ids("Desk", .comparison(.init(.path("person"), .equal, .constant(boss.value)))), [desk.id],
        "by its key")
      try expectEqual(
        try trial.aggregate("Desk", by: ["person.name"], [(.count, nil)]).map(\.group), [["M"]], "group")
      try trial.delete(boss)
      try expectEqual(try trial.related(desk, "person"), [person.id], "the person that is left")
    },
    law("relationships", "deleting the side of a one-to-one that holds the key frees the other") { trial in
      let desk = try trial.insert("Desk")
      let key = try trial.insert("Person", ["desk": desk.value])
      try trial.delete(key)
      try expectEqual(try trial.related(desk, "person"), [], "the person")
    },
    // MARK: Many-to-many
    law("relationships", "a many-to-many added from either side is seen from both") { trial in
      let tags = try trial.insert("Tag", count: 3)
      let people = try trial.insert("Person", count: 2)
      try trial.link(people[0], "tags", .add([tags[2], tags[0]]))
      try trial.link(tags[1], "things", .add([people[0], people[1]]))
      try expectEqual(try trial.related(people[0], "tags"), tags.map(\.id), "the first's tags")
      try expectEqual(try trial.related(people[1], "tags"), [tags[1].id], "the second's tags")
      try expectEqual(try trial.related(tags[0], "things"), [people[0].id], "the first tag's things")
      try expectEqual(try trial.related(tags[1], "things"), people.map(\.id), "the second tag's things")
    },
    law("relationships", "pairs that exist already are left alone by an add, from either side") { trial in
      let tags = try trial.insert("Tag", count: 2)
      let person = try trial.insert("Person")
      try trial.link(person, "tags", .add([tags[0]]))
      try trial.link(person, "tags", .add([tags[0], tags[1]]))
      try trial.link(tags[0], "things", .add([person]))
      try expectEqual(try trial.related(person, "tags"), tags.map(\.id), "the tags")
      try expectEqual(try trial.related(tags[0], "things"), [person.id], "the things")
    },
    law("relationships", "pairs that don't exist are passed over by a remove, missing rows too") { trial in
      let tags = try trial.insert("Tag", count: 3)
      let person = try trial.insert("Person")
      try trial.link(person, "tags", .add([tags[0], tags[1]]))
      try trial.delete(tags[2])
      try trial.link(person, "tags", .remove([tags[0], tags[2]]))
      try expectEqual(try trial.related(person, "tags"), [tags[1].id], "the tags")
      try expectEqual(try trial.related(tags[0], "things"), [], "the things")
      try trial.link(tags[1], "things", .remove([person]))
      try expectEqual(try trial.related(person, "tags"), [], "the tags after removing from the other side")
    },
    law("relationships", "a replace makes the list exactly what it says, on both sides") { trial in
      let tags = try trial.insert("Tag", count: 4)
      let people = try trial.insert("Person", count: 2)
      try trial.link(people[0], "tags", .add([tags[0], tags[1]]))
      try trial.link(people[1], "tags", .add([tags[1]]))
      try trial.link(people[0], "tags", .replace([tags[3], tags[1]]))
      try expectEqual(try trial.related(people[0], "tags"), [tags[1].id, tags[3].id], "the tags")
      try expectEqual(try trial.related(tags[0], "things"), [], "the things of a tag that went")
      try expectEqual(try trial.related(tags[1], "things"), people.map(\.id), "the things of one that stayed")
      try trial.link(tags[1], "things", .replace([]))
      try expectEqual(try trial.related(people[1], "tags"), [], "the tags after replacing with nothing")
      try expectEqual(try trial.related(people[0], "tags"), [tags[3].id], "the tags that are left")
    },
    law("relationships", "link changes of one commit apply in order") { trial in
      let tags = try trial.insert("Tag", count: 3)
      let person = try trial.insert("Person")
      try trial.commit { changes in
        changes.links = [
          try trial.links(person, "tags", .add([tags[0], tags[1]])),
          try trial.links(person, "tags", .remove([tags[0]])),
          try trial.links(person, "tags", .add([tags[2]])),
        ]
      }
      try expectEqual(try trial.related(person, "tags"), [tags[1].id, tags[2].id], "the tags")
    },
    law("relationships", "rows inserted by a commit can be linked by the same commit") { trial in
      let tag = try trial.reserve("Tag", 1)[0]
      let person = try trial.reserve("Person", 1)[0]
      try trial.commit { changes in
        try changes.insert(tag, [:], in: trial.schema)
        try changes.insert(person, [:], in: trial.schema)
        changes.links.append(try trial.links(person, "tags", .add([tag])))
      }
      try expectEqual(try trial.related(tag, "things"), [person.id], "the things")
    },
    law("relationships", "an inherited many-to-many works for every entity that inherits it") { trial in
      let tag = try trial.insert("Tag")
      let things = [try trial.insert("Person"), try trial.insert("Manager"), try trial.insert("Robot")]
      for thing in things { try trial.link(thing, "tags", .add([tag])) }
      try expectEqual(Set(try trial.related(tag, "things")), Set(things.map(\.id)), "the things")
      let ids = try trial.store.related(
        things, through: trial.relationship("Thing", "tags"), in: trial.store.snapshot())
      for index in things.indices {
        try expectEqual(ids[index].map(\.id), [tag.id], "tags of thing \(index)")
      }
    },
    law("relationships", "a relationship that is its own inverse holds every pair both ways") { trial in
      let people = try trial.insert("Person", count: 4)
      try trial.link(people[0], "friends", .add([people[2], people[1]]))
      try trial.link(people[3], "friends", .add([people[0]]))
      try expectEqual(try trial.related(people[0], "friends"), people[1...].map(\.id), "the first's friends")
      for other in people[1...] {
        try expectEqual(try trial.related(other, "friends"), [people[0].id], "another's friends")
      }
      try trial.link(people[1], "friends", .remove([people[0]]))
      try expectEqual(try trial.related(people[0], "friends"), people[2...].map(\.id), "after a remove")
      try trial.link(people[0], "friends", .replace([people[1]]))
      try expectEqual(try trial.related(people[2], "friends"), [], "after a replace")
      try expectEqual(try trial.related(people[1], "friends"), [people[0].id], "after a replace")
    },
    law("relationships", "a row can be its own friend, once") { trial in
      let person = try trial.insert("Person")
      try trial.link(person, "friends", .add([person]))
      try expectEqual(try trial.related(person, "friends"), [person.id], "the friends")
      try trial.link(person, "friends", .remove([person]))
      try expectEqual(try trial.related(person, "friends"), [], "the friends")
    },
    law("relationships", "a to-many without an inverse belongs to its owner alone") { trial in
      let tags = try trial.insert("Tag", count: 2)
      let depts = try trial.insert("Department", count: 2)
      try trial.link(depts[0], "favourites", .add(tags))
      try trial.link(depts[1], "favourites", .add([tags[0]]))
      try expectEqual(try trial.related(depts[0], "favourites"), tags.map(\.id), "the first's favourites")
      try trial.link(depts[0], "favourites", .remove([tags[0]]))
      try expectEqual(try trial.related(depts[1], "favourites"), [tags[0].id], "the second's favourites")
      try trial.delete(tags[0])
      try expectEqual(try trial.related(depts[1], "favourites"), [], "after deleting the destination")
    },
    law("relationships", "two relationships between the same entities don't mix") { trial in
      let list = try trial.insert("Playlist")
      let singers = try trial.insert("Singer", count: 2)
      try trial.link(list, "guests", .add([singers[0]]))
      try trial.link(list, "hosts", .add([singers[1]]))
      try expectEqual(try trial.related(list, "guests"), [singers[0].id], "the guests")
      try expectEqual(try trial.related(list, "hosts"), [singers[1].id], "the hosts")
      try expectEqual(try trial.related(singers[0], "shows"), [], "the shows of a guest")
    },
    // MARK: Batches
    law(
      "relationships", "related() answers a batch in the order of its sources, missing and repeated ones too"
    ) {
      trial in
      let depts = try trial.insert("Department", count: 3)
      let spare = try trial.reserve("Department", 1)[0]
      let people = try trial.insert(
        "Person", rows: [["dept": depts[0].value], ["dept": depts[2].value], ["dept": depts[0].value]])
      let related = try trial.store.related(
        [depts[2], spare, depts[0], depts[1], depts[2]], through: trial.relationship("Department", "staff"),
        in: trial.store.snapshot())
      try expectEqual(related.offsets, [0, 1, 1, 3, 3, 4], "the offsets")
      try expectEqual(
        related.keys.map(\.id), [people[1].id, people[0].id, people[2].id, people[1].id], "the keys")
    },
    law("relationships", "related() of no sources is empty") { trial in
      let related = try trial.store.related(
        [], through: trial.relationship("Department", "staff"), in: trial.store.snapshot())
      try expectEqual(related, RelatedKeys(offsets: [0], keys: []), "the answer")
    },
    law("relationships", "a relationship with many members holds them all") { trial in
      let tag = try trial.insert("Tag")
      let people = try trial.insert("Person", count: 6_000)
      try trial.link(tag, "things", .add(people.reversed()))
      try expectEqual(try trial.related(tag, "things"), people.map(\.id), "the things")
      try trial.link(tag, "things", .remove(Array(people[1_000..<5_000])))
      try expectEqual(
        try trial.related(tag, "things"), (people[..<1_000] + people[5_000...]).map(\.id), "the things left")
      try expectEqual(try trial.related(people[5_999], "tags"), [tag.id], "the last's tags")
    },
  ]
}
