// Employees and departments: inserts by entity name, sorted and filtered fetches. Shown whole in the
// documentation's "Employees".

// begin
import Cairn

final class Employee: NSManagedObject {
  @Managed var name: String?
  @Managed var height: Double
  @Managed var brithday: Date?
  @Managed var sectionName: String?
  @Managed var department: Department?
}

final class Department: NSManagedObject {
  @Managed var name: String?
  @Managed var employees: Set<Employee>
}

func makeEmployeeModel() -> NSManagedObjectModel {
  func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  let employee = NSEntityDescription()
  employee.name = "Employee"
  employee.managedObjectClassName = "Employee"
  let department = NSEntityDescription()
  department.name = "Department"
  department.managedObjectClassName = "Department"

  let employees = NSRelationshipDescription()
  let departmentOfEmployee = NSRelationshipDescription()
  employees.name = "employees"
  employees.destinationEntity = employee
  employees.inverseRelationship = departmentOfEmployee
  departmentOfEmployee.name = "department"
  departmentOfEmployee.maxCount = 1
  departmentOfEmployee.destinationEntity = department
  departmentOfEmployee.inverseRelationship = employees

  employee.properties = [
    attribute("name", .stringAttributeType), attribute("height", .doubleAttributeType),
    attribute("brithday", .dateAttributeType), attribute("sectionName", .stringAttributeType),
    departmentOfEmployee,
  ]
  department.properties = [attribute("name", .stringAttributeType), employees]
  let model = NSManagedObjectModel()
  model.entities = [employee, department]
  return model
}

/// Opens the store and puts two departments with five employees in it.
func makeCompany(_ store: NSPersistentStoreDescription) throws -> NSPersistentContainer {
  let container = NSPersistentContainer(name: "Company", managedObjectModel: makeEmployeeModel())
  container.persistentStoreDescriptions = [store]
  var failure: (any Error)?
  container.loadPersistentStores { _, error in failure = error }
  if let failure { throw failure }

  let context = container.viewContext
  let staff: [(department: String, names: [(String, height: Double, born: Double)])] = [
    ("iOS", [("Zhang", 1.77, 10_000), ("Lisi", 1.65, 11_000), ("Wangwu", 1.80, 9_000)]),
    ("Android", [("Zhaoliu", 1.72, 12_000), ("Sunqi", 1.58, 8_000)]),
  ]
  for (name, people) in staff {
    let department =
      NSEntityDescription.insertNewObject(forEntityName: "Department", into: context) as! Department
    department.name = name
    for person in people {
      let employee =
        NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context) as! Employee
      employee.name = person.0
      employee.height = person.height
      employee.brithday = Date(timeIntervalSince1970: person.born * 86_400)
      employee.sectionName = String(person.0.prefix(1))
      employee.department = department
    }
  }
  try context.save()
  return container
}

/// The names of all employees, the oldest first.
func namesByBirthday(_ context: NSManagedObjectContext) throws -> [String] {
  let request = NSFetchRequest<Employee>(entityName: "Employee")
  request.sortDescriptors = [NSSortDescriptor(key: "brithday", ascending: true)]
  return try context.fetch(request).compactMap(\.name)
}

/// The names of a department's employees who are at least that tall, the tallest first.
func names(
  in department: String, atLeast height: Double, _ context: NSManagedObjectContext
) throws -> [String] {
  let request = NSFetchRequest<Employee>(entityName: "Employee")
  request.predicate = NSPredicate(format: "department.name = %@ AND height >= %lf", department, height)
  request.sortDescriptors = [NSSortDescriptor(key: "height", ascending: false)]
  return try context.fetch(request).compactMap(\.name)
}

/// The names that begin with `prefix`, by section and name: one page of `size`.
func page(
  _ number: Int, of size: Int, beginningWith prefix: String, _ context: NSManagedObjectContext
) throws -> [String] {
  let request = NSFetchRequest<Employee>(entityName: "Employee")
  request.predicate = NSPredicate(format: "name BEGINSWITH %@", prefix)
  request.sortDescriptors = [
    NSSortDescriptor(key: "sectionName", ascending: true), NSSortDescriptor(key: "name", ascending: true),
  ]
  request.fetchOffset = number * size
  request.fetchLimit = size
  return try context.fetch(request).compactMap(\.name)
}
// end
