// What can be done with an archive that isn't open.

public import CairnModel
import Foundation

/// Archives by path. Nothing here reads rows.
public enum ArchiveFiles {
  /// Throws `corrupt` and what the file system throws. Costs a few reads.
  public static func metadata(at path: String) throws -> StoreMetadata {
    let file = try POSIXFileSystem.shared.open(path, .read)
    defer { try? file.close() }
    return try ArchiveFile(file: file, path: path).metadata()
  }

  /// The text of the model that the archive was made with; nil where it was made without one.
  public static func modelSource(at path: String) throws -> String? {
    try contents(at: path, POSIXFileSystem.shared).schema.model
  }

  /// Replaces the user's own entries. Throws `locked` while a store writes to the archive.
  public static func setUserEntries(_ entries: [String: Value], at path: String) throws {
    let fileSystem = POSIXFileSystem.shared
    let schema = try contents(at: path, fileSystem).source.schema
    let store = try ArchiveStore(
      at: path, model: .init(schema: schema), options: .init(), fileSystem: fileSystem)
    store.metadata.userEntries = entries
    try store.close()
  }

  /// Runs `body` with the path of the file that `path` leads to, while no store writes to it, and removes what writers
  /// left beside it that can be removed. Throws `locked` while a store does.
  static func whileNobodyWrites(
    to path: String, _ fileSystem: any FileSystem, _ body: (String) throws -> Void
  ) throws {
    let path = try fileSystem.resolve(path)
    let lock = try LockFile(at: ArchiveStore.lockPath(path), on: fileSystem)
    var isDone = false
    defer {
      // Where the archive stays as it is, or may come back, the next writer has to know of the note, too.
      lock.release(lock.isUnsureOfName || lock.wasAbandoned && !isDone ? .keepingNote : .removingFile)
    }
    _ = try? AtomicReplacement.removeLeftovers(of: path, on: fileSystem)
    try lock.replacing { try body(path) }
    isDone = true
  }

  /// Makes sure that what is saved to the archive at `path` isn't gone with its name: the writer before may have been
  /// killed before its replacement was durable, or not been able to make it so. Then, and only then, it costs a copy.
  static func requireName(of path: String, _ lock: LockFile, _ fileSystem: any FileSystem) throws {
    if lock.isUnsureOfName {
      // A directory isn't asked again: a sync after one that failed proves nothing.
      try lock.replacing { try copy(path, to: path, fileSystem) }
    } else if lock.wasAbandoned {
      try fileSystem.syncDirectory(Paths.directory(of: path))
    }
  }

  /// Removes the archive, damaged or not, and what its writer left beside it. Throws `locked` while a store writes to
  /// it, and `corrupt` for a file that isn't an archive, which stays.
  public static func destroy(at path: String) throws {
    try destroy(at: path, POSIXFileSystem.shared)
  }

  static func destroy(at path: String, _ fileSystem: any FileSystem) throws {
    try whileNobodyWrites(to: path, fileSystem) { path in
      try requireArchive(at: path, fileSystem)
      try AtomicReplacement.removeLeftovers(of: path, on: fileSystem)
      try fileSystem.remove(path)
      try fileSystem.syncDirectory(Paths.directory(of: path))
    }
  }

  /// Throws `corrupt` unless the file begins as archives do.
  private static func requireArchive(at path: String, _ fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    if try file.bytes(ArchiveHeader.magic.count, at: 0) == ArchiveHeader.magic { return }
    throw StoreError(
      .corrupt, "it doesn't begin as an archive does", file: path, offset: 0,
      remedy: "remove the file by other means if it isn't needed")
  }

  /// Puts a copy of the archive at `source` in the place of `target`. Throws `locked` while a store writes to
  /// `target`; `corrupt` where `source` is no archive or is cut off meanwhile. Others may save to `source` meanwhile:
  /// the copy is of the state that was the newest when it began.
  public static func replace(_ target: String, with source: String) throws {
    try replace(target, with: source, POSIXFileSystem.shared)
  }

  static func replace(_ target: String, with source: String, _ fileSystem: any FileSystem) throws {
    try whileNobodyWrites(to: target, fileSystem) { try copy(source, to: $0, fileSystem) }
  }

  private static func copy(_ source: String, to target: String, _ fileSystem: any FileSystem) throws {
    let file = try fileSystem.open(source, .read)
    defer { try? file.close() }
    // What an unfinished save left isn't copied, and neither are the slots: who writes to the source may have put
    // a commit there meanwhile that lies behind this one.
    let slot = try ArchiveFile(file: file, path: source).open(cacheBudget: 0).slot
    try AtomicReplacement.replace(target, on: fileSystem) { replacement in
      func copy(_ range: Range<UInt64>) throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
          let bytes = try file.bytes(Int(min(1 << 20, range.upperBound - offset)), at: offset)
          guard !bytes.isEmpty else {
            throw StoreError(
              .corrupt, "the file was cut off while it was copied", file: source, offset: offset,
              remedy: ArchiveSource.remedy)
          }
          try replacement.append(bytes)
          offset += UInt64(bytes.count)
        }
      }
      try copy(0..<UInt64(ArchiveHeader.size))
      for _ in CommitSlot.offsets { try replacement.append(slot.bytes) }
      try copy(CommitSlot.end..<slot.fileLength)
    }
  }

  static func contents(at path: String, _ fileSystem: any FileSystem) throws -> ArchiveContents {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    return try ArchiveFile(file: file, path: path).open(cacheBudget: 0)
  }
}
