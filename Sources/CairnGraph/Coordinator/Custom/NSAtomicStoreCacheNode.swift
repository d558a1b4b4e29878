// What an atomic store keeps of one object.

public import Foundation

/// The values of one object of an `NSAtomicStore`, by property name. A to-one relationship's value is the
/// destination's node, a to-many one's a set of nodes, an ordered one's an array.
///
/// Confined to the store's own calls: its coordinator makes them one at a time.
open class NSAtomicStoreCacheNode: NSObject {
  public internal(set) final var objectID: NSManagedObjectID
  open var propertyCache: NSMutableDictionary?

  public init(objectID moid: NSManagedObjectID) {
    objectID = moid
  }

  open func value(forKey key: String) -> Any? { propertyCache?.object(forKey: key) }

  /// Sets a value, or removes it when it is nil.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let value else {
      propertyCache?.removeObject(forKey: key)
      return
    }
    let cache = propertyCache ?? NSMutableDictionary()
    cache.setObject(value, forKey: key as NSString)
    propertyCache = cache
  }
}
