// A store as its coordinator's users see it.

public import CairnModel
public import Foundation

/// An open store of a coordinator.
///
/// Sendable: constant, but for the weak reference, which is written by the initialiser only.
public final class NSPersistentStore: NSObject, @unchecked Sendable {
  /// A type of store, in Core Data's newer spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
  }

  /// Cairn's own: the store itself, for questions that Core Data has no words for, such as a snapshot that
  /// goes on showing one generation.
  public let store: any PersistentStore
  public let type: String
  /// The store's UUID, kept because every object ID asks for it.
  let uuid: UUID
  public let url: URL?
  public let options: [AnyHashable: Any]?
  public private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?

  init(
    _ store: any PersistentStore, type: String, url: URL?, options: [AnyHashable: Any]?,
    _ coordinator: NSPersistentStoreCoordinator
  ) {
    self.store = store
    uuid = store.metadata.uuid
    self.type = type
    self.url = url
    self.options = options
    persistentStoreCoordinator = coordinator
  }

  /// The store's UUID, as in the URIs of its objects.
  public var identifier: String! { uuid.uuidString }

  /// The type and UUID under Core Data's keys, and the user's own entries. Setting it replaces the latter.
  ///
  /// A value that is neither a string, a number, a date, data, a UUID nor a URL is a programmer error.
  public var metadata: [String: Any]! {
    get {
      let metadata = store.metadata
      var result: [String: Any] = metadata.userEntries.compactMapValues(\.keyValueForm)
      result[NSStoreTypeKey] = type
      result[NSStoreUUIDKey] = metadata.uuid.uuidString
      return result
    }
    set {
      var entries: [String: Value] = [:]
      for (key, any) in newValue ?? [:] where key != NSStoreTypeKey && key != NSStoreUUIDKey {
        guard let value = NSPersistentStore.value(any) else {
          fatalError("the metadata entry \"\(key)\" is a \(Swift.type(of: any)), which a store can't keep")
        }
        entries[key] = value
      }
      store.metadata.userEntries = entries
    }
  }

  private static func value(_ any: Any) -> Value? {
    let types: [ValueType] = [.string, .date, .data, .uuid, .uri, .int64, .double]
    for type in types {
      if let value = Value(any, for: type) { return value }
    }
    return nil
  }
}
