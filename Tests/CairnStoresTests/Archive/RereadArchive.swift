// An archive store that answers everything from the file: after each commit the file is opened anew, for reading
// only, and with no room to cache anything.

import CairnModel
import Foundation

@testable import CairnStores

/// Writes by one `ArchiveStore` and reads by others, one for each generation.
final class RereadArchive: PersistentStore {
  static let traits = ArchiveStore.traits

  private final class Snapshot: StoreSnapshot {
    let store: ArchiveStore
    let owner: ObjectIdentifier
    let inner: any StoreSnapshot

    init(_ store: ArchiveStore, of owner: RereadArchive) throws {
      self.store = store
      self.owner = ObjectIdentifier(owner)
      inner = try store.snapshot()
    }

    var generation: Generation { inner.generation }
  }

  private let writer: ArchiveStore
  private let fileSystem: any FileSystem
  private let model: ArchiveStore.Model
  private let newest: Lock<Snapshot?>
  /// Whether the file is written anew after each commit.
  private let compacts: Bool
  /// What readers' files are written with, if not as the writer's.
  private let through: Schema?

  init(
    schema: Schema, history: HistoryPolicy, fileSystem: any FileSystem, compacts: Bool,
    through: Schema? = nil
  ) throws {
    self.through = through
    model = ArchiveStore.Model(schema: schema)
    var options = ArchiveStore.Options()
    options.history = history
    options.profile = compacts ? .smallest : .fastest
    self.compacts = compacts
    self.fileSystem = fileSystem
    writer = try ArchiveStore(at: "/a.cairn", model: model, options: options, fileSystem: fileSystem)
    newest = Lock(nil)
    try reread()
  }

  private func reread() throws {
    var options = ArchiveStore.Options()
    options.isReadOnly = true
    options.cacheBudget = 0
    if let through { try copy(through, options) }
    let path = through == nil ? "/a.cairn" : "/b.cairn"
    let reader = try ArchiveStore(at: path, model: model, options: options, fileSystem: fileSystem)
    let snapshot = try Snapshot(reader, of: self)
    newest.withLock { $0 = snapshot }
  }

  /// The writer's file as another schema has its rows.
  private func copy(_ schema: Schema, _ options: ArchiveStore.Options) throws {
    let reader = try ArchiveStore(
      at: "/a.cairn", model: .init(schema: schema), options: options, fileSystem: fileSystem)
    try ArchiveFiles.pack(reader, into: "/b.cairn", model: .init(schema: schema), on: fileSystem)
  }

  private func own(_ snapshot: any StoreSnapshot) throws -> Snapshot {
    guard let own = snapshot as? Snapshot, own.owner == ObjectIdentifier(self) else {
      throw StoreError(.foreignSnapshot, "the snapshot is of another store")
    }
    return own
  }

  var schema: Schema { model.schema }

  var metadata: StoreMetadata {
    get { writer.metadata }
    set { writer.metadata = newValue }
  }

  func snapshot() throws -> any StoreSnapshot {
    _ = try writer.snapshot()
    return newest.withLock { $0! }
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
    if compacts { try writer.compact() }
    try reread()
    return commit
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try writer.reserveKeys(count, root: root)
  }

  func history(after generation: Generation) throws -> [Commit] { try writer.history(after: generation) }

  func purgeHistory(through generation: Generation) throws { try writer.purgeHistory(through: generation) }

  func close() throws { try writer.close() }
}
