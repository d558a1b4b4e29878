// The in-memory store: the table engine and nothing else.

public import CairnModel
public import Foundation

/// A store whose rows live as long as it does. Uniqueness, history and snapshots as in every Cairn store.
public final class MemoryStore: PersistentStore {
  public static let traits = StoreTraits(type: "InMemory", isDurable: false, isFileBased: false)

  private let engine: TableEngine
  private let entries: Lock<StoreMetadata>

  /// An empty store. `history` says how many commits are kept for `history(after:)`; `clock` gives their times.
  public init(
    schema: Schema, uuid: UUID = UUID(), history: HistoryPolicy = .none,
    clock: @escaping @Sendable () -> Date = { Date() }
  ) {
    engine = TableEngine(schema: schema, history: history, clock: clock)
    entries = Lock(StoreMetadata(uuid: uuid, type: MemoryStore.traits.type))
  }

  public var schema: Schema { engine.schema }

  public var metadata: StoreMetadata {
    get { entries.withLock { $0 } }
    set { entries.withLock { $0.userEntries = newValue.userEntries } }
  }

  public func snapshot() throws -> any StoreSnapshot { try engine.snapshot() }

  public func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    try engine.fetch(request, in: snapshot)
  }

  public func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    try engine.count(request, in: snapshot)
  }

  public func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow]
  {
    try engine.aggregate(request, in: snapshot)
  }

  public func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    try engine.rows(keys, in: snapshot)
  }

  public func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    try engine.related(sources, through: relationship, in: snapshot)
  }

  public func commit(_ changes: ChangeSet) throws -> Commit { try engine.commit(changes) }

  public func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try engine.reserveKeys(count, root: root)
  }

  public func history(after generation: Generation) throws -> [Commit] {
    try engine.history(after: generation)
  }

  public func purgeHistory(through generation: Generation) throws {
    try engine.purgeHistory(through: generation)
  }

  public func close() throws { engine.close() }

  /// What the current rows and indexes take in memory, in bytes. Rows that only held snapshots see aren't in
  /// it. Costs one pass over the list of chunks.
  public var footprint: Int { engine.footprint }
}

extension MemoryStore: StoreOfTables {
  package var tables: TableEngine { engine }
}
