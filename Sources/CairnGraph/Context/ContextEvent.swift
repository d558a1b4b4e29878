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
    var new = Set<NSManagedObject>(minimumCapacity: 2 * (inserted.count - past.firstInserted))
    inserted.forEachUncounted(from: past.firstInserted) { _, object in
      endEvent(object)
      new.update(with: object)
    }
    for object in past.appeared where !object.flags.contains(.isDead) && !object.isDeleted {
      endEvent(object)
      new.update(with: object)
    }
    if !new.isEmpty {
      userInfo[NSInsertedObjectsKey] = new
      recentlyInserted = past.firstInserted == 0 && past.appeared.isEmpty ? new : nil
    }
    var deleted = Set<NSManagedObject>(minimumCapacity: 2 * past.deleted.count)
    var areSaved = true
    past.deleted.forEachUncounted(.changes) { object in
      guard object.isDeleted || object.flags.contains(.isDead) else { return }
      endEvent(object)
      if !object.isDeleted || object.flags.contains(.isDraft) { areSaved = false }
      deleted.update(with: object)
    }
    if !deleted.isEmpty {
      userInfo[NSDeletedObjectsKey] = deleted
      recentlyDeleted = deleted.count == self.deleted.count && areSaved ? (deleted, changeCount) : nil
    }
    var updated = Set<NSManagedObject>(minimumCapacity: 2 * past.updated.count)
    var areUpdated = true
    past.updated.forEachUncounted(.changes) { object in
      guard object.flags.contains(.inEvent) else { return }
      endEvent(object)
      if object.isDeleted || !(object.isUpdated || object.isInserted) { return }
      if !object.isUpdated { areUpdated = false }
      updated.update(with: object)
    }
    if !updated.isEmpty {
      userInfo[NSUpdatedObjectsKey] = updated
      recentlyUpdated = updated.count == updatedCount && areUpdated ? (updated, changeCount) : nil
    }
    // Sets are disjoint: a local edit says more than a refresh.
    let refreshed = past.refreshed.filter { !$0.flags.contains(.isDead) && !$0.isDeleted }
    if !refreshed.isEmpty {
      var set = Set(refreshed)
      set.subtract(updated)
      if !past.appeared.isEmpty { set.subtract(new) }
      if !set.isEmpty { userInfo[NSRefreshedObjectsKey] = set }
    }
    return userInfo
  }

  private final func endEvent(_ object: NSManagedObject) {
    object.flags.remove(.inEvent)
    guard let changes = object.changes else { return }
    Unmanaged.passUnretained(changes)._withUnsafeGuaranteedRef { $0.endEvent() }
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

extension Set {
  /// The elements with room to spare: comparing objects that come to stand in one place costs more than the room.
  ///
  /// `update`, here as wherever many are added, because `insert` counts a reference to what it returns.
  init(sparse elements: [Element]) {
    self.init(minimumCapacity: 2 * elements.count)
    // By index, so that the set's is the only reference that is counted.
    elements.withUnsafeBufferPointer { for index in $0.indices { update(with: $0[index]) } }
  }
}
