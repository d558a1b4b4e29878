// From descriptions to the compiled schema. Every fault is found before any is thrown, so that a person mends a
// model in one round.

import CairnModel
import Foundation

/// Turns a frozen model into a `CompiledModel`.
struct ModelCompiler {
  private var faults: [SchemaError.Fault] = []
  private let entities: [NSEntityDescription]

  private init(_ entities: [NSEntityDescription]) {
    self.entities = entities
  }

  /// Throws `SchemaError` with every fault of the descriptions and of the schema that they make.
  static func compile(_ model: NSManagedObjectModel) throws -> CompiledModel {
    CompiledModel(schema: try schema(of: model), model: model)
  }

  /// The schema of a model, which need not be frozen. Throws as `compile` does.
  static func schema(of model: NSManagedObjectModel) throws -> Schema {
    var compiler = ModelCompiler(model.entities)
    let description = compiler.describe()
    compiler.faults += ModelFaults.find(in: model)
    do {
      let schema = try Schema(description)
      if !compiler.faults.isEmpty { throw SchemaError(faults: compiler.faults) }
      return schema
    } catch let error as SchemaError where error.faults != compiler.faults {
      throw SchemaError(faults: compiler.faults + error.faults)
    }
  }

  private mutating func fault(_ entity: NSEntityDescription, _ property: String?, _ message: String) {
    faults.append(.init(entity: entity.name ?? "", property: property, message: message))
  }

  private mutating func describe() -> SchemaDescription {
    SchemaDescription(entities: entities.map { describe($0) })
  }

  private mutating func describe(_ entity: NSEntityDescription) -> SchemaDescription.EntityDescription {
    var attributes: [SchemaDescription.AttributeDescription] = []
    var relationships: [SchemaDescription.RelationshipDescription] = []
    for property in entity.ownProperties {
      switch property {
      case let attribute as NSAttributeDescription:
        if let fault = (attribute as? NSCompositeAttributeDescription)?.nestingFault() {
          self.fault(entity, attribute.name, fault)
        } else if let made = describe(attribute, path: attribute.name, of: entity) {
          attributes.append(made)
        }
      case let relationship as NSRelationshipDescription:
        if let made = describe(relationship, of: entity) { relationships.append(made) }
      default: break  // a fetched property has nothing to store
      }
    }
    return SchemaDescription.EntityDescription(
      name: entity.name ?? "", superentity: entity.superentity?.name, isAbstract: entity.isAbstract,
      attributes: attributes, relationships: relationships, indexes: indexes(of: entity),
      uniquenessConstraints: entity.constraintNames.map { $0.compactMap { $0 } },
      renamingIdentifier: entity.renamingIdentifier, versionHashModifier: entity.versionHashModifier)
  }

  // MARK: Properties

  private mutating func describe(
    _ attribute: NSAttributeDescription, path: String, of entity: NSEntityDescription
  ) -> SchemaDescription.AttributeDescription? {
    var defaultValue = Value.null
    let kind: SchemaDescription.AttributeDescription.Kind
    if attribute.isTransient {
      kind = .value(.data)  // takes no slot, so its type says nothing
    } else if let composite = attribute as? NSCompositeAttributeDescription {
      kind = .composite(
        composite.elements.compactMap { describe($0, path: path + "." + $0.name, of: entity) })
    } else if let type = ValueType(attribute.type) {
      kind = .value(type)
      if let given = attribute.defaultValue, !(attribute is NSDerivedAttributeDescription) {
        guard let value = stored(given, type, attribute, path, entity) else { return nil }
        defaultValue = value
      }
    } else {
      fault(
        entity, path, "a stored attribute needs a type that can be stored, and \(attribute.type.title) can't")
      return nil
    }
    return SchemaDescription.AttributeDescription(
      attribute.name, kind, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
      defaultValue: defaultValue, renamingIdentifier: attribute.renamingIdentifier,
      versionHashModifier: attribute.versionHashModifier,
      allowsExternalStorage: attribute.allowsExternalBinaryDataStorage)
  }

  private mutating func stored(
    _ given: Any, _ type: ValueType, _ attribute: NSAttributeDescription, _ path: String,
    _ entity: NSEntityDescription
  ) -> Value? {
    if type == .transformable {
      do {
        return .data(try AttributeTransformer(name: attribute.valueTransformerName).data(for: given))
      } catch {
        fault(entity, path, "the default value \(given) can't be transformed: \(error)")
        return nil
      }
    }
    guard let value = Value(given, for: type) else {
      fault(entity, path, "the default value \(given) does not fit the type \(type)")
      return nil
    }
    return value
  }

  private mutating func describe(
    _ relationship: NSRelationshipDescription, of entity: NSEntityDescription
  ) -> SchemaDescription.RelationshipDescription? {
    guard let destination = relationship.currentDestinationName else {
      fault(entity, relationship.name, "leads to no entity: set its destinationEntity")
      return nil
    }
    return SchemaDescription.RelationshipDescription(
      relationship.name, to: destination, inverse: relationship.currentInverseName,
      minCount: relationship.minCount, maxCount: relationship.maxCount, isOrdered: relationship.isOrdered,
      isOptional: relationship.isOptional, isTransient: relationship.isTransient,
      deleteRule: SchemaDeleteRule(rawValue: Int(relationship.deleteRule.rawValue)) ?? .nullify,
      renamingIdentifier: relationship.renamingIdentifier,
      versionHashModifier: relationship.versionHashModifier)
  }

  // MARK: Indexes

  /// The declared indexes, and those that the two older spellings ask for. Indexes over an expression are none that
  /// a store could build: left out here, and what they speed up is answered without.
  private func indexes(of entity: NSEntityDescription) -> [SchemaDescription.IndexDescription] {
    var result: [SchemaDescription.IndexDescription] = []
    for index in entity.indexes
    where !index.elements.contains(where: { $0.property is NSExpressionDescription }) {
      result.append(.init(index.name, index.elements.map { $0.propertyName ?? "" }))
    }
    func add(_ name: String, _ properties: [String]) {
      let isThere = result.contains { $0.properties == properties || $0.name == name }
      if !isThere { result.append(.init(name, properties)) }
    }
    // The mark means nothing on what has no column of its own; links are indexed by their inverses anyway.
    for case let attribute as NSAttributeDescription in entity.ownProperties
    where attribute.isIndexed && !attribute.isTransient && attribute.type != .composite {
      add(attribute.name, [attribute.name])
    }
    for compound in entity.compoundIndexes {
      let names = compound.map { NSEntityDescription.propertyName($0) ?? "" }
      add(names.joined(separator: "_"), names)
    }
    return result
  }
}
