// From descriptions to schemas: what is refused, and how what is accepted is laid out.

import Foundation
import Testing

@testable import CairnModel

struct SchemaFaultTests {
  typealias Entity = SchemaDescription.EntityDescription

  private func faults(_ entities: [Entity]) -> [String] {
    do {
      _ = try Schema(SchemaDescription(entities: entities))
      return []
    } catch let error as SchemaError {
      return error.faults.map { "\($0.entity).\($0.property ?? "-") \($0.message)" }
    } catch {
      return ["\(error)"]
    }
  }

  /// Exactly one fault, at this place, with these words.
  private func expect(
    _ entities: [Entity], at place: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = faults(entities)
    #expect(found.count == 1, "\(found)", sourceLocation: sourceLocation)
    #expect(
      found.allSatisfy { $0.hasPrefix(place + " ") && $0.contains(words) }, "\(found)",
      sourceLocation: sourceLocation)
  }

  @Test func `names of entities`() {
    expect([Entity(name: "")], at: ".-", "no name")
    expect([Entity(name: "A"), Entity(name: "A")], at: "A.-", "more than once")
  }

  @Test func `inheritance from nothing or from itself is reported once, not for each descendant`() {
    expect(
      [Entity(name: "A", superentity: "B"), Entity(name: "C", superentity: "A")], at: "A.-", "doesn't exist")
    expect([Entity(name: "A", superentity: "A")], at: "A.-", "itself")
    #expect(
      faults([
        Entity(name: "A", superentity: "B"), Entity(name: "B", superentity: "A"),
        Entity(name: "C", superentity: "B"),
      ]).filter { $0.contains("itself") }.count >= 2)
  }

  @Test func `a property declared twice, inherited ones counted, is reported where it is declared again`() {
    let name = SchemaDescription.AttributeDescription("x", .string)
    let both = Entity(name: "A", attributes: [name], relationships: [.init("x", to: "A", maxCount: 1)])
    expect([Entity(name: "A", attributes: [name, name])], at: "A.x", "more than once")
    expect([both], at: "A.x", "more than once")
    expect(
      [
        Entity(name: "A", attributes: [name]), Entity(name: "B", superentity: "A"),
        Entity(name: "C", superentity: "B", attributes: [name]), Entity(name: "D", superentity: "C"),
      ], at: "C.x", "inherits")
  }

  @Test func `names of properties`() {
    expect([Entity(name: "A", attributes: [.init("", .string)])], at: "A.", "not empty")
    expect([Entity(name: "A", attributes: [.init("a.b", .string)])], at: "A.a.b", "no dot")
    expect([Entity(name: "A", relationships: [.init("a.b", to: "A", maxCount: 1)])], at: "A.a.b", "no dot")
  }

  @Test func `defaults and types of attributes`() {
    expect([Entity(name: "A", attributes: [.init("x", .int16, defaultValue: 70_000)])], at: "A.x", "70000")
    expect([Entity(name: "A", attributes: [.init("x", .string, defaultValue: 1)])], at: "A.x", "does not fit")
    expect([Entity(name: "A", attributes: [.init("x", .key)])], at: "A.x", "relationship")
  }

  @Test func `composite attributes`() {
    typealias Attribute = SchemaDescription.AttributeDescription
    func composite(_ elements: [Attribute], defaultValue: Value = .null) -> [Entity] {
      [Entity(name: "A", attributes: [.init("c", .composite(elements), defaultValue: defaultValue)])]
    }
    expect(composite([]), at: "A.c", "at least one")
    expect(composite([.init("e", .int16), .init("e", .string)]), at: "A.c", "one name")
    expect(composite([.init("e", .int16, defaultValue: "x")]), at: "A.c.e", "does not fit")
    expect(composite([.init("e", .composite([.init("f", .key)]))]), at: "A.c.e.f", "key")
    expect(composite([.init("e", .int16)], defaultValue: .composite(["e": 1])), at: "A.c", "elements")
    func nested(_ depth: Int) -> Attribute {
      (0..<depth).reduce(Attribute("leaf", .int16)) { inner, _ in Attribute("n", .composite([inner])) }
    }
    #expect(faults([Entity(name: "A", attributes: [nested(32)])]).isEmpty)
    #expect(faults([Entity(name: "A", attributes: [nested(33)])]).count == 1)
    #expect(faults([Entity(name: "A", attributes: [nested(3000)])]).count == 1)
  }

  @Test func `counts, order and ends of relationships`() {
    func one(_ relationship: SchemaDescription.RelationshipDescription) -> [Entity] {
      [Entity(name: "A", relationships: [relationship])]
    }
    expect(one(.init("r", to: "B")), at: "A.r", "doesn't exist")
    expect(one(.init("r", to: "A", maxCount: 1, isOrdered: true)), at: "A.r", "ordered")
    expect(one(.init("r", to: "A", minCount: 3, maxCount: 2)), at: "A.r", "range")
    expect(one(.init("r", to: "A", minCount: -1)), at: "A.r", "range")
    expect(one(.init("r", to: "A", inverse: "s")), at: "A.r", "doesn't have")
  }

  @Test func `inverses that don't name each other`() {
    func pair(_ inverse: String?, isTransient: Bool = false) -> [Entity] {
      [
        Entity(name: "A", relationships: [.init("b", to: "B", inverse: "a")]),
        Entity(name: "B", relationships: [.init("a", to: "A", inverse: inverse, isTransient: isTransient)]),
      ]
    }
    #expect(faults(pair("b")).isEmpty)
    expect(pair(nil), at: "A.b", "in turn")
    #expect(faults(pair("b", isTransient: true)).count == 2, "each side is told")
  }

  @Test func `indexes and constraints, reported for the entity that declares them and once`() {
    func entity(_ indexes: [SchemaDescription.IndexDescription], _ constraints: [[String]] = []) -> [Entity] {
      [
        Entity(
          name: "A", attributes: [.init("x", .string), .init("t", .string, isTransient: true)],
          indexes: indexes, uniquenessConstraints: constraints),
        Entity(name: "B", superentity: "A"), Entity(name: "C", superentity: "B"),
      ]
    }
    #expect(faults(entity([.init("i", ["x"])], [["x"]])).isEmpty)
    expect(entity([.init("i", ["y"])]), at: "A.y", "index \"i\"")
    expect(entity([.init("i", ["t"])]), at: "A.t", "no stored property")
    expect(entity([.init("i", ["x", "x"])]), at: "A.x", "twice")
    expect(entity([.init("i", [])]), at: "A.-", "no elements")
    expect(entity([.init("i", ["x"]), .init("i", ["x"])]), at: "A.-", "two indexes")
    expect(entity([], [["y"]]), at: "A.y", "uniqueness")
    expect(entity([], [[]]), at: "A.-", "no attributes")
  }

  @Test func `all faults of a model come at once`() {
    let found = faults([
      Entity(
        name: "A", superentity: "Nowhere",
        attributes: [.init("x", .int16, defaultValue: "no"), .init("x", .key)]),
      Entity(
        name: "B", relationships: [.init("r", to: "Nobody")], indexes: [.init("i", ["y"])],
        uniquenessConstraints: [[]]),
      Entity(name: "B"),
    ])
    for words in ["Nowhere", "does not fit", "more than once", "key", "Nobody", "index", "uniqueness"] {
      #expect(found.contains { $0.contains(words) }, "\(words) in \(found)")
    }
    let error = SchemaError(faults: [
      .init(entity: "A", property: "x", message: "is bad"), .init(entity: "B", property: nil, message: "too"),
    ])
    #expect(error.description == "the model has 2 faults:\n  A.x: is bad\n  B: too")
  }
}

