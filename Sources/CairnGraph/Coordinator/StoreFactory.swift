// How one kind of store is opened, and what can be done with one that isn't open.

public import CairnModel
public import Foundation

/// How to open one kind of store, and how to treat its files.
///
/// Cairn's own, and the way in for a store that is written with `PersistentStore`:
///
///     NSPersistentStoreCoordinator.register(StoreFactory(type: "Mine") { MyStore(schema: $0.schema) })
public struct StoreFactory: Sendable {
  /// What a store is opened with.
  public struct Request {
    /// The whole model, whatever the configuration.
    public let schema: Schema
    /// The concrete entities whose rows the store is to keep.
    public let entities: [EntityID]
    public let url: URL?
    public let isReadOnly: Bool
    /// Whether the store is to remember its commits.
    public let keepsHistory: Bool
    public let options: [AnyHashable: Any]
    /// The version hash of each entity that the store is to serve, for its metadata.
    public let versionHashes: [String: Data]
    public let versionIdentifiers: [String]
    /// The whole model as the text of Xcode's `contents` file, for a store that wants to open without its model;
    /// nil where the model can't be written so. Costs writing it.
    public let modelSource: () -> String?
  }

  /// What can be done with a store in a file that isn't open. Each may throw an NSError with one of Core Data's
  /// numbers, or a `StoreError`.
  public struct Files: Sendable {
    /// The metadata of the store at a URL.
    public let metadata: @Sendable (URL) throws -> StoreMetadata
    /// Replaces the user's own entries in it.
    public let setUserEntries: @Sendable (URL, [String: Value]) throws -> Void
    /// Removes the store. Throws when there is none.
    public let destroy: @Sendable (URL) throws -> Void
    /// Puts a copy of the store at `source` in the place of `target`, which needn't exist.
    public let replace: @Sendable (_ target: URL, _ source: URL) throws -> Void
    /// The text of the model that the store at a URL was made with; nil where it keeps none.
    public let modelSource: (@Sendable (URL) throws -> String?)?

    public init(
      metadata: @escaping @Sendable (URL) throws -> StoreMetadata,
      setUserEntries: @escaping @Sendable (URL, [String: Value]) throws -> Void,
      destroy: @escaping @Sendable (URL) throws -> Void,
      replace: @escaping @Sendable (_ target: URL, _ source: URL) throws -> Void,
      modelSource: (@Sendable (URL) throws -> String?)? = nil
    ) {
      self.modelSource = modelSource
      self.metadata = metadata
      self.setUserEntries = setUserEntries
      self.destroy = destroy
      self.replace = replace
    }
  }

  /// Core Data's store type string.
  public let type: String
  /// The class that stands for this kind of store in `registerStoreClass(_:forStoreType:)`, and that its stores
  /// are of.
  public let storeClass: NSPersistentStore.Type
  /// nil for a store that lives in no file.
  public let files: Files?
  /// Opens a store, or makes it where there is none. May throw an NSError with one of Core Data's numbers, such
  /// as 134010; any other error is wrapped in 134080.
  public let open: @Sendable (Request) throws -> any PersistentStore

  public init(
    type: String, storeClass: NSPersistentStore.Type = NSPersistentStore.self, files: Files? = nil,
    open: @escaping @Sendable (Request) throws -> any PersistentStore
  ) {
    self.type = type
    self.storeClass = storeClass
    self.files = files
    self.open = open
  }
}

/// A class that knows the stores that come with Cairn; `Cairn.BuiltInStores` is found as one.
package protocol StoreFactoryProvider: AnyObject, SendableMetatype {
  static var storeFactories: [StoreFactory] { get }
  /// An empty store in memory, for what needs tables and isn't itself a store in memory.
  static func makeTables(_ schema: Schema) -> any CheckingStore
}
