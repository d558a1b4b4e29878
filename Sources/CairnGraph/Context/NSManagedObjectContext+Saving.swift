// Saving: for each store one change set and one commit, and then the objects on their new rows.
//
// In order: the event ends, `willSave`, validation, then store by store the commit, with the merge policy in
// between as long as there are conflicts. Nothing of the context is changed before a commit is done, so that a
// save that fails leaves it as it was.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  final func saveChanges() throws {
    try throwDeferredError()
    processPendingChanges()
    propagateDeletes()
    guard hasChanges || !watched.isEmpty else { return }
    let scopes = try requireStores()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
    willSaveObjects()
    try validateChanges()
    try refuseExternalLinks()
    tell(of: try commit(scopes))
  }

  // MARK: Before

  private final func willSaveObjects() {
    for _ in 0..<1_000 {
      inserted.forEachUncounted { _, object in object.willSave() }
      updated.forEachUncounted { $0.willSave() }
      deleted.forEachUncounted { $0.willSave() }
      if event.isEmpty, event.firstInserted == inserted.count { return }
      processPendingChanges()
      propagateDeletes()
    }
    fatalError(
      "Failed to process pending changes before save. The context is still dirty after 1000 attempts. Typically "
        + "this recursive dirtying is caused by a bad validation method, -willSave, or notification handler.")
  }

  private final func validateChanges() throws {
    var errors: [NSError] = []
    func collect(_ error: any Error) {
      let error = error as NSError
      errors += error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
    }
    deleted.forEachUncounted { object in
      if object.flags.contains(.isInaccessible) { return }
      do { try object.validateForDelete() } catch { collect(error) }
    }
    inserted.forEachUncounted { _, object in
      do { try object.validateForInsert() } catch { collect(error) }
    }
    updated.forEachUncounted { object in
      do { try object.validateForUpdate() } catch { collect(error) }
    }
    try NSError.throwValidation(errors)
  }

  private final func refuseExternalLinks() throws {
    let links = externalLinks.filter {
      $0.object.table.scope !== $0.destination.table.scope && !$0.object.isDeleted
        && !$0.destination.isDeleted
        && $0.object.table.context === self && $0.destination.table.context === self
    }
    guard let link = links.first else { return }
    throw NSError.coreData(
      NSManagedObjectExternalRelationshipError,
      "\(link.object.table.entity.name).\(link.relation.name) leads to an object of another store: keep its ID "
        + "in an attribute, or use a fetched property",
      [NSValidationObjectErrorKey: link.object, NSValidationKeyErrorKey: link.relation.name])
  }

  // MARK: Commits

  private final func commit(_ scopes: [StoreScope]) throws -> SaveReport {
    let isOnly = scopes.count == 1
    var report = SaveReport()
    for scope in scopes where isOnly || hasPending(in: scope) {
      do {
        let work = try commit(scope)
        report.add(scope, self, isOnly: isOnly)
        settle(scope, work.keys, changed: work.changed)
        // Of an only store all is forgotten in a moment.
        if !isOnly { dropPending(of: scope) }
      } catch {
        if report.scopes == 0 { throw error }
        tell(of: report)
        throw NSError.coreData(
          NSPersistentStoreIncompleteSaveError, "one store has saved its part, another has not: \(error)",
          [
            NSUnderlyingErrorKey: error, NSAffectedStoresErrorKey: [scope.store].compactMap(\.self),
            NSAffectedObjectsErrorKey: (inserted.compactMap(\.self) + updated + deleted)
              .filter { $0.table.isOf(scope) },
          ])
      }
    }
    forgetPending()
    return report
  }

  private final func hasPending(in scope: StoreScope) -> Bool {
    inserted.contains { $0?.table.isOf(scope) ?? false } || updated.contains { $0.table.isOf(scope) }
      || deleted.contains { $0.table.isOf(scope) } || watched.contains { $0.table.isOf(scope) }
  }

  /// Commits what concerns one store. Returns the keys of new objects, and which rows were changed.
  private final func commit(_ scope: StoreScope) throws -> (keys: [Int64], changed: [Commit.Rows]) {
    guard let store = scope.store else { return ([], []) }
    try store.requireWritable()
    // Of those that were never read, or couldn't be: a deletion of a row that is gone is done already; a change to
    // one is a conflict.
    var unread: [NSManagedObject] = []
    deleted.forEachUncounted { object in
      if object.chunk == nil, object.table.isOf(scope) { unread.append(object) }
    }
    updatedList.forEachUncounted { object in
      if object.chunk == nil, object.isUpdated, object.table.isOf(scope) { unread.append(object) }
    }
    for object in try preparing("changed objects couldn't be read", { try scope.find(unread) })
    where object.isDeleted { object.flags.insert(.isInaccessible) }
    var conflicts: [Any] = []
    for _ in 0..<100 {
      let builder = try ChangeSetBuilder(self, scope, store)
      if builder.changes.isEmpty { return (builder.keys, []) }
      do {
        let commit = try store.commit(
          builder.changes, in: scope, of: SavedObjects(self, scope, keys: builder.keys))
        store.tellOfCommit()
        return (builder.keys, commit.updatedRows)
      } catch let conflict as CommitConflict {
        conflicts = describe(conflict, builder, scope)
      } catch {
        throw NSError.coreData(
          NSPersistentStoreSaveError, "the store refused the changes: \(error)", [NSUnderlyingErrorKey: error]
        )
      }
      try (mergePolicy as? NSMergePolicy ?? .error).resolve(mergeConflicts: conflicts)
      processPendingChanges()
      propagateDeletes()
    }
    // The policy goes on changing objects so that they conflict.
    try NSMergePolicy.error.resolve(mergeConflicts: conflicts)
    return ([], [])
  }

  /// Puts the saved objects onto their new rows. The commit is done, so nothing may fail any more: an object
  /// whose row can't be read becomes a fault.
  private final func settle(_ scope: StoreScope, _ keys: [Int64], changed: [Commit.Rows]) {
    var changedRows = ChangedRows(changed)
    var rows = NewRows(self, scope)
    inserted.forEachUncounted { index, object in
      if !object.table.isOf(scope) { return }
      promote(object, to: keys[index])
      rows.settle(object)
    }
    updatedList.forEachUncounted(.changes) { object in
      if !object.table.isOf(scope) { return }
      object.flags.remove(.isListed)
      if object.flags.contains(.isUpdated) { updatedCount -= 1 }
      if object.flags.contains(.isDeleted) { return }
      if changedRows.contains(object) {
        rows.settle(object)
      } else if object.flags.contains(.isUpdated) {
        object.settle(on: object.chunk, Int(object.row))
      } else {
        object.changes?.forgetSaved()
      }
    }
    rows.settleRest()
    deleted.forEachUncounted { if $0.table.isOf(scope) { scope.remove($0) } }
    for object in withdrawn where object.table.isOf(scope) { kill(object) }
    withdrawn.removeAll { $0.flags.contains(.isDead) }
    scope.clearDrafts()
    scope.forgetReserved()
  }

  /// Takes what is saved out of what isn't.
  private final func dropPending(of scope: StoreScope) {
    for index in inserted.indices where inserted[index]?.table.isOf(scope) ?? false {
      inserted[index] = nil
      insertedCount -= 1
    }
    updatedList.removeAll { $0.table.isOf(scope) }
    deleted.removeAll { $0.table.isOf(scope) }
  }

  // MARK: After

  private final func tell(of report: SaveReport) {
    report.inserted.forEachUncounted { $0.didSave() }
    report.updated.forEachUncounted { $0.didSave() }
    report.deleted.forEachUncounted { $0.didSave() }
    let inserted = recentlyInserted?.count == report.inserted.count ? recentlyInserted : nil
    let sets = report.scopes == 1 ? (report.updatedSet, report.deletedSet) : (nil, nil)
    let updated = sets.0?.count == report.updated.count ? sets.0 : nil
    let deleted = sets.1?.count == report.deleted.count ? sets.1 : nil
    (recentlyInserted, recentlyUpdated, recentlyDeleted) = (nil, nil, nil)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidSave, object: self,
      userInfo: [
        NSInsertedObjectsKey: inserted ?? Set(sparse: report.inserted),
        NSUpdatedObjectsKey: updated ?? Set(sparse: report.updated),
        NSDeletedObjectsKey: deleted ?? Set(sparse: report.deleted),
      ])
    let ids = report.ids
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidSaveObjectIDs, object: self, userInfo: ids.userInfo)
    SaveMailbox.deliver(ids, from: self)
    report.deleted.forEachUncounted { kill($0) }
    collectInstalment(afterInserting: report.inserted.count)
  }
}

