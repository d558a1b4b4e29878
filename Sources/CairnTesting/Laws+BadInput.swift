// Laws of change sets that make no sense: each is refused as a whole, with a code that says why.

import CairnModel
import Foundation

extension StoreLaw {
  /// A store with something in it, so that "as before" says something.
  private struct Scene {
    let trial: Trial
    let dept: RowKey
    let people: [RowKey]
    let room: RowKey
    let tag: RowKey

    init(_ trial: Trial) throws {
      self.trial = trial
      dept = try trial.insert("Department", ["name": "D"])
      people = try trial.insert("Person", rows: [["name": "A", "dept": dept.value], ["name": "B"]])
      room = try trial.insert("Room", ["dept": dept.value])
      tag = try trial.insert("Tag")
      try trial.link(people[0], "tags", .add([tag]))
    }

    /// Something sound, which has to be undone with the rest.
    func addSoundChanges(_ changes: inout ChangeSet) throws {
      try changes.insert(try trial.reserve("Tag", 1)[0], ["name": "new"], in: trial.schema)
      try changes.update(dept, ["name": "changed"], in: trial.schema)
      changes.links.append(try trial.links(people[1], "tags", .add([tag])))
    }
  }

  /// Expects change sets with one fault each to be refused.
  private static func refusing(
    _ name: String, _ codes: StoreError.Code...,
    by fill: @escaping @Sendable (Scene, inout ChangeSet) throws -> Void
  ) -> StoreLaw {
    law("bad input", name) { trial in
      let scene = try Scene(trial)
      for addsSoundChanges in [false, true] {
        var changes = ChangeSet()
        try fill(scene, &changes)
        if addsSoundChanges { try scene.addSoundChanges(&changes) }
        let before = try StoreContents(of: trial.store, in: trial.store.snapshot())
        let expectation = "the commit to throw \(codes.map(\.description).joined(separator: " or "))"
        do {
          _ = try trial.store.commit(changes)
        } catch let error as StoreError where codes.contains(error.code) {
          try trial.expectUnchanged(since: before, after: "the refused commit")
          continue
        } catch {
          throw Mismatch(expectation: expectation, outcome: "it threw \(error)")
        }
        throw Mismatch(expectation: expectation, outcome: "it was committed")
      }
      try trial.update(scene.people[1], version: 1, ["name": "still works"])
    }
  }

  private static func column(_ type: ValueType, _ values: Value...) throws -> Column {
    let builder = ColumnBuilder(type)
    for value in values { try builder.append(value: value) }
    return builder.finish()
  }

  private static func nulls(_ scene: Scene, _ entity: String) throws -> [Column?] {
    [Column?](repeating: nil, count: try scene.trial.entity(entity).slots.count)
  }

  static let badInput: [StoreLaw] = entityFaults + keyFaults + columnFaults + referenceFaults + linkFaults

  private static let entityFaults: [StoreLaw] = [
    refusing("rows of an unknown entity can't be inserted", .unknownEntity) { _, changes in
      changes.inserts = [.init(entity: EntityID(999), keys: [1], columns: [])]
    },
    refusing("rows of an unknown entity can't be updated", .unknownEntity) { _, changes in
      changes.updates = [.init(entity: EntityID(999), keys: [1], versions: nil, slots: [], columns: [])]
    },
    refusing("rows of an unknown entity can't be deleted", .unknownEntity) { _, changes in
      changes.deletes = [.init(entity: EntityID(-1), keys: [1])]
    },
    refusing("rows of an abstract entity can't be inserted", .abstractEntity) { scene, changes in
      let key = try scene.trial.reserve("Thing", 1)[0]
      changes.inserts = [.init(entity: key.entity, keys: [key.id], columns: try nulls(scene, "Thing"))]
    },
  ]

