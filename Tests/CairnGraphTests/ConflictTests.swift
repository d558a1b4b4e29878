// Saves that the store refuses: the context keeps its changes, and the error says what stands against them.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ConflictTests {
  let stack: Stack

  init() throws {
    stack = try Stack()
  }

  private func tag(_ text: String, in context: NSManagedObjectContext? = nil) -> Tag {
    let tag = Tag(context: context ?? stack.context)
    tag.text = text
    return tag
  }

  @Test func `saving over a row that has changed throws 133020 with both sides`() throws {
    let ada = stack.person("Ada", age: 1)
    try stack.context.save()
    let other = stack.otherContext()
    try other.fetch(request(Person.self)).first?.age = 2
    try other.save()
    ada.age = 3
    stack.person("Bob")
    let failure = #expect(throws: NSError.self) { try stack.context.save() }
    let error = try #require(failure)
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError)
    let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
    #expect(conflicts.count == 1)
    #expect(conflicts.first?.sourceObject === ada)
    #expect(conflicts.first?.oldVersionNumber == 1 && conflicts.first?.newVersionNumber == 2)
    #expect(conflicts.first?.persistedSnapshot?["age"] as? Int == 2)
    #expect(conflicts.first?.objectSnapshot?["age"] as? Int == 1)
    let name = ada.objectID.uriRepresentation().lastPathComponent
    #expect(
      conflicts.first?.description == """
        Person \(name) was read at version 1, and the store has version 2
          age: read as 1, stored as 2
        """)
    #expect(stack.context.hasChanges && ada.isUpdated && ada.age == 3)
    #expect(try stack.otherContext().count(for: request(Person.self)) == 1)
    #expect(throws: NSError.self) { try stack.context.save() }
    stack.context.refresh(ada, mergeChanges: true)
    try stack.context.save()
    #expect(try stack.otherContext().fetch(request(Person.self, sort: ["name"])).map(\.age) == [3, 18])
  }

  @Test func `saving over a row that is gone throws 133020 with version 0`() throws {
    let ada = stack.person("Ada")
    try stack.context.save()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first?.store)
    var changes = ChangeSet()
    changes.delete(RowKey(entity: try store.schema.requireEntity(named: "Person").id, id: 1))
    _ = try store.commit(changes)
    ada.age = 3
    let failure = #expect(throws: NSError.self) { try stack.context.save() }
    let error = try #require(failure)
    let conflicts = try #require(error.userInfo["conflictList"] as? [NSMergeConflict])
    #expect(error.code == 133_020)
    #expect(conflicts.first?.newVersionNumber == 0 && conflicts.first?.persistedSnapshot == nil)
    #expect(
      conflicts.first?.description.hasSuffix(" was read at version 1, and the store has deleted it") == true)
  }

  @Test func `a broken uniqueness constraint throws 133021 with the object in the store`() throws {
    _ = tag("red")
    try stack.context.save()
    let other = stack.otherContext()
    let double = tag("red", in: other)
    let blue = tag("blue", in: other)
    let failure = #expect(throws: NSError.self) { try other.save() }
    let error = try #require(failure)
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectConstraintMergeError)
    let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
    #expect(conflict.constraint == ["text"])
    #expect(conflict.constraintValues["text"] as? String == "red")
    #expect(conflict.conflictingObjects == [double])
    #expect((conflict.databaseObject as? Tag)?.text == "red")
    #expect(conflict.databaseSnapshot?["text"] as? String == "red")
    let names = [conflict.databaseObject, double].map {
      $0?.objectID.uriRepresentation().lastPathComponent ?? ""
    }
    #expect(
      conflict.description == """
        Tag has to be unique by text; these have text "red":
          Tag \(names[0]) in the store
          Tag \(names[1])
        """)
    #expect(other.insertedObjects == [double, blue] && double.objectID.isTemporaryID)
    double.text = "green"
    try other.save()
    #expect(try stack.otherContext().count(for: request(Tag.self)) == 3)
  }

  @Test func `two new objects with the same unique value conflict with each other`() throws {
    let (a, b) = (tag("red"), tag("red"))
    let failure = #expect(throws: NSError.self) { try stack.context.save() }
    let error = try #require(failure)
    let conflict = try #require((error.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
    #expect(error.code == 133_021)
    #expect(conflict.databaseObject == nil)
    #expect(Set(conflict.conflictingObjects) == [a, b])
  }

  @Test func `two contexts may change different objects, and one object one after the other`() throws {
    let (ada, bob) = (stack.person("Ada"), stack.person("Bob"))
    try stack.context.save()
    let other = stack.otherContext()
    try other.fetch(request(Person.self, .compare("name", .equal, "Bob"))).first?.age = 2
    try other.save()
    ada.age = 1
    try stack.context.save()
    ada.age = 5
    try stack.context.save()
    stack.context.refresh(bob, mergeChanges: false)
    bob.age += 1
    try stack.context.save()
    #expect(try stack.otherContext().fetch(request(Person.self, sort: ["name"])).map(\.age) == [5, 3])
  }
}
