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
    let model = RandomModel.make(seed: UInt64(seed), isCompiled: true)
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
      let model = RandomModel.make(seed: UInt64(seed), isCompiled: form.hasPrefix("mom"))
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

  @Test func `what a model file can't hold of a fetch request is named`() throws {
    let model = RichModel.make()
    model.entitiesByName["Note"]?.attributesByName["colour"]?.defaultValue = nil
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
    model.setFetchRequestTemplate(request, forName: "odd")
    #expect(model.document.notes.isEmpty)
    let column = NSExpressionDescription()
    column.name = "total"
    column.expression = NSExpression(format: "@sum.stars")
    let titles = try #require(model.entitiesByName["Note"]?.attributesByName["title"])
    request.propertiesToFetch = [titles, column, "stars"]
    request.propertiesToGroupBy = [column]
    request.sortDescriptors = [
      NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame },
      NSSortDescriptor(key: "stars", ascending: true),
    ]
    request.shouldRefreshRefetchedObjects = true
    let document = model.document
    #expect(document.notes.map(\.entity) == Array(repeating: "odd", count: 4), "\(document.notes)")
    let kept = try #require(document.fetchRequests.first { $0.name == "odd" })
    #expect(kept.propertiesToFetch == ["title", "stars"] && kept.propertiesToGroupBy == [])
    #expect(kept.sortDescriptors == [.init("stars")])
    request.propertiesToFetch = []
    #expect(model.document.notes.contains { $0.message.contains("empty list") })
  }

  @Test func `a bound that isn't of the attribute's type stays a predicate in every form of file`() throws {
    let folder = try Folder()
    let model = RichModel.make()
    model.localizationDictionary = nil
    let note = try #require(model.entitiesByName["Note"])
    note.attributesByName["colour"]?.defaultValue = nil
    let conditions = [("title", "SELF >= 'A'"), ("body", "length >= 5"), ("stars", "SELF <= 2.5")]
    for (name, format) in conditions {
      note.attributesByName[name]?.setValidation([NSPredicate(format: format)], warnings: [])
    }
    let back = try NSManagedObjectModel(document: model.document)
    try model.write(to: folder.file("M.mom"))
    let file = try NSManagedObjectModel(reading: folder.file("M.mom"))
    for (name, format) in conditions {
      for read in [back, file] {
        let predicates = read.entitiesByName["Note"]?.attributesByName[name]?.validationPredicates
        #expect(predicates?.map(\.tree) == [NSPredicate(format: format).tree], "\(name)")
      }
    }
    let losses = model.document.reduced(to: .source).losses
    #expect(Set(losses.map(\.property)).isSuperset(of: conditions.map(\.0)))
  }

  @Test func `a configuration's entity that isn't there is a fault`() throws {
    var document = RichModel.make().document
    document.configurations[0].entityNames.append("Gone")
    let error = try #require(throws: SchemaError.self) { try NSManagedObjectModel(document: document) }
    #expect(error.faults.map(\.entity) == ["Local"] && error.faults[0].message.contains("\"Gone\""))
  }

  @Test(.timeLimit(.minutes(1)))
  func `composites that stand for billions of elements, or contain themselves, are one fault each`() throws {
    func composite(_ name: String, of inner: String?) -> ModelDocument.Composite {
      .init(
        name,
        elements: ["a", "b"].map { element in
          inner.map { .init(element, .composite, compositeName: $0) } ?? .init(element, .double)
        })
    }
    let composites = (0..<30).map { composite("C\($0)", of: $0 == 29 ? nil : "C\($0 + 1)") }
    let attributes = ["x", "y"].map { ModelDocument.Attribute($0, .composite, compositeName: "C0") }
    let tall = ModelDocument(
      entities: [.init("E", properties: attributes.map { .attribute($0) })], composites: composites)
    let error = try #require(throws: SchemaError.self) { try NSManagedObjectModel(document: tall) }
    #expect(error.faults.map(\.property) == ["x", "y"])
    #expect(error.faults.allSatisfy { $0.message.contains("too many elements") })
    let circle = ModelDocument(
      entities: [.init("E", properties: [.attribute(attributes[0])])],
      composites: [.init("C0", elements: [.init("a", .composite, compositeName: "C0")])])
    let second = try #require(throws: SchemaError.self) { try NSManagedObjectModel(document: circle) }
    #expect(second.faults.count == 1 && second.faults[0].message.contains("itself among its elements"))
  }

  @Test(.timeLimit(.minutes(1)))
  func `thousands of relationships between two entities find their inverses`() {
    let (a, b) = (NSEntityDescription(), NSEntityDescription())
    (a.name, b.name) = ("A", "B")
    func relationships(_ prefix: String, to other: String, inverse: String) -> [NSRelationshipDescription] {
      (0..<12_000).map { i in
        let made = NSRelationshipDescription()
        made.name = "\(prefix)\(i)"
        (made.destinationName, made.inverseName) = (other, "\(inverse)\(i)")
        return made
      }
    }
    a.properties = relationships("a", to: "B", inverse: "b")
    b.properties = relationships("b", to: "A", inverse: "a")
    let model = NSManagedObjectModel()
    model.entities = [a, b]
    let last = a.relationshipsByName["a11999"]?.inverseRelationship
    #expect(last?.name == "b11999" && last?.inverseRelationship?.name == "a11999")
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
