// The errors that Core Data's callers know by number. They are in NSCocoaErrorDomain; everything else that the
// layer throws is a `StoreError`.

import Foundation

/// An object that should exist has no row.
public let NSManagedObjectReferentialIntegrityError = 133_000
/// A row has changed since it was read.
public let NSManagedObjectMergeError = 133_020
/// A uniqueness constraint would break.
public let NSManagedObjectConstraintMergeError = 133_021
/// No store of that type.
public let NSPersistentStoreInvalidTypeError = 134_000
/// A model that no store can be opened with.
public let NSPersistentStoreIncompatibleSchemaError = 134_020
/// A save that the store refused.
public let NSPersistentStoreSaveError = 134_030
/// A request without a store to answer it.
public let NSPersistentStoreOperationError = 134_070
/// A store that couldn't be opened.
public let NSPersistentStoreOpenError = 134_080

/// The key of the conflicts of errors 133020 (`[NSMergeConflict]`) and 133021 (`[NSConstraintConflict]`).
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

extension NSError {
  static func coreData(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: message]) { $1 })
  }
}
