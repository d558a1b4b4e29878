// Fetches over saved rows and unsaved changes.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct FetchingTests {
  let stack: Stack
  let context: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    context = stack.context
    for (name, age) in [("Ada", 36), ("Bob", 20), ("Cyd", 50), ("Dan", 41)] as [(String, Int32)] {
      stack.person(name, age: age)
    }
    try context.save()
  }

  private func names(_ fetch: NSFetchRequest<Person>) throws -> [String?] {
    try context.fetch(fetch).map(\.name)
  }

  private func person(_ name: String) throws -> Person {
    try #require(try context.fetch(request(Person.self, .compare("name", .equal, .string(name)))).first)
  }

  @Test func `an unsaved object is in fetches of its context and in no other's`() throws {
    stack.person("Eve", age: 60)
    #expect(try names(request(Person.self, .compare("age", .greater, 45), sort: ["age"])) == ["Cyd", "Eve"])
    #expect(try context.count(for: request(Person.self)) == 5)
    #expect(try stack.otherContext().count(for: request(Person.self)) == 4)
    let saved = request(Person.self)
    saved.includesPendingChanges = false
    #expect(try context.count(for: saved) == 4)
    #expect(try context.fetch(saved).count == 4)
  }

  @Test func `an unsaved change takes an object into a fetch and out of it`() throws {
    try person("Cyd").age = 10
    try person("Bob").age = 70
    let old = request(Person.self, .compare("age", .greater, 40), sort: ["age"])
    #expect(try names(old) == ["Dan", "Bob"])
    #expect(try context.count(for: old) == 2)
  }

  @Test func `an unsaved change of a related object is seen by the changed object's predicate`() throws {
    let acme = Company(context: context)
    acme.name = "Acme"
    try person("Ada").company = acme
    #expect(try names(request(Person.self, .compare("company.name", .equal, "Acme"))) == ["Ada"])
    #expect(try names(request(Person.self, .compare("company", .notEqual, nil))) == ["Ada"])
  }

  /// Every window over every sort order, held against sorting and slicing in plain Swift.
  @Test func `a window over changed objects is the window over everything, sorted`() throws {
    for (index, age) in [3, 36, 99].enumerated() { stack.person("New\(index)", age: Int32(age)) }
    try person("Bob").age = 44
    try person("Dan").age = 1
    for ascending in [true, false] {
      for predicate in [nil, PredicateTree.compare("age", .less, 45)] {
        let all = try context.fetch(request(Person.self, predicate))
        let sorted = all.sorted {
          if $0.age != $1.age { return ascending ? $0.age < $1.age : $0.age > $1.age }
          return ($0.isInserted ? 1 : 0) < ($1.isInserted ? 1 : 0)
        }
        for offset in 0...8 {
          for limit in 0...8 {
            let fetch = request(Person.self, predicate, sort: ["age"], ascending: ascending)
            fetch.fetchOffset = offset
            fetch.fetchLimit = limit
            let slice = sorted.dropFirst(offset).prefix(limit == 0 ? .max : limit)
            #expect(try names(fetch) == slice.map(\.name), "\(ascending) \(offset) \(limit)")
            #expect(try context.count(for: fetch) == slice.count)
          }
        }
      }
    }
  }

  /// The interpreter and the column kernels, on the same rows: saved in one store, unsaved in another.
  @Test func `predicates answer alike for saved rows and for unsaved objects`() throws {
    let unsaved = try Stack()
    let saved = try Stack()
    for stack in [unsaved, saved] {
      let acme = Company(context: stack.context)
      acme.name = "Ácme"
      for (index, name) in ["Ada", "ADA", "Ädä", nil, "", "Bob"].enumerated() {
        let person = Person(context: stack.context)
        person.name = name
        person.age = Int32(index)
        person.company = index % 2 == 0 ? acme : nil
      }
      let single = Company(context: stack.context)
      single.name = nil
    }
    try saved.context.save()
    for predicate in predicates {
      let fetch = request(Person.self, predicate, sort: ["age"])
      let a = try saved.context.fetch(fetch).map(\.age)
      let b = try unsaved.context.fetch(fetch).map(\.age)
      #expect(a == b, "\(predicate)")
      #expect(try unsaved.context.count(for: fetch) == b.count)
    }
  }

  private var predicates: [PredicateTree] {
    let operators: [ComparisonOperator] = [
      .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .contains,
      .like, .matches,
    ]
    var result: [PredicateTree] = [.constant(true), .constant(false)]
    for path in ["name", "company.name"] {
      for options in [[], [.caseInsensitive], [.caseInsensitive, .diacriticInsensitive]] as [StringOptions] {
        for op in operators {
          for constant in ["Ada", "a", "", nil] as [Value] {
            result.append(.compare(path, op, constant, options: options))
          }
        }
      }
      result.append(.isIn(path, ["Bob", "Ácme", nil]))
      result.append(.between(path, "A", "B"))
      result.append(.comparison(.init(.path("name"), .less, .path("company.name"))))
      result.append(.comparison(.init(.path("name"), .equal, .path("company.name"))))
    }
    result += [.compare("company", .equal, nil), .compare("age", .greater, 2.5), .between("age", 1, 3)]
    return result + result.map { .not($0) } + [
      .or([result[3], result[40]]), .and([result[3], .not(result[40])]),
    ]
  }

  @Test func `a fetch by an unknown name throws and says which names there are`() throws {
    let error = #expect(throws: StoreError.self) {
      try context.fetch(request(Person.self, .compare("nmae", .equal, "Ada")))
    }
    #expect(error?.code == .unknownProperty)
    #expect(error?.description.contains("name") == true)
    #expect(throws: StoreError(.unknownEntity, "")) {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Persona"))
    }
    #expect(throws: StoreError(.unknownProperty, "")) {
      try context.fetch(request(Person.self, sort: ["nmae"]))
    }
  }

  @Test func `a fetch without a store throws 134070`() throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let error = #expect(throws: NSError.self) { try context.fetch(request(Person.self)) }
    #expect(error?.code == 134_070)
    _ = Tag(context: context)
    #expect(throws: NSError.self) { try context.save() }
    #expect(context.hasChanges)
  }

  @Test func `requests are made by name, by class and untyped`() throws {
    #expect(try context.fetch(NSFetchRequest<Person>(entityName: "Person")).count == 4)
    #expect(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).count == 4)
    let untyped: NSFetchRequest<NSFetchRequestResult> = Person.fetchRequest()
    #expect(try context.fetch(untyped).compactMap { $0 as? Person }.count == 4)
    let byEntity = NSFetchRequest<Person>()
    byEntity.entity = NSEntityDescription.entity(forEntityName: "Person", in: context)
    #expect(try context.fetch(byEntity).count == 4)
  }

  @Test func `sort descriptors by key know their key and compare objects`() throws {
    let byAge = NSSortDescriptor(key: "age", ascending: false)
    #expect(byAge.key == "age" && !byAge.ascending)
    #expect(byAge == NSSortDescriptor(key: "age", ascending: false))
    #expect(byAge != NSSortDescriptor(key: "age", ascending: true))
    #expect((byAge.reversedSortDescriptor as? NSSortDescriptor)?.ascending == true)
    #expect(byAge.compare(try person("Cyd"), to: try person("Bob")) == .orderedAscending)
    #expect(try names(request(Person.self, sort: ["age"], ascending: false)) == ["Cyd", "Dan", "Ada", "Bob"])
  }

  @Test func `aggregates are over saved rows alone`() throws {
    try person("Ada").age = 1_000
    let rows = try context.aggregate("Person", [.init(.max, "age"), .init(.count, nil)])
    #expect(rows == [AggregateRow(group: [], values: [50, 4])])
  }

  @Test func `a fetch puts a newer row under a fault and leaves a read object as it is`() throws {
    let reader = stack.otherContext()
    let people = try reader.fetch(request(Person.self, sort: ["name"]))
    #expect(people[0].age == 36)
    try person("Ada").age = 37
    try person("Bob").age = 21
    try context.save()
    _ = try reader.fetch(request(Person.self))
    #expect(people[0].age == 36)
    #expect(people[1].age == 21)
    reader.refresh(people[0], mergeChanges: true)
    #expect(people[0].age == 37)
  }

  @Test func `refreshing with mergeChanges keeps unsaved values over the new row`() throws {
    let reader = stack.otherContext()
    let ada = try #require(try reader.fetch(request(Person.self, .compare("name", .equal, "Ada"))).first)
    ada.age = 99
    try person("Ada").name = "Ada B."
    try context.save()
    reader.refresh(ada, mergeChanges: true)
    #expect(ada.age == 99 && ada.name == "Ada B." && ada.isUpdated)
    try reader.save()
    #expect(try stack.otherContext().count(for: request(Person.self, .compare("age", .equal, 99))) == 1)
  }

  @Test(
    "Many unsaved objects are judged as predicates judge each by itself",
    arguments: [
      "name == 'b3'", "name ==[cd] 'B3'", "name LIKE 'b1*'", "g == nil", "g != 'x'", "NOT (g == 'x')",
      "pos > 5 AND flag == YES", "pos + other < 9", "name IN {'b1', 'b7', 'no'}", "pos BETWEEN {2, 4}",
      "pos == other", "name MATCHES 'b.5'", "g CONTAINS[c] 'X' OR other == 0", "TRUEPREDICATE",
      "FALSEPREDICATE", "team == nil AND pos < 3",
    ])
  func manyUnsaved(_ format: String) throws {
    let stack = try EntryStack(.memory, ["a1", "x:a2"])
    var all = try stack.context.fetch(request(Entry.self))
    for number in 0..<24 {
      let item = stack.add(number % 3 == 0 ? "x:b\(number)" : "b\(number)")
      item.flag = number % 2 == 0
      (item.pos, item.other) = (Int32(number), Int32(number * 7 % 5))
      all.append(item)
    }
    all[0].pos = 4
    let predicate = NSPredicate(format: format)
    let fetch = request(Entry.self)
    fetch.predicate = predicate
    #expect(try Set(stack.context.fetch(fetch)) == Set(all.filter { predicate.evaluate(with: $0) }))
  }
}
