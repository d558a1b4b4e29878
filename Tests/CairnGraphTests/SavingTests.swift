// Inserting, saving and the identity of objects.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct SavingTests {
  @Test func `a save in one context is seen by a fetch in another`() throws {
    let stack = try Stack()
    stack.person("Ada", age: 36)
    let other = stack.otherContext()
    #expect(try other.count(for: request(Person.self)) == 0)
    try stack.context.save()
    let found = try other.fetch(request(Person.self))
    #expect(found.map(\.name) == ["Ada"])
    #expect(found.map(\.age) == [36])
  }

  @Test func `a new object starts with the model's default values`() throws {
    let stack = try Stack()
    let person = Person(context: stack.context)
    #expect(person.age == 18)
    #expect(person.name == nil)
    #expect(person.mood == "calm")
    #expect(person.isInserted && person.hasChanges && !person.isUpdated && !person.isFault)
    #expect(stack.context.insertedObjects == [person])
  }

  @Test func `a save gives permanent IDs, and nothing is unsaved after it`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    let temporary = person.objectID
    #expect(temporary.isTemporaryID)
    try stack.context.save()
    #expect(!person.objectID.isTemporaryID)
    #expect(person.objectID != temporary)
    #expect(!stack.context.hasChanges && !person.hasChanges && !person.isInserted)
    #expect(person.name == "Ada")
    #expect(stack.context.registeredObject(for: person.objectID) === person)
    #expect(stack.context.registeredObject(for: temporary) == nil)
  }

  @Test func `a saved object has no flags, so that its properties are read the quick way`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    try stack.context.save()
    #expect(person.flags == [])
    person.age = 3
    try stack.context.save()
    #expect(person.flags == [])
    let fetched = try #require(try stack.otherContext().fetch(request(Person.self)).first)
    _ = fetched.name
    #expect(fetched.flags == [])
  }

  @Test func `defaults and values keep to their rows, whichever order objects are set in`() throws {
    let stack = try Stack()
    let people = (0..<5).map { _ in Person(context: stack.context) }
    people[3].age = 33
    people[1].age = 11
    people[1].name = "one"
    people[4].name = "four"
    #expect(people.map(\.age) == [18, 11, 18, 33, 18])
    try stack.context.save()
    #expect(people.map(\.age) == [18, 11, 18, 33, 18])
    #expect(people.map(\.name) == [nil, "one", nil, nil, "four"])
  }

  @Test func `IDs have Core Data's URI form and can be found again by it`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    let temporary = person.objectID.uriRepresentation().absoluteString
    #expect(temporary.hasPrefix("x-coredata:///Person/t"))
    try stack.context.save()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first)
    let uri = person.objectID.uriRepresentation()
    #expect(uri.absoluteString == "x-coredata://\(store.identifier!)/Person/p1")
    let coordinator = stack.container.persistentStoreCoordinator
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == person.objectID)
    for wrong in [
      "x-coredata://\(UUID().uuidString)/Person/p1", "x-coredata://\(store.identifier!)/No/p1", temporary,
    ] {
      let uri = try #require(URL(string: wrong))
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
    }
  }

  @Test func `equal IDs of two contexts are equal and hash alike`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    try stack.context.save()
    let other = try #require(try stack.otherContext().fetch(request(Person.self)).first)
    #expect(other !== person)
    #expect(other.objectID == person.objectID)
    #expect(Set([other.objectID, person.objectID]).count == 1)
  }

  @Test func `the same row is the same instance within a context`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    try stack.context.save()
    #expect(try stack.context.fetch(request(Person.self)).first === person)
    #expect(try stack.context.existingObject(with: person.objectID) === person)
    #expect(stack.context.object(with: person.objectID) === person)
  }

  @Test func `a fetched object is a fault until a property is read`() throws {
    let stack = try Stack()
    stack.person("Ada")
    try stack.context.save()
    let person = try #require(try stack.otherContext().fetch(request(Person.self)).first)
    #expect(person.isFault)
    _ = person.objectID
    #expect(person.isFault)
    _ = person.name
    #expect(!person.isFault)
  }

  @Test func `objects drop out of registeredObjects when nobody refers to them`() throws {
    let stack = try Stack()
    for i in 0..<3_000 { stack.person("\(i)") }
    try stack.context.save()
    let kept = try #require(
      try stack.context.fetch(request(Person.self, .compare("name", .equal, "7"))).first)
    #expect(stack.context.registeredObjects == [kept])
  }

  @Test func `an import that saves each object alone lets go of those that nobody refers to`() throws {
    struct WeakPerson { weak var person: Person? }
    let stack = try Stack()
    var early: [WeakPerson] = []
    for i in 0..<1_500 {
      let person = stack.person("\(i)")
      if i < 100 { early.append(WeakPerson(person: person)) }
      try stack.context.save()
    }
    #expect(early.allSatisfy { $0.person == nil })
    #expect(try stack.context.count(for: request(Person.self)) == 1_500)
  }

  @Test func `a changed object stays registered until it is saved`() throws {
    let stack = try Stack()
    stack.person("Ada")
    try stack.context.save()
    try stack.context.fetch(request(Person.self)).first?.age = 40
    #expect(stack.context.registeredObjects.count == 1)
    #expect(stack.context.updatedObjects.count == 1)
    try stack.context.save()
    #expect(stack.context.registeredObjects.isEmpty)
    #expect(try stack.context.fetch(request(Person.self)).first?.age == 40)
  }

  @Test func `existingObject throws 133000 for a row that isn't there`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    #expect(try stack.context.existingObject(with: person.objectID) === person)
    try stack.context.save()
    let text = person.objectID.uriRepresentation().absoluteString.replacingOccurrences(
      of: "/p1", with: "/p99")
    let uri = try #require(URL(string: text))
    let coordinator = stack.container.persistentStoreCoordinator
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    let error = #expect(throws: NSError.self) { try stack.context.existingObject(with: id) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 133_000)
    #expect(error?.userInfo["objectID"] as? NSManagedObjectID == id)
    let fault = try #require(stack.context.object(with: id) as? Person)
    #expect(fault.isFault)
    #expect(fault.name == nil && fault.age == 0 && fault.company == nil && fault.staffless)
  }

  @Test func `didSave tells what was inserted and what was updated`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    try stack.context.save()
    ada.age = 40
    let bob = stack.person("Bob")
    // The notification comes on the thread that saves, which is this one.
    nonisolated(unsafe) var told: [AnyHashable: Any] = [:]
    nonisolated(unsafe) var contextWasClean = false
    let context = stack.context
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { note in
      told = note.userInfo ?? [:]
      contextWasClean = !context.hasChanges
    }
    try stack.context.save()
    NotificationCenter.default.removeObserver(token)
    #expect(told[NSInsertedObjectsKey] as? Set<NSManagedObject> == [bob])
    #expect(told[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ada])
    #expect(contextWasClean)
  }

  @Test func `history has the context's author and name`() throws {
    let stack = try Stack()
    stack.context.transactionAuthor = "me"
    stack.context.name = "import"
    stack.person("Ada")
    try stack.context.save()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first?.store)
    let commit = try #require(try store.history(after: Generation(0)).last)
    #expect(commit.author == "me" && commit.contextName == "import" && commit.inserted.count == 1)
  }

  @Test func `setting an equal value marks the object as updated and writes nothing`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    try stack.context.save()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first?.store)
    let before = try store.snapshot().generation
    ada.name = "Ada"
    #expect(ada.isUpdated && stack.context.hasChanges)
    try stack.context.save()
    #expect(!ada.isUpdated)
    #expect(try store.snapshot().generation == before)
  }

  @Test func `an object made without a context joins one by insert, with its values`() throws {
    let stack = try Stack()
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Tag", in: stack.context))
    let tag = Tag(entity: entity, insertInto: nil)
    tag.text = "red"
    #expect(tag.managedObjectContext == nil && !tag.isInserted)
    stack.context.insert(tag)
    #expect(tag.managedObjectContext === stack.context && tag.isInserted && tag.text == "red")
    try stack.context.save()
    #expect(try stack.otherContext().fetch(request(Tag.self)).map(\.text) == ["red"])
  }

  @Test func `objects are made by entity name, and have the entity's class`() throws {
    let stack = try Stack()
    let object = NSEntityDescription.insertNewObject(forEntityName: "Manager", into: stack.context)
    #expect(object is Manager)
    #expect((object as? Manager)?.level == 1)
    try stack.context.save()
    let found = try stack.otherContext().fetch(request(Person.self))
    #expect(found.count == 1 && found.first is Manager)
    #expect(try stack.otherContext().fetch(request(Manager.self)).map(\.level) == [1])
    let people = request(Person.self)
    people.includesSubentities = false
    #expect(try stack.otherContext().count(for: people) == 0)
  }
}

extension Person {
  /// Whether the to-many relationships are empty.
  var staffless: Bool { friends.isEmpty && tags.isEmpty }
}
