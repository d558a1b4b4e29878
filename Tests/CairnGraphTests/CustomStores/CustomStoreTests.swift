// Laws of objects over custom stores that are written as Apple documents them, and what is special to each kind.

import Cairn
import Testing

@testable import CairnGraph

private final class Band: NSManagedObject {
  @Managed var name: String?
  @Managed var members: Set<Musician>
}

private final class Musician: NSManagedObject {
  @Managed var name: String?
  @Managed var age: Int32
  @Managed var band: Band?
}

/// A custom store of each kind, and a place for it.
enum CustomKind: String, CaseIterable {
  case csv, dictionary

  var type: String { self == .csv ? CSVStore.name : DictionaryStore.name }

  func register() {
    switch self {
    case .csv: NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: type)
    case .dictionary:
      NSPersistentStoreCoordinator.registerStoreClass(DictionaryStore.self, forStoreType: type)
    }
  }
}

@Suite struct CustomStoreTests {
  private static func model() -> NSManagedObjectModel {
    let band = TestModel.entity("Band", Band.self, [TestModel.attribute("name", .string)])
    let musician = TestModel.entity(
      "Musician", Musician.self,
      [TestModel.attribute("name", .string), TestModel.attribute("age", .integer32)])
    TestModel.relate(band, "members", toMany: true, musician, "band")
    let model = NSManagedObjectModel()
    model.entities = [band, musician]
    return model
  }

  /// A coordinator with the store at a place, opened anew each time.
  private final class Setting {
    let kind: CustomKind
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    let store: NSPersistentStore

