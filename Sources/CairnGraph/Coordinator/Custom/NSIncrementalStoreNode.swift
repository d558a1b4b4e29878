// What an incremental store says of one object.

public import Foundation

/// The values of one object of an `NSIncrementalStore`, by property name, and their version: attributes, and
/// to-one relationships as IDs. A missing attribute is nil; a missing to-one relationship is asked for when it is
/// needed.
///
/// Confined to the store's own calls: its coordinator makes them one at a time.
open class NSIncrementalStoreNode: NSObject {
  public final let objectID: NSManagedObjectID
  private final var values: [String: Any]
  public private(set) final var version: UInt64

  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    self.values = values
    self.version = version
  }

  /// Replaces values and version.
  public final func update(withValues values: [String: Any], version: UInt64) {
    self.values = values
    self.version = version
  }

  /// NSNull for an explicit null; nil for a value that the node doesn't have.
  public final func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }

  final func value(named name: String) -> Any? { values[name] }
}
