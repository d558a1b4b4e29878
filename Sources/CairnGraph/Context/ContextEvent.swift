// What has happened in a context since it last told of it, and how it tells: `processPendingChanges`.
//
// Always holds: an object that is `inEvent` stands in one of the lists of `event`, or in `inserted` from
// `firstInserted` on; after `processPendingChanges` none is.

import CairnModel
import Foundation

/// The changes of one event.
struct ContextEvent {
  /// New objects of the event are those of `inserted` from this index on.
  var firstInserted = 0
  /// Changed, and inserted before this event if they are new.
  var updated: [NSManagedObject] = []
  var deleted: [NSManagedObject] = []
  /// Objects that came back: undeleted, or brought in by a merge.
  var appeared: [NSManagedObject] = []
  var refreshed: [NSManagedObject] = []
  /// Deleted, with their delete rules not applied yet.
  var unpropagated: [NSManagedObject] = []

  var isEmpty: Bool {
    updated.isEmpty && deleted.isEmpty && appeared.isEmpty && refreshed.isEmpty && unpropagated.isEmpty
  }
}

extension NSManagedObjectContext {
  final func processEvent() {
    if isProcessing { return }
    if event.isEmpty, event.firstInserted == inserted.count, !hasNewsForResults { return }
    isProcessing = true
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    prepareResults()
    let userInfo = endEvent()
    isProcessing = false
    if !userInfo.isEmpty {
      NotificationCenter.default.post(
        name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: userInfo)
      tellObservers(userInfo)
    }
    tellResults(userInfo)
  }

  /// The sets of the event, and a new event.
  private final func endEvent() -> [AnyHashable: Any] {
    var userInfo: [AnyHashable: Any] = [:]
    let past = event
    event = ContextEvent()
    event.firstInserted = inserted.count
    event.unpropagated = past.unpropagated
    var new = inserted[past.firstInserted...].compactMap { $0 }
    if !past.appeared.isEmpty {
      new += past.appeared.filter { !$0.flags.contains(.isDead) && !$0.isDeleted }
    }
    for object in new { endEvent(object) }
    if !new.isEmpty {
      let set = Set(new)
      userInfo[NSInsertedObjectsKey] = set
      recentlyInserted = past.firstInserted == 0 && past.appeared.isEmpty ? set : nil
    }
    let deleted = past.deleted.filter { $0.isDeleted || $0.flags.contains(.isDead) }
    if !deleted.isEmpty {
      let set = Set(deleted)
      userInfo[NSDeletedObjectsKey] = set
      let isAll =
        set.count == self.deleted.count && deleted.allSatisfy { $0.isDeleted && !$0.flags.contains(.isDraft) }
      recentlyDeleted = isAll ? (set, changeCount) : nil
    }
    for object in deleted { endEvent(object) }
    var updated: [NSManagedObject] = []
    for object in past.updated where object.flags.contains(.inEvent) {
      endEvent(object)
      if !object.isDeleted, object.isUpdated || object.isInserted { updated.append(object) }
    }
    if !updated.isEmpty {
      let set = Set(updated)
      userInfo[NSUpdatedObjectsKey] = set
      let isAll = set.count == updatedCount && updated.allSatisfy(\.isUpdated)
      recentlyUpdated = isAll ? (set, changeCount) : nil
    }
    // Sets are disjoint: a local edit says more than a refresh.
    let refreshed = past.refreshed.filter { !$0.flags.contains(.isDead) && !$0.isDeleted }
    if !refreshed.isEmpty {
      var set = Set(refreshed)
      for object in updated { set.remove(object) }
      if !past.appeared.isEmpty { set.subtract(new) }
      if !set.isEmpty { userInfo[NSRefreshedObjectsKey] = set }
    }
    return userInfo
  }

  private final func endEvent(_ object: NSManagedObject) {
    object.flags.remove(.inEvent)
    object.changes?.endEvent()
  }

  /// Notes a change to an object that isn't `inEvent`.
  final func noteChange(of object: NSManagedObject) {
    if object.flags.contains(.isDeleted) { return }
    object.flags.insert(.inEvent)
    if object.flags.contains(.isDraft) {
      object.ensureChanges().beginEvent(
        row: object.table.entity.slotTypes.indices.map { object.peekedValue($0) })
    } else {
      object.changes?.beginEvent()
    }
    event.updated.append(object)
    if object.flags.contains(.isDraft) || object.flags.contains(.isUpdated) { return }
    markUpdated(object)
  }

  final func markUpdated(_ object: NSManagedObject) {
    object.flags.insert(.isUpdated)
    changeCount += 1
    updatedCount += 1
    if object.flags.insert(.isListed).inserted { updatedList.append(object) }
  }

  /// Takes an object out of those that have changes.
  final func unmarkUpdated(_ object: NSManagedObject) {
    guard object.flags.contains(.isUpdated) else { return }
    object.flags.remove(.isUpdated)
    changeCount += 1
    updatedCount -= 1
    if updatedList.last === object {
      updatedList.removeLast()
      object.flags.remove(.isListed)
    } else if updatedCount == 0 {
      for listed in updatedList { listed.flags.remove(.isListed) }
      updatedList = []
    }
  }
}
