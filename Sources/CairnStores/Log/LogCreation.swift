// Makes a new log: an empty base, a segment with nothing but keys, and at last the manifest that names them.

import CairnModel
import Foundation

struct LogCreation {
  let directory: LogDirectory
  var profile = ArchiveStore.Profile.default
  var clock: @Sendable () -> Date = { Date() }

  private static let baseNumber: UInt64 = 1
  private static let segmentNumber: UInt64 = 2

  /// Makes the directory if nothing is there. Throws `corrupt` where a file is.
  static func makeDirectory(_ directory: LogDirectory) throws {
    if let present = try directory.fileSystem.information(directory.path) {
      if !present.isDirectory { _ = try directory.manifest() }
      return
    }
    do {
      try directory.fileSystem.makeDirectory(directory.path)
    } catch let error as StoreError where error.isPresent {}
  }

  /// Makes an empty store in a directory without a manifest, in the place of what a creation left that wasn't finished.
  ///
  /// Throws `corrupt` where anything else is in it, `unsupportedRequest` for a schema that no file can say, and what
  /// the file system throws.
  func create(_ model: ArchiveStore.Model, _ uuid: UUID) throws {
    let metadata = StoreMetadata(
      uuid: uuid, type: LogStore.traits.type, versionHashes: model.versionHashes,
      versionIdentifiers: model.versionIdentifiers)
    let keys = model.schema.entities.map { _ in Int64(1) }
    let nobody = TableSnapshot(
      empty: model.schema, engine: ObjectIdentifier(directory.fileSystem as AnyObject))
    try create(
      nobody,
      .init(
        schema: ArchivedSchema(model.schema, model: model.source), metadata: metadata, generation: 0,
        nextKeys: keys, nextJoinKeys: model.schema.joins.map { _ in 1 }), replacesRows: false)
  }

  /// The same with rows, also in the place of a base with rows: whoever asks for that has them.
  func create(_ snapshot: TableSnapshot, _ identity: ArchiveCopy.Identity) throws {
    try create(snapshot, identity, replacesRows: true)
  }

  private func create(
    _ snapshot: TableSnapshot, _ identity: ArchiveCopy.Identity, replacesRows: Bool
  ) throws {
    try LogCreation.check(identity.schema, snapshot.schema, directory)
    let (segment, bytes) = LogWriter.newSegment(
      uuid: identity.metadata.uuid, number: Self.segmentNumber, after: 0, generation: identity.generation,
      LogKeys.all(identity.nextKeys, snapshot.schema))
    try removeUnfinished(byteCount: UInt64(bytes.count), replacesRows: replacesRows)
    // Before the manifest, so that a store that is there doesn't go with its directory's name.
    try directory.fileSystem.syncDirectory(Paths.directory(of: directory.path))
    let manifest = try LogCreation.write(
      snapshot, identity, base: Self.baseNumber, segment, bytes, in: directory, profile, clock)
    try directory.replace(manifest)
  }

  /// Throws `unsupportedRequest` for a schema that no file can say.
  static func check(_ archived: ArchivedSchema, _ schema: Schema, _ directory: LogDirectory) throws {
    do {
      try archived.checkSize()
      try ArchiveTables.check(schema)
    } catch let error as RecordError {
      throw StoreError(.unsupportedRequest, error.message, file: directory.path)
    }
  }

  /// Writes a base and a segment that follows it, and returns a manifest that names them and nothing else.
  static func write(
    _ snapshot: TableSnapshot, _ identity: ArchiveCopy.Identity, base number: UInt64,
    _ segment: LogManifest.Segment, _ bytes: [UInt8], in directory: LogDirectory,
    _ profile: ArchiveStore.Profile, _ clock: @escaping @Sendable () -> Date
  ) throws -> LogManifest {
    var base = LogManifest.Base(
      number: number, generation: identity.generation, firstSequence: segment.firstSequence, length: 0)
    let path = directory.path(base)
    do {
      let copy = ArchiveCopy(
        fileSystem: directory.fileSystem, path: path, effort: profile.effort, clock: clock)
      try copy.write(snapshot, identity)
      base.length = try directory.fileSystem.information(path)?.size ?? 0
      try LogWriter.make(segment, bytes, in: directory).close()
    } catch {
      try? directory.fileSystem.remove(path)
      throw error
    }
    return LogManifest(
      uuid: identity.metadata.uuid, created: clock().millisecondsSince1970, bases: [base],
      segments: [segment], metadata: try ArchivedMetadata(identity.metadata).json)
  }

  /// Removes what a creation that wasn't finished left. Throws `corrupt` where anything else is there: a store that
  /// has lost its manifest, say. That may be one to which nothing was saved since it was made with rows.
  private func removeUnfinished(byteCount: UInt64, replacesRows: Bool) throws {
    let names = try directory.fileSystem.list(directory.path).filter { $0 != LogNames.lock }
    let own = [LogNames.base(Self.baseNumber), LogNames.segment(Self.segmentNumber)]
    for name in names {
      let isSmall = try directory.fileSystem.information(directory.path(name)).map { $0.size <= byteCount }
      guard LogNames.isTemporary(name) || own.contains(name),
        name != LogNames.segment(Self.segmentNumber) || isSmall ?? true,
        try replacesRows || name != LogNames.base(Self.baseNumber) || isEmptyBase()
      else {
        throw StoreError(
          .corrupt,
          "there is no \(LogNames.manifest) in it, but \(name): it is no log store, or one that has lost its manifest",
          file: directory.path,
          remedy: "choose another place for a new store; if it was one, \(LogFiles.remedy)")
      }
    }
    for name in names { try directory.fileSystem.remove(directory.path(name)) }
  }

  /// Whether the base that is there is what every new store begins with. One that a crash left is whole, because it was
  /// synced before it got its name.
  private func isEmptyBase() throws -> Bool {
    let path = directory.path(LogNames.base(Self.baseNumber))
    let file = try directory.fileSystem.open(path, .read)
    defer { try? file.close() }
    do {
      let index = try ArchiveFile(file: file, path: path).open(cacheBudget: 0, damage: DamageLog()).index
      return index.generation == 0 && index.tables.allSatisfy(\.isEmpty)
    } catch let error as StoreError where error.code == .corrupt {
      return false
    }
  }
}
