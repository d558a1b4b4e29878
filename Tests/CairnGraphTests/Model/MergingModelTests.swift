// Several models as one, and which model a store's metadata means.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct MergingModelTests {
  private func simple(_ name: String, _ attribute: String = "a") -> NSManagedObjectModel {
    let model = NSManagedObjectModel(versionIdentifiers: [name]) {
      NSEntityDescription(name, configurations: ["C"]) { NSAttributeDescription(attribute, .string) }
      NSEntityDescription("Shared") { NSAttributeDescription("x", .date) }
    }
    model.localizationDictionary = ["Entity/\(name)": name]
    model.setFetchRequestTemplate(NSFetchRequest(entityName: name), forName: "all \(name)")
    return model
  }

  @Test func `merging takes everything once, as copies (2.3.5)`() throws {
    let (a, b) = (simple("A"), simple("B"))
    let merged = try #require(NSManagedObjectModel(byMerging: [a, b]))
    #expect(merged.entities.map(\.name) == ["A", "Shared", "B"])
    #expect(merged.entities[0] !== a.entities[0] && a.entities[0].managedObjectModel === a)
    #expect(merged.versionIdentifiers == ["A", "B"])
    #expect(merged.entities(forConfigurationName: "C")?.map(\.name) == ["A", "B"])
    #expect(merged.entities(forConfigurationName: "C")?[0] === merged.entities[0])
    #expect(merged.localizationDictionary?.count == 2)
    #expect(merged.fetchRequestTemplatesByName.count == 2)
    try merged.validate()
  }

  @Test func `nothing merges to an empty model`() {
    #expect(NSManagedObjectModel(byMerging: nil)?.entities.isEmpty == true)
    #expect(NSManagedObjectModel(byMerging: [])?.entities.isEmpty == true)
  }

  @Test func `two entities of one name that differ can't be merged (2.3.5)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = MergingModelTests()
      _ = NSManagedObjectModel(byMerging: [tests.simple("A"), tests.simple("A", "b")])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can't merge models with two different entities named 'A'"))
    #expect(text.contains("its property \"a\""))
  }

  @Test func `metadata chooses the entities whose hashes it has, all or none (2.3.6)`() throws {
    let (old, new, other) = (simple("A", "old"), simple("A", "new"), simple("B"))
    let metadata = try #require(NSManagedObjectModel(byMerging: [old, other])).storeMetadata()
    let found = try #require(NSManagedObjectModel(byMerging: [new, old, other], forStoreMetadata: metadata))
    #expect(Set(found.entities.map(\.name)) == ["A", "Shared", "B"])
    #expect(found.entitiesByName["A"]?.attributesByName.keys.sorted() == ["old"])
    #expect(NSManagedObjectModel(byMerging: [new, other], forStoreMetadata: metadata) == nil)
    #expect(NSManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
  }
}

@Suite struct VersionHashTests {
  private func model(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
    let model = RichModel.make()
    change(model)
    return model
  }

  private func hash(_ change: (NSEntityDescription) -> Void) throws -> Data {
    try #require(model { change($0.entitiesByName["Note"]!) }.entityVersionHashesByName["Note"])
  }

  @Test func `hashes are 32 bytes, and the checksum 44 characters (2.10.1, 2.10.4)`() {
    let model = model()
    #expect(model.entityVersionHashesByName.keys.sorted() == ["Kind", "Memo", "Note", "Tag"])
    #expect(model.entityVersionHashesByName.values.allSatisfy { $0.count == 32 })
    #expect(model.versionChecksum.count == 44)
    for entity in model.entities {
      #expect(entity.versionHash == model.entityVersionHashesByName[entity.name ?? ""])
      #expect(entity.properties.allSatisfy { $0.versionHash.count == 32 })
    }
    #expect(NSAttributeDescription().versionHash.count == 32)
  }

  @Test func `an entity by itself has the hash that it has in its model`() throws {
    let note = try #require(model().entitiesByName["Note"]?.copy() as? NSEntityDescription)
    #expect(note.versionHash == model().entityVersionHashesByName["Note"])
  }

  @Test func `what isn't an input doesn't change the hash (2.10.2)`() throws {
    let plain = try hash { _ in }
    let same: [(NSEntityDescription) -> Void] = [
      { $0.managedObjectClassName = "Other" }, { $0.userInfo = [:] }, { $0.indexes = [] },
      { $0.renamingIdentifier = "Old" }, { $0.attributesByName["title"]?.defaultValue = nil },
      { $0.attributesByName["title"]?.addValidation(min: 1, max: nil, regex: nil) },
      { $0.relationshipsByName["tags"]?.deleteRule = .deny }, { $0.properties.reverse() },
      { $0.managedObjectModel.versionIdentifiers = ["other"] },
    ]
    for (index, change) in same.enumerated() { #expect(try hash(change) == plain, "change \(index)") }
  }

  @Test func `what is an input changes it (2.10.1)`() throws {
    let plain = try hash { _ in }
    let other: [(NSEntityDescription) -> Void] = [
      { $0.isAbstract = true }, { $0.versionHashModifier = "1" }, { $0.uniquenessConstraints = [] },
      { $0.attributesByName["title"]?.isOptional = true }, { $0.attributesByName["title"]?.type = .date },
      { $0.attributesByName["title"]?.versionHashModifier = "1" },
      { $0.attributesByName["title"]?.name = "headline" },
      { $0.relationshipsByName["tags"]?.minCount = 1 }, { $0.relationshipsByName["tags"]?.maxCount = 5 },
      { $0.relationshipsByName["tags"]?.isOrdered = false }, { $0.properties = [] },
    ]
    for (index, change) in other.enumerated() { #expect(try hash(change) != plain, "change \(index)") }
  }

  @Test func `a used model computes its hashes once, and the same`() throws {
    let model = model()
    let before = model.entityVersionHashesByName
    _ = try model.compiled()
    #expect(model.entityVersionHashesByName == before && model.entityVersionHashesByName == before)
  }

  @Test func `a store fits if it has the same hash for each entity, and no others (2.3.7)`() {
    let model = model()
    var metadata = model.storeMetadata()
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(metadata[NSPersistentStoreModelVersionChecksumKey] as? String == model.versionChecksum)
    #expect((metadata["NSStoreModelVersionHashesDigest"] as? String)?.count == 88)
    #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["3.1"])
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: "Local", compatibleWithStoreMetadata: metadata))
    #expect(
      model.isConfiguration(
        withName: "Local", compatibleWithStoreMetadata: model.storeMetadata(forConfiguration: "Local")))
    #expect(!model.isConfiguration(withName: "None", compatibleWithStoreMetadata: metadata))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    var hashes = model.entityVersionHashesByName
    hashes["Extra"] = Data(count: 32)
    metadata[NSStoreModelVersionHashesKey] = hashes
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}
