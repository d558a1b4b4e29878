// Questions to the store, and looking up objects by their IDs.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  // MARK: By ID

  /// The object if the context knows it.
  public final func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    guard belongsHere(objectID) else { return nil }
    return knownObject(objectID.key, root: objectID.root)
  }

  /// The object, as a fault if the context doesn't know it. Whether its row exists is found out when a property
  /// is read; without a row, all properties are nil or 0. An ID of another store or context is a programmer
  /// error.
  public final func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    if let known = registeredObject(for: objectID) { return known }
    guard belongsHere(objectID), !objectID.isTemporaryID else {
      fatalError("\(objectID) names no object of this context or its store")
    }
    return object(key: objectID.key, in: table(for: objectID.entity).entity.id)
  }

  /// The object with its row loaded. Throws 133000 when there is none, and the store's errors.
  public final func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    if let known = registeredObject(for: objectID) {
      known.fire()
      try throwDeferredError()
      if !known.flags.contains(.isInaccessible) { return known }
    } else if belongsHere(objectID), !objectID.isTemporaryID {
      let entity = table(for: objectID.entity).entity.id
      if let object = register(try rows([RowKey(entity: entity, id: objectID.key)])).first {
        object.fire()
        return object
      }
    }
    throw NSError.coreData(
      NSManagedObjectReferentialIntegrityError, "there is no object with this ID in the store",
      ["objectID": objectID])
  }

  private final func belongsHere(_ id: NSManagedObjectID) -> Bool {
    if id.isTemporaryID { return id.origin == identity }
    return coordinator?.persistentStores.contains { $0.uuid == id.origin } ?? false
  }

  // MARK: The store

  /// The coordinator's store. Throws 134070 when there is none.
  final func requireStore() throws -> any PersistentStore {
    guard let coordinator else {
      throw NSError.coreData(
        NSPersistentStoreOperationError, "the context has no persistentStoreCoordinator: set one first")
    }
    guard let store = coordinator.persistentStores.first else {
      throw NSError.coreData(
        NSPersistentStoreOperationError,
        "This NSPersistentStoreCoordinator has no persistent stores: add one before fetching or saving")
    }
    return store.store
  }

  /// Rows of the newest generation, checked.
  final func rows(_ keys: [RowKey]) throws -> RowBatch {
    let store = try requireStore()
    return try checked(store.rows(keys, in: store.snapshot()))
  }

  final func checked(_ batch: RowBatch) throws -> RowBatch {
    for chunk in batch.chunks {
      guard compiledModel.entities.indices.contains(chunk.entity.index) else {
        throw StoreError(.corrupt, "the store handed out rows of entity number \(chunk.entity.index)")
      }
      try table(chunk.entity).check(chunk)
    }
    return batch
  }

  final func row(_ key: RowKey) -> FetchedRow? {
    keepingError { try rows([key]) }.flatMap { batch in
      if batch.count == 0 { return nil }
      let chunk = batch.chunk(0)
      return FetchedRow(
        table: table(chunk.entity), chunk: chunk, row: batch.row(0), key: chunk.key(batch.row(0)))
    }
  }

  final func loadRow(of object: NSManagedObject) -> (chunk: Chunk, row: Int)? {
    guard let found = row(RowKey(entity: object.table.entity.id, id: object.key)),
      found.table === object.table,
      let chunk = found.chunk
    else { return nil }
    return (chunk, found.row)
  }

  /// The stored destinations of a relationship.
  final func storedKeys(of relation: Relation, from source: RowKey) -> ArraySlice<RowKey> {
    keepingError {
      let store = try requireStore()
      return try store.related([source], through: relation.id, in: store.snapshot())[0]
    } ?? []
  }

  /// Does work under a getter: an error is kept for the next fetch or save.
  private final func keepingError<T>(_ work: () throws -> T) -> T? {
    do {
      return try work()
    } catch {
      deferredError = deferredError ?? error
      return nil
    }
  }

  final func throwDeferredError() throws {
    guard let error = deferredError else { return }
    deferredError = nil
    throw error
  }
}
