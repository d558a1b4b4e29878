// The engine behind every Cairn store: tables, snapshots, commits. How the bytes are kept is a store's own
// affair; what rows there are and how they are found is decided here, once.

import CairnModel
package import Foundation

/// Tables with snapshots for readers and one writer at a time.
///
/// A reader takes the current snapshot (a lock held for a retain) and reads without any lock from then on. A
/// writer holds `writer` for the length of a commit, makes new versions of what it changes, and publishes.
package final class TableEngine: Sendable {
  package let schema: Schema
  private let clock: @Sendable () -> Date
  private let historyPolicy: HistoryPolicy
  /// nil once the engine is closed.
  private let current: Lock<TableSnapshot?>
  private let writer: Lock<WriterState>

  /// What only commits and reservations touch.
  private struct WriterState {
    /// The next key of each hierarchy, by root.
    var nextKeys: [Int64]
    var nextJoinKeys: [Int64]
    var history: [Commit] = []
    /// Commits up to here aren't kept.
    var purgedThrough = Generation(0)
  }

  package init(schema: Schema, history: HistoryPolicy, clock: @escaping @Sendable () -> Date) {
    self.schema = schema
    self.clock = clock
    historyPolicy = history
    writer = Lock(
      WriterState(
        nextKeys: [Int64](repeating: 1, count: schema.entities.count),
        nextJoinKeys: [Int64](repeating: 1, count: schema.joins.count)))
    current = Lock(nil)
    current.withLock { $0 = TableSnapshot(empty: schema, engine: ObjectIdentifier(self)) }
  }

  /// The tables that a file has, to begin with.
  struct Beginning {
    var generation: Int64
    var tables: [Table?]
    var joins: [Table]
    var nextKeys: [Int64]
    var nextJoinKeys: [Int64]
  }

  /// An engine over rows that are there already. Commits before them aren't remembered.
  init(
    schema: Schema, history: HistoryPolicy, clock: @escaping @Sendable () -> Date, beginning: Beginning
  ) {
    self.schema = schema
    self.clock = clock
    historyPolicy = history
    var state = WriterState(nextKeys: beginning.nextKeys, nextJoinKeys: beginning.nextJoinKeys)
    state.purgedThrough = Generation(beginning.generation)
    writer = Lock(state)
    current = Lock(nil)
    current.withLock {
      $0 = TableSnapshot(
        generation: Generation(beginning.generation), schema: schema, engine: ObjectIdentifier(self),
        tables: beginning.tables, joins: beginning.joins)
    }
  }

  package func snapshot() throws -> any StoreSnapshot { try currentSnapshot() }

  func currentSnapshot() throws -> TableSnapshot {
    guard let snapshot = current.withLock({ $0 }) else { throw TableEngine.closed }
    return snapshot
  }

  package func close() {
    writer.withLock { _ in current.withLock { $0 = nil } }
  }

  static var closed: StoreError {
    StoreError(
      .storeClosed, "the store was closed", remedy: "open it again; snapshots taken before stay readable")
  }

  /// The tables of a snapshot. Throws `foreignSnapshot` for one that this engine didn't make.
  func tables(of snapshot: any StoreSnapshot) throws -> TableSnapshot {
    guard let own = snapshot as? TableSnapshot, own.engine == ObjectIdentifier(self) else {
      throw StoreError(
        .foreignSnapshot, "the snapshot is of another store", remedy: "take one from this store")
    }
    return own
  }

  // MARK: Writing

  package func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try reserveKeys(count, root: root) { _ in }
  }

  /// Has `keep` note which key of the root comes next, before any is handed out. Where it throws, none is.
  func reserveKeys(
    _ count: Int, root: EntityID, keeping keep: (_ next: Int64) throws -> Void
  ) throws -> Range<Int64> {
    let entity = try requireEntity(root)
    guard entity.root == root else {
      throw StoreError(
        .unknownKey,
        "keys are reserved for the root of a hierarchy, which is \"\(schema[entity.root].name)\"",
        entity: entity.name)
    }
    guard count >= 0 else {
      throw StoreError(.malformedChangeSet, "\(count) keys can't be reserved", entity: entity.name)
    }
    return try writer.withLock { state in
      _ = try currentSnapshot()
      let first = state.nextKeys[root.index]
      let (end, overflow) = first.addingReportingOverflow(Int64(count))
      if overflow {
        throw StoreError(.unsupportedRequest, "no keys are left after \(first)", entity: entity.name)
      }
      try keep(end)
      state.nextKeys[root.index] = end
      return first..<end
    }
  }

  package func commit(_ changes: ChangeSet) throws -> Commit {
    try commit(changes, checked: { _ in }, keeping: { work, _ in work.new })
  }

  /// A commit that is checked and made, and that nobody sees yet.
  struct Unpublished {
    let old: TableSnapshot
    let new: TableSnapshot
    let nextKeys: [Int64]
    let nextJoinKeys: [Int64]
  }

  /// Commits, and has `keep` put the new tables where they last; what it returns is published: the same rows, be it
  /// in other chunks. `checked` is called before anything is made, and may throw as well. Where either throws,
  /// nothing has changed.
  func commit(
    _ changes: ChangeSet, checked: (TableSnapshot) throws -> Void,
    keeping keep: (Unpublished, Commit) throws -> TableSnapshot
  ) throws -> Commit {
    try writer.withLock { state in
      let base = try currentSnapshot()
      var work = CommitWork(
        base: base, changes: changes, nextKeys: state.nextKeys, nextJoinKeys: state.nextJoinKeys)
      try work.check()
      try checked(base)
      work.apply()
      let commit = work.record(time: clock())
      let made = Unpublished(
        old: base, new: work.result, nextKeys: state.nextKeys, nextJoinKeys: work.nextJoinKeys)
      let kept = try keep(made, commit)
      state.nextJoinKeys = work.nextJoinKeys
      remember(commit, in: &state)
      current.withLock { $0 = kept }
      return commit
    }
  }

  /// Runs `body` on the current tables while nobody commits, and publishes the same rows in the chunks that it
  /// returns, if it returns any.
  func whileNobodyCommits(_ body: (Unpublished) throws -> TableSnapshot?) throws {
    try writer.withLock { state in
      let base = try currentSnapshot()
      let same = Unpublished(
        old: base, new: base, nextKeys: state.nextKeys, nextJoinKeys: state.nextJoinKeys)
      if let moved = try body(same) { current.withLock { $0 = moved } }
    }
  }

  /// Makes a commit once more that some store made, and gives it the number after the newest. `raising` is given the
  /// next keys, and raises them to what was reserved by then. `checked` is called when it is made and nobody sees it yet.
  ///
  /// Throws `StoreError` for changes that no store made of these rows, and what `checked` throws, and changes nothing but
  /// keys then. Versions and uniqueness aren't looked at: they held when it was made.
  func replay(
    _ changes: ChangeSet, time: Date, raising: (inout [Int64]) -> Void, checked: () throws -> Void = {}
  ) throws -> Commit {
    try writer.withLock { state in
      let base = try currentSnapshot()
      raising(&state.nextKeys)
      var work = CommitWork(
        base: base, changes: changes, nextKeys: state.nextKeys, nextJoinKeys: state.nextJoinKeys)
      try work.checkAgain()
      work.apply()
      let commit = work.record(time: time)
      try checked()
      state.nextJoinKeys = work.nextJoinKeys
      remember(commit, in: &state)
      current.withLock { $0 = work.result }
      return commit
    }
  }

  /// Changes which keys come next, while nobody commits.
  func changeNextKeys(_ change: (inout [Int64]) -> Void) {
    writer.withLock { change(&$0.nextKeys) }
  }

  /// The newest rows, and the keys that come next.
  func state() throws -> (snapshot: TableSnapshot, nextKeys: [Int64], nextJoinKeys: [Int64]) {
    try writer.withLock { (try currentSnapshot(), $0.nextKeys, $0.nextJoinKeys) }
  }

  /// Publishes the rows of another engine of the same schema, with its keys. Commits up to there aren't remembered.
  func adopt(_ other: TableEngine) throws {
    let (theirs, nextKeys, nextJoinKeys) = try other.state()
    try writer.withLock { state in
      _ = try currentSnapshot()
      state.nextKeys = nextKeys
      state.nextJoinKeys = nextJoinKeys
      state.history = []
      state.purgedThrough = theirs.generation
      current.withLock {
        $0 = TableSnapshot(
          generation: theirs.generation, schema: schema, engine: ObjectIdentifier(self),
          tables: theirs.tables, joins: theirs.joins)
      }
    }
  }

  /// Throws what `commit` would throw, and changes nothing.
  package func check(_ changes: ChangeSet) throws {
    try writer.withLock { state in
      var work = CommitWork(
        base: try currentSnapshot(), changes: changes, nextKeys: state.nextKeys,
        nextJoinKeys: state.nextJoinKeys)
      try work.check()
    }
  }

  // MARK: History

  private func remember(_ commit: Commit, in state: inout WriterState) {
    switch historyPolicy {
    case .all: state.history.append(commit)
    case .none: state.purgedThrough = commit.generation
    case .newest(let limit):
      state.history.append(commit)
      while state.history.count > max(limit, 0) {
        state.purgedThrough = state.history.removeFirst().generation
      }
    }
  }

  package func history(after generation: Generation) throws -> [Commit] {
    try writer.withLock { state in
      _ = try currentSnapshot()
      if generation < state.purgedThrough {
        throw StoreError(
          .historyPurged,
          "commits up to number \(state.purgedThrough.number) aren't kept, and those after \(generation.number) were asked for",
          remedy: "read the store as a whole and go on from its current generation")
      }
      return state.history.filter { $0.generation > generation }
    }
  }

  package func purgeHistory(through generation: Generation) throws {
    try writer.withLock { state in
      let newest = try currentSnapshot().generation
      state.history.removeAll { $0.generation <= generation }
      state.purgedThrough = max(state.purgedThrough, min(generation, newest))
    }
  }

  // MARK: Small helpers of all requests

  func requireEntity(_ id: EntityID) throws -> SchemaEntity {
    guard schema.entities.indices.contains(id.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(id.index)")
    }
    return schema[id]
  }

  /// What the rows and the indexes of the current generation take in memory.
  package var footprint: Int {
    guard let snapshot = try? currentSnapshot() else { return 0 }
    return (snapshot.tables.compactMap { $0 } + snapshot.joins).reduce(0) {
      $0 + $1.footprint + $1.indexes.footprint
    }
  }
}
