// Core Data's constants against the values that other programs, files and servers know them by.

import Cairn
import Testing

@Suite struct ConstantTests {
  private static let errors: [(constant: Int, code: CocoaError.Code, value: Int)] = [
    (NSManagedObjectValidationError, .managedObjectValidation, 1_550),
    (NSManagedObjectConstraintValidationError, .managedObjectConstraintValidation, 1_551),
    (NSValidationMultipleErrorsError, .validationMultipleErrors, 1_560),
    (NSValidationMissingMandatoryPropertyError, .validationMissingMandatoryProperty, 1_570),
    (NSValidationRelationshipLacksMinimumCountError, .validationRelationshipLacksMinimumCount, 1_580),
    (NSValidationRelationshipExceedsMaximumCountError, .validationRelationshipExceedsMaximumCount, 1_590),
    (NSValidationRelationshipDeniedDeleteError, .validationRelationshipDeniedDelete, 1_600),
    (NSValidationNumberTooLargeError, .validationNumberTooLarge, 1_610),
    (NSValidationNumberTooSmallError, .validationNumberTooSmall, 1_620),
    (NSValidationDateTooLateError, .validationDateTooLate, 1_630),
    (NSValidationDateTooSoonError, .validationDateTooSoon, 1_640),
    (NSValidationInvalidDateError, .validationInvalidDate, 1_650),
    (NSValidationStringTooLongError, .validationStringTooLong, 1_660),
    (NSValidationStringTooShortError, .validationStringTooShort, 1_670),
    (NSValidationStringPatternMatchingError, .validationStringPatternMatching, 1_680),
    (NSValidationInvalidURIError, .validationInvalidURI, 1_690),
    (NSManagedObjectContextLockingError, .managedObjectContextLocking, 132_000),
    (NSPersistentStoreCoordinatorLockingError, .persistentStoreCoordinatorLocking, 132_010),
    (NSManagedObjectReferentialIntegrityError, .managedObjectReferentialIntegrity, 133_000),
    (NSManagedObjectExternalRelationshipError, .managedObjectExternalRelationship, 133_010),
    (NSManagedObjectMergeError, .managedObjectMerge, 133_020),
    (NSManagedObjectConstraintMergeError, .managedObjectConstraintMerge, 133_021),
    (NSPersistentStoreInvalidTypeError, .persistentStoreInvalidType, 134_000),
    (NSPersistentStoreTypeMismatchError, .persistentStoreTypeMismatch, 134_010),
    (NSPersistentStoreIncompatibleSchemaError, .persistentStoreIncompatibleSchema, 134_020),
    (NSPersistentStoreSaveError, .persistentStoreSave, 134_030),
    (NSPersistentStoreIncompleteSaveError, .persistentStoreIncompleteSave, 134_040),
    (NSPersistentStoreSaveConflictsError, .persistentStoreSaveConflicts, 134_050),
    (NSCoreDataError, .coreData, 134_060),
    (NSPersistentStoreOperationError, .persistentStoreOperation, 134_070),
    (NSPersistentStoreOpenError, .persistentStoreOpen, 134_080),
    (NSPersistentStoreTimeoutError, .persistentStoreTimeout, 134_090),
    (NSPersistentStoreUnsupportedRequestTypeError, .persistentStoreUnsupportedRequestType, 134_091),
    (NSPersistentStoreIncompatibleVersionHashError, .persistentStoreIncompatibleVersionHash, 134_100),
    (NSMigrationError, .migration, 134_110),
    (NSMigrationConstraintViolationError, .migrationConstraintViolation, 134_111),
    (NSMigrationCancelledError, .migrationCancelled, 134_120),
    (NSMigrationMissingSourceModelError, .migrationMissingSourceModel, 134_130),
    (NSMigrationMissingMappingModelError, .migrationMissingMappingModel, 134_140),
    (NSMigrationManagerSourceStoreError, .migrationManagerSourceStore, 134_150),
    (NSMigrationManagerDestinationStoreError, .migrationManagerDestinationStore, 134_160),
    (NSEntityMigrationPolicyError, .entityMigrationPolicy, 134_170),
    (NSSQLiteError, .sqlite, 134_180),
    (NSInferredMappingModelError, .inferredMappingModel, 134_190),
    (NSExternalRecordImportError, .externalRecordImport, 134_200),
    (NSPersistentHistoryTokenExpiredError, .persistentHistoryTokenExpired, 134_301),
    (NSManagedObjectModelReferenceNotFoundError, .managedObjectModelReferenceNotFound, 134_504),
    (NSStagedMigrationFrameworkVersionMismatchError, .stagedMigrationFrameworkVersionMismatch, 134_505),
    (NSStagedMigrationBackwardMigrationError, .stagedMigrationBackwardMigration, 134_506),
  ]

