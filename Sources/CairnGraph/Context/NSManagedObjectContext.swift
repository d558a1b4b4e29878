// A context: the objects that one piece of work sees and changes, and the changes that it hasn't saved yet.
//
// Always holds: `inserted` has the unsaved new objects in the order of their temporary keys, nil where one was
// taken back; `updatedList` has each object that `isUpdated`, and may have some that are so no more (`isListed`
// tells who stands in it); `deleted` has each saved object that `isDeleted`. Every other object that the context
// knows is in its scope's maps under its key, and so are the updated and deleted ones.

import CairnModel
public import Foundation

/// The older spelling of a context's kind. Raw values are Core Data's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

/// A graph of objects over a coordinator's stores.
///
/// A context and its objects are confined to the context's queue: use them inside `perform` or `performAndWait`
/// (or, for a main-queue context, on the main actor). `name`, `transactionAuthor` and `perform` itself may be
/// used from anywhere.
///
/// Sendable: all other state is touched on the context's queue only, which is the caller's part; what has to
/// cross, IDs and notifications, is made of Sendable values or used on the queue.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  /// Which queue a context works on.
  public enum ConcurrencyType: Sendable { case mainQueue, privateQueue }

  public final let concurrencyType: NSManagedObjectContextConcurrencyType
  final let queue: ContextQueue
  /// Names the context in the IDs of its unsaved objects.
  final let identity = UUID()

  /// What history and notifications call the context.
  public final var name: String? {
    get { names.withLock { $0.name } }
    set { names.withLock { $0.name = newValue } }
  }
  /// Who history says has made the commits. Stays until it is set again.
  public final var transactionAuthor: String? {
    get { names.withLock { $0.author } }
    set { names.withLock { $0.author = newValue } }
  }
  private final let names = Lock<(name: String?, author: String?)>((nil, nil))
  /// For the program's own use.
  public final let userInfo = NSMutableDictionary()

  /// Who wins when a save conflicts with the store: an `NSMergePolicy`. `NSMergePolicy.error` at first, which
  /// has the save throw. Anything that is no merge policy is a programmer error.
  public final var mergePolicy: Any = NSMergePolicy.error {
    didSet {
      guard mergePolicy is NSMergePolicy else {
        fatalError("the merge policy \(mergePolicy) is no NSMergePolicy")
      }
    }
  }

  /// Whether saves of other contexts over the same coordinator are merged into this one, on its queue and soon
  /// after. False at first.
  public final var automaticallyMergesChangesFromParent = false {
    didSet { openMailbox() }
  }

  /// Whether delete rules are applied by `processPendingChanges`, that is at the end of each `perform` and
  /// before a fetch; otherwise a save applies them.
  public final var propagatesDeletesAtEndOfEvent = true
  /// Whether an object whose row turns out to be gone is marked as deleted, with all its values nil. If false,
  /// reading such an object traps: "CoreData could not fulfill a fault".
  public final var shouldDeleteInaccessibleFaults = true
  /// Whether the context keeps unchanged objects that nobody else holds.
  public final var retainsRegisteredObjects = false
  /// Kept for programs that set it. Cairn has no row cache that could be stale: a fault is filled from the
  /// newest commit of its store, whatever the interval.
  public final var stalenessInterval: TimeInterval = -1

  // Unchecked exclusivity where it says so: a context is confined to its queue, and no access to one of these is in
  // progress while code is called that could reach it again: each is read or written whole, or appended to.
  final var coordinator: NSPersistentStoreCoordinator?
  final var compiled: CompiledModel?
  /// See `scopes`.
  @exclusivity(unchecked) final var knownScopes: [StoreScope] = [] {
    didSet {
      firstScope = knownScopes.first.map { .passUnretained($0) }
      lastTable = nil
    }
  }
  /// `knownScopes.first`, for look-ups without counting references to it.
  @exclusivity(unchecked) final var firstScope: Unmanaged<StoreScope>?
  /// The coordinator's `storesGeneration` as of which `knownScopes` are.
  @exclusivity(unchecked) final var syncedGeneration = -1
  /// Where the last new object began and the address of its entity, which the table holds; nil where there are
  /// several stores to choose from.
  @exclusivity(unchecked) final var lastTable: (entity: UnsafeMutableRawPointer, table: EntityTable)?
  /// The class of the last object made by `init(context:)`, and its entity.
  @exclusivity(unchecked) private final var lastClass: (type: ObjectIdentifier, entity: NSEntityDescription)?
  /// Of stores that were removed: their objects still refer to them.
  final var retired: [StoreScope] = []
  @exclusivity(unchecked) private final var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
  private final var mailbox: SaveMailbox?

  @exclusivity(unchecked) final var inserted: [NSManagedObject?] = []
  @exclusivity(unchecked) final var insertedCount = 0
  /// The temporary key of `inserted[i]` is -(temporaryBase + i + 1).
  @exclusivity(unchecked) private final var temporaryBase: Int64 = 0
  @exclusivity(unchecked) final var updatedList: [NSManagedObject] = []
  @exclusivity(unchecked) final var updatedCount = 0
  @exclusivity(unchecked) final var deleted: [NSManagedObject] = []
  /// New objects that were deleted again: they hold rows of drafts until the next save or rollback.
  final var withdrawn: [NSManagedObject] = []
  /// Of `mutableOrderedSetValue(forKey:)`, as long as somebody holds them.
  final var openLists = OpenLists()
  /// What has happened since the last `processPendingChanges`.
  @exclusivity(unchecked) final var event = ContextEvent()
  /// The new objects as the last event has told of them, if all were of that event: a save tells of the same.
  final var recentlyInserted: Set<NSManagedObject>?
  /// The same for all updated and for all deleted objects, valid while `changeCount` is that of the set.
  final var recentlyUpdated: (set: Set<NSManagedObject>, changeCount: Int)?
  final var recentlyDeleted: (set: Set<NSManagedObject>, changeCount: Int)?
  /// How often an object has become updated or deleted or has stopped being so.
  @exclusivity(unchecked) final var changeCount = 0
  final var isProcessing = false
  /// Unchanged objects whose versions the next save checks.
  final var watched: [NSManagedObject] = []
  final var externalLinks: [ExternalLink] = []
  @exclusivity(unchecked) final var making: ObjectInTheMaking?
  /// What the last fetch has brought along for its results, which nobody else may hold.
  final var prefetched: [NSManagedObject] = []
  final var observers: [ObjectIdentifier: [ObjectObserver]] = [:]
  /// The results controllers that have fetched.
  final var results: [WeakResults] = []
  /// What went wrong under a getter, which can't throw: the next fetch or save does.
  final var deferredError: (any Error)?

  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    self.concurrencyType = concurrencyType
    queue =
      concurrencyType == .mainQueueConcurrencyType ? .main : ContextQueue(label: "cairn.context")
    super.init()
  }

  deinit {
    for scope in knownScopes + retired { scope.detach() }
    for list in observers.values { for observer in list { observer.finish() } }
  }

  public convenience init(_ type: ConcurrencyType) {
    self.init(
      concurrencyType: type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
  }

  /// The coordinator whose stores the context reads and saves to. May be set once.
  public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set {
      if newValue === coordinator { return }
      guard coordinator == nil, newValue != nil else {
        fatalError("Context already has a coordinator; cannot replace.")
      }
      coordinator = newValue
      if let newValue { ModelsInUse.add(newValue.managedObjectModel) }
      openMailbox()
    }
  }

  /// Saves of others arrive as soon as there is a coordinator that they are made over.
  private final func openMailbox() {
    guard automaticallyMergesChangesFromParent, let coordinator else {
      mailbox?.close()
      mailbox = nil
      return
    }
    if mailbox == nil { mailbox = SaveMailbox(self, coordinator) }
  }

  // MARK: State

  public final var hasChanges: Bool { insertedCount > 0 || updatedCount > 0 || !deleted.isEmpty }

  /// Made anew each time: costs as many objects as there are.
  public final var insertedObjects: Set<NSManagedObject> { Set(inserted.lazy.compactMap(\.self)) }

  /// Made anew each time: costs as many objects as there are.
  public final var updatedObjects: Set<NSManagedObject> { Set(updated) }

  /// Saved objects that the next save deletes. Made anew each time.
  public final var deletedObjects: Set<NSManagedObject> { Set(deleted) }

  /// Every object that the context knows, made anew each time. An unchanged object that nobody else holds
  /// stays for a while, and is gone after a later save or `perform`.
  public final var registeredObjects: Set<NSManagedObject> {
    if !retainsRegisteredObjects { for scope in knownScopes { scope.collect(placeCount: .max) } }
    return insertedObjects.union(knownScopes.flatMap(\.saved))
  }

  /// The saved objects that have changes and aren't deleted.
  final var updated: [NSManagedObject] {
    updatedCount == updatedList.count ? updatedList : updatedList.filter(\.isUpdated)
  }

  // MARK: Inserting

  /// Inserts an object that was made without a context, or was deleted and not saved since. Of an object that
  /// is in this context already it is a no-op; of one in another, a programmer error.
  open func insert(_ object: NSManagedObject) {
    if object.table.context === self {
      if object.flags.contains(.isDeleted) { undelete(object) }
      return
    }
    guard object.flags.contains(.isDetached) else {
      fatalError("Illegal attempt to insert an object that is already registered with another context")
    }
    let table = table(for: object.entity)
    let old = object.table
    object.flags.remove(.isDetached)
    moveDraft(object, from: old, to: table)
    adopt(object)
  }

  /// Makes the store the one that a new object is saved to. Of an object that isn't new, or for a store that
  /// doesn't keep objects of its entity, a programmer error.
  open func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? NSManagedObject, object.table.context === self, object.isInserted else {
      fatalError("Can't assign an object to a store unless it is new: \(object)")
    }
    guard let scope = scopes.first(where: { $0.store === store }), serves(scope, object.table.entity.id)
    else {
      fatalError(
        "Can't assign an object to a store that does not contain the object's entity: \(object.table.entity.name)"
      )
    }
    move(object, to: scope)
    object.flags.insert(.isAssigned)
  }

  // MARK: Changes and saves; an override calls super

  /// Marks the object as deleted, after telling it by `prepareForDeletion`; the next save deletes its row. Its
  /// delete rules are applied when the event ends. A new object is only taken back. Of an object of another
  /// context it is a programmer error; of one that is deleted already, a no-op.
  open func delete(_ object: NSManagedObject) { deleteObject(object) }

  /// Ends the event: applies delete rules, and posts `NSManagedObjectContextObjectsDidChange` if anything has
  /// changed since the last time. `perform` does it at its end; a fetch and a save do it first. Costs what has
  /// changed.
  open func processPendingChanges() { processEvent() }

  /// Saves every unsaved change, or none.
  ///
  /// When it returns, the stores have the changes, new objects have their permanent IDs, and nothing is
  /// unsaved. Without changes it does nothing. Costs what has changed.
  ///
  /// Throws a validation error (1550 to 1690, or 1560 with several in `NSDetailedErrorsKey`); 133020 when a row
  /// has changed since the context read it, and 133021 when a uniqueness constraint would break, both with
  /// what the store has in `NSPersistentStoreSaveConflictsErrorKey`, unless `mergePolicy` decides; 133010 for
  /// a relationship between objects of different stores; 134030 when a store refuses the changes, with its
  /// `StoreError` as the underlying error; 134040 when another store has taken its part by then; 134070
  /// without a store. After any of them but 134040 the context has its changes still, and the store is as it was;
  /// after that one, so it is for the stores that haven't saved, and what the others have saved is told of.
  open func save() throws { try saveChanges() }

  /// Reads the object's row anew. With `mergeChanges` its unsaved changes stay, on top of the newest row;
  /// otherwise they are discarded, and the object becomes a fault. An inserted object has no row: it stays as
  /// it is.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refreshObject(object, mergeChanges: flag)
  }

  /// Unchanged objects become faults; changed ones keep their changes, on top of the newest row.
  open func refreshAllObjects() { refreshAll() }

  /// Forgets every unsaved change: new objects are gone, deleted ones are back, changed ones show their rows.
  open func rollback() { rollbackChanges() }

  /// Forgets every object and every change. Objects that somebody still holds belong to no context any more.
  open func reset() { forgetEverything() }

  /// Brings what another context over the same stores has saved into this one. Takes the notifications
  /// `NSManagedObjectContextDidSave` and `didSaveObjectIDsNotification`.
  ///
  /// New objects become known as faults; changed ones that this context has read are read anew, with its own
  /// unsaved changes on top; deleted ones that it knows are deleted here too, which its next save has nothing
  /// to do for. Posts `NSManagedObjectContextObjectsDidChange`, then
  /// `didMergeChangesObjectIDsNotification`. To be called on the context's queue. Costs what was saved.
  open func mergeChanges(fromContextDidSave notification: Notification) { mergeSave(notification) }

  /// Called when an object turns out to have no row, before `shouldDeleteInaccessibleFaults` is looked at.
  /// Returns whether the object is to be treated as deleted, with all its values nil.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }
}

