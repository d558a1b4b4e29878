// From the files of a log to the tables of its newest commit: the newest base, opened lazily, and the frames after it
// made once more. Nothing is written here.

import CairnModel
import Foundation

/// The end of a log that was read.
struct LogEnd {
  /// Of the last whole group.
  var sequence: UInt64
  /// Behind it, in the newest segment.
  var offset: UInt64
  /// Of its last frame.
  var kind: UInt8
  /// What follows it and is to be cut off, if anything: why.
  var tear: StoreError?
  /// The latest of the times of the newest segment's commits, in milliseconds since 1970; 0 where there is none.
  var newestTime: Int64
}

/// What reading a log found.
struct LogContents {
  var manifest: LogManifest
  let base: ArchiveContents
  let schema: LogSchema
  /// What the store shows.
  let engine: TableEngine
  /// For a turned log, the tables that transactions were made in.
  let turned: TableEngine?
  let metadata: StoreMetadata
  var end: LogEnd
  /// The newest segment, open.
  var file: any OpenFile
  /// Where reading may go on.
  let reader: LogSegmentReader
}

struct LogReplay {
  let directory: LogDirectory
  var cacheBudget: Int
  let damage: DamageLog
  var clock: @Sendable () -> Date = { Date() }
  /// Commits after this one aren't made.
  var upTo: Int64?
  /// Told the places of transactions.
  var index: LogIndex?

  /// Reads everything. `schema` is what the store is used with; nil for the one that the base says. `mode` is how the
  /// newest segment is opened.
  ///
  /// Throws `corrupt` with file, offset and sequence, `incompatibleSchema`, `historyPurged` where `upTo` is a commit
  /// that the files don't go back to, and what the file system throws.
  func read(_ schema: Schema?, mode: FileMode = .read) throws -> LogContents {
    let manifest = try directory.manifest()
    let base = try chooseBase(manifest)
    let archive = try directory.open(base, manifest, cacheBudget: cacheBudget, damage: damage)
    let stored = archive.source.schema
    guard let schemas = LogSchema(stored: stored, used: schema ?? stored) else {
      throw StoreError(
        .incompatibleSchema, "the log was made with another version of the model", file: directory.path,
        remedy: "open it with the model that it was made with, or migrate it")
    }
    let metadata = try metadata(manifest)
    let order = schemas.replayed
    let engine = TableEngine(
      schema: order.given, history: .none, clock: clock,
      beginning: ArchiveStore.beginning(archive, order, damage))
    // Those that aren't needed now are only looked at: that they are there is promised to history.
    for other in manifest.bases where other != base { try directory.check(other, manifest) }
    for segment in manifest.segments where segment.firstSequence < base.firstSequence {
      try directory.open(segment, manifest).close()
    }
    var last: (file: any OpenFile, reader: LogSegmentReader, end: LogEnd)?
    let segments = manifest.segments(after: base)
    for segment in segments {
      let isNewest = segment.number == segments.last!.number
      try last?.file.close()
      let file = try directory.open(segment, manifest, isNewest ? mode : .read)
      var reader = LogSegmentReader(file, path: directory.path(segment), segment: segment)
      let end = try replay(&reader, segment, schemas, engine, isNewest: isNewest)
      last = (file, reader, end)
      if let upTo, try engine.currentSnapshot().generation.number >= upTo { break }
    }
    let found = last!
    if let upTo, try engine.currentSnapshot().generation.number < upTo {
      throw StoreError(
        .unsupportedRequest,
        "there is no commit number \(upTo) yet: the newest is \(try engine.currentSnapshot().generation.number)",
        file: directory.path)
    }
    return LogContents(
      manifest: manifest, base: archive, schema: schemas,
      engine: schemas.isTurned ? try schemas.shown(engine, damage, clock: clock) : engine,
      turned: schemas.isTurned ? engine : nil, metadata: metadata, end: found.end, file: found.file,
      reader: found.reader)
  }

  private func chooseBase(_ manifest: LogManifest) throws -> LogManifest.Base {
    guard let upTo else { return manifest.newestBase }
    guard upTo >= manifest.purgedThrough, let base = manifest.bases.last(where: { $0.generation <= upTo })
    else {
      throw StoreError(
        .historyPurged, "the state after commit \(upTo) isn't kept any more",
        file: directory.path,
        remedy: "ask for commit \(max(manifest.purgedThrough, manifest.bases[0].generation)) or a later one")
    }
    return base
  }

  /// Of the manifests that were read last.
  private static let metadata = TextCache<StoreMetadata>()

