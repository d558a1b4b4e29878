// The archive store: the table engine over one file, whose columns are read when they are first asked for.

public import CairnModel
public import Foundation

/// A store in one compact file.
///
/// Opening reads the footer, not the data. A save appends what changed, and is either there as a whole after a crash
/// or not at all. One writer at a time; any number of readers, each of which goes on seeing the state that it opened.
/// While a writer has it open there is a file beside it, `.NAME.lock`, which others ask who writes. One that is there
/// afterwards is of a writer that ended without closing the archive, and tells the next one so; it may be removed when
/// the machine has been started anew since.
public final class ArchiveStore: PersistentStore {
  public static let traits = StoreTraits(type: "CairnArchive", isDurable: true, isFileBased: true)

  let engine: TableEngine
  let fileSystem: any FileSystem
  /// Symbolic links followed.
  public let path: String
  let options: Options
  let lock: LockFile?
  let damage: DamageLog
  let clock: @Sendable () -> Date
  let entries: Lock<Entries>
  /// nil when read-only or closed. Its lock is taken under the engine's write lock, never the other way round.
  let writing: Lock<ArchiveWriter?>
  let archivedSchema: ArchivedSchema

  struct Entries {
    var value: StoreMetadata
    /// How often it was changed, and how many of the changes the file has.
    var changeCount = 0
    var savedCount = 0

    var isChanged: Bool { changeCount > savedCount }
  }

  /// Opens the archive at `path`, or makes an empty one where there is no file.
  ///
  /// Throws `corrupt` for a file that is no archive or is damaged, `incompatibleSchema` for one of another model,
  /// `locked` with the holder when another store writes to it, and what the file system throws.
  public convenience init(
    at path: String, model: Model, options: Options = Options(),
    clock: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    try self.init(at: path, model: model, options: options, fileSystem: POSIXFileSystem.shared, clock: clock)
  }

  /// `uuid` is what a new archive gets.
  package init(
    at path: String, model: Model, options: Options, fileSystem: any FileSystem,
    clock: @escaping @Sendable () -> Date = { Date() }, uuid: UUID = UUID()
  ) throws {
    let path = try fileSystem.resolve(path)
    let damage = DamageLog()
    var lock: LockFile?
    var isOpened = false
    // Where it isn't opened, the next writer has to know what this one was told.
    defer {
      if !isOpened, let lock {
        lock.release(lock.wasAbandoned || lock.isUnsureOfName ? .keepingNote : .removingFile)
      }
    }
    if !options.isReadOnly {
      let own = try LockFile(at: ArchiveStore.lockPath(path), on: fileSystem)
      lock = own
      _ = try? AtomicReplacement.removeLeftovers(of: path, on: fileSystem)
      if try fileSystem.information(path) == nil {
        let copy = ArchiveCopy(
          fileSystem: fileSystem, path: path, effort: options.profile.effort, clock: clock)
        try own.replacing { try ArchiveStore.create(copy, model, uuid) }
      } else {
        try ArchiveFiles.requireName(of: path, own, fileSystem)
      }
    }
    let file = try fileSystem.open(path, options.isReadOnly ? .read : .readWrite)
    let contents = try ArchiveFile(file: file, path: path).open(
      cacheBudget: options.cacheBudget, damage: damage)
    guard let order = SchemaOrder(stored: contents.source.schema, given: model.schema) else {
      throw StoreError(
        .incompatibleSchema, "the archive was made with another version of the model", file: path,
        remedy: "open it with the model that it was made with, or migrate it")
    }
    if contents.header.readOnlyCompatible != 0, !options.isReadOnly {
      throw StoreError(
        .unsupportedRequest, "it uses features that this program can read but not write", file: path,
        remedy: "open it for reading only")
    }
    self.fileSystem = fileSystem
    self.path = path
    self.options = options
    self.lock = lock
    self.damage = damage
    self.clock = clock
    archivedSchema =
      order.isSame && contents.source.schema.keepsApartAs(model.schema)
      ? contents.schema : ArchivedSchema(model.schema, model: model.source ?? contents.schema.model)
    entries = Lock(Entries(value: contents.metadata))
    let writerOptions = ArchiveStore.writerOptions(options, clock)
    writing = Lock(
      options.isReadOnly
        ? nil
        : try ArchiveWriter(
          contents, order, file: file, options: writerOptions, isAbandoned: lock?.wasAbandoned ?? false))
    engine = TableEngine(
      schema: model.schema, history: options.history, clock: clock,
      beginning: ArchiveStore.beginning(contents, order, damage))
    isOpened = true
  }

