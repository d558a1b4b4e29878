// What a container is told about a store that it is to open.

public import CairnGraph
public import Foundation

/// A store to open: what type, where, and how.
///
/// Not Sendable: make it where the container is made.
open class NSPersistentStoreDescription: NSObject, NSCopying {
  private final var givenType: String?
  private final var givenOptions: [String: NSObject]
  /// Where a container's own description says that the store is; nil for any other description.
  private final let defaultURL: URL?

  public final var url: URL?
  /// nil for all entities of the model.
  public final var configuration: String?
  /// Whether the store is opened on another thread, where its handler is then called.
  public final var shouldAddStoreAsynchronously = false

  /// Of `NSSQLiteStoreType`, as Core Data has it, with migration allowed and mappings inferred. Cairn has no such
  /// store, except that at `/dev/null` every type of file is a store in memory: give it another `type`, or put
  /// another store in the place of SQLite's (`registerStoreClass(_:forStoreType:)`).
  public convenience init(url: URL) {
    self.init(url, defaultURL: nil)
  }

  /// At `/dev/null`: in memory.
  public convenience override init() {
    self.init(URL(fileURLWithPath: "/dev/null"), defaultURL: nil)
  }

  init(_ url: URL, defaultURL: URL?) {
    self.url = url
    self.defaultURL = defaultURL
    givenOptions = [
      NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
      NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]
  }

  /// The type of the store; `NSSQLiteStoreType` unless set. Of a container's own description, wherever its URL leads
  /// by now, it is `CairnLogStoreType` as long as nothing stands behind SQLite's: it is there to say where objects are
  /// kept, and a file of SQLite's is refused by a log.
  public final var type: String {
    get {
      if let givenType { return givenType }
      let isRegistered = NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil
      return defaultURL != nil && !isRegistered ? CairnLogStoreType : NSSQLiteStoreType
    }
    set { givenType = newValue }
  }

  /// Whether this is a container's own description, and still leads to where the container put it.
  final var isAtContainersOwnPlace: Bool { defaultURL != nil && url == defaultURL }

  // MARK: Options

  /// What `addPersistentStore` gets.
  public final var options: [String: NSObject] { givenOptions }

  /// Sets an option, or removes it when `option` is nil.
  public final func setOption(_ option: NSObject?, forKey key: String) {
    givenOptions[key] = option
  }

  public final var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { setOption(newValue ? NSNumber(value: true) : nil, forKey: NSReadOnlyPersistentStoreOption) }
  }

  public final var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
  }

  public final var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
  }

  /// How long to wait for the store, in seconds; 240 unless set.
  public final var timeout: TimeInterval {
    get { (givenOptions[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
  }

  private final func flag(_ key: String) -> Bool { (givenOptions[key] as? NSNumber)?.boolValue ?? false }

  // MARK: Pragmas

  /// Settings of SQLite by name. Kept under `NSSQLitePragmasOption`; no Cairn store looks at them.
  public final var sqlitePragmas: [String: NSObject] {
    let kept = givenOptions[NSSQLitePragmasOption] as? NSDictionary
    var result: [String: NSObject] = [:]
    for key in kept?.allKeys ?? [] {
      if let name = key as? String, let value = kept?.object(forKey: key) as? NSObject {
        result[name] = value
      }
    }
    return result
  }

  /// Sets a pragma, or removes it when `value` is nil.
  public final func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    let pragmas = NSMutableDictionary()
    for (key, kept) in sqlitePragmas { pragmas.setObject(kept, forKey: key as NSString) }
    if let value {
      pragmas.setObject(value, forKey: name as NSString)
    } else {
      pragmas.removeObject(forKey: name)
    }
    givenOptions[NSSQLitePragmasOption] = pragmas.count == 0 ? nil : pragmas
  }

  // MARK: Copying

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription(URL(fileURLWithPath: "/dev/null"), defaultURL: defaultURL)
    copy.url = url
    copy.givenType = givenType
    copy.givenOptions = givenOptions
    copy.configuration = configuration
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    return copy
  }

  open override var description: String {
    "<NSPersistentStoreDescription: type \(type), url \(url?.absoluteString ?? "none")>"
  }
}

extension NSPersistentStoreCoordinator {
  /// Opens the store of a description, and calls `block` with what went wrong if something did: on the calling
  /// thread before it returns, or, if the description says so, on another one later.
  public final func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    guard storeDescription.shouldAddStoreAsynchronously else {
      return block(storeDescription, failure(of: storeDescription))
    }
    // Handed over to one thread; the caller waits for the handler before it touches the description again.
    nonisolated(unsafe) let description = storeDescription
    nonisolated(unsafe) let handler = block
    DispatchQueue.global().async { handler(description, self.failure(of: description)) }
  }

  private final func failure(of description: NSPersistentStoreDescription) -> (any Error)? {
    do {
      try addPersistentStore(
        ofType: description.type, configurationName: description.configuration, at: description.url,
        options: description.options)
      return nil
    } catch {
      return error
    }
  }
}