// MARK: - What objects ask of their context

extension NSManagedObjectContext {
  /// The coordinator's model. A context without a coordinator, and a model with faults, are programmer errors.
  final var compiledModel: CompiledModel {
    if let compiled { return compiled }
    guard let coordinator else {
      fatalError("the context has no persistentStoreCoordinator, and so no model: set one first")
    }
    do {
      let model = try coordinator.managedObjectModel.compiled()
      compiled = model
      return model
    } catch {
      fatalError("\(error)")
    }
  }

  /// Where a new object of the entity begins.
  final func table(for entity: NSEntityDescription) -> EntityTable {
    if let known = lastTable(of: entity) { return known }
    let id = compiledEntity(entity).id
    let table = scope(forNew: id).table(id)
    lastTable = knownScopes.count == 1 ? (Unmanaged.passUnretained(entity).toOpaque(), table) : nil
    return table
  }

  final func compiledEntity(_ entity: NSEntityDescription) -> CompiledEntity {
    let model = compiledModel
    let index = entity.compiledIndex
    guard model.entities.indices.contains(index), model.entities[index].description === entity else {
      fatalError("the entity \"\(entity.name ?? "")\" isn't in the model of this context's coordinator")
    }
    return model.entities[index]
  }

  /// The one entity whose objects are of `type`; nil when there isn't exactly one.
  final func entity(for type: NSManagedObject.Type) -> NSEntityDescription? {
    if let lastClass, lastClass.type == ObjectIdentifier(type) { return lastClass.entity }
    let found = entitiesByClass[ObjectIdentifier(type)] ?? compiledModel.entity(for: type)?.description
    entitiesByClass[ObjectIdentifier(type)] = found
    lastClass = found.map { (ObjectIdentifier(type), $0) }
    return found
  }

