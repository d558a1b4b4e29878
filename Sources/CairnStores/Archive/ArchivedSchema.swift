// The schema as it stands in an archive: JSON that says the model by names, so that the file opens without it.

import CairnModel
import Foundation

/// A `SchemaDescription` and the model that it was made of, as JSON. The names of the fields are the format's
/// (Formats/archive.md).
struct ArchivedSchema: Codable, Sendable {
  struct Entity: Codable, Sendable {
    var name: String
    var superentity: String?
    var isAbstract: Bool
    var attributes: [Attribute]
    var relationships: [Relationship]
    var indexes: [Index]
    var uniquenessConstraints: [[String]]
  }

  struct Attribute: Codable, Sendable {
    var name: String
    /// Absent for a composite attribute.
    var type: String?
    var elements: [Attribute]?
    var isOptional: Bool
    /// true, or absent.
    var allowsExternalStorage: Bool?
  }

  struct Relationship: Codable, Sendable {
    var name: String
    var destination: String
    var inverse: String?
    var minCount: Int
    var maxCount: Int
    var isOrdered: Bool
    var isOptional: Bool
    var deleteRule: Int
  }

  struct Index: Codable, Sendable {
    var name: String
    var properties: [String]
  }

  var entities: [Entity]
  /// The whole model as the text of Xcode's `contents` file; absent where the store was made without one.
  var model: String?

  init(_ schema: Schema, model: String?) {
    entities = schema.entities.map { Entity($0, schema) }
    self.model = model
  }

  /// Sorted keys, so that the same schema always gives the same bytes.
  var json: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(self))
    }
  }

  /// Throws `RecordError` for text that says no schema.
  init(json: [UInt8]) throws {
    do {
      self = try JSONDecoder().decode(ArchivedSchema.self, from: Data(json))
    } catch {
      throw RecordError(message: "the schema can't be read: \(error)", offset: 0)
    }
  }

  var schema: Schema {
    get throws {
      try checkSize()
      do {
        return try Schema(SchemaDescription(entities: entities.map { try $0.description() }))
      } catch let error as SchemaError {
        throw RecordError(message: "the schema makes no sense: \(error)", offset: 0)
      }
    }
  }

  static let entityLimit = 8192
  /// Entities from a root down to what inherits from it.
  static let lineageLimit = 64
  /// Of all entities together, inherited ones counted each time: what a schema takes in memory.
  static let slotLimit = 1 << 20

  /// Throws for a schema that would take more memory or time than its text lets expect.
  func checkSize() throws {
    let tooLarge = RecordError(
      message:
        "the schema has more than \(Self.entityLimit) entities, \(Self.lineageLimit) that inherit from each"
        + " other, or \(Self.slotLimit) columns", offset: 0)
    guard entities.count <= Self.entityLimit else { throw tooLarge }
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let own = try Dictionary(
      byName.map { ($0, try $1.slotBound(tooLarge)) }, uniquingKeysWith: { first, _ in first })
    var total = 0
    for entity in entities {
      var depth = 0
      var ancestor: Entity? = entity
      while let next = ancestor {
        depth += 1
        total += own[next.name] ?? 0
        guard depth <= Self.lineageLimit, total <= Self.slotLimit else { throw tooLarge }
        ancestor = next.superentity.flatMap { byName[$0] }
      }
    }
  }

  static func name(of type: ValueType) -> String { "\(type)" }

  static func type(named name: String) throws -> ValueType {
    guard let type = ValueType.allCases.first(where: { "\($0)" == name }) else {
      throw RecordError(message: "the schema has an attribute of the type \"\(name)\"", offset: 0)
    }
    return type
  }
}

extension ArchivedSchema.Entity {
  fileprivate init(_ entity: SchemaEntity, _ schema: Schema) {
    let inherited = Set(entity.superentity.map { schema[$0].attributes.map(\.name) } ?? [])
    let parent = entity.superentity.map { schema[$0] }
    name = entity.name
    superentity = parent?.name
    isAbstract = entity.isAbstract
    // Transient ones have no place in a file.
    attributes = entity.attributes.filter { !inherited.contains($0.name) && !$0.slots.isEmpty }.map {
      ArchivedSchema.Attribute($0, entity)
    }
    relationships = schema.relationships.filter { $0.owner == entity.id && $0.storage != .none }.map {
      ArchivedSchema.Relationship($0, schema)
    }
    indexes = entity.indexes.filter { !(parent?.indexes.contains($0) ?? false) }.map { index in
      ArchivedSchema.Index(name: index.name, properties: index.slots.map { entity.slots[$0].name })
    }
    uniquenessConstraints = entity.uniquenessConstraints.filter { $0.entity == entity.id }.map { constraint in
      constraint.slots.map { entity.slots[$0].name }
    }
  }

