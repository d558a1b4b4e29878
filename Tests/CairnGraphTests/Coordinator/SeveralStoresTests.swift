// Coordinators with several stores: configurations, finding, notifications, moving.

import Cairn
import Testing

@testable import CairnGraph

/// The notifications of one coordinator and its stores, in order.
final class StoreNotes: @unchecked Sendable {
  // Sendable: written by the observers, which run on the posting thread, that is the test's.
  private(set) var all: [Notification] = []
  private var tokens: [any NSObjectProtocol] = []

  init(_ objects: [AnyObject]) {
    let names: [Notification.Name] = [
      .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
      .NSPersistentStoreCoordinatorWillRemoveStore,
    ]
    for name in names {
      for object in objects {
        tokens.append(
          NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
            [weak self] note in
            self?.all.append(note)
          })
      }
    }
  }

  deinit { tokens.forEach(NotificationCenter.default.removeObserver) }

  /// Each name without its common beginning, with the key of its user info.
  var summary: [String] {
    all.map { note in
      let name = note.name.rawValue.replacingOccurrences(of: "NSPersistentStoreCoordinator", with: "")
      let keys = (note.userInfo ?? [:]).keys.compactMap { $0 as? String }.sorted()
      return ([name] + keys).joined(separator: " ")
    }
  }
}

