// Models in documents and files, there and back.

import Cairn
import Testing

@testable import CairnGraph

/// A folder of its own for each test.
private final class Folder {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// Says where two models differ, for a test that fails.
private func differences(_ a: NSManagedObjectModel, _ b: NSManagedObjectModel) -> [String] {
  a.entities.compactMap { entity in
    guard let other = b.entitiesByName[entity.name ?? ""] else { return "\(entity.name ?? "") is missing" }
    return entity.difference(from: other).map { "\(entity.name ?? ""): \($0)" }
  }
}

@Suite struct ModelFileTests {
  @Test(arguments: 0..<200)
  func `a model is the same after being a document`(_ seed: Int) throws {
    let model = RandomModel.make(seed: UInt64(seed))
    try model.validate()
    let document = model.document
    #expect(document.notes.isEmpty)
    let back = try NSManagedObjectModel(document: document)
    #expect(back == model, "seed \(seed): \(differences(model, back))")
    #expect(back.document == document, "seed \(seed)")
  }

  @Test(arguments: ["xcdatamodeld", "xcdatamodel", "momd", "mom"])
  func `a model is the same after being a file of any form`(_ form: String) throws {
    let folder = try Folder()
    for seed in 0..<40 {
      let model = RandomModel.make(seed: UInt64(seed))
      let url = folder.file("Model \(seed).\(form)")
      try model.write(to: url)
      let back = try #require(NSManagedObjectModel(contentsOf: url))
      #expect(back == model, "seed \(seed): \(differences(model, back))")
      #expect(back.entityVersionHashesByName == model.entityVersionHashesByName, "seed \(seed)")
      #expect(back.fileID == #fileID)
    }
  }

  @Test func `a bare contents file is a model`() throws {
    let folder = try Folder()
    let model = RandomModel.make(seed: 1)
    try model.write(to: folder.file("contents"))
    #expect(try NSManagedObjectModel(reading: folder.file("contents")) == model)
  }

  @Test func `the rich model loses what no file has words for, and says so`() throws {
    let model = RichModel.make()
    #expect(model.document.notes.map(\.property) == ["colour"])
    model.entitiesByName["Note"]?.attributesByName["colour"]?.defaultValue = nil
    model.localizationDictionary = nil
    #expect(model.document.notes.isEmpty)
    #expect(try NSManagedObjectModel(document: model.document) == model)
    model.entitiesByName["Note"]?.userInfo = ["number": 5]
    let block = NSPredicate { _, _ in true }
    model.entitiesByName["Note"]?.attributesByName["stars"]?.setValidationPredicates(
      [block], withValidationWarnings: ["odd"])
    #expect(model.document.notes.count == 2)
  }

  @Test func `validation with words of its own survives`() throws {
    let model = RichModel.make()
    let stars = try #require(model.entitiesByName["Note"]?.attributesByName["stars"])
    stars.setValidationPredicates(
      [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF IN {1, 2}")],
      withValidationWarnings: ["too few", "odd"])
    let back = try NSManagedObjectModel(document: model.document)
    let read = try #require(back.entitiesByName["Note"]?.attributesByName["stars"])
    #expect(read.validations.map(\.message) == ["too few", "odd"])
    #expect(read.validations.map(\.code) == [1620, 1550])
  }

  @Test func `a format that can't be understood is a fault, with all others`() throws {
    var document = RichModel.make().document
    document.fetchRequests[0].predicate = "title =="
    document.entities[0].fetchIndexes[0].partialPredicate = "((("
    let error = try #require(throws: SchemaError.self) { try NSManagedObjectModel(document: document) }
    #expect(error.faults.map(\.entity).sorted() == ["Note", "byTitle"])
  }

  @Test func `a dot before a class means the module of whoever reads the model`() throws {
    var document = ModelDocument(entities: [.init("Thing", className: "LookedUpByDot")])
    document.entities[0].isClassInCurrentModule = true
    let model = try NSManagedObjectModel(document: document)
    #expect(model.entities[0].managedObjectClassName == ".LookedUpByDot")
    let compiled = try model.compiled()
    #expect(compiled.objectClass(of: compiled.entities[0]) == LookedUpByDot.self)
    #expect(model.document.entities[0].isClassInCurrentModule)
  }

  // MARK: Finding

  @Test func `the name of a compiled model finds its source beside it`() throws {
    let folder = try Folder()
    let model = RandomModel.make(seed: 2)
    try model.write(to: folder.file("Notes.xcdatamodeld"))
    for form in ["momd", "mom", "xcdatamodel"] {
      #expect(NSManagedObjectModel(contentsOf: folder.file("Notes.\(form)")) == model)
    }
    #expect(NSManagedObjectModel(contentsOf: folder.file("Other.momd")) == nil)
    #expect(throws: ModelFileError.self) { try NSManagedObjectModel(reading: folder.file("Other.momd")) }
  }

  @Test func `a model is found in a bundle by its name, the compiled one first`() throws {
    let folder = try Folder()
    let bundle = try #require(Bundle(url: folder.url))
    #expect(bundle.url(forModelNamed: "Notes") == nil)
    #expect(throws: ModelFileError.self) { try NSManagedObjectModel(named: "Notes", in: bundle) }
    let (source, compiled) = (RandomModel.make(seed: 3), RandomModel.make(seed: 4))
    try source.write(to: folder.file("Notes.xcdatamodeld"))
    #expect(try NSManagedObjectModel(named: "Notes", in: bundle) == source)
    try compiled.write(to: folder.file("Notes.momd"))
    #expect(bundle.url(forModelNamed: "Notes")?.lastPathComponent == "Notes.momd")
    #expect(try NSManagedObjectModel(named: "Notes", in: bundle) == compiled)
  }

  @Test func `all models of a bundle become one, each once`() throws {
    let folder = try Folder()
    let bundle = try #require(Bundle(url: folder.url))
    let (a, b) = (RandomModel.make(seed: 5), RandomModel.make(seed: 6))
    try a.write(to: folder.file("A.xcdatamodeld"))
    try a.write(to: folder.file("A.momd"))
    try b.write(to: folder.file("B.mom"))
    let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(merged.entitiesByName == a.entitiesByName.merging(b.entitiesByName) { $1 })
    try Data("junk".utf8).write(to: folder.file("C.mom"))
    #expect(NSManagedObjectModel.mergedModel(from: [bundle]) == nil)
  }

  @Test func `a version is read by its name, and found by a store's metadata`() throws {
    let folder = try Folder()
    let (old, new) = (RandomModel.make(seed: 7), RandomModel.make(seed: 8))
    let url = folder.file("Notes.xcdatamodeld")
    try ModelFile.write([("Notes", old.document), ("Notes 2", new.document)], current: "Notes 2", to: url)
    #expect(NSManagedObjectModel(contentsOf: url) == new)
    #expect(try NSManagedObjectModel(reading: url, version: "Notes") == old)
    #expect(throws: ModelFileError.self) { try NSManagedObjectModel(reading: url, version: "Notes 3") }
    let bundle = try #require(Bundle(url: folder.url))
    #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: old.storeMetadata()) == old)
    #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: [:]) == nil)
  }
}
