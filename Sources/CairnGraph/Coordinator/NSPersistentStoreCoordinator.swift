// The coordinator: between the contexts of a model and its store.

import CairnModel
public import Foundation

/// Opens the store that the contexts of one model share.
///
/// This version of Cairn opens one store a coordinator, and knows no configurations but the default one.
///
/// Sendable: the list of stores stands behind a lock, everything else is constant.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  public final let managedObjectModel: NSManagedObjectModel
  private final let stores = Lock<[NSPersistentStore]>([])

  /// Freezes the model. Its faults, if it has any, are thrown when a store is added.
  public init(managedObjectModel model: NSManagedObjectModel) {
    managedObjectModel = model
    model.freeze()
  }

  public final var persistentStores: [NSPersistentStore] { stores.withLock { $0 } }

  /// Opens a store and makes it the one that contexts use.
  ///
  /// Throws 134000 for a type that there is no store of, naming those that there are; 134020 for a model with
  /// faults, telling all of them, with the `SchemaError` as the underlying error; 134080 when there is a store
  /// already, for a configuration, and when the store can't be opened. Nothing is added then.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    let factory = try StoreRegistry.factory(for: storeType)
    if let configuration {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "the model has no configuration \"\(configuration)\"")
    }
    let schema = try compiledSchema()
    return try stores.withLock { stores in
      guard stores.isEmpty else {
        throw NSError.coreData(
          NSPersistentStoreOpenError,
          "the coordinator has a store already, and this version of Cairn opens one: use a second coordinator"
        )
      }
      let added = NSPersistentStore(
        try open(factory, schema, storeURL, options), type: storeType, url: storeURL, options: options, self)
      stores.append(added)
      return added
    }
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

  /// Closes the store. Objects that were read from it keep what they have read; what they haven't is nil or 0.
  /// Throws 134070 for a store of another coordinator.
  open func remove(_ store: NSPersistentStore) throws {
    let found = stores.withLock { stores in
      let before = stores.count
      stores.removeAll { $0 === store }
      return stores.count < before
    }
    guard found else {
      throw NSError.coreData(NSPersistentStoreOperationError, "the store isn't one of this coordinator's")
    }
    try store.store.close()
  }

  /// The ID that the URI stands for; nil when it is of another store or entity, or none at all. Whether the
  /// object exists isn't looked at.
  public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    let parts = url.pathComponents
    guard url.scheme == "x-coredata", parts.count == 3, parts[2].hasPrefix("p"),
      let key = Int64(parts[2].dropFirst()), key > 0, let uuid = url.host.flatMap({ UUID(uuidString: $0) }),
      let store = persistentStores.first(where: { $0.uuid == uuid }),
      let model = try? managedObjectModel.compiled(), let entity = model.schema.entity(named: parts[1])
    else { return nil }
    return NSManagedObjectID(key: key, entity: model[entity.id], store: store, origin: uuid)
  }

  // MARK: Opening

  private final func compiledSchema() throws -> Schema {
    do {
      return try managedObjectModel.compiled().schema
    } catch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, "\(error)", [NSUnderlyingErrorKey: error])
    }
  }

  private final func open(
    _ factory: StoreFactory, _ schema: Schema, _ url: URL?, _ options: [AnyHashable: Any]?
  ) throws -> any PersistentStore {
    let keepsHistory = (options?[NSPersistentHistoryTrackingKey] as? NSNumber)?.boolValue ?? false
    do {
      return try factory.open(StoreFactory.Request(schema: schema, url: url, keepsHistory: keepsHistory))
    } catch {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "the store couldn't be opened: \(error)", [NSUnderlyingErrorKey: error])
    }
  }
}
