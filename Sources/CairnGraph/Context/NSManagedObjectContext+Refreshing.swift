// Going back to what the store has: refresh, rollback, reset, and rows that turn out to be gone.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
    if object.flags.contains(.isDead) { return }
    precondition(object.table.context === self, "the object to refresh belongs to another context")
    if object.flags.contains(.isDraft) { return }
    if flag { rebase(object) } else { discard(object) }
    event.refreshed.append(object)
  }

  final func refreshAll() {
    processPendingChanges()
    let dirty = updated
    for object in dirty { rebase(object) }
    for object in knownScopes.flatMap(\.saved) where !object.hasChanges {
      noteForResults(object)
      if object.isFault {
        object.chunk = nil
      } else {
        dropRow(of: object)
        event.refreshed.append(object)
      }
    }
    event.refreshed += dirty
    processPendingChanges()
  }

  /// Puts the object onto the newest row; what it has changed stays.
  final func rebase(_ object: NSManagedObject) {
    noteForResults(object)
    object.forgetStoredMembers()
    if object.isFault {
      object.chunk = nil
      return
    }
    object.loadRow()
    if object.flags.contains(.isInaccessible) { return handleInaccessible(object) }
    object.awake(fromSnapshotEvents: .refresh)
  }

  /// Drops the object's changes and its row.
  private final func discard(_ object: NSManagedObject) {
    noteForResults(object)
    if object.isUpdated { object.revertRelationships() }
    if !(object.changes?.hasLinks ?? false) {
      unmarkUpdated(object)
    } else if object.isUpdated {
      object.flags.remove(.isUpdated)
      changeCount += 1
      updatedCount -= 1
    }
    dropRow(of: object)
    object.flags.remove(.inEvent)
  }

  /// Makes the object a fault. Changes of relationships that are facts of other objects' rows stay: those have
  /// them still.
  private final func dropRow(of object: NSManagedObject) {
    guard let changes = object.changes, changes.hasLinks else { return object.turnIntoFault() }
    object.keepsLinks { object.turnIntoFault() }
    changes.forgetRow()
  }

  final func rollbackChanges() {
    processPendingChanges()
    let new = inserted.compactMap(\.self)
    let back = deleted
    let changed = updated
    let old = updatedList
    for object in new {
      object.flags.insert(.isDeleted)
      uninsert(object)
    }
    for object in back { object.flags.remove([.isDeleted, .isPropagated]) }
    for object in old + back where !object.flags.contains(.isDead) {
      noteForResults(object)
      object.changes?.forgetSaved()
      object.flags.remove([.isUpdated, .isListed, .hasOverlay, .inEvent])
    }
    forgetPending()
    event = ContextEvent()
    event.appeared = back
    event.refreshed = changed
    event.deleted = new
    for object in changed where !object.flags.contains(.isFault) {
      object.awake(fromSnapshotEvents: .rollback)
    }
    processPendingChanges()
  }

  final func forgetEverything() {
    invalidateResults()
    for scope in knownScopes { scope.collect(placeCount: .max) }
    let all = inserted.compactMap(\.self) + knownScopes.flatMap(\.saved)
    let ids = all.map(\.objectID)
    for case let object? in inserted { uninsert(object) }
    forgetPending()
    event = ContextEvent()
    for scope in knownScopes {
      for object in scope.saved {
        if !object.isFault { object.turnIntoFault() }
        kill(object)
      }
      scope.removeAll()
    }
    deferredError = nil
    for list in observers.values { for observer in list { observer.finish() } }
    observers = [:]
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: [NSInvalidatedAllObjectsKey: ids]
    )
  }

  // MARK: Rows that are gone

  final func handleInaccessible(_ object: NSManagedObject) {
    guard shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil) else {
      fatalError(
        "CoreData could not fulfill a fault for \(object.objectID): its row is gone. Refresh objects that others "
          + "may delete, merge their saves, or set shouldDeleteInaccessibleFaults")
    }
    markGone(object)
  }

  /// Marks an object as deleted whose row is gone: the next save has nothing to do for it.
  final func markGone(_ object: NSManagedObject) {
    object.flags.insert(.isInaccessible)
    if object.flags.contains(.isDeleted) { return }
    unmarkUpdated(object)
    object.flags.insert([.isDeleted, .inEvent])
    changeCount += 1
    deleted.append(object)
    event.deleted.append(object)
    event.unpropagated.append(object)
  }
}

extension NSManagedObject {
  final func forgetStoredMembers() {
    for pending in (changes?.links ?? [:]).values { pending.storedMembers = nil }
  }

  /// Does something that forgets `changes`, and puts the links back.
  fileprivate final func keepsLinks(_ body: () -> Void) {
    let kept = changes
    body()
    changes = kept
  }
}
