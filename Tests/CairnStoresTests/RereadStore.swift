// A store that answers everything from its files: for the first snapshot after a commit they are opened anew, for reading
// only, and with no room to cache anything.

import CairnModel
import CairnStores
import Foundation

/// Writes by one store and reads by others, one for each generation.
final class RereadStore<Store: PersistentStore>: PersistentStore {
  static var traits: StoreTraits { Store.traits }

  private final class Snapshot: StoreSnapshot {
    let store: Store
    let owner: ObjectIdentifier
    let inner: any StoreSnapshot

    init(_ store: Store, of owner: RereadStore) throws {
      self.store = store
      self.owner = ObjectIdentifier(owner)
      inner = try store.snapshot()
    }

    var generation: Generation { inner.generation }
  }

  private let writer: Store
  private let reopen: @Sendable () throws -> Store
  private let afterCommit: @Sendable (Store) throws -> Void
  /// nil where something was committed since.
  private let newest: Lock<Snapshot?>

  /// `reopen` opens what `writer` writes; `afterCommit` is called after each commit.
  init(
    _ writer: Store, afterCommit: @escaping @Sendable (Store) throws -> Void = { _ in },
    reopen: @escaping @Sendable () throws -> Store
  ) throws {
    self.writer = writer
    self.reopen = reopen
    self.afterCommit = afterCommit
    newest = Lock(nil)
  }

  private func own(_ snapshot: any StoreSnapshot) throws -> Snapshot {
    guard let own = snapshot as? Snapshot, own.owner == ObjectIdentifier(self) else {
      throw StoreError(.foreignSnapshot, "the snapshot is of another store")
    }
    return own
  }

  var schema: Schema { writer.schema }

  var metadata: StoreMetadata {
    get { writer.metadata }
    set { writer.metadata = newValue }
  }

  func snapshot() throws -> any StoreSnapshot {
    _ = try writer.snapshot()
    return try newest.withLock { newest in
      if let newest { return newest }
      let snapshot = try Snapshot(try reopen(), of: self)
      newest = snapshot
      return snapshot
    }
  }

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    let own = try own(snapshot)
    return try own.store.fetch(request, in: own.inner)
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    let own = try own(snapshot)
    return try own.store.count(request, in: own.inner)
  }

  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    let own = try own(snapshot)
    return try own.store.aggregate(request, in: own.inner)
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    let own = try own(snapshot)
    return try own.store.rows(keys, in: own.inner)
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    let own = try own(snapshot)
    return try own.store.related(sources, through: relationship, in: own.inner)
  }

  func commit(_ changes: ChangeSet) throws -> Commit {
    let commit = try writer.commit(changes)
    try afterCommit(writer)
    newest.withLock { $0 = nil }
    return commit
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try writer.reserveKeys(count, root: root)
  }

  func history(after generation: Generation) throws -> [Commit] { try writer.history(after: generation) }

  func purgeHistory(through generation: Generation) throws { try writer.purgeHistory(through: generation) }

  func close() throws { try writer.close() }
}
