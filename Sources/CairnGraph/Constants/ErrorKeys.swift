// The keys of `userInfo` in Core Data's errors, and how the layer makes such an error.

import Foundation

/// The single errors (`[NSError]`) of error 1560.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that a validation refused.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// The name of the property that a validation refused.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that a validation failed by.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that a validation refused.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The stores (`[NSPersistentStore]`) that an error is about.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects (`[NSManagedObject]`) that an error is about.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts of errors 133020 (`[NSMergeConflict]`) and 133021 (`[NSConstraintConflict]`).
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// The domain of SQLite's own numbers. No Cairn store uses it.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

extension NSError {
  static func coreData(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: message]) { $1 })
  }
}