  static func writerOptions(
    _ options: Options, _ clock: @escaping @Sendable () -> Date
  ) -> ArchiveWriter.Options {
    .init(
      effort: options.profile.effort, leastFooter: options.leastFooter,
      leastBlob: options.leastBlob, longestBlock: options.longestBlock, clock: clock)
  }

  private static func create(_ copy: ArchiveCopy, _ model: Model, _ uuid: UUID) throws {
    let archivedSchema = ArchivedSchema(model.schema, model: model.source)
    do {
      try archivedSchema.checkSize()
      try ArchiveTables.check(model.schema)
    } catch let error as RecordError {
      throw StoreError(.unsupportedRequest, error.message, file: copy.path)
    }
    let metadata = StoreMetadata(
      uuid: uuid, type: traits.type, versionHashes: model.versionHashes,
      versionIdentifiers: model.versionIdentifiers)
    let nobody = TableSnapshot(empty: model.schema, engine: ObjectIdentifier(copy.fileSystem as AnyObject))
    try copy.write(
      nobody,
      .init(
        schema: archivedSchema, metadata: metadata, generation: 0,
        nextKeys: model.schema.entities.map { _ in 1 }, nextJoinKeys: model.schema.joins.map { _ in 1 }))
  }

  /// The file beside an archive that its writer holds a lock on.
  static func lockPath(_ path: String) -> String {
    Paths.join(Paths.directory(of: path), ".\(Paths.name(of: path)).lock")
  }

  /// The tables as a file has them, in the file's own order.
  static func beginning(_ contents: ArchiveContents, _ damage: DamageLog) -> TableEngine.Beginning {
    beginning(contents, SchemaOrder(contents.source.schema), damage)
  }

  /// The tables as a file has them, for an engine over the schema that `order` leads to.
  static func beginning(
    _ contents: ArchiveContents, _ order: SchemaOrder, _ damage: DamageLog
  ) -> TableEngine.Beginning {
    var turned: [Int: [Int: TurnedKeys]] = [:]
    for flip in order.flips {
      turned[flip.table, default: [:]][flip.givenPlace] = TurnedKeys(
        flip.sources.map { (contents.index.tables[$0.table], $0.slot) })
    }
    let schema = order.given
    let tables = (0..<ArchiveTables.count(schema)).map { given -> Table? in
      guard ArchiveTables.isStored(given, schema) else { return nil }
      let table = order.storedTables[given]
      let entity = ArchiveTables.entity(given, schema)
      let types = ArchiveTables.types(given, schema)
      let nothing = [Column?](repeating: nil, count: types.count + 2)
      var chunks: [Chunk] = []
      var liveCount = 0
      let groups = contents.index.tables[table]
      for (number, group) in groups.enumerated() {
        let following = number + 1 < groups.count ? groups[number + 1] : nil
        for place in group.chunks.indices {
          chunks.append(
            group.chunk(
              place, before: following, entity: entity, nothingHeld: nothing,
              storedPlaces: order.tables[table].storedPlaces, turned: turned[table] ?? [:]))
          liveCount += group.chunks[place].liveCount
        }
      }
      return Table(
        entity: entity, types: types, damage: damage, chunks: ChunkList(chunks), liveCount: liveCount)
    }
    let entityCount = schema.entities.count
    return TableEngine.Beginning(
      generation: contents.index.generation, tables: Array(tables[..<entityCount]),
      joins: tables[entityCount...].map { $0! }, nextKeys: order.given(byEntity: contents.index.nextKeys),
      nextJoinKeys: order.given(byJoin: contents.index.nextJoinKeys))
  }

  // MARK: PersistentStore

  public var schema: Schema { engine.schema }

