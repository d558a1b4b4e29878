// A third party's store: dictionaries of rows, copied whole for every snapshot, written against the public API
// of CairnModel alone. It proves that the protocol suffices, and being too simple to be wrong it is the oracle
// that the engine's answers are compared with. It shares no code with the engine's kernels.
//
// Always holds: a `ToyState` is a value, so a snapshot that has one can't see later commits.

import CairnModel
import Foundation

final class ToyStore: PersistentStore {
  static let traits = StoreTraits(type: "Toy", isDurable: false, isFileBased: false)

  let schema: Schema
  private let uuid = UUID()
  private let policy: HistoryPolicy
  private let clock: @Sendable () -> Date
  private let lock = NSLock()
  private nonisolated(unsafe) var guarded = Guarded()

  /// All that changes; touched with the lock held.
  private struct Guarded {
    var state = ToyState()
    var lastKeys: [EntityID: Int64] = [:]
    var commits: [Commit] = []
    /// Commits up to this one aren't kept.
    var purged: Int64 = 0
    var entries: [String: Value] = [:]
    var isClosed = false
  }

  init(schema: Schema, history: HistoryPolicy = .all, clock: @escaping @Sendable () -> Date = { Date() }) {
    self.schema = schema
    self.clock = clock
    policy = history
  }

  private func locked<T>(_ body: (inout Guarded) throws -> T) rethrows -> T {
    lock.lock()
    defer { lock.unlock() }
    return try body(&guarded)
  }

  private func open<T>(_ body: (inout Guarded) throws -> T) throws -> T {
    try locked { guarded in
      if guarded.isClosed { throw StoreError(.storeClosed, "the store is closed") }
      return try body(&guarded)
    }
  }

  var metadata: StoreMetadata {
    get { locked { StoreMetadata(uuid: uuid, type: ToyStore.traits.type, userEntries: $0.entries) } }
    set { locked { $0.entries = newValue.userEntries } }
  }

  func close() throws { try open { $0.isClosed = true } }

  // MARK: Reading

  func snapshot() throws -> any StoreSnapshot {
    try open { ToySnapshot(owner: uuid, state: $0.state) }
  }

  private func question(_ snapshot: any StoreSnapshot) throws -> ToyQuestion {
    guard let mine = snapshot as? ToySnapshot, mine.owner == uuid else {
      throw StoreError(.foreignSnapshot, "the snapshot is another store's")
    }
    return ToyQuestion(schema: schema, state: mine.state)
  }

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    let question = try question(snapshot)
    return question.batch(try question.ids(request), of: request.entity)
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    try question(snapshot).ids(request).count
  }

  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    try question(snapshot).aggregate(request)
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    let question = try question(snapshot)
    for key in keys { try question.checkEntity(key.entity) }
    return question.batch(keys)
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    let question = try question(snapshot)
    guard schema.relationships.indices.contains(relationship.index) else {
      throw StoreError(.unknownProperty, "there is no relationship number \(relationship.index)")
    }
    var offsets = [0]
    var keys: [RowKey] = []
    for source in sources {
      try question.checkEntity(source.entity)
      keys += question.destinations(of: source, through: schema[relationship])
      offsets.append(keys.count)
    }
    return RelatedKeys(offsets: offsets, keys: keys)
  }

  // MARK: Writing

  func commit(_ changes: ChangeSet) throws -> Commit {
    try open { guarded in
      var writer = ToyCommit(
        schema: schema, changes: changes, before: guarded.state, lastKeys: guarded.lastKeys)
      try writer.run()
      let commit = Commit(
        generation: Generation(writer.after.generation), author: changes.author,
        contextName: changes.contextName, time: clock(), inserted: writer.inserted,
        updated: writer.changed.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted()) },
        deleted: writer.deleted)
      guarded.state = writer.after
      guarded.commits.append(commit)
      trim(&guarded)
      return commit
    }
  }

  private func trim(_ guarded: inout Guarded) {
    switch policy {
    case .all: return
    case .none: guarded.purged = guarded.state.generation
    case .newest(let count): guarded.purged = max(guarded.purged, guarded.state.generation - Int64(count))
    }
    let purged = guarded.purged
    guarded.commits.removeAll { $0.generation.number <= purged }
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try open { guarded in
      guard schema.entities.indices.contains(root.index) else {
        throw StoreError(.unknownEntity, "there is no entity number \(root.index)")
      }
      let first = guarded.lastKeys[schema[root].root, default: 0] + 1
      guarded.lastKeys[schema[root].root] = first + Int64(count) - 1
      return first..<first + Int64(count)
    }
  }

  func history(after generation: Generation) throws -> [Commit] {
    try open { guarded in
      if generation.number < guarded.purged {
        throw StoreError(.historyPurged, "the commits up to \(guarded.purged) aren't kept any more")
      }
      return guarded.commits.filter { $0.generation > generation }
    }
  }

  func purgeHistory(through generation: Generation) throws {
    try open { guarded in
      guarded.purged = max(guarded.purged, min(generation.number, guarded.state.generation))
      guarded.commits.removeAll { $0.generation <= generation }
    }
  }
}

/// A row with the entity that it is of.
struct ToyRow {
  var entity: EntityID
  var version: Int64
  var values: [Value]
}

/// The pairs of one join, as lists from either side.
struct ToyJoin {
  var forward: [Int64: [Int64]] = [:]
  /// Unused for a relationship that is its own inverse: its pairs stand in `forward` both ways round.
  var backward: [Int64: [Int64]] = [:]
}

/// Everything in the store at one generation.
struct ToyState {
  var generation: Int64 = 0
  /// By root entity, then by id.
  var rows: [EntityID: [Int64: ToyRow]] = [:]
  /// By number of the join.
  var joins: [Int: ToyJoin] = [:]
}

final class ToySnapshot: StoreSnapshot {
  let owner: UUID
  let state: ToyState

  init(owner: UUID, state: ToyState) {
    self.owner = owner
    self.state = state
  }

  var generation: Generation { Generation(state.generation) }
}
