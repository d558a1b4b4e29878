// Key paths: dotted ones followed over objects, and Swift's own by the names of their properties.

import Cairn
import Testing

import class CairnGraph.NSComparisonPredicate
import class CairnGraph.NSExpression

@testable import CairnGraph

/// Properties of every kind that a key path can lead through.
private final class Probed: NSManagedObject {
  enum Odd: String, ManagedAttribute { case unlikely, other }
  enum Few: Int16, ManagedAttribute { case nine = 900, ten }

  @Managed var int: Int
  @Managed var flag: Bool
  @Managed var real: Double
  @Managed var text: String
  @Managed var optionalText: String?
  @Managed var date: Date
  @Managed var data: Data
  @Managed var uuid: UUID
  @Managed var url: URL
  @Managed var decimal: Decimal
  @Managed var odd: Odd
  @Managed var few: Few
  @Managed var optionalFew: Few?
  @Managed var person: Person?
  @Managed var people: Set<Person>
  @Managed var list: [Person]
  @Managed var words: [String]
  @Managed var entries: [String: Int]
  var doubled: Int { int * 2 }
  var same: Int { int }
  var sum: Double { Double(int) + real }
  var named: String { (value(forKey: "text") as? String) ?? "" }
  var constant: Int { 3 }
}

@Suite struct KeyPathTests {
  @Test func `a Swift key path has the names of the properties that it leads through`() {
    let names: [(AnyKeyPath, String)] = [
      (\Probed.int, "int"), (\Probed.flag, "flag"), (\Probed.real, "real"), (\Probed.text, "text"),
      (\Probed.optionalText, "optionalText"), (\Probed.date, "date"), (\Probed.data, "data"),
      (\Probed.uuid, "uuid"), (\Probed.url, "url"), (\Probed.decimal, "decimal"), (\Probed.odd, "odd"),
      (\Probed.few, "few"), (\Probed.optionalFew, "optionalFew"), (\Probed.person, "person"),
      (\Probed.people, "people"), (\Probed.list, "list"), (\Probed.words, "words"),
      (\Probed.entries, "entries"), (\Probed.person?.name, "person.name"),
      (\Probed.person!.age, "person.age"), (\Probed.person?.company?.founded, "person.company.founded"),
      (\Probed.person?.friends, "person.friends"), (\Probed.self, "self"), (\Manager.name, "name"),
      (\Manager.level, "level"),
    ]
    for (path, name) in names { #expect(path.propertyNames == name) }
  }

  @Test func `a key path through a computed property has none`() {
    let paths: [AnyKeyPath] = [
      \Probed.doubled, \Probed.sum, \Probed.named, \Probed.constant, \Probed.text.count, \String.count,
      \Probed.person?.objectID,
    ]
    for path in paths { #expect(path.propertyNames == nil, "\(String(describing: path.propertyNames))") }
    // One that only passes another's value on can't be told from it, and means the same.
    #expect((\Probed.same).propertyNames == "int")
  }

  @Test func `a key path without a name traps where one is needed`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSExpression(forKeyPath: \String.count)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("give the key as a string"))
  }

  @Test func `value(forKeyPath:) follows to-ones, to-manys and operators`() throws {
    let stack = try Stack()
    let acme = Company(context: stack.context)
    acme.name = "Acme"
    let (ada, bob) = (stack.person("Ada", age: 30), stack.person("Bob", age: 30))
    acme.staff = [ada, bob]
    acme.board = [bob, ada]
    for _ in 0...1 {
      #expect(ada.value(forKeyPath: "company.name") as? String == "Acme")
      #expect(ada.value(forKeyPath: "company") as? Company === acme)
      #expect(ada.value(forKeyPath: "partner.company.name") == nil)
      #expect(acme.value(forKeyPath: "staff.name") as? Set<String> == ["Ada", "Bob"])
      #expect(acme.value(forKeyPath: "staff.age") as? Set<Int> == [30])
      #expect(acme.value(forKeyPath: "board.name") as? [String] == ["Bob", "Ada"])
      #expect(acme.value(forKeyPath: "board.@sum.age") as? Int == 60)
      #expect(acme.value(forKeyPath: "staff.@count") as? Int == 2)
      #expect((acme.value(forKeyPath: "staff") as? Set<Person>)?.count == 2)
      try stack.context.save()
    }
  }

  private func await_trap() {}

  @Test func `an unknown key of an object is an error that names those there are`() throws {
    let stack = try Stack()
    let ada = stack.person("Ada")
    let error = #expect(throws: PredicateEvaluationError.self) {
      try NSPredicate(format: "nmae == 'Ada'").matches(ada)
    }
    #expect(error?.reason == .unknownKey && error?.description.contains("age, board") == true)
  }

  @Test func `evaluating fires a fault, and judging a fetch doesn't`() throws {
    let stack = try Stack()
    stack.person("Ada", age: 30)
    try stack.context.save()
    let reader = stack.otherContext()
    let ada = try #require(try reader.fetch(request(Person.self)).first)
    #expect(ada.isFault)
    #expect(try Evaluator(firesFaults: false).holds(.compare("age", .equal, 30), for: ada))
    #expect(ada.isFault)
    #expect(NSPredicate(format: "age == 30").evaluate(with: ada))
    #expect(!ada.isFault)
  }
}
