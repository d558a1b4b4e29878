// Deleting and its rules: core-data/03, sections 3.1.6, 3.6 and 3.9.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct DeletingTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `3.6 isDeleted is true from delete until the save is done, and then the object has no context`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    #expect(!ada.isDeleted)
    office.context.delete(ada)
    #expect(ada.isDeleted && ada.hasChanges && !ada.isUpdated)
    #expect(office.context.deletedObjects == [ada] && office.context.hasChanges)
    #expect(try office.savedNames(Employee.self) == ["Ada"])
    try office.context.save()
    #expect(ada.calls.suffix(3) == ["prepareForDeletion", "willSave", "didSave deleted"])
    #expect(!ada.isDeleted && ada.managedObjectContext == nil && ada.name == "Ada")
    #expect(!office.context.hasChanges && office.context.registeredObject(for: ada.objectID) == nil)
    #expect(try office.savedNames(Employee.self) == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.7 an object that is inserted and deleted before the save is in no set and does no work`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    office.context.delete(ada)
    #expect(office.context.insertedObjects.isEmpty && office.context.deletedObjects.isEmpty)
    #expect(!office.context.hasChanges)
    office.employee("Bob")
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Bob"])
    #expect(ada.managedObjectContext == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.7 an updated object that is deleted is only deleted`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    ada.salary = 5
    office.context.delete(ada)
    #expect(office.context.updatedObjects.isEmpty && office.context.deletedObjects == [ada])
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.2 nullify takes the object away from the other side, to-one and to-many`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let boss = office.employee("Boss")
    let ada = office.employee("Ada")
    let bob = office.employee("Bob")
    boss.reports = [ada, bob]
    let (red, blue) = (office.department("Red"), office.department("Blue"))
    let project = Project(context: office.context)
    project.departments = [red, blue]
    try office.context.save()
    office.context.delete(ada)
    office.context.delete(red)
    office.context.processPendingChanges()
    #expect(boss.reports == [bob] && project.departments == [blue])
    office.context.delete(boss)
    office.context.processPendingChanges()
    #expect(bob.manager == nil && bob.isUpdated)
    try office.context.save()
    let other = office.otherContext()
    let found = try #require(try other.fetch(request(Employee.self)).first)
    #expect(found.name == "Bob" && found.manager == nil)
    let saved = try #require(try other.fetch(request(Project.self)).first)
    #expect(saved.departments.map(\.name) == ["Blue"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.2 cascade deletes destinations recursively, whether or not they were read`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    for name in ["Ada", "Bob"] {
      let employee = office.employee(name, in: red)
      let desk = Desk(context: office.context)
      desk.employee = employee
    }
    office.employee("Eve")
    try office.context.save()
    let other = office.otherContext()
    let department = try #require(try other.fetch(request(Department.self)).first)
    other.delete(department)
    #expect(other.deletedObjects == [department])
    other.processPendingChanges()
    #expect(other.deletedObjects.count == 5)
    try other.save()
    #expect(try office.savedNames(Employee.self) == ["Eve"])
    #expect(try office.savedNames(Desk.self, "number") == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.2 deny is found by the save, which throws 1600 and changes nothing`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let budget = Budget(context: office.context)
    budget.department = red
    try office.context.save()
    office.context.delete(red)
    office.context.processPendingChanges()
    #expect(budget.department === red)
    let error = thrown { try office.context.save() }
    #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "budgets")
    #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === red)
    #expect(red.isDeleted && office.context.deletedObjects == [red])
    #expect(thrown { try office.context.save() }?.code == 1600)
    #expect(try office.savedNames(Department.self) == ["Red"])
    office.context.delete(budget)  // 3.9.4: both go
    try office.context.save()
    #expect(try office.savedNames(Department.self) == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.2 noAction leaves the other side's key as it is`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let memo = Memo(context: office.context)
    memo.department = red
    try office.context.save()
    office.context.delete(red)
    try office.context.save()
    let saved = try #require(try office.otherContext().fetch(request(Memo.self)).first)
    #expect(!saved.isUpdated)
    let dangling = try #require(saved.department)
    #expect(dangling.name == nil)
    #expect(dangling.isDeleted)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.1 rules wait for the save where the context is told so`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    office.context.propagatesDeletesAtEndOfEvent = false
    let red = office.department("Red")
    let ada = office.employee("Ada", in: red)
    try office.context.save()
    office.context.delete(red)
    office.context.processPendingChanges()
    #expect(!ada.isDeleted && office.context.deletedObjects == [red])
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a deleted object leaves lists, and the list that is saved leaves it out`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let rooms = (0..<4).map { number in
      let room = Room(context: office.context)
      room.number = Int32(number)
      return room
    }
    red.rooms = rooms
    try office.context.save()
    red.rooms = rooms.reversed()
    office.context.delete(rooms[2])
    office.context.processPendingChanges()
    #expect(red.rooms.map(\.number) == [3, 1, 0])
    try office.context.save()
    #expect(red.rooms.map(\.number) == [3, 1, 0])
    let saved = try #require(try office.otherContext().fetch(request(Department.self)).first)
    #expect(saved.rooms.map(\.number) == [3, 1, 0])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.6 prepareForDeletion comes at once, while relationships are there, and once`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada", in: red)
    try office.context.save()
    ada.calls = []
    office.context.delete(ada)
    office.context.delete(ada)
    #expect(ada.calls == ["prepareForDeletion"])
    office.context.delete(red)
    office.context.processPendingChanges()
    #expect(ada.calls == ["prepareForDeletion"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.6 what prepareForDeletion deletes amid a cascade cascades too, also where it ends the event`(
    _ store: StoreUnderTest
  ) throws {
    for endsEvent in [false, true] {
      let office = try Office(store)
      let departments = (0..<30).map { office.department("\($0)") }
      let people = departments.map { office.employee($0.name ?? "", in: $0) }
      try office.context.save()
      for (person, next) in zip(people, departments.dropFirst()) {
        person.onDeletion = { person in
          person.managedObjectContext?.delete(next)
          if endsEvent { person.managedObjectContext?.processPendingChanges() }
        }
      }
      office.context.delete(departments[0])
      office.context.processPendingChanges()
      #expect(office.context.deletedObjects == Set(departments as [NSManagedObject] + people))
      #expect(people.allSatisfy { $0.calls.filter { $0 == "prepareForDeletion" }.count == 1 })
      try office.context.save()
      #expect(try office.savedNames(Employee.self) == [])
      #expect(try office.otherContext().count(for: request(Department.self)) == 0)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a fetch and a count leave deleted objects out before they are saved`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let people = ["Ada", "Bob", "Cleo", "Dan"].map { office.employee($0) }
    try office.context.save()
    office.context.delete(people[1])
    people[0].name = "Zoe"
    office.employee("Bea")
    let names = request(Employee.self, sort: ["name"])
    names.fetchLimit = 3
    #expect(try office.context.fetch(names).map(\.name) == ["Bea", "Cleo", "Dan"])
    #expect(try office.context.count(for: request(Employee.self)) == 4)
    #expect(try office.context.count(for: request(Employee.self, .compare("name", .less, "D"))) == 2)
    names.includesPendingChanges = false
    #expect(try office.context.fetch(names).count == 3)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a new object that others lead to can be deleted before the save`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let memo = Memo(context: office.context)
    memo.department = red
    let room = Room(context: office.context)
    room.department = red
    office.context.delete(red)
    try office.context.save()
    let other = office.otherContext()
    #expect(try other.fetch(request(Memo.self)).first?.department == nil)
    #expect(try other.fetch(request(Room.self)).first?.department == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `insert takes a deletion back`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    office.context.delete(ada)
    office.context.insert(ada)
    #expect(!ada.isDeleted && !office.context.hasChanges)
    let new = office.employee("Bob")
    office.context.delete(new)
    office.context.insert(new)
    #expect(new.isInserted && office.context.insertedObjects == [new])
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Ada", "Bob"])
  }

  @Test func `deleting an object of another context traps`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let office = try Office()
      office.otherContext().delete(office.employee("Ada"))
    }
    #expect(sentence(result).contains("not in this context"))
  }
}