  final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
    table(for: entity).objectClass
  }

  /// Asked by the initialiser of objects: the row that the instance in the making is for.
  @inline(__always)
  final func takeFetchedRow(of entity: NSEntityDescription) -> ObjectInTheMaking? {
    let address = Unmanaged.passUnretained(entity).toOpaque()
    guard let making, making.table._withUnsafeGuaranteedRef({ $0.entityAddress == address }) else {
      return nil
    }
    self.making = nil
    return making
  }

  // MARK: New objects

  /// Makes a new draft an inserted object.
  final func adopt(_ object: NSManagedObject) {
    inserted.append(object)
    insertedCount += 1
    object.key = -(temporaryBase + Int64(inserted.count))
    object.flags.insert(.inEvent)
    if object.flags.insert(.didAwakeFromInsert).inserted { object.awakeFromInsert() }
  }

  /// Takes a new object back. It keeps its values until the next save.
  final func uninsert(_ object: NSManagedObject) {
    let index = insertedIndex(ofTemporaryKey: object.key)
    guard inserted.indices.contains(index), inserted[index] === object else { return }
    inserted[index] = nil
    insertedCount -= 1
    recentlyInserted = nil
    withdrawn.append(object)
  }

  /// Puts a new object that was taken back into its place again.
  final func reinsert(_ object: NSManagedObject) {
    withdrawn.removeAll { $0 === object }
    inserted[insertedIndex(ofTemporaryKey: object.key)] = object
    insertedCount += 1
  }

  final func insertedObject(temporaryKey key: Int64) -> NSManagedObject? {
    let index = insertedIndex(ofTemporaryKey: key)
    return inserted.indices.contains(index) ? inserted[index] : nil
  }

  /// Where a temporary key stands in `inserted`.
  final func insertedIndex(ofTemporaryKey key: Int64) -> Int { Int(-key - temporaryBase - 1) }

  /// Moves an unsaved object's values to another store's table.
  final func move(_ object: NSManagedObject, to scope: StoreScope) {
    if object.table.scope === scope { return }
    moveDraft(object, from: object.table, to: scope.table(object.table.entity.id))
  }

  private final func moveDraft(_ object: NSManagedObject, from old: EntityTable, to table: EntityTable) {
    if let key = object.reservedKey {
      // A key of the old store says nothing to the new one.
      old.scope?.giveBack(key, root: old.root)
      object.reservedKey = nil
    }
    let oldRow = Int(object.row)
    object.row = Int32(table.addDraft())
    object.table = table
    object.knownID = nil
    for slot in old.entity.slotTypes.indices { object.writeSlot(slot, old.draftValue(slot, oldRow)) }
  }

  /// Gives a saved draft its permanent key.
  final func promote(_ object: NSManagedObject, to key: Int64) {
    object.key = key
    if object.knownID?.isTemporaryID ?? false { object.knownID = nil }
    object.table.scope?.add(object)
  }

  /// Ends the life of all drafts and changes: the save has written them, or they are given up.
  final func forgetPending() {
    changeCount += 1
    for object in withdrawn { kill(object) }
    temporaryBase += Int64(inserted.count)
    inserted = []
    insertedCount = 0
    event.firstInserted = 0
    updatedList.forEachUncounted { $0.flags.remove([.isListed, .inEvent]) }
    updatedList = []
    updatedCount = 0
    deleted = []
    withdrawn = []
    externalLinks = []
    watched = []
    for scope in knownScopes {
      scope.clearDrafts()
      scope.forgetReserved()
    }
  }

  /// Makes an object one that no context knows: its values are those that it has read, or nil.
  final func kill(_ object: NSManagedObject) {
    let table = object.table
    if object.flags.contains(.isDraft) || object.chunk == nil {
      (object.chunk, object.row) = (table.emptyRow(key: object.key), 0)
    }
    _ = object.objectID
    object.changes = nil
    object.table = table.afterlife
    object.flags = .isDead
  }

  // MARK: Letting go

  /// Looks at more objects than there are new ones, so that a long import doesn't keep what it has saved.
  final func collectInstalment(afterInserting count: Int = 0) {
    prefetched = []
    if retainsRegisteredObjects { return }
    for scope in knownScopes { scope.collect(placeCount: 128 + 2 * count) }
  }
}
