// Merge policies: what a save does when the store has changed since the context read it.

import CairnModel
public import Foundation

/// Decides conflicts of a save, by changing the objects so that the save can be tried again.
///
/// A subclass overrides one of the `resolve` methods and calls super for what it leaves undecided. An error
/// that one throws is the save's.
///
/// Sendable: constant; a subclass keeps to that.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  public final let mergeType: NSMergePolicyType

  public init(merge ty: NSMergePolicyType) {
    mergeType = ty
  }

  /// The save throws 133020 or 133021, with the conflicts.
  public class var error: NSMergePolicy { NSErrorMergePolicy }
  /// Property by property; where both have changed it, the store's value stays.
  public class var mergeByPropertyStoreTrump: NSMergePolicy { NSMergeByPropertyStoreTrumpMergePolicy }
  /// Property by property; where both have changed it, the context's value is saved.
  public class var mergeByPropertyObjectTrump: NSMergePolicy { NSMergeByPropertyObjectTrumpMergePolicy }
  /// The context's objects are saved whole.
  public class var overwrite: NSMergePolicy { NSOverwriteMergePolicy }
  /// The context's changes to objects in conflict are dropped.
  public class var rollback: NSMergePolicy { NSRollbackMergePolicy }

  /// Resolves conflicts of both kinds, by the two methods below.
  open func resolve(mergeConflicts list: [Any]) throws {
    let stale = list.compactMap { $0 as? NSMergeConflict }
    if !stale.isEmpty { try resolve(optimisticLockingConflicts: stale) }
    let constraints = list.compactMap { $0 as? NSConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  /// Resolves conflicts with rows that have changed or are gone. Throws 133020 for the error policy.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    if mergeType == .errorMergePolicyType {
      throw NSError.coreData(
        NSManagedObjectMergeError, "Could not merge changes.", [NSPersistentStoreSaveConflictsErrorKey: list])
    }
    for conflict in list { conflict.sourceObject.resolve(conflict, by: mergeType) }
  }

  /// Resolves broken uniqueness constraints. Throws 133021 for the error policy.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    if mergeType == .errorMergePolicyType {
      throw NSError.coreData(
        NSManagedObjectConstraintMergeError,
        "Could not merge changes: a uniqueness constraint would break.",
        [NSPersistentStoreSaveConflictsErrorKey: list])
    }
    for conflict in list {
      let object = conflict.conflictingObjects.first ?? conflict.databaseObject
      object?.managedObjectContext?.resolve(conflict, by: mergeType)
    }
  }
}

// The older names of the policies.

public let NSErrorMergePolicy = NSMergePolicy(merge: .errorMergePolicyType)
public let NSMergeByPropertyStoreTrumpMergePolicy = NSMergePolicy(
  merge: .mergeByPropertyStoreTrumpMergePolicyType)
public let NSMergeByPropertyObjectTrumpMergePolicy = NSMergePolicy(
  merge: .mergeByPropertyObjectTrumpMergePolicyType)
public let NSOverwriteMergePolicy = NSMergePolicy(merge: .overwriteMergePolicyType)
public let NSRollbackMergePolicy = NSMergePolicy(merge: .rollbackMergePolicyType)

// MARK: - Rows that have changed

extension NSManagedObject {
  fileprivate final func resolve(_ conflict: NSMergeConflict, by type: NSMergePolicyType) {
    guard let context = table.context else { return }
    context.noteForResults(self)
    let storeWins = type == .mergeByPropertyStoreTrumpMergePolicyType || type == .rollbackMergePolicyType
    if conflict.newVersionNumber == 0 {
      // The row is gone.
      if storeWins || isDeleted { return context.markGone(self) }
      return context.resurrect(self)
    }
    if isDeleted {
      if storeWins {
        context.undelete(self)
        context.refresh(self, mergeChanges: false)
      } else {
        loadRow()
      }
      return
    }
    if type == .rollbackMergePolicyType {
      context.refresh(self, mergeChanges: false)
      fire()
    } else {
      merge(by: type)
    }
    awake(fromSnapshotEvents: .mergePolicy)
  }

  /// Puts the object onto the newest row, with the changes that the policy leaves it.
  private final func merge(by type: NSMergePolicyType) {
    let slots = table.entity.slotTypes.indices
    let ancestor = slots.map { storedValue($0) }
    loadRow()
    for slot in slots {
      let theirs = storedValue(slot)
      if theirs.isStoredLike(ancestor[slot]) { continue }
      let isOurs = changes?.values[slot] != nil
      switch type {
      case .mergeByPropertyStoreTrumpMergePolicyType where isOurs: takeStored(slot)
      case .overwriteMergePolicyType where !isOurs: writeSlot(slot, ancestor[slot])
      default: continue
      }
    }
  }

