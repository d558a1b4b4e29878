// The coordinator: between the contexts of a model and its stores. What is done with the list of stores stands
// here; the rest by aspect in NSPersistentStoreCoordinator+….swift.

import CairnModel
public import Foundation
import Synchronization

/// The name of the configuration of all entities.
public let PF_DEFAULT_CONFIGURATION_NAME = "PF_DEFAULT_CONFIGURATION_NAME"

/// Opens the stores that the contexts of one model share.
///
/// Each store serves the entities of one configuration of the model. A new object goes to the first store that
/// serves its entity.
///
/// Sendable: the list of stores and the name stand behind locks, everything else is constant. No lock is held
/// while a store is opened or closed or observers are told: what keeps others away from it then is a claim in
/// `Stores`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  struct Stores {
    var list: [NSPersistentStore] = []
    /// By the index of the entity; empty without stores.
    var serving: [[NSPersistentStore]] = []
    /// Where stores are being opened: nobody else may open one there meanwhile.
    var opening: Set<URL> = []
    /// Stores that are being removed or moved, until they are closed, and where they are.
    var leaving: [ObjectIdentifier: URL?] = [:]
  }

  public final let managedObjectModel: NSManagedObjectModel
  private final let stores = Lock(Stores())
  private final let generation = Atomic(0)
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

  /// Rises whenever a store is added or removed, after that has happened. Costs no lock, since contexts ask for
  /// it with each new object.
  final var storesGeneration: Int { generation.load(ordering: .acquiring) }

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
  /// have, for a URL that is open in this coordinator already or is just being opened or closed, and when the store
  /// can't be opened for any other reason; 260 for a file that is to be read only and isn't there. Nothing is added
  /// then.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    let store = try claiming(storeURL) {
      let store = try open(storeType, configuration, storeURL, options)
      post(.NSPersistentStoreCoordinatorStoresWillChange, [NSAddedPersistentStoresKey: [store]])
      change { $0.append(store) }
      return store
    }
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
  ///
  /// Throws 134070 for a store of another coordinator, and for one that is being removed or moved already. What
  /// the store throws as it is closed is thrown last: it isn't the coordinator's any more then, and observers were
  /// told so.
  open func remove(_ store: NSPersistentStore) throws {
    try claimRemoval(store)
    post(.NSPersistentStoreCoordinatorStoresWillChange, [NSRemovedPersistentStoresKey: [store]])
    postWillRemove(store)
    try takeAway(store)
  }

  /// Takes a store off the list, closes it and tells that it was removed; then throws what closing it threw. The
  /// caller has claimed its removal.
  final func takeAway(_ store: NSPersistentStore) throws {
    store.willRemove(from: self)
    change { list in list.removeAll { $0 === store } }
    let closed = Result { try close(store) }
    releaseRemoval(store)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
    try closed.get()
  }

  /// Closes a store, unless others may hold it.
  final func close(_ store: NSPersistentStore) throws {
    if let url = store.url, MemoryStores.isShared(url) { return }
    try store.store.close()
  }

  // MARK: Claims

  /// Runs `body` while nobody else can open a store at `url`. Throws 134080 when one is open there, or is being
  /// opened or closed. Two unnamed stores in memory are two.
  final func claiming<T>(_ url: URL?, _ body: () throws -> T) throws -> T {
    guard let url, url.path != "/dev/null" else { return try body() }
    let place = url.standardizedFileURL
    let others = stores.withLock { stores -> [NSPersistentStore]? in
      if stores.opening.contains(place) || stores.leaving.values.contains(place) { return nil }
      stores.opening.insert(place)
      return stores.list
    }
    let taken = NSError.coreData(
      NSPersistentStoreOpenError,
      "the store at \(url.path) is open already in this coordinator, or is being opened or closed")
    guard let others else { throw taken }
    defer { stores.withLock { _ = $0.opening.remove(place) } }
    // Not under the lock: a subclass of the store's class may say where it is.
    if others.contains(where: { $0.url?.standardizedFileURL == place }) { throw taken }
    return try body()
  }

  /// Keeps a store for the caller to remove. Throws 134070 when it isn't the coordinator's, or somebody else is
  /// removing it.
  final func claimRemoval(_ store: NSPersistentStore) throws {
    let place = store.url?.standardizedFileURL
    let isClaimed = stores.withLock { stores in
      let id = ObjectIdentifier(store)
      guard stores.list.contains(where: { $0 === store }), stores.leaving[id] == nil else { return false }
      stores.leaving.updateValue(place, forKey: id)
      return true
    }
    if isClaimed { return }
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "the store isn't one of this coordinator's, or is being removed or moved already")
  }

  /// The store is closed, or stays after all.
  final func releaseRemoval(_ store: NSPersistentStore) {
    stores.withLock { _ = $0.leaving.removeValue(forKey: ObjectIdentifier(store)) }
  }

  /// Changes the list, and what follows from it.
  final func change(_ body: (inout [NSPersistentStore]) -> Void) {
    let model = try? managedObjectModel.compiled()
    stores.withLock { stores in
      body(&stores.list)
      defer { generation.add(1, ordering: .releasing) }
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
