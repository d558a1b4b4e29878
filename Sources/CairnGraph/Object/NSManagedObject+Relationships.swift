// Relationships of an object. Both sides of a pair change together, at once, in `link` and `unlink` and nowhere
// else.
//
// Where a change is kept follows from where the schema stores the relationship: a key slot of the object's own
// row, or the object's `PendingLinks`, which are added to what the store says when the relationship is read.

import CairnModel
import Foundation

extension NSManagedObject {
  // MARK: Reading

  /// The destination of a to-one relationship. Doesn't load the destination where its class is known without.
  final func destination(of relation: Relation) -> NSManagedObject? {
    guard let key = destinationKey(of: relation) else { return nil }
    return requireContext(relation).object(key: key, in: relation.destination)
  }

  final func destinationKey(of relation: Relation) -> Int64? {
    if let slot = relation.keySlot { return slotKey(slot) }
    if let pending = changes?.links[relation.id]?.destination { return pending }
    return storedKeys(of: relation).first?.id
  }

  /// The destinations of a to-many relationship, in order if it is ordered.
  final func destinations(of relation: Relation) -> [NSManagedObject] {
    let keys = destinationKeys(of: relation)
    if keys.isEmpty { return [] }
    return requireContext(relation).objects(keys: keys, in: relation.destination)
  }

  final func destinationKeys(of relation: Relation) -> [Int64] {
    let pending = changes?.links[relation.id]
    if let list = pending?.list { return list.keys }
    let stored = storedKeys(of: relation).map(\.id)
    guard let membership = pending?.membership, !membership.isEmpty else { return stored }
    return stored.filter { membership[$0] == nil } + membership.filter(\.value).map(\.key)
  }

  /// What the store says, now.
  private func storedKeys(of relation: Relation) -> ArraySlice<RowKey> {
    if flags.contains(.isDraft) || relation.storage == .none { return [] }
    fire()
    return requireContext(relation).storedKeys(of: relation, from: RowKey(entity: table.entity.id, id: key))
  }

  // MARK: Writing

  final func setDestination(of relation: Relation, to destination: NSManagedObject?) {
    check(destination, for: relation)
    noteChange()
    if flags.contains(.isAwaking) { return half(relation, set: destination?.key) }
    if let destination {
      link(relation, destination)
    } else if let old = self.destination(of: relation) {
      unlink(relation, old)
    } else {
      half(relation, set: nil)
    }
  }

  /// Makes `members` the destinations of a to-many relationship; their order counts if it is ordered.
  final func setDestinations(of relation: Relation, to members: [NSManagedObject]) {
    for member in members { check(member, for: relation) }
    noteChange()
    let wanted = Set(members.map(\.key))
    let old = destinations(of: relation)
    let present = Set(old.map(\.key))
    for member in old where !wanted.contains(member.key) { unlink(relation, member) }
    for member in members where !present.contains(member.key) { link(relation, member) }
    if relation.isOrdered { pending(relation).list = OrderedKeys(members.map(\.key)) }
  }

  /// Leads `relation` to `other`, and takes both sides' former partners away where they can have only one.
  final func link(_ relation: Relation, _ other: NSManagedObject) {
    let inverse = relation.inverse.map { table.model[$0] }
    if !relation.isToMany, let old = destination(of: relation) {
      if old === other { return }
      unlink(relation, old)
    }
    if let inverse, !inverse.isToMany, let old = other.destination(of: inverse), old !== self {
      old.unlink(relation, other)
    }
    half(relation, add: other)
    noteChange()
    if let inverse, inverse !== relation || other !== self {
      other.half(inverse, add: self)
      other.noteChange()
    }
  }

  final func unlink(_ relation: Relation, _ other: NSManagedObject) {
    half(relation, remove: other)
    noteChange()
    if let inverse = relation.inverse, other !== self || inverse != relation.id {
      other.half(table.model[inverse], remove: self)
      other.noteChange()
    }
  }

  // MARK: One side only

  private func half(_ relation: Relation, add other: NSManagedObject) {
    guard relation.isToMany else { return half(relation, set: other.key) }
    if relation.isOrdered {
      loadList(relation)
      pending(relation).list?.append(other.key)
    } else {
      pending(relation).membership[other.key] = true
    }
  }

  private func half(_ relation: Relation, remove other: NSManagedObject) {
    guard relation.isToMany else { return half(relation, set: nil) }
    if relation.isOrdered {
      loadList(relation)
      pending(relation).list?.remove(other.key)
    } else {
      pending(relation).membership[other.key] = false
    }
  }

  private func half(_ relation: Relation, set key: Int64?) {
    if let slot = relation.keySlot {
      writeSlot(slot, key.map { .key($0) } ?? .null)
    } else {
      pending(relation).destination = .some(key)
    }
  }

  private func pending(_ relation: Relation) -> PendingLinks { ensureChanges().pendingLinks(relation.id) }

  /// An ordered relationship is changed as a whole list.
  private func loadList(_ relation: Relation) {
    if changes?.links[relation.id]?.list != nil { return }
    let keys = destinationKeys(of: relation)
    pending(relation).list = OrderedKeys(keys)
  }

  // MARK: Going back

  /// Undoes what was changed of relationships, on both sides, as far as this object's own row or a join table
  /// keeps it. Changes that are facts of other objects' rows stay.
  final func revertRelationships() {
    guard !flags.contains(.isDraft), let changes else { return }
    for case .relationship(let relation) in table.entity.properties.values {
      if let slot = relation.keySlot {
        guard changes.values[slot] != nil else { continue }
        var stored: NSManagedObject?
        if case .key(let key) = storedValue(slot) {
          stored = requireContext(relation).object(key: key, in: relation.destination)
        }
        setDestination(of: relation, to: stored)
        changes.values[slot] = nil
      } else if case .join = relation.storage, changes.links[relation.id] != nil {
        let keys = storedKeys(of: relation).map(\.id)
        setDestinations(
          of: relation, to: requireContext(relation).objects(keys: keys, in: relation.destination))
        changes.forgetLinks(relation.id)
      }
    }
  }

  // MARK: Programmer errors

  /// Traps for an object of another context or of an entity that the relationship doesn't lead to.
  final func check(_ destination: NSManagedObject?, for relation: Relation) {
    guard let destination else { return }
    guard let context = table.context, destination.table.context === context else {
      fatalError(
        "Illegal attempt to establish a relationship '\(relation.name)' between objects in different contexts"
      )
    }
    let wanted = table.model[relation.destination]
    guard wanted.schema.concreteFamily.contains(destination.table.entity.id) else {
      fatalError(
        "Unacceptable type of value for relationship: property = \"\(relation.name)\"; desired type = "
          + "\(wanted.name); given type = \(destination.table.entity.name); value = \(destination).")
    }
  }

  private func requireContext(_ relation: Relation) -> NSManagedObjectContext {
    guard let context = table.context else {
      fatalError(
        "the context of this \(table.entity.name) is gone, so its relationship '\(relation.name)' leads nowhere"
      )
    }
    return context
  }
}
