// The model: the entities that a coordinator works with. Mutable until first used, constant from then on.

import CairnModel
public import Foundation

/// A set of entities.
///
/// A model is built by setting `entities`, and frozen when a coordinator is made with it: every setter of the
/// model, its entities and their properties is a programmer error from then on.
///
/// Sendable: as `NSPropertyDescription`; what is computed after freezing stands behind a lock.
open class NSManagedObjectModel: NSObject, @unchecked Sendable {
  private final var isFrozen = false
  private final let compilation = Lock<Result<CompiledModel, any Error>?>(nil)

  /// In the order they were given.
  public final var entities: [NSEntityDescription] = [] {
    willSet { if isFrozen { fatalError("Can't modify an immutable model.") } }
    didSet {
      for entity in oldValue where entity.model === self { entity.model = nil }
      for entity in entities { entity.model = self }
    }
  }

  public override init() {}

  public final var entitiesByName: [String: NSEntityDescription] {
    Dictionary(
      entities.compactMap { entity in entity.name.map { ($0, entity) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Makes every setter trap from now on.
  final func freeze() {
    compilation.withLock { _ in freezeLocked() }
  }

  private final func freezeLocked() {
    if isFrozen { return }
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
      let made = Result { try ModelCompiler.compile(entities) }
      result = made
      return try made.get()
    }
  }
}
