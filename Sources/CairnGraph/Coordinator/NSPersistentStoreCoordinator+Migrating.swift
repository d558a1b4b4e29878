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
  /// Throws as `addPersistentStore`; 134070 for a store that isn't the coordinator's or is being removed; 516 when
  /// there is something at `storeURL` already; and 134110 when the rows can't be copied: the old store is untouched
  /// then, and what was made of the new one is removed. Only what the old store throws as it is closed comes after
  /// the move: the new one stands in its place then. Costs one pass over the store, and memory for its keys.
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
    try claimRemoval(store)
    let copy: (store: NSPersistentStore, ids: [NSManagedObjectID])
    do {
      copy = try claiming(URL) {
        let copy = try makeCopy(of: store, at: URL, storeType, options)
        change { $0.append(copy.store) }
        return copy
      }
    } catch {
      releaseRemoval(store)
      throw error
    }
    copy.store.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [copy.store]])
    postWillRemove(store)
    let changed: [Any] = [store, copy.store, copy.ids]
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSUUIDChangedPersistentStoresKey: changed])
    postWillRemove(store)
    try takeAway(store)
    return copy.store
  }

  /// A new store with everything that `store` has, and each old ID followed by the new one. Where it fails, what
  /// it made at the URL is removed, and nothing else: there was nothing there.
  private final func makeCopy(
    of store: NSPersistentStore, at url: URL, _ type: String, _ options: [AnyHashable: Any]?
  ) throws -> (store: NSPersistentStore, ids: [NSManagedObjectID]) {
    try requireNothing(at: url, type)
    let new = try open(type, store.configurationName, url, options)
    do {
      return (new, try idPairs(try copyRows(from: store, to: new), store, new))
    } catch {
      try? close(new)
      // One in memory goes with its last holder.
      if !MemoryStores.isMemory(url) { try? destroyPersistentStore(at: url, ofType: type) }
      throw NSError.coreData(
        NSMigrationError, "the store couldn't be moved to \(url.path): \(error)",
        [NSUnderlyingErrorKey: error])
    }
  }

  /// Throws 516 when a store of the type would find something at the URL.
  private final func requireNothing(at url: URL, _ type: String) throws {
    let isFree =
      if MemoryStores.isMemory(url) {
        !MemoryStores.isOpen(url)
      } else {
        switch try StoreRegistry.kind(for: type) {
        case .factory(let factory):
          factory.files.map { !isFile(url) && (try? $0.metadata(url)) == nil } ?? true
        case .custom(let type):
          !isFile(url) && (try? type.metadataForPersistentStore(with: url)) == nil
        }
      }
    if isFree { return }
    throw NSError.coreData(
      CocoaError.Code.fileWriteFileExists.rawValue,
      "there is something at \(url.path) already: destroy or remove it first, or move the store elsewhere",
      [NSFilePathErrorKey: url.path])
  }

  /// Whether there is a file, a directory or a link of that name, whatever it leads to.
  private final func isFile(_ url: URL) -> Bool {
    url.isFileURL && (try? FileManager.default.attributesOfItem(atPath: url.path)) != nil
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