/// Puts objects onto the rows that a commit has written, one after the other.
private struct NewRows {
  private let context: NSManagedObjectContext
  private let scope: StoreScope
  /// The chunk of the last one: rows that were saved together lie together.
  private var last: Chunk?
  /// Of a store that is asked once for all rows.
  private var rest: [NSManagedObject] = []

  init(_ context: NSManagedObjectContext, _ scope: StoreScope) {
    self.context = context
    self.scope = scope
  }

  mutating func settle(_ object: NSManagedObject) {
    if scope.singleRows == nil { return rest.append(object) }
    let entity = object.table.entity.id
    if let last, last.entity == entity, let row = last.row(of: object.key, near: Int(object.row)) {
      return object.settle(on: last, row)
    }
    let found = try? context.newestRow(RowKey(entity: entity, id: object.key), in: scope)
    guard let found, found.table === object.table, let chunk = found.chunk else {
      return object.settle(on: nil, 0)
    }
    object.settle(on: chunk, found.row)
    last = chunk
  }

  func settleRest() {
    if rest.isEmpty { return }
    let keys = rest.map { RowKey(entity: $0.table.entity.id, id: $0.key) }
    let batch = try? context.rows(keys, in: scope)
    var next = 0
    for object in rest {
      // Missing rows are left out, and keys of different entities may be the same number.
      guard let batch, next < batch.count, batch.key(next).id == object.key,
        batch.chunk(next).entity == object.table.entity.id
      else {
        object.settle(on: nil, 0)
        continue
      }
      object.settle(on: batch.chunk(next), batch.row(next))
      next += 1
    }
  }
}

