// What objects and contexts tell of their changes: core-data/03, sections 3.1, 3.4, 3.5, 3.11 and 3.12.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ChangeStateTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.2 an equal value marks an object as updated, and is no changed value`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    ada.name = "Ada"
    #expect(ada.isUpdated && office.context.hasChanges)
    #expect(ada.changedValues().isEmpty && !ada.hasPersistentChangedValues)
    ada.name = "Eve"
    #expect(ada.changedValues() as? [String: String] == ["name": "Eve"] && ada.hasPersistentChangedValues)
    try office.context.save()
    #expect(ada.changedValues().isEmpty && !ada.isUpdated)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.3 changed values are the new ones, relationships included`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let (red, blue) = (office.department("Red"), office.department("Blue"))
    let ada = office.employee("Ada", in: red)
    let project = Project(context: office.context)
    project.departments = [red]
    try office.context.save()
    ada.department = blue
    ada.note = nil
    #expect(Set(ada.changedValues().keys) == ["department"])
    #expect(ada.changedValues()["department"] as? Department === blue)
    #expect(Set(red.changedValues().keys) == ["employees"] && Set(blue.changedValues().keys) == ["employees"])
    project.departments = [red, blue]
    #expect(project.changedValues()["departments"] as? Set<Department> == [red, blue])
    project.departments = [red]
    #expect(project.changedValues().isEmpty)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.5 committed values are the last fetched or saved ones`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada", in: red)
    #expect(ada.committedValues(forKeys: ["name"])["name"] is NSNull)
    try office.context.save()
    ada.name = "Eve"
    ada.name = "Zoe"
    ada.department = nil
    let committed = ada.committedValues(forKeys: nil)
    #expect(committed["name"] as? String == "Ada" && committed["note"] is NSNull)
    #expect(committed["department"] as? Department === red)
    #expect(red.committedValues(forKeys: ["employees"])["employees"] as? Set<Employee> == [ada])
    try office.context.save()
    #expect(ada.committedValues(forKeys: ["name"])["name"] as? String == "Zoe")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.4.4 the current event begins anew each time that changes are processed`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let ada = office.employee("Ada", salary: 1)
    try office.context.save()
    ada.name = "Eve"
    ada.name = "Zoe"
    #expect(ada.changedValuesForCurrentEvent() as? [String: String] == ["name": "Ada"])
    office.context.processPendingChanges()
    #expect(ada.changedValuesForCurrentEvent().isEmpty)
    ada.salary = 2
    #expect(ada.changedValuesForCurrentEvent() as? [String: Int] == ["salary": 1])
    #expect(Set(ada.changedValues().keys) == ["name", "salary"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.12 processing posts what has changed since the last time, in disjoint sets`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let context = office.context
    let notes = Notes(.NSManagedObjectContextObjectsDidChange, context)
    context.processPendingChanges()
    #expect(notes.all.isEmpty)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    context.processPendingChanges()
    #expect(notes.objects(NSInsertedObjectsKey) == [ada, bob])
    #expect(notes.objects(NSUpdatedObjectsKey) == nil)
    ada.salary = 3
    try context.save()
    #expect(notes.all.count == 2 && notes.objects(NSUpdatedObjectsKey, 1) == [ada])
    bob.salary = 1
    context.delete(ada)
    context.processPendingChanges()
    #expect(notes.objects(NSUpdatedObjectsKey, 2) == [bob])
    #expect(notes.objects(NSDeletedObjectsKey, 2) == [ada])
    _ = try context.fetch(request(Employee.self))
    #expect(notes.all.count == 3)
    let brief = office.employee("Cleo")
    context.delete(brief)
    context.processPendingChanges()
    #expect(notes.all.count == 3)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `perform processes changes at its end, and performAndWait doesn't`(_ store: StoreUnderTest)
    async throws
  {
    let office = try Office(store)
    let context = office.context
    let notes = Notes(.NSManagedObjectContextObjectsDidChange, context)
    context.performAndWait { _ = office.employee("Ada") }
    #expect(notes.all.isEmpty)
    await context.perform { _ = office.employee("Bob") }
    #expect(notes.objects(NSInsertedObjectsKey)?.count == 2)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `1.3 a save posts will save, did save and the IDs`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let context = office.context
    let (will, did, ids) = (
      Notes(.NSManagedObjectContextWillSave, context), Notes(.NSManagedObjectContextDidSave, context),
      Notes(NSManagedObjectContext.didSaveObjectIDsNotification, context)
    )
    try context.save()
    #expect(will.all.isEmpty && did.all.isEmpty)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try context.save()
    ada.salary = 1
    context.delete(bob)
    let bobsID = bob.objectID
    try context.save()
    #expect(will.all.count == 2 && did.all.count == 2)
    #expect(did.objects(NSInsertedObjectsKey) == [ada, bob])
    #expect(did.objects(NSUpdatedObjectsKey, 1) == [ada] && did.objects(NSDeletedObjectsKey, 1) == [bob])
    #expect(ids.all[1].userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> == [ada.objectID])
    #expect(ids.all[1].userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [bobsID])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.8 willSave may change objects, and is called again until nothing changes`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let ada = office.employee("Ada")
    ada.onWillSave = { if $0.note == nil { $0.note = "saved" } }
    try office.context.save()
    #expect(ada.calls == ["awakeFromInsert", "willSave", "willSave", "didSave"])
    #expect(try office.otherContext().fetch(request(Employee.self)).first?.note == "saved")
  }

  @Test func `3.1.8 a willSave that never stops changing traps after 1,000 rounds`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let office = try Office()
      office.employee("Ada").onWillSave = { $0.salary += 1 }
      try office.context.save()
    }
    #expect(
      sentence(result).contains("The context is still dirty after 1000 attempts"))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.5.3 obtainPermanentIDs gives the ID that the save keeps`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    let temporary = bob.objectID
    try office.context.obtainPermanentIDs(for: [bob])
    let permanent = bob.objectID
    #expect(!permanent.isTemporaryID && permanent != temporary && bob.isInserted)
    #expect(office.context.registeredObject(for: permanent) === bob)
    #expect(try office.context.existingObject(with: permanent) === bob)
    #expect(try office.otherContext().count(for: request(Employee.self)) == 0)
    ada.manager = bob
    try office.context.save()
    #expect(bob.objectID == permanent && ada.objectID != permanent)
    #expect(office.context.registeredObject(for: permanent) === bob)
    #expect(ada.manager === bob)
    let found = try office.otherContext().existingObject(with: permanent) as? Employee
    #expect(found?.name == "Bob" && found?.reports.map(\.name) == ["Ada"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.11 rollback forgets inserts, takes deletions back and restores values`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let (ada, bob) = (office.employee("Ada", in: red), office.employee("Bob", in: red))
    try office.context.save()
    let notes = Notes(.NSManagedObjectContextObjectsDidChange, office.context)
    ada.name = "Eve"
    ada.department = nil
    office.context.delete(bob)
    let new = office.employee("New", in: red)
    office.context.rollback()
    #expect(!office.context.hasChanges && !ada.hasChanges && !bob.isDeleted)
    #expect(ada.name == "Ada" && ada.department === red && red.employees == [ada, bob])
    #expect(new.managedObjectContext == nil && office.context.registeredObjects.contains(bob))
    #expect(notes.objects(NSDeletedObjectsKey, 1) == [new] && notes.objects(NSInsertedObjectsKey, 1) == [bob])
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Ada", "Bob"])
    ada.name = "Zoe"
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Bob", "Zoe"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.11 reset forgets everything and tells of the IDs`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let id = ada.objectID
    ada.name = "Eve"
    office.employee("New")
    let notes = Notes(.NSManagedObjectContextObjectsDidChange, office.context)
    office.context.reset()
    #expect(!office.context.hasChanges && office.context.registeredObjects.isEmpty)
    #expect(ada.managedObjectContext == nil)
    #expect(
      (notes.all.first?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID])?.contains(id) == true)
    let again = try office.context.existingObject(with: id) as? Employee
    #expect(again !== ada && again?.name == "Ada")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.11 refresh drops or keeps changes, and refreshAllObjects keeps only those of changed objects`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try office.context.save()
    let other = office.otherContext()
    for employee in try other.fetch(request(Employee.self)) { employee.salary = 9 }
    try other.save()
    ada.name = "Eve"
    #expect(ada.salary == 0 && bob.salary == 0)
    office.context.refresh(ada, mergeChanges: true)
    #expect(ada.salary == 9 && ada.name == "Eve" && ada.isUpdated && !ada.isFault)
    office.context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault && !ada.hasChanges && !office.context.hasChanges)
    #expect(ada.name == "Ada")
    ada.note = "n"
    office.context.refreshAllObjects()
    #expect(!ada.isFault && ada.note == "n" && bob.isFault)
    #expect(bob.salary == 9)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.7 an object is told when it turns into a fault`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    ada.calls = []
    office.context.refresh(ada, mergeChanges: false)
    office.context.refresh(ada, mergeChanges: false)
    _ = ada.name
    #expect(ada.calls == ["willTurnIntoFault", "didTurnIntoFault", "awakeFromFetch"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.2.5 an object whose row is gone is marked as deleted, and saves nothing`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let other = office.otherContext()
    let same = try #require(try other.existingObject(with: ada.objectID) as? Employee)
    other.refresh(same, mergeChanges: false)
    office.context.delete(ada)
    try office.context.save()
    #expect(same.name == nil && same.salary == 0)
    #expect(same.isDeleted && other.deletedObjects == [same])
    try other.save()
    #expect(!other.hasChanges)
  }

  @Test func `3.2.5 or reading it traps, where the context is told so`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let office = try Office()
      let ada = office.employee("Ada")
      try office.context.save()
      let other = office.otherContext()
      other.shouldDeleteInaccessibleFaults = false
      let same = other.object(with: ada.objectID) as? Employee
      office.context.delete(ada)
      try office.context.save()
      print(same?.name ?? "")
    }
    #expect(
      sentence(result).contains("CoreData could not fulfill a fault for"))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.2 asking for faults and IDs of relationships fires none of the destinations`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let (ada, bob) = (office.employee("Ada", in: red), office.employee("Bob", in: red))
    try office.context.save()
    let other = office.otherContext()
    let department = try #require(try other.fetch(request(Department.self)).first)
    #expect(department.hasFault(forRelationshipNamed: "employees") && department.isFault)
    let ids = department.objectIDs(forRelationshipNamed: "employees")
    #expect(Set(ids) == [ada.objectID, bob.objectID] && !department.isFault)
    #expect(ids.compactMap { other.registeredObject(for: $0) }.isEmpty)
    _ = department.employees
    #expect(!department.hasFault(forRelationshipNamed: "employees"))
    #expect(department.employees.filter(\.isFault).count == 2)
    let memo = Memo(context: office.context)
    memo.department = red
    #expect(red.objectIDs(forRelationshipNamed: "memos") == [memo.objectID])
  }

  /// One after the other, with one model: a class that entities of several models in use are of has none of its own.
  @Test func `3.1.2 the class finds its entity in a model that is in use`() throws {
    final class Lonely: NSManagedObject {}
    let model = NSManagedObjectModel()
    model.entities = [TestModel.entity("Hermit", Lonely.self, [TestModel.attribute("name", .string)])]
    for store in StoreUnderTest.allCases {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try store.add(to: coordinator)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      #expect(Lonely.entity().name == "Hermit" && Lonely(context: context).entity === Lonely.entity())
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an object's changes come as a sequence that ends with it`(_ store: StoreUnderTest) async throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let changes = ada.changeSequence()
    ada.name = "Eve"
    office.context.processPendingChanges()
    office.context.refresh(ada, mergeChanges: true)
    office.context.processPendingChanges()
    office.context.delete(ada)
    try office.context.save()
    var seen: [NSManagedObjectChange] = []
    for await change in changes { seen.append(change) }
    #expect(seen.map(\.kind) == [.updated, .refreshed, .deleted])
    #expect(seen.first?.keys == ["name"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an object's changes end when its context is reset`(_ store: StoreUnderTest) async throws {
    let office = try Office(store)
    let changes = office.employee("Ada").changeSequence()
    office.context.reset()
    var count = 0
    for await _ in changes { count += 1 }
    #expect(count == 0)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a custom accessor marks the object by willChangeValue`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    ada.setPrimitiveValue("Eve", forKey: "name")
    #expect(!ada.hasChanges && ada.name == "Eve")
    ada.willChangeValue(forKey: "name")
    ada.setPrimitiveValue("Zoe", forKey: "name")
    ada.didChangeValue(forKey: "name")
    #expect(ada.isUpdated)
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Zoe"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an object whose changes were discarded before a save is saved when it changes again`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try office.context.save()
    ada.name = "Eve"
    bob.salary = 1
    office.context.refresh(ada, mergeChanges: false)
    try office.context.save()
    ada.name = "Zoe"
    #expect(office.context.updatedObjects == [ada])
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["Bob", "Zoe"])
  }
}
