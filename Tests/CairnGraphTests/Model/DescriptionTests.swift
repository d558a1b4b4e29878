// Descriptions by themselves: their defaults, what they copy, when two are equal, and that a used one is constant.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct DescriptionTests {
  @Test func `an attribute's value class follows from its type unless it is set (2.1.5)`() {
    let expected: [(NSAttributeDescription.AttributeType, String?)] = [
      (.integer16, "NSNumber"), (.integer32, "NSNumber"), (.integer64, "NSNumber"), (.double, "NSNumber"),
      (.float, "NSNumber"), (.boolean, "NSNumber"), (.decimal, "NSDecimalNumber"), (.string, "NSString"),
      (.date, "NSDate"), (.binaryData, "NSData"), (.uuid, "NSUUID"), (.uri, "NSURL"),
      (.objectID, "NSManagedObjectID"), (.transformable, nil), (.undefined, nil),
    ]
    for (type, name) in expected {
      let attribute = NSAttributeDescription()
      attribute.type = type
      #expect(attribute.attributeValueClassName == name, "\(type)")
      attribute.attributeValueClassName = "Color"
      #expect(attribute.attributeValueClassName == "Color")
    }
    #expect(NSCompositeAttributeDescription().attributeValueClassName == "NSDictionary")
    #expect(NSCompositeAttributeDescription().attributeType == .compositeAttributeType)
  }

  @Test func `both spellings of a type are one (1.5)`() {
    let raw: [UInt] = [
      0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1800, 2000,
    ]
    for value in raw {
      let attribute = NSAttributeDescription()
      attribute.attributeType = NSAttributeType(rawValue: value) ?? .compositeAttributeType
      #expect(attribute.type.rawValue == value && attribute.attributeType.rawValue == value)
      let expression = NSExpressionDescription()
      expression.expressionResultType = attribute.attributeType
      #expect(expression.resultType == attribute.type)
    }
    #expect(NSAttributeType.compositeAttributeType.rawValue == 2100)
  }

  @Test func `a renaming identifier is the name until it is set (2.9)`() {
    let attribute = TestModel.attribute("title", .string)
    #expect(attribute.renamingIdentifier == "title")
    attribute.renamingIdentifier = "name"
    attribute.name = "headline"
    #expect(attribute.renamingIdentifier == "name")
  }

  @Test func `validation predicates keep their warnings`() {
    let attribute = TestModel.attribute("age", .integer16)
    let predicates = [NSPredicate(value: true), NSPredicate(value: false)]
    attribute.setValidationPredicates(predicates, withValidationWarnings: ["a", "b"])
    #expect(attribute.validationPredicates == predicates)
    #expect(attribute.validationWarnings as? [String] == ["a", "b"])
    attribute.setValidationPredicates(nil, withValidationWarnings: nil)
    #expect(attribute.validationPredicates.isEmpty && attribute.validationWarnings.isEmpty)
  }

  @Test func `a property is in the entity that lists it last`() {
    let (a, b) = (NSEntityDescription(), NSEntityDescription())
    let attribute = TestModel.attribute("x", .string)
    a.properties = [attribute]
    #expect(attribute.entity === a)
    a.properties = []
    b.properties = [attribute]
    #expect(attribute.entity === b && a.properties.isEmpty)
  }

  @Test func `setting a child's properties leaves inherited ones to the parent (2.2.2)`() {
    let (parent, child) = (NSEntityDescription(), NSEntityDescription())
    parent.properties = [TestModel.attribute("a", .string)]
    parent.subentities = [child]
    child.properties += [TestModel.attribute("b", .string)]
    #expect(child.properties.map(\.name) == ["a", "b"] && child.ownProperties.map(\.name) == ["b"])
    #expect(child.propertiesByName["a"]?.entity === parent)
    parent.subentities = []
    #expect(child.superentity == nil && child.properties.map(\.name) == ["b"])
  }

  @Test func `going through an entity gives properties, through a model entities (2.3.9)`() {
    let model = TestModel.make()
    #expect(Array(model).map(\.name) == ["Company", "Person", "Manager", "Tag"])
    #expect(Set(model.entities[1].map(\.name)).isSuperset(of: ["name", "age", "friends"]))
  }
}