/// Which objects a commit has written new rows for. Costs a search in the lists of the commit's keys.
private struct ChangedRows {
  private var runs: [EntityID: [[Range<Int64>]]] = [:]
  /// The runs of the entity that was asked for last: objects of one follow each other.
  private var last: (entity: EntityID, runs: [[Range<Int64>]])?
  private var single: Set<RowKey> = []
  /// Where the key that was asked for last stands, or would.
  private var hint = 0

  init(_ rows: [Commit.Rows]) {
    for rows in rows {
      if rows.runs.count == 1, rows.runs[0].count == 1 {
        single.insert(RowKey(entity: rows.entity, id: rows.runs[0].lowerBound))
      } else {
        runs[rows.entity, default: []].append(rows.runs)
      }
    }
  }

  mutating func contains(_ object: NSManagedObject) -> Bool {
    let entity = object.table.entity.id
    if !single.isEmpty, single.contains(RowKey(entity: entity, id: object.key)) { return true }
    if last?.entity != entity { last = (entity, runs[entity] ?? []) }
    return last?.runs.contains { contains(object.key, $0) } ?? false
  }

  private mutating func contains(_ key: Int64, _ runs: [Range<Int64>]) -> Bool {
    // Objects come in the order of their keys, mostly.
    if hint < runs.count, runs[hint].upperBound <= key { hint += 1 }
    if hint < runs.count, runs[hint].contains(key) { return true }
    var low = 0
    var high = runs.count
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound <= key { low = middle + 1 } else { high = middle }
    }
    hint = low
    return low < runs.count && runs[low].contains(key)
  }
}

/// What a save has written, for those who are told of it.
private struct SaveReport {
  private(set) var scopes = 0
  private(set) var inserted: [NSManagedObject] = []
  private(set) var updated: [NSManagedObject] = []
  private(set) var deleted: [NSManagedObject] = []
  /// All updated and all deleted objects of the context, where they stand in a set already.
  private(set) var updatedSet: Set<NSManagedObject>?
  private(set) var deletedSet: Set<NSManagedObject>?

  mutating func add(_ scope: StoreScope, _ context: NSManagedObjectContext, isOnly: Bool) {
    scopes += 1
    if scopes == 1 {
      let count = context.changeCount
      updatedSet = context.recentlyUpdated.flatMap { $0.changeCount == count ? $0.set : nil }
      deletedSet = context.recentlyDeleted.flatMap { $0.changeCount == count ? $0.set : nil }
    }
    inserted.reserveCapacity(inserted.count + context.insertedCount)
    context.inserted.forEachUncounted { _, object in
      if object.table.isOf(scope) { inserted.append(object) }
    }
    if isOnly {
      (updated, deleted) = (context.updated, context.deleted)
    } else {
      updated += context.updated.filter { $0.table.isOf(scope) }
      deleted += context.deleted.filter { $0.table.isOf(scope) }
    }
  }

  var ids: SavedIDs {
    var ids = SavedIDs()
    ids.inserted = Self.ids(of: inserted)
    ids.updated = Self.ids(of: updated)
    ids.deleted = Self.ids(of: deleted)
    return ids
  }

  private static func ids(of objects: [NSManagedObject]) -> [NSManagedObjectID] {
    var ids: [NSManagedObjectID] = []
    ids.reserveCapacity(objects.count)
    objects.forEachUncounted { ids.append($0.objectID) }
    return ids
  }
}
