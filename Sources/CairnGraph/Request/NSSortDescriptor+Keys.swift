// Sort descriptors by key, back on Foundation's class: there they are marked unavailable on Linux.
//
// An initialiser of a protocol extension assigns `self` a subclass that knows the key. An own class of the same
// name would be ambiguous for whoever imports Foundation too.

import CairnModel
public import Foundation

/// What gives `NSSortDescriptor` its initialisers by key.
public protocol NSSortDescriptorKeyInitializable {}

extension NSSortDescriptor: NSSortDescriptorKeyInitializable {}

extension NSSortDescriptorKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by an attribute, or by a path over to-one relationships to one. nil comes first when ascending.
  public init(key: String?, ascending: Bool) {
    guard let descriptor = KeySortDescriptor(key, ascending) as? Self else {
      fatalError("NSSortDescriptor(key:ascending:) makes plain sort descriptors, not a \(Self.self)")
    }
    self = descriptor
  }
}

extension NSSortDescriptor {
  /// The key that it was made with, or nil.
  public var key: String? { (self as? KeySortDescriptor)?.sortKey }
}

/// A sort descriptor that knows its key's name. Immutable.
private final class KeySortDescriptor: NSSortDescriptor {
  let sortKey: String?

  /// Foundation's initialiser wants a key path of some class; it is never followed.
  private final class Unused { let value = 0 }

  init(_ key: String?, _ ascending: Bool) {
    sortKey = key
    super.init(keyPath: \Unused.value, ascending: ascending)
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { fatalError("a sort descriptor by key can't be decoded") }

  /// Compares two managed objects of one entity by the key.
  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    guard let a = object1 as? NSManagedObject, let b = object2 as? NSManagedObject, let sortKey else {
      fatalError("a sort descriptor by key compares managed objects")
    }
    do {
      let order = try ObjectOrder(
        [SortTerm(sortKey, ascending: ascending)], of: a.table.entity.id, in: a.table.model.schema)
      return order.compare(a, b)
    } catch {
      fatalError("\(error)")
    }
  }

  override var reversedSortDescriptor: Any { KeySortDescriptor(sortKey, !ascending) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    return sortKey == other.sortKey && ascending == other.ascending
  }

  override var hash: Int { sortKey.hashValue }
}

extension SortTerm {
  /// Throws `unsupportedRequest` for a descriptor that wasn't made with a key.
  init(_ descriptor: NSSortDescriptor) throws {
    guard let key = descriptor.key else {
      throw StoreError(
        .unsupportedRequest, "a sort descriptor without a key has no name that a store knows",
        remedy: "make it with NSSortDescriptor(key:ascending:)")
    }
    self.init(key, ascending: descriptor.ascending)
  }
}
