// What a program sees of an archive: files that are there again, versions of models, locks, damage.

import Cairn
import Foundation
import Testing

@Suite struct ArchiveProgramTests {
  private static func model(nameIsOptional: Bool = true) -> NSManagedObjectModel {
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

  private static func coordinator(_ model: NSManagedObjectModel = model()) -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: model)
  }

  private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Makes an archive with things named "0", "1", …
  private static func make(_ url: URL, count: Int, type: String = CairnArchiveStoreType) throws {
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

  private static func names(_ coordinator: NSPersistentStoreCoordinator) throws -> [String?] {
    let context = context(coordinator)
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      request.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: "name") as? String }
    }
  }

  private static func error(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
      return nil
    } catch {
      return error as NSError
    }
  }

  @Test(arguments: [CairnArchiveStoreType, NSBinaryStoreType])
  func `what was saved is there when the file is opened again, for reading only too`(_ type: String) throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 3, type: type)
    for options in [nil, [NSReadOnlyPersistentStoreOption: true]] {
      let coordinator = Self.coordinator()
      let store = try coordinator.addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: options)
      #expect(store is CairnArchiveStore && store.type == type && store.url == url)
      #expect(try Self.names(coordinator) == ["0", "1", "2"])
      try coordinator.remove(store)
    }
  }

  @Test func `a store for reading only refuses saves with 513, and no file is an error`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    let options = [NSReadOnlyPersistentStoreOption: true]
    let missing = Self.error {
      try Self.coordinator().addPersistentStore(
        ofType: CairnArchiveStoreType, configurationName: nil, at: url, options: options)
    }
    #expect(missing?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
    try Self.make(url, count: 1)
    let coordinator = Self.coordinator()
    try coordinator.addPersistentStore(
      ofType: CairnArchiveStoreType, configurationName: nil, at: url, options: options)
    let context = Self.context(coordinator)
    let failure = Self.error {
      try context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        try context.save()
      }
    }
    #expect(failure?.code == 513)
  }

  @Test func `another version of the model is refused with 134100, and the file stays as it is`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 1)
    let before = try Data(contentsOf: url)
    let failure = Self.error {
      try Self.coordinator(Self.model(nameIsOptional: false)).addPersistentStore(
        ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    }
    let error = try #require(failure)
    #expect(error.code == NSPersistentStoreIncompatibleVersionHashError && error.userInfo["reason"] is String)
    #expect((error.userInfo["metadata"] as? [String: Any])?[NSStoreModelVersionHashesKey] != nil)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func `an archive opens with the model that it carries`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 2)
    let model = try NSManagedObjectModel(ofStoreAt: url)
    #expect(model.entityVersionHashesByName == Self.model().entityVersionHashesByName)
    let coordinator = Self.coordinator(model)
    try coordinator.addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    #expect(try Self.names(coordinator) == ["0", "1"])
  }

  @Test func `metadata is read and written without opening the store, and says its model`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 1)
    var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: CairnArchiveStoreType, at: url)
    #expect(Self.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["first"])
    metadata["mine"] = "x"
    try NSPersistentStoreCoordinator.setMetadata(
      metadata, forPersistentStoreOfType: CairnArchiveStoreType, at: url)
    let coordinator = Self.coordinator()
    let store = try coordinator.addPersistentStore(
      ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    #expect(store.metadata["mine"] as? String == "x")
    store.metadata["mine"] = nil
    store.metadata["other"] = 3
    try coordinator.remove(store)
    let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: CairnArchiveStoreType, at: url)
    #expect(again["mine"] == nil && again["other"] as? Int == 3)
  }

  @Test func `one writer at a time: the second is told who holds the file`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    let first = Self.coordinator()
    let store = try first.addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    let failure = Self.error {
      try Self.coordinator().addPersistentStore(
        ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    }
    #expect(failure?.code == NSPersistentStoreOpenError && "\(failure!)".contains("this process"))
    try first.remove(store)
    try Self.coordinator().addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: url)
  }

  @Test func `archives are replaced, moved and destroyed`() throws {
    let (url, copy) = (TestFiles.unusedURL(extension: "cairn"), TestFiles.unusedURL(extension: "cairn"))
    try Self.make(url, count: 2)
    let coordinator = Self.coordinator()
    try coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: url, ofType: CairnArchiveStoreType)
    let memory = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let moved = try coordinator.migratePersistentStore(
      memory, to: TestFiles.unusedURL(extension: "cairn"), withType: CairnArchiveStoreType)
    #expect(moved is CairnArchiveStore)
    try coordinator.remove(moved)
    try coordinator.addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: copy)
    #expect(try Self.names(coordinator) == ["0", "1"])
    try coordinator.destroyPersistentStore(at: url, ofType: CairnArchiveStoreType)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `a store type that there isn't says what to use`() {
    let failure = Self.error {
      try Self.coordinator().addPersistentStore(
        ofType: NSXMLStoreType, configurationName: nil, at: TestFiles.unusedURL(extension: "xml"))
    }
    #expect(failure?.code == 134_000 && failure!.localizedDescription.contains("CairnArchiveStoreType"))
  }

  @Test func `a file that is no archive, or a damaged one, is refused with 259`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Data("SQLite format 3".utf8).write(to: url)
    func code() -> Int? {
      Self.error {
        try Self.coordinator().addPersistentStore(
          ofType: CairnArchiveStoreType, configurationName: nil, at: url)
      }?.code
    }
    #expect(code() == CocoaError.Code.fileReadCorruptFile.rawValue)
    try FileManager.default.removeItem(at: url)
    try Self.make(url, count: 1)
    try Data(contentsOf: url).dropLast(1).write(to: url)
    #expect(code() == CocoaError.Code.fileReadCorruptFile.rawValue)
  }

  @Test func `a damaged column under a getter gives nil, and the next fetch or save throws why`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Self.make(url, count: 5)
    // The names' block is the one that has them as text.
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.range(of: Data("BLK1".utf8), in: 700..<bytes.count))
    var damaged = false
    var start = place.lowerBound
    while let block = bytes.range(of: Data("BLK1".utf8), in: start..<bytes.count) {
      // Kind 3, column 0.
      if bytes[block.lowerBound + 4] == 3, bytes[block.lowerBound + 10] == 0,
        bytes[block.lowerBound + 11] == 0
      {
        bytes[block.lowerBound + 34] ^= 0xFF
        damaged = true
      }
      start = block.upperBound
    }
    #expect(damaged)
    try bytes.write(to: url)
    let coordinator = Self.coordinator()
    try coordinator.addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    let context = Self.context(coordinator)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      let things = try context.fetch(request)
      #expect(things.count == 5)
      #expect(things[0].value(forKey: "name") == nil && things[0].value(forKey: "size") as? Int == 0)
      let failure = Self.error { _ = try context.fetch(request) }
      #expect(failure != nil && "\(failure!)".contains("Thing.name"))
      let figures = NSFetchRequest<NSDictionary>(entityName: "Thing")
      figures.resultType = .dictionaryResultType
      figures.propertiesToFetch = ["size"]
      #expect(try context.fetch(figures).count == 5)
      figures.propertiesToFetch = ["name"]
      #expect(throws: (any Error).self) { _ = try context.fetch(figures) }
      things[1].setValue("new", forKey: "name")
      #expect(throws: (any Error).self) { try context.save() }
    }
  }
}