  /// How many slots its own properties take at most.
  fileprivate func slotBound(_ tooLarge: RecordError) throws -> Int {
    var count = 2 * relationships.count
    func add(_ attributes: [ArchivedSchema.Attribute], _ depth: Int) throws {
      guard depth <= ArchivedSchema.lineageLimit else { throw tooLarge }
      for attribute in attributes {
        if let elements = attribute.elements { try add(elements, depth + 1) } else { count += 1 }
      }
    }
    try add(attributes, 0)
    return count
  }

  fileprivate func description() throws -> SchemaDescription.EntityDescription {
    .init(
      name: name, superentity: superentity, isAbstract: isAbstract,
      attributes: try attributes.map { try $0.description(depth: 0) },
      relationships: try relationships.map { try $0.description() },
      indexes: indexes.map { .init($0.name, $0.properties) }, uniquenessConstraints: uniquenessConstraints)
  }
}

extension ArchivedSchema.Attribute {
  fileprivate init(_ attribute: SchemaAttribute, _ entity: SchemaEntity) {
    let slots = attribute.slots.map { entity.slots[$0] }
    guard attribute.isComposite else {
      self.init(
        name: attribute.name, type: ArchivedSchema.name(of: slots[0].type), elements: nil,
        isOptional: attribute.isOptional, allowsExternalStorage: slots[0].allowsExternalStorage ? true : nil)
      return
    }
    let paths = slots.map { slot in
      (path: slot.name.split(separator: ".").dropFirst().map(String.init)[...], slot: slot)
    }
    self.init(
      name: attribute.name, type: nil, elements: ArchivedSchema.Attribute.elements(paths),
      isOptional: attribute.isOptional)
  }

  /// The elements of a composite attribute from the paths of its leaves, which stand in order.
  private static func elements(_ leaves: [(path: ArraySlice<String>, slot: Slot)]) -> [ArchivedSchema
    .Attribute]
  {
    var result: [ArchivedSchema.Attribute] = []
    var rest = leaves[...]
    while let first = rest.first, let name = first.path.first {
      let same = rest.prefix { $0.path.first == name }
      rest = rest.dropFirst(same.count)
      if first.path.count == 1 {
        result.append(
          .init(
            name: name, type: ArchivedSchema.name(of: first.slot.type), elements: nil,
            isOptional: first.slot.isOptional,
            allowsExternalStorage: first.slot.allowsExternalStorage ? true : nil))
      } else {
        result.append(
          .init(
            name: name, type: nil, elements: elements(same.map { ($0.path.dropFirst(), $0.slot) }),
            isOptional: true))
      }
    }
    return result
  }

  fileprivate func description(depth: Int) throws -> SchemaDescription.AttributeDescription {
    guard depth < 64 else { throw RecordError(message: "the schema is nested too deep", offset: 0) }
    if let elements {
      return .init(
        name, .composite(try elements.map { try $0.description(depth: depth + 1) }), isOptional: isOptional)
    }
    guard let type else { throw RecordError(message: "the attribute \"\(name)\" has no type", offset: 0) }
    return .init(
      name, try ArchivedSchema.type(named: type), isOptional: isOptional,
      allowsExternalStorage: allowsExternalStorage ?? false)
  }
}

extension ArchivedSchema.Relationship {
  fileprivate init(_ relation: SchemaRelationship, _ schema: Schema) {
    name = relation.name
    destination = schema[relation.destination].name
    inverse = relation.inverse.map { schema[$0].name }
    minCount = relation.minCount
    maxCount = relation.maxCount
    isOrdered = relation.isOrdered
    isOptional = relation.isOptional
    deleteRule = relation.deleteRule.rawValue
  }

  fileprivate func description() throws -> SchemaDescription.RelationshipDescription {
    guard let rule = SchemaDeleteRule(rawValue: deleteRule) else {
      throw RecordError(message: "the relationship \"\(name)\" has the delete rule \(deleteRule)", offset: 0)
    }
    return .init(
      name, to: destination, inverse: inverse, minCount: minCount, maxCount: maxCount, isOrdered: isOrdered,
      isOptional: isOptional, deleteRule: rule)
  }
}