@Suite struct DescriptionCopyTests {
  @Test func `a copy of a used model is equal, mutable, and whole by itself (2.3.2)`() throws {
    let model = RichModel.make()
    _ = try model.compiled()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy == model && copy.hash == model.hash)
    for entity in copy.entities {
      #expect(entity.managedObjectModel === copy)
      #expect(entity.superentity?.managedObjectModel ?? copy === copy)
      for relationship in entity.relationshipsByName.values {
        #expect(relationship.destinationEntity?.managedObjectModel === copy)
        #expect(relationship.inverseRelationship?.entity.managedObjectModel ?? copy === copy)
      }
      for index in entity.indexes {
        #expect(index.elements.allSatisfy { $0.property?.entity.managedObjectModel === copy })
      }
    }
    copy.entities[0].properties[0].isOptional.toggle()
    #expect(copy != model)
    _ = try copy.compiled()
  }

  @Test func `copies of entities fit together in a model of their own`() throws {
    let model = TestModel.make()
    let other = NSManagedObjectModel()
    other.entities = try model.entities.map { try #require($0.copy() as? NSEntityDescription) }
    #expect(other.entitiesByName == model.entitiesByName)
    let person = try #require(other.entitiesByName["Person"])
    #expect(person.subentitiesByName["Manager"]?.managedObjectModel === other)
    #expect(person.relationshipsByName["company"]?.inverseRelationship?.entity.managedObjectModel === other)
    try other.validate()
  }

  /// One way each in which a description can be changed.
  static let changes: [(String, @Sendable (NSEntityDescription) -> Void)] = [
    ("name", { $0.name = "Other" }), ("class", { $0.managedObjectClassName = "Other" }),
    ("abstract", { $0.isAbstract = true }), ("constraints", { $0.uniquenessConstraints = [] }),
    ("modifier", { $0.versionHashModifier = "1" }), ("user info", { $0.userInfo = ["a": 1] }),
    ("indexes", { $0.indexes = [] }), ("index order", { $0.indexes[0].elements[0].isAscending = false }),
    ("compound indexes", { $0.compoundIndexes = [["title"]] }),
    ("renaming", { $0.renamingIdentifier = "Old" }), ("properties", { $0.properties = [] }),
    ("property", { $0.properties[0].name = "other" }), ("optional", { $0.properties[0].isOptional.toggle() }),
    ("transient", { $0.properties[0].isTransient = true }),
    ("indexed", { $0.properties[0].isIndexed = true }),
    ("spotlight", { $0.properties[0].isIndexedBySpotlight = true }),
    ("property renaming", { $0.properties[0].renamingIdentifier = "old" }),
    ("property modifier", { $0.properties[0].versionHashModifier = "1" }),
    ("property user info", { $0.properties[0].userInfo = ["a": [1, 2]] }),
    (
      "predicates",
      { $0.properties[0].setValidationPredicates([.init(value: true)], withValidationWarnings: nil) }
    ),
    ("type", { $0.attributesByName["title"]?.type = .date }),
    ("default", { $0.attributesByName["title"]?.defaultValue = "other" }),
    ("transformer", { $0.attributesByName["title"]?.valueTransformerName = "T" }),
    ("value class", { $0.attributesByName["title"]?.attributeValueClassName = "T" }),
    ("external", { $0.attributesByName["title"]?.allowsExternalBinaryDataStorage = true }),
    ("history", { $0.attributesByName["title"]?.preservesValueInHistoryOnDeletion = true }),
    ("cloud", { $0.attributesByName["title"]?.allowsCloudEncryption = true }),
    ("delete rule", { $0.relationshipsByName["tags"]?.deleteRule = .denyDeleteRule }),
    ("min", { $0.relationshipsByName["tags"]?.minCount = 1 }),
    ("max", { $0.relationshipsByName["tags"]?.maxCount = 5 }),
    ("ordered", { $0.relationshipsByName["tags"]?.isOrdered = false }),
    ("destination", { $0.relationshipsByName["tags"]?.destinationEntity = $0 }),
    ("inverse", { $0.relationshipsByName["tags"]?.inverseRelationship = nil }),
    (
      "element",
      { ($0.attributesByName["place"] as? NSCompositeAttributeDescription)?.elements[0].name = "other" }
    ),
    (
      "fetched",
      { ($0.propertiesByName["recent"] as? NSFetchedPropertyDescription)?.fetchRequest?.fetchLimit = 1 }
    ),
  ]

  @Test(arguments: changes.indices)
  func `a change shows in equality`(_ index: Int) throws {
    let (title, change) = Self.changes[index]
    let note = try #require(RichModel.make().entitiesByName["Note"])
    let other = RichModel.make()
    let changed = try #require(other.entitiesByName["Note"])
    #expect(note == changed)
    change(changed)
    #expect(note != changed, "\(title)")
    #expect(RichModel.make() != other, "\(title)")
  }

  @Test(arguments: changes.indices.dropLast())
  func `no setter of a used model works (2.3.2)`(_ index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index] in
      let model = RichModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      if let note = model.entitiesByName["Note"] { DescriptionCopyTests.changes[index].1(note) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can't modify an immutable model."), "\(Self.changes[index].0): \(text)")
    #expect(text.contains("model.copy()"))
  }

  static let modelChanges: [@Sendable (NSManagedObjectModel) -> Void] = [
    { $0.entities = [] }, { $0.versionIdentifiers = ["2"] }, { $0.localizationDictionary = [:] },
    { $0.setEntities([], forConfigurationName: "A") }, { $0.setFetchRequestTemplate(nil, forName: "x") },
    { $0.entities[0].subentities = [] },
  ]

  @Test(arguments: modelChanges.indices)
  func `no setter of the model itself works once it is used (2.3.2, 2.4.1)`(_ index: Int) async {
    await #expect(processExitsWith: .failure) { [index] in
      let model = RichModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      DescriptionCopyTests.modelChanges[index](model)
    }
  }
}
