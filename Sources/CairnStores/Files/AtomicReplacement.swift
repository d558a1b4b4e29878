// Replaces a file as a whole: whoever opens it, after a crash too, finds the old content or the new. The bytes go to
// a temporary file beside it, which takes its place when it is whole and on the medium.

import CairnModel
import Foundation

/// A new content for a file, on its way.
///
/// `append` what it consists of, then `commit`; or `abandon` it, which also happens when the last reference goes.
/// Confined to one thread at a time.
///
/// Kept of a file that is replaced: its permission bits, and the symbolic links that lead to it. Not kept: its owner,
/// where that is someone else; extended attributes; and other hard links to it, which go on naming the old content.
package final class AtomicReplacement {
  /// The file that is replaced, with symbolic links followed.
  package let path: String
  /// Where the bytes are until `commit`.
  package let temporaryPath: String
  /// How many bytes were appended.
  package private(set) var byteCount: UInt64 = 0

  private let fileSystem: any FileSystem
  private let file: any OpenFile
  private var buffer: [UInt8] = []
  private var isOpen = true

  private static let bufferSize = 1 << 16

  /// Begins a replacement of the file at `path`, or a file where none is yet, which gets `permissions`.
  ///
  /// Throws what the file system throws, and leaves no temporary file then. Two replacements of one file at the same
  /// time don't disturb each other, and the last to commit wins: whoever can't have that holds a lock.
  package init(
    of path: String, on fileSystem: any FileSystem, permissions: UInt16 = 0o644, id: UUID = UUID()
  ) throws {
    // The link stays a link: what it leads to is replaced.
    let path = try fileSystem.resolve(path)
    let old = try fileSystem.information(path)
    if old?.isDirectory == true { throw StoreError.fileSystem("replace", path, EISDIR) }
    let directory = Paths.directory(of: path)
    let temporaryPath = Paths.join(
      directory, Self.temporaryPrefix(of: Paths.name(of: path)) + id.uuidString)
    // Nobody may read in the new content what they couldn't read in the old, not even for a moment; so it starts
    // out private, and gets the old bits before its first byte. Before, also because a sync waits for a change of
    // bits only if bytes were written after it.
    let file = try fileSystem.open(temporaryPath, .create(permissions: old == nil ? permissions : 0o600))
    if let old {
      do {
        try file.setPermissions(old.permissions)
      } catch {
        try? file.close()
        try? fileSystem.remove(temporaryPath)
        throw error
      }
    }
    self.path = path
    self.temporaryPath = temporaryPath
    self.fileSystem = fileSystem
    self.file = file
  }

  deinit {
    abandon()
  }

  package func append(_ bytes: UnsafeRawBufferPointer) throws {
    precondition(isOpen, "bytes for a replacement of \(path) that was committed or abandoned")
    if buffer.count + bytes.count > Self.bufferSize { try flush() }
    if bytes.count >= Self.bufferSize {
      try file.write(bytes, at: byteCount)
    } else {
      buffer.append(contentsOf: bytes)
    }
    byteCount += UInt64(bytes.count)
  }

  package func append(_ bytes: some ContiguousBytes) throws {
    try bytes.withUnsafeBytes { try append($0) }
  }

  /// Replaces bytes that were appended.
  package func overwrite(_ bytes: [UInt8], at offset: UInt64) throws {
    precondition(offset + UInt64(bytes.count) <= byteCount, "bytes that weren't appended are overwritten")
    try flush()
    try file.write(bytes, at: offset)
  }

  /// Puts the new content in the place of the old. When it returns, a power cut can't undo it.
  ///
  /// Throws `outcomeUnknown` if the new content is in its place, but a power cut may bring the old back; after every
  /// other error the old content is there and the temporary file isn't. `check` is called when everything is on the
  /// medium, right before the new content takes its place, and may throw.
  package func commit(checking check: () throws -> Void = {}) throws {
    precondition(isOpen, "a replacement of \(path) that was committed or abandoned is committed")
    do {
      try flush()
      // First the bytes, then the name: else a crash leaves the name with an empty file.
      try file.sync()
      try file.close()
      try check()
      try fileSystem.rename(temporaryPath, to: path)
    } catch {
      abandon()
      throw error
    }
    isOpen = false
    do {
      try fileSystem.syncDirectory(Paths.directory(of: path))
    } catch let error as StoreError {
      throw StoreError(
        .outcomeUnknown, "it is replaced, but a power cut may undo that: \(error.message)", file: path,
        remedy: error.remedy, systemError: error.systemError)
    }
  }

  /// Removes the temporary file and leaves the old content alone; after `commit` it does nothing.
  package func abandon() {
    guard isOpen else { return }
    isOpen = false
    try? file.close()
    try? fileSystem.remove(temporaryPath)
  }

  private func flush() throws {
    if buffer.isEmpty { return }
    try file.write(buffer, at: byteCount - UInt64(buffer.count))
    buffer.removeAll(keepingCapacity: true)
  }
}

extension AtomicReplacement {
  /// Replaces the file at `path` by what `body` appends: `init`, `body`, `commit`. An error of `body` or `check` leaves
  /// the old content.
  package static func replace(
    _ path: String, on fileSystem: any FileSystem, permissions: UInt16 = 0o644,
    checking check: () throws -> Void = {}, _ body: (AtomicReplacement) throws -> Void
  ) throws {
    let replacement = try AtomicReplacement(of: path, on: fileSystem, permissions: permissions)
    do {
      try body(replacement)
    } catch {
      replacement.abandon()
      throw error
    }
    try replacement.commit(checking: check)
  }

  /// Removes what writers that crashed left beside the file at `path`, and returns the names. Throws what the file
  /// system throws, once it has removed what can be: what is left takes room, and does no harm otherwise.
  ///
  /// Only for whoever holds the lock under which the file is replaced: a replacement under way looks the same. That
  /// the names are gone isn't made durable; the next replacement does that.
  @discardableResult
  package static func removeLeftovers(of path: String, on fileSystem: any FileSystem) throws -> [String] {
    let path = try fileSystem.resolve(path)
    let directory = Paths.directory(of: path)
    let leftovers = try fileSystem.list(directory).filter { isTemporary($0, of: Paths.name(of: path)) }
    var failure: (any Error)?
    for name in leftovers {
      do { try fileSystem.remove(Paths.join(directory, name)) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
    return leftovers
  }

  /// Whether `name` is one that a replacement of the file `target` uses: its prefix and a UUID.
  package static func isTemporary(_ name: String, of target: String) -> Bool {
    let prefix = temporaryPrefix(of: target)
    return name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil
  }

  private static func temporaryPrefix(of target: String) -> String { ".\(target).tmp-" }
}
