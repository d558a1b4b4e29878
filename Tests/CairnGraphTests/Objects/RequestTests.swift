// What can be asked of a fetch request beyond objects in order: core-data/05.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct RequestTests {
  /// Six employees of two departments and one of none, saved.
  private static func office(_ store: StoreUnderTest) throws -> Office {
    let office = try Office(store)
    let (red, blue) = (office.department("Red"), office.department("Blue"))
    let rows: [(String, Department?, Int32, String?)] = [
      ("Ada", red, 10, "x"), ("Bob", red, 20, "y"), ("Cleo", blue, 5, "x"), ("Dan", blue, 5, nil),
      ("Eve", blue, 15, "x"), ("Fay", nil, 7, "y"),
    ]
    for (name, department, salary, note) in rows {
      office.employee(name, in: department, salary: salary).note = note
    }
    try office.context.save()
    return office
  }

  private func dictionaries(
    _ office: Office, _ context: NSManagedObjectContext? = nil,
    _ configure: (NSFetchRequest<NSDictionary>) -> Void
  ) throws -> [NSDictionary] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    configure(request)
    return try (context ?? office.context).fetch(request)
  }

  private func figure(
    _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    description.expressionResultType = type
    return description
  }

  @Test func `5.1 a fresh request has Core Data's defaults`() {
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.resultType == .managedObjectResultType && request.includesSubentities)
    #expect(
      request.includesPropertyValues && request.returnsObjectsAsFaults && request.includesPendingChanges)
    #expect(request.propertiesToFetch == nil && request.propertiesToGroupBy == nil)
    #expect(request.havingPredicate == nil && !request.returnsDistinctResults)
    #expect(request.relationshipKeyPathsForPrefetching == nil && !request.shouldRefreshRefetchedObjects)
    #expect(request.affectedStores == nil && request.requestType == .fetchRequestType)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.2.2 IDs come in order without registering objects, pending changes included`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try RequestTests.office(store)
    let context = office.otherContext()
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
    request.resultType = .managedObjectIDResultType
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
    request.fetchLimit = 2
    let ids = try context.fetch(request)
    #expect(ids.allSatisfy { context.registeredObject(for: $0) == nil })
    #expect(try ids.map { (try context.existingObject(with: $0) as? Employee)?.name } == ["Fay", "Eve"])
    let new = office.employee("Zoe", of: context)
    #expect(try context.fetch(request).first == new.objectID)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.2.4 a count as result is one number`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let request = NSFetchRequest<NSNumber>(entityName: "Employee")
    request.resultType = .countResultType
    request.predicate = NSPredicate(format: "salary > 5")
    #expect(try office.context.fetch(request) == [4])
    request.fetchLimit = 3
    #expect(try office.context.count(for: request) == 3)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.2.3 dictionaries have the named columns, and no key where there is no value`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToFetch = ["name", "note", "department.name"]
      $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      $0.fetchOffset = 3
    }
    #expect(
      rows == [
        ["name": "Dan", "department.name": "Blue"], ["name": "Eve", "note": "x", "department.name": "Blue"],
        ["name": "Fay", "note": "y"],
      ])
    let id = NSExpressionDescription()
    id.name = "objectID"
    id.expression = NSExpression.expressionForEvaluatedObject()
    id.expressionResultType = .objectIDAttributeType
    let first = try dictionaries(office) {
      $0.propertiesToFetch = [id]
      $0.predicate = NSPredicate(format: "name == 'Ada'")
    }
    let found = (first.first?["objectID"] as? NSManagedObjectID).flatMap { office.context.object(with: $0) }
    #expect((found as? Employee)?.name == "Ada")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.6.3 figures without groups are one dictionary, over no rows too`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let columns = [
      figure("n", "count:(name)"), figure("sum", "sum:(salary)"), figure("avg", "average:(salary)"),
      figure("min", "min:(salary)"), figure("max", "max:(salary)"), figure("notes", "count:(note)"),
    ]
    let all = try dictionaries(office) { $0.propertiesToFetch = columns }
    #expect(all.count == 1 && all.first?["n"] as? Int == 6 && all.first?["sum"] as? Int == 62)
    #expect(
      all.first?["min"] as? Int == 5 && all.first?["max"] as? Int == 20 && all.first?["notes"] as? Int == 5)
    #expect(abs((all.first?["avg"] as? Double ?? 0) - 62.0 / 6) < 1e-12)
    let none = try dictionaries(office) {
      $0.propertiesToFetch = columns
      $0.predicate = NSPredicate(format: "salary > 100")
    }
    #expect(none == [["n": 0, "sum": 0, "notes": 0]])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func
    `5.6.5 groups have figures of their own, having leaves some out, and their order is by what is fetched`(
      _ store: StoreUnderTest
    ) throws
  {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToGroupBy = ["department.name"]
      $0.propertiesToFetch = [
        "department.name", figure("n", "count:(name)"), figure("total", "sum:(salary)"),
      ]
      $0.havingPredicate = NSPredicate(format: "count:(name) > 1")
      $0.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: false)]
    }
    #expect(
      rows == [
        ["department.name": "Red", "n": 2, "total": 30], ["department.name": "Blue", "n": 3, "total": 25],
      ])
    #expect(throws: StoreError(.unsupportedRequest, "")) {
      try dictionaries(office) {
        $0.propertiesToGroupBy = ["note"]
        $0.propertiesToFetch = ["name"]
      }
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `figures that the engine doesn't have, and arithmetic of figures`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToFetch = [
        figure("median", "median:(salary)"), figure("range", "max:(salary) - min:(salary)"),
        figure("stddev", "stddev:(salary)"), figure("shouted", "uppercase:(max:(name))"),
        figure("distinct", "count:(@distinctUnionOfObjects.salary)"),
      ]
    }
    let row = try #require(rows.first)
    #expect(row["median"] as? Double == 8.5 && row["range"] as? Int == 15 && row["distinct"] as? Int == 5)
    #expect(row["shouted"] as? String == "FAY" && (row["stddev"] as? Double ?? 0) > 5)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.6.8 the declared type of a result is given to it`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToFetch = [
        figure("whole", "average:(salary)", .integer64AttributeType),
        figure("real", "average:(salary)", .doubleAttributeType),
        figure("text", "sum:(salary)", .stringAttributeType),
      ]
    }
    #expect(rows.first?["whole"] as? Int == 10 && rows.first?["text"] as? String == "62.0")
    #expect((rows.first?["real"] as? Double ?? 0) > 10.3)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.6.4 a plain column beside a figure repeats the figure`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToFetch = ["name", figure("top", "max:(salary)")]
      $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      $0.fetchLimit = 2
    }
    #expect(rows == [["name": "Ada", "top": 20], ["name": "Bob", "top": 20]])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.6.10 distinct tuples, before the window`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let rows = try dictionaries(office) {
      $0.propertiesToFetch = ["note"]
      $0.returnsDistinctResults = true
      $0.sortDescriptors = [NSSortDescriptor(key: "note", ascending: true)]
    }
    #expect(rows == [[:], ["note": "x"], ["note": "y"]])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `strings that are written differently are different results and groups`(_ store: StoreUnderTest) throws
  {
    let office = try Office(store)
    for note in ["\u{e9}", "e\u{301}", "\u{e9}"] { office.employee("x").note = note }
    try office.context.save()
    let distinct = try dictionaries(office) {
      $0.propertiesToFetch = ["note"]
      $0.returnsDistinctResults = true
    }
    let columns = [figure("n", "count:(name)"), figure("m", "median:(salary)")]
    for figures in [Array(columns.prefix(1)), columns] {
      let groups = try dictionaries(office) {
        $0.propertiesToGroupBy = ["note"]
        $0.propertiesToFetch = ["note"] + figures
      }
      #expect(groups.count == 2)
    }
    #expect(distinct.count == 2)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a figure is the same whether the engine works it out or not, and NaN is no whole number`(
    _ store: StoreUnderTest
  ) throws {
    let office = try Office(store)
    office.employee("Ada", in: office.department("Red")).bonus = .nan
    office.employee("Bob").bonus = 2
    try office.context.save()
    let median = figure("m", "median:(salary)")
    let plain = [figure("l", "max:(name)"), figure("s", "sum:(salary)"), figure("n", "count:(name)")]
    #expect(try dictionaries(office) { $0.propertiesToFetch = plain } == [["l": "Bob", "s": 0, "n": 2]])
    #expect(
      try dictionaries(office) { $0.propertiesToFetch = plain + [median] }
        == [["l": "Bob", "s": 0, "n": 2, "m": 0.0]])
    for columns in [[figure("s", "sum:(name)")], [figure("s", "sum:(name)"), median]] {
      #expect(throws: StoreError(.unsupportedRequest, "")) {
        try dictionaries(office) { $0.propertiesToFetch = columns }
      }
    }
    let whole = try dictionaries(office) {
      $0.propertiesToFetch = [figure("x", "average:(bonus)", .integer64AttributeType)]
    }
    #expect((whole.first?["x"] as? Double)?.isNaN == true)
    #expect(throws: StoreError(.unsupportedRequest, "")) {
      try dictionaries(office) { $0.propertiesToFetch = [figure("x", "max:(department)")] }
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.3.5 dictionaries don't see unsaved changes`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    office.employee("New")
    #expect(try dictionaries(office) { $0.propertiesToFetch = ["name"] }.count == 6)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a name that the model doesn't have is an error that names it`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    for wrong in ["nmae", "department.nmae", "nmae.name"] {
      let error = #expect(throws: StoreError.self) {
        try dictionaries(office) { $0.propertiesToFetch = [wrong] }
      }
      #expect(error?.description.contains("nmae") == true)
    }
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    request.relationshipKeyPathsForPrefetching = ["departmnt"]
    #expect(throws: StoreError(.unknownProperty, "")) { try office.context.fetch(request) }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.1 results that aren't to be faults aren't, and refetched objects are refreshed where that is asked`(
    _ store: StoreUnderTest
  ) throws {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    request.returnsObjectsAsFaults = false
    let mine = try other.fetch(request)
    #expect(mine.filter(\.isFault).isEmpty)
    for employee in try office.context.fetch(NSFetchRequest<Employee>(entityName: "Employee")) {
      employee.salary = 99
    }
    try office.context.save()
    mine[0].note = "mine"
    #expect(try other.fetch(request)[0].salary != 99)
    request.shouldRefreshRefetchedObjects = true
    #expect(try other.fetch(request).map(\.salary) == Array(repeating: 99, count: 6))
    #expect(mine[0].note == "mine")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `prefetched relationships are there when they are read, and not older than the store`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let request = NSFetchRequest<Department>(entityName: "Department")
    request.relationshipKeyPathsForPrefetching = ["employees.desk", "projects"]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let departments = try other.fetch(request)
    let known = other.registeredObjects.compactMap { $0 as? Employee }
    #expect(known.count == 5 && known.filter { $0.chunk == nil }.isEmpty)
    #expect(departments.map { Set($0.employees.map(\.name)) } == [["Cleo", "Dan", "Eve"], ["Ada", "Bob"]])
    let theirs = try #require(try office.context.fetch(request).first)
    office.employee("Gus", in: theirs)
    try office.context.save()
    #expect(departments[0].employees.count == 4)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.5 a lazy fetch holds keys and loads a batch at a time`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    for number in 0..<1_000 { office.employee(String(format: "%04d", number)) }
    try office.context.save()
    let other = office.otherContext()
    let request = NSFetchRequest<Employee>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchBatchSize = 10
    let results = try other.fetchLazily(request)
    #expect(results.count == 1_000 && other.registeredObjects.isEmpty)
    #expect(results[777].name == "0777" && other.registeredObjects.count == 10)
    #expect(results.map(\.name) == (0..<1_000).map { String(format: "%04d", $0) })
    #expect(other.registeredObjects.count <= 10 * (LazyResults.keptBatches + 1))
    let new = office.employee("0000a", of: other)
    #expect(try other.fetchLazily(request)[1] === new)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.7 an asynchronous fetch calls its block on the queue, with what the store had when it was executed`(
    _ store: StoreUnderTest
  ) async throws {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let names = await withCheckedContinuation { continuation in
      other.performAndWait {
        let fetch = NSFetchRequest<Employee>(entityName: "Employee")
        fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
          let found =
            result.finalResult?.compactMap(\.name) ?? ["\(String(describing: result.operationError))"]
          continuation.resume(returning: other.queue.isCurrent ? found : ["wrong queue"])
        }
        _ = try? other.execute(request)
      }
    }
    #expect(names == ["Ada", "Bob", "Cleo", "Dan", "Eve", "Fay"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.7 what the context saves meanwhile is in an asynchronous result once, and what it deletes is not`(
    _ store: StoreUnderTest
  ) async throws {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let names = await withCheckedContinuation { (continuation: CheckedContinuation<[String], Never>) in
      other.performAndWait {
        let fetch = NSFetchRequest<Employee>(entityName: "Employee")
        fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        guard let mine = try? other.fetch(fetch) else { return continuation.resume(returning: [String]()) }
        mine[0].note = "new"
        other.delete(mine[1])
        let late = office.employee("Gil", of: other)
        let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
          continuation.resume(returning: result.finalResult?.compactMap(\.name) ?? [])
        }
        _ = try? other.execute(request)
        other.delete(late)
        try? other.save()
      }
    }
    #expect(names == ["Ada", "Cleo", "Dan", "Eve", "Fay"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `5.7 a cancelled asynchronous fetch ends with an error`(_ store: StoreUnderTest) async throws {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let code = await withCheckedContinuation { continuation in
      other.performAndWait {
        let fetch = NSFetchRequest<Employee>(entityName: "Employee")
        let request = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
          continuation.resume(returning: (result.operationError as? CocoaError)?.code)
        }
        (try? other.execute(request) as? NSAsynchronousFetchResult<Employee>)?.cancel()
      }
    }
    #expect(code == .userCancelled)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `4.1.7 a request runs in the context whose block it is in`(_ store: StoreUnderTest) throws {
    let office = try RequestTests.office(store)
    let other = office.otherContext()
    let found = try other.performAndWait {
      try office.context.performAndWait { _ = try NSFetchRequest<Employee>(entityName: "Employee").execute() }
      return try NSFetchRequest<Employee>(entityName: "Employee").execute().map(\.managedObjectContext)
    }
    #expect(found.count == 6 && found.allSatisfy { $0 === other })
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a copy of a request asks the same, and changing it changes nothing of the first`(
    _ store: StoreUnderTest
  )
    throws
  {
    let office = try RequestTests.office(store)
    let request = Employee.fetchRequest() as NSFetchRequest<Employee>
    request.predicate = NSPredicate(format: "salary > 5")
    let copy = try #require(request.copy() as? NSFetchRequest<Employee>)
    copy.fetchLimit = 1
    #expect(try office.context.fetch(copy).count == 1 && office.context.fetch(request).count == 4)
  }
}
