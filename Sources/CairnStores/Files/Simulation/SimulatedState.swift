// What a simulated file system consists of: nodes with what is on the medium and what is only in memory yet, and
// changes of names that are only in memory yet.

import CairnModel
import Foundation

/// A file, a directory or a link.
struct SimulatedNode: Sendable {
  enum Kind: Sendable {
    case file, directory
    case link(target: String)
  }

  /// A content of a sector, or a size, that was valid from an operation on.
  struct Version<Value: Sendable>: Sendable {
    let operation: Int
    let value: Value
    /// A sync failed, and with it the system's memory that this isn't durable.
    var isGivenUp = false
  }

  let kind: Kind
  /// Where it was last, for reports.
  var label: String
  /// On the medium at once, unlike everything else.
  var permissions: UInt16

  /// A file's content as programs see it, and as it was at the last sync.
  var content = FileImage()
  var durable = FileImage()
  /// What came between: any of them, or none, may be what the medium has.
  var pendingSectors: [Int: [Version<FileImage.Sector?>]] = [:]
  var pendingSizes: [Version<Int>] = []

  /// A directory's names as programs see them, and as they were at the last sync.
  var entries: [String: Int] = [:]
  var durableEntries: [String: Int] = [:]

  var isDirectory: Bool { if case .directory = kind { true } else { false } }

  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, operation: Int) {
    let oldSize = content.size
    var changed = content.write(bytes, at: offset)
    if !bytes.isEmpty {
      // What is written once more is to be made durable once more, be it the same.
      let sectors = offset / FileImage.sectorSize...(offset + bytes.count - 1) / FileImage.sectorSize
      changed += sectors.filter { pendingSectors[$0]?.last?.isGivenUp == true && !changed.contains($0) }
    }
    note(changed, oldSize, operation)
  }

  mutating func resize(to size: Int, operation: Int) {
    let oldSize = content.size
    note(content.resize(to: size), oldSize, operation)
  }

  private mutating func note(_ changed: [Int], _ oldSize: Int, _ operation: Int) {
    for sector in changed {
      pendingSectors[sector, default: []].append(
        Version(operation: operation, value: content.sector(sector)))
    }
    if content.size != oldSize {
      pendingSizes.append(Version(operation: operation, value: content.size))
    }
  }

  mutating func sync() {
    for (sector, versions) in pendingSectors where !versions.last!.isGivenUp {
      durable.setSector(sector, versions.last!.value)
      pendingSectors[sector] = nil
    }
    if let size = pendingSizes.last, !size.isGivenUp {
      _ = durable.resize(to: size.value)
      pendingSizes = []
    }
  }

  mutating func giveUpPending() {
    for sector in pendingSectors.keys {
      for index in pendingSectors[sector]!.indices { pendingSectors[sector]![index].isGivenUp = true }
    }
    for index in pendingSizes.indices { pendingSizes[index].isGivenUp = true }
  }

  /// Forgets what isn't on the medium.
  mutating func losePending() {
    _ = durable.resize(to: durable.size)
    content = durable
    pendingSectors = [:]
    pendingSizes = []
    entries = durableEntries
  }
}

/// A change of names, which happens as a whole or not at all: a name made, removed, or moved.
struct NameChange: Sendable {
  let operation: Int
  let label: String
  /// What names stand for afterwards; nil for nothing.
  var bindings: [(directory: Int, name: String, node: Int?)]
  var isGivenUp = false
}

struct SimulatedState: Sendable {
  struct Opening: Sendable {
    let node: Int
    let canWrite: Bool
    var lock: FileLock?
  }

  static let root = 0

  /// Nodes keep their numbers; those that nothing names any more stay.
  var nodes = [SimulatedNode(kind: .directory, label: "/", permissions: 0o755)]
  var pendingNames: [NameChange] = []
  var openings: [Int: Opening] = [:]
  var openingCount = 0
  var operations: [SimulatedOperation] = []
  var faults: (@Sendable (SimulatedOperation) -> SimulatedFault?)?
  var hasCrashed = false
  var quota: Int?
  var allowsReadAhead = false
  var isReadOnly = false

  var operation: Int { operations.count - 1 }

  /// As after a restart: nothing is open or locked, no fault is planned, operations count from 0.
  mutating func restart() {
    openings = [:]
    operations = []
    faults = nil
    hasCrashed = false
  }

  // MARK: Names

  mutating func change(_ label: String, _ bindings: [(directory: Int, name: String, node: Int?)]) {
    for (directory, name, node) in bindings { nodes[directory].entries[name] = node }
    pendingNames.append(NameChange(operation: operation, label: label, bindings: bindings))
  }

  /// Makes the names of a directory durable, and the changes before them that share a directory with them: a move
  /// that is durable mustn't be undone in its other directory by an older change that comes through later.
  mutating func syncNames(of directory: Int) {
    var directories: Set = [directory]
    var settled: Set<Int> = []
    for (index, change) in pendingNames.enumerated().reversed() where !change.isGivenUp {
      guard change.bindings.contains(where: { directories.contains($0.directory) }) else { continue }
      settled.insert(index)
      directories.formUnion(change.bindings.map(\.directory))
    }
    for index in settled.sorted() {
      for (directory, name, node) in pendingNames[index].bindings {
        nodes[directory].durableEntries[name] = node
        // What an earlier sync gave up mustn't come through over it.
        for earlier in pendingNames[..<index].indices where pendingNames[earlier].isGivenUp {
          pendingNames[earlier].bindings.removeAll { $0.directory == directory && $0.name == name }
        }
      }
    }
    pendingNames = pendingNames.enumerated().filter {
      !settled.contains($0.offset) && !$0.element.bindings.isEmpty
    }
    .map(\.element)
  }

  mutating func giveUpNames(of directory: Int) {
    for index in pendingNames.indices
    where pendingNames[index].bindings.contains(where: { $0.directory == directory }) {
      pendingNames[index].isGivenUp = true
    }
  }

  // MARK: Space

  /// How far the file may grow, in whole sectors, holes included.
  func largestSize(of node: Int) -> Int {
    guard let quota else { return .max }
    var counted = Set(openings.values.map(\.node))
    for directory in nodes where directory.isDirectory { counted.formUnion(directory.entries.values) }
    let used = counted.reduce(0) { $0 + Self.wholeSectors(nodes[$1].content.size) }
    let own = Self.wholeSectors(nodes[node].content.size)
    return own + max(0, quota - used) / FileImage.sectorSize * FileImage.sectorSize
  }

  private static func wholeSectors(_ size: Int) -> Int {
    (size + FileImage.sectorSize - 1) / FileImage.sectorSize * FileImage.sectorSize
  }
}
