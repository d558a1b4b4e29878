// What all requests to a coordinator's stores have in common, and the request that saves.

public import Foundation

/// The common superclass of requests to a coordinator's stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// The stores that are asked; nil for all that can answer.
  public final var affectedStores: [NSPersistentStore]?

  public override init() {}

  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// A request that asks the same.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreRequest()
    copy.affectedStores = affectedStores
    return copy
  }
}

/// What a save asks of an incremental store. All sets nil: to save its metadata.
///
/// Confined to the context's queue, as the objects are.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  public final let insertedObjects: Set<NSManagedObject>?
  public final let updatedObjects: Set<NSManagedObject>?
  public final let deletedObjects: Set<NSManagedObject>?
  /// Objects that aren't changed, and whose versions are to be checked.
  public final let lockedObjects: Set<NSManagedObject>?

  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    self.insertedObjects = insertedObjects
    self.updatedObjects = updatedObjects
    self.deletedObjects = deletedObjects
    self.lockedObjects = lockedObjects
  }

  public convenience override init() { self.init(inserted: nil, updated: nil, deleted: nil, locked: nil) }

  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(
      inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
    copy.affectedStores = affectedStores
    return copy
  }
}

/// What a request that isn't a fetch returns.
open class NSPersistentStoreResult: NSObject {}
