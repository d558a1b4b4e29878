// Access to properties by name, for code that doesn't know the class.

import CairnModel
import Foundation

extension NSManagedObject {
  final func storedForm(_ key: String) -> Any? {
    if let recorder = table.recorder { return recorder.untyped(key, of: self) }
    guard let property = table.entity.properties[key] else { return compoundForm(key) }
    switch property {
    case .attribute(let slot, _): return keyValueForm(slotValue(slot), slot)
    case .transient: return transientValue(key)
    case .relationship(let relation) where !relation.isToMany: return destination(of: relation)
    case .relationship(let relation) where relation.isOrdered:
      return NSOrderedSet(array: destinations(of: relation))
    case .relationship(let relation): return NSSet(array: destinations(of: relation))
    }
  }

  private func compoundForm(_ key: String) -> Any? {
    if let composite = table.entity.composites[key] {
      fire()
      return compositeForm(composite, slotValue)
    }
    if let fetched = table.entity.fetchedProperties[key] { return fetchedObjects(fetched) }
    _ = table.property(named: key)  // traps
    return nil
  }

  final func setStoredForm(_ value: Any?, _ key: String) {
    if let composite = table.entity.composites[key] {
      noteChange()
      return setComposite(value, composite, key)
    }
    switch table.property(named: key) {
    case .attribute(let slot, let type):
      let value = fitting(value, type, slot, key)
      noteChange()
      writeSlot(slot, value)
    case .transient(let type):
      noteChange()
      setTransient(key, checkedTransient(value, type, key))
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

  /// The stored value, passing by an override of `value(forKey:)`.
  public final func primitiveValue(forKey key: String) -> Any? { storedForm(key) }

  /// Sets an attribute or to-one relationship without marking the object as changed and without maintaining the
  /// inverse. What is set so is saved only along with other changes of the object.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    if let composite = table.entity.composites[key] { return setComposite(value, composite, key) }
    switch table.property(named: key) {
    case .attribute(let slot, let type): writeSlot(slot, fitting(value, type, slot, key))
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

  /// As `setValue(_:forKey:)` for every entry. NSNull is nil.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) {
      setValue(value is NSNull ? nil : value, forKey: key)
    }
  }

  /// The values of the keys, NSNull where there is none.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { $1 })
  }

  /// Sets the property at the end of a path over to-one relationships. A path that ends early is passed over,
  /// as in Core Data; a to-many step is a programmer error.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var object: NSManagedObject? = self
    for key in keys.dropLast() {
      guard let next = object?.value(forKey: key) else { return }
      guard let found = next as? NSManagedObject else {
        fatalError("\(table.entity.name).\(keyPath): \(key) leads to no single object")
      }
      object = found
    }
    object?.setValue(value, forKey: keys[keys.count - 1])
  }

  // MARK: What custom accessors call

  /// Fires the fault. Custom getters call it before `primitiveValue(forKey:)`.
  public final func willAccessValue(forKey key: String?) { fire() }

  public final func didAccessValue(forKey key: String?) {}

  /// Marks the object as changed. Custom setters call it before `setPrimitiveValue(_:forKey:)`.
  public final func willChangeValue(forKey key: String) {
    fire()
    noteChange()
  }

  public final func didChangeValue(forKey key: String) { noteChange() }

  private func checkedTransient(_ value: Any?, _ type: ValueType?, _ key: String) -> Any? {
    guard let type else { return value }
    guard let value = Value(value, for: type) else { trapWrongType(key, value, desired: "\(type)") }
    return value.keyValueForm
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