    init(_ kind: CustomKind, at url: URL? = nil) throws {
      kind.register()
      self.kind = kind
      self.url = url ?? FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).csv")
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: CustomStoreTests.model())
      store = try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: nil, at: self.url)
      context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
    }

    func reopened() throws -> Setting { try Setting(kind, at: url) }

    /// A context that sees what is saved.
    func other() -> NSManagedObjectContext {
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = coordinator
      others.append(other)
      return other
    }

    /// Kept, since objects need their contexts.
    private var others: [NSManagedObjectContext] = []

    func fill() throws {
      let band = Band(context: context)
      band.name = "The Trees"
      for (name, age) in [("Cleo", 40), ("Abe", 30), ("Bea", 20)] {
        let musician = Musician(context: context)
        (musician.name, musician.age, musician.band) = (name, Int32(age), band)
      }
      try context.save()
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  @Test("what was saved is found by another context", arguments: CustomKind.allCases)
  func savingAndFetching(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    #expect(!setting.context.hasChanges)
    let other = setting.other()
    let musicians = try other.fetch(request(Musician.self, sort: ["name"]))
    #expect(musicians.map(\.name) == ["Abe", "Bea", "Cleo"] && musicians.map(\.age) == [30, 20, 40])
    #expect(musicians.allSatisfy { $0.band?.name == "The Trees" && !$0.objectID.isTemporaryID })
    #expect(musicians[0].band?.members == Set(musicians))
    #expect(try other.count(for: request(Musician.self)) == 3)
    let window = request(Musician.self, sort: ["name"])
    (window.fetchOffset, window.fetchLimit) = (1, 1)
    #expect(try other.fetch(window).map(\.name) == ["Bea"])
  }

  @Test("updates, deletes and new relationships are saved", arguments: CustomKind.allCases)
  func updating(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    let people = try setting.context.fetch(request(Musician.self, sort: ["name"]))
    people[0].age = 31
    people[1].band = nil
    setting.context.delete(people[2])
    try setting.context.save()
    let other = setting.other()
    let found = try other.fetch(request(Musician.self, sort: ["name"]))
    #expect(found.map(\.name) == ["Abe", "Bea"] && found.map(\.age) == [31, 20])
    #expect(try other.fetch(request(Band.self)).first?.members == [found[0]])
    #expect(found[1].band == nil)
  }

  @Test("a store that is opened anew has what was saved, under the same URIs", arguments: CustomKind.allCases)
  func reopening(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    let abe = try #require(try setting.context.fetch(request(Musician.self, sort: ["name"])).first)
    let uri = abe.objectID.uriRepresentation()
    let again = try setting.reopened()
    #expect(again.store.identifier == setting.store.identifier)
    let id = try #require(again.coordinator.managedObjectID(forURIRepresentation: uri))
    let found = try again.context.existingObject(with: id)
    #expect(found.value(forKey: "name") as? String == "Abe")
    #expect((found as? Musician)?.band?.members.count == 3)
  }

  @Test("a row that has changed since it was read is a conflict", arguments: CustomKind.allCases)
  func conflicts(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    let other = setting.other()
    let mine = try #require(try setting.context.fetch(request(Musician.self, sort: ["name"])).first)
    let theirs = try #require(try other.fetch(request(Musician.self, sort: ["name"])).first)
    (mine.age, theirs.age) = (50, 60)
    try other.save()
    let error = #expect(throws: NSError.self) { try setting.context.save() }
    #expect(error?.code == NSManagedObjectMergeError && mine.age == 50)
  }

  @Test("figures are worked out over a custom store", arguments: CustomKind.allCases)
  func aggregates(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    let rows = try setting.context.aggregate(
      "Musician", groupBy: ["band.name"], [.init(.sum, "age"), .init(.count, nil)])
    #expect(rows == [AggregateRow(group: ["The Trees"], values: [90, 3])])
  }

  @Test("the rows of a custom store can be moved to a store in memory", arguments: CustomKind.allCases)
  func movingAway(kind: CustomKind) throws {
    let setting = try Setting(kind)
    try setting.fill()
    try setting.coordinator.migratePersistentStore(
      setting.store, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
    let band = try #require(try setting.other().fetch(request(Band.self)).first)
    #expect(Set(band.members.map(\.age)) == [20, 30, 40])
  }

  // MARK: Atomic

  @Test func `predicates and uniqueness are Cairn's affair over an atomic store`() throws {
    let setting = try Setting(.csv)
    try setting.fill()
    let found = try setting.other().fetch(
      request(
        Musician.self, .compare("band.name", .beginsWith, "the", options: .caseInsensitive), sort: ["age"]))
    #expect(found.map(\.age) == [20, 30, 40])
  }

  @Test func `a save whose file can't be written changes nothing`() throws {
    let setting = try Setting(.csv)
    try setting.fill()
    let before = try String(contentsOf: setting.url, encoding: .utf8)
    let store = try #require(setting.store as? CSVStore)
    let abe = try #require(try setting.context.fetch(request(Musician.self, sort: ["name"])).first)
    abe.age = 99
    let new = Musician(context: setting.context)
    new.name = "Dan"
    store.failsToSave = true
    #expect(throws: NSError.self) { try setting.context.save() }
    #expect(try String(contentsOf: setting.url, encoding: .utf8) == before)
    #expect(new.objectID.isTemporaryID && new.isInserted && abe.age == 99)
    #expect(store.cacheNodes().count == 4)
    #expect(store.cacheNode(for: abe.objectID)?.value(forKey: "age") as? Int == 30)
    #expect(try setting.other().count(for: request(Musician.self)) == 3)
    store.failsToSave = false
    try setting.context.save()
    #expect(try setting.reopened().context.count(for: request(Musician.self)) == 4)
  }

  @Test func `rows can be moved into an atomic store, and are in its file`() throws {
    CustomKind.csv.register()
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).csv")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let old = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let band = Band(context: context)
    let musician = Musician(context: context)
    (band.name, musician.name, musician.band) = ("Solo", "Zoe", band)
    try context.save()
    try coordinator.migratePersistentStore(old, to: url, withType: CSVStore.name)
    let again = try Setting(.csv, at: url)
    let found = try #require(try again.context.fetch(request(Musician.self)).first)
    #expect(found.name == "Zoe" && found.band?.name == "Solo")
  }

  @Test func `an atomic store's file has metadata, can be copied and destroyed`() throws {
    let setting = try Setting(.csv)
    try setting.fill()
    let copy = setting.url.appendingPathExtension("copy")
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: CSVStore.name, at: setting.url)
    #expect(metadata[NSStoreUUIDKey] as? String == setting.store.identifier)
    try setting.coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: setting.url, ofType: CSVStore.name)
    #expect(try Data(contentsOf: copy) == Data(contentsOf: setting.url))
    let open = #expect(throws: NSError.self) {
      try setting.coordinator.destroyPersistentStore(at: setting.url, ofType: CSVStore.name)
    }
    #expect(open?.code == NSPersistentStoreOperationError)
    try setting.coordinator.destroyPersistentStore(at: copy, ofType: CSVStore.name)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    let missing = #expect(throws: NSError.self) {
      try setting.coordinator.destroyPersistentStore(at: copy, ofType: CSVStore.name)
    }
    #expect(missing?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
  }

  @Test func `setURL has an atomic store write elsewhere from then on`() throws {
    let setting = try Setting(.csv)
    try setting.fill()
    let elsewhere = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).csv")
    #expect(setting.coordinator.setURL(elsewhere, for: setting.store))
    Musician(context: setting.context).name = "Dan"
    try setting.context.save()
    #expect(try String(contentsOf: elsewhere, encoding: .utf8).contains("name=Dan"))
    #expect(try !String(contentsOf: setting.url, encoding: .utf8).contains("name=Dan"))
    try FileManager.default.removeItem(at: elsewhere)
  }

  // MARK: Incremental

  @Test func `new metadata is saved with the next save`() throws {
    let setting = try Setting(.dictionary)
    let service = DictionaryService.at(setting.url)
    var metadata = setting.coordinator.metadata(for: setting.store)
    metadata["mine"] = "text"
    setting.coordinator.setMetadata(metadata, for: setting.store)
    #expect(service.metadataSaves == 0)
    try setting.fill()
    #expect(service.metadataSaves == 1 && service.metadata["mine"] as? String == "text")
    #expect(service.metadata[NSStoreUUIDKey] as? String == setting.store.identifier)
  }

  @Test func `an object that the service has lost has no row`() throws {
    let setting = try Setting(.dictionary)
    try setting.fill()
    let id = try #require(try setting.context.fetch(request(Band.self)).first).objectID
    let store = try #require(setting.store as? DictionaryStore)
    DictionaryService.at(setting.url).records[store.referenceObject(for: id) as? String ?? ""] = nil
    let error = #expect(throws: NSError.self) { try setting.other().existingObject(with: id) }
    #expect(error?.code == NSManagedObjectReferentialIntegrityError)
  }

  @Test func `an incremental store refuses a model with uniqueness constraints, and copied rows`() throws {
    CustomKind.dictionary.register()
    let url = URL(fileURLWithPath: "/service/\(UUID())")
    let unique = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let error = #expect(throws: NSError.self) {
      try unique.addPersistentStore(ofType: DictionaryStore.name, configurationName: nil, at: url)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let old = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    Band(context: context).name = "Solo"
    try context.save()
    #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(old, to: url, withType: DictionaryStore.name)
    }
    #expect(coordinator.persistentStores == [old])
  }
}
