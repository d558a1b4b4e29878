// The models that the tests use, built in code, and containers over them.

import Cairn
import Testing

@testable import CairnGraph

final class Company: NSManagedObject {
  @Managed var name: String?
  @Managed var founded: Date?
  @Managed var staff: Set<Person>
  @Managed var board: [Person]
}

class Person: NSManagedObject {
  @Managed var name: String?
  @Managed var age: Int32
  @Managed var company: Company?
  @Managed var partner: Person?
  @Managed var friends: Set<Person>
  @Managed var tags: Set<Tag>
  @Managed var mood: String?
}

final class Manager: Person {
  @Managed var level: Int16
}

final class Tag: NSManagedObject {
  @Managed var text: String
  @Managed var people: Set<Person>
}

/// An entity with one attribute of every type.
final class Sample: NSManagedObject {
  enum Grade: Int16, ManagedAttribute { case none, low, high }

  @Managed var int16: Int16
  @Managed var int32: Int32
  @Managed var int64: Int64
  @Managed var int: Int
  @Managed var double: Double
  @Managed var float: Float
  @Managed var bool: Bool
  @Managed var string: String
  @Managed var date: Date
  @Managed var data: Data
  @Managed var uuid: UUID
  @Managed var url: URL
  @Managed var decimal: Decimal
  @Managed var grade: Grade
  @Managed var optionalInt: Int64?
  @Managed var optionalString: String?
  @Managed var optionalGrade: Grade?
  @Managed var x: Int64
}

enum TestModel {
  static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType, default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.defaultValue = value
    return attribute
  }

  static func entity(
    _ name: String, _ type: NSManagedObject.Type, _ properties: [NSPropertyDescription]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.setManagedObjectClass(type)
    entity.properties = properties
    return entity
  }

  @discardableResult
  static func relate(
    _ source: NSEntityDescription, _ name: String, toMany: Bool, ordered: Bool = false,
    _ destination: NSEntityDescription, _ inverse: String?, inverseToMany: Bool = false
  ) -> NSRelationshipDescription {
    let forward = NSRelationshipDescription()
    forward.name = name
    forward.maxCount = toMany ? 0 : 1
    forward.isOrdered = ordered
    forward.destinationEntity = destination
    source.properties = source.ownProperties + [forward]
    guard let inverse else { return forward }
    if source === destination, inverse == name {
      forward.inverseRelationship = forward
      return forward
    }
    let back = NSRelationshipDescription()
    back.name = inverse
    back.maxCount = inverseToMany ? 0 : 1
    back.destinationEntity = source
    back.inverseRelationship = forward
    forward.inverseRelationship = back
    destination.properties = destination.ownProperties + [back]
    return forward
  }

  static func make() -> NSManagedObjectModel {
    let company = entity(
      "Company", Company.self, [attribute("name", .string), attribute("founded", .date)])
    let mood = attribute("mood", .string, default: "calm")
    mood.isTransient = true
    let person = entity(
      "Person", Person.self,
      [attribute("name", .string), attribute("age", .integer32, default: 18), mood])
    let manager = entity("Manager", Manager.self, [attribute("level", .integer16, default: 1)])
    person.subentities = [manager]
    let tag = entity("Tag", Tag.self, [attribute("text", .string)])
    tag.uniquenessConstraints = [["text"]]
    relate(company, "staff", toMany: true, person, "company")
    relate(company, "board", toMany: true, ordered: true, person, "boardOf")
    relate(person, "partner", toMany: false, person, "partner")
    relate(person, "friends", toMany: true, person, "friends")
    relate(person, "tags", toMany: true, tag, "people", inverseToMany: true)
    let model = NSManagedObjectModel()
    model.entities = [company, person, manager, tag]
    return model
  }

  static func makeSample() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = [
      entity(
        "Sample", Sample.self,
        [
          attribute("int16", .integer16), attribute("int32", .integer32), attribute("int64", .integer64),
          attribute("int", .integer64), attribute("double", .double), attribute("float", .float),
          attribute("bool", .boolean), attribute("string", .string), attribute("date", .date),
          attribute("data", .binaryData), attribute("uuid", .uuid), attribute("url", .uri),
          attribute("decimal", .decimal), attribute("grade", .integer16),
          attribute("optionalInt", .integer64), attribute("optionalString", .string),
          attribute("optionalGrade", .integer16), attribute("x", .integer64),
        ])
    ]
    return model
  }
}

/// One store in memory, and contexts over it that are used from the test's own thread, one test a store.
/// Keeps every context that it hands out, since objects need theirs.
final class Stack {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init(_ model: NSManagedObjectModel = TestModel.make()) throws {
    container = NSPersistentContainer(name: "Test", managedObjectModel: model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.persistentStoreDescriptions[0].setOption(
      NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    context = container.newBackgroundContext()
  }

  private var others: [NSManagedObjectContext] = []

  func otherContext() -> NSManagedObjectContext {
    others.append(container.newBackgroundContext())
    return others[others.count - 1]
  }

  @discardableResult
  func person(_ name: String, age: Int32 = 18, in other: NSManagedObjectContext? = nil) -> Person {
    let person = Person(context: other ?? context)
    person.name = name
    person.age = age
    return person
  }
}

func request<T: NSManagedObject>(
  _ type: T.Type, _ predicate: PredicateTree? = nil, sort: [String] = [], ascending: Bool = true
) -> NSFetchRequest<T> {
  let request = T.fetchRequest() as NSFetchRequest<T>
  request.predicateTree = predicate
  request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: ascending) }
  return request
}
