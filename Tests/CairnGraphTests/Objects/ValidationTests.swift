// What a save refuses because of the model's rules: core-data/03, section 3.10.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ValidationTests {
  private let coordinator: NSPersistentStoreCoordinator
  private let context: NSManagedObjectContext

  init() throws {
    let name = TestModel.attribute("name", .string)
    name.isOptional = false
    let mood = TestModel.attribute("mood", .string)
    mood.isOptional = false
    mood.isTransient = true
    mood.defaultValue = "calm"
    let person = TestModel.entity("Person", NSManagedObject.self, [name, mood])
    let team = TestModel.entity("Team", NSManagedObject.self, [TestModel.attribute("size", .integer16)])
    let members = TestModel.relate(team, "members", toMany: true, person, "team")
    members.minCount = 2
    members.maxCount = 3
    let lead = TestModel.relate(team, "lead", toMany: false, person, "leads")
    lead.isOptional = false
    let model = NSManagedObjectModel()
    model.entities = [person, team]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  private func new(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValuesForKeys(values)
    return object
  }

  private func codes(_ error: NSError?) -> [Int] {
    guard let error else { return [] }
    let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
    return details.map { $0.map(\.code).sorted() } ?? [error.code]
  }

  @Test func `3.10.3 a required attribute that is nil is 1570 with object and key`() throws {
    let person = new("Person")
    let error = thrown { try context.save() }
    #expect(error?.code == NSValidationMissingMandatoryPropertyError && error?.domain == NSCocoaErrorDomain)
    #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === person)
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
    #expect(person.isInserted && context.hasChanges)
    person.setValue("", forKey: "name")
    try context.save()
    person.setValue(nil, forKey: "name")
    #expect(thrown { try context.save() }?.code == 1570)
  }

  @Test func `3.10.6 transient attributes are validated too`() throws {
    let person = new("Person", ["name": "Ada"])
    person.setValue(nil, forKey: "mood")
    #expect(thrown { try context.save() }?.code == 1570)
  }

  @Test func `3.10.4 two failures are 1560 with both, of whichever objects`() throws {
    _ = new("Person")
    _ = new("Person")
    let error = thrown { try context.save() }
    #expect(error?.code == NSValidationMultipleErrorsError && codes(error) == [1570, 1570])
  }

  @Test func `3.10.3 a required to-one that leads nowhere is 1570`() throws {
    let team = new("Team")
    let error = thrown { try context.save() }
    #expect(error?.code == 1570 && error?.userInfo[NSValidationKeyErrorKey] as? String == "lead")
    team.setValue(new("Person", ["name": "Ada"]), forKey: "lead")
    try context.save()
  }

  @Test func `3.10.3 counts of a to-many are 1580 and 1590, and an optional one may be empty`() throws {
    let people = (0..<4).map { new("Person", ["name": "\($0)"]) }
    let team = new("Team", ["lead": people[0]])
    try context.save()
    team.setValue(Set(people.prefix(1)), forKey: "members")
    #expect(thrown { try context.save() }?.code == NSValidationRelationshipLacksMinimumCountError)
    team.setValue(Set(people), forKey: "members")
    #expect(thrown { try context.save() }?.code == NSValidationRelationshipExceedsMaximumCountError)
    team.setValue(Set(people.prefix(3)), forKey: "members")
    try context.save()
  }

  @Test func `3.9.5 nullifying a required inverse is 1570 on the other object`() throws {
    let ada = new("Person", ["name": "Ada"])
    let team = new("Team", ["lead": ada])
    try context.save()
    context.delete(ada)
    let error = thrown { try context.save() }
    #expect(error?.code == 1570 && error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === team)
    context.rollback()
    #expect(team.value(forKey: "lead") as? NSManagedObject === ada)
  }

  @Test func `3.10.2 a class adds its own checks to those of the model`() throws {
    final class Guest: NSManagedObject {
      @Managed var name: String?
      override func validateForInsert() throws {
        try super.validateForInsert()
        if name == "Eve" { throw CocoaError(.validationInvalidDate) }
      }
    }
    let model = NSManagedObjectModel()
    let attribute = TestModel.attribute("name", .string)
    attribute.isOptional = false
    model.entities = [TestModel.entity("Guest", Guest.self, [attribute])]
    let container = try NSPersistentContainer.inMemory(name: "Guests", model: model)
    let context = container.newBackgroundContext()
    let guest = NSEntityDescription.insertNewObject(forEntityName: "Guest", into: context)
    #expect(thrown { try context.save() }?.code == 1570)
    guest.setValue("Eve", forKey: "name")
    #expect(thrown { try context.save() }?.code == NSValidationInvalidDateError)
    guest.setValue("Ada", forKey: "name")
    try context.save()
  }
}
