// The log store: the table engine over a directory of a base, which is an archive, and segments of what was saved since.

public import CairnModel
public import Foundation

/// A store for a running program: a save appends what changed, and is there as a whole after a crash or not at all.
///
/// Opening costs the last checkpoint's footer and what was saved since. One writer at a time; any number of readers,
/// each of which sees the state that it opened until `refresh`. A commit can be seen by others when it is written, and
/// returns when it is as durable as `Options.durability` says. `fork()` leaves a store to the parent process.
public final class LogStore: PersistentStore {
  public static let traits = StoreTraits(type: "CairnLog", isDurable: true, isFileBased: true)

  let engine: TableEngine
  let directory: LogDirectory
  let options: Options
  let damage: DamageLog
  let index: LogIndex
  let lock: LockFile?
  private let processID = getpid()
  let clock: @Sendable () -> Date
  private let entries: Lock<(value: StoreMetadata, isChanged: Bool)>
  let archivedSchema: ArchivedSchema
  /// nil when read-only or closed. Its lock is taken under the engine's write lock, never the other way round.
  let writing: Lock<LogWriter?>
  /// nil when the store writes, or is closed.
  let following: Lock<LogFollower?>
  /// Held by whoever makes a checkpoint, before all other locks.
  let checkpointing: Lock<CheckpointState>
  let syncer: LogSyncer
  let timer: Lock<Timer>

  struct CheckpointState {
    /// The tail at which the next is tried, after one that failed.
    var leastTail: UInt64 = 0
  }

  /// What the background has to do.
  struct Timer {
    var isScheduled = false
    var isCheckpointing = false
    var lastCommit = DispatchTime.now()
  }

  /// Symbolic links followed.
  public var path: String { directory.path }

  /// Opens the log at `path`, a directory, or makes an empty one where nothing is.
  ///
  /// The model may have its entities and properties in another order than the one that the log was made with.
  /// Where the first side of a one-to-one pair is another then, the next opening for writing writes the log
  /// anew: that costs a pass over everything, needs room for as much, and purges the history up to then.
  /// Opening it for reading only, and each `refresh` that finds something, costs a pass over the pairs' keys.
  ///
  /// Throws `corrupt` for what is no log or has lost something that was acknowledged, `incompatibleSchema`
  /// for one of another model, `locked` with the holder when another store writes to it, and what the file
  /// system throws. What was written last and never acknowledged is cut off, and kept beside in a file
  /// `torn-…`.
  public convenience init(
    at path: String, model: ArchiveStore.Model, options: Options = Options(),
    clock: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    try self.init(at: path, model: model, options: options, fileSystem: POSIXFileSystem.shared, clock: clock)
  }

  /// `uuid` is what a new log gets.
  package init(
    at path: String, model: ArchiveStore.Model, options: Options, fileSystem: any FileSystem,
    clock: @escaping @Sendable () -> Date = { Date() }, uuid: UUID = UUID()
  ) throws {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    let isReadOnly = options.isReadOnly || options.upTo != nil
    var lock: LockFile?
    var isNew = false
    if !isReadOnly {
      try LogCreation.makeDirectory(directory)
      lock = try LogFiles.lock(directory, timeout: options.lockTimeout)
      isNew = try fileSystem.information(directory.path(LogNames.manifest)) == nil
      if isNew {
        try LogCreation(directory: directory, profile: options.profile, clock: clock).create(model, uuid)
      }
    }
    let index = LogIndex()
    let damage = DamageLog()
    let replay = LogReplay(
      directory: directory, cacheBudget: options.cacheBudget, damage: damage, clock: clock,
      upTo: options.upTo, index: index)
    var contents =
      try isReadOnly
      ? LogFollower.settled(directory) { try replay.read(model.schema) }
      : replay.read(model.schema, mode: .readWrite)
    if !isReadOnly, contents.schema.isTurned {
      try LogRewriting(directory: directory, options: options, clock: clock).rewrite(contents, model)
      contents = try replay.read(model.schema, mode: .readWrite)
    }
    self.directory = directory
    self.options = options
    self.damage = damage
    self.lock = lock
    self.clock = clock
    self.index = index
    engine = contents.engine
    archivedSchema = contents.base.schema
    entries = Lock((contents.metadata, false))
    checkpointing = Lock(CheckpointState())
    timer = Lock(Timer())
    if isReadOnly {
      writing = Lock(nil)
      following = Lock(LogFollower(contents, replay: replay))
      syncer = LogSyncer(durableThrough: contents.end.sequence)
    } else {
      let writer = try LogRecovery(directory: directory, options: options).writer(contents, isNew: isNew)
      syncer = writer.syncer
      writing = Lock(writer)
      following = Lock(nil)
    }
  }

  // MARK: PersistentStore

  public var schema: Schema { engine.schema }

  /// Written with the next commit, or when the store is closed.
  public var metadata: StoreMetadata {
    get { entries.withLock { $0.value } }
    set {
      entries.withLock {
        $0.value.userEntries = newValue.userEntries
        $0.isChanged = true
      }
    }
  }

