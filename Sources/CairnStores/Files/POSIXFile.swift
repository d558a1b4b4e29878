// An open file of the operating system. Invariant: no call uses the descriptor after it is closed, when another file
// may have got its number.

import CairnModel
import Foundation

/// Any number of threads may use it at once; a `close` meanwhile takes effect when the calls under way are done.
final class POSIXFile: OpenFile {
  private struct Descriptor {
    let number: Int32
    var users = 0
    var isClosing = false
    var mustCloseNow: Bool { isClosing && users == 0 }
  }

  private let path: String
  private let descriptor: Lock<Descriptor>

  init(_ number: Int32, path: String) {
    self.path = path
    descriptor = Lock(Descriptor(number: number))
  }

  deinit {
    try? close()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try call("read") { (number) throws(SystemFailure) in
      let offset = try systemOffset(offset, adding: buffer.count)
      return try SystemCalls.read(buffer.count) { (done, count) throws(SystemFailure) in
        try result(pread(number, buffer.baseAddress! + done, count, offset + off_t(done)))
      }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    try call("write to") { (number) throws(SystemFailure) in
      let offset = try systemOffset(offset, adding: bytes.count)
      try SystemCalls.write(bytes.count) { (done, count) throws(SystemFailure) in
        try result(pwrite(number, bytes.baseAddress! + done, count, offset + off_t(done)))
      }
    }
  }

  func truncate(to size: UInt64) throws {
    try call("change the size of") { (number) throws(SystemFailure) in
      let size = try systemOffset(size, adding: 0)
      try SystemCalls.uninterrupted { ftruncate(number, size) }
    }
  }

  func preallocate(to size: UInt64) throws {
    try call("reserve space for") { (number) throws(SystemFailure) in
      let size = try systemOffset(size, adding: 0)
      let oldSize = off_t(clamping: try FileInformation(of: number).size)
      if size <= oldSize { return }
      do throws(SystemFailure) {
        try allocate(number, from: oldSize, to: size)
      } catch {
        // What was reserved before there was no more would stay, as zeros at the end. Should this fail too, the
        // first reason is still the one to tell.
        _ = ftruncate(number, oldSize)
        throw error
      }
    }
  }

  func sync() throws {
    try call("sync") { (number) throws(SystemFailure) in
      try POSIXFile.sync(number, withMetadata: false)
    }
  }

  func information() throws -> FileInformation {
    try call("look at") { (number) throws(SystemFailure) in
      try FileInformation(of: number)
    }
  }

  func setPermissions(_ permissions: UInt16) throws {
    try call("change the permissions of") { (number) throws(SystemFailure) in
      try SystemCalls.uninterrupted { fchmod(number, mode_t(permissions)) }
    }
  }

  func lock(_ kind: FileLock) throws -> Bool {
    try call("lock") { (number) throws(SystemFailure) in
      do throws(SystemFailure) {
        try setLock(number, kind)
        return true
      } catch {
        guard [EAGAIN, EWOULDBLOCK, EACCES].contains(error.errno) else { throw error }
        return false
      }
    }
  }

  func unlock() throws {
    try call("unlock") { (number) throws(SystemFailure) in try setLock(number, nil) }
  }

  func close() throws {
    let number = descriptor.withLock { descriptor -> Int32? in
      if descriptor.isClosing { return nil }
      descriptor.isClosing = true
      return descriptor.mustCloseNow ? descriptor.number : nil
    }
    // Not again after an interruption: the number is free already then, and may be another file's.
    if let number, Foundation.close(number) == -1, errno != EINTR {
      throw StoreError.fileSystem("close", path, errno)
    }
  }

  @discardableResult
  private func call<Result>(
    _ operation: String, _ body: (Int32) throws(SystemFailure) -> Result
  ) throws(StoreError) -> Result {
    try naming(operation, path) { () throws(SystemFailure) in
      let number = descriptor.withLock { descriptor -> Int32? in
        if descriptor.isClosing { return nil }
        descriptor.users += 1
        return descriptor.number
      }
      guard let number else { throw SystemFailure(EBADF) }
      defer {
        let isLast = descriptor.withLock { descriptor in
          descriptor.users -= 1
          return descriptor.mustCloseNow
        }
        if isLast { _ = Foundation.close(number) }
      }
      return try body(number)
    }
  }

  private func result(_ count: Int) throws(SystemFailure) -> Int {
    if count < 0 { throw SystemFailure(errno) }
    return count
  }

  private func systemOffset(_ offset: UInt64, adding count: Int) throws(SystemFailure) -> off_t {
    guard let start = off_t(exactly: offset), !start.addingReportingOverflow(off_t(count)).overflow else {
      throw SystemFailure(EFBIG)
    }
    return start
  }
}

// MARK: - What systems do differently

#if !canImport(Darwin)
  /// Linux's F_OFD_SETLK, the same on all processors, which the C library's headers only show to GNU programs.
  private let setOpenFileLock: Int32 = 37
#endif

extension POSIXFile {
  /// Without metadata only what is needed to read the bytes back is waited for: the size, not the times.
  static func sync(_ number: Int32, withMetadata: Bool) throws(SystemFailure) {
    #if canImport(Darwin)
      // fsync leaves the bytes in the drive's cache there. A volume that can't flush that has only fsync.
      do throws(SystemFailure) {
        try SystemCalls.uninterrupted { fcntl(number, F_FULLFSYNC) }
      } catch {
        guard [ENOTSUP, EINVAL, ENOTTY].contains(error.errno) else { throw error }
        try SystemCalls.uninterrupted { fsync(number) }
      }
    #else
      try SystemCalls.uninterrupted { withMetadata ? fsync(number) : fdatasync(number) }
    #endif
  }

  private func allocate(_ number: Int32, from oldSize: off_t, to size: off_t) throws(SystemFailure) {
    #if !canImport(Darwin)
      while true {
        // It returns its reason and leaves errno alone.
        let reason = posix_fallocate(number, oldSize, size - oldSize)
        if reason == 0 { return }
        if reason == EOPNOTSUPP || reason == EINVAL { break }
        if reason != EINTR { throw SystemFailure(reason) }
      }
    #endif
    let zeros = [UInt8](repeating: 0, count: Int(min(size - oldSize, 1 << 20)))
    var end = oldSize
    while end < size {
      let start = end
      let count = Int(min(size - start, off_t(zeros.count)))
      try SystemCalls.write(count) { (done, count) throws(SystemFailure) in
        try result(zeros.withUnsafeBytes { pwrite(number, $0.baseAddress!, count, start + off_t(done)) })
      }
      end += off_t(count)
    }
  }

  /// Takes a lock that belongs to the open file and not to the process: two opens in one process exclude each
  /// other, and closing one of them leaves the other's lock alone. POSIX's own record locks do neither.
  private func setLock(_ number: Int32, _ kind: FileLock?) throws(SystemFailure) {
    #if canImport(Darwin)
      let operation =
        switch kind {
        case .shared: LOCK_SH | LOCK_NB
        case .exclusive: LOCK_EX | LOCK_NB
        case nil: LOCK_UN
        }
      try SystemCalls.uninterrupted { flock(number, operation) }
    #else
      let type =
        switch kind {
        case .shared: F_RDLCK
        case .exclusive: F_WRLCK
        case nil: F_UNLCK
        }
      // From the start to however far the file may grow.
      var request = Foundation.flock(
        l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
      try SystemCalls.uninterrupted { fcntl(number, setOpenFileLock, &request) }
    #endif
  }
}
