// Laws of ordered relationships: the order is the user's, and survives everything that isn't about it.

import CairnModel
import Foundation

extension StoreLaw {
  static let ordering: [StoreLaw] = [
    // MARK: Ordered, with a to-one inverse
    law("ordering", "a replace orders the members of a list whose inverse is a to-one") { trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert("Room", rows: Array(repeating: ["dept": dept.value], count: 4))
      for order in [[2, 0, 3, 1], [0, 1, 2, 3], [3, 2, 1, 0]] {
        try trial.link(dept, "rooms", .replace(order.map { rooms[$0] }))
        try expectEqual(try trial.related(dept, "rooms"), order.map { rooms[$0].id }, "the rooms")
      }
      try expectEqual(try trial.related(rooms[0], "dept"), [dept.id], "the department")
    },
    law("ordering", "the order slot can be written beside the key, and orders the list") { trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert(
        "Room",
        rows: [30, 10, 20].map { ["dept": dept.value, "dept.#order": .int($0)] })
      try expectEqual(
        try trial.related(dept, "rooms"), [rooms[1].id, rooms[2].id, rooms[0].id], "the rooms")
      try trial.update(rooms[1], ["dept.#order": 40])
      try expectEqual(
        try trial.related(dept, "rooms"), [rooms[2].id, rooms[0].id, rooms[1].id], "the rooms after a move")
    },
    law("ordering", "members that come without a place come after those with one, in key order") { trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert("Room", rows: Array(repeating: ["dept": dept.value], count: 2))
      try trial.link(dept, "rooms", .replace([rooms[1], rooms[0]]))
      let late = try trial.insert("Room", rows: Array(repeating: ["dept": dept.value], count: 2))
      try expectEqual(
        try trial.related(dept, "rooms"), [rooms[1].id, rooms[0].id, late[0].id, late[1].id], "the rooms")
    },
    law("ordering", "an add puts new members at the end, in its order, and leaves old ones where they are") {
      trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert("Room", rows: Array(repeating: ["dept": dept.value], count: 2))
      try trial.link(dept, "rooms", .replace([rooms[1], rooms[0]]))
      let new = try trial.reserve("Room", 2)
      try trial.commit { changes in
        for key in new { try changes.insert(key, ["dept": dept.value], in: trial.schema) }
        changes.links.append(try trial.links(dept, "rooms", .add([new[1], rooms[1], new[0]])))
      }
      try expectEqual(
        try trial.related(dept, "rooms"), [rooms[1].id, rooms[0].id, new[1].id, new[0].id], "the rooms")
    },
    law("ordering", "a row that moves to another list, and is added there, comes last in it") { trial in
      let depts = try trial.insert("Department", count: 2)
      let first = try trial.insert("Room", rows: Array(repeating: ["dept": depts[0].value], count: 2))
      let second = try trial.insert("Room", rows: Array(repeating: ["dept": depts[1].value], count: 3))
      try trial.link(depts[0], "rooms", .replace(first))
      try trial.link(depts[1], "rooms", .replace(second.reversed()))
      try trial.commit { changes in
        try changes.update(first[0], ["dept": depts[1].value], in: trial.schema)
        changes.links.append(try trial.links(depts[1], "rooms", .add([first[0]])))
      }
      try expectEqual(
        try trial.related(depts[1], "rooms"), second.reversed().map(\.id) + [first[0].id], "the new list")
      try expectEqual(try trial.related(depts[0], "rooms"), [first[1].id], "the old list")
    },
    law("ordering", "a row that comes to a list without a place goes to its end, whatever its key") { trial in
      let early = try trial.reserve("Room", 3)
      let depts = try trial.insert("Department", count: 2)
      let old = try trial.insert("Room", ["dept": depts[0].value])
      try trial.commit { changes in
        try changes.update(old, ["dept": depts[0].value, "number": 1], in: trial.schema)
        try changes.insert(early[1], ["dept": depts[0].value], in: trial.schema)
      }
      try expectEqual(try trial.related(depts[0], "rooms"), [old.id, early[1].id], "after an insert")
      try trial.commit { try $0.insert(early[0], ["dept": depts[1].value], in: trial.schema) }
      try trial.update(early[0], ["dept": depts[0].value])
      try expectEqual(
        try trial.related(depts[0], "rooms"), [old.id, early[1].id, early[0].id], "after a move")
      try trial.link(depts[0], "rooms", .replace([early[0], old, early[1]]))
      try trial.commit { try $0.insert(early[2], ["dept": depts[0].value], in: trial.schema) }
      try expectEqual(
        try trial.related(depts[0], "rooms"), [early[0].id, old.id, early[1].id, early[2].id],
        "after a replace")
    },
    law("ordering", "one commit can insert the members, set their keys and order them") { trial in
      let dept = try trial.reserve("Department", 1)[0]
      let rooms = try trial.reserve("Room", 3)
      try trial.commit { changes in
        try changes.insert(dept, [:], in: trial.schema)
        for room in rooms { try changes.insert(room, ["dept": dept.value], in: trial.schema) }
        changes.links.append(try trial.links(dept, "rooms", .replace(rooms.reversed())))
      }
      try expectEqual(try trial.related(dept, "rooms"), rooms.reversed().map(\.id), "the rooms")
    },
    law("ordering", "the order survives a delete and a change of other slots") { trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert("Room", rows: Array(repeating: ["dept": dept.value], count: 4))
      try trial.link(dept, "rooms", .replace([rooms[3], rooms[1], rooms[2], rooms[0]]))
      try trial.update(rooms[2], ["number": 7])
      try trial.delete(rooms[1])
      try expectEqual(
        try trial.related(dept, "rooms"), [rooms[3].id, rooms[2].id, rooms[0].id], "the rooms")
      try trial.update(rooms[2], ["dept": .null])
      try expectEqual(try trial.related(dept, "rooms"), [rooms[3].id, rooms[0].id], "the rooms")
    },
    // MARK: Ordered, in a join
    law("ordering", "an ordered many-to-many keeps the order of adds, at the end") { trial in
      let songs = try trial.insert("Song", count: 4)
      let list = try trial.insert("Playlist")
      try trial.link(list, "songs", .add([songs[2], songs[0]]))
      try trial.link(list, "songs", .add([songs[3], songs[2], songs[1]]))
      try expectEqual(
        try trial.related(list, "songs"), [songs[2].id, songs[0].id, songs[3].id, songs[1].id], "the songs")
    },
    law("ordering", "a replace sets the whole list of an ordered many-to-many") { trial in
      let songs = try trial.insert("Song", count: 4)
      let list = try trial.insert("Playlist")
      for order in [[0, 1, 2], [2, 1, 0], [3, 0], [1, 3, 2, 0], []] {
        try trial.link(list, "songs", .replace(order.map { songs[$0] }))
        try expectEqual(try trial.related(list, "songs"), order.map { songs[$0].id }, "the songs")
        for (index, song) in songs.enumerated() {
          let expected = order.contains(index) ? [list.id] : []
          try expectEqual(try trial.related(song, "playlists"), expected, "the playlists of song \(index)")
        }
      }
    },
    law("ordering", "a remove closes the gap, and a member added again comes last") { trial in
      let songs = try trial.insert("Song", count: 3)
      let list = try trial.insert("Playlist")
      try trial.link(list, "songs", .add(songs))
      try trial.link(list, "songs", .remove([songs[0]]))
      try expectEqual(try trial.related(list, "songs"), [songs[1].id, songs[2].id], "the songs")
      try trial.link(list, "songs", .add([songs[0]]))
      try expectEqual(try trial.related(list, "songs"), [songs[1].id, songs[2].id, songs[0].id], "the songs")
    },
    law("ordering", "a member comes last in a list that was put in another order, or shortened, before") {
      trial in
      let songs = try trial.insert("Song", count: 8)
      let list = try trial.insert("Playlist")
      var order = Array(songs[..<5])
      try trial.link(list, "songs", .add(order))
      for song in songs[5...] {
        // What was last is first now, or gone.
        order = [order[order.count - 1]] + order.dropLast()
        if song == songs[7] { order.removeLast(2) }
        try trial.link(list, "songs", .replace(order))
        try trial.link(list, "songs", .add([song]))
        order.append(song)
        try expectEqual(try trial.related(list, "songs"), order.map(\.id), "the songs")
      }
    },
    law("ordering", "adding from the unordered side puts the member last in the ordered list") { trial in
      let songs = try trial.insert("Song", count: 3)
      let lists = try trial.insert("Playlist", count: 2)
      try trial.link(lists[0], "songs", .add([songs[2], songs[1]]))
      try trial.link(songs[0], "playlists", .add(lists))
      try expectEqual(
        try trial.related(lists[0], "songs"), [songs[2].id, songs[1].id, songs[0].id], "the first's songs")
      try expectEqual(try trial.related(lists[1], "songs"), [songs[0].id], "the second's songs")
      try expectEqual(try trial.related(songs[0], "playlists"), lists.map(\.id), "the playlists, ascending")
    },
    law("ordering", "the target side of a join can be the ordered one") { trial in
      let lists = try trial.insert("Playlist", count: 3)
      let singer = try trial.insert("Singer")
      for index in [1, 2, 0] { try trial.link(lists[index], "guests", .add([singer])) }
      try expectEqual(
        try trial.related(singer, "visits"), [lists[1].id, lists[2].id, lists[0].id], "the visits")
      try trial.link(singer, "visits", .replace([lists[0], lists[2]]))
      try expectEqual(try trial.related(singer, "visits"), [lists[0].id, lists[2].id], "the visits")
      try expectEqual(try trial.related(lists[1], "guests"), [], "the guests of one that went")
      try expectEqual(try trial.related(lists[2], "guests"), [singer.id], "the guests of one that stayed")
    },
    law("ordering", "a join ordered on both sides keeps two orders, each its own") { trial in
      let lists = try trial.insert("Playlist", count: 3)
      let singers = try trial.insert("Singer", count: 3)
      for list in lists { try trial.link(list, "hosts", .replace([singers[2], singers[0], singers[1]])) }
      for singer in singers { try trial.link(singer, "shows", .replace([lists[1], lists[2], lists[0]])) }
      for list in lists {
        try expectEqual(
          try trial.related(list, "hosts"), [singers[2].id, singers[0].id, singers[1].id], "the hosts")
      }
      for singer in singers {
        try expectEqual(
          try trial.related(singer, "shows"), [lists[1].id, lists[2].id, lists[0].id], "the shows")
      }
      try trial.link(lists[2], "hosts", .replace([singers[1], singers[2]]))
      try expectEqual(try trial.related(singers[0], "shows"), [lists[1].id, lists[0].id], "who lost one")
      try expectEqual(
        try trial.related(singers[1], "shows"), [lists[1].id, lists[2].id, lists[0].id], "who lost none")
    },
    law("ordering", "an ordered to-many without an inverse keeps its order") { trial in
      let rooms = try trial.insert("Room", count: 3)
      let depts = try trial.insert("Department", count: 2)
      try trial.link(depts[0], "route", .replace([rooms[2], rooms[0], rooms[1]]))
      try trial.link(depts[1], "route", .replace([rooms[1], rooms[2]]))
      try trial.delete(rooms[0])
      try expectEqual(try trial.related(depts[0], "route"), [rooms[2].id, rooms[1].id], "the first's route")
      try expectEqual(try trial.related(depts[1], "route"), [rooms[1].id, rooms[2].id], "the second's route")
    },
    law("ordering", "a member can be moved many times, to every place") { trial in
      let songs = try trial.insert("Song", count: 12)
      let list = try trial.insert("Playlist")
      var order = songs
      try trial.link(list, "songs", .replace(order))
      for step in 0..<30 {
        let song = order.remove(at: step * 7 % order.count)
        order.insert(song, at: step * 5 % (order.count + 1))
        try trial.link(list, "songs", .replace(order))
        try expectEqual(try trial.related(list, "songs"), order.map(\.id), "the songs after move \(step)")
      }
    },
  ]
}
