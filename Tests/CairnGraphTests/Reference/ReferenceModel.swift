// The model of the random runs, as a table that the reference reads and as descriptions for the engine.

import Cairn
import Testing

@testable import CairnGraph

/// A value as the reference knows it. Objects are known by numbers of the reference's own.
enum RefValue: Hashable, CustomStringConvertible {
  case null
  case int(Int)
  case text(String)
  case object(Int)

  var description: String {
    switch self {
    case .null: "nil"
    case .int(let value): "\(value)"
    case .text(let value): "\"\(value)\""
    case .object(let id): "#\(id)"
    }
  }
}

struct RefRelation {
  enum Rule { case nullify, cascade, deny }
  /// Which row a pair of objects is a fact of: this side's own, the other side's, or none of both.
  enum Place { case own, other, pairs }

  let owner: String
  let name: String
  let destination: String
  let isToMany: Bool
  let isOrdered: Bool
  let inverse: String
  let rule: Rule
  let place: Place
  /// Of a relationship kept as pairs: whether a save tells of the pairs from this side.
  let speaks: Bool

  var isSymmetric: Bool { owner == destination && name == inverse }
}

enum RefModel {
  static let attributes: [String: [(name: String, initial: RefValue)]] = [
    "Person": [("name", .null), ("age", .int(18))],
    "Worker": [("name", .null), ("age", .int(18)), ("level", .int(1))],
    "Team": [("title", .null)], "Desk": [("number", .int(0))], "Item": [("number", .int(0))],
    "Skill": [("title", .null)], "Ticket": [("number", .int(0))],
  ]
  static let entityNames = ["Desk", "Item", "Person", "Skill", "Team", "Ticket", "Worker"]
  static let textKeys: Set<String> = ["name", "title"]

  static let relations: [RefRelation] = [
    one("Person", "team", "Team", "people", .nullify, .own),
    many("Team", "people", "Person", "team", .cascade, .other),
    one("Person", "boss", "Person", "reports", .nullify, .own),
    many("Person", "reports", "Person", "boss", .nullify, .other),
    one("Person", "desk", "Desk", "person", .cascade, .own),
    one("Desk", "person", "Person", "desk", .nullify, .other),
    one("Person", "partner", "Person", "partner", .nullify, .own),
    many("Person", "friends", "Person", "friends", .nullify, .pairs, speaks: true),
    many("Person", "skills", "Skill", "people", .nullify, .pairs, speaks: true),
    many("Skill", "people", "Person", "skills", .nullify, .pairs),
    one("Item", "team", "Team", "items", .nullify, .own),
    many("Team", "items", "Item", "team", .nullify, .other, ordered: true),
    many("Team", "agenda", "Skill", "teams", .nullify, .pairs, ordered: true, speaks: true),
    many("Skill", "teams", "Team", "agenda", .nullify, .pairs),
    one("Ticket", "team", "Team", "tickets", .nullify, .own),
    many("Team", "tickets", "Ticket", "team", .deny, .other),
  ]

  private static func one(
    _ owner: String, _ name: String, _ destination: String, _ inverse: String, _ rule: RefRelation.Rule,
    _ place: RefRelation.Place
  ) -> RefRelation {
    RefRelation(
      owner: owner, name: name, destination: destination, isToMany: false, isOrdered: false, inverse: inverse,
      rule: rule, place: place, speaks: false)
  }

  private static func many(
    _ owner: String, _ name: String, _ destination: String, _ inverse: String, _ rule: RefRelation.Rule,
    _ place: RefRelation.Place, ordered: Bool = false, speaks: Bool = false
  ) -> RefRelation {
    RefRelation(
      owner: owner, name: name, destination: destination, isToMany: true, isOrdered: ordered,
      inverse: inverse, rule: rule, place: place, speaks: speaks)
  }

  /// The entity that declares a concrete entity's relationships.
  static func base(_ entity: String) -> String { entity == "Worker" ? "Person" : entity }

  /// The concrete entities of a family.
  static func family(_ entity: String) -> [String] { entity == "Person" ? ["Person", "Worker"] : [entity] }

  /// The relationships of a concrete entity, by name.
  static let relationsByEntity: [String: [RefRelation]] = Dictionary(
    uniqueKeysWithValues: entityNames.map { entity in
      (entity, relations.filter { $0.owner == base(entity) }.sorted { $0.name < $1.name })
    })

  static func relations(of entity: String) -> [RefRelation] { relationsByEntity[entity] ?? [] }

  static func inverse(_ relation: RefRelation) -> RefRelation {
    relations(of: relation.destination).first { $0.name == relation.inverse }!
  }

  /// The same as descriptions. Of two to-one sides, the one whose entity comes first keeps the key.
  static func make() -> NSManagedObjectModel {
    var entities: [String: NSEntityDescription] = [:]
    for name in ["Person", "Team", "Desk", "Item", "Skill", "Ticket", "Worker"] {
      let own = (attributes[name] ?? []).filter { name != "Worker" || $0.name == "level" }
      let described = own.map { attribute, initial in
        var value: Any?
        if case .int(let number) = initial { value = number }
        return TestModel.attribute(
          attribute, textKeys.contains(attribute) ? .string : .integer64, default: value)
      }
      entities[name] = TestModel.entity(
        name, base(name) == "Person" ? RefPerson.self : NSManagedObject.self, described)
    }
    entities["Person"]!.subentities = [entities["Worker"]!]
    var done: Set<String> = []
    for relation in relations where !done.contains("\(relation.owner).\(relation.name)") {
      let forward = TestModel.relate(
        entities[relation.owner]!, relation.name, toMany: relation.isToMany, ordered: relation.isOrdered,
        entities[relation.destination]!, relation.inverse, inverseToMany: inverse(relation).isToMany)
      forward.deleteRule = rule(relation)
      forward.inverseRelationship?.deleteRule = rule(inverse(relation))
      forward.inverseRelationship?.isOrdered = inverse(relation).isOrdered
      done.insert("\(relation.destination).\(relation.inverse)")
    }
    let model = NSManagedObjectModel()
    model.entities = ["Person", "Team", "Desk", "Item", "Skill", "Ticket", "Worker"].map { entities[$0]! }
    return model
  }

  private static func rule(_ relation: RefRelation) -> NSDeleteRule {
    switch relation.rule {
    case .nullify: .nullifyDeleteRule
    case .cascade: .cascadeDeleteRule
    case .deny: .denyDeleteRule
    }
  }
}

/// The class of persons, so that typed properties are held to the reference as well as access by key.
final class RefPerson: NSManagedObject {
  @Managed var name: String?
  @Managed var age: Int64
  @Managed var team: NSManagedObject?
  @Managed var boss: RefPerson?
  @Managed var friends: Set<RefPerson>
}
