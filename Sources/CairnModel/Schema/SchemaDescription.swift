// The input of `Schema.init(_:)`: a model written down by names, not yet checked. CairnGraph makes it from
// NSManagedObjectModel, tests and third-party stores by hand.

public import Foundation

/// A model by names. Nothing is checked here; `Schema.init(_:)` reports every fault at once.
public struct SchemaDescription: Sendable {
  public var entities: [EntityDescription]

  public init(entities: [EntityDescription]) {
    self.entities = entities
  }

  public struct EntityDescription: Sendable {
    public var name: String
    public var superentity: String?
    public var isAbstract: Bool
    /// Own properties only; inherited ones come from `superentity`.
    public var attributes: [AttributeDescription]
    public var relationships: [RelationshipDescription]
    public var indexes: [IndexDescription]
    /// Each constraint as the names of the attributes that together are unique.
    public var uniquenessConstraints: [[String]]
    public var renamingIdentifier: String?
    public var versionHashModifier: String?

    public init(
      name: String, superentity: String? = nil, isAbstract: Bool = false,
      attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
      indexes: [IndexDescription] = [], uniquenessConstraints: [[String]] = [],
      renamingIdentifier: String? = nil, versionHashModifier: String? = nil
    ) {
      self.name = name
      self.superentity = superentity
      self.isAbstract = isAbstract
      self.attributes = attributes
      self.relationships = relationships
      self.indexes = indexes
      self.uniquenessConstraints = uniquenessConstraints
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
    }
  }

  public struct AttributeDescription: Sendable {
    public indirect enum Kind: Sendable {
      case value(ValueType)
      case composite([AttributeDescription])
    }

    public var name: String
    public var kind: Kind
    public var isOptional: Bool
    public var isTransient: Bool
    public var defaultValue: Value
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    /// Whether a store may keep large values apart; of use for data and transformable values only.
    public var allowsExternalStorage: Bool

    public init(
      _ name: String, _ kind: Kind, isOptional: Bool = true, isTransient: Bool = false,
      defaultValue: Value = .null, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
      allowsExternalStorage: Bool = false
    ) {
      self.allowsExternalStorage = allowsExternalStorage
      self.name = name
      self.kind = kind
      self.isOptional = isOptional
      self.isTransient = isTransient
      self.defaultValue = defaultValue
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
    }

    public init(
      _ name: String, _ type: ValueType, isOptional: Bool = true, isTransient: Bool = false,
      defaultValue: Value = .null, allowsExternalStorage: Bool = false
    ) {
      self.init(
        name, .value(type), isOptional: isOptional, isTransient: isTransient, defaultValue: defaultValue,
        allowsExternalStorage: allowsExternalStorage)
    }
  }

  public struct RelationshipDescription: Sendable {
    public var name: String
    public var destination: String
    /// The name of the inverse on the destination.
    public var inverse: String?
    public var minCount: Int
    /// 1 makes it to-one, 0 means without limit.
    public var maxCount: Int
    public var isOrdered: Bool
    public var isOptional: Bool
    public var isTransient: Bool
    public var deleteRule: SchemaDeleteRule
    public var renamingIdentifier: String?
    public var versionHashModifier: String?

    public init(
      _ name: String, to destination: String, inverse: String? = nil, minCount: Int = 0, maxCount: Int = 0,
      isOrdered: Bool = false, isOptional: Bool = true, isTransient: Bool = false,
      deleteRule: SchemaDeleteRule = .nullify, renamingIdentifier: String? = nil,
      versionHashModifier: String? = nil
    ) {
      self.name = name
      self.destination = destination
      self.inverse = inverse
      self.minCount = minCount
      self.maxCount = maxCount
      self.isOrdered = isOrdered
      self.isOptional = isOptional
      self.isTransient = isTransient
      self.deleteRule = deleteRule
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
    }
  }

  public struct IndexDescription: Sendable {
    public var name: String
    /// Attributes, elements of composite attributes by path, or to-one relationships.
    public var properties: [String]

    public init(_ name: String, _ properties: [String]) {
      self.name = name
      self.properties = properties
    }
  }
}

/// Everything that is wrong with a model, each fault with the entity and property it concerns.
public struct SchemaError: LocalizedError, Sendable, CustomStringConvertible {
  public struct Fault: Sendable, Hashable {
    public let entity: String
    public let property: String?
    public let message: String

    package init(entity: String, property: String?, message: String) {
      self.entity = entity
      self.property = property
      self.message = message
    }
  }

  public let faults: [Fault]
  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  package init(faults: [Fault]) {
    self.faults = faults
  }

  public var description: String {
    "the model has \(faults.count) fault\(faults.count == 1 ? "" : "s"):\n"
      + faults.map { "  \($0.entity)\($0.property.map { ".\($0)" } ?? ""): \($0.message)" }
      .joined(separator: "\n")
  }
}
