// Destroying and replacing stores that live in files.

import CairnModel
public import Foundation

extension NSPersistentStoreCoordinator {
  /// Removes a store that isn't open. A store in memory has nothing to remove, except that the name of a shared
  /// one (`/dev/null/name`) is free again.
  ///
  /// Throws 134070 when the store is open in this coordinator or its class can't do it, 260 when there is no
  /// file, 134000 for an unknown type, and the store's own errors.
  public final func destroyPersistentStore(
    at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
  }

  /// As `destroyPersistentStore(at:type:options:)`.
  public final func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    if MemoryStores.isMemory(url) { return MemoryStores.destroy(url) }
    let kind = try StoreRegistry.kind(for: storeType)
    if persistentStore(for: url) != nil, !StoreOptions(options).flag(NSPersistentStoreForceDestroyOption) {
      throw NSError.coreData(
        NSPersistentStoreOperationError,
        "the store at \(url.path) is open: remove it from the coordinator first")
    }
    switch kind {
    case .custom(let type):
      guard type is NSAtomicStore.Type else { throw unsupported(type, "be destroyed") }
      try Self.fileError(url) { try FileManager.default.removeItem(at: url) }
    case .factory(let factory):
      guard let files = factory.files else { return }
      try Self.fileError(url) { try files.destroy(url) }
    }
  }

  /// Puts a copy of the store at `sourceURL`, which isn't open for writing, in the place of the one at
  /// `destinationURL`, which needn't exist and isn't open.
  ///
  /// Throws as `destroyPersistentStore`, and 134070 for stores in memory.
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type sourceType: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: sourceType.rawValue)
  }

  /// As `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)`.
  public final func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    let kind = try StoreRegistry.kind(for: storeType)
    if persistentStore(for: destinationURL) != nil {
      throw NSError.coreData(
        NSPersistentStoreOperationError,
        "the store at \(destinationURL.path) is open: remove it from the coordinator first")
    }
    switch kind {
    case .custom(let type):
      guard type is NSAtomicStore.Type else { throw unsupported(type, "be replaced") }
      try Self.fileError(sourceURL) { try Self.copyFile(sourceURL, destinationURL) }
    case .factory(let factory):
      let files = try Self.files(of: factory)
      try Self.fileError(sourceURL) { try files.replace(destinationURL, sourceURL) }
    }
  }

  private final func unsupported(_ type: NSPersistentStore.Type, _ what: String) -> NSError {
    .coreData(
      NSPersistentStoreOperationError,
      "a store of the class \(type) isn't known to be one file, and can't \(what)")
  }

  /// Copies beside the target first, so that it is replaced at once or not at all.
  private class func copyFile(_ source: URL, _ target: URL) throws {
    let beside = target.appendingPathExtension(UUID().uuidString)
    try FileManager.default.copyItem(at: source, to: beside)
    guard rename(beside.path, target.path) == 0 else {
      let reason = String(cString: strerror(errno))
      try? FileManager.default.removeItem(at: beside)
      throw NSError.coreData(
        CocoaError.Code.fileWriteUnknown.rawValue, "\(target.path) can't be replaced: \(reason)",
        [NSFilePathErrorKey: target.path])
    }
  }
}
