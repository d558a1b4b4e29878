// A model with every delete rule and every kind of relationship.

import Cairn
import Testing

@testable import CairnGraph

class Employee: NSManagedObject {
  @Managed var name: String?
  @Managed var salary: Int32
  @Managed var bonus: Double
  @Managed var note: String?
  @Managed var department: Department?
  @Managed var desk: Desk?
  @Managed var manager: Employee?
  @Managed var reports: Set<Employee>

  /// What was called, by the order of calls.
  var calls: [String] = []
  var onWillSave: ((Employee) -> Void)?
  var onDeletion: ((Employee) -> Void)?
  var isObserving = false

  override func awakeFromInsert() {
    super.awakeFromInsert()
    calls.append("awakeFromInsert")
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    calls.append("awakeFromFetch")
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    calls.append("prepareForDeletion")
    onDeletion?(self)
  }

  override func willSave() {
    super.willSave()
    calls.append("willSave")
    onWillSave?(self)
  }

  override func didSave() {
    super.didSave()
    calls.append(isDeleted ? "didSave deleted" : "didSave")
  }

  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    calls.append("willTurnIntoFault")
  }

  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    calls.append("didTurnIntoFault")
  }
}

final class Department: NSManagedObject {
  @Managed var name: String?
  @Managed var employees: Set<Employee>
  @Managed var projects: Set<Project>
  @Managed var budgets: Set<Budget>
  @Managed var memos: Set<Memo>
  @Managed var rooms: [Room]
}

final class Desk: NSManagedObject {
  @Managed var number: Int32
  @Managed var employee: Employee?
}

final class Project: NSManagedObject {
  @Managed var title: String?
  @Managed var departments: Set<Department>
}

final class Budget: NSManagedObject {
  @Managed var amount: Int64
  @Managed var department: Department?
}

final class Memo: NSManagedObject {
  @Managed var text: String?
  @Managed var department: Department?
}

final class Room: NSManagedObject {
  @Managed var number: Int32
  @Managed var department: Department?
}

/// One store, and contexts over it that are used from the test's own thread.
final class Office {
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  private var others: [NSManagedObjectContext] = []

  init(_ store: StoreUnderTest = .memory, unique: [String] = []) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Office.makeModel(unique))
    try store.add(to: coordinator)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  func otherContext(_ policy: NSMergePolicy = .error) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    others.append(context)
    return context
  }

  @discardableResult
  func employee(
    _ name: String, in department: Department? = nil, salary: Int32 = 0,
    of other: NSManagedObjectContext? = nil
  ) -> Employee {
    let employee = Employee(context: other ?? context)
    employee.name = name
    employee.salary = salary
    employee.department = department
    return employee
  }

  func department(_ name: String) -> Department {
    let department = Department(context: context)
    department.name = name
    return department
  }

  /// The names that a context which has seen nothing yet finds, in order.
  func savedNames<T: NSManagedObject>(_ type: T.Type, _ key: String = "name") throws -> [String] {
    try otherContext().fetch(request(type, sort: [key])).map { "\($0.value(forKey: key) ?? "nil")" }
  }

  private static func makeModel(_ unique: [String]) -> NSManagedObjectModel {
    func entity(_ type: NSManagedObject.Type, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
      TestModel.entity(String(describing: type), type, attributes)
    }
    let employee = entity(
      Employee.self,
      [
        TestModel.attribute("name", .string), TestModel.attribute("salary", .integer32, default: 0),
        TestModel.attribute("bonus", .double, default: 0), TestModel.attribute("note", .string),
      ])
    if !unique.isEmpty { employee.uniquenessConstraints = [unique] }
    let department = entity(Department.self, [TestModel.attribute("name", .string)])
    let desk = entity(Desk.self, [TestModel.attribute("number", .integer32, default: 0)])
    let project = entity(Project.self, [TestModel.attribute("title", .string)])
    let budget = entity(Budget.self, [TestModel.attribute("amount", .integer64, default: 0)])
    let memo = entity(Memo.self, [TestModel.attribute("text", .string)])
    let room = entity(Room.self, [TestModel.attribute("number", .integer32, default: 0)])
    func relate(
      _ a: NSEntityDescription, _ name: String, toMany: Bool, ordered: Bool = false, _ rule: NSDeleteRule,
      _ b: NSEntityDescription, _ inverse: String, toMany inverseToMany: Bool = false,
      _ inverseRule: NSDeleteRule = .nullifyDeleteRule
    ) {
      let forward = TestModel.relate(
        a, name, toMany: toMany, ordered: ordered, b, inverse, inverseToMany: inverseToMany)
      forward.deleteRule = rule
      forward.inverseRelationship?.deleteRule = inverseRule
    }
    relate(department, "employees", toMany: true, .cascadeDeleteRule, employee, "department")
    relate(employee, "desk", toMany: false, .cascadeDeleteRule, desk, "employee")
    relate(employee, "reports", toMany: true, .nullifyDeleteRule, employee, "manager")
    relate(department, "projects", toMany: true, .nullifyDeleteRule, project, "departments", toMany: true)
    relate(department, "budgets", toMany: true, .denyDeleteRule, budget, "department")
    relate(department, "memos", toMany: true, .noActionDeleteRule, memo, "department", .noActionDeleteRule)
    relate(department, "rooms", toMany: true, ordered: true, .nullifyDeleteRule, room, "department")
    let model = NSManagedObjectModel()
    model.entities = [employee, department, desk, project, budget, memo, room]
    return model
  }
}

/// The error that `body` throws, as code that goes by numbers sees it.
func thrown(_ body: () throws -> Void) -> NSError? {
  do {
    try body()
    return nil
  } catch {
    return error as NSError
  }
}

/// Collects notifications while it lives. Sendable: the tests post and read on one thread at a time.
final class Notes: @unchecked Sendable {
  private(set) var all: [Notification] = []
  private var token: (any NSObjectProtocol)?

  init(_ name: Notification.Name, _ object: AnyObject? = nil) {
    token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] in
      self?.all.append($0)
    }
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  func objects(_ key: String, _ index: Int = 0) -> Set<NSManagedObject>? {
    all.indices.contains(index) ? all[index].userInfo?[key] as? Set<NSManagedObject> : nil
  }
}
