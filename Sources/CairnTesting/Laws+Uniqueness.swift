// Laws of uniqueness constraints.

import CairnModel
import Foundation

extension StoreLaw {
  static let uniqueness: [StoreLaw] = [
    law("uniqueness", "a second row with a unique value is refused, with both rows and the value", .registry)
    {
      trial in
      let first = try trial.insert("Human", ["login": "ada", "email": "a@x"])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let second = try trial.reserve("Human", 1)[0]
      let conflict = try expectConflict(by: "a duplicate login") {
        try trial.commit { try $0.insert(second, ["login": "ada"], in: trial.schema) }
      }
      try expectEqual(conflict.duplicates.count, 1, "the count of duplicates")
      let duplicate = conflict.duplicates.first
      try expectEqual(duplicate?.keys, [second], "the change set's rows")
      try expectEqual(duplicate?.stored, try trial.row(first), "the stored row")
      try expectEqual(duplicate?.values, ["ada"], "the values")
      try expectEqual(duplicate?.constraint.entity, try trial.entity("Account").id, "the constraint's entity")
      try expectEqual(
        duplicate?.constraint.slots, [try trial.slot("Account", "login")], "the constraint's slots")
      try expect(conflict.stale.isEmpty, "no stale rows")
      try trial.expectUnchanged(since: before, after: "a duplicate login")
    },
    law("uniqueness", "an update to a value that another row has is refused", .registry) { trial in
      let keys = try trial.insert("Human", rows: [["login": "a"], ["login": "b"]])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let conflict = try expectConflict(by: "a duplicate login") { try trial.update(keys[1], ["login": "a"]) }
      try expectEqual(conflict.duplicates.map(\.keys), [[keys[1]]], "the change set's rows")
      try expectEqual(conflict.duplicates.first?.stored?.key, keys[0], "the stored row")
      try trial.expectUnchanged(since: before, after: "a duplicate login")
    },
    law("uniqueness", "two rows of one change set can't have one unique value", .registry) { trial in
      let keys = try trial.reserve("Human", 3)
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let conflict = try expectConflict(by: "a login used twice") {
        try trial.commit { changes in
          for (key, login) in zip(keys, ["a", "b", "a"]) {
            try changes.insert(key, ["login": .string(login)], in: trial.schema)
          }
        }
      }
      try expectEqual(conflict.duplicates.map(\.keys), [[keys[0], keys[2]]], "the change set's rows")
      try expect(conflict.duplicates.first?.stored == nil, "no stored row")
      try trial.expectUnchanged(since: before, after: "a login used twice")
    },
    law("uniqueness", "several rows of a change set may clash with one stored row; all are named", .registry)
    {
      trial in
      let stored = try trial.insert("Human", ["login": "a"])
      let keys = try trial.reserve("Human", 2)
      let conflict = try expectConflict(by: "a login used three times") {
        try trial.commit { changes in
          for key in keys { try changes.insert(key, ["login": "a"], in: trial.schema) }
        }
      }
      try expectEqual(conflict.duplicates.map(\.keys), [keys], "the change set's rows")
      try expectEqual(conflict.duplicates.first?.stored?.key, stored, "the stored row")
    },
    law("uniqueness", "values are unique among the whole family of the entity that declares it", .registry) {
      trial in
      let human = try trial.insert("Human", ["login": "root"])
      let daemon = try trial.reserve("Daemon", 1)[0]
      let conflict = try expectConflict(by: "a sibling's login") {
        try trial.commit { try $0.insert(daemon, ["login": "root"], in: trial.schema) }
      }
      try expectEqual(conflict.duplicates.map(\.keys), [[daemon]], "the change set's rows")
      try expectEqual(conflict.duplicates.first?.stored?.key, human, "the stored row")
    },
    law("uniqueness", "siblings in one change set can't share a value either", .registry) { trial in
      let human = try trial.reserve("Human", 1)[0]
      let daemon = try trial.reserve("Daemon", 1)[0]
      let conflict = try expectConflict(by: "a login used by siblings") {
        try trial.commit { changes in
          try changes.insert(human, ["login": "x"], in: trial.schema)
          try changes.insert(daemon, ["login": "x"], in: trial.schema)
        }
      }
      try expectEqual(Set(conflict.duplicates.flatMap(\.keys)), [human, daemon], "the change set's rows")
    },
    law("uniqueness", "null never conflicts, nor does a compound with a null in it", .registry) { trial in
      _ = try trial.insert("Human", rows: [[:], [:], ["badge": 1], ["badge": 2]])
      _ = try trial.insert("Seat", rows: [["row": 1], ["row": 1], ["letter": "a"], ["letter": "a"]])
      try expectEqual(try trial.ids("Human").count, 4, "the count of humans")
      try expectEqual(try trial.ids("Seat").count, 4, "the count of seats")
    },
    law("uniqueness", "a compound conflicts only where all of its values are the same", .registry) { trial in
      let keys = try trial.insert(
        "Seat", rows: [["row": 1, "letter": "a"], ["row": 1, "letter": "b"], ["row": 2, "letter": "a"]])
      let conflict = try expectConflict(by: "a seat sold twice") {
        try trial.update(keys[2], ["row": 1])
      }
      try expectEqual(conflict.duplicates.first?.values, [1, "a"], "the values")
      try expectEqual(conflict.duplicates.first?.stored?.key, keys[0], "the stored row")
    },
    law("uniqueness", "elements of a composite attribute can be unique", .registry) { trial in
      try trial.insert("Seat", ["place.x": 1, "place.y": 2])
      try trial.insert("Seat", ["place.x": 2, "place.y": 1])
      _ = try expectConflict(by: "a place taken twice") {
        try trial.insert("Seat", ["place.x": 1, "place.y": 2])
      }
    },
    law("uniqueness", "a value freed by a delete in the same change set can be used", .registry) { trial in
      let old = try trial.insert("Human", ["login": "a"])
      let new = try trial.reserve("Human", 1)[0]
      try trial.commit { changes in
        changes.delete(old)
        try changes.insert(new, ["login": "a"], in: trial.schema)
      }
      try expectEqual(try trial.ids("Human", .compare("login", .equal, "a")), [new.id], "the rows named a")
    },
    law(
      "uniqueness",
      "a value freed by an update in the same change set can be used, and values can be swapped", .registry
    ) {
      trial in
      let keys = try trial.insert("Human", rows: [["login": "a"], ["login": "b"]])
      let new = try trial.reserve("Daemon", 1)[0]
      try trial.commit { changes in
        try changes.update(keys[0], ["login": "b"], in: trial.schema)
        try changes.update(keys[1], ["login": "a"], in: trial.schema)
      }
      try trial.commit { changes in
        try changes.update(keys[0], ["login": "c"], in: trial.schema)
        try changes.insert(new, ["login": "b"], in: trial.schema)
      }
      try expectEqual(try trial.value(keys[1], "login"), "a", "the swapped login")
      try expectEqual(try trial.value(new, "login"), "b", "the freed login")
    },
    law(
      "uniqueness", "a value freed by a delete or an update earlier can be used, again and again", .registry
    ) {
      trial in
      for _ in 0..<5 {
        let key = try trial.insert("Human", ["login": "a", "badge": 7])
        _ = try expectConflict(by: "a duplicate") { try trial.insert("Human", ["login": "a"]) }
        try trial.delete(key)
      }
      let key = try trial.insert("Human", ["login": "a", "badge": 7])
      try trial.update(key, ["login": .null])
      try trial.insert("Human", ["login": "a"])
      _ = try expectConflict(by: "a duplicate") { try trial.update(key, ["login": "a"]) }
    },
    law("uniqueness", "a row updated to the value that it has doesn't conflict with itself", .registry) {
      trial in
      let key = try trial.insert("Human", ["login": "a", "badge": 1])
      try trial.update(key, ["login": "a"])
      try trial.update(key, ["email": "x"])
      try expectEqual(try trial.row(key)?.version, 3, "the version")
    },
    law("uniqueness", "a constraint of a subentity binds that subentity only", .registry) { trial in
      try trial.insert("Human", ["badge": 1])
      try trial.insert("Daemon", ["port": 1])
      try trial.insert("Daemon", ["port": 1])
      _ = try expectConflict(by: "a duplicate badge") { try trial.insert("Human", ["badge": 1]) }
    },
    law("uniqueness", "every constraint that a commit breaks is reported", .registry) { trial in
      let keys = try trial.insert("Human", rows: [["login": "a"], ["badge": 1]])
      let conflict = try expectConflict(by: "two duplicates") {
        try trial.insert("Human", ["login": "a", "badge": 1])
      }
      try expectEqual(conflict.duplicates.count, 2, "the count of duplicates")
      try expectEqual(Set(conflict.duplicates.compactMap(\.stored?.key)), Set(keys), "the stored rows")
    },
    law(
      "uniqueness", "strings are the same when their bytes are: neither case nor normalisation matters",
      .registry
    ) {
      trial in
      _ = try trial.insert(
        "Human", rows: [["login": "é"], ["login": "e\u{301}"], ["login": "E"], ["login": "e"], ["login": ""]])
      _ = try expectConflict(by: "a second empty string") { try trial.insert("Human", ["login": ""]) }
    },
    law("uniqueness", "constraints hold among many rows", .registry) { trial in
      _ = try trial.insert(
        "Human", rows: (0..<5_000).map { ["login": .string("u\($0)"), "badge": .int($0)] })
      for number in [0, 1, 2_500, 4_095, 4_096, 4_999] {
        _ = try expectConflict(by: "a duplicate of \(number)") {
          try trial.insert("Human", ["login": .string("u\(number)")])
        }
      }
      try trial.insert("Human", ["login": "u5000"])
    },
  ]
}
