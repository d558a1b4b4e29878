// Relationships: both sides agree, before a save and after it, in every shape.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct RelationshipTests {
  let stack: Stack
  let context: NSManagedObjectContext

  init() throws {
    stack = try Stack()
    context = stack.context
  }

  private func company(_ name: String) -> Company {
    let company = Company(context: context)
    company.name = name
    return company
  }

  /// The names, as another context sees them after a save.
  private func saved(_ company: Company) throws -> [String] {
    try context.save()
    let other = try #require(try stack.otherContext().existingObject(with: company.objectID) as? Company)
    return other.staff.compactMap(\.name).sorted()
  }

  @Test func `setting a to-one puts the object into the inverse to-many at once`() throws {
    let acme = company("Acme")
    let ada = stack.person("Ada")
    ada.company = acme
    #expect(acme.staff == [ada])
    #expect(try saved(acme) == ["Ada"])
    #expect(acme.staff == [ada])
    #expect(ada.company === acme)
  }

  @Test(arguments: [false, true])
  func `changing a to-one moves the object from one inverse to the other`(savesBetween: Bool) throws {
    let acme = company("Acme")
    let bolt = company("Bolt")
    let ada = stack.person("Ada")
    ada.company = acme
    if savesBetween { try context.save() }
    ada.company = bolt
    #expect(acme.staff.isEmpty)
    #expect(bolt.staff == [ada])
    if savesBetween { #expect(acme.isUpdated && bolt.isUpdated && ada.isUpdated) }
    #expect(try saved(acme) == [])
    #expect(try saved(bolt) == ["Ada"])
    ada.company = nil
    #expect(bolt.staff.isEmpty)
    #expect(try saved(bolt) == [])
  }

  @Test(arguments: [false, true])
  func `assigning a to-many sets and clears the inverse to-ones`(savesBetween: Bool) throws {
    let acme = company("Acme")
    let bolt = company("Bolt")
    let (ada, bob, cyd) = (stack.person("Ada"), stack.person("Bob"), stack.person("Cyd"))
    acme.staff = [ada, bob]
    bolt.staff = [cyd]
    if savesBetween { try context.save() }
    acme.staff = [bob, cyd]
    #expect(ada.company == nil)
    #expect(bob.company === acme)
    #expect(cyd.company === acme)
    #expect(bolt.staff.isEmpty)
    #expect(try saved(acme) == ["Bob", "Cyd"])
    #expect(acme.staff == [bob, cyd])
    #expect(try saved(bolt) == [])
  }

  @Test func `a to-many can be changed in place`() throws {
    let acme = company("Acme")
    let (ada, bob) = (stack.person("Ada"), stack.person("Bob"))
    acme.staff.insert(ada)
    acme.staff.insert(bob)
    acme.staff.remove(ada)
    #expect(bob.company === acme && ada.company == nil)
    #expect(try saved(acme) == ["Bob"])
  }

  @Test(arguments: [false, true])
  func `a one-to-one to its own kind is kept both ways, and displaces`(savesBetween: Bool) throws {
    let (ada, bob, cyd) = (stack.person("Ada"), stack.person("Bob"), stack.person("Cyd"))
    ada.partner = bob
    #expect(bob.partner === ada)
    if savesBetween { try context.save() }
    cyd.partner = bob
    #expect(bob.partner === cyd)
    #expect(ada.partner == nil)
    try context.save()
    let other = stack.otherContext()
    let names = try other.fetch(request(Person.self, sort: ["name"])).map { $0.partner?.name }
    #expect(names == [nil, "Cyd", "Bob"])
  }

  @Test(arguments: [false, true])
  func `many-to-many is kept both ways`(savesBetween: Bool) throws {
    let (red, blue) = (Tag(context: context), Tag(context: context))
    red.text = "red"
    blue.text = "blue"
    let (ada, bob) = (stack.person("Ada"), stack.person("Bob"))
    ada.tags = [red, blue]
    #expect(red.people == [ada] && blue.people == [ada])
    if savesBetween { try context.save() }
    red.people = [bob]
    #expect(ada.tags == [blue] && bob.tags == [red])
    try context.save()
    #expect(ada.tags == [blue] && bob.tags == [red] && red.people == [bob])
    let people = try stack.otherContext().fetch(request(Person.self, sort: ["name"]))
    #expect(people.map { $0.tags.map(\.text).sorted() } == [["blue"], ["red"]])
  }

  @Test(arguments: [false, true])
  func `a many-to-many that is its own inverse is symmetric`(savesBetween: Bool) throws {
    let (ada, bob, cyd) = (stack.person("Ada"), stack.person("Bob"), stack.person("Cyd"))
    ada.friends = [bob, cyd]
    #expect(bob.friends == [ada] && cyd.friends == [ada])
    if savesBetween { try context.save() }
    cyd.friends = []
    #expect(ada.friends == [bob])
    bob.friends.insert(bob)
    try context.save()
    let people = try stack.otherContext().fetch(request(Person.self, sort: ["name"]))
    #expect(people.map { $0.friends.compactMap(\.name).sorted() } == [["Bob"], ["Ada", "Bob"], []])
  }

  @Test(arguments: [false, true])
  func `an ordered to-many keeps its order`(savesBetween: Bool) throws {
    let acme = company("Acme")
    let (ada, bob, cyd) = (stack.person("Ada"), stack.person("Bob"), stack.person("Cyd"))
    acme.board = [cyd, ada, bob]
    #expect(ada.value(forKey: "boardOf") as? Company === acme)
    if savesBetween {
      try context.save()
      #expect(acme.board == [cyd, ada, bob])
    }
    acme.board = [bob, cyd]
    ada.setValue(acme, forKey: "boardOf")
    #expect(acme.board == [bob, cyd, ada])
    try context.save()
    #expect(acme.board == [bob, cyd, ada])
    let other = try #require(try stack.otherContext().existingObject(with: acme.objectID) as? Company)
    #expect(other.board.map(\.name) == ["Bob", "Cyd", "Ada"])
    other.board = other.board.reversed()
    try other.managedObjectContext?.save()
    let third = try #require(try stack.otherContext().existingObject(with: acme.objectID) as? Company)
    #expect(third.board.map(\.name) == ["Ada", "Cyd", "Bob"])
  }

  @Test func `a to-one to an entity with children finds the child's class`() throws {
    let manager = Manager(context: context)
    manager.name = "Max"
    let ada = stack.person("Ada")
    ada.partner = manager
    try context.save()
    let found = try #require(
      try stack.otherContext().fetch(request(Person.self, .compare("name", .equal, "Ada"))).first)
    #expect(found.partner is Manager)
    #expect(found.partner?.name == "Max")
  }

  @Test func `unsaved objects may refer to each other in a circle`() throws {
    let (ada, bob) = (stack.person("Ada"), stack.person("Bob"))
    ada.partner = bob
    ada.friends = [bob]
    let acme = company("Acme")
    acme.staff = [ada, bob]
    try context.save()
    #expect(ada.partner === bob && bob.partner === ada && ada.friends == [bob] && ada.company === acme)
  }

  @Test func `key-value access reads and sets relationships`() throws {
    let acme = company("Acme")
    let ada = stack.person("Ada")
    ada.setValue(acme, forKey: "company")
    #expect(acme.value(forKey: "staff") as? Set<Person> == [ada])
    #expect((acme.value(forKey: "staff") as? NSSet)?.count == 1)
    acme.setValue(NSSet(), forKey: "staff")
    #expect(ada.value(forKey: "company") == nil)
    acme.setValue([ada] as Set<Person>, forKey: "staff")
    #expect(ada.company === acme)
    acme.setValue(NSOrderedSet(array: [ada]), forKey: "board")
    #expect((acme.value(forKey: "board") as? NSOrderedSet)?.array as? [Person] == [ada])
  }

  @Test func `discarding a to-one's change takes it back on the other side too`() throws {
    let acme = company("Acme")
    let bolt = company("Bolt")
    let ada = stack.person("Ada")
    ada.company = acme
    try context.save()
    ada.company = bolt
    ada.name = "Ada B."
    context.refresh(ada, mergeChanges: false)
    #expect(ada.isFault && !ada.hasChanges)
    #expect(ada.name == "Ada" && ada.company === acme)
    #expect(acme.staff == [ada] && bolt.staff.isEmpty)
    #expect(try saved(acme) == ["Ada"])
  }

  @Test func `a random walk over links keeps both sides and the store in agreement`() throws {
    var generator = SeededGenerator(seed: 0x5EED)
    let companies = (0..<3).map { company("C\($0)") }
    let people = (0..<6).map { stack.person("P\($0)") }
    for step in 0..<300 {
      let (a, b) = (people.randomElement(using: &generator)!, people.randomElement(using: &generator)!)
      let firm = companies.randomElement(using: &generator)!
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: a.company = Bool.random(using: &generator) ? firm : nil
      case 1: firm.staff = Set(people.filter { _ in Bool.random(using: &generator) })
      case 2: a.partner = a === b ? nil : b
      case 3: a.friends.insert(b)
      case 4: a.friends.remove(b)
      case 5: firm.board = people.filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
      case 6: a.setValue(firm, forKey: "boardOf")
      default: try context.save()
      }
      check(companies, people, step)
    }
    try context.save()
    let boards = companies.map { $0.board.map(\.name) }
    let staff = companies.map { Set($0.staff.map(\.name)) }
    let friends = people.map { Set($0.friends.map(\.name)) }
    let partners = people.map { $0.partner?.name }
    let other = stack.otherContext()
    let otherCompanies = try other.fetch(request(Company.self, sort: ["name"]))
    let otherPeople = try other.fetch(request(Person.self, sort: ["name"]))
    #expect(otherCompanies.map { $0.board.map(\.name) } == boards)
    #expect(otherCompanies.map { Set($0.staff.map(\.name)) } == staff)
    #expect(otherPeople.map { Set($0.friends.map(\.name)) } == friends)
    #expect(otherPeople.map { $0.partner?.name } == partners)
  }

  private func check(_ companies: [Company], _ people: [Person], _ step: Int) {
    for company in companies {
      #expect(company.staff == Set(people.filter { $0.company === company }), "step \(step)")
      let board = people.filter { $0.value(forKey: "boardOf") as? Company === company }
      #expect(Set(company.board) == Set(board) && company.board.count == board.count, "step \(step)")
    }
    for person in people {
      #expect(person.partner == nil || person.partner?.partner === person, "step \(step)")
      #expect(person.friends == Set(people.filter { $0.friends.contains(person) }), "step \(step)")
    }
  }
}

/// The same sequence for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
