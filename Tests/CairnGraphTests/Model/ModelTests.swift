// Models: defaults, hierarchy, faults, and that they don't change once used.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ModelTests {
  @Test func `descriptions start with Core Data's defaults`() {
    let attribute = NSAttributeDescription()
    #expect(attribute.type == .integer32 && attribute.attributeType == .integer32AttributeType)
    #expect(attribute.attributeValueClassName == "NSNumber" && attribute.defaultValue == nil)
    #expect(attribute.isOptional && !attribute.isTransient && attribute.userInfo?.isEmpty == true)
    let relationship = NSRelationshipDescription()
    #expect(relationship.deleteRule == .nullifyDeleteRule && relationship.isOptional)
    #expect(relationship.minCount == 0 && relationship.maxCount == 0 && relationship.isToMany)
    #expect(!relationship.isOrdered && relationship.inverseRelationship == nil)
    let entity = NSEntityDescription()
    #expect(entity.managedObjectClassName == "NSManagedObject" && !entity.isAbstract)
    #expect(entity.superentity == nil && entity.indexes.isEmpty && entity.uniquenessConstraints.isEmpty)
  }

  @Test func `raw values are Core Data's`() {
    #expect(NSAttributeDescription.AttributeType.uuid.rawValue == 1100)
    #expect(NSAttributeType.integer16AttributeType.rawValue == 100)
    #expect(NSDeleteRule.cascadeDeleteRule.rawValue == 2)
    #expect(NSManagedObjectContextConcurrencyType.mainQueueConcurrencyType.rawValue == 2)
  }

  @Test func `a subentity has its parent's properties first`() throws {
    let model = TestModel.make()
    let manager = try #require(model.entitiesByName["Manager"])
    let person = try #require(model.entitiesByName["Person"])
    #expect(
      manager.superentity === person && manager.isKindOf(entity: person) && !person.isKindOf(entity: manager))
    #expect(manager.properties.first?.name == "name" && manager.attributesByName["level"] != nil)
    #expect(
      manager.relationshipsByName["partner"]?.inverseRelationship === manager.relationshipsByName["partner"])
    #expect(person.subentitiesByName["Manager"] === manager && manager.managedObjectModel === model)
    let company = try #require(model.entitiesByName["Company"])
    #expect(Set(company.relationships(forDestination: person).map(\.name)) == ["staff", "board"])
    #expect(person.renamingIdentifier == "Person")
  }

  @Test func `every fault of a model is reported at once`() throws {
    let entity = NSEntityDescription()
    entity.name = "A"
    let untyped = TestModel.attribute("untyped", .undefined)
    let unfit = TestModel.attribute("unfit", .integer16, default: "text")
    let nowhere = NSRelationshipDescription()
    nowhere.name = "nowhere"
    entity.properties = [untyped, unfit, nowhere]
    entity.uniquenessConstraints = [["missing"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let failure = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
    let error = try #require(failure)
    #expect(error.code == 134_020)
    let faults = try #require(error.userInfo[NSUnderlyingErrorKey] as? SchemaError).faults
    #expect(Set(faults.map(\.property)) == ["untyped", "unfit", "nowhere", "missing"])
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `indexes and constraints reach the schema`() throws {
    let model = TestModel.make()
    let person = try #require(model.entitiesByName["Person"])
    let name = try #require(person.attributesByName["name"])
    person.indexes = [
      NSFetchIndexDescription(
        name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
    ]
    #expect(person.indexes[0].entity === person)
    #expect(person.indexes[0].elements[0].indexDescription === person.indexes[0])
    let schema = try model.compiled().schema
    #expect(schema.entity(named: "Person")?.indexes.map(\.name) == ["byName"])
    #expect(schema.entity(named: "Tag")?.uniquenessConstraints.count == 1)
  }

  @Test func `one model serves several coordinators`() throws {
    let model = TestModel.make()
    let (a, b) = (try Stack(model), try Stack(model))
    a.person("Ada")
    try a.context.save()
    #expect(try b.context.count(for: request(Person.self)) == 0)
  }

  @Test func `a class given by its bare name is found once it is used`() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Tag"
    entity.managedObjectClassName = "Tag"
    entity.properties = [TestModel.attribute("text", .string)]
    model.entities = [entity]
    let stack = try Stack(model)
    let tag = Tag(context: stack.context)
    tag.text = "red"
    try stack.context.save()
    #expect(try stack.otherContext().fetch(NSFetchRequest<Tag>(entityName: "Tag")).map(\.text) == ["red"])
  }
}
