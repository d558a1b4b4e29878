// Predicates in fetches: what columns answer, what is left to objects, and unsaved changes in both.

import Cairn
import Testing

import class CairnGraph.NSExpression

@testable import CairnGraph

@Suite struct FetchPredicateTests {
  private let stack: Stack
  private var context: NSManagedObjectContext { stack.context }

  /// Ten people, some in a company, with friends; eight are saved, two are new, two of the saved are changed.
  init() throws {
    stack = try Stack()
    let acme = Company(context: stack.context)
    acme.name = "Acme"
    var people: [Person] = []
    for index in 0..<8 {
      let person = stack.person("P\(index)", age: Int32(index * 10))
      person.company = index % 3 == 0 ? acme : nil
      people.append(person)
    }
    for index in 1..<8 { people[0].friends.insert(people[index]) }
    people[3].friends.insert(people[4])
    try stack.context.save()
    people[1].age = 75
    people[6].name = nil
    stack.person("N0", age: 5).company = acme
    stack.person("N1", age: 65)
  }

  private func ages(_ predicate: NSPredicate?, limit: Int = 0, offset: Int = 0) throws -> [Int32] {
    let fetch = request(Person.self, sort: ["age"])
    fetch.predicate = predicate
    fetch.fetchLimit = limit
    fetch.fetchOffset = offset
    let result = try context.fetch(fetch).map(\.age)
    #expect(try context.count(for: fetch) == result.count)
    return result
  }

  @Test func `predicate and predicateTree are one thing`() {
    let fetch = request(Person.self)
    fetch.predicate = NSPredicate(format: "age > 3")
    #expect(fetch.predicateTree == .compare("age", .greater, 3))
    fetch.predicateTree = .compare("name", .equal, "x")
    #expect(fetch.predicate == NSPredicate(format: "name == 'x'"))
    fetch.predicateTree = nil
    #expect(fetch.predicate == nil)
  }

  /// Formats that columns answer, that only objects answer, and mixtures, windows of all of them included.
  @Test func `a fetch finds the objects for which its predicate holds, in any window`() throws {
    let all = try context.fetch(request(Person.self, sort: ["age"]))
    let predicates =
      [
        "age > 30", "company.name == 'Acme' AND age < 40", "name == nil OR age == 5",
        "FUNCTION(name, 'lowercaseString') == 'p4'", "age > 20 AND FUNCTION(name, 'hasPrefix:', 'P') == YES",
        "friends.@count > 1", "ANY friends.age > 55", "ALL friends.age > 20", "friends.@sum.age > 100",
        "SUBQUERY(friends, $f, $f.age > age).@count > 2", "age + 5 == 10 OR age % 20 == 0",
        "modulus:by:(age, 20) == 0", "TERNARY(name == nil, age, 1) == 60", "SELF == partner",
        "name MATCHES 'P[0-3]'",
        "age IN {0, 5, 75} AND NOT name BEGINSWITH 'N'", "company == nil AND (age BETWEEN {20, 75})",
        "CAST(age, 'NSString') ENDSWITH '5'", "TRUEPREDICATE", "FALSEPREDICATE", "name <[l] 'P3'",
      ].compactMap { try? NSPredicate(parsing: $0) } + [
        NSPredicate { object, _ in (object as? Person)?.age == 20 },
        NSCompoundPredicate(
          orPredicateWithSubpredicates: [
            NSPredicate(format: "age < 10"), NSPredicate { object, _ in (object as? Person)?.name == "N1" },
          ]),
        NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "age > 20")),
      ]
    #expect(predicates.count == 23)
    for predicate in predicates {
      let wanted = try all.filter { try predicate.matches($0) }.map(\.age)
      #expect(try ages(predicate) == wanted, "\(predicate.canonicalFormat)")
      for (limit, offset) in [(2, 0), (3, 1), (1, 20)] {
        #expect(
          try ages(predicate, limit: limit, offset: offset)
            == Array(wanted.dropFirst(offset).prefix(limit)), "\(predicate.canonicalFormat)")
      }
    }
  }

  @Test func `objects and IDs are compared by the row that they mean`() throws {
    let acme = try #require(try context.fetch(request(Company.self)).first)
    let three = try #require(try context.fetch(request(Person.self, .compare("age", .equal, 30))).first)
    for argument in [acme, acme.objectID] as [Any] {
      #expect(try ages(NSPredicate(format: "company == %@", argument)) == [0, 5, 30, 60])
      #expect(try ages(NSPredicate(format: "company != %@ AND age > 60", argument)) == [65, 70, 75])
      #expect(try ages(NSPredicate(format: "company IN %@", [argument])) == [0, 5, 30, 60])
    }
    #expect(try ages(NSPredicate(format: "SELF == %@", three)) == [30])
    #expect(try ages(NSPredicate(format: "SELF IN %@", [three, three.objectID])) == [30])
    #expect(try ages(NSPredicate(format: "%@ IN friends", three)) == [0, 40])
    let new = stack.person("N2", age: 99)
    #expect(try ages(NSPredicate(format: "SELF == %@", new)) == [99])
    let predicate = NSPredicate(format: "SELF == %@", new)
    try context.save()
    #expect(try ages(predicate) == [99])
  }

  @Test func `what can't be compared is thrown, whether columns or objects are asked`() throws {
    for format in ["name > 3", "nmae == 'x'", "ANY age > 3", "age BEGINSWITH 'x'", "name == $x"] {
      #expect(throws: StoreError.self, "\(format)") { try ages(NSPredicate(format: format)) }
    }
    #expect(throws: PredicateEvaluationError.self) {
      try ages(NSPredicate(format: "FUNCTION(name, 'launchMissiles') == 1"))
    }
    // The fetch that failed has changed nothing.
    #expect(try ages(nil).count == 10)
  }

  @Test func `bits of what may have a fraction are left to objects, which refuse a fraction`() throws {
    let whole = try Stack(TestModel.makeSample())
    func fetch(_ height: Double, _ format: String) throws -> Int {
      let sample = Sample(context: whole.context)
      sample.double = height
      try whole.context.save()
      defer { whole.context.delete(sample) }
      let fetch = request(Sample.self)
      fetch.predicate = NSPredicate(format: format)
      return try whole.otherContext().fetch(fetch).count
    }
    #expect(try fetch(3, "double & 1 == 1") == 1)
    try whole.context.save()
    #expect(throws: PredicateEvaluationError.self) { try fetch(2.5, "double & 1 == 0") }
  }

  @Test func `a fetch by a predicate that objects judge leaves faults asleep`() throws {
    try context.save()
    let reader = stack.otherContext()
    let fetch = request(Person.self)
    fetch.predicate = NSPredicate(format: "FUNCTION(name, 'hasPrefix:', 'P') == YES")
    let found = try reader.fetch(fetch)
    #expect(found.count == 7 && found.allSatisfy { $0.isFault })
  }
}
