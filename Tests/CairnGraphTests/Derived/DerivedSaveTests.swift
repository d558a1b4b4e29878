// How derived values and the rest of a save go together: conflicts, history, threads, other stores, what it
// costs.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

@Suite struct DerivedSaveTests {
  // MARK: Conflicts

  @Test(arguments: StoreUnderTest.allCases)
  func `a derived value that another save has changed is no conflict`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let shelves = ["A", "B", "C"].map { stack.make("Shelf", ["label": $0]) }
    let book = stack.make("Book", ["price": 1])
    try stack.save()
    let other = stack.otherContext()
    let seen = try shelves.map { try other.existingObject(with: $0.objectID) }
    #expect(seen.map { $0.value(forKey: "count") as? Int } == [0, 0, 0])
    for shelf in shelves { stack.make("Book", ["shelf": shelf]) }
    try stack.save()
    seen[0].setValue("a", forKey: "label")
    other.delete(seen[1])
    other.detectConflicts(for: seen[2])
    try other.save()
    #expect(try stack.text(shelves[0], "label") == "a" && stack.number(shelves[0], "count") == 1)
    #expect(try stack.otherContext().count(for: NSFetchRequest<NSManagedObject>(entityName: "Shelf")) == 2)
    // Nor is it one together with a place in a list.
    let author = stack.make("Author", ["name": "A"])
    let pair = (0..<2).map { _ in stack.make("Book", ["author": author, "shelf": shelves[0]]) }
    try stack.save()
    let first = try other.existingObject(with: pair[0].objectID)
    _ = first.value(forKey: "title")
    author.setValue("B", forKey: "name")
    shelves[0].mutableOrderedSetValue(forKey: "works").exchangeObject(at: 1, withObjectAt: 2)
    try stack.save()
    first.setValue("t", forKey: "title")
    try other.save()
    #expect(try stack.text(pair[0], "title") == "t" && stack.text(pair[0], "authorName") == "B")
    // Nor is one of the context's own.
    shelves[2].setValue("c", forKey: "label")
    book.setValue(shelves[2], forKey: "shelf")
    try stack.save()
    shelves[2].setValue("d", forKey: "label")
    try stack.save()
    #expect(try stack.number(shelves[2], "count") == 2 && stack.text(shelves[2], "label") == "d")
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a change of a row's own values is a conflict still`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let shelf = stack.make("Shelf", ["label": "A"])
    try stack.save()
    let other = stack.otherContext()
    let seen = try other.existingObject(with: shelf.objectID)
    _ = seen.value(forKey: "label")
    stack.make("Book", ["shelf": shelf])
    shelf.setValue("B", forKey: "label")
    try stack.save()
    seen.setValue("C", forKey: "label")
    let error = #expect(throws: NSError.self) { try other.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    other.rollback()
    other.refresh(seen, mergeChanges: false)
    _ = seen.value(forKey: "label")
    shelf.setValue("D", forKey: "label")
    try stack.save()
    other.delete(seen)
    #expect(throws: NSError.self) { try other.save() }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a save that a merge policy tries again computes from what is stored then`(kind: StoreUnderTest) throws
  {
    let stack = try DerivedStack(kind)
    let author = stack.make("Author", ["name": "A"])
    let books = [1.0, 2].map { stack.make("Book", ["price": $0, "author": author]) }
    try stack.save()
    let other = stack.otherContext()
    other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let seen = try books.map { try other.existingObject(with: $0.objectID) }
    for book in seen { _ = book.value(forKey: "price") }
    books[0].setValue(10, forKey: "price")
    books[1].setValue("t", forKey: "title")
    try stack.save()
    seen[0].setValue("u", forKey: "title")
    seen[1].setValue(20, forKey: "price")
    try other.save()
    #expect(try stack.number(author, "priceSum") == 30)
    try stack.expectRight()
    // The store's values win, and what was computed from the others is gone.
    let third = stack.otherContext()
    third.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    let stale = try third.existingObject(with: books[0].objectID)
    _ = stale.value(forKey: "price")
    stack.context.refreshAllObjects()
    books[0].setValue(100, forKey: "price")
    try stack.save()
    stale.setValue(1, forKey: "price")
    try third.save()
    #expect(try stack.number(author, "priceSum") == 120)
    try stack.expectRight()
  }

