// Writes a new log with what can still be read of a damaged one: the newest base that can be read, and every transaction
// after it that can still be made.

package import CairnModel
import Foundation

/// What `LogSalvager` saved of a log, and what it couldn't.
package struct LogSalvageReport: Sendable {
  /// A part of a segment that couldn't be read.
  package struct Gap: Sendable {
    package let file: String
    package let offset: UInt64
    /// 0 where nothing could be read behind it.
    package let byteCount: UInt64
    package let reason: String
  }

  /// The newest commit that was made again, or the base's.
  package internal(set) var generation: Int64
  /// The commit that the base holds.
  package let baseGeneration: Int64
  /// How many transactions were made again, on top of the base.
  package internal(set) var transactionCount = 0
  /// Commits that are lost, by number. What came after the last one that could be read isn't in it.
  package internal(set) var lostCommits: [ClosedRange<Int64>] = []
  /// Commits that could be read but not be made, because what they build on is lost; and why.
  package internal(set) var refused: [(generation: Int64, reason: String)] = []
  package internal(set) var gaps: [Gap] = []
  /// What is lost of the base; nil where it is whole.
  package internal(set) var base: SalvageReport?
  /// What was damaged and had to be done without, though no commit is lost by it.
  package internal(set) var notes: [String] = []

  /// Whether everything was saved that anybody was promised, as far as can be told.
  package var isWhole: Bool {
    lostCommits.isEmpty && refused.isEmpty && gaps.isEmpty && base?.isWhole ?? true
  }
}

