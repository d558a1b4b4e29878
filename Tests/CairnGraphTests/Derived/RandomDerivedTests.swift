// Random changes of a small graph in two contexts: after each save, every stored derived value is what the
// objects give. A failure prints its seed; CAIRN_SEED runs only that one.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

private struct Run {
  private static let entities = ["Publisher", "Author", "Profile", "Book", "Magazine", "Shelf", "Tag"]
  private static let names = ["Ann", "Zoë", "ÅSA", "Éclair", "bob", "", "İx"]
  private static let links: [(entity: String, name: String, destination: String)] = [
    ("Author", "publisher", "Publisher"), ("Author", "profile", "Profile"), ("Profile", "author", "Author"),
    ("Work", "author", "Author"), ("Work", "editor", "Author"), ("Work", "shelf", "Shelf"),
  ]
  private static let sets: [(entity: String, name: String, destination: String)] = [
    ("Publisher", "authors", "Author"), ("Author", "books", "Work"), ("Author", "friends", "Author"),
    ("Author", "favourites", "Work"), ("Author", "reading", "Work"), ("Work", "readers", "Author"),
    ("Work", "tags", "Tag"), ("Tag", "works", "Work"), ("Shelf", "works", "Work"),
  ]
  private static let attributes: [(entity: String, name: String)] = [
    ("Publisher", "name"), ("Author", "name"), ("Profile", "text"), ("Work", "title"), ("Shelf", "label"),
  ]

  let stack: DerivedStack
  private var dice: SeededGenerator
  private var contexts: [NSManagedObjectContext]
  /// What rows were, and when they were saved.
  private var rows: [NSManagedObjectID: (text: String, saved: Date?)] = [:]

  init(_ kind: StoreUnderTest, seed: UInt64) throws {
    stack = try DerivedStack(kind)
    dice = SeededGenerator(seed: seed)
    contexts = [stack.context]
    addContext()
  }

  private mutating func addContext() {
    let other = stack.otherContext()
    contexts[0].mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    other.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    contexts = [contexts[0], other]
  }

  private mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &dice) }

  private mutating func object(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject?
  {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).sorted {
      // Insertion order is chance's in a set of new objects.
      $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString
    }.randomElement(using: &dice)
  }

  // MARK: Steps

  private mutating func change(_ context: NSManagedObjectContext) throws {
    switch roll(20) {
    case 0..<4:
      let entity = Run.entities[roll(Run.entities.count)]
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (owner, name) in Run.attributes where owner == entity || owner == "Work" && entity.count < 9 {
        if object.entity.attributesByName[name] == nil { continue }
        object.setValue(Run.names[roll(Run.names.count)], forKey: name)
      }
      if object.entity.attributesByName["price"] != nil, roll(4) > 0 {
        object.setValue(Double(roll(40)) / 4, forKey: "price")
      }
    case 4..<7:
      let (entity, name) = Run.attributes[roll(Run.attributes.count)]
      let value = roll(6) == 0 ? nil : Run.names[roll(Run.names.count)]
      try object(entity, context)?.setValue(value, forKey: name)
    case 7..<9:
      let value = roll(6) == 0 ? nil : Double(roll(40)) / 4
      try object("Work", context)?.setValue(value, forKey: "price")
    case 9..<13:
      let (entity, name, destination) = Run.links[roll(Run.links.count)]
      // Two contexts that know nothing of each other may leave two authors with one profile.
      if entity != "Work", destination != "Publisher", context !== contexts[0] { return }
      let end = roll(4) == 0 ? nil : try object(destination, context)
      try object(entity, context)?.setValue(end, forKey: name)
    case 13..<17:
      let (entity, name, destination) = Run.sets[roll(Run.sets.count)]
      guard let owner = try object(entity, context), let member = try object(destination, context) else {
        return
      }
      try toggle(owner, name, member)
    case 17: try set(byHand: context)
    default:
      if let gone = try object(Run.entities[roll(Run.entities.count)], context) { context.delete(gone) }
    }
  }

  private mutating func toggle(_ owner: NSManagedObject, _ name: String, _ member: NSManagedObject) throws {
    if owner.entity.relationshipsByName[name]?.isOrdered == true {
      let list = owner.mutableOrderedSetValue(forKey: name)
      if list.contains(member) { list.remove(member) } else { list.insert(member, at: roll(list.count + 1)) }
    } else {
      let set = owner.mutableSetValue(forKey: name)
      if set.contains(member) { set.remove(member) } else { set.add(member) }
    }
  }

  private mutating func set(byHand context: NSManagedObjectContext) throws {
    switch roll(3) {
    case 0: try object("Author", context)?.setValue("by hand", forKey: "loud")
    case 1: try object("Shelf", context)?.setValue(roll(3), forKey: "count")
    default: try object("Work", context)?.setValue(Date(timeIntervalSince1970: 0), forKey: "saved")
    }
  }

  /// Works' own values as stored, and `saved`.
  private func works() throws -> [NSManagedObjectID: (text: String, saved: Date?)] {
    let context = stack.otherContext()
    var result: [NSManagedObjectID: (String, Date?)] = [:]
    for work in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")) {
      let own: [Any?] = [work.value(forKey: "title"), work.value(forKey: "price")]
      let links = ["author", "editor", "shelf"].map { name in
        work.objectIDs(forRelationshipNamed: name).map { $0.uriRepresentation().absoluteString }
      }
      result[work.objectID] = ("\(own) \(links)", work.value(forKey: "saved") as? Date)
    }
    return result
  }

  mutating func step(_ number: Int) throws -> [String] {
    let context = contexts[roll(2)]
    if roll(3) == 0 { context.refreshAllObjects() }
    for _ in 0...roll(6) { try change(context) }
    let byHand = Set(context.updatedObjects.filter { $0.changedValues()["saved"] != nil }.map(\.objectID))
    let start = Date()
    do {
      try context.save()
    } catch {
      // What two contexts have done to each other's objects needn't fit together.
      context.rollback()
      context.refreshAllObjects()
      return try DerivedModel.mistakes(in: stack.otherContext())
    }
    var mistakes = try DerivedModel.mistakes(in: stack.otherContext())
    let new = try works()
    for (id, row) in new where !byHand.contains(id) {
      let isChanged = rows[id]?.text != row.text
      let isNow = row.saved.map { $0 >= start && $0 <= Date() } ?? false
      if isChanged ? !isNow : row.saved != rows[id]?.saved {
        mistakes.append("\(id).saved: changed \(isChanged)")
      }
    }
    rows = new
    context.refreshAllObjects()
    mistakes += try DerivedModel.mistakes(in: context)
    if number % 12 == 11 {
      try stack.reopen()
      if stack.kind != .memory {
        contexts[0] = stack.otherContext()
        addContext()
        rows = try works()
      }
      mistakes += try DerivedModel.mistakes(in: stack.otherContext())
    }
    return mistakes
  }
}

@Suite struct RandomDerivedTests {
  private static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    if let seed = environment["CAIRN_SEED"].flatMap(UInt64.init) { return [seed] }
    return Array(1...(environment["CAIRN_SEEDS"].flatMap(UInt64.init) ?? 30))
  }()

  @Test(arguments: StoreUnderTest.allCases)
  func `derived values are what the objects give, after any save`(kind: StoreUnderTest) throws {
    for seed in kind.some(of: Self.seeds) {
      var run = try Run(kind, seed: seed)
      for step in 0..<40 {
        let mistakes = try run.step(step)
        #expect(mistakes.isEmpty, "seed \(seed), step \(step)")
        if !mistakes.isEmpty { return }
      }
    }
  }
}
