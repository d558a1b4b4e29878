// Questions to the stores, and looking up objects by their IDs.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  // MARK: By ID

  /// The object if the context knows it.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    if objectID.isTemporaryID {
      return objectID.origin == identity ? insertedObject(temporaryKey: objectID.key) : nil
    }
    if let firstScope, firstScope._withUnsafeGuaranteedRef({ $0.storeUUID == objectID.origin }) {
      return firstScope._withUnsafeGuaranteedRef { $0.savedObject(objectID.key, root: objectID.root) }
    }
    return scope(origin: objectID.origin)?.savedObject(objectID.key, root: objectID.root)
  }

  /// The object, as a fault if the context doesn't know it. Whether its row exists is found out when a property
  /// is read; without a row, all properties are nil or 0. An ID of another store or context is a programmer
  /// error.
  public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    if let known = registeredObject(for: objectID) { return known }
    guard !objectID.isTemporaryID, let scope = scope(origin: objectID.origin) else {
      fatalError("\(objectID) names no object of this context or its stores")
    }
    return scope.unknownObject(key: objectID.key, in: table(objectID, scope))
  }

  /// The table of the ID's entity. An ID of another model is a programmer error.
  private final func table(_ objectID: NSManagedObjectID, _ scope: StoreScope) -> EntityTable {
    let compiled = objectID.space.compiled
    if compiled.id.index < scope.model.entities.count {
      let table = scope.table(compiled.id)
      if table.entity === compiled { return table }
    }
    return scope.table(compiledEntity(objectID.entity).id)
  }

  /// The object with its row loaded. Throws 133000 when there is none, and the store's errors.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    if let known = registeredObject(for: objectID) {
      if known.isFault, known.chunk == nil { known.loadRow() }
      try throwDeferredError()
      if !known.flags.contains(.isInaccessible) {
        known.fire()
        return known
      }
      known.chunk = nil
    } else if !objectID.isTemporaryID, let scope = scope(origin: objectID.origin) {
      let entity = compiledEntity(objectID.entity).id
      if let found = try newestRow(RowKey(entity: entity, id: objectID.key), in: scope) {
        let object = scope.register(found)
        object.fire()
        return object
      }
    }
    throw NSError.coreData(
      NSManagedObjectReferentialIntegrityError, "there is no object with this ID in the store",
      ["objectID": objectID])
  }

  /// Gives new objects the IDs that they will have when they are saved. They stay inserted. Throws 134030 when
  /// a store gives no keys; objects of other contexts are a programmer error.
  public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    let new = objects.filter { $0.isInserted && $0.reservedKey == nil }
    let scopes = try requireStores()
    for scope in scopes {
      let here = new.filter { $0.table.scope === scope }
      guard let store = scope.store, !here.isEmpty else { continue }
      let keys = try preparing("the store didn't give keys for new objects") {
        try store.permanentKeys(for: here)
      }
      for (object, key) in zip(here, keys) {
        object.reservedKey = key
        object.knownID = nil
        scope.reserve(object, key)
      }
    }
  }

  /// Work that a save depends on. Throws 134030 with what `failure` says.
  final func preparing<T>(_ failure: String, _ work: () throws -> T) throws -> T {
    do {
      return try work()
    } catch {
      throw NSError.coreData(
        NSPersistentStoreSaveError, "\(failure): \(error)", [NSUnderlyingErrorKey: error])
    }
  }

  /// Has the next save check that the object's row hasn't changed since it was read, though it isn't changed
  /// itself.
  public final func detectConflicts(for object: NSManagedObject) {
    guard object.table.context === self, !object.flags.contains(.isDraft) else { return }
    object.fire()
    watched.append(object)
  }

  // MARK: The stores

  /// The scopes of the coordinator's stores. Throws 134070 when there are none.
  final func requireStores() throws -> [StoreScope] {
    guard coordinator != nil else {
      throw NSError.coreData(
        NSPersistentStoreOperationError, "the context has no persistentStoreCoordinator: set one first")
    }
    let scopes = scopes
    guard scopes[0].store != nil else {
      throw NSError.coreData(
        NSPersistentStoreOperationError,
        "This NSPersistentStoreCoordinator has no persistent stores: add one before fetching or saving")
    }
    return scopes
  }

  /// Rows of the newest generation, checked.
  final func rows(_ keys: [RowKey], in scope: StoreScope) throws -> RowBatch {
    guard let store = scope.store?.store else {
      throw StoreError(.storeClosed, "the store was removed from its coordinator")
    }
    return try checked(store.rows(keys, in: store.snapshot()), in: scope)
  }

  final func checked(_ batch: RowBatch, in scope: StoreScope) throws -> RowBatch {
    for chunk in batch.chunks {
      guard compiledModel.entities.indices.contains(chunk.entity.index) else {
        throw StoreError(.corrupt, "the store handed out rows of entity number \(chunk.entity.index)")
      }
      try scope.table(chunk.entity).check(chunk)
    }
    return batch
  }

  final func row(_ key: RowKey, in scope: StoreScope) -> FetchedRow? {
    keepingError { try newestRow(key, in: scope) }
  }

  final func newestRow(_ key: RowKey, in scope: StoreScope) throws -> FetchedRow? {
    guard let store = scope.singleRows else {
      let batch = try rows([key], in: scope)
      return batch.count == 0 ? nil : fetched(batch.chunk(0), batch.row(0), scope)
    }
    // This package's own stores, which have the model's columns.
    guard let found = try store.newestRow(key) else { return nil }
    return fetched(found.chunk, found.row, scope)
  }

  private final func fetched(_ chunk: Chunk, _ row: Int, _ scope: StoreScope) -> FetchedRow {
    FetchedRow(table: scope.table(chunk.entity), chunk: chunk, row: row, key: chunk.key(row))
  }

  /// nil where there is no such row.
  final func loadRow(of object: NSManagedObject) throws -> (chunk: Chunk, row: Int)? {
    guard let scope = object.table.scope else { return nil }
    let key = RowKey(entity: object.table.entity.id, id: object.key)
    if let store = scope.singleRows {
      return try store.newestRow(key).flatMap { $0.chunk.entity == key.entity ? $0 : nil }
    }
    guard let found = try newestRow(key, in: scope), found.table === object.table,
      let chunk = found.chunk
    else { return nil }
    return (chunk, found.row)
  }

  /// The stored destinations of a relationship.
  final func storedKeys(of relation: Relation, from source: RowKey, in scope: StoreScope) -> ArraySlice<
    RowKey
  > {
    keepingError { () throws -> ArraySlice<RowKey>? in
      guard let store = scope.store?.store else { return [] }
      return try store.related([source], through: relation.id, in: store.snapshot())[0]
    } ?? []
  }

  /// Does work under a getter: an error is kept for the next fetch or save.
  private final func keepingError<T>(_ work: () throws -> T?) -> T? {
    do {
      return try work()
    } catch {
      keep(error)
      return nil
    }
  }

  /// Throws what went wrong where nothing could be thrown, if anything did since the last time.
  package final func throwDeferredError() throws {
    guard let error = deferredError else { return }
    deferredError = nil
    throw error
  }
}

extension NSManagedObject {
  final var reservedKey: Int64? {
    get { changes?.reservedKey }
    set { ensureChanges().reservedKey = newValue }
  }
}
