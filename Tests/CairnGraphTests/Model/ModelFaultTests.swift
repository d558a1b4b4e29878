// What is wrong with a model is found whole, before anything is stored.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ModelFaultTests {
  /// A way to break a sound model, and the fault that it is.
  struct Break: Sendable, CustomTestStringConvertible {
    let entity: String
    let property: String?
    let message: String
    let apply: @Sendable (NSManagedObjectModel) -> Void
    var testDescription: String { message }

    init(
      _ entity: String, _ property: String?, _ message: String,
      _ apply: @escaping @Sendable (NSManagedObjectModel) -> Void
    ) {
      (self.entity, self.property, self.message, self.apply) = (entity, property, message, apply)
    }
  }

  static let breaks: [Break] = [
    Break("Note", "hash", "every managed object has something of this name") {
      $0.note.properties += [TestModel.attribute("hash", .string)]
    },
    Break("Memo", "title", "is declared by an entity that this one inherits from") {
      $0.entitiesByName["Memo"]?.properties += [TestModel.attribute("title", .string)]
    },
    Break("Note", "title", "is declared more than once") {
      $0.note.properties += [TestModel.attribute("title", .string)]
    },
    Break("Note", "recent", "is declared more than once") {
      $0.note.properties += [TestModel.attribute("recent", .string)]
    },
    Break("Note", "stars", "the default value many does not fit the type int16") {
      $0.note.attributesByName["stars"]?.defaultValue = "many"
    },
    Break("Note", "colour", "the default value") {
      $0.note.attributesByName["colour"]?.defaultValue = NSObject()
    },
    Break("Note", "colour", "there is no value transformer \"Missing\"") {
      $0.note.attributesByName["colour"]?.valueTransformerName = "Missing"
    },
    Break("Note", "size", "a stored attribute needs a type that can be stored, and undefined can't") {
      $0.note.attributesByName["size"]?.type = .undefined
    },
    Break("Note", "size", "a stored attribute needs a type that can be stored, and objectID can't") {
      $0.note.attributesByName["size"]?.type = .objectID
    },
    Break("Note", "place.latitude", "the default value x does not fit the type double") {
      $0.place.elements[0].defaultValue = "x"
    },
    Break("Note", "place.longitude", "an element of a composite can't be transient") {
      $0.place.elements[1].isTransient = true
    },
    Break("Note", "place", "the default values of a composite attribute stand with its elements") {
      $0.place.defaultValue = ["latitude": 1]
    },
    Break("Note", "tags", "leads to no entity: set its destinationEntity") {
      $0.note.relationshipsByName["tags"]?.destinationEntity = nil
    },
    Break("Note", "tags", "its inverse \"notes\" isn't among the properties of its destination") {
      let stray = NSRelationshipDescription()
      stray.name = "notes"
      $0.strays.append(stray)
      $0.note.relationshipsByName["tags"]?.inverseRelationship = stray
    },
    Break("Note", "tags", "doesn't name it as inverse in turn") {
      $0.entitiesByName["Tag"]?.relationshipsByName["notes"]?.inverseRelationship = nil
    },
    Break("Note", "tags", "the counts 3...2 are no range") {
      $0.note.relationshipsByName["tags"]?.minCount = 3
      $0.note.relationshipsByName["tags"]?.maxCount = 2
    },
    Break("Note", "missing", "a uniqueness constraint names it, and no stored property") {
      $0.note.uniquenessConstraints = [["missing"]]
    },
    Break("Note", nil, "a uniqueness constraint names attributes, not 5") {
      $0.note.uniquenessConstraints = [[5]]
    },
    Break("Note", "gone", "the index \"byGone\" names it") {
      let gone = TestModel.attribute("gone", .string)
      $0.note.indexes += [
        NSFetchIndexDescription(
          name: "byGone", elements: [.init(property: gone, collationType: .binary)])
      ]
    },
    Break("Note", nil, "has two indexes named \"byTitle\"") { $0.note.indexes[1].name = "byTitle" },
    Break("Note", nil, "the index \"byTitle\" mixes elements of different collation types") {
      $0.note.indexes[0].elements[1].collationType = .rTree
    },
    Break("Note", "made", "the index \"byTitle\" keeps it as an R-tree") {
      $0.note.indexes[0].elements[1].collationType = .rTree
    },
    Break("Note", "recent", "a fetched property needs a fetchRequest") {
      ($0.note.propertiesByName["recent"] as? NSFetchedPropertyDescription)?.fetchRequest = nil
    },
    Break("Note", "recent", "its fetch request asks for \"Nothing\", which doesn't exist") {
      ($0.note.propertiesByName["recent"] as? NSFetchedPropertyDescription)?.fetchRequest =
        NSFetchRequest<NSFetchRequestResult>(entityName: "Nothing")
    },
    Break("Note", "sum", "an expression goes into a fetch request's propertiesToFetch") {
      let sum = NSExpressionDescription()
      sum.name = "sum"
      $0.note.properties += [sum]
    },
    Break("Note", nil, "its subentity \"Stray\" isn't among the model's entities") {
      let stray = NSEntityDescription()
      stray.name = "Stray"
      $0.note.subentities += [stray]
    },
    Break("Note", nil, "inherits from itself by way of \"Note\"") {
      $0.entitiesByName["Memo"]?.subentities = [$0.note]
    },
    Break("Tag", nil, "is declared more than once") { $0.entitiesByName["Kind"]?.name = "Tag" },
    Break("Stray", nil, "the configuration \"Local\" has it, and the model doesn't") {
      let stray = NSEntityDescription()
      stray.name = "Stray"
      $0.setEntities([stray], forConfigurationName: "Local")
    },
  ]

  @Test func `the model that is broken is sound to begin with`() throws {
    #expect(try RichModel.make().validate().isEmpty)
  }

  @Test(arguments: breaks)
  func `a fault names entity and property`(_ fault: Break) throws {
    let model = RichModel.make()
    fault.apply(model)
    let error = try #require(throws: SchemaError.self) { try model.validate() }
    let found = error.faults.contains {
      $0.entity == fault.entity && $0.property == fault.property && $0.message.contains(fault.message)
    }
    #expect(found, "\(error)")
  }

  /// Breaks that no document can say: it has names where descriptions have references, and no such values.
  static let unsaid = [
    "is declared by an entity that this one inherits from", "the default value many", "the default value x",
    "the default value", "there is no value transformer", "the default values of a composite attribute",
    "its inverse \"notes\" isn't among", "a uniqueness constraint names attributes, not 5",
    "a fetched property needs a fetchRequest", "an expression goes into a fetch request's",
    "its subentity \"Stray\" isn't among",
  ]

  @Test(arguments: breaks)
  func `what is a fault of descriptions is an error of their document`(_ fault: Break) {
    let model = RichModel.make()
    #expect(model.document.check().filter { $0.severity == .error } == [])
    fault.apply(model)
    let isRefused = !ModelFaults.find(in: model).isEmpty
    if !isRefused || Self.unsaid.contains(where: { fault.message.hasPrefix($0) }) { return }
    #expect(model.document.check().contains { $0.severity == .error })
  }

  @Test func `bounds of values and of lengths aren't compared with each other`() throws {
    let model = RichModel.make()
    let title = try #require(model.note.attributesByName["title"])
    title.setValidation(
      [NSPredicate(format: "SELF >= 'A'"), NSPredicate(format: "length <= 5")], warnings: [])
    try model.validate()
    title.setValidation(
      [NSPredicate(format: "length >= 6"), NSPredicate(format: "length <= 5")], warnings: [])
    #expect(throws: SchemaError.self) { try model.validate() }
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["circle", "fan"])
  func `composites in a circle, or that stand for billions of elements, are a fault`(_ kind: String) throws {
    let model = RichModel.make()
    let place = model.place
    if kind == "circle" {
      let corner = try #require(place.elements[2] as? NSCompositeAttributeDescription)
      corner.elements.append(place)
    } else {
      var inner = place.elements[0]
      for _ in 0..<30 {
        let outer = NSCompositeAttributeDescription()
        outer.name = "outer"
        outer.elements = [inner, inner]
        inner = outer
      }
      place.elements = [inner]
    }
    let error = try #require(throws: SchemaError.self) { try model.validate() }
    #expect(error.faults.map(\.property) == ["place"])
    #expect(error.faults[0].message.contains(kind == "circle" ? "itself" : "at most"))
    #expect(model.document.notes.contains { $0.property == "place" })
    #expect(model.copy() as? NSManagedObjectModel == model)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(throws: (any Error).self) {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
  }

  @Test func `all faults come at once`() throws {
    let model = RichModel.make()
    let chosen = Self.breaks.filter { ["hash", "stars", "size", "missing"].contains($0.property) }
    for fault in chosen { fault.apply(model) }
    let error = try #require(throws: SchemaError.self) { try model.validate() }
    for name in Set(chosen.map(\.property)) { #expect(error.faults.contains { $0.property == name }) }
    #expect("\(error)".contains("the model has \(error.faults.count) faults"))
  }

  @Test func `checking a model leaves it mutable`() throws {
    let model = RichModel.make()
    try model.validate()
    model.note.name = "Other"
  }

  @Test func `what works and is probably not meant is warned of (2.1.8, 2.1.10)`() throws {
    let model = TestModel.make()
    model.entitiesByName["Person"]?.properties += [TestModel.attribute("Shoe", .integer16)]
    let warnings = try model.validate()
    #expect(warnings.map(\.property) == ["Shoe"] && warnings[0].entity == "Person")
    let person = try #require(model.entitiesByName["Person"])
    TestModel.relate(person, "idol", toMany: false, person, nil)
    #expect(try model.validate().contains { $0.property == "idol" && $0.message.contains("no inverse") })
  }
}

extension NSManagedObjectModel {
  fileprivate var note: NSEntityDescription { entitiesByName["Note"] ?? NSEntityDescription() }

  fileprivate var place: NSCompositeAttributeDescription {
    note.attributesByName["place"] as? NSCompositeAttributeDescription ?? NSCompositeAttributeDescription()
  }

  /// Keeps alive what a broken model refers to weakly.
  fileprivate var strays: [NSRelationshipDescription] {
    get { Strays.kept.withLock { $0 } }
    set { Strays.kept.withLock { $0 = newValue } }
  }
}

private enum Strays {
  static let kept = Lock<[NSRelationshipDescription]>([])
}
