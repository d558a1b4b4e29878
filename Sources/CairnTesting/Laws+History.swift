// Laws of what a commit returns and of what history keeps of it.

import CairnModel
import Foundation

extension StoreLaw {
  static let history: [StoreLaw] = [
    law("history", "a commit says who made it, when, and which rows it inserted, updated and deleted") {
      trial in
      let keys = try trial.insert("Person", rows: [["name": "A"], ["name": "B"], ["name": "C"]])
      let new = try trial.reserve("Robot", 1)[0]
      var changes = ChangeSet(author: "the author", contextName: "the context")
      try changes.insert(new, ["model": "R"], in: trial.schema)
      try changes.update(keys[0], ["name": "AA", "age": 1], in: trial.schema)
      changes.delete(keys[1])
      let start = Date()
      let commit = try trial.store.commit(changes)
      try expectEqual(commit.author, "the author", "the author")
      try expectEqual(commit.contextName, "the context", "the context's name")
      let end = Date()
      try expect(
        start.addingTimeInterval(-0.001) <= commit.time && commit.time <= end.addingTimeInterval(0.001),
        "the time of the commit", "it is \(commit.time)")
      try expectEqual(commit.inserted, [new], "the inserted rows")
      try expectEqual(commit.updated.map(\.key), [keys[0]], "the updated rows")
      try expectEqual(Set(commit.updated[0].properties), ["name", "age"], "the changed properties")
      try expectEqual(commit.deleted, [keys[1]], "the deleted rows")
    },
    law("history", "history tells what the commits returned, oldest first") { trial in
      var commits: [Commit] = []
      let key = try trial.reserve("Person", 1)[0]
      commits.append(try trial.commit { try $0.insert(key, [:], in: trial.schema) })
      commits.append(try trial.update(key, ["age": 5]))
      commits.append(try trial.delete(key))
      let told = try trial.store.history(after: Generation(0))
      try expectEqual(told.map(\.generation), commits.map(\.generation), "the generations")
      try expectEqual(told.map(\.inserted), [[key], [], []], "the inserted rows")
      try expectEqual(told.map { $0.updated.map(\.key) }, [[], [key], []], "the updated rows")
      try expectEqual(told[1].updated[0].properties, ["age"], "the changed properties")
      try expectEqual(told.map(\.deleted), [[], [], [key]], "the deleted rows")
      try expectEqual(told.map(\.time), commits.map(\.time), "the times")
      try expect(told.allSatisfy { $0.author == nil && $0.contextName == nil }, "no author and no context")
    },
    law("history", "history begins after the generation asked for") { trial in
      for _ in 0..<4 { try trial.insert("Room") }
      for after in 0...4 {
        let told = try trial.store.history(after: Generation(Int64(after))).map(\.generation.number)
        try expectEqual(told, Array(Int64(after) + 1..<5), "the commits after \(after)")
      }
    },
    law("history", "a new store has no history") { trial in
      try expect(try trial.store.history(after: Generation(0)).isEmpty, "no commits")
    },
    law(
      "history", "a to-one, an element of a composite attribute and links count under their property's name"
    ) {
      trial in
      let dept = try trial.insert("Department")
      let person = try trial.insert("Person")
      let place = try trial.insert("Place")
      let tag = try trial.insert("Tag")
      func properties(_ commit: Commit, of key: RowKey) -> Set<String> {
        Set(commit.updated.filter { $0.key == key }.flatMap(\.properties))
      }
      try expectEqual(
        properties(try trial.update(person, ["dept": dept.value]), of: person), ["dept"], "the properties")
      try expectEqual(
        properties(try trial.update(place, ["location.latitude": 1, "location.address.zip": 2]), of: place),
        ["location"], "the properties")
      try expectEqual(
        properties(try trial.link(person, "tags", .add([tag])), of: person), ["tags"], "the properties")
      try expectEqual(
        properties(try trial.link(tag, "things", .remove([person])), of: tag), ["things"], "the properties")
    },
    law("history", "a row that a commit inserts or deletes isn't listed as updated") { trial in
      let tag = try trial.insert("Tag")
      let new = try trial.reserve("Person", 1)[0]
      let commit = try trial.commit { changes in
        try changes.insert(new, ["name": "N"], in: trial.schema)
        changes.links.append(try trial.links(new, "tags", .add([tag])))
      }
      try expect(!commit.updated.contains { $0.key == new }, "the inserted row not to be listed")
      let last = try trial.delete(new)
      try expect(!last.updated.contains { $0.key == new }, "the deleted row not to be listed")
    },
    law("history", "a refused commit leaves no trace in it, and takes no generation") { trial in
      let key = try trial.insert("Room", ["number": 1])
      _ = try expectConflict(by: "a stale update") { try trial.update(key, version: 7, ["number": 2]) }
      try expectError(.unknownEntity, by: "an unknown entity") {
        try trial.commit { $0.deletes = [.init(entity: EntityID(999), keys: [1])] }
      }
      let commit = try trial.update(key, ["number": 3])
      try expectEqual(commit.generation, Generation(2), "the next generation")
      try expectEqual(try trial.store.history(after: Generation(0)).count, 2, "the count of commits")
    },
    law("history", "a purge forgets commits up to its generation; asking for those throws historyPurged") {
      trial in
      for _ in 0..<5 { try trial.insert("Room") }
      try trial.store.purgeHistory(through: Generation(3))
      for after in 0..<3 {
        try expectError(.historyPurged, by: "history after \(after)") {
          try trial.store.history(after: Generation(Int64(after)))
        }
      }
      let told = try trial.store.history(after: Generation(3)).map(\.generation.number)
      try expectEqual(told, [4, 5], "the commits after 3")
      try expectEqual(try trial.ids("Room").count, 5, "the count of rows, which a purge leaves alone")
      try expectEqual(try trial.store.snapshot().generation, Generation(5), "the generation")
    },
    law("history", "a purge of everything leaves later commits to be told") { trial in
      for _ in 0..<2 { try trial.insert("Room") }
      try trial.store.purgeHistory(through: Generation(2))
      try expect(try trial.store.history(after: Generation(2)).isEmpty, "no commits")
      try trial.insert("Room")
      try expectEqual(
        try trial.store.history(after: Generation(2)).map(\.generation.number), [3], "the commits")
    },
    law("history", "a second purge of older commits brings none back") { trial in
      for _ in 0..<4 { try trial.insert("Room") }
      try trial.store.purgeHistory(through: Generation(3))
      try trial.store.purgeHistory(through: Generation(1))
      try expectError(.historyPurged, by: "history after 1") { try trial.store.history(after: Generation(1)) }
      try expectEqual(try trial.store.history(after: Generation(3)).count, 1, "the count of commits")
    },
    law("history", "a store that keeps no history says so instead of telling none", history: .none) { trial in
      try expect(try trial.store.history(after: Generation(0)).isEmpty, "no commits before the first")
      for _ in 0..<2 { try trial.insert("Room") }
      try expectError(.historyPurged, by: "history after 0") { try trial.store.history(after: Generation(0)) }
      try expect(try trial.store.history(after: Generation(2)).isEmpty, "no commits after the last")
    },
    law("history", "a store that keeps the newest commits forgets older ones", history: .newest(3)) { trial in
      for _ in 0..<3 { try trial.insert("Room") }
      try expectEqual(try trial.store.history(after: Generation(0)).count, 3, "the count of commits")
      for _ in 0..<4 { try trial.insert("Room") }
      try expectError(.historyPurged, by: "history after 3") { try trial.store.history(after: Generation(3)) }
      try expectEqual(
        try trial.store.history(after: Generation(4)).map(\.generation.number), [5, 6, 7],
        "the commits after 4")
    },
  ]
}
