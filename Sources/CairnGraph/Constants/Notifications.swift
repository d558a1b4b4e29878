// The notifications of contexts and coordinators, and the keys of their `userInfo`. Raw values are Core Data's.

public import Foundation

extension Notification.Name {
  /// After changes of a context have been processed. The object is the context.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// Before a save with changes. The object is the context.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// After a save. The object is the context; `userInfo` has sets of objects under `NSInsertedObjectsKey`,
  /// `NSUpdatedObjectsKey` and `NSDeletedObjectsKey`. Posted on the context's queue.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// After a save, with the IDs of the objects. The object is the context.
  public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// After changes of elsewhere were merged into a context. The object is that context.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  /// Before stores are added to or removed from a coordinator, which is the object.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChange")
  /// After stores were added to or removed from a coordinator, which is the object, or one was moved.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChange")
  /// Before a store is removed. The object is the store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStore")
  /// After a commit, for stores that were opened with
  /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: on the thread that has saved, and for a log that is open
  /// for reading on a thread of Cairn's, when another process has saved. The object is the coordinator; `userInfo` has
  /// the store's identifier under `NSStoreUUIDKey` and its URL under `NSPersistentStoreURLKey`.
  public static let NSPersistentStoreRemoteChange = Notification.Name(
    "NSPersistentStoreRemoteChangeNotification")
}

extension NSManagedObjectContext {
  public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
  public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
  public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
  public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
  public static let didMergeChangesObjectIDsNotification =
    Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  /// The keys of the notifications of contexts. Raw values are those of the older constants.
  public enum NotificationKey: String, Sendable, CaseIterable {
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case invalidatedAllObjects = "invalidatedAll"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
    case invalidatedObjectIDs = "invalidated_objectIDs"
    case queryGeneration = "newQueryGeneration"
  }
}

// MARK: Sets of objects

public let NSInsertedObjectsKey = "inserted"
public let NSUpdatedObjectsKey = "updated"
public let NSDeletedObjectsKey = "deleted"
public let NSRefreshedObjectsKey = "refreshed"
public let NSInvalidatedObjectsKey = "invalidated"
/// An array of IDs: every object that the context had is gone.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"

// MARK: Sets of IDs

public let NSInsertedObjectIDsKey = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"

/// The generation that a save made: an `NSQueryGenerationToken`.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"

// MARK: Stores

/// The stores (`[NSPersistentStore]`) that a coordinator has now.
public let NSAddedPersistentStoresKey = "added"
/// The stores (`[NSPersistentStore]`) that a coordinator hasn't any more.
public let NSRemovedPersistentStoresKey = "removed"
/// What a moved store became: an array of the old store, the new store, and an array in which each old ID is
/// followed by the new one. (Core Data's raw value isn't known for certain.)
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// The URL of the store that a remote change is of.
public let NSPersistentStoreURLKey = "storeURL"
/// The `NSPersistentHistoryToken` of a remote change.
public let NSPersistentHistoryTokenKey = "historyToken"
