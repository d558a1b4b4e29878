// A file system in memory that keeps apart what is on the medium and what isn't yet, so that it can fail and crash as
// real ones do. Every way in which it may lose data is one that POSIX allows and some file system shows.

import CairnModel
import Foundation

/// Files that a test can make fail at any operation, and lose power at any moment.
///
/// What survives a crash: what a file had at its last `sync`, and what a directory had at its last `syncDirectory`.
/// Of what came later each sector of 512 bytes, each change of size and each change of names may survive or not, on
/// its own, in any order (`crashStates`). A file's own sync doesn't make its name durable.
///
/// Permission bits are durable at once; there are no owners, and none is refused for want of a permission.
package final class SimulatedFileSystem: FileSystem {
  let state: Lock<SimulatedState>

  /// One with an empty root directory.
  package convenience init() { self.init(SimulatedState()) }

  init(_ state: SimulatedState) { self.state = Lock(state) }

  /// The same files, after a restart that lost nothing: everything written is there and what wasn't synced isn't
  /// durable still; nothing is open, no lock is held, no fault is planned, and operations count from 0.
  package func restarted() -> SimulatedFileSystem {
    var state = state.withLock { $0 }
    state.restart()
    return SimulatedFileSystem(state)
  }

  // MARK: Watching

  /// What was called so far, in order.
  package var operations: [SimulatedOperation] { state.withLock { $0.operations } }
  package var operationCount: Int { state.withLock { $0.operations.count } }
  package var hasCrashed: Bool { state.withLock { $0.hasCrashed } }
  package var openFileCount: Int { state.withLock { $0.openings.count } }

  /// The names of all files under the root that replacements under way use.
  package var temporaryFiles: [String] {
    state.withLock { state in
      state.nodes.flatMap { $0.entries.keys }.filter { $0.hasPrefix(".") && $0.contains(".tmp-") }.sorted()
    }
  }

  // MARK: Making trouble

  /// Whether stores may read on threads of their own: then the order of the operations is another in every run. False
  /// at first.
  package var allowsReadAhead: Bool {
    get { state.withLock { $0.allowsReadAhead } }
    set { state.withLock { $0.allowsReadAhead = newValue } }
  }

  /// Asks `script` before each operation what shall go wrong with it. It mustn't call the file system.
  package func injectFaults(_ script: (@Sendable (SimulatedOperation) -> SimulatedFault?)?) {
    state.withLock { $0.faults = script }
  }

  /// Makes operation `number` fail, or, lasting, it and all later ones that can fail so.
  package func fail(at number: Int, with fault: SimulatedFault, isLasting: Bool = false) {
    injectFaults {
      $0.number == number || isLasting && $0.number > number && fault.fits($0.kind) ? fault : nil
    }
  }

  /// How many bytes all files may take, in whole sectors and holes included; nil for any number.
  package var quota: Int? {
    get { state.withLock { $0.quota } }
    set { state.withLock { $0.quota = newValue } }
  }

  /// Whether every change is refused (EROFS), of files that are open already too.
  package var isReadOnly: Bool {
    get { state.withLock { $0.isReadOnly } }
    set { state.withLock { $0.isReadOnly = newValue } }
  }

  // MARK: FileSystem

  package func open(_ path: String, _ mode: FileMode) throws -> any OpenFile {
    let (node, canWrite): (Int, Bool)
    switch mode {
    case .read, .readWrite:
      canWrite = mode == .readWrite
      node = try perform(.open, path) { (state, _) throws(SystemFailure) in
        let node = try state.existing(path)
        if state.nodes[node].isDirectory { throw SystemFailure(EISDIR) }
        if canWrite && state.isReadOnly { throw SystemFailure(EROFS) }
        return node
      }
    case .create(let permissions):
      canWrite = true
      node = try perform(.create, path) { (state, _) throws(SystemFailure) in
        try Self.make(SimulatedNode(kind: .file, label: path, permissions: permissions), path, &state)
      }
    }
    let number = state.withLock { state in
      state.openingCount += 1
      state.openings[state.openingCount] = SimulatedState.Opening(node: node, canWrite: canWrite)
      return state.openingCount
    }
    return SimulatedFile(self, number, node, path: path)
  }

  package func rename(_ source: String, to target: String) throws {
    Paths.requireAbsolute(target)
    try perform(.rename, source) { (state, _) throws(SystemFailure) in
      if state.isReadOnly { throw SystemFailure(EROFS) }
      let from = try state.locate(source, followingLast: false)
      let to = try state.locate(target, followingLast: false)
      guard let node = from.node else { throw SystemFailure(ENOENT) }
      if node == SimulatedState.root || to.node == SimulatedState.root { throw SystemFailure(EBUSY) }
      if node == to.node { return }
      let isDirectory = state.nodes[node].isDirectory
      if isDirectory && to.directories.contains(node) { throw SystemFailure(EINVAL) }
      if let old = to.node {
        let replaced = state.nodes[old]
        if isDirectory && !replaced.isDirectory { throw SystemFailure(ENOTDIR) }
        if !isDirectory && replaced.isDirectory { throw SystemFailure(EISDIR) }
        if !replaced.entries.isEmpty { throw SystemFailure(ENOTEMPTY) }
      }
      state.nodes[node].label = to.path
      state.change(
        "rename \(from.path) to \(to.path)",
        [(from.directory, from.name, nil), (to.directory, to.name, node)])
    }
  }

  package func remove(_ path: String) throws {
    try perform(.remove, path) { (state, _) throws(SystemFailure) in
      let place = try Self.changeable(path, state)
      if state.nodes[place.node!].isDirectory { throw SystemFailure(EISDIR) }
      state.change("remove \(place.path)", [(place.directory, place.name, nil)])
    }
  }

  package func makeDirectory(_ path: String) throws {
    try perform(.makeDirectory, path) { (state, _) throws(SystemFailure) in
      _ = try Self.make(SimulatedNode(kind: .directory, label: path, permissions: 0o755), path, &state)
    }
  }

  package func removeDirectory(_ path: String) throws {
    try perform(.removeDirectory, path) { (state, _) throws(SystemFailure) in
      let place = try Self.changeable(path, state)
      let node = state.nodes[place.node!]
      if !node.isDirectory { throw SystemFailure(ENOTDIR) }
      if !node.entries.isEmpty { throw SystemFailure(ENOTEMPTY) }
      state.change("remove \(place.path)", [(place.directory, place.name, nil)])
    }
  }

  package func list(_ path: String) throws -> [String] {
    try perform(.list, path) { (state, _) throws(SystemFailure) in
      state.nodes[try state.directory(path)].entries.keys.sorted()
    }
  }

  package func syncDirectory(_ path: String) throws {
    try perform(.syncDirectory, path) { (state, fault) throws(SystemFailure) in
      let directory = try state.directory(path)
      if let reason = fault?.reason {
        state.giveUpNames(of: directory)
        throw SystemFailure(reason)
      }
      state.syncNames(of: directory)
    }
  }

  package func information(_ path: String) throws -> FileInformation? {
    try perform(.information, path) { (state, _) throws(SystemFailure) in
      do throws(SystemFailure) {
        return try state.locate(path).node.map(state.information)
      } catch {
        guard [ENOENT, ENOTDIR].contains(error.errno) else { throw error }
        return nil
      }
    }
  }

  package func resolve(_ path: String) throws -> String {
    try perform(.resolve, path) { (state, _) throws(SystemFailure) in try state.locate(path).path }
  }

  /// Makes a symbolic link, which stores have no need of.
  package func makeLink(at path: String, to target: String) throws {
    try perform(.create, path) { (state, _) throws(SystemFailure) in
      let link = SimulatedNode(kind: .link(target: target), label: path, permissions: 0o777)
      _ = try Self.make(link, path, &state)
    }
  }

  private static func make(
    _ node: SimulatedNode, _ path: String, _ state: inout SimulatedState
  ) throws(SystemFailure) -> Int {
    let place = try state.locate(path, followingLast: false)
    if place.node != nil { throw SystemFailure(EEXIST) }
    if state.isReadOnly { throw SystemFailure(EROFS) }
    state.nodes.append(node)
    state.change("make \(place.path)", [(place.directory, place.name, state.nodes.count - 1)])
    return state.nodes.count - 1
  }

  /// Where something is that may be changed.
  private static func changeable(
    _ path: String, _ state: SimulatedState
  ) throws(SystemFailure) -> SimulatedState.Location {
    let place = try state.locate(path, followingLast: false)
    guard let node = place.node else { throw SystemFailure(ENOENT) }
    if state.isReadOnly { throw SystemFailure(EROFS) }
    if node == SimulatedState.root { throw SystemFailure(EBUSY) }
    return place
  }
}

