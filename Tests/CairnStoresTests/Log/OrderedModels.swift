// Models that are put in other orders, one for each way in which properties are kept.

import CairnModel
import Testing

@testable import CairnStores

enum OrderedModel: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case everyType, inheritance, orderedToMany, manyToMany, ordered, reflexive, oneToOne, pairOfOne,
    withoutInverse

  var testDescription: String { rawValue }

  private typealias Entity = SchemaDescription.EntityDescription
  private typealias Attribute = SchemaDescription.AttributeDescription
  private typealias Relationship = SchemaDescription.RelationshipDescription

  var description: SchemaDescription { SchemaDescription(entities: entities) }

  private var entities: [Entity] {
    switch self {
    case .everyType:
      [
        Entity(
          name: "Specimen",
          attributes: ValueType.allCases.filter { $0 != .key }.map {
            Attribute("\($0)Value", $0, allowsExternalStorage: $0 == .data)
          } + [
            Attribute("inMemory", .string, isTransient: true),
            Attribute(
              "place",
              .composite([
                Attribute("x", .double), Attribute("inner", .composite([Attribute("name", .string)])),
                Attribute("y", .double),
              ])),
          ], indexes: [.init("byDate", ["dateValue", "place.x"])]),
        Entity(name: "Box", attributes: [Attribute("name", .string), Attribute("size", .int16)]),
      ]
    case .inheritance:
      [
        Entity(
          name: "Owner", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("cached", to: "Thing", inverse: "cachedBy", isTransient: true),
            Relationship("things", to: "Thing", inverse: "owner"),
          ]),
        Entity(
          name: "Thing", isAbstract: true, attributes: [Attribute("number", .int64)],
          relationships: [
            Relationship("cachedBy", to: "Owner", inverse: "cached", maxCount: 1, isTransient: true),
            Relationship("owner", to: "Owner", inverse: "things", maxCount: 1),
            Relationship("previous", to: "Book", inverse: "next"),
          ]),
        Entity(
          name: "Book", superentity: "Thing",
          attributes: [Attribute("title", .string), Attribute("pages", .int32)],
          relationships: [Relationship("next", to: "Thing", inverse: "previous", maxCount: 1)]),
        Entity(name: "Comic", superentity: "Book", attributes: [Attribute("isColoured", .bool)]),
        Entity(name: "Stone", superentity: "Thing", attributes: [Attribute("weight", .double)]),
        Entity(
          name: "Shelf", superentity: "Thing", attributes: [Attribute("place", .string)],
          relationships: [Relationship("similar", to: "Book")]),
        Entity(name: "Note", attributes: [Attribute("text", .string)]),
      ]
    case .orderedToMany:
      [
        Entity(
          name: "List", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("items", to: "Item", inverse: "list", isOrdered: true),
            Relationship("best", to: "Item", inverse: "bestOf", isOrdered: true),
          ]),
        Entity(
          name: "Item", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("list", to: "List", inverse: "items", maxCount: 1),
            Relationship("bestOf", to: "List", inverse: "best", maxCount: 1),
          ]),
        Entity(name: "SmallItem", superentity: "Item", attributes: [Attribute("size", .int32)]),
      ]
    case .manyToMany, .ordered:
      [
        Entity(
          name: "Person", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("tags", to: "Tag", inverse: "people", isOrdered: self == .ordered),
            Relationship("groups", to: "Group", inverse: "members", isOrdered: self == .ordered),
          ]),
        Entity(name: "Tag", relationships: [Relationship("people", to: "Person", inverse: "tags")]),
        Entity(
          name: "Group", attributes: [Attribute("name", .string), Attribute("count", .int32)],
          relationships: [
            Relationship("members", to: "Person", inverse: "groups", isOrdered: self == .ordered)
          ]),
      ]
    case .reflexive:
      [
        Entity(
          name: "Node", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("friends", to: "Node", inverse: "friends"),
            Relationship("from", to: "Node", inverse: "to"),
            Relationship("to", to: "Node", inverse: "from", isOrdered: true),
            Relationship("parent", to: "Node", inverse: "children", maxCount: 1),
            Relationship("children", to: "Node", inverse: "parent"),
          ])
      ]
    case .oneToOne:
      [
        Entity(
          name: "Country", attributes: [Attribute("name", .string), Attribute("area", .int64)],
          relationships: [Relationship("capital", to: "City", inverse: "country", maxCount: 1)]),
        Entity(
          name: "City", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("country", to: "Country", inverse: "capital", maxCount: 1),
            Relationship("mayor", to: "Person", inverse: "city", maxCount: 1),
          ]),
        Entity(name: "Port", superentity: "City", attributes: [Attribute("depth", .double)]),
        Entity(
          name: "Person", attributes: [Attribute("name", .string)],
          relationships: [
            Relationship("spouse", to: "Person", inverse: "spouse", maxCount: 1),
            Relationship("city", to: "City", inverse: "mayor", maxCount: 1),
          ]),
      ]
    case .pairOfOne:
      [
        Entity(
          name: "Page", attributes: [Attribute("number", .int32)],
          relationships: [
            Relationship("before", to: "Page", inverse: "after", maxCount: 1),
            Relationship("after", to: "Page", inverse: "before", maxCount: 1),
          ])
      ]
    case .withoutInverse:
      [
        Entity(
          name: "Album", attributes: [Attribute("title", .string)],
          relationships: [
            Relationship("cover", to: "Photo", maxCount: 1),
            Relationship("photos", to: "Photo", isOrdered: true), Relationship("seen", to: "Photo"),
          ]),
        Entity(name: "Photo", attributes: [Attribute("bytes", .data, allowsExternalStorage: true)]),
      ]
    }
  }
}

