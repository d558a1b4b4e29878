// What can be done with a log that isn't open, and what is done with its files beside reading and writing.

public import CairnModel
import Foundation

/// Logs by path. Nothing here reads rows, but for `replace`.
public enum LogFiles {
  static let remedy = "restore it from a copy, or have cairn salvage write a new store with what can be read"

  /// Throws `corrupt` and what the file system throws. Costs a read of one small file.
  public static func metadata(at path: String) throws -> StoreMetadata {
    try metadata(at: path, POSIXFileSystem.shared)
  }

  static func metadata(at path: String, _ fileSystem: any FileSystem) throws -> StoreMetadata {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    return try LogReplay(directory: directory, cacheBudget: 0, damage: DamageLog()).metadata(
      directory.manifest())
  }

  /// The text of the model that the log was made with; nil where it was made without one.
  public static func modelSource(at path: String) throws -> String? {
    try base(at: path, POSIXFileSystem.shared).schema.model
  }

  /// The schema that the log says: what opens it without its model.
  package static func schema(at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared) throws
    -> Schema
  {
    try base(at: path, fileSystem).source.schema
  }

  static func base(at path: String, _ fileSystem: any FileSystem) throws -> ArchiveContents {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    return try LogFollower.settled(directory) {
      let manifest = try directory.manifest()
      return try directory.open(manifest.newestBase, manifest, cacheBudget: 0, damage: DamageLog())
    }
  }

  /// Whether a log is at `path`, be it a damaged one: a directory with a manifest in it.
  package static func isLog(at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared) -> Bool {
    guard let path = try? fileSystem.resolve(path) else { return false }
    return (try? fileSystem.information(Paths.join(path, LogNames.manifest))) ?? nil != nil
  }

  /// Replaces the user's own entries. Throws `locked` while a store writes to the log.
  public static func setUserEntries(_ entries: [String: Value], at path: String) throws {
    try setUserEntries(entries, at: path, POSIXFileSystem.shared)
  }

  static func setUserEntries(_ entries: [String: Value], at path: String, _ fileSystem: any FileSystem) throws
  {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    let lock = try lock(directory, timeout: 0)
    defer { lock.release() }
    var manifest = try directory.manifest()
    var metadata = try LogReplay(directory: directory, cacheBudget: 0, damage: DamageLog()).metadata(manifest)
    try requireWritable(manifest, directory)
    metadata.userEntries = entries
    manifest.metadata = try ArchivedMetadata(metadata).json
    manifest.serial += 1
    try directory.replace(manifest)
  }

  static func requireWritable(_ manifest: LogManifest, _ directory: LogDirectory) throws {
    if manifest.readOnlyCompatible == 0 { return }
    throw StoreError(
      .unsupportedRequest, "it uses features that this program can read but not write", file: directory.path,
      remedy: "open it for reading only")
  }

  /// Removes the log, damaged or not, and its directory. A crash leaves the whole log, or files that aren't one any more.
  /// Throws `locked` while a store writes to it, and `corrupt` for
  /// a directory that isn't a log's, which stays. Files that aren't the log's stay too, and their directory with them.
  public static func destroy(at path: String) throws { try destroy(at: path, POSIXFileSystem.shared) }

  static func destroy(at path: String, _ fileSystem: any FileSystem) throws {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    let names = try fileSystem.list(directory.path)
    // What an earlier call or a creation left that wasn't finished has no manifest.
    guard names.contains(LogNames.manifest) || names.allSatisfy(LogNames.isOwn) else {
      throw StoreError(
        .corrupt, "it isn't a log store", file: directory.path,
        remedy: "remove the directory by other means if it isn't needed")
    }
    let lock = try lock(directory, timeout: 0)
    defer { lock.release() }
    let own = try fileSystem.list(directory.path).filter(LogNames.isOwn)
    // Without its manifest no other file of it is taken for a part of a store. With it, all of them have to be there.
    if own.contains(LogNames.manifest) {
      try fileSystem.remove(directory.path(LogNames.manifest))
      try fileSystem.syncDirectory(directory.path)
    }
    for name in own where name != LogNames.manifest && name != LogNames.lock {
      try fileSystem.remove(directory.path(name))
    }
    try fileSystem.remove(directory.path(LogNames.lock))
    if try fileSystem.list(directory.path).isEmpty {
      try fileSystem.removeDirectory(directory.path)
    } else {
      try fileSystem.syncDirectory(directory.path)
    }
    try fileSystem.syncDirectory(Paths.directory(of: directory.path))
  }

