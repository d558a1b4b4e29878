// What tells versions of a model apart: the hashes of its entities, and what stores keep of them.

import CairnModel
public import Foundation

extension NSManagedObjectModel {
  /// The version hash of each entity, 32 bytes: Core Data's own, so that a model has the same here and there, but for
  /// entities with derived or composite attributes, whose hashing isn't known.
  ///
  /// Computed once for a model in use, anew each time for one that can still change.
  public final var entityVersionHashesByName: [String: Data] { versions.hashes }

  /// One text for all of that: 44 characters of base 64, Core Data's own.
  public final var versionChecksum: String { versions.checksum }

  /// Whether a store with this metadata can be opened with the configuration, nil being all entities: it has the same
  /// version hash for each of its entities, and for no others.
  ///
  /// Classes, user infos, validation, default values, indexes and templates don't matter. False for a configuration
  /// that there isn't.
  public final func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    else { return false }
    let names = Set(entities.compactMap(\.name))
    return entityVersionHashesByName.filter { names.contains($0.key) } == stored
  }

  /// What the metadata of a store says of its model: the hashes of a configuration's entities, with their version,
  /// digest, checksum, and the model's version identifiers, under Core Data's keys. Empty for a configuration that
  /// there isn't.
  package final func storeMetadata(forConfiguration configuration: String? = nil) -> [String: Any] {
    guard let version = version(ofConfiguration: configuration) else { return [:] }
    return Self.storeMetadata(version.hashes, identifiers: version.identifiers)
  }

  /// Of that what the rest follows from, which costs some more hashing; nil for a configuration that there isn't.
  final func version(
    ofConfiguration configuration: String?
  ) -> (hashes: [String: Data], identifiers: [String])? {
    guard let members = entities(forConfigurationName: configuration) else { return nil }
    let names = Set(members.compactMap(\.name))
    return (
      entityVersionHashesByName.filter { names.contains($0.key) },
      versionIdentifiers.compactMap { $0.base as? String }.sorted()
    )
  }

  /// The same of a model that is only known by its hashes.
  static func storeMetadata(_ hashes: [String: Data], identifiers: [String]) -> [String: Any] {
    let parts = hashes.map { ($0.key, $0.value) }
    return [
      NSStoreModelVersionHashesKey: hashes,
      "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionHashesDigest": VersionHash.digest(entities: parts),
      NSPersistentStoreModelVersionChecksumKey: VersionHash.checksum(entities: parts),
      NSStoreModelVersionIdentifiersKey: identifiers,
    ]
  }
}

/// The hashes of a model, computed together.
struct ModelVersions: Sendable {
  let hashes: [String: Data]
  let checksum: String

  init(_ document: ModelDocument) {
    hashes = document.versionHashes
    checksum = document.versionChecksum
  }
}

extension NSEntityDescription {
  /// The version hash of the entity, 32 bytes.
  public final var versionHash: Data {
    if let model, let name, model.entitiesByName[name] === self,
      let hash = model.entityVersionHashesByName[name]
    {
      return hash
    }
    return DocumentWriter.document(of: self).versionHashes[name ?? ""] ?? Data()
  }
}

extension NSPropertyDescription {
  /// The version hash of the property, 32 bytes; empty for what is no property of an entity.
  public final var versionHash: Data {
    guard let property = DocumentWriter.property(self) else { return Data() }
    return ModelDocument().versionHash(of: property)
  }
}