  func metadataWasRead(_ metadata: StoreMetadata) {
    entries.withLock { if !$0.isChanged { $0.value = metadata } }
  }

  public func snapshot() throws -> any StoreSnapshot { try engine.snapshot() }

  public func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    try damage.checking { try engine.fetch(request, in: snapshot) }
  }

  public func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    try damage.checking { try engine.count(request, in: snapshot) }
  }

  public func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow]
  {
    try damage.checking { try engine.aggregate(request, in: snapshot) }
  }

  public func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    try damage.checking { try engine.rows(keys, in: snapshot) }
  }

  public func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    try damage.checking { try engine.related(sources, through: relationship, in: snapshot) }
  }

  /// As every store's. Throws `outcomeUnknown` where nobody knows whether the changes survive a power cut: they are
  /// there, and nothing is saved any more until the store is opened again.
  public func commit(_ changes: ChangeSet) throws -> Commit {
    // What couldn't be read was taken for nulls: nothing made of that may be written.
    let before = damage.count
    var sequence: UInt64 = 0
    let commit = try damage.explaining {
      try engine.commit(changes, checked: { _ in try requireWriter() }) { work, commit in
        try damage.check(since: before)
        sequence = try writing.withLock { writer in
          let writer = try opened(writer)
          try writeMetadata(writer)
          return try writer.append(changes, commit, nextKeys: work.nextKeys)
        }
        return work.new
      }
    }
    try acknowledge(sequence)
    tidy()
    return commit
  }

  private func writeMetadata(_ writer: LogWriter) throws {
    let metadata = try entries.withLock { entries -> [UInt8]? in
      guard entries.isChanged else { return nil }
      let metadata = try ArchivedMetadata(entries.value).json
      // What is set from here on is for the next commit.
      entries.isChanged = false
      return metadata
    }
    guard let metadata else { return }
    var changed = writer.manifest
    changed.metadata = metadata
    do {
      try writer.replace(changed)
    } catch {
      entries.withLock { $0.isChanged = true }
      throw error
    }
  }

  private func changedMetadata() throws -> [UInt8]? {
    try entries.withLock { $0.isChanged ? try ArchivedMetadata($0.value).json : nil }
  }

  /// Throws unless this process may write.
  func requireWriter() throws {
    try requireSameProcess()
    try writing.withLock { try requireOwn(opened($0)) }
  }

  /// Throws unless the lock and the file are still this store's own: else another may write where it would.
  func requireOwn(_ writer: LogWriter) throws {
    try writer.requireWorking()
    try lock?.check()
  }

  func requireSameProcess() throws {
    if getpid() == processID { return }
    throw StoreError(
      .locked, "the store was opened by process \(processID), of which this one was forked", file: path,
      remedy: "open the store in the process that uses it")
  }

  func opened(_ writer: LogWriter?) throws -> LogWriter {
    if let writer { return writer }
    _ = try engine.currentSnapshot()
    throw StoreError(
      .unsupportedRequest, "the log was opened for reading only", file: path,
      remedy: "open it for writing")
  }

  /// Waits for what the level promises of frame `sequence`.
  private func acknowledge(_ sequence: UInt64) throws {
    switch options.durability {
    case .full: try syncer.wait(for: sequence)
    case .normal, .off: break
    }
    scheduleIdle()
  }

  public func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    if writing.withLock({ $0 == nil }) { return try engine.reserveKeys(count, root: root) }
    try requireSameProcess()
    var sequence: UInt64?
    let keys = try engine.reserveKeys(count, root: root) { next in
      let generation = try engine.currentSnapshot().generation.number
      sequence = try writing.withLock {
        let writer = try opened($0)
        guard writer.mustPromise(next: next, root: root) else { return nil }
        try requireOwn(writer)
        return try writer.promise(next: next, root: root, generation: generation)
      }
    }
    if let sequence { try acknowledge(sequence) }
    return keys
  }

  /// Writes what is left to write, so that nothing at all that comes after can go unnoticed, and gives back the lock.
  /// The store is closed whatever it throws.
  public func close() throws {
    var failure: (any Error)?
    if getpid() == processID {
      checkpointing.withLock { _ in
        do { try finish() } catch { failure = error }
      }
    }
    engine.close()
    writing.withLock {
      $0?.closeFile()
      $0 = nil
    }
    following.withLock { $0 = nil }
    lock?.release()
    if let failure { throw failure }
  }

  private func finish() throws {
    guard writing.withLock({ $0 != nil }) else { return }
    try requireWriter()
    if options.checkpoints != .never, isTailLarge(divisor: 2) { try? checkpoint() }
    try engine.whileNobodyCommits { work in
      try writing.withLock { writer in
        try opened(writer).close(
          generation: work.new.generation.number, nextKeys: work.nextKeys, metadata: changedMetadata())
      }
      return nil
    }
  }
}

extension LogStore: FollowingStore {
  package var isFollowing: Bool { options.isReadOnly && options.upTo == nil }
}

extension LogStore: StoreOfTables {
  package var tables: TableEngine { engine }

  package func checked<T>(_ body: () throws -> T) throws -> T { try damage.checking(body) }
}
