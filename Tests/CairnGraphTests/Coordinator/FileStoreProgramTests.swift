// What a program sees of a store in a file, whichever it is: what is there again, versions of models, locks.

import Cairn
import Foundation
import Testing

@Suite struct FileStoreProgramTests {
  static func model(nameIsOptional: Bool = true) -> NSManagedObjectModel {
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.isOptional = nameIsOptional
    let size = NSAttributeDescription()
    size.name = "size"
    size.attributeType = .integer64AttributeType
    let thing = NSEntityDescription()
    thing.name = "Thing"
    thing.properties = [name, size]
    let model = NSManagedObjectModel()
    model.entities = [thing]
    model.versionIdentifiers = ["first"]
    return model
  }

  static func coordinator(_ model: NSManagedObjectModel = model()) -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: model)
  }

  static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Makes a store with things named "0", "1", …
  static func make(_ url: URL, count: Int, type: String) throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let context = context(coordinator)
    try context.performAndWait {
      for number in 0..<count {
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        thing.setValue("\(number)", forKey: "name")
        thing.setValue(number, forKey: "size")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  static func names(_ coordinator: NSPersistentStoreCoordinator) throws -> [String?] {
    let context = context(coordinator)
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      request.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: "name") as? String }
    }
  }

  static func error(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
      return nil
    } catch {
      return error as NSError
    }
  }

  private static let types = [CairnArchiveStoreType, NSBinaryStoreType, CairnLogStoreType]

  /// The bytes of a file, or of all files of a directory by name.
  private static func contents(_ url: URL) throws -> [String: Data] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: url.path) else {
      return ["": try Data(contentsOf: url)]
    }
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: url.appendingPathComponent($0))) })
  }

  @Test(arguments: types)
  func `what was saved is there when the file is opened again, for reading only too`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 3, type: type)
    for options in [nil, [NSReadOnlyPersistentStoreOption: true]] {
      let coordinator = Self.coordinator()
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: options)
      #expect(store.type == type && store.url == url)
      #expect(try Self.names(coordinator) == ["0", "1", "2"])
      try coordinator.remove(store)
    }
  }

  @Test(arguments: types)
  func `a store for reading only refuses saves with 513, and no file is an error`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    let options = [NSReadOnlyPersistentStoreOption: true]
    let missing = Self.error {
      try Self.coordinator().addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: options)
    }
    #expect(missing?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
    try Self.make(url, count: 1, type: type)
    let coordinator = Self.coordinator()
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url, options: options)
    let context = Self.context(coordinator)
    let failure = Self.error {
      try context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        try context.save()
      }
    }
    #expect(failure?.code == 513)
  }

  @Test(arguments: types)
  func `another version of the model is refused with 134100, and the file stays as it is`(_ type: String)
    throws
  {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 1, type: type)
    let before = try Self.contents(url)
    let failure = Self.error {
      try Self.coordinator(Self.model(nameIsOptional: false)).addPersistentStore(
        ofType: type, configurationName: nil, at: url)
    }
    let error = try #require(failure)
    #expect(error.code == NSPersistentStoreIncompatibleVersionHashError && error.userInfo["reason"] is String)
    #expect((error.userInfo["metadata"] as? [String: Any])?[NSStoreModelVersionHashesKey] != nil)
    #expect(try Self.contents(url) == before)
  }

  @Test(arguments: types)
  func `a store opens with the model that it carries`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 2, type: type)
    let model = try NSManagedObjectModel(ofStoreAt: url)
    #expect(model.entityVersionHashesByName == Self.model().entityVersionHashesByName)
    let coordinator = Self.coordinator(model)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    #expect(try Self.names(coordinator) == ["0", "1"])
  }

  @Test(arguments: types)
  func `metadata is read and written without opening the store, and says its model`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 1, type: type)
    var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: type, at: url)
    #expect(Self.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["first"])
    metadata["mine"] = "x"
    try NSPersistentStoreCoordinator.setMetadata(
      metadata, forPersistentStoreOfType: type, at: url)
    let coordinator = Self.coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url)
    #expect(store.metadata["mine"] as? String == "x")
    store.metadata["mine"] = nil
    store.metadata["other"] = 3
    try coordinator.remove(store)
    let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: type, at: url)
    #expect(again["mine"] == nil && again["other"] as? Int == 3)
  }

  @Test(arguments: types)
  func `one writer at a time: the second is told who holds the file`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    let first = Self.coordinator()
    let store = try first.addPersistentStore(ofType: type, configurationName: nil, at: url)
    let failure = Self.error {
      try Self.coordinator().addPersistentStore(
        ofType: type, configurationName: nil, at: url)
    }
    #expect(failure?.code == NSPersistentStoreOpenError && "\(failure!)".contains("this process"))
    try first.remove(store)
    try Self.coordinator().addPersistentStore(ofType: type, configurationName: nil, at: url)
  }

  @Test(arguments: types)
  func `stores are replaced, moved and destroyed`(_ type: String) throws {
    let (url, copy) = (TestFiles.unusedURL(extension: "cairn"), TestFiles.unusedURL(extension: "cairn"))
    try Self.make(url, count: 2, type: type)
    let coordinator = Self.coordinator()
    try coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: url, ofType: type)
    let memory = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let moved = try coordinator.migratePersistentStore(
      memory, to: TestFiles.unusedURL(extension: "cairn"), withType: type)
    #expect(moved.type == type)
    try coordinator.remove(moved)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: copy)
    #expect(try Self.names(coordinator) == ["0", "1"])
    try coordinator.destroyPersistentStore(at: url, ofType: type)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
