// The model: the entities that a coordinator works with. Mutable until first used, constant from then on.

import CairnModel
public import Foundation

/// A set of entities, with the configurations that group them and the fetch requests kept with them. Going through
/// it gives its entities.
///
/// A model is built by setting `entities`, and frozen when a coordinator is made with it: every setter of the
/// model, its entities and their properties is a programmer error from then on. Copies are mutable again.
///
/// Equal are models that are described alike, whatever the order of their entities.
///
/// Sendable: as `NSPropertyDescription`; what is computed after freezing stands behind a lock.
open class NSManagedObjectModel: NSObject, NSCopying, @unchecked Sendable {
  private final var isFrozen = false
  private final let compilation = Lock<Result<CompiledModel, any Error>?>(nil)
  private final let knownVersions = Lock<ModelVersions?>(nil)
  /// The file that made or read the model, as `Module/File.swift`: classes without a module are looked up there.
  private(set) final var fileID = ""

  /// In the order they were given. Relationships, subentities and index elements that mean an entity or property
  /// outside of the list are led to those of the same names inside it, so that copies of entities fit together.
  public final var entities: [NSEntityDescription] = [] {
    willSet { requireMutable() }
    didSet {
      for entity in oldValue where entity.model === self { entity.model = nil }
      for entity in entities { entity.model = self }
      resolveNames()
    }
  }

  /// What the version of the model is called; a store remembers it, and nothing depends on it.
  public final var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireMutable() } }

  /// Texts for people, under `Entity/E`, `Property/p/Entity/E`, `Property/p` and `ErrorString/text`.
  public final var localizationDictionary: [String: String]? { willSet { requireMutable() } }

  final var entitiesByConfiguration: [String: [NSEntityDescription]] = [:] { willSet { requireMutable() } }
  final var templates: [String: NSFetchRequest<NSFetchRequestResult>] = [:] { willSet { requireMutable() } }

  /// An empty model that knows of no module. Disfavoured, so that `NSManagedObjectModel()` means the other one.
  @_disfavoredOverload
  public required override init() {}

  /// An empty model. Classes that its entities name without a module are those of the file that calls this.
  public init(fileID: String = #fileID) {
    self.fileID = fileID
  }

  public final var entitiesByName: [String: NSEntityDescription] {
    Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: Freezing

  final func requireMutable() {
    if isFrozen { trapImmutableModel() }
  }

  /// Makes every setter trap from now on.
  final func freeze() {
    compilation.withLock { _ in freezeLocked() }
  }

  private final func freezeLocked() {
    if isFrozen { return }
    resolveNames()
    isFrozen = true
    for entity in entities { entity.freeze() }
  }

  /// The model as stores and contexts use it. Freezes the model, and compiles it the first time.
  ///
  /// Throws `SchemaError` with everything that is wrong with it, the same each time.
  final func compiled() throws -> CompiledModel {
    try compilation.withLock { result in
      if let result { return try result.get() }
      freezeLocked()
      let made = Result { try ModelCompiler.compile(self) }
      result = made
      return try made.get()
    }
  }

  /// The version hashes, kept once they can't change any more.
  final var versions: ModelVersions {
    if !isFrozen { return ModelVersions(document) }
    return knownVersions.withLock { known in
      if let known { return known }
      let made = ModelVersions(document)
      known = made
      return made
    }
  }

  // MARK: Copying and equality

  /// A mutable model that is described alike, of copies of everything but the fetch requests' parts.
  public final func copy(with zone: NSZone? = nil) -> Any {
    let copy = type(of: self).init()
    copy.fileID = fileID
    copy.entities = entities.compactMap { $0.copy() as? NSEntityDescription }
    copy.versionIdentifiers = versionIdentifiers
    copy.localizationDictionary = localizationDictionary
    let copies = copy.entitiesByName
    copy.entitiesByConfiguration = entitiesByConfiguration.mapValues { members in
      members.compactMap { $0.name.flatMap { copies[$0] } }
    }
    copy.templates = templates.mapValues { $0.templateCopy(for: copy) }
    return copy
  }

  public final override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    return other === self
      || entities.count == other.entities.count && entitiesByName == other.entitiesByName
        && versionIdentifiers == other.versionIdentifiers
        && (localizationDictionary ?? [:]) == (other.localizationDictionary ?? [:])
        && namesByConfiguration == other.namesByConfiguration
        && templates.count == other.templates.count
        && templates.allSatisfy { name, request in other.templates[name].map(request.asksLike) ?? false }
  }

  private final var namesByConfiguration: [String: Set<String?>] {
    entitiesByConfiguration.mapValues { Set($0.map(\.name)) }
  }

  public final override var hash: Int { Set(entities.map(\.name)).hashValue }
}

/// Going through a model gives its entities.
extension NSManagedObjectModel: Sequence {
  public final func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}
