// The model as objects and contexts use it: the schema, and for each entity its description and its properties
// by name. Immutable but for the table of classes, which stands behind a lock.

import CairnModel
import Foundation

/// A model that compiled.
final class CompiledModel: Sendable {
  let schema: Schema
  /// In the order of `schema.entities`.
  let entities: [CompiledEntity]
  /// In the order of `schema.relationships`.
  let relations: [Relation]
  private let classes: Lock<[Int: NSManagedObject.Type]>

  init(schema: Schema, entities descriptions: [NSEntityDescription]) {
    self.schema = schema
    let relations = schema.relationships.map(Relation.init)
    self.relations = relations
    entities = schema.entities.map { entity in
      CompiledEntity(entity, descriptions[entity.id.index], schema, relations)
    }
    var given: [Int: NSManagedObject.Type] = [:]
    for (index, description) in descriptions.enumerated() {
      description.compiledIndex = index
      given[index] = description.givenClass
    }
    classes = Lock(given)
  }

  subscript(id: EntityID) -> CompiledEntity { entities[id.index] }
  subscript(id: RelationshipID) -> Relation { relations[id.index] }

  // MARK: Classes

  /// The class of an entity's objects: one that was given or used, else the one that its name leads to, else
  /// `NSManagedObject`.
  func objectClass(of entity: CompiledEntity) -> NSManagedObject.Type {
    let index = entity.id.index
    if let known = classes.withLock({ $0[index] }) { return known }
    let name = entity.description.managedObjectClassName ?? "NSManagedObject"
    guard name.contains("."), let found = NSClassFromString(name) as? NSManagedObject.Type else {
      return NSManagedObject.self  // not kept: a bare name is known once its class is used
    }
    classes.withLock { $0[index] = found }
    return found
  }

  /// The entity whose objects are of `type`, by the name it gives for its class; nil when it isn't exactly one.
  func entity(for type: NSManagedObject.Type) -> CompiledEntity? {
    let known = classes.withLock { table in table.filter { $0.value == type }.map(\.key) }
    if known.count == 1 { return entities[known[0]] }
    let full = String(reflecting: type)
    let bare = String(describing: type)
    let matches = entities.filter {
      let name = $0.description.managedObjectClassName
      return name == full || name == bare
    }
    guard matches.count == 1, let match = matches.first, type != NSManagedObject.self else { return nil }
    classes.withLock { $0[match.id.index] = type }
    return match
  }
}

/// An entity that compiled.
final class CompiledEntity {
  let description: NSEntityDescription
  let schema: SchemaEntity
  let name: String
  let id: EntityID
  /// Attributes and relationships, inherited ones too.
  let properties: [String: CompiledProperty]
  let slotTypes: [ValueType]
  /// The value of each slot in a new row.
  let defaults: [Value]
  /// The default values of transient attributes that have one.
  let transientDefaults: [String: Any]

  init(
    _ entity: SchemaEntity, _ description: NSEntityDescription, _ schema: Schema, _ relations: [Relation]
  ) {
    self.description = description
    self.schema = entity
    name = entity.name
    id = entity.id
    slotTypes = entity.slots.map(\.type)
    var properties: [String: CompiledProperty] = [:]
    var defaults = [Value](repeating: .null, count: entity.slots.count)
    var transientDefaults: [String: Any] = [:]
    let described = description.attributesByName
    for attribute in entity.attributes {
      if attribute.isTransient {
        properties[attribute.name] = .transient(described[attribute.name].flatMap { ValueType($0.type) })
        transientDefaults[attribute.name] = described[attribute.name]?.defaultValue
      } else {
        let slot = attribute.slots.lowerBound
        properties[attribute.name] = .attribute(slot, entity.slots[slot].type)
        for (slot, value) in zip(attribute.slots, attribute.defaultValues) { defaults[slot] = value }
      }
    }
    for id in entity.relationships {
      properties[relations[id.index].name] = .relationship(relations[id.index])
    }
    self.properties = properties
    self.defaults = defaults
    self.transientDefaults = transientDefaults
  }
}

// Sendable: `transientDefaults` comes from a frozen description and is never written.
extension CompiledEntity: @unchecked Sendable {}

/// What a key of an object means.
enum CompiledProperty: Sendable {
  case attribute(Int, ValueType)
  /// A transient attribute; nil where its type is undefined.
  case transient(ValueType?)
  case relationship(Relation)
}

/// One direction of a relationship, by reference, since it is passed around much.
final class Relation: Sendable {
  let id: RelationshipID
  let name: String
  let destination: EntityID
  let inverse: RelationshipID?
  let isToMany: Bool
  let isOrdered: Bool
  let storage: RelationshipStorage

  init(_ schema: SchemaRelationship) {
    id = schema.id
    name = schema.name
    destination = schema.destination
    inverse = schema.inverse
    isToMany = schema.isToMany
    isOrdered = schema.isOrdered
    storage = schema.storage
  }

  /// The slot of the owner's row that holds the destination's key, if that is where it is.
  var keySlot: Int? {
    if case .key(let slot) = storage { slot } else { nil }
  }
}
