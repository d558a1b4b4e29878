// A store as its coordinator's users see it, and the class that custom stores inherit from.

public import CairnModel
public import Foundation

/// An open store of a coordinator.
///
/// Programs write stores of their own as subclasses of `NSAtomicStore` or `NSIncrementalStore`, or with
/// `PersistentStore` and a `StoreFactory`, which is Cairn's own way and faster; never as a direct subclass.
///
/// Sendable: what can change stands behind a lock, except for what the coordinator sets while it opens the
/// store, before anybody else has it.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  /// A type of store, in Core Data's newer spelling.
  public struct StoreType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    public static let xml = StoreType(rawValue: NSXMLStoreType)
    public static let cairnArchive = StoreType(rawValue: CairnArchiveStoreType)
    public static let cairnLog = StoreType(rawValue: CairnLogStoreType)
  }

  private struct State {
    var url: URL?
    var identifier: String
    var isReadOnly: Bool
    var metadata: [String: Any] = [:]
  }

  private final let state: Lock<State>
  // Set by `attach`, that is before the coordinator hands the store out.
  private final var attached: (any PersistentStore)?
  private final var follower: StoreFollower?
  private final var typeName = ""
  /// The identifier as a UUID, kept because every object ID asks for it.
  final private(set) var uuid: UUID

  public private(set) final weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  public final let options: [AnyHashable: Any]?
  private final let configuration: String?
  /// Whether commits are told of by `NSPersistentStoreRemoteChange`.
  final let tellsOfCommits: Bool
  /// Held from when derived values are computed to when they are committed.
  final let derivation = Lock(())

  /// What the coordinator calls when it opens the store. Overrides call it, and may throw nothing: a store that
  /// can't be opened says so in `loadMetadata()` or `load()`.
  public required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    let uuid = UUID()
    persistentStoreCoordinator = root
    configuration = name
    self.options = options
    tellsOfCommits = StoreOptions(options).flag(NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    self.uuid = uuid
    state = Lock(
      State(
        url: url, identifier: uuid.uuidString,
        isReadOnly: StoreOptions(options).flag(NSReadOnlyPersistentStoreOption)))
  }

  /// Cairn's own: the store itself, for questions that Core Data has no words for, such as a snapshot that
  /// goes on showing one generation. A programmer error before the store is open.
  public final var store: any PersistentStore {
    guard let attached else { fatalError("the store at \(url?.path ?? "no URL") isn't open yet") }
    return attached
  }

  // MARK: What a subclass may override

  open var type: String { typeName }

  /// `PF_DEFAULT_CONFIGURATION_NAME` for the configuration of all entities.
  open var configurationName: String { configuration ?? PF_DEFAULT_CONFIGURATION_NAME }

  /// The store's UUID as a string, as in the URIs of its objects.
  open var identifier: String! {
    get { state.withLock { $0.identifier } }
    set {
      guard let newValue else { return }
      state.withLock { $0.identifier = newValue }
      // Constant once objects have IDs with it.
      if attached == nil { uuid = NSPersistentStore.uuid(of: newValue) }
    }
  }

  /// Where the store is; nil for one in memory that was opened without a URL.
  open var url: URL? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }

  /// Whether saves to the store fail. True when it was opened with `NSReadOnlyPersistentStoreOption`.
  open var isReadOnly: Bool {
    get { state.withLock { $0.isReadOnly } }
    set { state.withLock { $0.isReadOnly = newValue } }
  }

  /// The type, the UUID and the model's version under Core Data's keys, and the user's own entries. Setting it
  /// replaces the latter; in a file they are after the next save.
  ///
  /// In a Cairn store a value that is neither a string, a number, a date, data, a UUID nor a URL is a programmer
  /// error; what a custom store can keep is its own affair.
  open var metadata: [String: Any]! {
    get {
      var result =
        keepsOwnMetadata
        ? state.withLock { $0.metadata } : store.metadata.userEntries.compactMapValues(\.keyValueForm)
      result[NSStoreTypeKey] = type
      result[NSStoreUUIDKey] = identifier
      result.merge(versionMetadata) { $1 }
      return result
    }
    set {
      let entries = newValue ?? [:]
      guard keepsOwnMetadata else {
        store.metadata.userEntries = NSPersistentStore.userEntries(entries)
        return
      }
      // The dictionary is a copy; whoever sets it doesn't change its entries any more.
      nonisolated(unsafe) let kept = entries
      state.withLock { $0.metadata = kept }
      if let text = entries[NSStoreUUIDKey] as? String { identifier = text }
    }
  }

  /// Reads the metadata of the store and sets `metadata`. Overridden by incremental stores.
  open func loadMetadata() throws {}

  /// The coordinator has the store now.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// The coordinator is about to let go of the store.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// The metadata of the store at `url`, which isn't open. Overridden by stores that live in files.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(self) doesn't read metadata: override metadataForPersistentStore(with:)")
  }

  /// Writes the metadata of the store at `url`, which isn't open. Overridden by stores that live in files.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    throw NSError.coreData(
      NSPersistentStoreOperationError,
      "\(self) doesn't write metadata: override setMetadata(_:forPersistentStoreAt:)")
  }

  // MARK: What Cairn's own subclasses override

  /// Whether `metadata` is the facade's own and not the `PersistentStore`'s.
  var keepsOwnMetadata: Bool { false }

  /// What the objects to be inserted by a save will be called in the store: one key each, ascending within each
  /// hierarchy. Called on the context's queue; keys that aren't committed then are lost.
  func permanentKeys(for objects: [NSManagedObject]) throws -> [Int64] {
    // By the number of the root entity.
    var next = [Int64](repeating: 0, count: store.schema.entities.count)
    for object in objects { next[object.table.root.index] += 1 }
    for root in next.indices where next[root] > 0 {
      next[root] = try store.reserveKeys(Int(next[root]), root: EntityID(root)).lowerBound
    }
    return objects.map { object in
      let root = object.table.root.index
      next[root] += 1
      return next[root] - 1
    }
  }

  /// Commits what a context saves. Called on the context's queue. Throws as `PersistentStore.commit`.
  func commit(_ changes: ChangeSet, of save: SavedObjects) throws -> Commit { try store.commit(changes) }

  /// The last part of an object's URI.
  func uriName(of key: Int64, in entity: NSEntityDescription) -> String { "p\(key)" }

  /// The key that such a part stands for.
  func key(ofURIName name: String, in entity: NSEntityDescription) -> Int64? {
    guard name.hasPrefix("p"), let key = Int64(name.dropFirst()), key > 0 else { return nil }
    return key
  }
}

