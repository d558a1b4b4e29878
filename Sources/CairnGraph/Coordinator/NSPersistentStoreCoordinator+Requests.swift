// Requests that are given to the coordinator itself.

import Foundation

/// A request that a coordinator can run in a context.
protocol ContextRequest {
  func run(in context: NSManagedObjectContext) throws -> Any
}

extension NSFetchRequest: ContextRequest {
  final func run(in context: NSManagedObjectContext) throws -> Any { try context.fetch(self) }
}

extension NSSaveChangesRequest: ContextRequest {
  /// Saves the context. Throws 134091 for a part of its changes.
  final func run(in context: NSManagedObjectContext) throws -> Any {
    let asked = [insertedObjects, updatedObjects, deletedObjects]
    let there = [context.insertedObjects, context.updatedObjects, context.deletedObjects]
    guard zip(asked, there).allSatisfy({ $0 == nil || $0 == $1 }) else {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "a save of some of a context's changes: a context saves all of them or none")
    }
    try context.save()
    return [Any]()
  }
}

extension NSPersistentStoreCoordinator {
  /// Runs a request for a context of this coordinator, on whose queue it is called. Returns an array for a fetch
  /// and an empty one for a save.
  ///
  /// Throws 134091 for a kind of request that it doesn't know, and what the context's own functions throw.
  public final func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws
    -> Any
  {
    guard context.persistentStoreCoordinator === self else {
      throw NSError.coreData(
        NSPersistentStoreOperationError, "the context belongs to another coordinator")
    }
    guard let request = request as? any ContextRequest else {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "the coordinator doesn't know requests of the class \(type(of: request))")
    }
    return try request.run(in: context)
  }
}
