// The three ways in which programs set up a stack.

import CoreData
import Foundation

/// With a container, as Xcode's template does.
final class Persistence: Sendable {
  let container: NSPersistentContainer

  init(inMemory: Bool = false) {
    container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes)
    if inMemory {
      container.persistentStoreDescriptions.first!.url = URL(fileURLWithPath: "/dev/null")
    }
    container.loadPersistentStores { storeDescription, error in
      if let error = error as NSError? {
        fatalError("Unresolved error \(error), \(error.userInfo) of \(storeDescription)")
      }
    }
    container.viewContext.automaticallyMergesChangesFromParent = true
  }
}

/// By hand, as code from before containers does.
final class ClassicStack {
  let coordinator: NSPersistentStoreCoordinator
  let mainContext: NSManagedObjectContext

  init() throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes)
    let options = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    mainContext.persistentStoreCoordinator = coordinator
  }
}

/// With descriptions, as test suites do.
func makeTestContainer() throws -> NSPersistentContainer {
  let description = NSPersistentStoreDescription()
  description.type = NSInMemoryStoreType
  description.shouldAddStoreAsynchronously = false
  let container = NSPersistentContainer(name: "Notes", managedObjectModel: .notes)
  container.persistentStoreDescriptions = [description]
  var loadError: Error?
  container.loadPersistentStores { loadError = $1 }
  if let loadError { throw loadError }
  return container
}