  private static let keyFaults: [StoreLaw] = [
    refusing("a key that was never reserved can't be inserted", .unknownKey) { scene, changes in
      let key = RowKey(entity: scene.people[0].entity, id: 1_000_000)
      try changes.insert(key, [:], in: scene.trial.schema)
    },
    refusing("a key that isn't positive can't be inserted", .unknownKey) { scene, changes in
      try changes.insert(RowKey(entity: scene.tag.entity, id: 0), [:], in: scene.trial.schema)
    },
    refusing("a key reserved for another hierarchy can't be inserted", .unknownKey) { scene, changes in
      let key = try scene.trial.store.reserveKeys(1_000, root: scene.trial.entity("Thing").id).upperBound - 1
      try changes.insert(RowKey(entity: scene.tag.entity, id: key), [:], in: scene.trial.schema)
    },
    refusing("a key that a row has can't be inserted again", .duplicateKey) { scene, changes in
      try changes.insert(scene.people[0], ["name": "again"], in: scene.trial.schema)
    },
    refusing("a key that a row of a sibling entity has can't be inserted again", .duplicateKey) {
      scene, changes in
      let key = RowKey(entity: try scene.trial.entity("Robot").id, id: scene.people[0].id)
      try changes.insert(key, [:], in: scene.trial.schema)
    },
    refusing("a key can't be inserted twice by one change set", .duplicateKey) { scene, changes in
      let key = try scene.trial.reserve("Person", 1)[0]
      try changes.insert(key, ["name": "1"], in: scene.trial.schema)
      try changes.insert(key, ["name": "2"], in: scene.trial.schema)
    },
    refusing("a key can't be inserted for two entities of a hierarchy by one change set", .duplicateKey) {
      scene, changes in
      let key = try scene.trial.reserve("Person", 1)[0]
      let robot = RowKey(entity: try scene.trial.entity("Robot").id, id: key.id)
      try changes.insert(key, [:], in: scene.trial.schema)
      try changes.insert(robot, [:], in: scene.trial.schema)
    },
    refusing("the keys of a batch have no duplicates", .duplicateKey, .malformedChangeSet) { scene, changes in
      let key = try scene.trial.reserve("Tag", 1)[0]
      let names = try column(.string, "a", "b")
      changes.inserts = [.init(entity: key.entity, keys: [key.id, key.id], columns: [names])]
    },
    refusing("the keys of a batch ascend", .malformedChangeSet) { scene, changes in
      let keys = try scene.trial.reserve("Tag", 2)
      let names = try column(.string, "a", "b")
      changes.inserts = [.init(entity: keys[0].entity, keys: [keys[1].id, keys[0].id], columns: [names])]
    },
    refusing("a row that isn't there can't be updated", .unknownKey) { scene, changes in
      let key = try scene.trial.reserve("Person", 1)[0]
      try changes.update(key, ["name": "x"], in: scene.trial.schema)
    },
    refusing("a row that was deleted can't be updated", .unknownKey) { scene, changes in
      let key = try scene.trial.insert("Person")
      try scene.trial.delete(key)
      try changes.update(key, ["name": "x"], in: scene.trial.schema)
    },
    refusing("a row that isn't there can't be deleted", .unknownKey) { scene, changes in
      changes.delete(try scene.trial.reserve("Person", 1)[0])
    },
    refusing("a row can't be updated as one of another entity", .unknownKey) { scene, changes in
      let key = RowKey(entity: try scene.trial.entity("Robot").id, id: scene.people[0].id)
      try changes.update(key, ["model": "x"], in: scene.trial.schema)
    },
    refusing("a row can't be deleted as one of another entity", .unknownKey) { scene, changes in
      changes.delete(RowKey(entity: try scene.trial.entity("Manager").id, id: scene.people[0].id))
    },
    refusing("a row can't be updated and deleted by one change set", .malformedChangeSet, .duplicateKey) {
      scene, changes in
      try changes.update(scene.people[0], ["name": "x"], in: scene.trial.schema)
      changes.delete(scene.people[0])
    },
    refusing("a row can't be updated twice by one change set", .duplicateKey, .malformedChangeSet) {
      scene, changes in
      try changes.update(scene.people[0], ["name": "x"], in: scene.trial.schema)
      try changes.update(scene.people[0], ["name": "y"], in: scene.trial.schema)
    },
    refusing("a row can't be deleted twice by one change set", .duplicateKey, .malformedChangeSet) {
      scene, changes in
      changes.delete(scene.people[0])
      changes.delete(scene.people[0])
    },
    refusing(
      "a row can't be inserted and deleted by one change set", .malformedChangeSet, .duplicateKey, .unknownKey
    ) { scene, changes in
      let key = try scene.trial.reserve("Person", 1)[0]
      try changes.insert(key, [:], in: scene.trial.schema)
      changes.delete(key)
    },
  ]

