// Cases in which several laws meet: stealing and rolling back, obtained IDs and failed saves, hooks that change what
// is saved, deletions that others have made, unique values that move. core-data/03 and 04.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

@Suite struct HardCasesTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `3.8.1 stealing a to-one from an unfired fault is undone by rollback, whether it was read or not`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    let desk = Desk(context: office.context)
    desk.number = 1
    ada.desk = desk
    try office.context.save()
    for reads in [false, true] {
      let other = office.otherContext()
      let bob2 = try #require(try other.existingObject(with: bob.objectID) as? Employee)
      let desk2 = try #require(try other.existingObject(with: desk.objectID) as? Desk)
      bob2.desk = desk2
      let ada2 = try #require(other.object(with: ada.objectID) as? Employee)
      if reads { #expect(ada2.desk == nil && desk2.employee == bob2) }
      other.rollback()
      #expect(ada2.desk == desk2 && bob2.desk == nil && desk2.employee == ada2)
      #expect(!other.hasChanges)
      bob2.desk = desk2
      try other.save()
      #expect(ada2.desk == nil && desk2.employee == bob2)
      let third = office.otherContext()
      let ada3 = try #require(third.existingObject(with: ada.objectID) as? Employee)
      let bob3 = try #require(third.existingObject(with: bob.objectID) as? Employee)
      #expect(ada3.desk == nil && bob3.desk?.number == 1)
      // Back.
      ada3.desk = bob3.desk
      try third.save()
      #expect(bob3.desk == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.9.4 deny passes where every destination is deleted in the same save, and fails for one left`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let budgets = (0..<3).map { number in
      let budget = Budget(context: office.context)
      budget.amount = Int64(number)
      budget.department = red
      return budget
    }
    try office.context.save()
    // In another context, unread.
    let other = office.otherContext()
    let red2 = try #require(try other.existingObject(with: red.objectID) as? Department)
    other.delete(red2)
    other.delete(other.object(with: budgets[0].objectID))
    other.delete(other.object(with: budgets[1].objectID))
    let error = thrown { try other.save() }
    #expect(error?.code == 1600)
    #expect(other.deletedObjects.count == 3)
    other.delete(other.object(with: budgets[2].objectID))
    try other.save()
    #expect(try office.savedNames(Department.self) == [])
    #expect(try office.savedNames(Budget.self, "amount") == [])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.8 what is set when a save is told of is the next save's`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    nonisolated(unsafe) let ada = office.employee("Ada")
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: office.context, queue: nil
    ) { _ in
      if ada.salary == 0 { ada.salary = 7 }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try office.context.save()
    #expect(ada.salary == 7 && ada.hasChanges && office.context.hasChanges)
    #expect(ada.changedValues()["salary"] as? Int32 == 7)
    try office.context.save()
    #expect(!office.context.hasChanges)
    let other = office.otherContext()
    #expect((try other.existingObject(with: ada.objectID) as? Employee)?.salary == 7)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.1.8 willSave may insert and delete`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    try office.context.save()
    var isDone = false
    ada.onWillSave = { ada in
      if isDone { return }
      isDone = true
      let desk = Desk(context: office.context)
      desk.number = 5
      desk.employee = ada
      office.context.delete(bob)
      office.employee("Eve").manager = ada
    }
    ada.salary = 1
    try office.context.save()
    #expect(!office.context.hasChanges)
    #expect(try office.savedNames(Employee.self) == ["Ada", "Eve"])
    let other = office.otherContext()
    let ada2 = try #require(try other.existingObject(with: ada.objectID) as? Employee)
    #expect(ada2.desk?.number == 5 && ada2.reports.map(\.name) == ["Eve"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.5.3 a failed save keeps IDs that were obtained, and rollback forgets their objects`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store, unique: ["name"])
    office.employee("Ada")
    try office.context.save()
    let other = office.otherContext()
    let double = office.employee("Ada", of: other)
    let eve = office.employee("Eve", of: other)
    try other.obtainPermanentIDs(for: [double])
    let id = double.objectID
    #expect(thrown { try other.save() }?.code == 133_021)
    #expect(double.objectID == id && !id.isTemporaryID && eve.objectID.isTemporaryID)
    #expect(other.insertedObjects == [double, eve])
    double.name = "Bob"
    try other.save()
    #expect(double.objectID == id)
    #expect(try office.savedNames(Employee.self) == ["Ada", "Bob", "Eve"])
    let third = office.otherContext()
    let zoe = office.employee("Ada", of: third)
    try third.obtainPermanentIDs(for: [zoe])
    let zoeID = zoe.objectID
    #expect(thrown { try third.save() }?.code == 133_021)
    third.rollback()
    #expect(!third.hasChanges && third.registeredObject(for: zoeID) == nil)
    #expect(thrown { _ = try third.existingObject(with: zoeID) }?.code == 133_000)
    office.employee("Zoe", of: third)
    try third.save()
    #expect(try office.savedNames(Employee.self) == ["Ada", "Bob", "Eve", "Zoe"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.3.2 a merged deletion of an edited object deletes it, twice merged as once`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let red = office.department("Red")
    let (ada, bob) = (office.employee("Ada", in: red), office.employee("Bob", in: red))
    try office.context.save()
    let other = office.otherContext()
    let notes = Notes(.NSManagedObjectContextDidSave, other)
    other.delete(try other.existingObject(with: ada.objectID))
    try other.save()
    ada.salary = 5
    bob.salary = 6
    office.context.mergeChanges(fromContextDidSave: notes.all[0])
    office.context.mergeChanges(fromContextDidSave: notes.all[0])
    #expect(ada.isDeleted || ada.managedObjectContext == nil)
    #expect(red.employees == [bob])
    try office.context.save()
    #expect(ada.managedObjectContext == nil)
    office.context.mergeChanges(fromContextDidSave: notes.all[0])
    #expect(!office.context.hasChanges)
    #expect(try office.savedNames(Employee.self) == ["Bob"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.2.5 a member whose row is gone is deleted when it is read, and the save leaves the others`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada", in: red)
    office.employee("Bob", in: red)
    try office.context.save()
    let mine = office.otherContext()
    let red2 = try #require(try mine.existingObject(with: red.objectID) as? Department)
    let members = red2.employees
    #expect(members.count == 2)
    office.context.delete(ada)
    try office.context.save()
    let ada2 = try #require(members.first { $0.objectID == ada.objectID })
    #expect(ada2.name == nil && ada2.isDeleted)
    try mine.save()
    #expect(!mine.hasChanges)
    #expect(try office.savedNames(Employee.self) == ["Bob"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a unique value that goes may be taken in the same save, swapped, and nulls never clash`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store, unique: ["name"])
    let (ada, bob) = (office.employee("Ada", salary: 1), office.employee("Bob", salary: 2))
    for _ in 0..<2 { Employee(context: office.context).salary = 3 }
    try office.context.save()
    office.context.delete(ada)
    office.employee("Ada", salary: 4)
    try office.context.save()
    let new = try #require(try office.context.fetch(request(Employee.self)).first { $0.name == "Ada" })
    (new.name, bob.name) = ("Bob", "Ada")
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["nil", "nil", "Ada", "Bob"])
    new.name = "Eve"
    office.employee("Bob", salary: 5)
    try office.context.save()
    #expect(try office.savedNames(Employee.self) == ["nil", "nil", "Ada", "Bob", "Eve"])
  }

  private static let policies: [NSMergePolicyType] = [
    .mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    .overwriteMergePolicyType, .rollbackMergePolicyType,
  ]

  /// What a store has: name, salary, name of the manager, name of the department.
  private static func stored(_ office: Office) throws -> [String] {
    try office.otherContext().fetch(request(Employee.self, sort: ["name"])).map { employee in
      [
        employee.name ?? "nil", "\(employee.salary)", employee.manager?.name ?? "-",
        employee.department?.name ?? "-",
      ].joined(separator: " ")
    }
  }

  @Test(arguments: StoreUnderTest.allCases, policies)
  func `4.6 an object that takes another's unique value wins or gives it back, with what leads to it`(
    _ store: StoreUnderTest, _ type: NSMergePolicyType
  ) throws {
    let office = try Office(store, unique: ["name"])
    let (ada, bob) = (office.employee("Ada", salary: 1), office.employee("Bob", salary: 2))
    try office.context.save()
    let context = office.otherContext(NSMergePolicy(merge: type))
    let results = try ShownNames(context)
    let bob2 = try #require(try context.existingObject(with: bob.objectID) as? Employee)
    bob2.name = "Ada"
    bob2.salary = 9
    let boss = office.employee("Boss", of: context)
    boss.reports = [bob2]
    try context.save()
    #expect(!context.hasChanges)
    let (found, reports): ([String], [String]) =
      switch type {
      case .mergeByPropertyStoreTrumpMergePolicyType:
        (["Ada 1 - -", "Bob 9 Boss -", "Boss 0 - -"], ["Bob"])
      case .rollbackMergePolicyType: (["Ada 1 - -", "Bob 2 - -", "Boss 0 - -"], [])
      default: (["Ada 9 Boss -", "Boss 0 - -"], ["Ada"])
      }
    #expect(try Self.stored(office) == found)
    #expect(boss.reports.map(\.name) == reports)
    #expect(results.names == found.map { String($0.prefix { $0 != " " }) })
    #expect((context.registeredObject(for: ada.objectID) == nil) == (found.count == 2))
  }

  @Test(arguments: StoreUnderTest.allCases, policies)
  func `4.6 what leads to a new object leads to the one that survives it, also where it is shown`(
    _ store: StoreUnderTest, _ type: NSMergePolicyType
  ) throws {
    let office = try Office(store, unique: ["name"])
    office.employee("Ada", in: office.department("Red"), salary: 1)
    try office.context.save()
    let context = office.otherContext(NSMergePolicy(merge: type))
    let results = try ShownNames(context)
    let new = office.employee("Ada", salary: 9, of: context)
    let boss = office.employee("Boss", of: context)
    boss.reports = [new]
    let blue = Department(context: context)
    blue.name = "Blue"
    blue.employees = [new]
    context.processPendingChanges()
    #expect(results.names == ["Ada", "Ada", "Boss"])
    try context.save()
    #expect(!context.hasChanges)
    let isRolledBack = type == .rollbackMergePolicyType
    let ada =
      switch type {
      case .mergeByPropertyStoreTrumpMergePolicyType: "Ada 1 Boss Blue"
      case .rollbackMergePolicyType: "Ada 1 - Red"
      default: "Ada 9 Boss Blue"
      }
    #expect(try Self.stored(office) == [ada, "Boss 0 - -"])
    #expect(boss.reports.map(\.name) == (isRolledBack ? [] : ["Ada"]))
    #expect(blue.employees.map(\.name) == (isRolledBack ? [] : ["Ada"]))
    #expect(results.names == ["Ada", "Boss"])
  }
}

/// The names that a results controller with a delegate shows.
private final class ShownNames: NSFetchedResultsControllerDelegate {
  private let controller: NSFetchedResultsController<Employee>

  init(_ context: NSManagedObjectContext) throws {
    controller = NSFetchedResultsController(
      fetchRequest: request(Employee.self, sort: ["name"]), managedObjectContext: context,
      sectionNameKeyPath: nil, cacheName: nil)
    controller.delegate = self
    try controller.performFetch()
  }

  var names: [String] { controller.fetchedObjects?.map { $0.name ?? "nil" } ?? [] }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}
}
