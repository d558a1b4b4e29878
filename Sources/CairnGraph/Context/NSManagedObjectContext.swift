// A context: the objects that one piece of work sees and changes, and the changes that it hasn't saved yet.
//
// Always holds: `inserted` has the unsaved new objects in the order of their temporary keys, `updated` each saved
// object that `isUpdated`; every other object that the context knows is in `maps` under its key, and so are the
// updated ones. The schema's root entity of an object is the number of its map.

import CairnModel
public import Foundation

/// The older spelling of a context's kind. Raw values are Core Data's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

/// A graph of objects over a coordinator's store.
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
  public final var name: String?
  /// Who history says has made the commits. Stays until it is set again.
  public final var transactionAuthor: String?

  final var coordinator: NSPersistentStoreCoordinator?
  final var compiled: CompiledModel?
  /// By entity, made when first used.
  private final var tables: [EntityTable?] = []
  private final var maps: [IdentityMap] = []
  private final var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
  private final var registeredAfterSweep = 0
  final var inserted: [NSManagedObject] = []
  /// The temporary key of `inserted[i]` is -(temporaryBase + i + 1).
  private final var temporaryBase: Int64 = 0
  final var updated: [NSManagedObject] = []
  private final var fetchedRow: FetchedRow?
  /// What went wrong under a getter, which can't throw: the next fetch or save does.
  final var deferredError: (any Error)?

  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    self.concurrencyType = concurrencyType
    queue =
      concurrencyType == .mainQueueConcurrencyType ? .main : ContextQueue(label: "cairn.context")
    super.init()
  }

  deinit {
    for table in tables { table?.detach() }
  }

  public convenience init(_ type: ConcurrencyType) {
    self.init(
      concurrencyType: type == .mainQueue ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
  }

  /// The coordinator whose store the context reads and saves to. May be set once.
  public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set {
      if newValue === coordinator { return }
      guard coordinator == nil, newValue != nil else {
        fatalError("Context already has a coordinator; cannot replace.")
      }
      coordinator = newValue
    }
  }

  // MARK: State

  public final var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty }

  /// Made anew each time: costs as many objects as there are.
  public final var insertedObjects: Set<NSManagedObject> { Set(inserted) }

  /// Made anew each time: costs as many objects as there are.
  public final var updatedObjects: Set<NSManagedObject> { Set(updated) }

  /// Every object that the context knows, made anew each time. An unchanged object that nobody else holds
  /// stays for a while, and is gone after a later save or `perform`.
  public final var registeredObjects: Set<NSManagedObject> {
    collect(pageCount: .max)
    return Set(inserted + maps.flatMap(\.all))
  }

  // MARK: Inserting and refreshing

  /// Inserts an object that was made without a context. Of an object that is in this context already it is
  /// a no-op; of one in another, a programmer error.
  open func insert(_ object: NSManagedObject) {
    if object.table.context === self { return }
    guard object.flags.contains(.isDetached) else {
      fatalError("Illegal attempt to insert an object that is already registered with another context")
    }
    let table = table(for: object.entity)
    let old = object.table
    let oldRow = Int(object.row)
    object.row = Int32(table.addDraft())
    object.table = table
    object.flags.remove(.isDetached)
    object.knownID = nil
    for slot in old.entity.slotTypes.indices { object.writeSlot(slot, old.draftValue(slot, oldRow)) }
    adopt(object)
  }

  /// Reads the object's row anew. With `mergeChanges` its unsaved changes stay, on top of the new row;
  /// otherwise they are discarded, and the object becomes a fault. An inserted object has no row: it stays as
  /// it is.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    precondition(object.table.context === self, "the object to refresh belongs to another context")
    if object.flags.contains(.isDraft) { return }
    if flag {
      object.loadRow()
      return object.fire()
    }
    if object.isUpdated {
      object.revertRelationships()
      object.changes?.values = [:]
      if object.changes?.links.isEmpty ?? true {
        updated.removeAll { $0 === object }
        object.flags.remove(.isUpdated)
      }
    }
    object.changes?.transients = [:]
    object.chunk = nil
    object.flags.remove(.hasOverlay)
    object.flags.insert(.isFault)
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
      tables = model.entities.map { _ in nil }
      maps = model.entities.map { _ in IdentityMap() }
      return model
    } catch {
      fatalError("\(error)")
    }
  }

  final func table(for entity: NSEntityDescription) -> EntityTable {
    let model = compiledModel
    let index = entity.compiledIndex
    guard model.entities.indices.contains(index), model.entities[index].description === entity else {
      fatalError("the entity \"\(entity.name ?? "")\" isn't in the model of this context's coordinator")
    }
    return table(model.entities[index].id)
  }

  final func table(_ id: EntityID) -> EntityTable {
    let model = compiledModel
    if let table = tables[id.index] { return table }
    let made = EntityTable(model[id], model, self)
    tables[id.index] = made
    return made
  }

  /// The one entity whose objects are of `type`; nil when there isn't exactly one.
  final func entity(for type: NSManagedObject.Type) -> NSEntityDescription? {
    if let known = entitiesByClass[ObjectIdentifier(type)] { return known }
    let found = compiledModel.entity(for: type)?.description
    entitiesByClass[ObjectIdentifier(type)] = found
    return found
  }

  final func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
    table(for: entity).objectClass
  }

  /// Makes a new draft an inserted object.
  final func adopt(_ object: NSManagedObject) {
    inserted.append(object)
    object.key = -(temporaryBase + Int64(inserted.count))
    if object.flags.insert(.didAwakeFromInsert).inserted { object.awakeFromInsert() }
  }

  final func noteUpdate(of object: NSManagedObject) {
    updated.append(object)
  }

  // MARK: Looking up

  /// The object with that key if the context knows it.
  final func knownObject(_ key: Int64, root: EntityID) -> NSManagedObject? {
    if key > 0 { return maps.isEmpty ? nil : maps[root.index].object(key) }
    let index = -key - temporaryBase - 1
    return index >= 0 && index < Int64(inserted.count) ? inserted[Int(index)] : nil
  }

  /// The object with that key, as a fault if it isn't known. Its row is only looked for where `entity` has
  /// children, to learn which of them it is; a key without a row becomes a fault of `entity`.
  final func object(key: Int64, in entity: EntityID) -> NSManagedObject {
    let described = compiledModel[entity].schema
    if let known = knownObject(key, root: described.root) { return known }
    if described.concreteFamily.count > 1, let found = row(RowKey(entity: entity, id: key)) {
      return register(found)
    }
    let concrete = described.concreteFamily.first ?? entity
    return register(FetchedRow(table: table(concrete), chunk: nil, row: 0, key: key))
  }

  final func objects(keys: [Int64], in entity: EntityID) -> [NSManagedObject] {
    let described = compiledModel[entity].schema
    guard described.concreteFamily.count > 1 else { return keys.map { object(key: $0, in: entity) } }
    let unknown = keys.filter { knownObject($0, root: described.root) == nil }
    if !unknown.isEmpty, let batch = try? rows(unknown.map { RowKey(entity: entity, id: $0) }) {
      let held = register(batch)
      return withExtendedLifetime(held) { keys.map { object(key: $0, in: entity) } }
    }
    return keys.map { object(key: $0, in: entity) }
  }

  // MARK: Registering rows

  /// The objects of rows: those that are known, unchanged by it unless they are faults, or new ones.
  ///
  /// The rows' chunks have been checked (`EntityTable.check`).
  final func register(_ batch: RowBatch) -> [NSManagedObject] {
    let model = compiledModel
    let tables = batch.chunks.map { table($0.entity) }
    var result: [NSManagedObject] = []
    result.reserveCapacity(batch.count)
    for place in batch.places {
      let chunk = batch.chunks[Int(place.chunk)]
      let table = tables[Int(place.chunk)]
      let row = Int(place.row)
      let key = chunk.key(row)
      if let known = maps[model[chunk.entity].schema.root.index].object(key) {
        if known.flags == .isFault, known.table === table { (known.chunk, known.row) = (chunk, Int32(row)) }
        result.append(known)
      } else {
        result.append(register(FetchedRow(table: table, chunk: chunk, row: row, key: key)))
      }
    }
    collectIfDoubled()
    return result
  }

  /// A new object for a row that has none yet.
  final func register(_ row: FetchedRow) -> NSManagedObject {
    fetchedRow = row
    let object = row.table.objectClass.init(entity: row.table.entity.description, insertInto: self)
    fetchedRow = nil
    maps[row.table.entity.schema.root.index].insert(object, row.key)
    return object
  }

  /// Asked by the initialiser of objects: the row that the instance in the making is for.
  final func takeFetchedRow(of entity: NSEntityDescription) -> FetchedRow? {
    guard let row = fetchedRow, row.table.entity.description === entity else { return nil }
    fetchedRow = nil
    return row
  }

  /// Gives a saved draft its permanent key.
  final func promote(_ object: NSManagedObject, to key: Int64) {
    object.key = key
    object.knownID = nil
    maps[object.table.entity.schema.root.index].insert(object, key)
  }

  /// Ends the life of all drafts and changes: the save has written them.
  final func forgetPending() {
    temporaryBase += Int64(inserted.count)
    inserted = []
    updated = []
    for table in tables { table?.clearDrafts() }
  }

  // MARK: Letting go

  /// Lets go of unchanged objects that only the context holds, looking at some pages of each map.
  final func collect(pageCount: Int) {
    var freed: [NSManagedObject] = []
    for index in maps.indices where maps[index].count > 0 {
      freed += maps[index].collect(pageCount: pageCount)
    }
    freed.removeAll()
  }

  final func collectInstalment() { collect(pageCount: 2) }

  private final func collectIfDoubled() {
    let count = maps.reduce(0) { $0 + $1.count }
    if count < 2 * registeredAfterSweep + 2_048 { return }
    collect(pageCount: .max)
    registeredAfterSweep = maps.reduce(0) { $0 + $1.count }
  }
}

/// A row for which an object is being made; without a chunk, a fault whose row hasn't been looked for.
struct FetchedRow {
  let table: EntityTable
  let chunk: Chunk?
  let row: Int
  let key: Int64
}
