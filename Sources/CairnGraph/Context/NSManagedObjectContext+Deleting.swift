// Deleting objects, and what their delete rules do to others.
//
// Rules run when the event ends, from both sides and transitively, in `propagateDeletes` and nowhere else. What
// the store does by itself isn't done here: rows of join tables go with either of their rows; and no member of a
// relationship is loaded only to be left out of it, since reading a relationship leaves out deleted objects.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  final func deleteObject(_ object: NSManagedObject) {
    if object.flags.contains(.isDead) || object.flags.contains(.isDeleted) { return }
    guard object.table.context === self else {
      fatalError(
        "Can't delete an object that is not in this context: use object(with:) to find it by its objectID")
    }
    object.prepareForDeletion()
    markDeleted(object)
    event.unpropagated.append(object)
  }

  private final func markDeleted(_ object: NSManagedObject) {
    if object.flags.contains(.isDeleted) { return }
    let wasNew = object.flags.contains(.isDraft)
    let isOfThisEvent =
      wasNew && insertedIndex(ofTemporaryKey: object.key) >= event.firstInserted
    unmarkUpdated(object)
    object.flags.insert(.isDeleted)
    changeCount += 1
    if wasNew { uninsert(object) } else { deleted.append(object) }
    if isOfThisEvent {
      object.flags.remove(.inEvent)
    } else {
      object.flags.insert(.inEvent)
      event.deleted.append(object)
    }
  }

  /// Takes a deletion back, as far as it concerns the object itself.
  final func undelete(_ object: NSManagedObject) {
    guard object.flags.contains(.isDeleted) else { return }
    object.flags.remove([.isDeleted, .isPropagated, .inEvent])
    changeCount += 1
    event.unpropagated.removeAll { $0 === object }
    event.deleted.removeAll { $0 === object }
    if object.flags.contains(.isDraft) {
      reinsert(object)
    } else {
      deleted.removeAll { $0 === object }
      if object.changes?.hasSavable ?? false { markUpdated(object) }
    }
    event.appeared.append(object)
  }

  // MARK: Rules

  final func propagateDeletes() {
    // Of one entity after the other, mostly. Held, because rules wake faults and call hooks.
    var (table, rules): (EntityTable?, DeleteRules?)
    // Rules may delete more, whose turn comes after those.
    while !event.unpropagated.isEmpty {
      let objects = event.unpropagated
      event.unpropagated = []
      objects.forEachUncounted { object in
        guard object.flags.contains(.isDeleted), !object.flags.contains(.isPropagated) else { return }
        if object.table !== table { (table, rules) = (object.table, object.table.deleteRules) }
        if let rules { apply(rules, object) }
        object.flags.insert(.isPropagated)
      }
    }
  }

  private final func apply(_ rules: DeleteRules, _ object: NSManagedObject) {
    for owner in rules.owners {
      // The owner's set or list leaves the object out by itself.
      guard let key = object.slotKey(owner.slot), let scope = object.table.scope else { continue }
      noteMember(key, owner.root, scope)
    }
    for rule in rules.others { apply(rule, object) }
  }

  private final func apply(_ rule: DeleteRules.Rule, _ object: NSManagedObject) {
    let relation = rule.relation
    // Whoever deleted a row that is gone has applied its cascades already, and to what it led to then; here it is
    // only taken out of what leads to it.
    if rule.isCascade, !object.flags.contains(.isInaccessible) {
      for other in object.destinations(ofAny: relation) where !other.flags.contains(.isDeleted) {
        other.prepareForDeletion()
        markDeleted(other)
        event.unpropagated.append(other)
      }
      return
    }
    guard let inverse = rule.inverse else { return }
    if inverse.isToMany {
      // The other sides are sets or lists that leave the object out by themselves.
      guard let scope = object.table.scope else { return }
      if relation.isToMany {
        for key in object.destinationKeys(of: relation) { noteMember(key, relation.destinationRoot, scope) }
      } else if let key = object.destinationKey(of: relation) {
        noteMember(key, relation.destinationRoot, scope)
      }
      return
    }
    let others = object.destinations(ofAny: relation)
    object.table.scope?.load(others)
    let left = others.filter {
      !$0.flags.contains(.isDeleted) && $0.clearDestination(of: inverse, from: object)
    }
    // Only seen when the deletion is taken back: those that were let go stay so on both sides.
    object.dropDestinations(of: relation, left)
  }

  private final func noteMember(_ key: Int64, _ root: EntityID, _ scope: StoreScope) {
    if let other = scope.knownObject(key, root: root), !other.isFault {
      other.noteChange()
    }
  }
}

/// What deleting an object of one entity does to others.
struct DeleteRules {
  /// Those of members, apart and without references, because they are most of all and many objects are deleted
  /// by the same few.
  private(set) var owners: [Owner] = []
  private(set) var others: [Rule] = []

  /// A to-one that nullifies and is a member's side of a to-many.
  struct Owner {
    /// Of the member's row, with the owner's key.
    let slot: Int
    /// Of the owner's hierarchy.
    let root: EntityID
  }

  struct Rule {
    let relation: Relation
    let inverse: Relation?
    /// Whether it deletes the destinations; otherwise it takes the object out of them.
    let isCascade: Bool
  }

  /// Those that do something, in the order of the relationships' names.
  init(_ entity: CompiledEntity, _ model: CompiledModel) {
    for (_, property) in entity.properties.sorted(by: { $0.key < $1.key }) {
      guard case .relationship(let relation) = property else { continue }
      let rule = model.schema[relation.id].deleteRule
      if rule == .noAction || rule == .deny { continue }
      let inverse = relation.inverse.map { model[$0] }
      if rule == .nullify, let slot = relation.keySlot, let inverse, inverse.isToMany {
        owners.append(Owner(slot: slot, root: relation.destinationRoot))
      } else {
        others.append(Rule(relation: relation, inverse: inverse, isCascade: rule == .cascade))
      }
    }
  }
}

extension StoreScope {
  /// Reads the rows of faults that have none yet, all at once.
  func load(_ objects: [NSManagedObject]) {
    let empty = objects.filter { $0.chunk == nil && !$0.flags.contains(.isDraft) && $0.key > 0 }
    // One is read as quickly when it is needed; and what can't be read says so then.
    if empty.count > 1 { _ = try? find(empty) }
  }

  /// Reads the rows of faults. Returns those that have none.
  func find(_ faults: [NSManagedObject]) throws -> [NSManagedObject] {
    if faults.isEmpty { return [] }
    let batch = try context.rows(faults.map { RowKey(entity: $0.table.entity.id, id: $0.key) }, in: self)
    var next = 0
    var missing: [NSManagedObject] = []
    for object in faults {
      // Keys of different entities may be the same number.
      guard next < batch.count, batch.key(next).id == object.key,
        batch.chunk(next).entity == object.table.entity.id
      else {
        missing.append(object)
        continue
      }
      (object.chunk, object.row) = (batch.chunk(next), Int32(batch.row(next)))
      next += 1
    }
    return missing
  }
}
