// What a commit is made of: columnar batches of inserted, updated and deleted rows, and changed links.

import Foundation

/// Everything that one commit changes. A value: making one touches no store.
public struct ChangeSet: Sendable {
  /// New rows of one concrete entity. All of `columns` have as many rows as `keys`.
  public struct Inserts: Sendable {
    public var entity: EntityID
    /// Reserved with `reserveKeys`, ascending.
    public var keys: [Int64]
    /// One entry a slot; nil makes the slot null in all of these rows. A row that leads to the owner of an
    /// ordered list and is given no place (its `#order` slot is null) goes to the end of the list.
    public var columns: [Column?]

    public init(entity: EntityID, keys: [Int64], columns: [Column?]) {
      self.entity = entity
      self.keys = keys
      self.columns = columns
    }
  }

  /// Rows of one concrete entity in which the same slots change. Without slots, that the rows still have the
  /// versions is checked and nothing else.
  public struct Updates: Sendable {
    public var entity: EntityID
    /// Ascending.
    public var keys: [Int64]
    /// The version of each row that the change was made on; nil accepts whatever version there is.
    public var versions: [Int64]?
    public var slots: [Int]
    /// One column a slot, with as many rows as `keys`.
    public var columns: [Column]

    public init(entity: EntityID, keys: [Int64], versions: [Int64]?, slots: [Int], columns: [Column]) {
      self.entity = entity
      self.keys = keys
      self.versions = versions
      self.slots = slots
      self.columns = columns
    }
  }

  /// Rows of one concrete entity to delete. Join rows that lead to or from them go too; keys in other rows'
  /// slots stay as they are (delete rules are the object layer's).
  public struct Deletes: Sendable {
    public var entity: EntityID
    /// Ascending.
    public var keys: [Int64]
    public var versions: [Int64]?

    public init(entity: EntityID, keys: [Int64], versions: [Int64]? = nil) {
      self.entity = entity
      self.keys = keys
      self.versions = versions
    }
  }

  /// Changes to the members of one row's to-many relationship that is kept in a join table, or the order of
  /// an ordered one of any storage. (A to-many whose inverse is an unordered to-one changes by the key in its
  /// destinations' rows.)
  public enum LinkChange: Sendable, Hashable {
    /// Pairs that exist already are left alone; new ones go to the end of an ordered list, in this order.
    case add([RowKey])
    /// Pairs that don't exist are passed over.
    case remove([RowKey])
    /// The whole list, in order. For an ordered relationship whose inverse is a to-one, the members' keys
    /// follow from their own rows, and this only sets their order.
    case replace([RowKey])
  }

  public struct Links: Sendable, Hashable {
    public var relationship: RelationshipID
    public var owner: RowKey
    public var change: LinkChange

    public init(_ relationship: RelationshipID, of owner: RowKey, _ change: LinkChange) {
      self.relationship = relationship
      self.owner = owner
      self.change = change
    }
  }

  public var author: String?
  public var contextName: String?
  public var inserts: [Inserts] = []
  public var updates: [Updates] = []
  public var deletes: [Deletes] = []
  public var links: [Links] = []

  public init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }

  public var isEmpty: Bool { inserts.isEmpty && updates.isEmpty && deletes.isEmpty && links.isEmpty }
}

extension ChangeSet {
  // One row at a time, by slot name: for tests, tools and small changes. Loads build columns instead.

  /// Adds a row. Throws `unknownProperty` or `wrongType`, and adds nothing then.
  public mutating func insert(_ key: RowKey, _ values: [String: Value], in schema: Schema) throws {
    let entity = schema[key.entity]
    var columns = [Column?](repeating: nil, count: entity.slots.count)
    for (slot, column) in try ChangeSet.columns(values, entity) { columns[slot] = column }
    inserts.append(Inserts(entity: key.entity, keys: [key.id], columns: columns))
  }

  /// Changes slots of a row. Throws `unknownProperty` or `wrongType`, and adds nothing then.
  public mutating func update(
    _ key: RowKey, version: Int64? = nil, _ values: [String: Value], in schema: Schema
  ) throws {
    let columns = try ChangeSet.columns(values, schema[key.entity]).sorted { $0.key < $1.key }
    updates.append(
      Updates(
        entity: key.entity, keys: [key.id], versions: version.map { [$0] }, slots: columns.map(\.key),
        columns: columns.map(\.value)))
  }

  public mutating func delete(_ key: RowKey, version: Int64? = nil) {
    deletes.append(Deletes(entity: key.entity, keys: [key.id], versions: version.map { [$0] }))
  }

  private static func columns(_ values: [String: Value], _ entity: SchemaEntity) throws -> [Int: Column] {
    var result: [Int: Column] = [:]
    for (name, value) in values {
      guard let slot = entity.slot(named: name) else {
        throw StoreError(
          .unknownProperty, "no stored property of that name", entity: entity.name, property: name)
      }
      let builder = ColumnBuilder(entity.slots[slot].type)
      do {
        try builder.append(value: value)
      } catch let error as StoreError {
        throw StoreError(error.code, error.message, entity: entity.name, property: name)
      }
      result[slot] = builder.finish()
    }
    return result
  }
}
