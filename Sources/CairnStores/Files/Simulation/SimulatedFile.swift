// An open file of a simulated file system.

import CairnModel
import Foundation

final class SimulatedFile: OpenFile {
  private let fileSystem: SimulatedFileSystem
  private let number: Int
  private let node: Int
  private let path: String

  /// Memory is no disk: a mistaken offset shouldn't fill it.
  private static let largestSize = 1 << 30

  init(_ fileSystem: SimulatedFileSystem, _ number: Int, _ node: Int, path: String) {
    self.fileSystem = fileSystem
    self.number = number
    self.node = node
    self.path = path
  }

  deinit {
    fileSystem.state.withLock { $0.openings[number] = nil }
  }

  var mayReadAhead: Bool { fileSystem.allowsReadAhead }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
    try perform(.read, offset: offset, byteCount: buffer.count) { (state, fault) throws(SystemFailure) in
      let offset = try checked(offset, adding: buffer.count, limit: .max)
      var trouble = PieceTrouble(fault)
      return try SystemCalls.read(buffer.count) { (done, count) throws(SystemFailure) in
        let count = try trouble.count(done, count)
        let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
        return state.nodes[node].content.read(into: piece, at: offset + done)
      }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
    try change(.write, offset: offset, byteCount: bytes.count) { (state, fault) throws(SystemFailure) in
      let offset = try checked(offset, adding: bytes.count)
      var trouble = PieceTrouble(fault)
      try SystemCalls.write(bytes.count) { (done, count) throws(SystemFailure) in
        let count = min(try trouble.count(done, count), state.largestSize(of: node) - offset - done)
        if count <= 0 { throw SystemFailure(ENOSPC) }
        let piece = UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
        state.nodes[node].write(piece, at: offset + done, operation: state.operation)
        return count
      }
    }
  }

  func truncate(to size: UInt64) throws {
    try change(.truncate, offset: size) { (state, _) throws(SystemFailure) in
      let size = try checked(size, adding: 0)
      if size > state.largestSize(of: node) { throw SystemFailure(ENOSPC) }
      state.nodes[node].resize(to: size, operation: state.operation)
    }
  }

  func preallocate(to size: UInt64) throws {
    try change(.preallocate, offset: size) { (state, _) throws(SystemFailure) in
      let size = try checked(size, adding: 0)
      if size <= state.nodes[node].content.size { return }
      if size > state.largestSize(of: node) { throw SystemFailure(ENOSPC) }
      state.nodes[node].resize(to: size, operation: state.operation)
    }
  }

  func sync() throws {
    try perform(.sync) { (state, fault) throws(SystemFailure) in
      if let reason = fault?.reason {
        state.nodes[node].giveUpPending()
        throw SystemFailure(reason)
      }
      state.nodes[node].sync()
    }
  }

  func information() throws -> FileInformation {
    try perform(.information) { (state, _) throws(SystemFailure) in state.information(of: node) }
  }

  func setPermissions(_ permissions: UInt16) throws {
    try perform(.setPermissions) { (state, _) throws(SystemFailure) in
      if state.isReadOnly { throw SystemFailure(EROFS) }
      state.nodes[node].permissions = permissions
    }
  }

  func lock(_ kind: FileLock) throws -> Bool {
    try perform(.lock) { (state, _) throws(SystemFailure) in
      if kind == .exclusive && !state.openings[number]!.canWrite { throw SystemFailure(EBADF) }
      for (other, opening) in state.openings where other != number && opening.node == node {
        guard let held = opening.lock else { continue }
        if held == .exclusive || kind == .exclusive { return false }
      }
      state.openings[number]!.lock = kind
      return true
    }
  }

  func unlock() throws {
    try perform(.unlock) { (state, _) throws(SystemFailure) in state.openings[number]!.lock = nil }
  }

  func close() throws {
    let isOpen = fileSystem.state.withLock { $0.openings[number] != nil }
    guard isOpen else { return }
    try perform(.close) { (state, fault) throws(SystemFailure) in
      state.openings[number] = nil
      if let reason = fault?.reason { throw SystemFailure(reason) }
    }
  }

  @discardableResult
  private func perform<Result>(
    _ kind: SimulatedOperation.Kind, offset: UInt64 = 0, byteCount: Int = 0,
    _ body: (inout SimulatedState, SimulatedFault?) throws(SystemFailure) -> Result
  ) throws -> Result {
    try fileSystem.perform(kind, path, offset: offset, byteCount: byteCount) {
      (state, fault) throws(SystemFailure) in
      guard state.openings[number] != nil else { throw SystemFailure(EBADF) }
      return try body(&state, fault)
    }
  }

  private func change(
    _ kind: SimulatedOperation.Kind, offset: UInt64, byteCount: Int = 0,
    _ body: (inout SimulatedState, SimulatedFault?) throws(SystemFailure) -> Void
  ) throws {
    try perform(kind, offset: offset, byteCount: byteCount) { (state, fault) throws(SystemFailure) in
      guard state.openings[number]!.canWrite else { throw SystemFailure(EBADF) }
      if state.isReadOnly { throw SystemFailure(EROFS) }
      try body(&state, fault)
    }
  }

  private func checked(
    _ offset: UInt64, adding count: Int, limit: Int = largestSize
  ) throws(SystemFailure) -> Int {
    guard let start = Int(exactly: offset) else { throw SystemFailure(EFBIG) }
    let (end, overflows) = start.addingReportingOverflow(count)
    if overflows || end > limit { throw SystemFailure(EFBIG) }
    return start
  }
}

/// What a fault makes of the pieces of one read or write.
private struct PieceTrouble {
  private var fault: SimulatedFault?

  init(_ fault: SimulatedFault?) { self.fault = fault }

  /// How many of `count` bytes the system takes now.
  mutating func count(_ done: Int, _ count: Int) throws(SystemFailure) -> Int {
    switch fault {
    case .interrupted:
      fault = nil
      throw SystemFailure(EINTR)
    case .short:
      fault = nil
      return (count + 1) / 2
    case .partial(let reason):
      if done > 0 || count < 2 { throw SystemFailure(reason) }
      return count / 2
    case .error, .crash, nil:
      return count
    }
  }
}
