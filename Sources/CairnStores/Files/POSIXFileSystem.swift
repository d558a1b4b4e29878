// The operating system's file system, by its POSIX calls. What concerns paths is here; what concerns an open file
// is in POSIXFile.

import CFileStatus
import CairnModel
import Foundation

/// The files of this machine.
public struct POSIXFileSystem: FileSystem {
  /// It has no state: one is as good as another.
  public static let shared = POSIXFileSystem()

  public init() {}

  public func open(_ path: String, _ mode: FileMode) throws -> any OpenFile {
    let (flags, permissions): (Int32, UInt16) =
      switch mode {
      case .read: (O_RDONLY, 0)
      case .readWrite: (O_RDWR, 0)
      case .create(let permissions): (O_RDWR | O_CREAT | O_EXCL, permissions)
      }
    let descriptor = try call("open", path) { (path) throws(SystemFailure) in
      // Not blocking, because a pipe of that name would otherwise wait for somebody to write into it.
      try SystemCalls.uninterrupted {
        Foundation.open(path, flags | O_CLOEXEC | O_NONBLOCK, mode_t(permissions))
      }
    }
    let file = POSIXFile(descriptor, path: path)
    // Opening a directory for reading succeeds, and no read of it would.
    if try file.information().isDirectory { throw StoreError.fileSystem("open", path, EISDIR) }
    return file
  }

  public func rename(_ source: String, to target: String) throws {
    Paths.requireAbsolute(source)
    Paths.requireAbsolute(target)
    try naming("rename", source) { () throws(SystemFailure) in
      try checkForNUL(source)
      try checkForNUL(target)
      try SystemCalls.uninterrupted { Foundation.rename(source, target) }
    }
  }

  public func remove(_ path: String) throws {
    try call("remove", path) { (path) throws(SystemFailure) in
      try SystemCalls.uninterrupted { unlink(path) }
    }
  }

  public func makeDirectory(_ path: String) throws {
    try call("make the directory", path) { (path) throws(SystemFailure) in
      try SystemCalls.uninterrupted { mkdir(path, 0o777) }
    }
  }

  public func removeDirectory(_ path: String) throws {
    try call("remove the directory", path) { (path) throws(SystemFailure) in
      try SystemCalls.uninterrupted { rmdir(path) }
    }
  }

  public func list(_ path: String) throws -> [String] {
    try call("list", path) { (path) throws(SystemFailure) in
      guard let directory = opendir(path) else { throw SystemFailure(errno) }
      defer { closedir(directory) }
      var names: [String] = []
      while true {
        errno = 0
        guard let entry = readdir(directory) else {
          if errno != 0 { throw SystemFailure(errno) }
          return names.sorted()
        }
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
            String(cString: $0)
          }
        }
        if name != "." && name != ".." { names.append(name) }
      }
    }
  }

  public func syncDirectory(_ path: String) throws {
    try call("sync the directory", path) { (path) throws(SystemFailure) in
      let descriptor = try SystemCalls.uninterrupted {
        Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      }
      defer { _ = Foundation.close(descriptor) }
      do throws(SystemFailure) {
        try POSIXFile.sync(descriptor, withMetadata: true)
      } catch {
        // Some network and user-space file systems have no such call, because their names are durable at once or
        // can't be made so. Refusing to store anything on them would help nobody.
        guard [EINVAL, EOPNOTSUPP].contains(error.errno) else { throw error }
      }
    }
  }

  public func information(_ path: String) throws -> FileInformation? {
    try call("look at", path) { (path) throws(SystemFailure) in
      do throws(SystemFailure) {
        return try FileInformation(of: path)
      } catch {
        guard [ENOENT, ENOTDIR].contains(error.errno) else { throw error }
        return nil
      }
    }
  }

  public func resolve(_ path: String) throws -> String {
    try call("follow the links of", path) { (path) throws(SystemFailure) in
      var path = path
      // As many links as Linux follows.
      for _ in 0..<40 {
        if let whole = try realPath(path) { return whole }
        // What the last name stands for isn't there: it is free, or a link to something that is.
        let name = Paths.name(of: path)
        guard let directory = try realPath(Paths.directory(of: path)), name != ".." else {
          throw SystemFailure(ENOENT)
        }
        let place = Paths.join(directory, name)
        guard let target = try readLink(place) else { return place }
        path = target.hasPrefix("/") ? target : Paths.join(directory, target)
      }
      throw SystemFailure(ELOOP)
    }
  }

  /// Nil if nothing is there.
  private func realPath(_ path: String) throws(SystemFailure) -> String? {
    guard let resolved = realpath(path, nil) else {
      if errno == ENOENT { return nil }
      throw SystemFailure(errno)
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Nil if no link is there.
  private func readLink(_ path: String) throws(SystemFailure) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes {
      readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    if count >= 0 { return String(decoding: buffer[..<count], as: UTF8.self) }
    if errno == ENOENT || errno == EINVAL { return nil }
    throw SystemFailure(errno)
  }

  @discardableResult
  private func call<Result>(
    _ operation: String, _ path: String, _ body: (String) throws(SystemFailure) -> Result
  ) throws(StoreError) -> Result {
    Paths.requireAbsolute(path)
    return try naming(operation, path) { () throws(SystemFailure) in
      try checkForNUL(path)
      return try body(path)
    }
  }

  /// The system would take what is before the zero byte for the path.
  private func checkForNUL(_ path: String) throws(SystemFailure) {
    if path.utf8.contains(0) { throw SystemFailure(EINVAL) }
  }
}

extension FileInformation {
  /// Of the file that a path leads to.
  init(of path: String) throws(SystemFailure) {
    try self.init(-1, path) { stat(path, $0) }
  }

  /// Of an open file.
  init(of descriptor: Int32) throws(SystemFailure) {
    try self.init(descriptor, "") { fstat(descriptor, $0) }
  }

  /// Without asking for times, where the system can do that: a writer looks at its file before each commit, and looking
  /// at times would make its next sync dearer (`file_status.h`).
  private init(
    _ descriptor: Int32, _ path: String, _ portable: (UnsafeMutablePointer<stat>) -> Int32
  ) throws(SystemFailure) {
    var status = cairn_file_status()
    do throws(SystemFailure) {
      try SystemCalls.uninterrupted { cairn_file_status(descriptor, path, &status) }
    } catch {
      // Containers that don't know the call refuse it.
      guard error.errno == ENOSYS || error.errno == EPERM else { throw error }
      var status = stat()
      try SystemCalls.uninterrupted { portable(&status) }
      self.init(status)
      return
    }
    self.init(
      size: status.size, device: status.device, inode: status.inode,
      isDirectory: mode_t(status.mode) & S_IFMT == S_IFDIR, linkCount: status.link_count,
      permissions: UInt16(truncatingIfNeeded: status.mode & 0o7777))
  }

  init(_ status: stat) {
    self.init(
      size: UInt64(max(0, status.st_size)), device: UInt64(truncatingIfNeeded: status.st_dev),
      inode: UInt64(status.st_ino), isDirectory: status.st_mode & S_IFMT == S_IFDIR,
      linkCount: UInt64(status.st_nlink), permissions: UInt16(truncatingIfNeeded: status.st_mode & 0o7777))
  }
}