extension SimulatedFileSystem {
  /// Numbers an operation, asks what shall go wrong with it, and does it. Faults that leave something behind are
  /// for `body`; the others are dealt with here.
  @discardableResult
  func perform<Result>(
    _ kind: SimulatedOperation.Kind, _ path: String, offset: UInt64 = 0, byteCount: Int = 0,
    _ body: (inout SimulatedState, SimulatedFault?) throws(SystemFailure) -> Result
  ) throws -> Result {
    Paths.requireAbsolute(path)
    return try state.withLock { state in
      if state.hasCrashed { throw SimulatedCrash() }
      let operation = SimulatedOperation(
        number: state.operations.count, kind: kind, path: path, offset: offset, byteCount: byteCount)
      state.operations.append(operation)
      let fault = state.faults?(operation)
      if fault == .crash {
        state.hasCrashed = true
        throw SimulatedCrash()
      }
      return try naming(kind == .create ? "open" : kind.rawValue, path) { () throws(SystemFailure) in
        let leavesTraces = kind == .sync || kind == .syncDirectory || kind == .close
        let isPartial = if case .partial = fault { kind == .read || kind == .write } else { false }
        if let reason = fault?.reason, !leavesTraces, !isPartial { throw SystemFailure(reason) }
        return try body(&state, fault)
      }
    }
  }
}

extension SimulatedFault {
  /// The `errno` with which the operation fails in the end.
  var reason: Int32? {
    switch self {
    case .error(let reason), .partial(let reason): reason
    case .short, .interrupted, .crash: nil
    }
  }
}
