// A model, its coordinator, and contexts: all that a program needs, in one object.

public import CairnGraph
public import Foundation

/// Sets up a coordinator with its store, and makes contexts over it.
///
///     let container = try NSPersistentContainer.inMemory(name: "Notes", model: model)
///     let note = Note(context: container.viewContext)
///
/// Sendable: everything is constant but `persistentStoreDescriptions`, which is written before the stores are
/// loaded, by whoever made the container.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  public final let name: String
  public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// On the main queue.
  public final let viewContext: NSManagedObjectContext

  /// What `loadPersistentStores` opens. One store in memory, until it is set; there are no file stores yet.
  public final var persistentStoreDescriptions = [NSPersistentStoreDescription()]

  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    viewContext = NSManagedObjectContext(.mainQueue)
    super.init()
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    viewContext.name = "viewContext"
  }

  /// Cairn's own: a container whose store is in memory and loaded. Throws what loading it reports.
  public static func inMemory(name: String, model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: name, managedObjectModel: model)
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  public final var managedObjectModel: NSManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// Opens the stores of the descriptions, and calls `block` for each on the calling thread, before it returns,
  /// with what went wrong if something did. A description whose store is open already is only reported.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      var failure: (any Error)?
      do {
        if !isLoaded(description) { try load(description) }
      } catch {
        failure = error
      }
      block(description, failure)
    }
  }

  private final func isLoaded(_ description: NSPersistentStoreDescription) -> Bool {
    persistentStoreCoordinator.persistentStores.contains {
      $0.type == description.type && $0.url == description.url
    }
  }

  private final func load(_ description: NSPersistentStoreDescription) throws {
    try persistentStoreCoordinator.addPersistentStore(
      ofType: description.type, configurationName: description.configuration, at: description.url,
      options: description.options)
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
