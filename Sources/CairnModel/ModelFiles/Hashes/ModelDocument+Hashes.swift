// The version hashes of a document's entities and properties, from its parts.

public import Foundation

extension ModelDocument {
  /// The version hash of each entity by its name, 32 bytes.
  ///
  /// Of two entities of one name the first counts. An entity whose superentity isn't there, or leads back to
  /// itself, is hashed as one without. Linear in the number of properties, inherited ones counted.
  public var versionHashes: [String: Data] {
    var hashing = EntityHashing(document: self)
    return Dictionary(entities.map { ($0.name, hashing.hash($0.name)) }) { first, _ in first }
  }

  /// Two models with the same checksum have the same entities by their hashes. Base 64, 44 characters.
  public var versionChecksum: String { VersionHash.checksum(entities: parts) }

  /// What a store's metadata keeps under `NSStoreModelVersionHashesDigest`. Base 64, 88 characters.
  public var versionHashesDigest: String { VersionHash.digest(entities: parts) }

  /// The version hash of one property, 32 bytes.
  public func versionHash(of property: Property) -> Data {
    var hashing = PropertyHashing(document: self)
    return hashing.hash(property)
  }

  private var parts: [VersionHash.Part] { versionHashes.map { ($0.key, $0.value) } }
}

/// Hashes properties; the elements of a named composite once. Composites that are nested too deep count as empty.
private struct PropertyHashing {
  private let elementsByName: [String: [ModelDocument.Attribute]]
  /// Empty while a composite is being hashed, so that one that contains itself comes to an end.
  private var composites: [String: [VersionHash.Part]] = [:]

  init(document: ModelDocument) { elementsByName = document.elementsByName }

  mutating func hash(_ property: ModelDocument.Property) -> Data {
    switch property {
    case .attribute(let attribute): hash(attribute, depth: 0)
    case .relationship(let relationship):
      VersionHash.relationship(
        name: relationship.name, destination: relationship.destination, inverse: relationship.inverseName,
        minCount: relationship.minCount, maxCount: relationship.maxCount, isOrdered: relationship.isOrdered,
        isOptional: relationship.isOptional, isTransient: relationship.isTransient,
        modifier: relationship.versionHashModifier)
    case .fetched(let property):
      VersionHash.fetchedProperty(
        name: property.name, isOptional: property.isOptional, modifier: property.versionHashModifier)
    }
  }

  private mutating func hash(_ attribute: ModelDocument.Attribute, depth: Int) -> Data {
    VersionHash.attribute(
      name: attribute.name, type: attribute.kind.rawValue, isOptional: attribute.isOptional,
      isTransient: attribute.isTransient,
      isMarked: attribute.allowsExternalBinaryDataStorage || attribute.preservesValueInHistoryOnDeletion,
      modifier: attribute.versionHashModifier, derivation: attribute.derivation.map(text),
      elements: attribute.kind == .composite ? elements(attribute, depth: depth) : [])
  }

  private mutating func elements(
    _ attribute: ModelDocument.Attribute, depth: Int
  ) -> [VersionHash.Part] {
    if depth == CompositeBudget.depthLimit { return [] }
    if !attribute.elements.isEmpty {
      return attribute.elements.map { ($0.name, hash($0, depth: depth + 1)) }
    }
    guard let name = attribute.compositeName else { return [] }
    if let known = composites[name] { return known }
    composites[name] = []
    let parts = (elementsByName[name] ?? []).map { (name: $0.name, hash: hash($0, depth: depth + 1)) }
    composites[name] = parts
    return parts
  }

  private func text(_ derivation: ModelDocument.Derivation) -> String {
    canonicalExpression(derivation.expression)
      + (derivation.filteringPredicate.map { " WHERE " + canonicalPredicate($0) } ?? "")
  }
}

/// Hashes entities after their superentities, each once.
private struct EntityHashing {
  private let entities: [String: ModelDocument.Entity]
  private var propertyHashing: PropertyHashing
  private var hashes: [String: Data] = [:]
  private var properties: [String: [VersionHash.Part]] = [:]

  init(document: ModelDocument) {
    propertyHashing = PropertyHashing(document: document)
    entities = Dictionary(document.entities.map { ($0.name, $0) }) { first, _ in first }
  }

  mutating func hash(_ name: String) -> Data {
    // From the entity up to the first that is done, has no superentity, or was seen.
    var line: [ModelDocument.Entity] = []
    var seen: Set<String> = []
    var next = entities[name]
    while let entity = next, hashes[entity.name] == nil, seen.insert(entity.name).inserted {
      line.append(entity)
      next = entity.superentity.flatMap { entities[$0] }
    }
    for entity in line.reversed() {
      let parent = entity.superentity.flatMap { hashes[$0] }
      let inherited = parent == nil ? [] : entity.superentity.flatMap { properties[$0] } ?? []
      let own = entity.properties.filter { !$0.isTransient }.map { property in
        (name: property.name, hash: propertyHashing.hash(property))
      }
      properties[entity.name] = inherited + own
      hashes[entity.name] = VersionHash.entity(
        name: entity.name, isAbstract: entity.isAbstract, parent: parent, properties: inherited + own,
        uniquenessConstraints: entity.uniquenessConstraints, modifier: entity.versionHashModifier)
    }
    return hashes[name] ?? Data()
  }
}

extension ModelDocument.Property {
  /// Whether a store doesn't keep it. Fetched properties always are so.
  public var isTransient: Bool {
    switch self {
    case .attribute(let attribute): attribute.isTransient
    case .relationship(let relationship): relationship.isTransient
    case .fetched: true
    }
  }
}
