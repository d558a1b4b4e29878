// Foundation's typed predicates as ours: what they become, and that they answer alike.

import Cairn
import Testing

import class CairnGraph.NSComparisonPredicate
import class CairnGraph.NSExpression

@testable import CairnGraph

@Suite struct TypedPredicateTests {
  private let minimum: Int32 = 30
  private let names = ["Ada", "Bob"]

  private func text(_ predicate: Predicate<Person>) throws -> String {
    try NSPredicate(converting: predicate).canonicalFormat
  }

  @Test func `parts become what the format language has for them`() throws {
    let (minimum, names) = (minimum, names)
    #expect(try text(#Predicate { $0.age == minimum }) == "age == 30")
    #expect(
      try text(#Predicate { $0.age != 1 && $0.age < 2 && $0.age <= 3 }) == "age != 1 AND age < 2 AND age <= 3"
    )
    #expect(
      try text(#Predicate { $0.age > 1 || $0.age >= 2 || !($0.age == 3) })
        == "age > 1 OR age >= 2 OR NOT age == 3")
    #expect(try text(#Predicate { $0.name == nil }) == "name == nil")
    #expect(try text(#Predicate { $0.company?.name == "Acme" }) == "company.name == \"Acme\"")
    #expect(try text(#Predicate { $0.company!.name != nil }) == "company.name != nil")
    #expect(try text(#Predicate { ($0.name ?? "x") == "x" }) == "TERNARY(name != nil, name, \"x\") == \"x\"")
    #expect(try text(#Predicate { $0.age + 1 == minimum }) == "age + 1 == 30")
    #expect(try text(#Predicate { $0.age - 1 == minimum }) == "age - 1 == 30")
    #expect(try text(#Predicate { $0.age * 2 == minimum }) == "age * 2 == 30")
    #expect(try text(#Predicate { $0.age / 2 == minimum }) == "age / 2 == 30")
    #expect(try text(#Predicate { $0.age % 2 == minimum }) == "modulus:by:(age, 2) == 30")
    #expect(try text(#Predicate { -$0.age == 1 }) == "0 - age == 1")
    #expect(try text(#Predicate { ($0.age > 1 ? 2 : 3) == 2 }) == "TERNARY(age > 1, 2, 3) == 2")
    #expect(try text(#Predicate { (1...5).contains($0.age) }) == "age BETWEEN {1, 5}")
    #expect(try text(#Predicate { (1..<5).contains($0.age) }) == "age >= 1 AND age < 5")
    #expect(try text(#Predicate { names.contains($0.name!) }) == "name IN {\"Ada\", \"Bob\"}")
    #expect(try text(#Predicate { $0.name!.contains("d") }) == "name CONTAINS \"d\"")
    #expect(try text(#Predicate { $0.name!.starts(with: "A") }) == "name BEGINSWITH \"A\"")
    #expect(
      try text(#Predicate { $0.friends.contains { $0.age > 3 } })
        == "SUBQUERY(friends, $element1, $element1.age > 3).@count > 0")
    #expect(
      try text(#Predicate { $0.friends.allSatisfy { $0.age > 3 } })
        == "SUBQUERY(friends, $element1, NOT $element1.age > 3).@count == 0")
    #expect(
      try text(#Predicate { $0.friends.filter { $0.age > 3 }.count == 1 })
        == "SUBQUERY(friends, $element1, $element1.age > 3).@count == 1")
    #expect(
      try text(#Predicate { $0.friends.isEmpty && $0.tags.count > 1 })
        == "friends.@count == 0 AND tags.@count > 1")
    #expect(try text(#Predicate { $0 == $0 }) == "SELF == SELF")
    #expect(try text(#Predicate { _ in true }) == "TRUEPREDICATE")
  }

  @Test func `typed predicates and what they become answer alike`() throws {
    let stack = try Stack()
    let acme = Company(context: stack.context)
    acme.name = "Acme"
    for (index, name) in ["Ada", "Bob", nil, "Anna", ""].enumerated() {
      let person = Person(context: stack.context)
      person.name = name
      person.age = Int32(index * 10)
      person.company = index % 2 == 0 ? acme : nil
    }
    let people = try stack.context.fetch(request(Person.self))
    people[0].friends = [people[1], people[3]]
    let names = ["Ada", "Bob"]
    let (zero, one): (Int32, Int32) = (0, 1)
    let predicates: [Predicate<Person>] = [
      #Predicate { $0.age > 10 && $0.company != nil }, #Predicate { $0.name == nil || $0.age == 10 },
      #Predicate { $0.company?.name == "Acme" }, #Predicate { ($0.name ?? "Bob") == "Bob" },
      #Predicate { $0.age / 20 == one && $0.age % 20 == zero }, #Predicate { (10...30).contains($0.age) },
      #Predicate { $0.friends.contains { $0.age > 20 } }, #Predicate { $0.friends.allSatisfy { $0.age > 5 } },
      #Predicate { $0.friends.filter { $0.age > 5 }.count == 2 },
      #Predicate { person in person.friends.contains { $0.age > person.age } },
      #Predicate { $0.name.flatMap { $0.contains("n") } == true },
      #Predicate { $0.name != nil && names.contains($0.name!) }, #Predicate { ($0.age > 10 ? 1 : 2) == 1 },
    ]
    for (index, predicate) in predicates.enumerated() {
      let converted = try NSPredicate(converting: predicate)
      for person in people {
        #expect(
          try converted.matches(person) == predicate.evaluate(person),
          "\(index): \(converted.canonicalFormat)")
      }
      let fetch = request(Person.self)
      fetch.predicate = converted
      #expect(
        try Set(stack.context.fetch(fetch)) == Set(people.filter { try predicate.evaluate($0) }), "\(index)")
    }
  }

  @Test func `a part that has no counterpart is named`() throws {
    let error = #expect(throws: PredicateConversionError.self) {
      try NSPredicate(
        converting: #Predicate<Person> { $0.name.flatMap { $0.count } == 3 && $0.description == "x" })
    }
    #expect(error?.expression == "PredicateExpressions.KeyPath")
    #expect(NSPredicate(#Predicate<Person> { $0.description == "x" }) == nil)
    #expect(NSPredicate(#Predicate<Person> { $0.age == 1 })?.canonicalFormat == "age == 1")
    #expect(throws: PredicateConversionError.self) {
      try NSPredicate(converting: #Predicate<Person> { $0 is Manager })
    }
  }
}
