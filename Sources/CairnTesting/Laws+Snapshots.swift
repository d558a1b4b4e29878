// Laws of snapshots: whoever holds one sees exactly its generation, whatever is committed meanwhile.

import CairnModel
import Foundation

extension StoreLaw {
  static let snapshots: [StoreLaw] = [
    law("snapshots", "a held snapshot sees none of the rows inserted, updated or deleted after it") { trial in
      let keys = try trial.insert(
        "Person", rows: [["name": "A", "age": 1], ["name": "B", "age": 2], ["age": 3]])
      let held = try trial.store.snapshot()
      let before = try StoreContents(of: trial.store, in: held)
      try trial.update(keys[0], ["name": "changed", "age": 10])
      try trial.delete(keys[1])
      try trial.insert("Person", ["name": "C"])
      try trial.insert("Manager", ["name": "M"])
      try expectSame(trial, held, before)
      let request = try trial.request("Person", .compare("name", .equal, "B"))
      try expectEqual(try trial.fetch(request, in: held).ids, [keys[1].id], "the row named B")
      try expectEqual(try trial.store.count(trial.request("Person"), in: held), 3, "the count")
      try expectEqual(try trial.row(keys[0], in: held)?.version, 1, "the version")
    },
    law("snapshots", "a held snapshot sees none of the links made, broken or put in order after it") {
      trial in
      let dept = try trial.insert("Department")
      let rooms = try trial.insert("Room", rows: [["dept": dept.value], ["dept": dept.value]])
      let people = try trial.insert("Person", rows: [["dept": dept.value], [:], [:]])
      let tags = try trial.insert("Tag", count: 3)
      try trial.link(people[0], "tags", .add([tags[0], tags[1]]))
      try trial.link(people[0], "friends", .add([people[1]]))
      try trial.link(dept, "route", .replace([rooms[0], rooms[1]]))
      try trial.link(dept, "rooms", .replace([rooms[0], rooms[1]]))
      let held = try trial.store.snapshot()
      let before = try StoreContents(of: trial.store, in: held)
      try trial.link(people[0], "tags", .replace([tags[2]]))
      try trial.link(people[2], "friends", .add([people[0], people[1]]))
      try trial.link(dept, "route", .replace([rooms[1], rooms[0]]))
      try trial.link(dept, "rooms", .replace([rooms[1], rooms[0]]))
      try trial.update(people[1], ["dept": dept.value])
      try trial.delete(tags[0], people[0])
      try expectSame(trial, held, before)
    },
    law("snapshots", "each of many held snapshots sees its own generation") { trial in
      let key = try trial.insert("Person", ["age": 0])
      var held: [(any StoreSnapshot, StoreContents)] = []
      for age in 1...40 {
        let snapshot = try trial.store.snapshot()
        held.append((snapshot, try StoreContents(of: trial.store, in: snapshot)))
        try trial.update(key, ["age": .int(Int64(age)), "name": .string("n\(age)")])
        if age % 3 == 0 { try trial.insert("Person", ["age": .int(Int64(age))]) }
        if age % 7 == 0, let last = try trial.ids("Person").last {
          try trial.delete(RowKey(entity: key.entity, id: last))
        }
        if try trial.row(key) == nil { return }
      }
      for (snapshot, contents) in held { try expectSame(trial, snapshot, contents) }
    },
    law("snapshots", "questions to a held snapshot leave the answers to later questions as they are") {
      trial in
      let rows = (0..<100).map { ["rank": .int($0), "name": .string("n\($0)")] as [String: Value] }
      let keys = try trial.insert("Person", rows: rows)
      // The index of names may be kept up from now on, and that of ranks be built by the held snapshot later.
      try expectEqual(
        try people(trial, "name", "n9", trial.store.snapshot()), [keys[9].id], "the row named n9")
      let held = try trial.store.snapshot()
      for round in 0..<3 {
        try trial.update(keys[round], ["rank": 1_000, "name": .string("changed \(round)")])
        let found = try people(trial, "name", .string("changed \(round)"), trial.store.snapshot())
        try expectEqual(found, [keys[round].id], "the row with a changed name")
      }
      try expectEqual(try people(trial, "rank", 1, held), [keys[1].id], "the old rank in the held snapshot")
      try expectEqual(
        try people(trial, "rank", 1_000, trial.store.snapshot()), keys[..<3].map(\.id),
        "the new rank in a new one")
      try trial.update(keys[50], ["rank": 1_000])
      try expectEqual(
        try people(trial, "rank", 1_000, trial.store.snapshot()), keys[..<3].map(\.id) + [keys[50].id],
        "and in the next")
      try expectEqual(try people(trial, "rank", 1_000, held), [], "the new rank in the held snapshot")
    },
    law("snapshots", "batches handed out before a commit keep their values") { trial in
      let keys = try trial.insert("Person", rows: [["name": "A"], ["name": "B"]])
      let batch = try trial.fetch(trial.request("Person"))
      let before = (0..<batch.count).map { StoredRow(batch, $0) }
      try trial.update(keys[0], ["name": .string(String(repeating: "z", count: 1_000))])
      try trial.delete(keys[1])
      for _ in 0..<50 { try trial.insert("Person", ["name": "new"]) }
      try expectEqual((0..<batch.count).map { StoredRow(batch, $0) }, before, "the rows of the batch")
    },
    law("snapshots", "a snapshot taken right after a commit includes it, and has its generation") { trial in
      let commit = try trial.commit { try $0.insert(trial.reserve("Room", 1)[0], [:], in: trial.schema) }
      let snapshot = try trial.store.snapshot()
      try expectEqual(snapshot.generation, commit.generation, "the generation")
      try expectEqual(try trial.store.count(trial.request("Room"), in: snapshot), 1, "the count")
    },
    law("snapshots", "a snapshot of another store is refused by every question") { trial in
      let other = try trial.maker(trial.schema, .all)
      let key = try trial.insert("Person")
      for foreign in [try other.snapshot(), ForeignSnapshot()] {
        try expectForeign("fetch") { try trial.store.fetch(trial.request("Person"), in: foreign) }
        try expectForeign("count") { try trial.store.count(trial.request("Person"), in: foreign) }
        try expectForeign("rows") { try trial.store.rows([key], in: foreign) }
        try expectForeign("related") {
          try trial.store.related([key], through: trial.relationship("Person", "tags"), in: foreign)
        }
        try expectForeign("aggregate") {
          try trial.store.aggregate(
            AggregateRequest(entity: key.entity, terms: [.init(.count, nil)]), in: foreign)
        }
      }
    },
    law("snapshots", "readers of several threads see whole commits only, while one thread writes") { trial in
      let rooms = try trial.insert("Room", rows: (0..<20).map { _ in ["number": 0] })
      let tag = try trial.insert("Tag")
      let outcome = Collected<Int64>()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        outcome.add { thread == 0 ? try writeRounds(trial, rooms, tag) : try readRounds(trial, outcome) }
      }
      let seen = try outcome.result()
      try expect(!seen.isEmpty, "the readers to have seen something")
    },
    law("snapshots", "several threads may commit at once, and every commit gets a generation of its own") {
      trial in
      let numbers = Collected<Int64>()
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<20 {
          numbers.add {
            let key = try trial.reserve("Room", 1)[0]
            return [try trial.commit { try $0.insert(key, [:], in: trial.schema) }.generation.number]
          }
        }
      }
      try expectEqual(try numbers.result().sorted(), Array(1...80), "the generations")
      try expectEqual(try trial.ids("Room").count, 80, "the count of rows")
    },
  ]

  /// The people with that value, in a snapshot.
  private static func people(
    _ trial: Trial, _ name: String, _ value: Value, _ snapshot: any StoreSnapshot
  ) throws -> [Int64] {
    try trial.fetch(trial.request("Person", .compare(name, .equal, value)), in: snapshot).ids
  }

  private static func expectSame(_ trial: Trial, _ held: any StoreSnapshot, _ before: StoreContents) throws {
    let now = try StoreContents(of: trial.store, in: held)
    if let difference = before.difference(from: now) {
      throw Mismatch(expectation: "the held snapshot to be unchanged", outcome: difference)
    }
  }

  private static func expectForeign<T>(_ what: String, _ body: () throws -> T) throws {
    try expectError(.foreignSnapshot, by: "\(what) in a foreign snapshot", body)
  }

  /// Each commit gives all rooms one number, and the tag that number as its name; every third also adds a room.
  private static func writeRounds(_ trial: Trial, _ rooms: [RowKey], _ tag: RowKey) throws -> [Int64] {
    var rooms = rooms
    for round in 1...60 {
      let new = round % 3 == 0 ? try trial.reserve("Room", 1) : []
      try trial.commit { changes in
        for room in rooms { try changes.update(room, ["number": .int(Int64(round))], in: trial.schema) }
        for room in new { try changes.insert(room, ["number": .int(Int64(round))], in: trial.schema) }
        try changes.update(tag, ["name": .string("\(round)")], in: trial.schema)
      }
      rooms += new
    }
    return []
  }

  private static func readRounds(_ trial: Trial, _ outcome: Collected<Int64>) throws -> [Int64] {
    var seen: [Int64] = []
    var last: Int64 = 0
    repeat {
      let snapshot = try trial.store.snapshot()
      try expect(snapshot.generation.number >= last, "generations to ascend for a reader")
      last = snapshot.generation.number
      let rooms = try trial.fetch(trial.request("Room"), in: snapshot)
      let numbers = Set((0..<rooms.count).map { StoredRow(rooms, $0).values[0] })
      try expectEqual(numbers.count, 1, "the count of different numbers in generation \(last)")
      guard case .int(let number)? = numbers.first else { break }
      try expectEqual(rooms.count, 20 + Int(number) / 3, "the count of rooms")
      let name: Value = number == 0 ? .null : .string("\(number)")
      let tags = try trial.store.count(trial.request("Tag", .compare("name", .equal, name)), in: snapshot)
      try expectEqual(tags, 1, "the count of tags of the same commit")
      seen.append(number)
    } while seen.last != 60 && !outcome.hasFailed
    return seen
  }
}

/// A snapshot that no store has made.
private final class ForeignSnapshot: StoreSnapshot {
  let generation = Generation(0)
}
