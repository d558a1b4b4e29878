// The metadata of stores, open or not.

import CairnModel
public import Foundation

extension NSPersistentStoreCoordinator {
  /// The metadata of one of the coordinator's stores.
  public final func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

  /// Replaces the user's own entries in the metadata of an open store. In a file they are after the next save.
  public final func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    store.metadata = metadata ?? [:]
    (store as? NSIncrementalStore)?.noteMetadata()
  }

  /// The metadata of the store at a URL, read without opening it with a model.
  ///
  /// Throws 134000 for a type that there is no store of, 134070 for one that isn't kept in files, 260 when there
  /// is no file, 134010 when it is of another type, and 134080 when it can't be read.
  public class func metadataForPersistentStore(
    type storeType: NSPersistentStore.StoreType, at storeURL: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: storeType.rawValue, at: storeURL, options: options)
  }

  /// As `metadataForPersistentStore(type:at:options:)`.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    switch try StoreRegistry.kind(for: storeType) {
    case .custom(let type): return try fileError(url) { try type.metadataForPersistentStore(with: url) }
    case .factory(let factory):
      let files = try files(of: factory)
      return NSPersistentStore.dictionary(try fileError(url) { try files.metadata(url) }, type: storeType)
    }
  }

  /// As `metadataForPersistentStore(type:at:options:)`; for nil, of whatever type of store it is.
  public class func metadataForPersistentStore(
    ofType storeType: String?, at url: URL
  ) throws -> [String: Any] {
    if let storeType { return try metadataForPersistentStore(ofType: storeType, at: url, options: nil) }
    return try metadataOfAnyType(at: url)
  }

  /// The metadata of the store at a URL, of whatever type it is.
  public class func metadataForPersistentStore(with url: URL) throws -> [AnyHashable: Any] {
    try metadataOfAnyType(at: url)
  }

  /// Replaces the user's own entries in the metadata of a store that isn't open. A coordinator in which it is
  /// open sees it when the store is added anew. Throws as `metadataForPersistentStore(type:at:options:)`.
  public class func setMetadata(
    _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: storeType.rawValue, at: storeURL, options: options)
  }

  /// As `setMetadata(_:type:at:options:)`.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    switch try StoreRegistry.kind(for: storeType) {
    case .custom(let type):
      try fileError(url) { try type.setMetadata(metadata, forPersistentStoreAt: url) }
    case .factory(let factory):
      let files = try files(of: factory)
      let entries = NSPersistentStore.userEntries(metadata ?? [:])
      try fileError(url) { try files.setUserEntries(url, entries) }
    }
  }

  /// As `setMetadata(_:type:at:options:)`; for nil, of whatever type of store it is.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL
  ) throws {
    let type = try storeType ?? metadataOfAnyType(at: url)[NSStoreTypeKey] as? String
    guard let type else { throw unknownStore(url) }
    try setMetadata(metadata, forPersistentStoreOfType: type, at: url, options: nil)
  }

  private class func metadataOfAnyType(at url: URL) throws -> [String: Any] {
    try requireFile(url)
    for (type, kind) in StoreRegistry.all.sorted(by: { $0.key < $1.key }) {
      switch kind {
      case .custom(let storeClass):
        if let found = try? storeClass.metadataForPersistentStore(with: url),
          found[NSStoreTypeKey] as? String ?? type == type
        {
          return found
        }
      case .factory(let factory):
        if let found = try? factory.files?.metadata(url) {
          return NSPersistentStore.dictionary(found, type: type)
        }
      }
    }
    throw unknownStore(url)
  }

  private class func unknownStore(_ url: URL) -> NSError {
    .coreData(
      NSPersistentStoreInvalidTypeError, "the file at \(url.path) is no store of a registered type",
      [NSFilePathErrorKey: url.path])
  }

  /// Throws 134070 for a kind of store that isn't kept in files.
  class func files(of factory: StoreFactory) throws -> StoreFactory.Files {
    if let files = factory.files { return files }
    throw NSError.coreData(
      NSPersistentStoreOperationError, "a store of the type \"\(factory.type)\" is in no file")
  }

  class func requireFile(_ url: URL) throws {
    if FileManager.default.fileExists(atPath: url.path) { return }
    throw NSError.coreData(
      CocoaError.Code.fileReadNoSuchFile.rawValue, "there is no store at \(url.path)",
      [NSFilePathErrorKey: url.path])
  }

  /// Runs work on a store's file: 260 when there is none, 134080 for what has no number.
  class func fileError<T>(_ url: URL, _ work: () throws -> T) throws -> T {
    try requireFile(url)
    do {
      return try work()
    } catch let error where (error as NSError).domain == NSCocoaErrorDomain {
      throw error
    } catch {
      throw NSError.coreData(
        openErrorCode(error), "the store at \(url.path) can't be used: \(error)",
        [NSUnderlyingErrorKey: error, NSFilePathErrorKey: url.path])
    }
  }
}
