// Managed properties that are relationships: an object class for to-one, Set and NSSet for to-many, Array and
// NSOrderedSet for ordered to-many.

public import Foundation

extension NSManagedObject: ManagedValue {}

extension ManagedValue where Self: NSManagedObject {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    guard let value = managedGetOptional(object, key) else { object.trapNil(key, self) }
    return value
  }

  @inlinable
  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    object.managedValue(forKey: key)
  }

  @inlinable
  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    if let value, object.setQuickly(key, to: value) { return }
    object.setDestination(key, value)
  }
}

extension Set: ManagedValue where Element: NSManagedObject {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    Set(object.members(key, Element.self, ordered: nil))
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    managedGet(object, key)
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    let relation = object.relation(key, toMany: true, Self.self)
    if relation.isOrdered, (value?.count ?? 0) > 1 {
      fatalError("'\(key)' is ordered and a Set has no order: declare the property as [\(Element.self)]")
    }
    object.setDestinations(of: relation, to: value.map { Array($0) } ?? [])
  }
}

/// Of ordered relationships, where setting it keeps the first of equal members; and of transformable attributes,
/// where it is empty while the attribute is nil.
extension Array: ManagedValue where Element: ManagedElement {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    managedGetOptional(object, key) ?? []
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    Element.managedElements(object, key)?.compactMap { $0 as? Element }
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    Element.setManagedElements(value, object, key)
  }
}

extension NSManagedObject: ManagedElement {}

extension ManagedElement where Self: NSManagedObject {
  public static func managedElements(_ object: NSManagedObject, _ key: StaticString) -> [Any]? {
    object.members(key, self, ordered: true)
  }

  public static func setManagedElements(_ elements: [Any]?, _ object: NSManagedObject, _ key: StaticString) {
    let members = (elements ?? []).compactMap { $0 as? NSManagedObject }
    object.setDestinations(
      of: object.relation(key, toMany: true, [NSManagedObject].self, ordered: true), to: members)
  }
}

extension NSSet: ManagedValue {}

extension ManagedValue where Self: NSSet {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    let members = NSSet(array: object.members(key, NSManagedObject.self, ordered: nil))
    guard let set = members as? Self else { object.trapWrongSwiftType(key, self, "a to-many relationship") }
    return set
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    managedGet(object, key)
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    object.setValue(value, forKey: key.description)
  }
}

extension NSOrderedSet: ManagedValue {}

extension ManagedValue where Self: NSOrderedSet {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    let members = NSOrderedSet(array: object.members(key, NSManagedObject.self, ordered: true))
    guard let set = members as? Self else { object.trapWrongSwiftType(key, self, "an ordered relationship") }
    return set
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    managedGet(object, key)
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    object.setValue(value, forKey: key.description)
  }
}

extension NSManagedObject {
  /// The same as the general one; chosen where the property's type is known to be an object's.
  @inlinable @inline(__always)
  public final func managedValue<T: NSManagedObject>(forKey key: StaticString) -> T? {
    guard let quick = quickDestination(key) else { return destination(key, as: T.self) }
    guard let known = quick?.takeUnretainedValue() else { return nil }
    // It is of just this class, mostly.
    return ObjectIdentifier(Swift.type(of: known)) == ObjectIdentifier(T.self)
      ? unsafeDowncast(known, to: T.self) : typed(known, key, as: T.self)
  }

  /// The relationship of that name. An attribute, the other count, or an order that isn't there is a programmer
  /// error.
  final func relation<T>(
    _ key: StaticString, toMany: Bool, _ type: T.Type, ordered: Bool? = nil
  ) -> Relation {
    let known = table.cachedSlot(key, SlotCacheEntry.relationshipBit)
    let relation: Relation
    if known >= 0 {
      relation = table.model.relations[known]
    } else {
      guard case .relationship(let found) = table.property(key) else {
        trapWrongSwiftType(key, type, "an attribute")
      }
      relation = found
    }
    if relation.isToMany != toMany {
      trapWrongSwiftType(key, type, relation.isToMany ? "a to-many relationship" : "a to-one relationship")
    }
    if let ordered, relation.isOrdered != ordered {
      trapWrongSwiftType(key, type, "a relationship without an order")
    }
    return relation
  }

  // The slow ways of to-one relationships.

  @inline(never) @usableFromInline
  final func destination<T: NSManagedObject>(_ key: StaticString, as type: T.Type) -> T? {
    if let recorder = table.recorder { return recorder.destination(key, type, of: self) }
    return destination(of: relation(key, toMany: false, type)).map { typed($0, key, as: type) }
  }

  @inline(never) @usableFromInline
  final func typed<T: NSManagedObject>(_ object: NSManagedObject, _ key: StaticString, as type: T.Type) -> T {
    guard let typed = object as? T else { trapClass(key, type, object) }
    return typed
  }

  @inline(never) @usableFromInline
  final func setDestination<T: NSManagedObject>(_ key: StaticString, _ value: T?) {
    setDestination(of: relation(key, toMany: false, T.self), to: value)
  }

  fileprivate final func members<T: NSManagedObject>(
    _ key: StaticString, _ type: T.Type, ordered: Bool?
  ) -> [T] {
    if let recorder = table.recorder {
      recorder.collection(key, of: self)
      return []
    }
    let relation = relation(key, toMany: true, Set<T>.self, ordered: ordered)
    return destinations(of: relation).map { object in
      guard let typed = object as? T else { trapClass(key, type, object) }
      return typed
    }
  }

  fileprivate final func trapClass<T>(_ key: StaticString, _ wanted: T.Type, _ object: NSManagedObject)
    -> Never
  {
    fatalError(
      "\(table.entity.name).\(key) leads to a \(Swift.type(of: object)), not a \(wanted): "
        + NSManagedObjectContext.classRemedy(object.table.entity))
  }
}
