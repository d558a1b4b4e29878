// A custom store that is asked for what is needed, when it is needed.

import CairnModel
public import Foundation

/// A store that answers requests, for data that is elsewhere: a service, another program's files.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)`, `obtainPermanentIDs(for:)` and `type`, and is registered with
/// `registerStoreClass(_:forStoreType:)`. Predicates, orders and windows are the subclass's affair: Cairn takes
/// its answer as it is.
///
/// Its code runs for one thread at a time. It has no snapshots: what a context reads is what the store says then.
/// A model with uniqueness constraints or derived attributes can't be opened with it (134020).
///
/// Sendable: as `NSPersistentStore`; what it adds is constant or behind a lock. A subclass's own state is reached
/// by its own code alone, with `references.lock` held.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  private final let given: ReferenceTable?
  private final let isMetadataDirty = Lock(false)

  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    given = root.flatMap { try? $0.compiledModel() }.map(ReferenceTable.init)
    super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }

  final var references: ReferenceTable {
    guard let given else { fatalError("the store was made without a coordinator, and so without a model") }
    return given
  }

  // MARK: What a subclass overrides

  /// Sets `metadata`, with the store's type and UUID. Called once, before everything else.
  open override func loadMetadata() throws {
    fatalError("\(Swift.type(of: self)) has to override loadMetadata()")
  }

  /// Answers a request.
  ///
  /// For an `NSFetchRequest<NSFetchRequestResult>` it returns an array: of objects (`context.object(with:)`) or
  /// of IDs, and for `countResultType` of one number. For an `NSSaveChangesRequest` it saves and returns an empty
  /// array; one whose sets are all nil asks for the metadata to be saved. `context` is the one that saves, and
  /// for a fetch one that sees what is saved.
  open func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    fatalError("\(Swift.type(of: self)) has to override execute(_:with:)")
  }

  /// The values of an object. Throws 133000 when there is none.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    fatalError("\(Swift.type(of: self)) has to override newValuesForObject(with:with:)")
  }

  /// The destinations of a relationship: an ID or NSNull for a to-one, a collection of IDs for a to-many.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    fatalError("\(Swift.type(of: self)) has to override newValue(forRelationship:forObjectWith:with:)")
  }

  /// The IDs of new objects (`newObjectID(for:referenceObject:)`), in their order.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    fatalError("\(Swift.type(of: self)) has to override obtainPermanentIDs(for:)")
  }

  /// A UUID for a store that isn't there yet.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  // MARK: What a subclass calls

  /// The ID of the object that the store calls `data`: a string, a number, or a UUID. A URI of one of these kinds
  /// finds its object at any time; one of anything else that can be hashed, only after the store has named it.
  public final func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any
  ) -> NSManagedObjectID {
    let entity = references.entity(entity)
    return references.id(references.key(data, of: entity), entity, self)
  }

  /// What the store calls an object. Of a temporary ID, and of one of another store, a programmer error.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
    references.reference(of: objectID, in: self)
  }

  // MARK: What contexts call

  override var keepsOwnMetadata: Bool { true }

  /// Saved with the next save of a context, by a request whose sets are nil.
  final func noteMetadata() { isMetadataDirty.withLock { $0 = true } }

  override func uriName(of key: Int64, in entity: NSEntityDescription) -> String {
    references.uriName(of: key, in: entity)
  }

  override func key(ofURIName name: String, in entity: NSEntityDescription) -> Int64? {
    references.key(ofURIName: name, in: entity)
  }

  override func permanentKeys(for objects: [NSManagedObject]) throws -> [Int64] {
    if objects.isEmpty { return [] }
    references.lock.lock()
    defer { references.lock.unlock() }
    let ids = try obtainPermanentIDs(for: objects)
    guard ids.count == objects.count, ids.allSatisfy({ $0.origin == uuid && !$0.isTemporaryID }) else {
      throw CustomValues.error("it gave \(ids.count) permanent IDs for \(objects.count) objects")
    }
    return ids.map(\.key)
  }

  override func commit(_ changes: ChangeSet, of save: SavedObjects) throws -> Commit {
    references.lock.lock()
    defer { references.lock.unlock() }
    guard let engine = store as? IncrementalEngine else { fatalError("the store isn't open") }
    try engine.checkVersions(changes)
    let oldIDs = save.inserted.map { ($0.object, $0.object.knownID) }
    do {
      for (object, key) in save.inserted { object.knownID = references.id(key, object.table.entity, self) }
      if isMetadataDirty.withLock({ $0 }) {
        _ = try execute(NSSaveChangesRequest(), with: save.context)
        isMetadataDirty.withLock { $0 = false }
      }
      let request = NSSaveChangesRequest(
        inserted: Set(save.inserted.map(\.object)), updated: Set(save.updated), deleted: Set(save.deleted),
        locked: [])
      _ = try execute(request, with: save.context)
    } catch {
      for (object, id) in oldIDs { object.knownID = id }
      throw error
    }
    return engine.noteCommit(changes)
  }
}

extension NSIncrementalStore: CustomStore {
  final func openEngine(_ model: CompiledModel, _ entities: [EntityID]) throws -> any PersistentStore {
    try model.requireNoDerivedAttributes(of: entities, in: "an incremental store")
    try loadMetadata()
    let constrained = entities.first { !model[$0].schema.uniquenessConstraints.isEmpty }
    if let constrained {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError,
        "an incremental store can't keep the uniqueness constraints of \"\(model[constrained].name)\"")
    }
    return IncrementalEngine(self, references, entities)
  }
}