  private static let columnFaults: [StoreLaw] = [
    refusing("a column of another type than its slot's can't be inserted", .wrongType) { scene, changes in
      let key = try scene.trial.reserve("Tag", 1)[0]
      let wrong = try column(.int64, 1)
      changes.inserts = [.init(entity: key.entity, keys: [key.id], columns: [wrong])]
    },
    refusing("a column of another type than its slot's can't be an update", .wrongType) { scene, changes in
      let wrong = try column(.int64, 1)
      changes.updates = [
        .init(entity: scene.tag.entity, keys: [scene.tag.id], versions: nil, slots: [0], columns: [wrong])
      ]
    },
    refusing("an insert has one entry a slot", .malformedChangeSet) { scene, changes in
      let key = try scene.trial.reserve("Tag", 1)[0]
      changes.inserts = [.init(entity: key.entity, keys: [key.id], columns: [nil, nil])]
    },
    refusing("an insert's columns have as many rows as there are keys", .malformedChangeSet) {
      scene, changes in
      let key = try scene.trial.reserve("Tag", 1)[0]
      let names = try column(.string, "a", "b")
      changes.inserts = [.init(entity: key.entity, keys: [key.id], columns: [names])]
    },
    refusing("an update's columns have as many rows as there are keys", .malformedChangeSet) {
      scene, changes in
      let none = try column(.string)
      changes.updates = [
        .init(entity: scene.tag.entity, keys: [scene.tag.id], versions: nil, slots: [0], columns: [none])
      ]
    },
    refusing("an update has one column a slot", .malformedChangeSet) { scene, changes in
      changes.updates = [
        .init(entity: scene.tag.entity, keys: [scene.tag.id], versions: nil, slots: [0], columns: [])
      ]
    },
    refusing("an update names a slot once", .malformedChangeSet) { scene, changes in
      let name = try column(.string, "a")
      changes.updates = [
        .init(
          entity: scene.tag.entity, keys: [scene.tag.id], versions: nil, slots: [0, 0], columns: [name, name])
      ]
    },
    refusing("an update names slots that there are", .unknownProperty) { scene, changes in
      let name = try column(.string, "a")
      changes.updates = [
        .init(entity: scene.tag.entity, keys: [scene.tag.id], versions: nil, slots: [7], columns: [name])
      ]
    },
    refusing("an update has one version a key, or none", .malformedChangeSet) { scene, changes in
      let name = try column(.string, "a")
      changes.updates = [
        .init(entity: scene.tag.entity, keys: [scene.tag.id], versions: [], slots: [0], columns: [name])
      ]
    },
    refusing("a delete has one version a key, or none", .malformedChangeSet) { scene, changes in
      changes.deletes = [.init(entity: scene.tag.entity, keys: [scene.tag.id], versions: [1, 1])]
    },
    law(
      "bad input", "a value that a slot can't hold, and an unknown name, don't get into a change set",
      .specimen
    ) {
      trial in
      let key = try trial.reserve("Specimen", 1)[0]
      let misfits: [(String, Value)] = [
        ("int16", 32_768), ("int32", .int(1 << 31)), ("bool", 2), ("string", 1), ("int64", "1"),
        ("int64", 1.5),
        ("float", .double(0.1)), ("date", 1), ("uuid", "x"), ("uri", "x"), ("data", "x"), ("next", .int(1)),
        ("next", .key(0)), ("decimal", 1.5),
      ]
      for (slot, value) in misfits {
        var changes = ChangeSet()
        try expectError(.wrongType, by: "\(slot) = \(value)") {
          try changes.insert(key, [slot: value], in: trial.schema)
        }
        try expectError(.wrongType, by: "an update of \(slot) to \(value)") {
          try changes.update(key, [slot: value], in: trial.schema)
        }
        try expect(changes.isEmpty, "an empty change set")
      }
      var changes = ChangeSet()
      try expectError(.unknownProperty, by: "an unknown name") {
        try changes.insert(key, ["nothing": 1], in: trial.schema)
      }
    },
  ]