  /// Gives up a change to a slot.
  final func takeStored(_ slot: Int) {
    if case .toOne(let id) = table.entity.schema.slots[slot].role, let scope = table.scope {
      let relation = table.model[id]
      var stored: NSManagedObject?
      if case .key(let key) = storedValue(slot) { stored = scope.object(key: key, in: relation.destination) }
      setDestination(of: relation, to: stored)
    }
    changes?.values[slot] = nil
  }
}

extension NSManagedObjectContext {
  /// Makes a saved object whose row is gone a new one that will have its old key.
  fileprivate final func resurrect(_ object: NSManagedObject) {
    let values = object.table.entity.slotTypes.indices.map { object.peekedValue($0) }
    let key = object.key
    unmarkUpdated(object)
    object.table.scope?.remove(object)
    object.changes?.values = [:]
    object.chunk = nil
    object.row = Int32(object.table.addDraft())
    object.flags.remove([.isInaccessible, .hasOverlay, .isFault, .isUpdated])
    object.flags.insert([.isDraft, .didAwakeFromInsert])
    for (slot, value) in values.enumerated() { object.writeSlot(slot, value) }
    adopt(object)
    object.table.scope?.reserve(object, key)
    object.reservedKey = key
  }
}

// MARK: - Uniqueness

extension NSManagedObjectContext {
  fileprivate final func resolve(_ conflict: NSConstraintConflict, by type: NSMergePolicyType) {
    let ours = conflict.conflictingObjects.filter { !$0.isDeleted && $0.table.context === self }
    guard let existing = conflict.databaseObject, !existing.isDeleted else {
      // Only objects of this save clash: the first stays.
      guard let winner = ours.first else { return }
      for loser in ours.dropFirst() {
        if type == .rollbackMergePolicyType, !loser.isInserted {
          refresh(loser, mergeChanges: false)
        } else {
          if type != .rollbackMergePolicyType { handOver(loser, to: winner) }
          delete(loser)
        }
      }
      return
    }
    switch type {
    case .mergeByPropertyObjectTrumpMergePolicyType:
      for object in ours {
        guard object.isInserted else {
          delete(existing)
          continue
        }
        copyAttributes(object, to: existing)
        handOver(object, to: existing)
        delete(object)
      }
    case .mergeByPropertyStoreTrumpMergePolicyType:
      for object in ours {
        if object.isInserted {
          handOver(object, to: existing)
          delete(object)
        } else {
          object.giveUp(conflict.constraint)
        }
      }
    case .overwriteMergePolicyType:
      delete(existing)
      for loser in ours.dropFirst() { delete(loser) }
    default:
      for object in ours {
        if object.isInserted { delete(object) } else { refresh(object, mergeChanges: false) }
      }
    }
  }

  private final func copyAttributes(_ source: NSManagedObject, to target: NSManagedObject) {
    guard source.table.entity === target.table.entity else { return copyByName(source, target) }
    target.noteChange()
    for (slot, described) in source.table.entity.schema.slots.enumerated() {
      guard case .attribute = described.role else { continue }
      let value = source.peekedValue(slot)
      if !value.isStoredLike(target.peekedValue(slot)) { target.writeSlot(slot, value) }
    }
  }

  /// Between a parent's and a child's objects, what both have.
  private final func copyByName(_ source: NSManagedObject, _ target: NSManagedObject) {
    for (name, property) in source.table.entity.properties {
      guard case .attribute = property, case .attribute = target.table.entity.properties[name] else {
        continue
      }
      target.setValue(source.value(forKey: name), forKey: name)
    }
  }

  /// Gives what a discarded object is related to the one that stays.
  private final func handOver(_ source: NSManagedObject, to target: NSManagedObject) {
    for case .relationship(let relation) in source.table.entity.properties.values {
      guard case .relationship(let same)? = target.table.entity.properties[relation.name], same === relation
      else { continue }
      if relation.isToMany {
        let members = source.destinations(of: relation)
        source.setDestinations(of: relation, to: [])
        for member in members where member !== target { target.add(member, to: relation) }
      } else if let destination = source.destination(of: relation), destination !== target {
        source.setDestination(of: relation, to: nil)
        target.setDestination(of: relation, to: destination)
      }
    }
  }
}

extension NSManagedObject {
  /// Takes the stored values of attributes back.
  fileprivate final func giveUp(_ names: [String]) {
    table.context?.noteForResults(self)
    for name in names {
      if case .attribute(let slot, _)? = table.entity.properties[name] { changes?.values[slot] = nil }
    }
  }
}
