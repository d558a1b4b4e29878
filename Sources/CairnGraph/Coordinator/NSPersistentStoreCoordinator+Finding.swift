// From URLs to stores and objects.

import CairnModel
public import Foundation

extension NSPersistentStoreCoordinator {
  /// The open store at a URL.
  public final func persistentStore(for URL: URL) -> NSPersistentStore? {
    let wanted = URL.standardizedFileURL
    return persistentStores.first { $0.url?.standardizedFileURL == wanted }
  }

  /// Where a store is; `memory://` and its identifier for one that was opened without a URL.
  public final func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(string: "memory://\(store.uuid.uuidString)") ?? URL(fileURLWithPath: "/dev/null")
  }

  /// Gives a store another URL. A custom atomic store writes there from its next save on; a store in memory is
  /// only called so. False, and nothing done, for a store in a file, which stays where it is open: add the other
  /// file instead; and for a store of another coordinator.
  public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    guard persistentStores.contains(where: { $0 === store }) else { return false }
    if !(store is NSAtomicStore), type(of: store.store).traits.isFileBased { return false }
    if let old = store.url, MemoryStores.isShared(old) { return false }
    store.url = url
    return true
  }

  /// The ID that the URI stands for; nil when it is of another store or entity, or none at all. Whether the
  /// object exists isn't looked at.
  public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    let parts = url.pathComponents
    guard url.scheme == "x-coredata", parts.count == 3,
      let uuid = url.host.flatMap({ UUID(uuidString: $0) }),
      let store = persistentStores.first(where: { $0.uuid == uuid }),
      let model = try? managedObjectModel.compiled(), let entity = model.schema.entity(named: parts[1]),
      let key = store.key(ofURIName: parts[2], in: model[entity.id].description)
    else { return nil }
    return NSManagedObjectID(key: key, entity: model[entity.id], store: store, origin: uuid)
  }

  /// As `managedObjectID(forURIRepresentation:)`, of the URI's text.
  public final func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
  }
}
