// Core Data's error numbers, in NSCocoaErrorDomain. What has no number here is thrown as a `StoreError`.

/// A validation that has no number of its own, such as a failed validation predicate.
public let NSManagedObjectValidationError = 1_550
/// A uniqueness constraint failed in validation.
public let NSManagedObjectConstraintValidationError = 1_551
/// Several validations failed; all are under `NSDetailedErrorsKey`.
public let NSValidationMultipleErrorsError = 1_560
/// A property that isn't optional is nil.
public let NSValidationMissingMandatoryPropertyError = 1_570
/// A relationship has fewer objects than its `minCount`.
public let NSValidationRelationshipLacksMinimumCountError = 1_580
/// A relationship has more objects than its `maxCount`.
public let NSValidationRelationshipExceedsMaximumCountError = 1_590
/// An object to delete still has objects in a relationship with the deny rule.
public let NSValidationRelationshipDeniedDeleteError = 1_600
/// A number above its maximum.
public let NSValidationNumberTooLargeError = 1_610
/// A number below its minimum.
public let NSValidationNumberTooSmallError = 1_620
/// A date after its maximum.
public let NSValidationDateTooLateError = 1_630
/// A date before its minimum.
public let NSValidationDateTooSoonError = 1_640
/// A date that is none.
public let NSValidationInvalidDateError = 1_650
/// A string above its maximum length.
public let NSValidationStringTooLongError = 1_660
/// A string below its minimum length.
public let NSValidationStringTooShortError = 1_670
/// A string that doesn't match its pattern.
public let NSValidationStringPatternMatchingError = 1_680
/// A URL that is none.
public let NSValidationInvalidURIError = 1_690
/// A context couldn't be locked.
public let NSManagedObjectContextLockingError = 132_000
/// A coordinator couldn't be locked.
public let NSPersistentStoreCoordinatorLockingError = 132_010
/// An object that should exist has no row.
public let NSManagedObjectReferentialIntegrityError = 133_000
/// An object to save is related to one of another store.
public let NSManagedObjectExternalRelationshipError = 133_010
/// A row has changed since it was read.
public let NSManagedObjectMergeError = 133_020
/// A uniqueness constraint would break.
public let NSManagedObjectConstraintMergeError = 133_021
/// No store of that type.
public let NSPersistentStoreInvalidTypeError = 134_000
/// What is at the URL is no store of that type.
public let NSPersistentStoreTypeMismatchError = 134_010
/// A model that the store can't be opened with.
public let NSPersistentStoreIncompatibleSchemaError = 134_020
/// A save that the store refused.
public let NSPersistentStoreSaveError = 134_030
/// Some stores have saved and others haven't.
public let NSPersistentStoreIncompleteSaveError = 134_040
/// Conflicts that the merge policy left unresolved.
public let NSPersistentStoreSaveConflictsError = 134_050
/// Anything that has no number of its own.
public let NSCoreDataError = 134_060
/// A request that no store could answer.
public let NSPersistentStoreOperationError = 134_070
/// A store that couldn't be opened.
public let NSPersistentStoreOpenError = 134_080
/// A store that didn't answer in time.
public let NSPersistentStoreTimeoutError = 134_090
/// A kind of request that the store doesn't know.
public let NSPersistentStoreUnsupportedRequestTypeError = 134_091
/// A store that was made with another version of the model.
public let NSPersistentStoreIncompatibleVersionHashError = 134_100
/// A migration that failed.
public let NSMigrationError = 134_110
/// A migration that would break a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134_111
/// A migration that was cancelled.
public let NSMigrationCancelledError = 134_120
/// No model that the store to migrate was made with.
public let NSMigrationMissingSourceModelError = 134_130
/// No mapping between the two models.
public let NSMigrationMissingMappingModelError = 134_140
/// The store to migrate couldn't be read.
public let NSMigrationManagerSourceStoreError = 134_150
/// The store to migrate into couldn't be written.
public let NSMigrationManagerDestinationStoreError = 134_160
/// A migration policy threw.
public let NSEntityMigrationPolicyError = 134_170
/// An error of SQLite.
public let NSSQLiteError = 134_180
/// A mapping that can't be inferred.
public let NSInferredMappingModelError = 134_190
/// Not used any more.
public let NSExternalRecordImportError = 134_200
/// A token of history that was purged.
public let NSPersistentHistoryTokenExpiredError = 134_301
/// A staged migration names a model that can't be found.
public let NSManagedObjectModelReferenceNotFoundError = 134_504
/// A store too old for staged migration.
public let NSStagedMigrationFrameworkVersionMismatchError = 134_505
/// A staged migration would go backwards.
public let NSStagedMigrationBackwardMigrationError = 134_506
