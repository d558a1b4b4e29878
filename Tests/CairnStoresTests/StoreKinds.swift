// The stores that every law and every random run is checked on. A new store is one case more.

import CairnModel
@testable import CairnStores
import CairnTesting
import Testing

enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  case archive
  /// An archive whose file is opened anew for every generation.
  case rereadArchive
  /// The same, and written anew after every commit.
  case compactedArchive
  /// An archive whose file has entities and properties in another order than the model.
  case reorderedArchive
  case log
  /// A log that is opened anew, for reading, for every generation.
  case rereadLog
  /// The same, with a checkpoint after every commit.
  case checkpointedLog
  /// A log that is read by a store which follows it.
  case followedLog
  /// A log whose files have entities and properties in another order than the model, opened anew for every
  /// generation.
  case reorderedLog
  /// The third party's store that is written against public API alone.
  case toy

  var testDescription: String { rawValue }

  var maker: StoreMaker {
    switch self {
    case .memory: { schema, history in MemoryStore(schema: schema, history: history) }
    case .archive:
      { schema, history in
        var options = ArchiveStore.Options()
        options.history = history
        return try ArchiveStore(
          at: "/a.cairn", model: .init(schema: schema), options: options, fileSystem: SimulatedFileSystem())
      }
    case .rereadArchive: { try rereadingArchive($0, $1, profile: .fastest) { _ in } }
    case .compactedArchive: { try rereadingArchive($0, $1, profile: .smallest) { try $0.compact() } }
    case .log: { schema, history in try openLog(SimulatedFileSystem(), schema, history) }
    case .rereadLog: { try rereadingLog($0, $1) { _ in } }
    case .checkpointedLog: { try rereadingLog($0, $1) { try $0.compact() } }
    case .followedLog:
      { schema, history in
        let files = SimulatedFileSystem()
        let writer = try openLog(files, schema, history)
        let reader = try openLog(files, schema, .none, isReadOnly: true)
        return try RereadStore(writer) {
          _ = try reader.refresh()
          return reader
        }
      }
    case .reorderedArchive: StoreKind.reorderedArchive(1)
    case .reorderedLog: StoreKind.reorderedLog(1)
    case .toy: { schema, history in ToyStore(schema: schema, history: history) }
    }
  }
}

extension StoreKind {
  static func reorderedArchive(_ seed: UInt64) -> StoreMaker {
    { schema, history in
      let files = SimulatedFileSystem()
      let model = ArchiveStore.Model(schema: schema.shuffled(seed, keepingKeys: true))
      try ArchiveStore(at: "/a.cairn", model: model, options: .init(), fileSystem: files).close()
      return try rereadingArchive(schema, history, profile: .fastest, on: files) { _ in }
    }
  }

  /// Its reader follows it where `isFollowed`.
  static func reorderedLog(_ seed: UInt64, isFollowed: Bool = false) -> StoreMaker {
    { schema, history in
      let files = SimulatedFileSystem()
      try openLog(files, schema.shuffled(seed, keepingKeys: true), history).close()
      let writer = try openLog(files, schema, history)
      guard isFollowed else {
        return try RereadStore(writer) { try openLog(files, schema, .none, isReadOnly: true) }
      }
      let reader = try openLog(files, schema, .none, isReadOnly: true)
      return try RereadStore(writer) {
        _ = try reader.refresh()
        return reader
      }
    }
  }

  /// A log of which a copy is written anew in another order for each generation, keys of pairs on the other
  /// side included, and read from there.
  static func turnedLog(_ seed: UInt64) -> StoreMaker {
    { schema, history in
      let files = SimulatedFileSystem()
      let writer = try openLog(files, schema, history)
      let other = schema.shuffled(seed)
      return try RereadStore(writer) {
        try LogFiles.replace("/b.log", with: "/a.log", files)
        try openLog(files, other, .none, at: "/b.log").close()
        return try openLog(files, schema, .none, at: "/b.log", isReadOnly: true)
      }
    }
  }

  /// An archive that each generation goes through a file in another order, keys of pairs on the other side included.
  static func turnedArchive(_ seed: UInt64) -> StoreMaker {
    { schema, history in
      try rereadingArchive(schema, history, profile: .fastest, through: schema.shuffled(seed)) { _ in }
    }
  }
}

/// An archive whose file is opened anew after each commit, once `afterCommit` has been called; or a copy of the file, as
/// the schema `through` has its rows.
private func rereadingArchive(
  _ schema: Schema, _ history: HistoryPolicy, profile: ArchiveStore.Profile,
  on files: SimulatedFileSystem = SimulatedFileSystem(), through other: Schema? = nil,
  afterCommit: @escaping @Sendable (ArchiveStore) throws -> Void
) throws -> any PersistentStore {
  var options = ArchiveStore.Options()
  options.history = history
  options.profile = profile
  options.leastBlob = 2
  let writer = try ArchiveStore(
    at: "/a.cairn", model: .init(schema: schema), options: options, fileSystem: files)
  options = ArchiveStore.Options()
  options.isReadOnly = true
  options.cacheBudget = 0
  return try RereadStore(writer, afterCommit: afterCommit) { [options] in
    var path = "/a.cairn"
    if let other {
      let reader = try ArchiveStore(
        at: path, model: .init(schema: other), options: options, fileSystem: files)
      path = "/b.cairn"
      try ArchiveFiles.pack(reader, into: path, model: .init(schema: other), on: files)
    }
    return try ArchiveStore(at: path, model: .init(schema: schema), options: options, fileSystem: files)
  }
}

private func openLog(
  _ files: SimulatedFileSystem, _ schema: Schema, _ history: HistoryPolicy, at path: String = "/a.log",
  isReadOnly: Bool = false
) throws -> LogStore {
  var options = LogStore.Options()
  options.history = history
  options.isReadOnly = isReadOnly
  options.profile = .fastest
  options.preallocation = 0
  options.idleInterval = nil
  options.leastTail = 1 << 14
  options.checkpoints = .inline
  if isReadOnly { options.cacheBudget = 0 }
  return try LogStore(at: path, model: .init(schema: schema), options: options, fileSystem: files)
}

/// A log that is opened anew after each commit, once `afterCommit` has been called.
private func rereadingLog(
  _ schema: Schema, _ history: HistoryPolicy, afterCommit: @escaping @Sendable (LogStore) throws -> Void
) throws -> any PersistentStore {
  let files = SimulatedFileSystem()
  return try RereadStore(try openLog(files, schema, history), afterCommit: afterCommit) {
    try openLog(files, schema, .none, isReadOnly: true)
  }
}

extension StoreLaw: CustomTestStringConvertible {
  public var testDescription: String { description }
}
