// Moving a store to another type or place.

import CairnModel
public import Foundation

extension NSPersistentStoreCoordinator {
  /// Copies everything that a store has into a new store, which then stands in its place, and returns that. What
  /// the old one was kept in stays as it is.
  ///
  /// The new store has a UUID of its own, and its objects have new IDs; relationships, the order of ordered ones
  /// and the user's metadata are kept, history isn't. Contexts lose the objects of the old store. Observers are
  /// told that a store was added, that the old one is about to go, what became of each ID
  /// (`NSUUIDChangedPersistentStoresKey`), once more that it is about to go, and that it was removed.
  ///
  /// Throws as `addPersistentStore`, and 134110 when the rows can't be copied; the old store is untouched then,
  /// and what was made of the new one is removed. Costs one pass over the store, and memory for its keys.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
    type storeType: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
  }

  /// As `migratePersistentStore(_:to:options:type:)`.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    try requireOwn(store)
    try requireUnused(URL)
    let new = try open(storeType, store.configurationName, URL, options)
    let moved: [StoreCopier.Moved]
    do {
      moved = try copyRows(from: store, to: new)
    } catch {
      try? new.store.close()
      try? destroyPersistentStore(at: URL, ofType: storeType)
      throw NSError.coreData(
        NSMigrationError, "the store couldn't be moved to \(URL.path): \(error)",
        [NSUnderlyingErrorKey: error])
    }
    change { $0.append(new) }
    new.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [new]])
    postWillRemove(store)
    let changed: [Any] = [store, new, try idPairs(moved, store, new)]
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSUUIDChangedPersistentStoresKey: changed])
    postWillRemove(store)
    try takeAway(store)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
    return new
  }

  private final func copyRows(
    from store: NSPersistentStore, to new: NSPersistentStore
  ) throws -> [StoreCopier.Moved] {
    let entities = servedEntities(store.configurationName, try compiledModel()) ?? []
    var copier = try StoreCopier(from: store.store, to: new.store, entities)
    try copier.copy()
    if let atomic = new as? NSAtomicStore { try adoptRows(atomic) }
    if new.keepsOwnMetadata || store.keepsOwnMetadata {
      var entries: [String: Any] = store.metadata ?? [:]
      entries[NSStoreUUIDKey] = nil
      entries[NSStoreTypeKey] = nil
      new.metadata = entries
    } else {
      new.store.metadata.userEntries = store.store.metadata.userEntries
    }
    return copier.moved
  }

  /// Has a custom store make nodes of the rows that were copied into its tables. It sees objects of its own
  /// alone, in a coordinator that has no other store.
  private final func adoptRows(_ store: NSAtomicStore) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    coordinator.change { $0.append(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try store.adoptRows(context) }
  }

  /// Each old ID followed by the new one.
  private final func idPairs(
    _ moved: [StoreCopier.Moved], _ old: NSPersistentStore, _ new: NSPersistentStore
  ) throws -> [NSManagedObjectID] {
    let model = try compiledModel()
    var result: [NSManagedObjectID] = []
    for batch in moved {
      let entity = model[batch.entity]
      for (before, after) in zip(batch.old, batch.new) {
        result.append(NSManagedObjectID(key: before, entity: entity, store: old, origin: old.uuid))
        result.append(NSManagedObjectID(key: after, entity: entity, store: new, origin: new.uuid))
      }
    }
    return result
  }
}
