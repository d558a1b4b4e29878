// Two contexts over one store: core-data/04, sections 4.3 to 4.6.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct MergingTests {
  /// A row {name: 1, note: 1, salary: 1}, which the other context has saved as {2, 2, 1} and this one has
  /// edited to {9, 1, 9}: the setup of table 4.6.
  private struct Contest {
    let office: Office
    let context: NSManagedObjectContext
    let mine: Employee

    init(_ store: StoreUnderTest, _ policy: NSMergePolicy) throws {
      office = try Office(store)
      let employee = office.employee("1", salary: 1)
      employee.note = "1"
      try office.context.save()
      context = office.otherContext(policy)
      mine = try #require(try context.existingObject(with: employee.objectID) as? Employee)
      employee.name = "2"
      employee.note = "2"
      try office.context.save()
      mine.name = "9"
      mine.salary = 9
    }

    var mineNow: [String] { [mine.name ?? "", mine.note ?? "", "\(mine.salary)"] }

    func stored() throws -> [String] {
      let row = try #require(try office.otherContext().fetch(request(Employee.self)).first)
      return [row.name ?? "", row.note ?? "", "\(row.salary)"]
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.6 error: throws 133020, the store and the context stay as they are`(_ store: StoreUnderTest) throws
  {
    let contest = try Contest(store, .error)
    let error = thrown { try contest.context.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
    #expect(conflict?.objectSnapshot?["name"] as? String == "1")
    #expect(conflict?.persistedSnapshot?["name"] as? String == "2")
    #expect(try contest.stored() == ["2", "2", "1"])
    #expect(contest.mineNow == ["9", "1", "9"] && contest.mine.isUpdated)
  }

  @Test(
    arguments: StoreUnderTest.allCases,
    [
      (NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, ["2", "2", "9"]),
      (.mergeByPropertyObjectTrumpMergePolicyType, ["9", "2", "9"]),
      (.overwriteMergePolicyType, ["9", "1", "9"]), (.rollbackMergePolicyType, ["2", "2", "1"]),
    ])
  func `4.6 each policy gives the row that the table says, in the store and in memory`(
    _ store: StoreUnderTest, _ row: (NSMergePolicyType, [String])
  ) throws {
    let contest = try Contest(store, NSMergePolicy(merge: row.0))
    try contest.context.save()
    #expect(try contest.stored() == row.1)
    #expect(contest.mineNow == row.1)
    #expect(!contest.context.hasChanges && !contest.mine.hasChanges)
    contest.mine.note = "later"
    try contest.context.save()
    #expect(try contest.stored()[1] == "later")
  }

  @Test(
    arguments: StoreUnderTest.allCases,
    [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType, .rollbackMergePolicyType,
    ])
  func `4.6 the other has deleted the row: it stays deleted, or is inserted again`(
    _ store: StoreUnderTest, _ type: NSMergePolicyType
  ) throws {
    let office = try Office(store)
    let employee = office.employee("1", salary: 7)
    try office.context.save()
    let context = office.otherContext(NSMergePolicy(merge: type))
    let mine = try #require(try context.existingObject(with: employee.objectID) as? Employee)
    office.context.delete(employee)
    try office.context.save()
    mine.name = "9"
    try context.save()
    let objectWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
    #expect(try office.savedNames(Employee.self) == (objectWins ? ["9"] : []))
    #expect(!context.hasChanges)
    if objectWins {
      #expect(mine.salary == 7 && mine.objectID == employee.objectID)
    } else {
      #expect(mine.managedObjectContext == nil)
    }
  }

  @Test(
    arguments: StoreUnderTest.allCases,
    [
      NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
      .overwriteMergePolicyType, .rollbackMergePolicyType,
    ])
  func `4.6 we have deleted what the other has changed: the deletion is taken back, or done`(
    _ store: StoreUnderTest, _ type: NSMergePolicyType
  ) throws {
    let office = try Office(store)
    let employee = office.employee("1")
    try office.context.save()
    let context = office.otherContext(NSMergePolicy(merge: type))
    let mine = try #require(try context.existingObject(with: employee.objectID) as? Employee)
    employee.name = "2"
    try office.context.save()
    context.delete(mine)
    try context.save()
    let objectWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
    #expect(try office.savedNames(Employee.self) == (objectWins ? [] : ["2"]))
    #expect(!context.hasChanges)
    if !objectWins { #expect(mine.name == "2" && !mine.isDeleted) }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.5.4 a deletion of a row that has changed throws 133020 by the error policy`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let employee = office.employee("1")
    try office.context.save()
    let context = office.otherContext()
    let mine = try context.existingObject(with: employee.objectID)
    employee.name = "2"
    try office.context.save()
    context.delete(mine)
    #expect(thrown { try context.save() }?.code == 133_020)
    #expect(mine.isDeleted && context.deletedObjects == [mine])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.5.3 detectConflicts checks an object that isn't changed itself`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let employee = office.employee("1")
    try office.context.save()
    let context = office.otherContext()
    let mine = try context.existingObject(with: employee.objectID)
    context.detectConflicts(for: mine)
    try context.save()
    context.detectConflicts(for: mine)
    employee.name = "2"
    try office.context.save()
    office.employee("new", of: context)
    #expect(thrown { try context.save() }?.code == 133_020)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.6 a policy of one's own decides, or throws`(_ store: StoreUnderTest) throws {
    final class Longer: NSMergePolicy, @unchecked Sendable {
      override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        for conflict in list where (conflict.persistedSnapshot?["name"] as? String ?? "").count > 1 {
          throw CocoaError(.coderInvalidValue)
        }
        try super.resolve(optimisticLockingConflicts: list)
      }
    }
    let policy = Longer(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    let contest = try Contest(store, policy)
    try contest.context.save()
    #expect(try contest.stored() == ["9", "2", "9"])
    let theirs = try #require(
      try contest.office.context.existingObject(with: contest.mine.objectID) as? Employee)
    contest.office.context.refresh(theirs, mergeChanges: false)
    theirs.name = "long"
    try contest.office.context.save()
    contest.mine.salary = 1
    #expect(thrown { try contest.context.save() }?.code == CocoaError.coderInvalidValue.rawValue)
    #expect(contest.mine.isUpdated)
  }

  // MARK: Uniqueness

  @Test(
    arguments: StoreUnderTest.allCases,
    [
      (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, Int32(9), true),
      (.mergeByPropertyStoreTrumpMergePolicyType, 1, true), (.overwriteMergePolicyType, 9, false),
      (.rollbackMergePolicyType, 1, true),
    ])
  func `4.6 a new object with a name that is taken is resolved as the table says`(
    _ store: StoreUnderTest, _ row: (type: NSMergePolicyType, salary: Int32, keepsID: Bool)
  ) throws {
    let office = try Office(store, unique: ["name"])
    let old = office.employee("Ada", salary: 1)
    try office.context.save()
    let context = office.otherContext(NSMergePolicy(merge: row.type))
    let new = office.employee("Ada", salary: 9, of: context)
    let project = Desk(context: context)
    project.employee = new
    try context.save()
    let saved = try office.otherContext().fetch(request(Employee.self))
    #expect(saved.map(\.salary) == [row.salary])
    #expect((saved.first?.objectID == old.objectID) == row.keepsID)
    #expect(!context.hasChanges)
    if row.keepsID { #expect(new.managedObjectContext == nil) }
    let desks = try office.otherContext().fetch(request(Desk.self))
    if row.type != .rollbackMergePolicyType { #expect(desks.map(\.employee?.name) == ["Ada"]) }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.6 error: a name that is taken throws 133021 with both objects`(_ store: StoreUnderTest) throws {
    let office = try Office(store, unique: ["name"])
    let old = office.employee("Ada")
    try office.context.save()
    let new = office.employee("Ada")
    let error = thrown { try office.context.save() }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
    let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])?.first
    #expect(conflict?.databaseObject === old && conflict?.conflictingObjects == [new])
    #expect(conflict?.constraint == ["name"] && new.isInserted)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.6 of new objects that clash among themselves one stays`(_ store: StoreUnderTest) throws {
    let office = try Office(store, unique: ["name"])
    let context = office.otherContext(.mergeByPropertyObjectTrump)
    for salary in 1...3 { office.employee("Ada", salary: Int32(salary), of: context) }
    try context.save()
    #expect(try office.savedNames(Employee.self) == ["Ada"] && !context.hasChanges)
  }

  // MARK: Merging saves

  @Test(arguments: StoreUnderTest.allCases)
  func `4.3 a merged save brings inserts, updates and deletes, and keeps unsaved edits`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try office.context.save()
    let other = office.otherContext()
    let mine = try other.fetch(request(Employee.self, sort: ["name"]))
    #expect(mine.map(\.name) == ["Ada", "Bob"])
    mine[0].note = "mine"
    let saves = Notes(.NSManagedObjectContextDidSave, office.context)
    let changes = Notes(.NSManagedObjectContextObjectsDidChange, other)
    let merges = Notes(NSManagedObjectContext.didMergeChangesObjectIDsNotification, other)
    ada.salary = 5
    ada.note = "theirs"
    office.context.delete(bob)
    let cleo = office.employee("Cleo")
    try office.context.save()
    #expect(mine[0].salary == 0)
    other.mergeChanges(fromContextDidSave: try #require(saves.all.first))
    #expect(mine[0].salary == 5 && mine[0].note == "mine" && mine[0].isUpdated)
    #expect(mine[1].isDeleted && other.deletedObjects == [mine[1]])
    let new = try #require(other.registeredObject(for: cleo.objectID))
    let last = changes.all.count - 1
    #expect(changes.objects(NSInsertedObjectsKey, last) == [new] && new.isFault)
    #expect(changes.objects(NSRefreshedObjectsKey, last) == [mine[0]])
    #expect(changes.objects(NSDeletedObjectsKey, last) == [mine[1]])
    #expect(
      merges.all.first?.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [cleo.objectID])
    try other.save()
    #expect(try office.savedNames(Employee.self) == ["Ada", "Cleo"])
    #expect(try office.otherContext().fetch(request(Employee.self, sort: ["name"])).first?.note == "mine")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.2.5 a context that merges by itself sees the saves of others soon`(_ store: StoreUnderTest)
    async throws
  {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let id = ada.objectID
    let other = office.otherContext()
    other.retainsRegisteredObjects = true
    other.automaticallyMergesChangesFromParent = true
    let name = try await other.perform { try (other.existingObject(with: id) as? Employee)?.name }
    #expect(name == "Ada")
    ada.name = "Eve"
    try office.context.save()
    let merged = await other.perform(schedule: .enqueued) { (other.object(with: id) as? Employee)?.name }
    #expect(merged == "Eve")
    other.automaticallyMergesChangesFromParent = false
    ada.name = "Zoe"
    try office.context.save()
    let stale = await other.perform(schedule: .enqueued) { (other.object(with: id) as? Employee)?.name }
    #expect(stale == "Eve")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.3.3 changes that no context made are merged by their IDs or URIs`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let (a, b) = (office.otherContext(), office.otherContext())
    let seen = try [a, b].map { try #require(try $0.existingObject(with: ada.objectID) as? Employee) }
    ada.name = "Eve"
    try office.context.save()
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [ada.objectID.uriRepresentation()]], into: [a])
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [ada.objectID]], into: [b])
    #expect(seen.map(\.name) == ["Eve", "Eve"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.4 a fetch never changes an object that was read, a refresh does`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let ada = office.employee("Ada")
    try office.context.save()
    let other = office.otherContext()
    let mine = try #require(try other.existingObject(with: ada.objectID) as? Employee)
    ada.name = "Eve"
    try office.context.save()
    #expect(try other.fetch(request(Employee.self)).first?.name == "Ada")
    other.refresh(mine, mergeChanges: true)
    #expect(mine.name == "Eve")
  }

  // MARK: What others have done to what was never read

  @Test(arguments: StoreUnderTest.allCases)
  func `deleting what others have deleted, unread, saves; what they have changed is deleted`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let people = ["Ada", "Bob", "Cleo"].map { office.employee($0) }
    try office.context.save()
    let other = office.otherContext()
    let mine = try other.fetch(request(Employee.self, sort: ["name"]))
    for object in mine { other.refresh(object, mergeChanges: false) }
    office.context.delete(people[0])
    people[1].name = "Bea"
    try office.context.save()
    for object in mine { other.delete(object) }
    other.mergePolicy = NSMergePolicy.error
    try other.save()
    #expect(try office.savedNames(Employee.self) == [] && !other.hasChanges)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a list that is put in order leaves members out that others have moved away`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let (red, blue) = (office.department("Red"), office.department("Blue"))
    let rooms = (0..<4).map { number in
      let room = Room(context: office.context)
      room.number = Int32(number)
      return room
    }
    red.rooms = rooms
    try office.context.save()
    let other = office.otherContext()
    let theirs = try #require(try other.existingObject(with: red.objectID) as? Department)
    let new = Room(context: other)
    new.number = 9
    theirs.rooms = theirs.rooms.reversed() + [new]
    rooms[1].department = blue
    try office.context.save()
    try other.save()
    let saved = try #require(try office.otherContext().existingObject(with: red.objectID) as? Department)
    #expect(saved.rooms.map(\.number) == [3, 2, 0, 9])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a member that others have added already is one member`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada")
    let bob = office.employee("Bob", in: red)
    try office.context.save()
    let other = office.otherContext()
    let mine = try #require(try other.existingObject(with: ada.objectID) as? Employee)
    let theirs = try #require(try other.existingObject(with: red.objectID) as? Department)
    ada.department = red
    try office.context.save()
    mine.department = theirs
    #expect(theirs.objectIDs(forRelationshipNamed: "employees").count == 2)
    #expect(theirs.value(forKeyPath: "employees.@count") as? Int == 2)
    #expect(Set(theirs.employees.map(\.objectID)) == [ada.objectID, bob.objectID])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.3.1 a merged deletion deletes nothing that its row led to before`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    let desk = Desk(context: office.context)
    desk.employee = ada
    try office.context.save()
    let other = office.otherContext()
    let mine = try #require(try other.existingObject(with: ada.objectID) as? Employee)
    #expect(mine.desk?.number == 0)
    let saves = Notes(.NSManagedObjectContextDidSave, office.context)
    bob.desk = desk
    office.context.delete(ada)
    try office.context.save()
    other.mergeChanges(fromContextDidSave: try #require(saves.all.first))
    try other.save()
    let saved = try office.otherContext().fetch(request(Desk.self))
    #expect(saved.map(\.employee?.name) == ["Bob"])
  }
}
