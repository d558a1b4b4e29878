// Laws of stale versions: a change made on a row that has changed since is refused, with both sides.

import CairnModel
import Foundation

extension StoreLaw {
  static let conflicts: [StoreLaw] = [
    law("conflicts", "an update on the current version goes through") { trial in
      let key = try trial.insert("Person", ["age": 1])
      try trial.update(key, version: 1, ["age": 2])
      try trial.update(key, version: 2, ["age": 3])
      try expectEqual(try trial.row(key)?.version, 3, "the version")
    },
    law(
      "conflicts", "an update on an old version throws with the version expected and the row as it is stored"
    ) {
      trial in
      let key = try trial.insert("Person", ["age": 1])
      try trial.update(key, ["age": 2])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let conflict = try expectConflict(by: "a stale update") {
        try trial.update(key, version: 1, ["age": 3])
      }
      try expectEqual(conflict.stale.map(\.key), [key], "the stale keys")
      try expectEqual(conflict.stale.first?.expected, 1, "the expected version")
      try expectEqual(conflict.stale.first?.stored, try trial.row(key), "the stored row")
      try expect(conflict.duplicates.isEmpty, "no duplicates")
      try trial.expectUnchanged(since: before, after: "a stale update")
    },
    law("conflicts", "an update with a version of a row that was deleted throws without a stored row") {
      trial in
      let key = try trial.insert("Person", ["age": 1])
      try trial.delete(key)
      let conflict = try expectConflict(by: "an update of a deleted row") {
        try trial.update(key, version: 1, ["age": 3])
      }
      try expectEqual(conflict.stale.map(\.key), [key], "the stale keys")
      try expect(conflict.stale.first?.stored == nil, "no stored row")
    },
    law("conflicts", "an update without slots checks versions and changes nothing") { trial in
      let key = try trial.insert("Person", ["age": 1])
      try trial.update(key, version: 1, [:])
      try expectEqual(try trial.row(key)?.version, 1, "the version")
      try trial.update(key, version: 1, ["age": 2])
      _ = try expectConflict(by: "a check of an old version") { try trial.update(key, version: 1, [:]) }
    },
    law("conflicts", "a delete on an old version, or of a row that was deleted, throws likewise") { trial in
      let keys = try trial.insert("Person", rows: [["age": 1], ["age": 2]])
      try trial.update(keys[0], ["age": 10])
      try trial.delete(keys[1])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let conflict = try expectConflict(by: "stale deletes") {
        try trial.delete(keys[0], keys[1], version: 1)
      }
      try expectEqual(conflict.stale.map(\.key).sorted(), keys, "the stale keys")
      for stale in conflict.stale {
        try expectEqual(stale.stored, try trial.row(stale.key), "the stored row")
      }
      try trial.expectUnchanged(since: before, after: "stale deletes")
    },
    law(
      "conflicts", "nothing else of a change set with one stale row is applied, and all stale rows are named"
    ) {
      trial in
      let keys = try trial.insert("Person", rows: [["age": 1], ["age": 2], ["age": 3]])
      let tag = try trial.insert("Tag")
      try trial.update(keys[0], ["age": 10])
      try trial.update(keys[1], ["age": 20])
      let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
      let new = try trial.reserve("Person", 1)[0]
      let conflict = try expectConflict(by: "two stale updates among others") {
        try trial.commit { changes in
          try changes.insert(new, ["age": 4], in: trial.schema)
          for key in keys { try changes.update(key, version: 1, ["age": 0], in: trial.schema) }
          changes.links.append(try trial.links(keys[2], "tags", .add([tag])))
        }
      }
      try expectEqual(conflict.stale.map(\.key).sorted(), [keys[0], keys[1]], "the stale keys")
      try trial.expectUnchanged(since: before, after: "two stale updates")
      try trial.commit { try $0.insert(new, ["age": 4], in: trial.schema) }
      try expectEqual(try trial.ids("Person").count, 4, "the count of rows")
    },
    law("conflicts", "without versions an update and a delete accept whatever version there is") { trial in
      let keys = try trial.insert("Person", count: 2)
      for key in keys { for _ in 0..<3 { try trial.update(key, ["age": 1]) } }
      try trial.update(keys[0], ["age": 2])
      try trial.delete(keys[1])
      try expectEqual(try trial.row(keys[0])?.version, 5, "the version")
      try expectEqual(try trial.ids("Person"), [keys[0].id], "the rows")
    },
    law("conflicts", "a commit refused for its versions can be made again on the current ones") { trial in
      let key = try trial.insert("Person", ["age": 1])
      try trial.update(key, ["age": 2])
      let conflict = try expectConflict(by: "a stale update") {
        try trial.update(key, version: 1, ["age": 3])
      }
      try trial.update(key, version: conflict.stale.first?.stored?.version, ["age": 3])
      try expectEqual(try trial.value(key, "age"), 3, "the age")
    },
    law("conflicts", "inserting a row that refers to another doesn't make that one stale") { trial in
      let dept = try trial.insert("Department")
      try trial.insert("Person", ["dept": dept.value])
      try trial.update(dept, version: 1, ["name": "D"])
      try expectEqual(try trial.row(dept)?.version, 2, "the version")
    },
    law("conflicts", "of threads that update one row on the version they read, one at a time wins") { trial in
      let key = try trial.insert("Room", ["number": 0])
      let wins = Collected<Int64>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<25 { wins.add { try increment(trial, key) ? [1] : [] } }
      }
      let won = try wins.result().count
      try expect(won > 0, "some update to win")
      try expectEqual(try trial.value(key, "number"), .int(Int64(won)), "the number after \(won) increments")
      try expectEqual(try trial.row(key)?.version, Int64(won) + 1, "the version")
    },
  ]

  /// Whether the row could be raised by one, on the version read.
  private static func increment(_ trial: Trial, _ key: RowKey) throws -> Bool {
    guard let row = try trial.row(key), case .int(let number) = row.values[try trial.slot("Room", "number")]
    else {
      throw Mismatch(expectation: "the room to have a number", outcome: "it has none")
    }
    do {
      try trial.update(key, version: row.version, ["number": .int(number + 1)])
      return true
    } catch is CommitConflict {
      return false
    }
  }
}