  private static let referenceFaults: [StoreLaw] = [
    refusing("an inserted key leads to a row that is there after the commit", .danglingReference) {
      scene, changes in
      let missing = try scene.trial.reserve("Department", 1)[0]
      try changes.insert(
        try scene.trial.reserve("Person", 1)[0], ["dept": missing.value], in: scene.trial.schema)
    },
    refusing("an updated key leads to a row that is there after the commit", .danglingReference) {
      scene, changes in
      let missing = try scene.trial.reserve("Department", 1)[0]
      try changes.update(scene.people[1], ["dept": missing.value], in: scene.trial.schema)
    },
    refusing("a key can't lead to a row that was deleted", .danglingReference) { scene, changes in
      let gone = try scene.trial.insert("Department")
      try scene.trial.delete(gone)
      try changes.update(scene.people[1], ["dept": gone.value], in: scene.trial.schema)
    },
    refusing("a key can't lead to a row of an entity that isn't the destination", .danglingReference) {
      scene, changes in
      let robot = try scene.trial.insert("Robot")
      try changes.update(scene.people[1], ["mentor": robot.value], in: scene.trial.schema)
    },
    law("bad input", "a key can't be made to lead to a row that the same change set deletes") { trial in
      let scene = try Scene(trial)
      let dept = try trial.insert("Department")
      try trial.expectRefusal(.danglingReference, of: "a key to a row being deleted") { changes in
        try changes.update(scene.people[1], ["dept": dept.value], in: trial.schema)
        changes.delete(dept)
      }
    },
  ]

  private static let linkFaults: [StoreLaw] = [
    refusing("a link leads to rows that are there after the commit", .danglingReference) { scene, changes in
      let missing = try scene.trial.reserve("Tag", 1)[0]
      changes.links.append(try scene.trial.links(scene.people[0], "tags", .add([missing])))
    },
    refusing("a replaced list leads to rows that are there after the commit", .danglingReference) {
      scene, changes in
      let gone = try scene.trial.insert("Tag")
      try scene.trial.delete(gone)
      changes.links.append(try scene.trial.links(scene.people[0], "tags", .replace([scene.tag, gone])))
    },
    refusing("a link doesn't lead to rows of another hierarchy", .danglingReference, .unknownKey) {
      scene, changes in
      let rooms = try scene.trial.insert("Room", count: 10)
      changes.links.append(try scene.trial.links(scene.people[0], "tags", .add([rooms[9]])))
    },
    refusing(
      "a link doesn't lead to rows of an entity that isn't the destination", .danglingReference, .unknownKey
    ) {
      scene, changes in
      let robot = try scene.trial.insert("Robot")
      changes.links.append(try scene.trial.links(scene.people[0], "friends", .add([robot])))
    },
    refusing("the owner of a link is there after the commit", .unknownKey, .danglingReference) {
      scene, changes in
      let missing = try scene.trial.reserve("Person", 1)[0]
      changes.links.append(try scene.trial.links(missing, "tags", .add([scene.tag])))
    },
    refusing("the owner of a link has the relationship", .unknownProperty, .unknownKey, .malformedChangeSet) {
      scene, changes in
      let tags = try scene.trial.relationship("Person", "tags")
      changes.links = [.init(tags, of: scene.room, .add([scene.tag]))]
    },
    refusing("a link is of a relationship that there is", .unknownProperty) { scene, changes in
      changes.links = [.init(RelationshipID(999), of: scene.people[0], .add([scene.tag]))]
    },
    refusing("a to-one relationship isn't changed by links", .malformedChangeSet) { scene, changes in
      changes.links.append(try scene.trial.links(scene.people[0], "dept", .add([scene.dept])))
    },
    refusing("an unordered to-many whose inverse is a to-one isn't changed by links", .malformedChangeSet) {
      scene, changes in
      changes.links.append(try scene.trial.links(scene.dept, "staff", .add([scene.people[1]])))
    },
  ]

