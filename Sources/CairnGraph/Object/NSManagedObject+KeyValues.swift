// Access to properties by name, for code that doesn't know the class.

import CairnModel
import Foundation

extension NSManagedObject {
  /// The value of a property: numbers as NSNumber (which casts to every number type), other attributes as
  /// Swift's own types, a to-one as an object, a to-many as NSSet or NSOrderedSet. nil where there is none.
  ///
  /// An unknown key is a programmer error, as in Core Data.
  public final func value(forKey key: String) -> Any? {
    switch table.property(named: key) {
    case .attribute(let slot, _): slotValue(slot).keyValueForm
    case .transient: transientValue(key)
    case .relationship(let relation) where !relation.isToMany: destination(of: relation)
    case .relationship(let relation) where relation.isOrdered: NSOrderedSet(array: destinations(of: relation))
    case .relationship(let relation): NSSet(array: destinations(of: relation))
    }
  }

  /// Sets a property and maintains the inverse of a relationship.
  ///
  /// An unknown key and a value that doesn't fit the property are programmer errors, as in Core Data.
  public final func setValue(_ value: Any?, forKey key: String) {
    switch table.property(named: key) {
    case .attribute(let slot, let type):
      writeSlot(slot, fitting(value, type, key))
      noteChange()
    case .transient(let type):
      setTransient(key, checkedTransient(value, type, key))
      noteChange()
    case .relationship(let relation) where relation.isToMany:
      setDestinations(of: relation, to: objects(value, key))
    case .relationship(let relation):
      setDestination(of: relation, to: object(value, key))
    }
  }

  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// As `value(forKey:)`.
  public final func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

  /// Sets an attribute or to-one relationship without marking the object as changed and without maintaining the
  /// inverse. What is set so is saved only along with other changes of the object.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    switch table.property(named: key) {
    case .attribute(let slot, let type): writeSlot(slot, fitting(value, type, key))
    case .transient(let type): setTransient(key, checkedTransient(value, type, key))
    case .relationship(let relation):
      guard let slot = relation.keySlot else {
        fatalError(
          "\(table.entity.name).\(key) has no primitive value of its own: it follows from other rows; "
            + "use setValue(_:forKey:)")
      }
      let destination = object(value, key)
      check(destination, for: relation)
      writeSlot(slot, destination.map { .key($0.key) } ?? .null)
    }
  }

  private func fitting(_ value: Any?, _ type: ValueType, _ key: String) -> Value {
    guard let value = Value(value, for: type) else { trapWrongType(key, value, desired: "\(type)") }
    return value
  }

  private func checkedTransient(_ value: Any?, _ type: ValueType?, _ key: String) -> Any? {
    guard let type else { return value }
    return fitting(value, type, key).keyValueForm
  }

  private func object(_ value: Any?, _ key: String) -> NSManagedObject? {
    guard let value, !(value is NSNull) else { return nil }
    guard let object = value as? NSManagedObject else {
      trapWrongType(key, value, desired: "NSManagedObject")
    }
    return object
  }

  private func objects(_ value: Any?, _ key: String) -> [NSManagedObject] {
    switch value {
    case nil: return []
    case let set as NSSet: return objects(set.allObjects, key)
    case let list as NSOrderedSet: return objects(list.array, key)
    case let list as [Any]: return list.compactMap { object($0, key) }
    case let set as Set<AnyHashable>: return set.compactMap { object($0.base, key) }
    default: trapWrongType(key, value, desired: "NSSet")
    }
  }
}