  /// Written with the next commit, or when the store is closed.
  public var metadata: StoreMetadata {
    get { entries.withLock { $0.value } }
    set {
      entries.withLock {
        $0.value.userEntries = newValue.userEntries
        $0.changeCount += 1
      }
    }
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

  /// As every store's. When it returns, the changes are on the medium. Throws `outcomeUnknown` where nobody knows
  /// whether they are: the store has to be opened again then.
  public func commit(_ changes: ChangeSet) throws -> Commit {
    if writing.withLock({ $0?.needsOtherKeys ?? false }) { try compact() }
    // What couldn't be read was taken for nulls: nothing made of that may be written.
    let before = damage.count
    let commit = try damage.explaining {
      try engine.commit(changes, checked: { _ in try self.requireWriter() }) { commit, _ in
        try self.writing.withLock { writer in
          let writer = try self.opened(writer)
          let entries = self.entries.withLock { $0 }
          let kept = try writer.save(
            from: commit.old, to: commit.new, rowCount: changes.rowCount, nextKeys: commit.nextKeys,
            nextJoinKeys: commit.nextJoinKeys, metadata: entries.isChanged ? entries.value : nil,
            checking: { try self.damage.check(since: before) },
            requireOwner: { try self.requireOwner(writer) })
          self.entries.withLock { $0.savedCount = entries.changeCount }
          return kept
        }
      }
    }
    tidy()
    return commit
  }

  private func requireWriter() throws {
    try writing.withLock { writer in
      let writer = try opened(writer)
      try writer.requireWorking(on: fileSystem)
      try lock?.check()
    }
  }

  /// Throws where another may be writing by now.
  func requireOwner(_ writer: ArchiveWriter) throws {
    try writer.requirePresence(on: fileSystem)
    try lock?.check()
  }

  func opened(_ writer: ArchiveWriter?) throws -> ArchiveWriter {
    if let writer { return writer }
    throw StoreError(
      .unsupportedRequest, "the archive was opened for reading only", file: path,
      remedy: "open it for writing")
  }

  public func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try engine.reserveKeys(count, root: root)
  }

  public func history(after generation: Generation) throws -> [Commit] {
    try engine.history(after: generation)
  }

  public func purgeHistory(through generation: Generation) throws {
    try engine.purgeHistory(through: generation)
  }

  public func close() throws {
    var failure: (any Error)?
    if !options.isReadOnly {
      if entries.withLock({ $0.isChanged }) {
        do { _ = try commit(ChangeSet()) } catch { failure = error }
      } else if hasUnsavedKeys {
        // Nothing that was saved is lost where this fails.
        _ = try? commit(ChangeSet())
      }
    }
    engine.close()
    let isStopped = writing.withLock { writer in
      defer { writer = nil }
      return writer?.isStopped ?? false
    }
    // So the next writer knows that what it finds may not be on the medium.
    lock?.release(isStopped ? .keepingNote : .removingFile)
    if let failure { throw failure }
  }

  /// Whether keys were given out since the last commit: somebody may have written them down, and no other row may
  /// get them later.
  private var hasUnsavedKeys: Bool {
    guard let keys = try? engine.state().nextKeys else { return false }
    return writing.withLock { writer in writer.map { !$0.hasSaved(nextKeys: keys) } ?? false }
  }

  // MARK: Beside the protocol

  /// The size of the file, in bytes, and how much of it is of use.
  package var fileSize: (total: UInt64, live: Int) {
    writing.withLock { $0.map { ($0.byteCount, $0.liveByteCount) } ?? (0, 0) }
  }

  /// How many blocks the cache of the current file keeps account of.
  var cachedBlockCount: Int { writing.withLock { $0?.source.cache.entryCount ?? 0 } }
}

extension ArchiveStore: StoreOfTables {
  package var tables: TableEngine { engine }

  package func checked<T>(_ body: () throws -> T) throws -> T { try damage.checking(body) }
}

extension ChangeSet {
  /// How many rows change; of links, how many there are in the change.
  fileprivate var rowCount: Int {
    let links = links.reduce(0) { count, links in
      switch links.change {
      case .add(let members), .remove(let members), .replace(let members): count + members.count + 1
      }
    }
    return inserts.reduce(0) { $0 + $1.keys.count } + updates.reduce(0) { $0 + $1.keys.count }
      + deletes.reduce(0) { $0 + $1.keys.count } + links
  }
}