  @Test func `a derived attribute can be unique, and the policy decides`() throws {
    let key = NSEntityDescription("Word", unique: [["key"]]) {
      NSAttributeDescription("text", .string)
      NSDerivedAttributeDescription("key", .string, from: "canonical:(text)")
    }
    let stack = try DerivedStack(.memory, DerivedModel.make(extra: key))
    stack.make("Word", ["text": "Café"])
    try stack.save()
    stack.make("Word", ["text": "CAFE"])
    let error = #expect(throws: NSError.self) { try stack.save() }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `contexts on many threads that add to one shelf leave the right count`(kind: StoreUnderTest)
    async throws
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
    try kind.add(to: coordinator)
    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let first = context()
    let shelf = try await first.perform {
      let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: first)
      shelf.setValue("S", forKey: "label")
      try first.save()
      return shelf.objectID
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        let writer = context()
        group.addTask {
          for _ in 0..<25 {
            try await writer.perform {
              let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: writer)
              book.setValue(writer.object(with: shelf), forKey: "shelf")
              book.setValue(1, forKey: "price")
              try writer.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = context()
    try await last.perform {
      let found = try last.existingObject(with: shelf)
      #expect(found.value(forKey: "count") as? Int == 100)
      #expect(try DerivedModel.mistakes(in: last) == [])
    }
  }

  // MARK: History

  @Test(arguments: StoreUnderTest.allCases)
  func `history names a derived attribute where it has changed, and nowhere else`(kind: StoreUnderTest) throws
  {
    let stack = try DerivedStack(kind)
    let shelf = stack.make("Shelf", ["label": "A"])
    let book = stack.make("Book", ["title": "t", "price": 0, "shelf": shelf])
    try stack.save()
    func updated(_ change: () -> Void) throws -> [[String]] {
      let before = try stack.store.store.snapshot().generation
      change()
      try stack.save()
      let commits = try stack.store.store.history(after: before)
      return commits.flatMap { $0.updated.map { $0.properties.sorted() } }.sorted { $0[0] < $1[0] }
    }
    #expect(try updated { book.setValue(nil, forKey: "price") } == [["price", "saved"]])
    #expect(try updated { book.setValue(2, forKey: "price") } == [["price", "saved"], ["total"]])
    #expect(try updated { shelf.setValue("B", forKey: "label") } == [["label"], ["shelfLabel"]])
    #expect(try updated { shelf.setValue(5, forKey: "count") } == [])
  }

  // MARK: Models and stores

  @Test func `a derived attribute isn't validated`() throws {
    let entity = NSEntityDescription("Word") {
      NSAttributeDescription("text", .string)
      NSDerivedAttributeDescription("key", .string, from: "text")
      NSDerivedAttributeDescription("at", .date, from: "now()")
    }
    for attribute in entity.attributesByName.values { attribute.isOptional = attribute.name == "text" }
    let stack = try DerivedStack(.memory, DerivedModel.make(extra: entity))
    let word = stack.make("Word")
    try stack.save()
    #expect(try stack.stored(word, "at") as? Date != nil)
  }

  @Test func `a derivation that leads back to itself, or to what isn't stored, is a fault`() throws {
    let model = NSManagedObjectModel {
      NSEntityDescription("Node") {
        NSAttributeDescription("passing", .double, transient: true)
        NSRelationshipDescription("parent", to: "Node")
        NSRelationshipDescription("children", toMany: "Node", inverse: "parent")
        NSDerivedAttributeDescription("a", .double, from: "parent.b")
        NSDerivedAttributeDescription("b", .double, from: "a")
        NSDerivedAttributeDescription("depth", .integer64, from: "children.@sum.depth")
        NSDerivedAttributeDescription("sum", .double, from: "children.@sum.passing")
        NSDerivedAttributeDescription("fine", .double, from: "children.@sum.c")
        NSDerivedAttributeDescription("c", .integer64, from: "children.@count")
      }
    }
    let error = try #require(throws: SchemaError.self) { try model.validate() }
    let itself = error.faults.filter { $0.message.contains("computed from the attribute itself") }
    #expect(itself.compactMap(\.property).sorted() == ["a", "b", "depth"])
    #expect(error.faults.filter { $0.message.contains("isn't stored") }.map(\.property) == ["sum"])
    #expect(!error.faults.contains { $0.property == "fine" })
  }

  @Test func `a custom store of objects can't keep derived attributes (2.7.3): 134020`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: "DerivedDictionary")
    NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "DerivedCSV")
    for type in ["DerivedDictionary", "DerivedCSV"] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(
          ofType: type, configurationName: nil, at: TestFiles.unusedURL(extension: "custom"))
      }
      #expect(error?.code == NSPersistentStoreIncompatibleSchemaError, "\(type)")
      #expect(coordinator.persistentStores.isEmpty)
    }
  }

  @Test func `stores of other configurations derive from what they have`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
    for name in ["Shelves", "Books"] {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: name,
        at: URL(fileURLWithPath: "/dev/null/\(name)-\(UUID().uuidString)"))
    }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    func make(_ entity: String, in place: Int) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      context.assign(object, to: coordinator.persistentStores[place])
      return object
    }
    let (alone, full) = (make("Shelf", in: 0), make("Shelf", in: 1))
    make("Book", in: 1).setValue(full, forKey: "shelf")
    try context.save()
    make("Magazine", in: 1).setValue(full, forKey: "shelf")
    alone.setValue("S", forKey: "label")
    try context.save()
    context.refreshAllObjects()
    #expect(alone.value(forKey: "count") as? Int == 0 && full.value(forKey: "count") as? Int == 2)
  }

  @Test func `a count begins anew where none is stored, or the greatest that the type holds`() throws {
    let stack = try DerivedStack()
    let store = stack.store.store
    let entity = try store.schema.requireEntity(named: "Shelf").id
    _ = try store.reserveKeys(2, root: entity)
    var changes = ChangeSet()
    try changes.insert(RowKey(entity: entity, id: 1), ["label": "S"], in: store.schema)
    try changes.insert(
      RowKey(entity: entity, id: 2), ["label": "T", "count": .int(32_767)], in: store.schema)
    _ = try store.commit(changes)
    let shelves = try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
    #expect(shelves.count == 2)
    for shelf in shelves { stack.make("Book", ["shelf": shelf, "price": 3]) }
    try stack.save()
    #expect(try shelves.map { try stack.number($0, "count") } == [1, 1])
    #expect(try shelves.map { try stack.number($0, "total") } == [3, 3])
  }
}
