// Names for rows: which entity, which number.

/// The position of an entity in its `Schema`'s list. Only meaningful together with that schema.
public struct EntityID: Hashable, Comparable, Sendable {
  public let index: Int

  public init(_ index: Int) { self.index = index }

  public static func < (a: EntityID, b: EntityID) -> Bool { a.index < b.index }
}

/// The position of a relationship in its `Schema`'s list. Only meaningful together with that schema.
public struct RelationshipID: Hashable, Comparable, Sendable {
  public let index: Int

  public init(_ index: Int) { self.index = index }

  public static func < (a: RelationshipID, b: RelationshipID) -> Bool { a.index < b.index }
}

/// The name of a row within one store.
///
/// `id` is positive, unique among all the rows of an entity *hierarchy* (a root entity and everything that
/// inherits from it), ascends in the order of reservation and is never used again, not even after a delete.
/// So two keys of one hierarchy name the same row when their ids are equal; `entity` is the concrete entity
/// of the row, or any ancestor of it where the concrete one isn't known yet.
public struct RowKey: Hashable, Sendable {
  public let entity: EntityID
  public let id: Int64

  public init(entity: EntityID, id: Int64) {
    self.entity = entity
    self.id = id
  }
}

extension RowKey: Comparable {
  public static func < (a: RowKey, b: RowKey) -> Bool {
    a.entity == b.entity ? a.id < b.id : a.entity < b.entity
  }
}
