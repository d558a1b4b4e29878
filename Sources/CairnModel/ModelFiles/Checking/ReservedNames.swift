// The names that properties can't have, for models in files and in code alike.

/// Names that properties can't have, because every managed object answers to them.
package enum ReservedNames {
  package static let all: Set<String> = [
    "autorelease", "awakeFromFetch", "awakeFromInsert",
    "changedValues", "changedValuesForCurrentEvent", "class", "classForArchiver", "classForCoder",
    "classForKeyedArchiver", "classForPortCoder", "copy", "dealloc", "debugDescription", "description",
    "didSave", "didTurnIntoFault", "entity", "faultingState", "finalize", "hasChanges",
    "hasPersistentChangedValues", "hash", "init", "isDeleted", "isFault", "isInserted", "isProxy",
    "isUpdated",
    "managedObjectContext", "mutableCopy", "objectID", "objectWillChange", "observationInfo",
    "prepareForDeletion", "release", "retain", "retainCount", "self", "superclass", "willSave",
    "willTurnIntoFault", "zone",
  ]
}
