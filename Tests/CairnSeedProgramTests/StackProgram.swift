// The stack in three steps, and the container that does the same. Shown whole in the documentation's
// "The stack, step by step".

// begin
import Cairn

final class Author: NSManagedObject {
  @Managed var name: String?
  @Managed var books: Set<Book>
}

final class Book: NSManagedObject {
  @Managed var title: String
  @Managed var year: Int32
  @Managed var author: Author?
}

/// Builds the stack by hand: a model from a file, a coordinator with a store, a context on the main queue.
func makeContext(
  modelAt modelURL: URL, storeType: String, storeAt storeURL: URL?, options: [AnyHashable: Any]? = nil
) throws -> NSManagedObjectContext {
  // 1. What kinds of objects there are.
  guard let model = NSManagedObjectModel(contentsOf: modelURL) else {
    throw CocoaError(.fileReadCorruptFile)
  }

  // 2. Where they are kept.
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  try coordinator.addPersistentStore(
    ofType: storeType, configurationName: nil, at: storeURL, options: options)

  // 3. Where they are used.
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  return context
}

/// The same stack, built by a container.
func makeContainer(
  modelAt modelURL: URL, store: NSPersistentStoreDescription
) throws -> NSPersistentContainer {
  guard let model = NSManagedObjectModel(contentsOf: modelURL) else {
    throw CocoaError(.fileReadCorruptFile)
  }
  let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
  container.persistentStoreDescriptions = [store]
  var failure: (any Error)?
  container.loadPersistentStores { _, error in failure = error }
  if let failure { throw failure }
  return container
}
// end
