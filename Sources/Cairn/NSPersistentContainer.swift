// A model, its coordinator, and contexts: all that a program needs, in one object.

public import CairnGraph
public import Foundation

/// Sets up a coordinator with its stores, and makes contexts over them.
///
///     let container = try NSPersistentContainer.inMemory(name: "Notes", model: model)
///     let note = Note(context: container.viewContext)
///
/// Sendable: everything is constant but `persistentStoreDescriptions`, which is written before the stores are
/// loaded, by whoever made the container, and what `loaded` keeps behind its lock.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  public final let name: String
  public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// On the main queue.
  public final let viewContext: NSManagedObjectContext

  /// What `loadPersistentStores` opens. At first one description, of the URL `<name>.sqlite` in
  /// `defaultDirectoryURL()`, which is then made. While nothing stands behind `NSSQLiteStoreType`, a log is kept there
  /// (`CairnLogStoreType`).
  public final var persistentStoreDescriptions: [NSPersistentStoreDescription]

  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    viewContext = NSManagedObjectContext(.mainQueue)
    persistentStoreDescriptions = []
    super.init()
    let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url, defaultURL: url)]
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    viewContext.name = "viewContext"
  }

  /// A container for the model file of that name, in whatever form it is there: among the resources of the
  /// program and its modules. Without one it says so on standard error, and the model has no entities.
  public convenience init(name: String, fileID: String = #fileID) {
    guard let file = NSManagedObjectModel.file(named: name),
      let model = NSManagedObjectModel(contentsOf: file, fileID: fileID)
    else {
      let line =
        "Cairn: Failed to load model named \(name): list \(name).xcdatamodeld among the target's resources in "
        + "Package.swift, as .copy\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      self.init(name: name, managedObjectModel: NSManagedObjectModel())
      return
    }
    self.init(name: name, managedObjectModel: model)
  }

  /// Cairn's own: a container whose store is in memory and loaded, whatever stands behind `NSSQLiteStoreType`.
  /// Throws what loading it reports.
  public static func inMemory(name: String, model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: name, managedObjectModel: model)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  public final var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// Where the stores of containers are unless they are told otherwise: on Linux a directory named after the
  /// executable in `$XDG_DATA_HOME`, which is `~/.local/share` unless it is set to an absolute path; on Apple's
  /// systems one in the user's Application Support. Loading a store there makes the directory.
  open class func defaultDirectoryURL() -> URL {
    #if canImport(Darwin)
      let base = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
    #else
      let home = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
      let base = ProgramDirectory.base("XDG_DATA_HOME") ?? home
    #endif
    return ProgramDirectory.url(in: base)
  }

  /// Opens the stores of the descriptions, and calls `block` for each with what went wrong if something did: on
  /// the calling thread, before it returns, unless the description says `shouldAddStoreAsynchronously`. A
  /// description whose store is open already is only reported.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if isLoaded(description) {
        block(description, nil)
      } else {
        if description.isAtContainersOwnPlace, description.type == CairnLogStoreType,
          let directory = description.url?.deletingLastPathComponent()
        {
          // Where it can't be made, opening the store says why.
          try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        }
        persistentStoreCoordinator.addPersistentStore(with: description) { description, failure in
          if failure == nil { self.remember(description) }
          block(description, failure)
        }
      }
    }
  }

  /// Descriptions that have been loaded, by identity, with the stores that they became.
  private final let loaded = Loaded()

  private final func remember(_ description: NSPersistentStoreDescription) {
    guard let store = persistentStoreCoordinator.persistentStores.last(where: { $0.url == description.url })
    else { return }
    loaded.remember(description, store)
  }

  private final func isLoaded(_ description: NSPersistentStoreDescription) -> Bool {
    guard let store = loaded.store(of: description) else { return false }
    return persistentStoreCoordinator.persistentStores.contains { $0 === store }
  }

  // MARK: Contexts

  /// A new context with a queue of its own over the container's store.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `block` with a new context, on its queue. Returns at once.
  public final func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` with a new context, on its queue, and returns or throws what it does.
  public final nonisolated(nonsending) func performBackgroundTask<T, E: Error>(
    _ block: @escaping (NSManagedObjectContext) throws(E) -> T
  ) async throws(E) -> T {
    let context = newBackgroundContext()
    return try await context.perform { () throws(E) -> T in try block(context) }
  }
}

/// Which descriptions are open as which stores.
///
/// Sendable: the lock is held around every access, and descriptions are only compared.
private final class Loaded: @unchecked Sendable {
  private let lock = NSLock()
  private var pairs: [(description: NSPersistentStoreDescription, store: NSPersistentStore)] = []

  func remember(_ description: NSPersistentStoreDescription, _ store: NSPersistentStore) {
    lock.withLock {
      pairs.removeAll { $0.description === description }
      pairs.append((description, store))
    }
  }

  func store(of description: NSPersistentStoreDescription) -> NSPersistentStore? {
    lock.withLock { pairs.first { $0.description === description }?.store }
  }
}
