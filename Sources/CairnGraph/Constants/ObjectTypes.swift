// Kinds of event, change, policy and mapping. Raw values are Core Data's.

/// Why an object is given the values of a snapshot.
public struct NSSnapshotEventType: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
  public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
  public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
  public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
  public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
  public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}

/// How a merge policy resolves conflicts.
public enum NSMergePolicyType: UInt, Sendable {
  case errorMergePolicyType = 0
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  case overwriteMergePolicyType = 3
  case rollbackMergePolicyType = 4
}

/// What happened to an object or a section of a results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  case move = 3
  case update = 4
}

/// What a migration does with an entity.
public enum NSEntityMappingType: UInt, Sendable {
  case undefinedEntityMappingType = 0
  case customEntityMappingType = 1
  case addEntityMappingType = 2
  case removeEntityMappingType = 3
  case copyEntityMappingType = 4
  case transformEntityMappingType = 5
}