/// The objects behind a change set, for stores that are told of objects.
struct SavedObjects {
  let context: NSManagedObjectContext
  private let scope: StoreScope
  private let keys: [Int64]

  /// `keys` are those of `context.inserted`, in their order.
  init(_ context: NSManagedObjectContext, _ scope: StoreScope, keys: [Int64]) {
    self.context = context
    self.scope = scope
    self.keys = keys
  }

  /// New objects with the keys that they get.
  var inserted: [(object: NSManagedObject, key: Int64)] {
    zip(context.inserted, keys).compactMap { object, key in
      object.flatMap { $0.table.scope === scope ? ($0, key) : nil }
    }
  }

  var updated: [NSManagedObject] { context.updated.filter { $0.table.scope === scope } }
  var deleted: [NSManagedObject] { context.deleted.filter { $0.table.scope === scope } }
}

extension NSPersistentStore {
  /// Called by the coordinator: from here on the store is open.
  final func attach(_ store: any PersistentStore, type: String, url: URL?) {
    if !keepsOwnMetadata {
      let uuid = store.metadata.uuid
      self.uuid = uuid
      state.withLock { $0.identifier = uuid.uuidString }
    }
    typeName = type
    self.url = url
    attached = store
    if let store = store as? any FollowingStore, store.isFollowing { follower = StoreFollower(self, store) }
  }

  /// Throws 513 when the store is read-only.
  final func requireWritable() throws {
    guard isReadOnly else { return }
    var userInfo: [String: Any] = ["reason": "This store is read only"]
    userInfo["NSPersistentStoreOptions"] = options
    userInfo["storeURL"] = url
    throw NSError.coreData(
      CocoaError.Code.fileWriteNoPermission.rawValue, "the store is read-only: nothing can be saved to it",
      userInfo)
  }

  /// What the metadata says of the model's version.
  private final var versionMetadata: [String: Any] {
    let name = configurationName == PF_DEFAULT_CONFIGURATION_NAME ? nil : configurationName
    return persistentStoreCoordinator?.managedObjectModel.storeMetadata(forConfiguration: name) ?? [:]
  }

  /// The user's own entries among those of a metadata dictionary.
  static func userEntries(_ metadata: [String: Any]) -> [String: Value] {
    var entries: [String: Value] = [:]
    for (key, any) in metadata where !reservedKeys.contains(key) {
      guard let value = value(any) else {
        fatalError("the metadata entry \"\(key)\" is a \(Swift.type(of: any)), which a store can't keep")
      }
      entries[key] = value
    }
    return entries
  }

  private static let reservedKeys: Set<String> = [
    NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey,
    NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionHashesVersion",
    "NSStoreModelVersionHashesDigest", "NSPersistenceFrameworkVersion",
    "NSPersistenceMaximumFrameworkVersion",
  ]

  private static func value(_ any: Any) -> Value? {
    let types: [ValueType] = [.string, .date, .data, .uuid, .uri, .int64, .double]
    for type in types {
      if let value = Value(any, for: type) { return value }
    }
    return nil
  }

  /// A metadata dictionary from what a store that isn't open says.
  static func dictionary(_ metadata: StoreMetadata, type: String) -> [String: Any] {
    var result: [String: Any] = metadata.userEntries.compactMapValues(\.keyValueForm)
    result[NSStoreTypeKey] = type
    result[NSStoreUUIDKey] = metadata.uuid.uuidString
    if !metadata.versionHashes.isEmpty {
      result.merge(
        NSManagedObjectModel.storeMetadata(metadata.versionHashes, identifiers: metadata.versionIdentifiers)
      ) { $1 }
    }
    return result
  }

  /// The UUID that a store's identifier is; one made of its bytes when it is none.
  static func uuid(of identifier: String) -> UUID {
    if let uuid = UUID(uuidString: identifier) { return uuid }
    // FNV-1a, twice with different beginnings: the same identifier always gives the same UUID.
    let halves: [UInt64] = [0xcbf2_9ce4_8422_2325, 0x8422_2325_cbf2_9ce4].map { seed in
      identifier.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
    let bytes = halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) } }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