@Suite struct SeveralStoresTests {
  private func coordinator(_ model: NSManagedObjectModel = TestModel.make()) -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: model)
  }

  private func memory(_ name: String) -> URL {
    URL(fileURLWithPath: "/dev/null/\(name)-\(UUID().uuidString)")
  }

  @discardableResult
  private func add(
    _ coordinator: NSPersistentStoreCoordinator, _ configuration: String? = nil, at url: URL? = nil
  ) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: configuration, at: url)
  }

  @Test func `each store serves the entities of its configuration, in the order of adding`() throws {
    let model = TestModel.make()
    let entities = model.entitiesByName
    model.setEntities([entities["Tag"]!], forConfigurationName: "Tags")
    model.setEntities([entities["Person"]!, entities["Company"]!], forConfigurationName: "People")
    let coordinator = coordinator(model)
    let tags = try add(coordinator, "Tags")
    let people = try add(coordinator, "People")
    let all = try add(coordinator)
    func stores(_ name: String) throws -> [NSPersistentStore] {
      coordinator.stores(for: try model.compiled().schema.requireEntity(named: name).id)
    }
    #expect(try stores("Tag") == [tags, all])
    #expect(try stores("Person") == [people, all])
    #expect(try stores("Manager") == [people, all], "subentities follow their superentity")
    #expect(tags.configurationName == "Tags" && all.configurationName == PF_DEFAULT_CONFIGURATION_NAME)
    let generation = coordinator.storesGeneration
    try coordinator.remove(tags)
    #expect(try stores("Tag") == [all])
    #expect(coordinator.storesGeneration > generation)
  }

  @Test func `one URL is opened once, and unnamed stores in memory as often as asked`() throws {
    let coordinator = coordinator()
    let url = memory("once")
    let store = try add(coordinator, at: url)
    let error = #expect(throws: NSError.self) { try add(coordinator, at: url) }
    #expect(error?.code == 134_080)
    #expect(coordinator.persistentStore(for: url) === store && coordinator.url(for: store) == url)
    try add(coordinator, at: URL(fileURLWithPath: "/dev/null"))
    try add(coordinator, at: URL(fileURLWithPath: "/dev/null"))
    #expect(coordinator.persistentStores.count == 3)
    let unnamed = try add(coordinator)
    #expect(coordinator.url(for: unnamed).scheme == "memory")
  }

  @Test(
    "at /dev/null every type of file is a store in memory with everything",
    arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
  func nullDevice(type: String) throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
      options: [NSPersistentHistoryTrackingKey: true as NSNumber])
    #expect(store.type == type && store.metadata[NSStoreTypeKey] as? String == type)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    for _ in 0..<2 { Tag(context: context).text = "twice" }
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
    try coordinator.remove(store)
  }

  @Test func `a named store in memory is shared by the coordinators that hold it, and gone after them`()
    throws
  {
    let url = memory("shared")
    do {
      let (first, second) = (coordinator(), coordinator())
      let (a, b) = (try add(first, at: url), try add(second, at: url))
      #expect(a.identifier == b.identifier)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = first
      Tag(context: context).text = "red"
      try context.save()
      try first.remove(a)
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = second
      #expect(try other.fetch(request(Tag.self)).map(\.text) == ["red"])
      let error = #expect(throws: NSError.self) {
        try add(coordinator(TestModel.makeSample()), at: url)
      }
      #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
    }
    let fresh = coordinator()
    try add(fresh, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = fresh
    #expect(try context.count(for: request(Tag.self)) == 0)
  }

  @Test func `adding and removing are told before and after`() throws {
    let coordinator = coordinator()
    let notes = StoreNotes([coordinator])
    let store = try add(coordinator)
    let removals = StoreNotes([store])
    try coordinator.remove(store)
    #expect(
      notes.summary == [
        "StoresWillChange added", "StoresDidChange added", "StoresWillChange removed",
        "StoresDidChange removed",
      ])
    #expect(removals.summary == ["WillRemoveStore"])
    for note in notes.all {
      let stores = note.userInfo?.values.first as? [NSPersistentStore]
      #expect(stores == [store])
    }
  }

  @Test func `moving a store keeps values, relationships and order, and tells what became of each ID`() throws
  {
    let coordinator = coordinator()
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let old = try add(coordinator)
    old.metadata = ["mine": "kept"]
    let company = Company(context: context)
    company.name = "Ada & Co"
    let people = ["Eve", "Ada", "Bob"].map { name in
      let person = Person(context: context)
      (person.name, person.company) = (name, company)
      return person
    }
    let boss = Manager(context: context)
    (boss.name, boss.level, boss.partner) = ("Max", 7, people[0])
    company.board = [people[2], boss, people[0]]
    people[0].friends = [people[1], people[2]]
    let tag = Tag(context: context)
    tag.text = "red"
    people[1].tags = [tag]
    try context.save()
    let oldIDs = (people + [boss, company, tag] as [NSManagedObject]).map(\.objectID)

    let url = memory("moved")
    let notes = StoreNotes([coordinator, old])
    let new = try coordinator.migratePersistentStore(old, to: url, type: .sqlite)
    #expect(coordinator.persistentStores == [new] && new.type == "SQLite" && new.url == url)
    #expect(new.identifier != old.identifier && new.metadata["mine"] as? String == "kept")
    #expect(
      notes.summary == [
        "StoresDidChange added", "WillRemoveStore", "StoresDidChange changedUUID", "WillRemoveStore",
        "StoresDidChange removed",
      ])
    let change = try #require(notes.all[2].userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any])
    #expect(change[0] as? NSPersistentStore === old && change[1] as? NSPersistentStore === new)
    let pairs = try #require(change[2] as? [NSManagedObjectID])
    #expect(Set(stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] }) == Set(oldIDs))

    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    let moved = try #require(try other.fetch(request(Company.self)).first)
    #expect(moved.name == "Ada & Co" && moved.staff.count == 3)
    #expect(moved.board.map(\.name) == ["Bob", "Max", "Eve"])
    let eve = try #require(moved.staff.first { $0.name == "Eve" })
    #expect(Set(eve.friends.map(\.name)) == ["Ada", "Bob"] && (eve.partner as? Manager)?.level == 7)
    #expect(moved.staff.first { $0.name == "Ada" }?.tags.first?.text == "red")
    let index = try #require(pairs.firstIndex(of: people[0].objectID))
    #expect(pairs[index + 1] == eve.objectID)
  }

  @Test func `more rows than fit a batch are moved`() throws {
    let coordinator = coordinator()
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let old = try add(coordinator)
    var last: Person?
    for number in 0..<9_000 {
      let person = Person(context: context)
      person.age = Int32(number)
      if let last { person.partner = last }
      last = number % 2 == 0 ? person : nil
    }
    try context.save()
    try coordinator.migratePersistentStore(old, to: memory("large"), type: .inMemory)
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    let people = try other.fetch(request(Person.self, sort: ["age"]))
    #expect(people.map(\.age) == (0..<9_000).map(Int32.init))
    #expect(people[8_999].partner === people[8_998])
  }

  @Test func `a move that fails leaves the old store in its place`() throws {
    let coordinator = coordinator()
    let old = try add(coordinator)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    Tag(context: context).text = "red"
    try context.save()
    NSPersistentStoreCoordinator.register(
      StoreFactory(type: "FailingTarget") {
        let store = FailingStore(schema: $0.schema)
        store.failsCommits = true
        return store
      })
    let error = #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(old, to: memory("failing"), withType: "FailingTarget")
    }
    #expect(error?.code == NSMigrationError)
    #expect(coordinator.persistentStores == [old])
    #expect(try context.count(for: request(Tag.self)) == 1)
    #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(old, to: memory("x"), withType: "no such type")
    }
  }

  @Test func `a type can be given another store in one line, and be taken back`() throws {
    let type = "Mine-\(UUID().uuidString)"
    NSPersistentStoreCoordinator.registerStoreClass(NSInMemoryStore.self, forStoreType: type)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes.keys.contains(type))
    var address: UInt64 = 0
    NSPersistentStoreCoordinator.registeredStoreTypes[type]?.getValue(&address)
    #expect(
      UnsafeRawPointer(bitPattern: UInt(address))
        == unsafeBitCast(NSInMemoryStore.self, to: UnsafeRawPointer?.self))
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/somewhere/a.sqlite"))
    #expect(store is NSInMemoryStore && store.type == type)
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: type)
    #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: nil)
    }
  }

  @Test func `IDs are found by URL and by text`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    try stack.context.save()
    let coordinator = stack.container.persistentStoreCoordinator
    let uri = ada.objectID.uriRepresentation()
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == ada.objectID)
    #expect(coordinator.managedObjectID(for: uri.absoluteString) == ada.objectID)
    #expect(coordinator.managedObjectID(for: "x-coredata://nonsense") == nil)
  }

  @Test func `what isn't in a file has no metadata there, and can't be replaced`() throws {
    let url = URL(fileURLWithPath: "/nowhere/at-all")
    let memory = #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSInMemoryStoreType, at: url)
    }
    #expect(memory?.code == NSPersistentStoreOperationError)
    let missing = #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(with: url) as [AnyHashable: Any]
    }
    #expect(missing?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
    let coordinator = coordinator()
    let replaced = #expect(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: url, withPersistentStoreFrom: URL(fileURLWithPath: "/nowhere/else"), type: .inMemory)
    }
    #expect(replaced?.code == NSPersistentStoreOperationError)
    try coordinator.destroyPersistentStore(at: url, type: .inMemory)
  }

  @Test func `a coordinator runs work on its queue, and counts locks`() async throws {
    let coordinator = coordinator()
    coordinator.name = "mine"
    #expect(coordinator.name == "mine")
    let nested = coordinator.performAndWait { coordinator.performAndWait { 3 } }
    #expect(nested == 3)
    #expect(await coordinator.perform { 4 } == 4)
    await #expect(throws: CocoaError.self) {
      try await coordinator.perform { throw CocoaError(.fileNoSuchFile) }
    }
    let five = coordinator.withLock { coordinator.withLock { 5 } }
    #expect(five == 5)
  }

  @Test func `a coordinator runs fetches and saves for a context`() throws {
    let stack = try Stack()
    stack.person("Ada")
    let coordinator = stack.container.persistentStoreCoordinator
    let saved = try coordinator.execute(NSSaveChangesRequest(), with: stack.context)
    #expect((saved as? [Any])?.isEmpty == true && !stack.context.hasChanges)
    let found = try coordinator.execute(request(Person.self), with: stack.context)
    #expect((found as? [Person])?.map(\.name) == ["Ada"])
    let unknown = #expect(throws: NSError.self) {
      try coordinator.execute(NSPersistentStoreRequest(), with: stack.context)
    }
    #expect(unknown?.code == NSPersistentStoreUnsupportedRequestTypeError)
  }

  @Test func `a read-only store refuses a save and leaves the changes`() throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
      options: [NSReadOnlyPersistentStoreOption: true])
    #expect(store.isReadOnly)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    Tag(context: context).text = "red"
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
    #expect(context.hasChanges)
  }

  @Test func `dictionaries of several stores come in order, as the stores have them`() throws {
    let coordinator = coordinator()
    let stores = try (0..<2).map { _ in try add(coordinator) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let people = ["Cleo", "Ada", "Dan", "Bob"].enumerated().map { index, name in
      let person = Person(context: context)
      person.name = name
      context.assign(person, to: stores[index % 2])
      return person
    }
    try context.save()
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    (try other.existingObject(with: people[0].objectID) as? Person)?.name = "Zoe"
    try other.save()
    #expect(people[0].name == "Cleo")
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchOffset = 1
    #expect(try context.fetch(request).map { $0["name"] as? String } == ["Bob", "Dan", "Zoe"])
  }

  @Test func `a permanent ID of one store is given back when the object is assigned to another`() throws {
    let coordinator = coordinator()
    let stores = try (0..<2).map { _ in try add(coordinator) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let person = Person(context: context)
    try context.obtainPermanentIDs(for: [person])
    let first = person.objectID
    context.assign(person, to: stores[1])
    #expect(person.objectID.isTemporaryID && context.registeredObject(for: first) == nil)
    try context.save()
    #expect(person.objectID.persistentStore === stores[1])
  }
}