  func metadata(_ manifest: LogManifest) throws -> StoreMetadata {
    do {
      let metadata = try LogReplay.metadata.value(ofPlain: manifest.metadata) {
        try ArchivedMetadata.read(json: $0, type: LogStore.traits.type)
      }
      guard metadata.uuid == manifest.uuid else {
        throw RecordError(message: "the metadata is of the store \(metadata.uuid)", offset: 0)
      }
      return metadata
    } catch let error as RecordError {
      throw StoreError(
        .corrupt, error.message, file: directory.path(LogNames.manifest),
        offset: UInt64(manifest.bytes.count - manifest.metadata.count - 4), remedy: LogFiles.remedy)
    }
  }

  // MARK: Segments

  private func replay(
    _ reader: inout LogSegmentReader, _ segment: LogManifest.Segment, _ schemas: LogSchema,
    _ engine: TableEngine, isNewest: Bool
  ) throws -> LogEnd {
    var end = LogEnd(
      sequence: segment.firstSequence - 1, offset: UInt64(LogSegmentHeader.size), kind: 0, newestTime: 0)
    if try engine.currentSnapshot().generation.number != segment.generationBefore {
      throw StoreError(
        .corrupt,
        "it begins after commit \(segment.generationBefore), and the newest before it is \(try engine.currentSnapshot().generation.number)",
        file: reader.path, remedy: LogFiles.remedy)
    }
    while true {
      switch try reader.next() {
      case .group(let group):
        if let upTo, group.isTransaction, group.generation > upTo { return end }
        if let time = try LogReplay.apply(group, schemas, engine, path: reader.path, damage) {
          end.newestTime = max(end.newestTime, time.clampedMilliseconds)
          index?.note(group, in: segment.number)
        }
        end.sequence = group.lastSequence
        end.offset = group.end
        end.kind = group.kind
      case .end: return end
      case .torn(let error):
        end.tear = error
        return end
      case .damaged(let error): throw error
      }
    }
  }

  /// Makes what a group says; returns the time of a transaction. Throws `corrupt`.
  static func apply(
    _ group: LogGroup, _ schemas: LogSchema, _ engine: TableEngine, path: String, _ damage: DamageLog
  ) throws -> Date? {
    do {
      return try make(group, schemas, engine, damage)?.time
    } catch let error as StoreError where error.code == .storeClosed || error.file != nil {
      throw error
    } catch {
      throw corrupt(error, group, path)
    }
  }

  /// Makes what a group says in the tables that transactions are made in, and returns the commit of a
  /// transaction, in their numbers. Where a column can't be read that it needs, it throws that, and has made nothing.
  static func make(
    _ group: LogGroup, _ schemas: LogSchema, _ engine: TableEngine, _ damage: DamageLog
  ) throws -> Commit? {
    let generation = try engine.currentSnapshot().generation.number
    switch LogFrame.Kind(rawValue: group.kind) {
    case .transaction:
      guard group.generation == generation + 1 else {
        throw RecordError(
          message: "a transaction is commit \(group.generation), and the one before it \(generation)",
          offset: 0)
      }
      let (transaction, changes) = try schemas.decode(group.payload)
      let before = damage.count
      return try damage.checking {
        try engine.replay(
          changes, time: transaction.time, raising: schemas.made(transaction.keys).raise,
          checked: { try damage.check(since: before) })
      }
    case .keys, .close:
      var reader = RecordReader(group.payload)
      let keys = try LogKeys(&reader, schema: schemas.stored)
      guard reader.isAtEnd, group.generation == generation else {
        throw reader.error("keys that don't end, or of another commit")
      }
      let isExact = group.kind == LogFrame.Kind.close.rawValue
      engine.changeNextKeys { next in
        let keys = schemas.made(keys)
        if isExact { for (root, key) in keys.next { next[root] = key } } else { keys.raise(&next) }
      }
      return nil
    case .idle:
      guard group.payload.isEmpty, group.generation == generation else {
        throw RecordError(message: "an idle frame that says something", offset: 0)
      }
      return nil
    case nil:
      return nil
    }
  }

  static func corrupt(_ error: any Error, _ group: LogGroup, _ path: String) -> StoreError {
    let message =
      switch error {
      case let error as RecordError: error.message
      case let error as PayloadError: "\(error)"
      case let error as StoreError: error.description
      default: "\(error)"
      }
    return StoreError(
      .corrupt,
      "what frame \(group.firstSequence) (commit \(group.generation)) says doesn't fit the store: \(message)",
      file: path, offset: group.offset, remedy: LogFiles.remedy)
  }
}

extension Date {
  /// Milliseconds since 1970, as far as an integer has them; 0 for no time at all.
  var clampedMilliseconds: Int64 {
    let exact = (timeIntervalSince1970 * 1000).rounded()
    if exact.isNaN { return 0 }
    return exact >= 9e18 ? Int64(9e18) : exact <= -9e18 ? Int64(-9e18) : Int64(exact)
  }
}