  @Test("an error's constant and its CocoaError code are Core Data's number", arguments: errors.indices)
  func errorNumber(row: Int) {
    let (constant, code, value) = Self.errors[row]
    #expect(constant == value && code.rawValue == value)
  }

  @Test func `an error of Core Data's domain is caught as a CocoaError with its code`() {
    let thrown = NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError)
    #expect { throw thrown } throws: { ($0 as? CocoaError)?.code == .managedObjectMerge }
    #expect(CocoaError.managedObjectMerge == CocoaError.Code.managedObjectMerge)
  }

  private static let keys: [(constant: String, value: String)] = [
    (NSDetailedErrorsKey, "NSDetailedErrors"),
    (NSValidationObjectErrorKey, "NSValidationErrorObject"),
    (NSValidationKeyErrorKey, "NSValidationErrorKey"),
    (NSValidationPredicateErrorKey, "NSValidationErrorPredicate"),
    (NSValidationValueErrorKey, "NSValidationErrorValue"),
    (NSAffectedStoresErrorKey, "NSAffectedStoresErrorKey"),
    (NSAffectedObjectsErrorKey, "NSAffectedObjectsErrorKey"),
    (NSPersistentStoreSaveConflictsErrorKey, "conflictList"),
    (NSSQLiteErrorDomain, "NSSQLiteErrorDomain"),
    (NSInsertedObjectsKey, "inserted"), (NSUpdatedObjectsKey, "updated"), (NSDeletedObjectsKey, "deleted"),
    (NSRefreshedObjectsKey, "refreshed"), (NSInvalidatedObjectsKey, "invalidated"),
    (NSInvalidatedAllObjectsKey, "invalidatedAll"),
    (NSInsertedObjectIDsKey, "inserted_objectIDs"), (NSUpdatedObjectIDsKey, "updated_objectIDs"),
    (NSDeletedObjectIDsKey, "deleted_objectIDs"), (NSRefreshedObjectIDsKey, "refreshed_objectIDs"),
    (NSInvalidatedObjectIDsKey, "invalidated_objectIDs"),
    (NSManagedObjectContextQueryGenerationKey, "newQueryGeneration"),
    (NSAddedPersistentStoresKey, "added"), (NSRemovedPersistentStoresKey, "removed"),
    (NSPersistentStoreURLKey, "storeURL"), (NSPersistentHistoryTokenKey, "historyToken"),
    (NSSQLiteStoreType, "SQLite"), (NSBinaryStoreType, "Binary"), (NSInMemoryStoreType, "InMemory"),
    (NSXMLStoreType, "XML"),
    (NSStoreTypeKey, "NSStoreType"), (NSStoreUUIDKey, "NSStoreUUID"),
    (NSStoreModelVersionHashesKey, "NSStoreModelVersionHashes"),
    (NSStoreModelVersionIdentifiersKey, "NSStoreModelVersionIdentifiers"),
    (NSPersistentStoreModelVersionChecksumKey, "NSStoreModelVersionChecksumKey"),
    (NSPersistentStoreOSCompatibility, "NSPersistentStoreOSCompatibility"),
    (
      NSPersistentStoreRemoteChangeNotificationPostOptionKey,
      "NSPersistentStoreRemoteChangeNotificationOptionKey"
    ),
    (NSPersistentStoreConnectionPoolMaxSizeKey, "NSPersistentStoreConnectionPoolMaxSize"),
    (NSReadOnlyPersistentStoreOption, "NSReadOnlyPersistentStoreOption"),
    (NSPersistentStoreTimeoutOption, "NSPersistentStoreTimeoutOption"),
    (NSSQLitePragmasOption, "NSSQLitePragmasOption"),
    (NSSQLiteAnalyzeOption, "NSSQLiteAnalyzeOption"),
    (NSSQLiteManualVacuumOption, "NSSQLiteManualVacuumOption"),
    (NSIgnorePersistentStoreVersioningOption, "NSIgnorePersistentStoreVersioningOption"),
    (NSMigratePersistentStoresAutomaticallyOption, "NSMigratePersistentStoresAutomaticallyOption"),
    (NSInferMappingModelAutomaticallyOption, "NSInferMappingModelAutomaticallyOption"),
    (NSPersistentStoreForceDestroyOption, "NSPersistentStoreForceDestroyOption"),
    (NSPersistentStoreFileProtectionKey, "NSPersistentStoreFileProtectionKey"),
    (NSPersistentHistoryTrackingKey, "NSPersistentHistoryTrackingKey"),
    (
      NSPersistentStoreDeferredLightweightMigrationOptionKey,
      "NSPersistentStoreDeferredLightweightMigrationOptionKey"
    ),
    (NSPersistentStoreStagedMigrationManagerOptionKey, "NSPersistentStoreStagedMigrationManagerOptionKey"),
    (NSBinaryStoreSecureDecodingClasses, "NSBinaryStoreSecureDecodingClasses"),
    (NSBinaryStoreInsecureDecodingCompatibilityOption, "NSBinaryStoreInsecureDecodingCompatibilityOption"),
    (NSMigrationManagerKey, "manager"), (NSMigrationSourceObjectKey, "source"),
    (NSMigrationDestinationObjectKey, "destination"), (NSMigrationEntityMappingKey, "entityMapping"),
    (NSMigrationPropertyMappingKey, "propertyMapping"), (NSMigrationEntityPolicyKey, "entityPolicy"),
  ]

  @Test("a key has Core Data's value", arguments: keys.indices)
  func keyValue(row: Int) {
    #expect(Self.keys[row].constant == Self.keys[row].value)
  }

  private static let names: [(older: Notification.Name, newer: Notification.Name?, value: String)] = [
    (
      .NSManagedObjectContextObjectsDidChange, NSManagedObjectContext.didChangeObjectsNotification,
      "NSObjectsChangedInManagingContextNotification"
    ),
    (
      .NSManagedObjectContextWillSave, NSManagedObjectContext.willSaveObjectsNotification,
      "NSManagingContextWillSaveChangesNotification"
    ),
    (
      .NSManagedObjectContextDidSave, NSManagedObjectContext.didSaveObjectsNotification,
      "NSManagingContextDidSaveChangesNotification"
    ),
    (
      .NSManagedObjectContextDidSaveObjectIDs, NSManagedObjectContext.didSaveObjectIDsNotification,
      "NSManagedObjectContextDidSaveObjectIDsNotification"
    ),
    (
      .NSManagedObjectContextDidMergeChangesObjectIDs,
      NSManagedObjectContext.didMergeChangesObjectIDsNotification,
      "NSManagedObjectContextDidMergeChangesObjectIDsNotification"
    ),
    (
      .NSPersistentStoreCoordinatorStoresWillChange, nil, "NSPersistentStoreCoordinatorStoresWillChange"
    ),
    (.NSPersistentStoreCoordinatorStoresDidChange, nil, "NSPersistentStoreCoordinatorStoresDidChange"),
    (.NSPersistentStoreCoordinatorWillRemoveStore, nil, "NSPersistentStoreCoordinatorWillRemoveStore"),
    (.NSPersistentStoreRemoteChange, nil, "NSPersistentStoreRemoteChangeNotification"),
  ]

  @Test("a notification has Core Data's name in both spellings", arguments: names.indices)
  func notificationName(row: Int) {
    let (older, newer, value) = Self.names[row]
    #expect(older.rawValue == value && (newer ?? older) == older)
  }

  @Test func `the keys of a context's notifications are the older constants`() {
    typealias Key = NSManagedObjectContext.NotificationKey
    let pairs: [(Key, String)] = [
      (.insertedObjects, NSInsertedObjectsKey), (.updatedObjects, NSUpdatedObjectsKey),
      (.deletedObjects, NSDeletedObjectsKey), (.refreshedObjects, NSRefreshedObjectsKey),
      (.invalidatedObjects, NSInvalidatedObjectsKey),
      (.invalidatedAllObjects, NSInvalidatedAllObjectsKey),
      (.insertedObjectIDs, NSInsertedObjectIDsKey), (.updatedObjectIDs, NSUpdatedObjectIDsKey),
      (.deletedObjectIDs, NSDeletedObjectIDsKey), (.refreshedObjectIDs, NSRefreshedObjectIDsKey),
      (.invalidatedObjectIDs, NSInvalidatedObjectIDsKey),
      (.queryGeneration, NSManagedObjectContextQueryGenerationKey),
    ]
    for (key, constant) in pairs { #expect(key.rawValue == constant) }
    #expect(pairs.count == Key.allCases.count)
  }

  @Test func `kinds of request, result, event and change have Core Data's numbers`() {
    let requests: [NSPersistentStoreRequestType] = [
      .fetchRequestType, .saveRequestType, .batchInsertRequestType, .batchUpdateRequestType,
      .batchDeleteRequestType,
    ]
    #expect(requests.map(\.rawValue) == [1, 2, 5, 6, 7])
    let fetches: [NSFetchRequestResultType] = [
      .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType, .countResultType,
    ]
    #expect(fetches.map(\.rawValue) == [0, 1, 2, 4])
    let inserts: [NSBatchInsertRequestResultType] = [.statusOnly, .objectIDs, .count]
    #expect(inserts.map(\.rawValue) == [0, 1, 2])
    let updates: [NSBatchUpdateRequestResultType] = [
      .statusOnlyResultType, .updatedObjectIDsResultType, .updatedObjectsCountResultType,
    ]
    #expect(updates.map(\.rawValue) == [0, 1, 2])
    let deletes: [NSBatchDeleteRequestResultType] = [
      .resultTypeStatusOnly, .resultTypeObjectIDs, .resultTypeCount,
    ]
    #expect(deletes.map(\.rawValue) == [0, 1, 2])
    let histories: [NSPersistentHistoryResultType] = [
      .statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly, .transactionsAndChanges,
    ]
    #expect(histories.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    let changes: [NSPersistentHistoryChangeType] = [.insert, .update, .delete]
    #expect(changes.map(\.rawValue) == [0, 1, 2])
    let events: [NSSnapshotEventType] = [
      .undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy,
    ]
    #expect(events.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
    let policies: [NSMergePolicyType] = [
      .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]
    #expect(policies.map(\.rawValue) == [0, 1, 2, 3, 4])
    let controllers: [NSFetchedResultsChangeType] = [.insert, .delete, .move, .update]
    #expect(controllers.map(\.rawValue) == [1, 2, 3, 4])
    let mappings: [NSEntityMappingType] = [
      .undefinedEntityMappingType, .customEntityMappingType, .addEntityMappingType,
      .removeEntityMappingType, .copyEntityMappingType, .transformEntityMappingType,
    ]
    #expect(mappings.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
  }
}
