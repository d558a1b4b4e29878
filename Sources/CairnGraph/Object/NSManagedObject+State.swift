// What an object can tell of its own changes, and of which parts of it are still faults.

import CairnModel
import Foundation

extension NSManagedObject {
  /// The persistent properties whose values differ from what was last fetched or saved, with their new values
  /// (NSNull for nil); of a new object, those that differ from the defaults. A property that was set to an
  /// equal value isn't among them.
  public final func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    for (name, property) in table.entity.properties where differs(property) {
      result[name] = storedForm(name) ?? NSNull()
    }
    for (name, composite) in table.entity.composites where composite.slots.contains(where: differs) {
      result[name] = storedForm(name) ?? NSNull()
    }
    return result
  }

  /// Whether `changedValues()` has any.
  public final var hasPersistentChangedValues: Bool {
    guard flags.contains(.isDraft) || changes?.hasSavable ?? false else { return false }
    return table.entity.properties.values.contains(where: differs)
      || table.entity.composites.values.contains { $0.slots.contains(where: differs) }
  }

  private func differs(_ property: CompiledProperty) -> Bool {
    switch property {
    case .transient: return false
    case .attribute(let slot, _): return differs(slot)
    case .relationship(let relation):
      if let slot = relation.keySlot { return differs(slot) }
      guard let pending = changes?.links[relation.id] else { return false }
      if flags.contains(.isDraft) { return !destinationKeys(ofAny: relation).isEmpty }
      return pending.list.map { $0.keys != committedKeys(relation) } ?? false
        || pending.changesMembership && Set(destinationKeys(of: relation)) != Set(committedKeys(relation))
        || pending.destination.map { $0 != committedKeys(relation).first } ?? false
    }
  }

  private func differs(_ slot: Int) -> Bool {
    if flags.contains(.isDraft) {
      return !table.draftValue(slot, Int(row)).isStoredLike(table.entity.defaults[slot])
    }
    guard let value = changes?.values[slot] else { return false }
    return !value.isStoredLike(storedValue(slot))
  }

  /// The persistent properties that were set since the context last told of changes, with the values that they
  /// had before; to-many relationships with the members that they have now, since the former ones aren't kept.
  /// Empty for an object that was inserted since then.
  public final func changedValuesForCurrentEvent() -> [String: Any] {
    guard flags.contains(.inEvent), !isOfThisEvent else { return [:] }
    let before = changes?.valuesBeforeEvent ?? [:]
    var result: [String: Any] = [:]
    for (name, property) in table.entity.properties {
      switch property {
      case .transient: continue
      case .attribute(let slot, _):
        let old = before[slot] ?? storedValue(slot)
        if !old.isStoredLike(peekedValue(slot)) { result[name] = keyValueForm(old, slot) ?? NSNull() }
      case .relationship(let relation):
        if let slot = relation.keySlot {
          let old = before[slot] ?? storedValue(slot)
          if !old.isStoredLike(peekedValue(slot)) { result[name] = object(of: old, relation) ?? NSNull() }
        } else if changes?.links[relation.id]?.isOfEvent ?? false {
          result[name] = storedForm(name) ?? NSNull()
        }
      }
    }
    for (name, composite) in table.entity.composites {
      let hasChanged = composite.slots.contains {
        !(before[$0] ?? storedValue($0)).isStoredLike(peekedValue($0))
      }
      if hasChanged {
        result[name] = compositeForm(composite) { before[$0] ?? storedValue($0) } ?? NSNull()
      }
    }
    return result
  }

  /// Whether the object was inserted in the event that goes on.
  private var isOfThisEvent: Bool { flags.contains(.isDraft) && changes?.valuesBeforeEvent == nil }

  /// The values that were last fetched or saved, NSNull for nil; of all persistent properties, or of those
  /// named. A new object has none: all are NSNull. Unknown keys are a programmer error.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    var result: [String: Any] = [:]
    for name in keys ?? Array(table.entity.properties.keys) + table.entity.composites.keys {
      if let composite = table.entity.composites[name] {
        result[name] = compositeForm(composite, storedValue) ?? NSNull()
        continue
      }
      switch table.property(named: name) {
      case .transient: continue
      case .attribute(let slot, _): result[name] = keyValueForm(storedValue(slot), slot) ?? NSNull()
      case .relationship(let relation):
        if let slot = relation.keySlot {
          result[name] = object(of: storedValue(slot), relation) ?? NSNull()
        } else {
          let members = table.scope?.objects(keys: committedKeys(relation), in: relation.destination) ?? []
          result[name] =
            relation.isToMany
            ? relation.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
            : members.first ?? NSNull()
        }
      }
    }
    return result
  }

  private func object(of value: Value, _ relation: Relation) -> NSManagedObject? {
    guard case .key(let key) = value else { return nil }
    return table.scope?.anyObject(key: key, in: relation.destination)
  }

  private func committedKeys(_ relation: Relation) -> [Int64] { storedKeys(of: relation).map(\.id) }

  /// The IDs of a relationship's destinations, without making objects of them where that can be avoided. Fires
  /// the object's own fault. An unknown key is a programmer error.
  public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    guard case .relationship(let relation) = table.property(named: key) else {
      fatalError("\(table.entity.name).\(key) is no relationship")
    }
    fire()
    let family = table.model[relation.destination].schema.concreteFamily
    guard family.count == 1, let table = table.scope?.table(family[0]) else {
      return destinations(ofAny: relation).map(\.objectID)
    }
    let root = table.entity.schema.root
    return destinationKeys(ofAny: relation).compactMap { key in
      if let known = table.scope?.knownObject(key, root: root) { return known.objectID }
      return key > 0 ? table.makeID(key) : nil
    }
  }

  /// Whether reading the relationship would ask the store: it wasn't read since the object was a fault. Fires
  /// nothing. An unknown key is a programmer error.
  public final func hasFault(forRelationshipNamed key: String) -> Bool {
    guard case .relationship(let relation) = table.property(named: key) else {
      fatalError("\(table.entity.name).\(key) is no relationship")
    }
    if flags.contains(.isDraft) { return false }
    if isFault { return true }
    return relation.keySlot == nil && !(changes?.wasRead(relation.id) ?? false)
  }
}

extension NSManagedObject {
  /// The entity of this class, in a model that is in use. A programmer error where no model or more than one
  /// entity has the class; use `NSEntityDescription.entity(forEntityName:in:)` then.
  public class func entity() -> NSEntityDescription {
    let found = ModelsInUse.entities(of: self)
    guard let entity = found.first, found.count == 1 else {
      fatalError(
        "\(found.isEmpty ? "No NSEntityDescriptions in any model claim" : "Multiple NSEntityDescriptions claim") "
          + "the NSManagedObject subclass '\(self)' so +entity is unable to disambiguate.")
    }
    return entity
  }
}
