// Transformable and composite attributes of objects: core-data/02, sections 2.1.5 and 2.8.

import Cairn
import Testing

@testable import CairnGraph

private struct Place: Codable, ManagedCodable, Equatable {
  var latitude: Double
  var longitude: Double
}

extension NSDictionary: ManagedTransformable {}

private final class Visit: NSManagedObject {
  @Managed var place: Place?
  @Managed var labels: [String]
  @Managed var counts: [String: Int]
  @Managed var info: NSDictionary?
  @Managed var grade: Grade

  enum Grade: Int16, ManagedAttribute { case none, low, high }
}

@Suite struct CompoundTests {
  private let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator

  init() throws {
    let home = NSCompositeAttributeDescription()
    home.name = "home"
    let street = TestModel.attribute("street", .string)
    let position = NSCompositeAttributeDescription()
    position.name = "position"
    position.elements = [TestModel.attribute("x", .double), TestModel.attribute("y", .double, default: 2.5)]
    home.elements = [street, position]
    let model = NSManagedObjectModel()
    model.entities = [
      TestModel.entity(
        "Visit", Visit.self,
        [
          TestModel.attribute("place", .transformable), TestModel.attribute("labels", .transformable),
          TestModel.attribute("counts", .transformable), TestModel.attribute("info", .transformable),
          TestModel.attribute("grade", .integer16, default: 1), home,
        ])
    ]
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  private func saved(_ visit: Visit) throws -> Visit {
    try context.save()
    context.refresh(visit, mergeChanges: false)
    return visit
  }

  @Test func `values that Swift can encode come back as they were, new and saved`() throws {
    let visit = Visit(context: context)
    #expect(visit.place == nil && visit.labels == [] && visit.counts == [:] && visit.grade == .low)
    visit.place = Place(latitude: 1.5, longitude: -0.25)
    visit.labels = ["a", "é", ""]
    visit.counts = ["one": 1]
    visit.grade = .high
    #expect(visit.place == Place(latitude: 1.5, longitude: -0.25) && visit.labels == ["a", "é", ""])
    let again = try saved(visit)
    #expect(again.place == Place(latitude: 1.5, longitude: -0.25))
    #expect(again.labels == ["a", "é", ""] && again.counts == ["one": 1] && again.grade == .high)
    again.place = nil
    again.labels = []
    #expect(try saved(again).place == nil && again.labels == [])
  }

  @Test func `bytes that aren't of the type are nil for an optional property`() throws {
    let visit = Visit(context: context)
    visit.setValue(["key": "value"], forKey: "place")
    #expect(visit.place == nil)
    #expect((visit.value(forKey: "place") as? [String: String]) == ["key": "value"])
  }

  @Test func `a transformable attribute keeps what its transformer makes of an object`() throws {
    let visit = Visit(context: context)
    visit.info = ["a": 1, "b": ["c"]]
    let again = try saved(visit)
    #expect(again.info == ["a": 1, "b": ["c"]])
    #expect(!again.hasChanges)
    again.info = ["a": 2]
    #expect(Set(again.changedValues().keys) == ["info"])
    #expect(again.committedValues(forKeys: ["info"])["info"] as? NSDictionary == ["a": 1, "b": ["c"]])
  }

  @Test func `a dictionary fetch gives transformed values and composites as objects do`() throws {
    let visit = Visit(context: context)
    visit.info = ["a": 1]
    visit.setValue(["street": "Main"], forKey: "home")
    try context.save()
    let request = NSFetchRequest<NSDictionary>(entityName: "Visit")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["info", "home", "home.street"]
    let rows = try context.fetch(request)
    #expect(rows == [["info": ["a": 1], "home": ["street": "Main"], "home.street": "Main"]])
  }

  @Test func `2.8.1 a composite attribute is a dictionary of its elements`() throws {
    let visit = Visit(context: context)
    #expect(visit.value(forKey: "home") as? NSDictionary == ["position": ["y": 2.5]])
    visit.setValue(["street": "Main", "position": ["x": 1.0]], forKey: "home")
    let again = try saved(visit)
    #expect(again.value(forKey: "home") as? NSDictionary == ["street": "Main", "position": ["x": 1.0]])
    again.setValue(nil, forKey: "home")
    #expect(again.value(forKey: "home") == nil && Set(again.changedValues().keys) == ["home"])
    let committed = again.committedValues(forKeys: nil)["home"] as? NSDictionary
    #expect(committed == ["street": "Main", "position": ["x": 1.0]])
    context.rollback()
    #expect(try context.count(for: request(Visit.self, .compare("home.position.x", .equal, 1))) == 1)
  }

  @Test func `an element that isn't there traps and names those that are`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let tests = try CompoundTests()
      Visit(context: tests.context).setValue(["zip": "1"], forKey: "home")
    }
    #expect(sentence(result).contains("has no element \"zip\"; its elements are: street, position"))
  }
}
