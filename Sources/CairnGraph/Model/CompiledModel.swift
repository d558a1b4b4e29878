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
  /// The entities of each configuration that has a name.
  let configurations: [String: Set<EntityID>]
  /// nil for a model without derived attributes.
  let derived: DerivedPlan?
  private let classes: ManagedObjectClasses

  init(schema: Schema, model: NSManagedObjectModel) {
    self.schema = schema
    let relations = schema.relationships.map { Relation($0, in: schema) }
    self.relations = relations
    let descriptions = model.entities
    entities = schema.entities.map { entity in
      CompiledEntity(entity, descriptions[entity.id.index], relations)
    }
    derived = DerivedPlan(schema, descriptions, relations)
    for (index, description) in descriptions.enumerated() { description.compiledIndex = index }
    configurations = model.entitiesByConfiguration.mapValues { members in
      Set(members.compactMap { $0.name.flatMap { schema.entity(named: $0)?.id } })
    }
    classes = ManagedObjectClasses(descriptions, fileID: model.fileID)
  }

  subscript(id: EntityID) -> CompiledEntity { entities[id.index] }
  subscript(id: RelationshipID) -> Relation { relations[id.index] }

  /// The class of an entity's objects: one that was given or used, else the one that its name leads to, else
  /// `NSManagedObject`.
  func objectClass(of entity: CompiledEntity) -> NSManagedObject.Type {
    classes.objectClass(ofEntity: entity.id.index)
  }

  /// The entity whose objects are of `type`, by the name it gives for its class; nil when it isn't exactly one.
  func entity(for type: NSManagedObject.Type) -> CompiledEntity? {
    classes.entity(for: type).map { entities[$0] }
  }
}

/// An entity that compiled.
final class CompiledEntity {
  let description: NSEntityDescription
  let schema: SchemaEntity
  let name: String
  let id: EntityID
  /// Attributes and relationships, inherited ones too. Composite attributes and fetched properties have tables of
  /// their own.
  let properties: [String: CompiledProperty]
  let composites: [String: CompiledComposite]
  let fetchedProperties: [String: NSFetchedPropertyDescription]
  /// Between the bytes and the values of transformable slots, elements of composites included.
  let transformers: [Int: AttributeTransformer]
  let slotTypes: [ValueType]
  /// Whether all its rows are of the entity itself.
  let isAlone: Bool
  /// The value of each slot in a new row.
  let defaults: [Value]
  /// The default values of transient attributes that have one.
  let transientDefaults: [String: Any]

  init(_ entity: SchemaEntity, _ description: NSEntityDescription, _ relations: [Relation]) {
    self.description = description
    schema = entity
    name = entity.name
    id = entity.id
    slotTypes = entity.slots.map(\.type)
    isAlone = entity.concreteFamily == [entity.id]
    var parts = Parts(defaults: [Value](repeating: .null, count: entity.slots.count))
    let described = description.attributesByName
    for attribute in entity.attributes {
      guard let description = described[attribute.name] else { continue }
      parts.add(attribute, description, entity)
    }
    for id in entity.relationships {
      parts.properties[relations[id.index].name] = .relationship(relations[id.index])
    }
    for case let fetched as NSFetchedPropertyDescription in description.properties {
      parts.fetched[fetched.name] = fetched
    }
    properties = parts.properties
    composites = parts.composites
    fetchedProperties = parts.fetched
    transformers = parts.transformers
    defaults = parts.defaults
    transientDefaults = parts.transientDefaults
  }

  /// What the initialiser collects.
  private struct Parts {
    var properties: [String: CompiledProperty] = [:]
    var composites: [String: CompiledComposite] = [:]
    var fetched: [String: NSFetchedPropertyDescription] = [:]
    var transformers: [Int: AttributeTransformer] = [:]
    var defaults: [Value]
    var transientDefaults: [String: Any] = [:]

    mutating func add(
      _ attribute: SchemaAttribute, _ description: NSAttributeDescription, _ entity: SchemaEntity
    ) {
      if attribute.isTransient {
        let type = ValueType(description.type)
        properties[attribute.name] = .transient(type == .transformable ? nil : type)
        transientDefaults[attribute.name] = description.defaultValue
        return
      }
      for (slot, value) in zip(attribute.slots, attribute.defaultValues) { defaults[slot] = value }
      var slot = attribute.slots.lowerBound
      if let composite = description as? NSCompositeAttributeDescription {
        composites[attribute.name] = make(composite, &slot, entity)
      } else {
        note(description, slot)
        properties[attribute.name] = .attribute(slot, entity.slots[slot].type)
      }
    }

    private mutating func note(_ description: NSAttributeDescription, _ slot: Int) {
      guard description.type == .transformable else { return }
      transformers[slot] = AttributeTransformer(name: description.valueTransformerName)
    }

    /// The schema lays out the leaves of a composite one after the other, as they are declared.
    private mutating func make(
      _ composite: NSCompositeAttributeDescription, _ slot: inout Int, _ entity: SchemaEntity
    ) -> CompiledComposite {
      let start = slot
      let elements = composite.elements.map { element in
        if let inner = element as? NSCompositeAttributeDescription {
          return CompiledComposite.Element(
            name: element.name, content: .composite(make(inner, &slot, entity)))
        }
        note(element, slot)
        defer { slot += 1 }
        return CompiledComposite.Element(
          name: element.name, content: .slot(slot, entity.slots[slot].type))
      }
      return CompiledComposite(slots: start..<slot, elements: elements)
    }
  }
}

// Sendable: `transientDefaults` and `fetchedProperties` come from a frozen description and are never written.
extension CompiledEntity: @unchecked Sendable {}

/// What a key of an object means.
enum CompiledProperty: Sendable {
  case attribute(Int, ValueType)
  /// A transient attribute; nil where it holds anything.
  case transient(ValueType?)
  case relationship(Relation)
}

/// A composite attribute: where its elements are.
struct CompiledComposite: Sendable, Equatable {
  /// The slots of all its leaves. Its value is nil when all of these are null.
  let slots: Range<Int>
  /// In the order of their declaration.
  let elements: [Element]

  struct Element: Sendable, Equatable {
    let name: String
    let content: Content
  }

  indirect enum Content: Sendable, Equatable {
    case slot(Int, ValueType)
    case composite(CompiledComposite)
  }
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
  /// The slot of the owner's row that holds the destination's key, if that is where it is.
  let keySlot: Int?
  /// The root of the destination's hierarchy.
  let destinationRoot: EntityID
  /// The one entity that destinations are of; nil where there are several.
  let onlyDestination: EntityID?
  /// The inverse of a to-one relationship with a key slot, if it is an unordered to-many: then the key is all that
  /// is stored of a link, and a new object that has none yet can be linked without looking at anything else.
  let unorderedInverse: RelationshipID?

  init(_ relationship: SchemaRelationship, in schema: Schema) {
    id = relationship.id
    name = relationship.name
    destination = relationship.destination
    inverse = relationship.inverse
    isToMany = relationship.isToMany
    isOrdered = relationship.isOrdered
    storage = relationship.storage
    if case .key(let slot) = storage { keySlot = slot } else { keySlot = nil }
    let described = schema[destination]
    destinationRoot = described.root
    onlyDestination = described.concreteFamily.count == 1 ? described.concreteFamily[0] : nil
    unorderedInverse = inverse.flatMap { [keySlot] id in
      keySlot != nil && schema[id].isToMany && !schema[id].isOrdered ? id : nil
    }
  }
}
