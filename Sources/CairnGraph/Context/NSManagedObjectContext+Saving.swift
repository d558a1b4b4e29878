// Saving: one change set, one commit, and the objects on their new rows.

import CairnModel
import Foundation

extension NSManagedObjectContext {
  /// Saves every unsaved change, or none.
  ///
  /// When it returns, the store has the changes, new objects have their permanent IDs, and nothing is unsaved.
  /// Without changes it does nothing. Costs what has changed.
  ///
  /// Throws 133020 when a row has changed since the context read it, and 133021 when a uniqueness constraint
  /// would break, both with what the store has in `NSPersistentStoreSaveConflictsErrorKey`; 134030 when the
  /// store refuses the changes, with its `StoreError` as the underlying error; 134070 without a store. After
  /// any of them the context has its changes still, and the store is as it was.
  public final func save() throws {
    try throwDeferredError()
    guard hasChanges else { return }
    let store = try requireStore()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
    let work = try makeChanges(store)
    var changed: Set<RowKey> = []
    if !work.changes.isEmpty { changed = Set(try commit(work.changes, store).updated.map(\.key)) }
    let userInfo: [AnyHashable: Any] = [
      NSInsertedObjectsKey: insertedObjects, NSUpdatedObjectsKey: updatedObjects,
    ]
    settle(insertedKeys: work.keys, changed: changed)
    NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: self, userInfo: userInfo)
    collectInstalment()
  }

  /// Where a temporary key stands in `inserted`.
  final func insertedIndex(ofTemporaryKey key: Int64) -> Int { Int(-key - (-inserted[0].key)) }

  private final func makeChanges(_ store: any PersistentStore) throws -> ChangeSetBuilder {
    do {
      return try ChangeSetBuilder(self, store)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreSaveError, "the store didn't give keys for new objects: \(error)",
        [NSUnderlyingErrorKey: error])
    }
  }

  private final func commit(_ changes: ChangeSet, _ store: any PersistentStore) throws -> Commit {
    do {
      return try store.commit(changes)
    } catch let conflict as CommitConflict {
      throw describe(conflict, changes)
    } catch {
      throw NSError.coreData(
        NSPersistentStoreSaveError, "the store refused the changes: \(error)", [NSUnderlyingErrorKey: error])
    }
  }

  /// Puts the saved objects onto their new rows. The commit is done, so nothing may fail any more: an object
  /// whose row can't be read becomes a fault.
  private final func settle(insertedKeys: [Int64], changed: Set<RowKey>) {
    let new = inserted
    let old = updated
    forgetPending()
    for (object, key) in zip(new, insertedKeys) { promote(object, to: key) }
    let moved = old.filter { changed.contains(RowKey(entity: $0.table.entity.id, id: $0.key)) }
    let rest = old.filter { !changed.contains(RowKey(entity: $0.table.entity.id, id: $0.key)) }
    for object in rest { object.settle(on: object.chunk, Int(object.row)) }
    settle(new + moved)
  }

  private final func settle(_ objects: [NSManagedObject]) {
    let batch = try? rows(objects.map { RowKey(entity: $0.table.entity.id, id: $0.key) })
    var next = 0
    for object in objects {
      guard let batch, next < batch.count, batch.key(next).id == object.key else {
        object.settle(on: nil, 0)
        continue
      }
      object.settle(on: batch.chunk(next), batch.row(next))
      next += 1
    }
  }
}