struct SchemaLayoutTests {
  private let schema = try! Schema(
    SchemaDescription(entities: [
      // Out of order: a child before its parent.
      .init(
        name: "Dog", superentity: "Animal", attributes: [.init("breed", .string)],
        relationships: [.init("owner", to: "Owner", inverse: "dogs", maxCount: 1)]),
      .init(
        name: "Animal", isAbstract: true,
        attributes: [
          .init("name", .string), .init("mood", .string, isTransient: true),
          .init(
            "place",
            .composite([
              .init("lat", .double, defaultValue: 1.5),
              .init("inner", .composite([.init("x", .int16, defaultValue: 7), .init("y", .int16)])),
            ])), .init("legs", .int16, defaultValue: 4),
        ],
        relationships: [
          .init("mate", to: "Animal", inverse: "mate", maxCount: 1),
          .init("herd", to: "Herd", inverse: "animals", maxCount: 1),
        ],
        indexes: [.init("byName", ["name", "place.inner.x", "herd"])], uniquenessConstraints: [["name"]]),
      .init(name: "Herd", relationships: [.init("animals", to: "Animal", inverse: "herd", isOrdered: true)]),
      .init(
        name: "Owner",
        relationships: [
          .init("dogs", to: "Dog", inverse: "owner"), .init("friends", to: "Owner", inverse: "friends"),
          .init("groups", to: "Group", inverse: "members", isOrdered: true), .init("likes", to: "Animal"),
          .init("passport", to: "Passport", inverse: "owner", maxCount: 1),
          .init("temporary", to: "Owner", isTransient: true),
        ]),
      .init(name: "Group", relationships: [.init("members", to: "Owner", inverse: "groups")]),
      .init(name: "Passport", relationships: [.init("owner", to: "Owner", inverse: "passport", maxCount: 1)]),
      .init(name: "Puppy", superentity: "Dog", attributes: [.init("age", .int16)]),
    ]))

