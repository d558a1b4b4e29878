// The keys of a store's options.
//
// Values come as Swift's own or as NSNumber; `StoreOptions` reads both.

/// Whether the store is opened for reading only: a number, true or false.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// How long to wait for a store, in seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Settings of SQLite, by name. No Cairn store looks at them.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Whether SQLite is to look at its indexes. No Cairn store does anything about it.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Whether SQLite is to give back free pages. No Cairn store does anything about it.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Whether a store opens whatever model it was made with.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Whether a store of another version of the model is migrated when it is opened.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Whether the mapping between the two versions may be inferred.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Whether a store is destroyed even while others use it.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// How Apple's systems encrypt the file. No Cairn store looks at it.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Whether the store remembers its commits: a number, true or false.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Whether the slow part of an inferred migration waits until it is asked for.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// The staged migration manager to migrate with.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"
/// Further classes that a binary store may decode.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Whether a binary store may decode any class.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Inert since iCloud's Core Data support ended; kept so that code which names it compiles.
public let NSPersistentStoreUbiquitousContentNameKey = "NSPersistentStoreUbiquitousContentNameKey"
/// Inert, as `NSPersistentStoreUbiquitousContentNameKey`.
public let NSPersistentStoreUbiquitousContentURLKey = "NSPersistentStoreUbiquitousContentURLKey"
/// Inert, as `NSPersistentStoreUbiquitousContentNameKey`.
public let NSPersistentStoreUbiquitousContainerIdentifierKey =
  "NSPersistentStoreUbiquitousContainerIdentifierKey"
/// Whether `NSPersistentStoreRemoteChange` is posted for each commit: a number, true or false.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// How many connections a SQLite store keeps. No Cairn store looks at it.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
