// A custom store that reads and writes its file as a whole.
//
// Always holds once the store is open: `tables` has a row for each cache node, under the key of its ID, and what
// contexts fetch comes from `tables`. A save checks the change set against them, has the subclass change its nodes
// and write the file, and commits to them last: after an error of the file nothing has changed.

import CairnModel
public import Foundation

/// A store whose objects are all in memory, and are written as a whole at each save.
///
/// A subclass overrides `load()`, `save()`, `newCacheNode(for:)`, `updateCacheNode(_:from:)`, `newReferenceObject(for:)`, `type` and the class functions for metadata.
/// It is registered with `registerStoreClass(_:forStoreType:)`. Predicates, orders, uniqueness constraints and
/// conflicts are Cairn's affair: they work as in a store in memory. A model with derived attributes can't be opened
/// with it (134020).
///
/// Its code runs for one thread at a time. Sendable: `nodes` and `tables` are touched with `references.lock` held
/// or before the store is handed out.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  private final let given: ReferenceTable?
  private final var nodes: [EntityID: [Int64: NSAtomicStoreCacheNode]] = [:]
  private final var tables: (any CheckingStore)?

  public required init(
    persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    given = coordinator.flatMap { try? $0.compiledModel() }.map(ReferenceTable.init)
    super.init(
      persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options
    )
  }

  private final var references: ReferenceTable {
    guard let given else { fatalError("the store was made without a coordinator, and so without a model") }
    return given
  }

  // MARK: What a subclass overrides

  /// Reads the file: makes a node of each object and passes all of them to `addCacheNodes(_:)`, and sets
  /// `metadata`. Called once. A file that is missing or empty means that the store is new.
  open func load() throws {
    fatalError("\(Swift.type(of: self)) has to override load()")
  }

  /// Writes `cacheNodes()` and `metadata` to `url`. When it throws, the save fails, and the nodes are as they
  /// were before.
  open func save() throws {
    fatalError("\(Swift.type(of: self)) has to override save()")
  }

  /// The node of a new object, which has its permanent ID already.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    fatalError("\(Swift.type(of: self)) has to override newCacheNode(for:)")
  }

  /// Brings a node up to date with a changed object.
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    fatalError("\(Swift.type(of: self)) has to override updateCacheNode(_:from:)")
  }

  /// What the store calls a new object: a string, a number, a UUID; never given before, and kept for good.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    fatalError("\(Swift.type(of: self)) has to override newReferenceObject(for:)")
  }

  /// The nodes of objects that are being deleted, before they go.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  // MARK: What a subclass calls

  /// Adds nodes. Called by `load()`.
  public final func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes { nodes[node.objectID.root, default: [:]][node.objectID.key] = node }
  }

  public final func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values.flatMap(\.values)) }

  public final func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    objectID.isTemporaryID ? nil : nodes[objectID.root]?[objectID.key]
  }

  /// The ID of the object that the store calls `data`.
  public final func objectID(
    for entity: NSEntityDescription, withReferenceObject data: Any
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

  override func uriName(of key: Int64, in entity: NSEntityDescription) -> String {
    references.uriName(of: key, in: entity)
  }

  override func key(ofURIName name: String, in entity: NSEntityDescription) -> Int64? {
    references.key(ofURIName: name, in: entity)
  }

  override func permanentKeys(for objects: [NSManagedObject]) throws -> [Int64] {
    references.lock.lock()
    defer { references.lock.unlock() }
    let keys = objects.map { references.key(newReferenceObject(for: $0), of: $0.table.entity) }
    if let tables { try reserve(in: tables) }
    return keys
  }

  override func commit(_ changes: ChangeSet, of save: SavedObjects) throws -> Commit {
    references.lock.lock()
    defer { references.lock.unlock() }
    guard let tables else { fatalError("the store isn't open") }
    try tables.check(changes)
    let before = (nodes, cacheNodes().map { ($0, $0.propertyCache?.mutableCopy() as? NSMutableDictionary) })
    let oldIDs = save.inserted.map { ($0.object, $0.object.knownID) }
    do {
      for (object, key) in save.inserted { object.knownID = references.id(key, object.table.entity, self) }
      change(save)
      try self.save()
    } catch {
      nodes = before.0
      for (node, cache) in before.1 { node.propertyCache = cache }
      for (object, id) in oldIDs { object.knownID = id }
      throw error
    }
    return try tables.commit(changes)
  }

  private final func change(_ save: SavedObjects) {
    for (object, _) in save.inserted { addCacheNodes([newCacheNode(for: object)]) }
    for object in save.updated {
      if let node = cacheNode(for: object.objectID) { updateCacheNode(node, from: object) }
    }
    let gone = save.deleted.compactMap { cacheNode(for: $0.objectID) }
    if gone.isEmpty { return }
    willRemoveCacheNodes(Set(gone))
    for node in gone { nodes[node.objectID.root]?[node.objectID.key] = nil }
  }
}

// MARK: - Opening

extension NSAtomicStore: CustomStore {
  final func openEngine(_ model: CompiledModel, _ entities: [EntityID]) throws -> any PersistentStore {
    if let url, isReadOnly, !FileManager.default.fileExists(atPath: url.path) {
      throw NSError.coreData(
        CocoaError.Code.fileReadNoSuchFile.rawValue, "there is no store at \(url.path) to be read",
        [NSFilePathErrorKey: url.path, "reason": "Attempt to open missing file read only"])
    }
    try model.requireNoDerivedAttributes(of: entities, in: "an atomic store")
    try load()
    let made = try StoreRegistry.makeTables(model.schema)
    for node in cacheNodes() where node.objectID.origin != uuid {
      // Made before `load()` had set the metadata, and so the identifier.
      node.objectID = references.id(node.objectID.key, references.entity(node.objectID.entity), self)
    }
    try reserve(in: made)
    let changes = try NodeReader(model, nodes).changes()
    if !changes.isEmpty { _ = try made.commit(changes) }
    tables = made
    return made
  }

  /// Makes the keys that were given so far ones that the tables know.
  private final func reserve(in tables: any CheckingStore) throws {
    for root in Set(references.model.entities.map(\.schema.root)) {
      let wanted = references.lastKey(root: root)
      let next = try tables.reserveKeys(0, root: root).lowerBound
      if next <= wanted { _ = try tables.reserveKeys(Int(wanted - next + 1), root: root) }
    }
  }

  /// Makes nodes of the rows that were copied into the tables, and writes the file. `context` sees this store
  /// alone.
  final func adoptRows(_ context: NSManagedObjectContext) throws {
    references.lock.lock()
    defer { references.lock.unlock() }
    var objects: [NSManagedObject] = []
    for entity in references.model.entities where !entity.schema.isAbstract {
      let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity.name)
      request.includesSubentities = false
      objects += try context.fetch(request).compactMap { ($0 as AnyObject) as? NSManagedObject }
    }
    for object in objects {
      references.bind(object.key, to: newReferenceObject(for: object), of: object.table.entity)
    }
    for object in objects { addCacheNodes([newCacheNode(for: object)]) }
    try save()
  }
}
