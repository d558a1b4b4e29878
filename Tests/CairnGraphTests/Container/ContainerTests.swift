// Containers and what they are told about stores.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ContainerTests {
  private func container() -> NSPersistentContainer {
    NSPersistentContainer(name: "Test", managedObjectModel: TestModel.make())
  }

  /// One whose stores are in a directory that isn't there yet.
  private final class Elsewhere: NSPersistentContainer, @unchecked Sendable {
    @TaskLocal static var directory = URL(fileURLWithPath: "/elsewhere", isDirectory: true)

    override class func defaultDirectoryURL() -> URL { directory }
  }

  private func elsewhere(_ directory: URL = TestFiles.unusedURL(extension: "d")) -> NSPersistentContainer {
    Elsewhere.$directory.withValue(directory) {
      Elsewhere(name: "Test", managedObjectModel: TestModel.make())
    }
  }

  private func load(_ container: NSPersistentContainer) -> [(type: String, failure: NSError?)] {
    var reports: [(type: String, failure: NSError?)] = []
    container.loadPersistentStores { reports.append(($0.type, $1 as NSError?)) }
    return reports
  }

  @Test func `a container keeps one store as a log unless told otherwise, and loads it once`() throws {
    let container = elsewhere()
    let reports = load(container)
    #expect(reports.map(\.type) == [CairnLogStoreType] && reports.allSatisfy { $0.failure == nil })
    let again = load(container)
    #expect(again.map(\.type) == [CairnLogStoreType] && again.allSatisfy { $0.failure == nil })
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    #expect(container.viewContext.name == "viewContext")
    #expect(!container.viewContext.automaticallyMergesChangesFromParent)
  }

  @Test func `what a container has saved is there for the next one of that name`() throws {
    let directory = TestFiles.unusedURL(extension: "d")
    let first = elsewhere(directory)
    #expect(load(first).allSatisfy { $0.failure == nil })
    let context = first.newBackgroundContext()
    try context.performAndWait {
      let person = Person(context: context)
      (person.name, person.age) = ("Ada", 36)
      try context.save()
    }
    let locked = try #require(load(elsewhere(directory)).first?.failure)
    #expect(locked.code == NSPersistentStoreOpenError, "the first one writes still")
    #expect("\(locked)".contains("\(ProcessInfo.processInfo.processIdentifier)"))
    for store in first.persistentStoreCoordinator.persistentStores {
      try first.persistentStoreCoordinator.remove(store)
    }
    let second = elsewhere(directory)
    #expect(load(second).allSatisfy { $0.failure == nil })
    let reader = second.newBackgroundContext()
    let names = try reader.performAndWait {
      try reader.fetch(NSFetchRequest<Person>(entityName: "Person")).map(\.name)
    }
    #expect(names == ["Ada"])
  }

  @Test func `a container's own description has Core Data's defaults`() throws {
    let description = try #require(container().persistentStoreDescriptions.first)
    let directory = NSPersistentContainer.defaultDirectoryURL()
    #expect(description.url == directory.appendingPathComponent("Test.sqlite"))
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously && !description.isReadOnly)
    #expect(description.timeout == 240 && description.configuration == nil)
    #expect(description.sqlitePragmas.isEmpty)
    #expect(
      Set(description.options.keys) == [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
      ])
  }

  @Test func `an in-memory container is in memory whatever stands behind SQLite's type`() async throws {
    let store = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
      .persistentStoreCoordinator.persistentStores.first
    #expect(store?.type == NSInMemoryStoreType && store?.url?.path == "/dev/null")
    await #expect(processExitsWith: .success) {
      NSPersistentStoreCoordinator.register(
        StoreFactory(type: NSSQLiteStoreType) { _ in fatalError("the store in a file was opened") })
      let container = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
      try #require(container.persistentStoreCoordinator.persistentStores.first is NSInMemoryStore)
    }
  }

  @Test func `a container doesn't keep in memory what was meant for a file`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("notes.sqlite")
    let given = container()
    given.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    #expect(load(given).map(\.failure?.code) == [134_000])
    #expect(given.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test func `a container's own description keeps a log wherever its URL is set to`() throws {
    let url = TestFiles.unusedURL(extension: "sqlite")
    let moved = container()
    moved.persistentStoreDescriptions[0].url = url
    #expect(load(moved).map(\.type) == [CairnLogStoreType])
    #expect(moved.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
    #expect(FileManager.default.fileExists(atPath: url.appendingPathComponent("MANIFEST").path))

    // What is another program's stays as it is.
    let file = TestFiles.unusedURL(extension: "sqlite")
    let bytes = Data("SQLite format 3\0".utf8)
    try bytes.write(to: file)
    let refused = container()
    refused.persistentStoreDescriptions[0].url = file
    #expect(load(refused).first?.failure != nil)
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test func `descriptions without a URL and at dev null load in memory`() throws {
    for description in [
      NSPersistentStoreDescription(),
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null")),
    ] {
      #expect(description.type == NSSQLiteStoreType && description.url?.path == "/dev/null")
      let container = container()
      container.persistentStoreDescriptions = [description]
      #expect(load(container).map(\.failure) == [nil])
      #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }
  }

  @Test func `every description is loaded and reported, whatever becomes of the others`() throws {
    let container = container()
    let missing = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/nowhere/a"))
    missing.type = "no such type"
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(), missing, NSPersistentStoreDescription(),
    ]
    #expect(load(container).map(\.failure?.code) == [nil, 134_000, nil])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  @Test func `a store that is added asynchronously is reported on another thread`() async throws {
    let container = elsewhere()
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let failure = await withCheckedContinuation { continuation in
      container.loadPersistentStores { continuation.resume(returning: ($1 as NSError?)?.code) }
    }
    #expect(failure == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func `what a description says is in its options, and nil takes it out`() throws {
    let description = NSPersistentStoreDescription()
    description.isReadOnly = true
    description.timeout = 3
    description.setValue("delete" as NSString, forPragmaNamed: "journal_mode")
    description.setValue("1" as NSString, forPragmaNamed: "secure_delete")
    description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
    #expect(description.options[NSReadOnlyPersistentStoreOption] == NSNumber(value: true))
    #expect(description.options[NSPersistentStoreTimeoutOption] == NSNumber(value: 3.0))
    #expect(description.sqlitePragmas["journal_mode"] == "delete" as NSString)
    #expect((description.options[NSSQLitePragmasOption] as? NSDictionary)?.count == 2)
    description.setValue(nil, forPragmaNamed: "journal_mode")
    description.setValue(nil, forPragmaNamed: "secure_delete")
    description.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
    description.isReadOnly = false
    #expect(description.sqlitePragmas.isEmpty && description.options[NSSQLitePragmasOption] == nil)
    #expect(description.options[NSPersistentHistoryTrackingKey] == nil && !description.isReadOnly)
  }

  @Test func `a copy of a description says the same and changes alone`() throws {
    let original = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/a"))
    original.configuration = "Local"
    original.type = NSInMemoryStoreType
    original.shouldAddStoreAsynchronously = true
    let copy = try #require(original.copy() as? NSPersistentStoreDescription)
    #expect(copy.url == original.url && copy.configuration == "Local" && copy.type == NSInMemoryStoreType)
    #expect(copy.shouldAddStoreAsynchronously && copy.options == original.options)
    copy.configuration = nil
    copy.isReadOnly = true
    #expect(original.configuration == "Local" && !original.isReadOnly)
  }

  @Test func `a subclass says where its stores are`() throws {
    let container = elsewhere(URL(fileURLWithPath: "/elsewhere", isDirectory: true))
    #expect(container.persistentStoreDescriptions[0].url?.path == "/elsewhere/Test.sqlite")
  }

  #if !canImport(Darwin)
    @Test func `the default directory is named after the executable, in the user's data`() {
      let path = NSPersistentContainer.defaultDirectoryURL().path
      let base =
        ProcessInfo.processInfo.environment["XDG_DATA_HOME"]
        ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.local/share"
      #expect(path == base + "/" + ProcessInfo.processInfo.processName)
    }
  #endif

  @Test func `background tasks get contexts of their own`() async throws {
    let container = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
    let count = try await container.performBackgroundTask { context in
      Tag(context: context).text = "red"
      try context.save()
      return try context.count(for: request(Tag.self))
    }
    #expect(count == 1)
    let text = await withCheckedContinuation { continuation in
      container.performBackgroundTask { context in
        continuation.resume(returning: (try? context.fetch(request(Tag.self)))?.first?.text)
      }
    }
    #expect(text == "red")
    #expect(container.newBackgroundContext() !== container.newBackgroundContext())
  }
}
