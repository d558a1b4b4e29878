// What an object says of itself after several operations have met: laws that random operations have found broken.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct StateAfterChangesTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `an object that was refreshed between its change and a save can be changed and saved again`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada")
    try office.context.save()
    ada.department = red
    office.context.refresh(red, mergeChanges: false)
    try office.context.save()
    red.name = "Blue"
    #expect(office.context.updatedObjects == [red])
    try office.context.save()
    #expect(try office.savedNames(Department.self) == ["Blue"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a deleted object's IDs and changed values agree with its relationships`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada")
    let project = Project(context: office.context)
    try office.context.save()
    red.projects = [project]
    ada.department = red
    office.context.delete(red)
    office.context.processPendingChanges()
    #expect(red.projects.isEmpty && red.employees.isEmpty)
    #expect(red.objectIDs(forRelationshipNamed: "projects").isEmpty)
    #expect(red.objectIDs(forRelationshipNamed: "employees").isEmpty)
    #expect(red.changedValues().isEmpty)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `taking a deletion back leaves both sides of what its rules have nullified empty`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let rooms = (0..<3).map { _ in Room(context: office.context) }
    red.rooms = Array(rooms[..<2])
    let (boss, ada) = (office.employee("Boss"), office.employee("Ada"))
    ada.manager = boss
    try office.context.save()
    rooms[2].department = red
    for object in [red, boss] {
      office.context.delete(object)
      office.context.processPendingChanges()
      office.context.insert(object)
    }
    #expect(rooms.allSatisfy { $0.department == nil } && red.rooms.isEmpty)
    #expect(ada.manager == nil && boss.reports.isEmpty)
    try office.context.save()
    let saved = try #require(try office.otherContext().fetch(request(Department.self)).first)
    #expect(saved.rooms.isEmpty)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a rollback tells only of objects that had changes`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try office.context.save()
    ada.name = "Eve"
    bob.name = "Zoe"
    office.context.refresh(ada, mergeChanges: false)
    office.context.processPendingChanges()
    let notes = Notes(.NSManagedObjectContextObjectsDidChange, office.context)
    office.context.rollback()
    #expect(notes.objects(NSRefreshedObjectsKey) == [bob])
    #expect(ada.name == "Ada" && bob.name == "Bob")
  }
}
