// Coordinators, containers and stores.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct CoordinatorTests {
  private func coordinator() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
  }

  @Test func `a coordinator opens a store without a container`() throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(coordinator.persistentStores == [store])
    #expect(store.type == "InMemory" && store.persistentStoreCoordinator === coordinator)
    #expect(UUID(uuidString: store.identifier) != nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let tag = Tag(context: context)
    tag.text = "red"
    try context.save()
    #expect(tag.objectID.persistentStore === store)
  }

  @Test func `the newer spelling opens a store too`() throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(
      type: .inMemory, at: try #require(URL(string: "file:///dev/null")))
    #expect(store.type == NSInMemoryStoreType && store.url?.path == "/dev/null")
  }

  @Test(arguments: [NSSQLiteStoreType, "Nonsense", ""])
  func `an unknown type throws 134000 and names the types there are`(type: String) throws {
    let coordinator = coordinator()
    let failure = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: nil)
    }
    let error = try #require(failure)
    #expect(error.domain == NSCocoaErrorDomain && error.code == 134_000)
    #expect(error.localizedDescription.contains("\"InMemory\""))
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `an unknown configuration is refused`() throws {
    let coordinator = coordinator()
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Cloud", at: nil)
    }
    #expect(error?.code == 134_080 && coordinator.persistentStores.isEmpty)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: PF_DEFAULT_CONFIGURATION_NAME, at: nil)
    #expect(coordinator.persistentStores.first?.configurationName == PF_DEFAULT_CONFIGURATION_NAME)
  }

  @Test func `the error for SQLite names the line that puts another store in its place`() {
    let error = #expect(throws: NSError.self) {
      try coordinator().addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/nowhere/a.sqlite"))
    }
    let text = error?.localizedDescription ?? ""
    // One that lasts, as SQLite's would.
    #expect(text.contains("registerStoreClass(CairnLogStore.self, forStoreType: NSSQLiteStoreType)"))
    #expect(text.contains("type may be set to CairnLogStoreType"))
  }

  @Test func `a removed store is closed, and what was read stays readable`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    try stack.context.save()
    let coordinator = stack.container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.remove(store)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(ada.name == "Ada")
    #expect(throws: NSError.self) { try stack.context.fetch(request(Person.self)) }
    #expect(throws: StoreError(.storeClosed, "")) { _ = try store.store.snapshot() }
    #expect(throws: NSError.self) { try coordinator.remove(store) }
  }

  @Test func `metadata has Core Data's keys and the user's entries`() throws {
    let stack = try Stack()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.metadata[NSStoreTypeKey] as? String == "InMemory")
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    store.metadata = ["mine": "text", "count": 3]
    #expect(store.metadata["mine"] as? String == "text" && store.metadata["count"] as? Int == 3)
    #expect(store.metadata[NSStoreTypeKey] as? String == "InMemory")
  }
}