package struct LogSalvager {
  private let directory: LogDirectory
  private let target: LogDirectory
  private let profile: ArchiveStore.Profile
  private let model: ArchiveStore.Model?

  /// Writes to `target`, where nothing is, what is readable of the log at `path`. `model` is the one that the log was
  /// made with, for one whose bases can't say it. The new log has the same UUID and metadata, and no history.
  ///
  /// Throws `corrupt` where nothing can be read, `fileSystem` where something is at `target`, and what the file system
  /// throws; nothing is left at `target` then. The damaged log is only read.
  package static func salvage(
    _ path: String, to target: String, model: ArchiveStore.Model? = nil,
    profile: ArchiveStore.Profile = .default, on fileSystem: any FileSystem = POSIXFileSystem.shared
  ) throws -> LogSalvageReport {
    let salvager = LogSalvager(
      directory: LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path)),
      target: LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(target)), profile: profile,
      model: model)
    guard try fileSystem.information(salvager.target.path) == nil else {
      throw StoreError.fileSystem("make a store at", salvager.target.path, EEXIST)
    }
    try LogCreation.makeDirectory(salvager.target)
    do {
      return try salvager.run()
    } catch {
      for name in (try? fileSystem.list(salvager.target.path)) ?? [] {
        try? fileSystem.remove(salvager.target.path(name))
      }
      try? fileSystem.removeDirectory(salvager.target.path)
      throw error
    }
  }

  private func run() throws -> LogSalvageReport {
    var notes: [String] = []
    let manifest = try found(&notes)
    do {
      return try save(manifest, notes, repairing: false)
    } catch let error as StoreError where error.code == .corrupt {
      return try save(manifest, notes, repairing: true)
    }
  }

  // MARK: What there is

  /// The manifest, or what the other files say of what it said.
  private func found(_ notes: inout [String]) throws -> LogManifest {
    do {
      return try directory.manifest()
    } catch let error as StoreError where error.code == .corrupt {
      notes.append("the manifest can't be read: \(error.message)")
    }
    let names = try directory.fileSystem.list(directory.path)
    var segments: [LogManifest.Segment] = []
    for number in names.compactMap({ LogNames.number($0, prefix: "log-") }) {
      let file = try directory.fileSystem.open(directory.path(LogNames.segment(number)), .read)
      defer { try? file.close() }
      guard let header = try? LogSegmentHeader(try file.bytes(LogSegmentHeader.size, at: 0)) else { continue }
      segments.append(
        .init(
          number: number, salt: header.salt, firstSequence: header.firstSequence,
          lastSequence: header.firstSequence - 1, length: 0, generationBefore: 0))
    }
    segments.sort { $0.firstSequence < $1.firstSequence }
    var bases: [(base: LogManifest.Base, metadata: StoreMetadata)] = []
    for number in names.compactMap({ LogNames.number($0, prefix: "base-") }) {
      let path = directory.path(LogNames.base(number))
      let file = try directory.fileSystem.open(path, .read)
      defer { try? file.close() }
      guard let contents = try? ArchiveFile(file: file, path: path).open(cacheBudget: 0) else { continue }
      let base = LogManifest.Base(
        number: number, generation: contents.index.generation, firstSequence: 0,
        length: try file.information().size)
      bases.append((base, contents.metadata))
    }
    bases.sort { $0.base.generation < $1.base.generation }
    guard let newest = bases.last else {
      throw StoreError(
        .corrupt, "there is no manifest and no base in it that can be read", file: directory.path,
        remedy: "restore it from a copy")
    }
    return LogManifest(
      uuid: newest.metadata.uuid, created: Date().clampedMilliseconds, bases: bases.map(\.base),
      segments: segments, metadata: try ArchivedMetadata(newest.metadata).json)
  }

  /// The archive to begin with: the newest that opens, or, repairing, a repaired copy of it.
  private func base(
    _ manifest: LogManifest, repairing: Bool, _ damage: DamageLog, _ notes: inout [String]
  ) throws -> (ArchiveContents, LogManifest.Base, SalvageReport?) {
    var failure: StoreError?
    for base in manifest.bases.reversed() {
      let path = directory.path(base)
      do {
        if !repairing {
          let contents = try directory.open(base, manifest, cacheBudget: 64 << 20, damage: damage)
          return (contents, base, nil)
        }
        let copy = target.path(".\(LogNames.base(base.number)).tmp-\(UUID().uuidString)")
        let report = try ArchiveSalvager.salvage(
          path, to: copy, model: model, profile: .fastest, on: directory.fileSystem)
        // It stays open and has no name any more.
        let file = try directory.fileSystem.open(copy, .read)
        try directory.fileSystem.remove(copy)
        let contents = try ArchiveFile(file: file, path: path).open(cacheBudget: 64 << 20, damage: damage)
        return (contents, base, report)
      } catch let error as StoreError where error.code == .corrupt || error.isMissing {
        notes.append("\(LogNames.base(base.number)) can't be read: \(error.message)")
        failure = failure ?? error
      }
    }
    throw failure ?? StoreError(.corrupt, "it has no base", file: directory.path)
  }

  // MARK: Making it again

  private func save(_ manifest: LogManifest, _ notes: [String], repairing: Bool) throws -> LogSalvageReport {
    var notes = notes
    let damage = DamageLog()
    let (archive, base, losses) = try base(manifest, repairing: repairing, damage, &notes)
    let schemas = LogSchema(archive.source.schema)
    let engine = TableEngine(
      schema: schemas.used, history: .none, clock: { Date() },
      beginning: ArchiveStore.beginning(archive, damage))
    var report = LogSalvageReport(
      generation: archive.index.generation, baseGeneration: archive.index.generation)
    report.base = losses
    report.notes = notes
    for segment in manifest.segments where segment.firstSequence >= base.firstSequence {
      try replay(segment, manifest, schemas, engine, &report)
    }
    // What couldn't be read of the base was taken for nulls.
    try damage.check(since: 0)
    let (snapshot, nextKeys, nextJoinKeys) = try engine.state()
    var metadata = archive.metadata
    if let newest = try? ArchivedMetadata.read(json: manifest.metadata, type: LogStore.traits.type) {
      metadata = newest
    } else {
      report.notes.append("the metadata is that of the base")
    }
    try LogCreation(directory: target, profile: profile).create(
      snapshot,
      .init(
        schema: archive.schema, metadata: metadata, generation: report.generation, nextKeys: nextKeys,
        nextJoinKeys: nextJoinKeys))
    return report
  }

  private func replay(
    _ segment: LogManifest.Segment, _ manifest: LogManifest, _ schemas: LogSchema, _ engine: TableEngine,
    _ report: inout LogSalvageReport
  ) throws {
    let path = directory.path(segment)
    let file: any OpenFile
    do {
      file = try directory.fileSystem.open(path, .read)
    } catch let error as StoreError where error.isMissing {
      report.gaps.append(.init(file: path, offset: 0, byteCount: 0, reason: "it isn't there"))
      return
    }
    defer { try? file.close() }
    // What the manifest promises doesn't matter: what is there is taken.
    var reader = LogSegmentReader(file, path: path, segment: segment)
    while true {
      switch try reader.next() {
      case .group(let group): make(group, schemas, engine, &report)
      case .end: return
      case .torn(let error):
        report.notes.append("the end was never acknowledged and isn't whole: \(error.message)")
        return
      case .damaged(let error):
        let offset = reader.offset
        let skipped = try reader.skip()
        report.gaps.append(
          .init(file: path, offset: offset, byteCount: skipped ?? 0, reason: error.message))
        guard skipped != nil else { return }
      }
    }
  }

  private func make(
    _ group: LogGroup, _ schemas: LogSchema, _ engine: TableEngine, _ report: inout LogSalvageReport
  ) {
    guard group.isTransaction else {
      var reader = RecordReader(group.payload)
      if let keys = try? LogKeys(&reader, schema: schemas.stored) { engine.changeNextKeys(keys.raise) }
      return
    }
    // The base has those that come before.
    guard group.generation > report.generation else { return }
    if group.generation > report.generation + 1 {
      report.lostCommits.append(report.generation + 1...group.generation - 1)
    }
    report.generation = group.generation
    do {
      let (transaction, changes) = try schemas.decode(group.payload)
      _ = try engine.replay(changes, time: transaction.time, raising: transaction.keys.raise)
      report.transactionCount += 1
    } catch {
      report.refused.append((group.generation, "\((error as? StoreError)?.description ?? "\(error)")"))
    }
  }
}
