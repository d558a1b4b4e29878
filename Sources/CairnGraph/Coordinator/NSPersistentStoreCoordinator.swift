// The coordinator: between the contexts of a model and its stores. What is done with the list of stores stands
// here; the rest by aspect in NSPersistentStoreCoordinator+….swift.

import CairnModel
public import Foundation

/// The name of the configuration of all entities.
public let PF_DEFAULT_CONFIGURATION_NAME = "PF_DEFAULT_CONFIGURATION_NAME"

/// Opens the stores that the contexts of one model share.
///
/// Each store serves the entities of one configuration of the model. A new object goes to the first store that
/// serves its entity.
///
/// Sendable: the list of stores and the name stand behind locks, everything else is constant.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  struct Stores {
    var list: [NSPersistentStore] = []
    /// By the index of the entity; empty without stores.
    var serving: [[NSPersistentStore]] = []
    var generation = 0
  }

  public final let managedObjectModel: NSManagedObjectModel
  private final let stores = Lock(Stores())
  /// Held while a store is opened or taken away, so that one place isn't opened twice.
  private final let opening = NSRecursiveLock()
  private final let givenName = Lock<String?>(nil)
  final let queue = ContextQueue(label: "cairn.coordinator")
  final let legacyLock = NSRecursiveLock()

  /// Freezes the model. Its faults, if it has any, are thrown when a store is added.
  public init(managedObjectModel model: NSManagedObjectModel) {
    managedObjectModel = model
    model.freeze()
  }

  /// For people who debug.
  public final var name: String? {
    get { givenName.withLock { $0 } }
    set { givenName.withLock { $0 = newValue } }
  }

  /// In the order in which they were added.
  public final var persistentStores: [NSPersistentStore] { stores.withLock { $0.list } }

  /// Rises whenever a store is added or removed.
  final var storesGeneration: Int { stores.withLock { $0.generation } }

  /// The stores that serve an entity, in the order in which they were added.
  final func stores(for entity: EntityID) -> [NSPersistentStore] {
    stores.withLock { entity.index < $0.serving.count ? $0.serving[entity.index] : [] }
  }

  // MARK: Adding

  /// Opens a store, or makes it where there is none, for the entities of a configuration (nil for all).
  ///
  /// Throws 134000 for a type that there is no store of, naming those that there are; 134010 when what is at the
  /// URL is of another type; 134020 for a model with faults, telling all of them, with the `SchemaError` as the
  /// underlying error, and for one that the store can't keep; 134080 for a configuration that the model doesn't
  /// have, for a URL that is open in this coordinator already, and when the store can't be opened for any other
  /// reason; 260 for a file that is to be read only and isn't there. Nothing is added then.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    opening.lock()
    let opened = Result {
      try requireUnused(storeURL)
      return try open(storeType, configuration, storeURL, options)
    }
    guard case .success(let store) = opened else {
      opening.unlock()
      return try opened.get()
    }
    post(.NSPersistentStoreCoordinatorStoresWillChange, [NSAddedPersistentStoresKey: [store]])
    change { $0.append(store) }
    opening.unlock()
    store.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// As `addPersistentStore(ofType:configurationName:at:options:)`.
  @discardableResult
  public final func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  // MARK: Removing

  /// Closes the store. Objects that were read from it keep what they have read; what they haven't is nil or 0.
  /// Throws 134070 for a store of another coordinator.
  open func remove(_ store: NSPersistentStore) throws {
    try requireOwn(store)
    post(.NSPersistentStoreCoordinatorStoresWillChange, [NSRemovedPersistentStoresKey: [store]])
    postWillRemove(store)
    try takeAway(store)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
  }

  /// Takes a store off the list and closes it, without a word.
  final func takeAway(_ store: NSPersistentStore) throws {
    store.willRemove(from: self)
    change { list in list.removeAll { $0 === store } }
    if let url = store.url, MemoryStores.isShared(url) { return }
    try store.store.close()
  }

  final func requireOwn(_ store: NSPersistentStore) throws {
    guard persistentStores.contains(where: { $0 === store }) else {
      throw NSError.coreData(NSPersistentStoreOperationError, "the store isn't one of this coordinator's")
    }
  }

  /// Changes the list, and what follows from it.
  final func change(_ body: (inout [NSPersistentStore]) -> Void) {
    let model = try? managedObjectModel.compiled()
    stores.withLock { stores in
      body(&stores.list)
      stores.generation += 1
      stores.serving = []
      guard let model, !stores.list.isEmpty else { return }
      let served = stores.list.map { Set(servedEntities($0.configurationName, model) ?? []) }
      stores.serving = model.entities.map { entity in
        zip(stores.list, served).filter { $1.contains(entity.id) }.map(\.0)
      }
    }
  }

  // MARK: Telling

  final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }

  final func postWillRemove(_ store: NSPersistentStore) {
    NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
  }
}