/// A way to put a model's entities and properties in another order.
enum OrderChange: Sendable, CaseIterable, CustomTestStringConvertible {
  case entities, properties, both

  var testDescription: String { "\(self)" }

  func of(_ description: SchemaDescription) -> SchemaDescription {
    var result = description
    if self != .properties { result.entities.reverse() }
    if self == .entities { return result }
    for index in result.entities.indices {
      result.entities[index].attributes = OrderChange.reversed(result.entities[index].attributes)
      result.entities[index].relationships.reverse()
    }
    return result
  }

  private static func reversed(
    _ attributes: [SchemaDescription.AttributeDescription]
  ) -> [SchemaDescription.AttributeDescription] {
    attributes.reversed().map { attribute in
      guard case .composite(let elements) = attribute.kind else { return attribute }
      var attribute = attribute
      attribute.kind = .composite(reversed(elements))
      return attribute
    }
  }
}

/// A model and the same in another order.
struct OrderedPair: Sendable, CustomTestStringConvertible {
  let model: OrderedModel
  let change: OrderChange
  /// What the log is made with.
  let first: Schema
  let other: Schema
  /// Whether keys of one-to-one pairs are on other sides.
  let isTurned: Bool

  var testDescription: String { "\(model.rawValue), \(change)" }

  init(_ model: OrderedModel, _ change: OrderChange) {
    (self.model, self.change) = (model, change)
    first = try! Schema(model.description)
    other = try! Schema(change.of(model.description))
    isTurned = !SchemaOrder(stored: first, given: other)!.flips.isEmpty
  }

  static let all = OrderedModel.allCases.flatMap { model in
    OrderChange.allCases.map { OrderedPair(model, $0) }
  }.filter { !$0.first.isNumbered(as: $0.other) }

  static let turned = all.filter(\.isTurned)
  static let unturned = all.filter { !$0.isTurned }
}

extension Schema {
  /// Whether all tables, places and relationships have the same numbers in both.
  fileprivate func isNumbered(as other: Schema) -> Bool {
    isStoredAs(other) && relationships.map(\.name) == other.relationships.map(\.name)
  }
}
