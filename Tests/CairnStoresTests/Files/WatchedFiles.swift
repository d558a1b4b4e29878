// A file system that lets a test do something in the middle of what a store does.

import CairnModel
import CairnStores
import Foundation

/// A simulated file system that calls somebody before some operations.
final class WatchedFiles: FileSystem {
  enum Event: Hashable {
    /// A file is opened for writing.
    case open
    /// A temporary file is made.
    case create
    case sync
    case rename
  }

  let inner: SimulatedFileSystem
  private let watcher = Lock<((@Sendable (Event) -> Void)?, counts: [Event: Int])>((nil, [:]))

  init(_ inner: SimulatedFileSystem = SimulatedFileSystem()) { self.inner = inner }

  func watch(_ body: (@Sendable (Event) -> Void)?) { watcher.withLock { $0 = (body, [:]) } }

  /// How often it has happened since somebody watches.
  func count(of event: Event) -> Int { watcher.withLock { $0.counts[event] ?? 0 } }

  private func tell(_ event: Event) {
    let body = watcher.withLock { watcher in
      watcher.counts[event, default: 0] += 1
      return watcher.0
    }
    body?(event)
  }

  private final class File: OpenFile {
    let inner: any OpenFile
    let owner: WatchedFiles

    init(_ inner: any OpenFile, _ owner: WatchedFiles) { (self.inner, self.owner) = (inner, owner) }

    var mayReadAhead: Bool { inner.mayReadAhead }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
      try inner.read(into: buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
      try inner.write(bytes, at: offset)
    }
    func truncate(to size: UInt64) throws { try inner.truncate(to: size) }
    func preallocate(to size: UInt64) throws { try inner.preallocate(to: size) }
    func sync() throws {
      owner.tell(.sync)
      try inner.sync()
    }
    func information() throws -> FileInformation { try inner.information() }
    func setPermissions(_ permissions: UInt16) throws { try inner.setPermissions(permissions) }
    func lock(_ kind: FileLock) throws -> Bool { try inner.lock(kind) }
    func unlock() throws { try inner.unlock() }
    func close() throws { try inner.close() }
  }

  func open(_ path: String, _ mode: FileMode) throws -> any OpenFile {
    if case .create = mode, path.contains(".tmp-") { tell(.create) }
    if mode == .readWrite { tell(.open) }
    return File(try inner.open(path, mode), self)
  }
  func rename(_ source: String, to target: String) throws {
    tell(.rename)
    try inner.rename(source, to: target)
  }
  func remove(_ path: String) throws { try inner.remove(path) }
  func makeDirectory(_ path: String) throws { try inner.makeDirectory(path) }
  func removeDirectory(_ path: String) throws { try inner.removeDirectory(path) }
  func list(_ path: String) throws -> [String] { try inner.list(path) }
  func syncDirectory(_ path: String) throws { try inner.syncDirectory(path) }
  func information(_ path: String) throws -> FileInformation? { try inner.information(path) }
  func resolve(_ path: String) throws -> String { try inner.resolve(path) }
}
