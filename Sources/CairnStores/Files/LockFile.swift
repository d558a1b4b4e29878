// The lock of a store that writes: a file of its own, because a lock is on a file and not on its name, and a store's
// files are replaced.

import CairnModel
import Foundation

/// The exclusive lock on a lock file, held from `init` to `release` or until the last reference goes. The end of the
/// process ends it, however it comes. Only who holds it may remove the file: who has opened it before then finds, with
/// the lock, that it isn't the one at the path any more, and tries again.
package final class LockFile: Sendable {
  package let path: String
  /// Whether whoever had the lock before ended without giving it back: it was killed, say, or kept its note on purpose.
  /// A power cut can take the note, so this tells of processes that ended while the machine went on.
  package let wasAbandoned: Bool
  /// Whether it isn't known if a power cut brings another file back in the place of the one that the lock is about: a
  /// replacement couldn't be made to last, in this process or in one before, and none has been since.
  package var isUnsureOfName: Bool { doubt.withLock { $0 } }
  private let doubt: Lock<Bool>
  private let fileSystem: any FileSystem
  private let file: any OpenFile
  private let identity: FileInformation
  private let holder: FileLockHolder

  private static let noteLimit = 4096
  private static let tryLimit = 100

  /// Takes the lock, and makes the file if need be.
  ///
  /// Throws `locked`, with who holds it, if another open file has it, in this process or another; it doesn't wait.
  package init(
    at path: String, on fileSystem: any FileSystem, holder: FileLockHolder = .current()
  ) throws {
    // A link to nothing is neither opened nor made.
    let path = try fileSystem.resolve(path)
    var tries = 0
    while true {
      tries += 1
      let file = try Self.openOrCreate(path, on: fileSystem)
      guard try file.lock(.exclusive) else { throw Self.heldError(path, file, asks: holder) }
      let identity = try file.information()
      // Somebody may have removed the file, and somebody else locked the next one, before the lock was ours.
      guard let present = try fileSystem.information(path), present.isSameFile(as: identity) else {
        if tries < Self.tryLimit { continue }
        throw StoreError(.locked, "it is removed or replaced as often as it is locked", file: path)
      }
      self.path = path
      self.fileSystem = fileSystem
      self.file = file
      self.identity = identity
      self.holder = holder
      wasAbandoned = identity.size > 0
      doubt = Lock(wasAbandoned && Self.text(file).contains(Self.doubtLine))
      break
    }
    write()
  }

  /// In a note whose writer, or one before, isn't sure that a replaced file stays in its place.
  private static let doubtLine = "unsure name\n"

  private func write() {
    // A medium without room for the note still keeps the lock, and the note that was there.
    let note = Array((holder.note + (isUnsureOfName ? Self.doubtLine : "")).utf8)
    if (try? file.write(note, at: 0)) != nil { try? file.truncate(to: UInt64(note.count)) }
  }

  /// Replaces the file that the lock is about, durably. Where `body` throws `outcomeUnknown`, whoever takes the lock
  /// next is told.
  package func replacing<Result>(_ body: () throws -> Result) throws -> Result {
    let result: Result
    do {
      result = try body()
    } catch let error as StoreError where error.code == .outcomeUnknown {
      doubt.withLock { $0 = true }
      write()
      throw error
    }
    if isUnsureOfName {
      doubt.withLock { $0 = false }
      write()
    }
    return result
  }

  /// Gives the lock back. Again does nothing. In a process that was forked the lock and its note stay the parent's.
  ///
  /// The file stays, and so does its note with `.keepingNote`, by which whoever takes the lock next finds it abandoned;
  /// with `.removingFile` neither does.
  package func release(_ ending: Ending = .keepingFile) {
    guard (try? file.information()) != nil else { return }
    if getpid() == holder.processID, ending != .keepingNote {
      // First its name, while nobody else can have the lock; unless another's file has taken its place.
      if ending == .removingFile, (try? check()) != nil { try? fileSystem.remove(path) }
      try? file.truncate(to: 0)
    }
    try? file.close()
  }

  /// What becomes of the file.
  package enum Ending: Sendable {
    case keepingFile
    case keepingNote
    case removingFile
  }

  /// Throws if the lock no longer keeps others out: its file was removed or replaced, or this is a child process,
  /// which shares the lock with the parent that it was forked from. Costs a look at the file: call it before each
  /// commit.
  package func check() throws {
    guard getpid() == holder.processID else {
      throw StoreError(
        .locked, "the lock belongs to process \(holder.processID), of which this one was forked", file: path,
        remedy: "open the store in the process that uses it")
    }
    guard let present = try fileSystem.information(path), present.isSameFile(as: identity) else {
      throw StoreError(
        .locked, "the lock file was removed or replaced while it was held", file: path,
        remedy: "close the store, see who else has it open, and open it again")
    }
  }

  /// Who holds the lock on the file at `path`, as far as its note says; nil if nobody does or the note is missing.
  /// It asks for the lock itself to see that, so that someone who wants it at that moment is refused.
  package static func holder(at path: String, on fileSystem: any FileSystem) throws -> FileLockHolder? {
    guard try fileSystem.information(path) != nil else { return nil }
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    return try file.lock(.shared) ? nil : readNote(file)
  }

  private static func openOrCreate(_ path: String, on fileSystem: any FileSystem) throws -> any OpenFile {
    for _ in 1..<tryLimit {
      do {
        return try fileSystem.open(path, .readWrite)
      } catch let error as StoreError where error.isMissing {}
      do {
        return try fileSystem.open(path, .create(permissions: 0o666))
      } catch let error as StoreError where error.isPresent {}
    }
    return try fileSystem.open(path, .readWrite)
  }

  private static func readNote(_ file: any OpenFile) -> FileLockHolder? {
    FileLockHolder(note: text(file))
  }

  private static func text(_ file: any OpenFile) -> String {
    String(decoding: (try? file.bytes(noteLimit, at: 0)) ?? [], as: UTF8.self)
  }

  private static func heldError(
    _ path: String, _ file: any OpenFile, asks asking: FileLockHolder
  ) -> StoreError {
    let who = readNote(file)?.description(for: asking) ?? "a process that left no note"
    return StoreError(
      .locked, "it is held by \(who)", file: path,
      remedy: "close the store there, or open it for reading only")
  }
}

extension FileInformation {
  /// Whether both are of one file, whatever its names.
  package func isSameFile(as other: FileInformation) -> Bool {
    device == other.device && inode == other.inode
  }
}
