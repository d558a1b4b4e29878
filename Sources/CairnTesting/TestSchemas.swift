// The models that the laws and the random operations run on. Each names the shapes that it is there for.

public import CairnModel
import Foundation

extension Schema {
  typealias Entity = SchemaDescription.EntityDescription
  typealias Attribute = SchemaDescription.AttributeDescription
  typealias Relationship = SchemaDescription.RelationshipDescription

  private static func fixed(_ entities: [Entity]) -> Schema {
    do {
      return try Schema(SchemaDescription(entities: entities))
    } catch {
      preconditionFailure("a test schema is unsound: \(error)")
    }
  }

  /// Inheritance two deep under an abstract root, and every way of storing a relationship: to-one with
  /// to-many inverse, one-to-one, ordered to-many with to-one inverse, many-to-many, ordered on either side
  /// or both, its own inverse, and without an inverse.
  public static let company = fixed([
    Entity(
      name: "Thing", isAbstract: true,
      attributes: [Attribute("code", .string), Attribute("rank", .int32)],
      relationships: [Relationship("tags", to: "Tag", inverse: "things")],
      indexes: [.init("byRank", ["rank"])]),
    Entity(
      name: "Person", superentity: "Thing",
      attributes: [Attribute("name", .string), Attribute("age", .int16), Attribute("height", .double)],
      relationships: [
        Relationship("dept", to: "Department", inverse: "staff", maxCount: 1),
        Relationship("desk", to: "Desk", inverse: "person", maxCount: 1),
        Relationship("mentor", to: "Person", maxCount: 1),
        Relationship("friends", to: "Person", inverse: "friends"),
      ],
      indexes: [.init("byName", ["name"]), .init("byDeptAndAge", ["dept", "age"])]),
    Entity(name: "Manager", superentity: "Person", attributes: [Attribute("bonus", .decimal)]),
    Entity(name: "Robot", superentity: "Thing", attributes: [Attribute("model", .string)]),
    Entity(
      name: "Department", attributes: [Attribute("name", .string), Attribute("budget", .double)],
      relationships: [
        Relationship("staff", to: "Person", inverse: "dept"),
        Relationship("rooms", to: "Room", inverse: "dept", isOrdered: true),
        Relationship("favourites", to: "Tag"),
        Relationship("route", to: "Room", isOrdered: true),
        Relationship("parent", to: "Department", inverse: "children", maxCount: 1),
        Relationship("children", to: "Department", inverse: "parent"),
      ]),
    Entity(
      name: "Room", attributes: [Attribute("number", .int64)],
      relationships: [Relationship("dept", to: "Department", inverse: "rooms", maxCount: 1)]),
    Entity(
      name: "Desk", attributes: [Attribute("label", .string)],
      relationships: [Relationship("person", to: "Person", inverse: "desk", maxCount: 1)]),
    Entity(
      name: "Tag", attributes: [Attribute("name", .string)],
      relationships: [Relationship("things", to: "Thing", inverse: "tags")]),
    Entity(
      name: "Playlist", attributes: [Attribute("title", .string)],
      relationships: [
        Relationship("songs", to: "Song", inverse: "playlists", isOrdered: true),
        Relationship("guests", to: "Singer", inverse: "visits"),
        Relationship("hosts", to: "Singer", inverse: "shows", isOrdered: true),
      ]),
    Entity(
      name: "Song", attributes: [Attribute("title", .string)],
      relationships: [Relationship("playlists", to: "Playlist", inverse: "songs")]),
    Entity(
      name: "Singer", attributes: [Attribute("name", .string)],
      relationships: [
        Relationship("visits", to: "Playlist", inverse: "guests", isOrdered: true),
        Relationship("shows", to: "Playlist", inverse: "hosts", isOrdered: true),
      ]),
    Entity(
      name: "Place",
      attributes: [
        Attribute("name", .string),
        Attribute(
          "location",
          .composite([
            Attribute("latitude", .double), Attribute("longitude", .double),
            Attribute("address", .composite([Attribute("street", .string), Attribute("zip", .int32)])),
          ])),
        Attribute("cached", .value(.string), isTransient: true),
      ]),
  ])

  /// One attribute of every type, those that allow it with external storage.
  public static let specimen = fixed([
    Entity(
      name: "Specimen",
      attributes: [
        Attribute("int16", .int16), Attribute("int32", .int32), Attribute("int64", .int64),
        Attribute("decimal", .decimal), Attribute("double", .double), Attribute("float", .float),
        Attribute("string", .string), Attribute("bool", .bool), Attribute("date", .date),
        Attribute("data", .data, allowsExternalStorage: true), Attribute("uuid", .uuid),
        Attribute("uri", .uri),
        Attribute("transformable", .transformable, allowsExternalStorage: true),
      ],
      relationships: [Relationship("next", to: "Specimen", maxCount: 1)])
  ])

  /// Uniqueness: a single attribute inherited by two entities, a compound of two, one with an element of
  /// a composite attribute, and one that only a subentity declares.
  public static let registry = fixed([
    Entity(
      name: "Account", isAbstract: true, attributes: [Attribute("login", .string)],
      uniquenessConstraints: [["login"]]),
    Entity(
      name: "Human", superentity: "Account",
      attributes: [Attribute("badge", .int64), Attribute("email", .string)],
      uniquenessConstraints: [["badge"]]),
    Entity(name: "Daemon", superentity: "Account", attributes: [Attribute("port", .int32)]),
    Entity(
      name: "Seat",
      attributes: [
        Attribute("row", .int32), Attribute("letter", .string), Attribute("price", .double),
        Attribute("place", .composite([Attribute("x", .int32), Attribute("y", .int32)])),
      ],
      uniquenessConstraints: [["row", "letter"], ["place.x", "place.y"]]),
  ])
}