  private func entity(_ name: String) -> SchemaEntity { schema.entity(named: name)! }

  private func storage(_ path: String) -> RelationshipStorage {
    let names = path.split(separator: ".").map(String.init)
    return schema[entity(names[0]).relationship(named: names[1])!].storage
  }

  @Test func `inherited slots come first, so that a slot number is right for all descendants`() {
    let animal = entity("Animal").slots.map(\.name)
    #expect(
      animal == [
        "name", "place.lat", "place.inner.x", "place.inner.y", "legs", "mate", "herd", "herd.#order",
      ])
    #expect(entity("Dog").slots.map(\.name) == animal + ["breed", "owner"])
    #expect(entity("Puppy").slots.map(\.name) == animal + ["breed", "owner", "age"])
    for entity in schema.entities {
      for (index, slot) in entity.slots.enumerated() { #expect(entity.slot(named: slot.name) == index) }
    }
  }

  @Test func `composite attributes are flattened into the slots of their leaves (COM-4)`() throws {
    let place = try #require(entity("Puppy").attribute(named: "place"))
    #expect(place.isComposite && place.slots == 1..<4 && place.defaultValues == [1.5, 7, .null])
    #expect(entity("Animal").slots[2].type == .int16)
  }

  @Test func `transient properties have no slots`() throws {
    let mood = try #require(entity("Dog").attribute(named: "mood"))
    #expect(mood.slots.isEmpty && mood.isTransient && mood.defaultValues.isEmpty)
    #expect(storage("Owner.temporary") == .none)
  }

  @Test func `a to-one relationship is a key in its owner's rows, its to-many inverse an index of it`() {
    #expect(storage("Dog.owner") == .key(slot: 9) && storage("Owner.dogs") == .inverse(slot: 9, order: nil))
    #expect(entity("Dog").slots[9].role == .toOne(entity("Dog").relationship(named: "owner")!))
  }

  @Test func `an ordered to-many over a to-one adds a slot for the place`() {
    #expect(storage("Animal.herd") == .key(slot: 6) && storage("Herd.animals") == .inverse(slot: 6, order: 7))
    #expect(entity("Animal").slots[7].role == .order(of: 6))
  }

  @Test func `of two to-one sides the one declared first holds the key; one that is its own inverse does`() {
    #expect(
      storage("Owner.passport") == .key(slot: 0) && storage("Passport.owner") == .inverse(slot: 0, order: nil)
    )
    #expect(storage("Animal.mate") == .key(slot: 5))
    #expect(entity("Passport").slots.isEmpty)
  }

  @Test func `to-many on both sides, or without an inverse, is a join table`() {
    #expect(storage("Owner.friends") == .join(0, .source) && schema.joins[0].isSymmetric)
    #expect(storage("Owner.groups") == .join(1, .source) && storage("Group.members") == .join(1, .target))
    #expect(
      schema.joins[1].isSourceOrdered && !schema.joins[1].isTargetOrdered && !schema.joins[1].isSymmetric)
    #expect(storage("Owner.likes") == .join(2, .source) && schema.joins[2].target == nil)
    #expect(schema.joins.map(\.index) == [0, 1, 2] && JoinSide.source.other == .target)
  }

  @Test func `families and roots follow inheritance`() {
    #expect(entity("Animal").concreteFamily.map { schema[$0].name } == ["Dog", "Puppy"])
    #expect(entity("Dog").concreteFamily.map { schema[$0].name } == ["Dog", "Puppy"])
    #expect(entity("Puppy").root == entity("Animal").id && entity("Herd").root == entity("Herd").id)
    #expect(entity("Puppy").relationship(named: "herd") == entity("Animal").relationship(named: "herd"))
  }

  @Test func `indexes and constraints are inherited, with the slots of the entity that declares them`() {
    #expect(entity("Puppy").indexes == [SchemaIndex(name: "byName", slots: [0, 2, 6])])
    #expect(
      entity("Puppy").uniquenessConstraints == [SchemaConstraint(entity: entity("Animal").id, slots: [0])])
  }

  @Test func `an unknown entity is named, with those that there are`() throws {
    let error = #expect(throws: StoreError.self) { try schema.requireEntity(named: "Cat") }
    #expect(error?.code == .unknownEntity && error?.entity == "Cat")
    #expect(error?.remedy?.contains("Animal, Dog, Group") == true)
    #expect(error?.description.hasPrefix("unknownEntity: Cat: there is no entity") == true)
  }
}
