// The compiled model: what a store and the engine know of entities. Immutable, validated, Sendable.
//
// Always holds: ids are positions in `entities`, `relationships` and `joins`; an entity's slots begin with
// all the slots of its superentity, so a slot number found on an entity is right for everything that inherits
// from it; each pair of inverse relationships is stored once (`RelationshipStorage`).

import Foundation

/// A validated model, as stores see it. Made by `Schema.init(_:)` from a `SchemaDescription`.
public final class Schema: Sendable {
  public let entities: [SchemaEntity]
  public let relationships: [SchemaRelationship]
  public let joins: [SchemaJoin]
  private let idsByName: [String: EntityID]

  init(entities: [SchemaEntity], relationships: [SchemaRelationship], joins: [SchemaJoin]) {
    self.entities = entities
    self.relationships = relationships
    self.joins = joins
    idsByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.id) })
  }

  public subscript(id: EntityID) -> SchemaEntity { entities[id.index] }
  public subscript(id: RelationshipID) -> SchemaRelationship { relationships[id.index] }

  /// The entity of that name, or nil if there is none.
  public func entity(named name: String) -> SchemaEntity? { idsByName[name].map { entities[$0.index] } }

  /// The entity of that name; throws `unknownEntity` if there is none.
  public func requireEntity(named name: String) throws -> SchemaEntity {
    guard let found = entity(named: name) else {
      throw StoreError(
        .unknownEntity, "there is no entity \"\(name)\"", entity: name,
        remedy: "the model's entities are: \(entities.map(\.name).sorted().joined(separator: ", "))")
    }
    return found
  }
}

/// An entity with everything that it inherits.
/// A class, so that looking one up costs one reference and not a copy of all its lists.
public final class SchemaEntity: Sendable {
  public let id: EntityID
  public let name: String
  public let isAbstract: Bool
  public let superentity: EntityID?
  /// The topmost ancestor, or the entity itself. All entities with one root share one space of row keys.
  public let root: EntityID
  /// The entity and everything that inherits from it, abstract ones left out, in the schema's order.
  public let concreteFamily: [EntityID]
  /// The stored columns of a row, inherited ones first.
  public let slots: [Slot]
  /// Attributes by name, composite ones included; inherited ones too.
  public let attributes: [SchemaAttribute]
  /// The relationships whose owner is this entity or an ancestor of it.
  public let relationships: [RelationshipID]
  public let indexes: [SchemaIndex]
  /// Each constraint as the slots whose values together are unique within the family of the entity that
  /// declares it; inherited ones too. Rows with a null among these values never conflict.
  public let uniquenessConstraints: [SchemaConstraint]
  public let renamingIdentifier: String
  public let versionHashModifier: String?

  let slotsByName: [String: Int]
  let relationshipsByName: [String: RelationshipID]

  init(
    id: EntityID, name: String, isAbstract: Bool, superentity: EntityID?, root: EntityID,
    concreteFamily: [EntityID], slots: [Slot], attributes: [SchemaAttribute], relationships: [RelationshipID],
    indexes: [SchemaIndex], uniquenessConstraints: [SchemaConstraint], renamingIdentifier: String,
    versionHashModifier: String?, slotsByName: [String: Int], relationshipsByName: [String: RelationshipID]
  ) {
    self.id = id
    self.name = name
    self.isAbstract = isAbstract
    self.superentity = superentity
    self.root = root
    self.concreteFamily = concreteFamily
    self.slots = slots
    self.attributes = attributes
    self.relationships = relationships
    self.indexes = indexes
    self.uniquenessConstraints = uniquenessConstraints
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.slotsByName = slotsByName
    self.relationshipsByName = relationshipsByName
  }

  /// The number of the slot of that name (`name`, `location.latitude`, or a stored to-one relationship).
  public func slot(named name: String) -> Int? { slotsByName[name] }

  /// The relationship of that name, inherited ones included.
  public func relationship(named name: String) -> RelationshipID? { relationshipsByName[name] }

  public func attribute(named name: String) -> SchemaAttribute? { attributes.first { $0.name == name } }
}