  /// Puts the state of the log at `source` in the place of `target`, or where nothing is, with its metadata and without
  /// its history. Throws `locked` while a store writes to `target`; `corrupt` where `source` is no log. A crash leaves
  /// the old store or the new one.
  public static func replace(_ target: String, with source: String) throws {
    try replace(target, with: source, POSIXFileSystem.shared)
  }

  static func replace(_ target: String, with source: String, _ fileSystem: any FileSystem) throws {
    var options = LogStore.Options()
    options.isReadOnly = true
    let schema = try LogFiles.schema(at: source, on: fileSystem)
    let store = try LogStore(
      at: source, model: .init(schema: schema), options: options, fileSystem: fileSystem)
    defer { try? store.close() }
    try write(store, to: target, fileSystem, model: try base(at: source, fileSystem).schema)
  }

  /// Puts the newest state of a store of tables in the place of the log at `target`.
  private static func write(
    _ store: LogStore, to target: String, _ fileSystem: any FileSystem, model: ArchivedSchema
  ) throws {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(target))
    try LogCreation.makeDirectory(directory)
    let lock = try lock(directory, timeout: 0)
    defer { lock.release() }
    let (snapshot, nextKeys, nextJoinKeys) = try store.engine.state()
    let identity = ArchiveCopy.Identity(
      schema: model, metadata: store.metadata, generation: snapshot.generation.number, nextKeys: nextKeys,
      nextJoinKeys: nextJoinKeys)
    guard try fileSystem.information(directory.path(LogNames.manifest)) != nil else {
      return try LogCreation(directory: directory).create(snapshot, identity)
    }
    let old = try directory.manifest()
    try requireWritable(old, directory)
    let (segment, bytes) = LogWriter.newSegment(
      uuid: identity.metadata.uuid, number: old.freeNumber + 1, after: 0, generation: identity.generation,
      LogKeys.all(nextKeys, snapshot.schema))
    var manifest = try LogCreation.write(
      snapshot, identity, base: old.freeNumber, segment, bytes, in: directory, .default, { Date() })
    manifest.serial = old.serial + 1
    try directory.replace(manifest)
    remove(try leftovers(directory, manifest), directory)
  }

  // MARK: Parts of opening

  /// Takes the lock of whoever writes. Throws `locked` where another has it for longer than `timeout`, in seconds.
  static func lock(_ directory: LogDirectory, timeout: TimeInterval) throws -> LockFile {
    let start = DispatchTime.now()
    let path = directory.path(LogNames.lock)
    while true {
      do {
        let lock = try LockFile(at: path, on: directory.fileSystem)
        guard try directory.fileSystem.information(path)?.linkCount == 1 else {
          lock.release()
          throw StoreError(
            .locked, "the lock file has another name besides, so it may be another store's as well",
            file: path,
            remedy: "remove the file when no store is open: it is made anew")
        }
        return lock
      } catch let error as StoreError where error.code == .locked {
        if DispatchTime.now() >= start + timeout { throw error }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  /// Keeps a copy of what is cut off: the bytes behind the end of what was read. Where there is no room for it, none.
  static func keepTorn(_ contents: LogContents, _ directory: LogDirectory) throws {
    let segment = contents.manifest.segments[contents.manifest.segments.count - 1]
    let path = directory.path(LogNames.torn(segment.number, contents.end.offset))
    do {
      try AtomicReplacement.replace(path, on: directory.fileSystem) { copy in
        var offset = contents.end.offset
        while true {
          let bytes = try contents.file.bytes(1 << 20, at: offset)
          if bytes.isEmpty { break }
          try copy.append(bytes)
          offset += UInt64(bytes.count)
        }
      }
    } catch let error as StoreError where error.isFull {}
  }

  /// The files that the manifest doesn't name: a crash left them.
  static func leftovers(_ directory: LogDirectory, _ manifest: LogManifest) throws -> [String] {
    let named = Set(
      manifest.bases.map { LogNames.base($0.number) } + manifest.segments.map { LogNames.segment($0.number) }
        + [LogNames.manifest, LogNames.lock, LogNames.suspect])
    return try directory.fileSystem.list(directory.path).filter {
      LogNames.isOwn($0) && !LogNames.isTorn($0) && !named.contains($0)
    }
  }

  /// What can't be removed stays.
  static func remove(_ leftovers: [String], _ directory: LogDirectory) {
    for name in leftovers { try? directory.fileSystem.remove(directory.path(name)) }
  }
}
