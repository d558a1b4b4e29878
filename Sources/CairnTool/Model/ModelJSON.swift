// A model as JSON for programs. Its keys are part of the tool's interface: add some, rename none.

import Cairn

enum ModelJSON {
  static func text(of document: ModelDocument) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Model(document)), as: UTF8.self) + "\n"
  }

  private struct Model: Encodable {
    let versionChecksum: String
    let versionIdentifiers: [String]
    let entities: [Entity]

    init(_ document: ModelDocument) {
      versionChecksum = document.versionChecksum
      versionIdentifiers = document.versionIdentifiers
      let hashes = document.versionHashes
      entities = document.entities.map { Entity($0, document, hashes[$0.name]) }
    }
  }

  private struct Entity: Encodable {
    let name: String
    let versionHash: String
    let className: String?
    let superentity: String?
    let isAbstract: Bool
    let renamingIdentifier: String?
    let attributes: [Attribute]
    let relationships: [Relationship]
    let fetchedProperties: [FetchedProperty]
    let uniquenessConstraints: [[String]]
    let userInfo: [String: String]

    init(_ entity: ModelDocument.Entity, _ document: ModelDocument, _ hash: Data?) {
      name = entity.name
      versionHash = hash?.hex ?? ""
      className = entity.className
      superentity = entity.superentity
      isAbstract = entity.isAbstract
      renamingIdentifier = entity.renamingIdentifier
      attributes = entity.attributes.map { Attribute($0, document) }
      relationships = entity.relationships.map { Relationship($0, document) }
      fetchedProperties = entity.fetchedProperties.map(FetchedProperty.init)
      uniquenessConstraints = entity.uniquenessConstraints
      userInfo = entity.userInfo
    }
  }

  private struct Attribute: Encodable {
    let name: String
    let type: String
    let isOptional: Bool
    let isTransient: Bool
    let defaultValue: String?
    let derivationExpression: String?
    let valueTransformerName: String?
    let renamingIdentifier: String?
    let versionHash: String

    init(_ attribute: ModelDocument.Attribute, _ document: ModelDocument) {
      name = attribute.name
      type = attribute.kind.sourceName
      isOptional = attribute.isOptional
      isTransient = attribute.isTransient
      if case .string(let text) = attribute.defaultValue {
        defaultValue = text
      } else {
        defaultValue = attribute.defaultValue.isNull ? nil : attribute.defaultValue.description
      }
      derivationExpression = attribute.derivation?.expression
      valueTransformerName = attribute.valueTransformerName
      renamingIdentifier = attribute.renamingIdentifier
      versionHash = document.versionHash(of: .attribute(attribute)).hex
    }
  }

  private struct Relationship: Encodable {
    let name: String
    let destination: String
    let inverse: String?
    let isToMany: Bool
    let isOrdered: Bool
    let isOptional: Bool
    let minCount: Int
    let maxCount: Int
    let deleteRule: String
    let renamingIdentifier: String?
    let versionHash: String

    init(_ relationship: ModelDocument.Relationship, _ document: ModelDocument) {
      name = relationship.name
      destination = relationship.destination
      inverse = relationship.inverseName
      isToMany = relationship.isToMany
      isOrdered = relationship.isOrdered
      isOptional = relationship.isOptional
      minCount = relationship.minCount
      maxCount = relationship.maxCount
      deleteRule = relationship.deleteRule.words
      renamingIdentifier = relationship.renamingIdentifier
      versionHash = document.versionHash(of: .relationship(relationship)).hex
    }
  }

  private struct FetchedProperty: Encodable {
    let name: String
    let entity: String
    let predicate: String?

    init(_ property: ModelDocument.FetchedProperty) {
      name = property.name
      entity = property.request.entity
      predicate = property.request.predicate
    }
  }
}