/// One stored column of an entity.
public struct Slot: Sendable, Hashable {
  public enum Role: Sendable, Hashable {
    /// An attribute, or one element of a composite attribute.
    case attribute
    /// The id of the row that a to-one relationship leads to.
    case toOne(RelationshipID)
    /// The place of this row in the ordered to-many relationship whose inverse is the to-one slot `of`.
    case order(of: Int)
  }

  public let name: String
  public let type: ValueType
  public let role: Role
  public let isOptional: Bool
  /// Whether a store may keep large values apart. Only for data and transformable values.
  public let allowsExternalStorage: Bool

  public init(
    name: String, type: ValueType, role: Role, isOptional: Bool, allowsExternalStorage: Bool = false
  ) {
    self.name = name
    self.type = type
    self.role = role
    self.isOptional = isOptional
    self.allowsExternalStorage = allowsExternalStorage
  }
}

/// An attribute of an entity.
public struct SchemaAttribute: Sendable, Hashable {
  public let name: String
  /// The slots that hold it: one, or for a composite attribute one a leaf element; none when transient.
  public let slots: Range<Int>
  public let isComposite: Bool
  public let isOptional: Bool
  public let isTransient: Bool
  /// One value a slot; `.null` where there is none.
  public let defaultValues: [Value]
  public let renamingIdentifier: String
  public let versionHashModifier: String?
}

/// What happens to the destination when the source of a relationship is deleted. Raw values are Core Data's.
public enum SchemaDeleteRule: Int, Sendable, Hashable {
  case noAction = 0, nullify, cascade, deny
}

/// One direction of a relationship.
public struct SchemaRelationship: Sendable {
  public let id: RelationshipID
  public let name: String
  public let owner: EntityID
  public let destination: EntityID
  public let inverse: RelationshipID?
  public let isToMany: Bool
  public let isOrdered: Bool
  public let isOptional: Bool
  public let isTransient: Bool
  public let minCount: Int
  /// 0 means without limit.
  public let maxCount: Int
  public let deleteRule: SchemaDeleteRule
  public let renamingIdentifier: String
  public let versionHashModifier: String?
  public let storage: RelationshipStorage
}

/// Where a relationship's facts are kept. Each pair of inverses is stored once; the other side is an index.
public enum RelationshipStorage: Sendable, Hashable {
  /// A slot of the owner's rows holds the destination's id.
  case key(slot: Int)
  /// The destination's rows hold the owner's id in `slot`; `order` is their slot for the place in the list.
  case inverse(slot: Int, order: Int?)
  /// Rows of a join table hold both ids; the owner's is on the side named here.
  case join(Int, JoinSide)
  /// Not stored: a transient relationship.
  case none
}

public enum JoinSide: Sendable, Hashable {
  case source, target

  public var other: JoinSide { self == .source ? .target : .source }
}

/// A table of pairs: a to-many relationship whose inverse is to-many or missing.
///
/// A list in the owner's row, which storage could use instead, would be rewritten whole for each member added
/// to it: a join row costs what changes.
public struct SchemaJoin: Sendable, Hashable {
  public let index: Int
  public let source: RelationshipID
  /// nil when the relationship has no inverse; equal to `source` when it is its own inverse, in which case
  /// every pair is kept both ways round.
  public let target: RelationshipID?
  public let isSourceOrdered: Bool
  public let isTargetOrdered: Bool

  public var isSymmetric: Bool { target == source }
}

/// A declared fetch index, resolved to slots. Built on first use.
public struct SchemaIndex: Sendable, Hashable {
  public let name: String
  public let slots: [Int]

  public init(name: String, slots: [Int]) {
    self.name = name
    self.slots = slots
  }
}

/// A uniqueness constraint, resolved to slots.
public struct SchemaConstraint: Sendable, Hashable {
  /// The entity that declares it: values are unique among its concrete family.
  public let entity: EntityID
  public let slots: [Int]

  public init(entity: EntityID, slots: [Int]) {
    self.entity = entity
    self.slots = slots
  }
}