  static let lifetime: [StoreLaw] = [
    law("lifetime", "after close everything throws storeClosed") { trial in
      let key = try trial.insert("Room", ["number": 1])
      let root = try trial.entity("Room").id
      try trial.store.close()
      try expectError(.storeClosed, by: "snapshot") { try trial.store.snapshot() }
      try expectError(.storeClosed, by: "commit") { try trial.update(key, ["number": 2]) }
      try expectError(.storeClosed, by: "an empty commit") { try trial.store.commit(ChangeSet()) }
      try expectError(.storeClosed, by: "reserveKeys") { try trial.store.reserveKeys(1, root: root) }
      try expectError(.storeClosed, by: "history") { try trial.store.history(after: Generation(0)) }
      try expectError(.storeClosed, by: "purgeHistory") {
        try trial.store.purgeHistory(through: Generation(1))
      }
    },
    law("lifetime", "snapshots stay readable after close") { trial in
      let dept = try trial.insert("Department", ["name": "D"])
      let person = try trial.insert("Person", ["dept": dept.value, "age": 3])
      let held = try trial.store.snapshot()
      let before = try StoreContents(of: trial.store, in: held)
      try trial.store.close()
      let after = try StoreContents(of: trial.store, in: held)
      try expect(before.difference(from: after) == nil, "the same contents")
      let request = try trial.request("Person", .compare("dept.name", .equal, "D"))
      try expectEqual(try trial.store.fetch(request, in: held).keys, [person], "the rows of a fetch")
      try expectEqual(try trial.store.count(request, in: held), 1, "the count")
    },
    law("lifetime", "metadata has the type of the traits, and a UUID of its own that stays") { trial in
      let metadata = trial.store.metadata
      try expectEqual(metadata.type, type(of: trial.store).traits.type, "the type")
      try expectEqual(trial.store.metadata.uuid, metadata.uuid, "the UUID")
      try expect(
        try trial.maker(trial.schema, .all).metadata.uuid != metadata.uuid, "another store's to differ")
    },
    law("lifetime", "writing metadata replaces the user's entries, and nothing else") { trial in
      let uuid = trial.store.metadata.uuid
      trial.store.metadata.userEntries = ["a": 1, "b": "two"]
      try expectEqual(trial.store.metadata.userEntries, ["a": 1, "b": "two"], "the entries")
      trial.store.metadata.userEntries["a"] = nil
      try expectEqual(trial.store.metadata.userEntries, ["b": "two"], "the entries")
      trial.store.metadata = StoreMetadata(uuid: UUID(), type: "another", userEntries: ["c": true])
      try expectEqual(trial.store.metadata.userEntries, ["c": true], "the entries")
      try expectEqual(trial.store.metadata.uuid, uuid, "the UUID")
      try expectEqual(trial.store.metadata.type, type(of: trial.store).traits.type, "the type")
    },
    law("lifetime", "a store has the schema that it was made for") { trial in
      try expect(trial.store.schema === Schema.company, "the schema")
    },
  ]
}
