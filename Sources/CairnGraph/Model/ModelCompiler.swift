// From descriptions to the compiled schema. Every fault is found before any is thrown, so that a person mends a
// model in one round.

import CairnModel
import Foundation

/// Turns the entities of a frozen model into a `CompiledModel`.
struct ModelCompiler {
  private var faults: [SchemaError.Fault] = []
  private let entities: [NSEntityDescription]

  private init(_ entities: [NSEntityDescription]) {
    self.entities = entities
  }

  /// Throws `SchemaError` with every fault of the descriptions and of the schema that they make.
  static func compile(_ entities: [NSEntityDescription]) throws -> CompiledModel {
    var compiler = ModelCompiler(entities)
    let description = compiler.describe()
    do {
      let schema = try Schema(description)
      if !compiler.faults.isEmpty { throw SchemaError(faults: compiler.faults) }
      return CompiledModel(schema: schema, entities: entities)
    } catch let error as SchemaError where error.faults != compiler.faults {
      throw SchemaError(faults: compiler.faults + error.faults)
    }
  }

  private mutating func fault(_ entity: NSEntityDescription, _ property: String?, _ message: String) {
    faults.append(.init(entity: entity.name ?? "", property: property, message: message))
  }

  private mutating func describe() -> SchemaDescription {
    var described: [SchemaDescription.EntityDescription] = []
    for entity in entities { described.append(describe(entity)) }
    return SchemaDescription(entities: described)
  }

  private mutating func describe(_ entity: NSEntityDescription) -> SchemaDescription.EntityDescription {
    for child in entity.subentities where !entities.contains(where: { $0 === child }) {
      fault(entity, nil, "its subentity \"\(child.name ?? "")\" isn't among the model's entities")
    }
    var attributes: [SchemaDescription.AttributeDescription] = []
    var relationships: [SchemaDescription.RelationshipDescription] = []
    for property in entity.ownProperties {
      switch property {
      case let attribute as NSAttributeDescription:
        if let made = describe(attribute, of: entity) { attributes.append(made) }
      case let relationship as NSRelationshipDescription:
        if let made = describe(relationship, of: entity) { relationships.append(made) }
      default: fault(entity, property.name, "is neither an attribute nor a relationship")
      }
    }
    return SchemaDescription.EntityDescription(
      name: entity.name ?? "", superentity: entity.superentity?.name, isAbstract: entity.isAbstract,
      attributes: attributes, relationships: relationships, indexes: entity.indexes.map(describe),
      uniquenessConstraints: constraints(of: entity), renamingIdentifier: entity.renamingIdentifier,
      versionHashModifier: entity.versionHashModifier)
  }

  private mutating func describe(
    _ attribute: NSAttributeDescription, of entity: NSEntityDescription
  ) -> SchemaDescription.AttributeDescription? {
    var type = ValueType(attribute.type)
    if type == nil {
      guard attribute.isTransient else {
        fault(entity, attribute.name, "a stored attribute needs a type")
        return nil
      }
      type = .data  // a transient attribute takes no slot, so its type says nothing
    }
    var defaultValue = Value.null
    if let given = attribute.defaultValue, let type, !attribute.isTransient {
      guard let value = Value(given, for: type) else {
        fault(entity, attribute.name, "the default value \(given) does not fit the type \(type)")
        return nil
      }
      defaultValue = value
    }
    return SchemaDescription.AttributeDescription(
      attribute.name, .value(type!), isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      defaultValue: defaultValue, renamingIdentifier: attribute.renamingIdentifier,
      versionHashModifier: attribute.versionHashModifier)
  }

  private mutating func describe(
    _ relationship: NSRelationshipDescription, of entity: NSEntityDescription
  ) -> SchemaDescription.RelationshipDescription? {
    guard let destination = relationship.destinationEntity else {
      fault(entity, relationship.name, "leads to no entity: set its destinationEntity")
      return nil
    }
    return SchemaDescription.RelationshipDescription(
      relationship.name, to: destination.name ?? "", inverse: relationship.inverseRelationship?.name,
      minCount: relationship.minCount, maxCount: relationship.maxCount, isOrdered: relationship.isOrdered,
      isOptional: relationship.isOptional, isTransient: relationship.isTransient,
      deleteRule: SchemaDeleteRule(rawValue: Int(relationship.deleteRule.rawValue)) ?? .nullify,
      renamingIdentifier: relationship.renamingIdentifier,
      versionHashModifier: relationship.versionHashModifier)
  }

  private func describe(_ index: NSFetchIndexDescription) -> SchemaDescription.IndexDescription {
    SchemaDescription.IndexDescription(index.name, index.elements.map { $0.propertyName ?? "" })
  }

  private mutating func constraints(of entity: NSEntityDescription) -> [[String]] {
    var result: [[String]] = []
    for constraint in entity.uniquenessConstraints {
      var names: [String] = []
      for element in constraint {
        switch element {
        case let name as String: names.append(name)
        case let property as NSPropertyDescription: names.append(property.name)
        default: fault(entity, nil, "a uniqueness constraint names attributes, not \(element)")
        }
      }
      result.append(names)
    }
    return result
  }
}
