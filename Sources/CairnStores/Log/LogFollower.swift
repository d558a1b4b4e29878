// Reads on behind a writer: what was written since, and the files that it has begun meanwhile.

import CairnModel
import Foundation

/// Where a store that only reads stands. Confined to whoever holds the store's lock on it.
final class LogFollower {
  private let replay: LogReplay
  private(set) var schemas: LogSchema
  /// What transactions are made in, where the store shows the rows turned (`LogSchema.isTurned`).
  private var turned: TableEngine?
  private(set) var manifest: LogManifest
  private var segment: LogManifest.Segment
  private var file: any OpenFile
  private var reader: LogSegmentReader
  /// What the last look found, where it found nothing new.
  private var still: LogStillness?

  init(_ contents: LogContents, replay: LogReplay) {
    self.replay = replay
    schemas = contents.schema
    turned = contents.turned
    manifest = contents.manifest
    file = contents.file
    reader = contents.reader
    segment = LogFollower.segment(of: contents)
  }

  private static func segment(of contents: LogContents) -> LogManifest.Segment {
    contents.manifest.segments.first { $0.salt == contents.reader.salt } ?? contents.manifest.segments.last!
  }

  /// Makes in `engine` what was written since, and returns the commits. Where files are gone that it would have to read
  /// for that, because the writer has made checkpoints, it takes the newest state from a base, and commits before that
  /// are missing from the list. Where nothing was written, it costs three calls and a page, but for a whole look now and
  /// then (`LogStillness`).
  ///
  /// Throws `corrupt` for what was acknowledged and is damaged, and what the file system throws; only where no commit
  /// could be read before.
  func refresh(_ engine: TableEngine, _ metadata: (StoreMetadata) -> Void) throws -> [Commit] {
    var commits: [Commit] = []
    do {
      try refresh(engine, metadata, &commits)
    } catch {
      // They are made, so they have to be told. The error will be there next time too.
      if commits.isEmpty { throw error }
    }
    // All at once, since each time costs a pass over the pairs' keys.
    if let turned, try turned.currentSnapshot().generation != engine.currentSnapshot().generation {
      try engine.adopt(try schemas.shown(turned, replay.damage, clock: replay.clock))
    }
    return commits
  }

  private func refresh(
    _ engine: TableEngine, _ metadata: (StoreMetadata) -> Void, _ commits: inout [Commit]
  ) throws {
    while true {
      let place = try LogStillness.Place(of: file, at: reader.offset)
      if try still?.lasts(place, replay.directory) == true { return }
      let last = still
      still = nil
      let stop = try readOn(engine, &commits)
      let (now, opened) = try replay.directory.openManifest()
      guard now.uuid == manifest.uuid else { throw LogFollower.replaced(replay.directory) }
      // A segment that others follow in that manifest is one to go on from, though it says nothing new.
      if now.serial == manifest.serial, segment.salt == now.segments.last!.salt {
        if case .damaged(let error) = stop { throw error }
        still = try LogStillness(stop, place, offset: reader.offset, manifest: opened, after: last)
        return
      }
      try? opened.close()
      if now.serial != manifest.serial {
        manifest = now
        metadata(try replay.metadata(now))
      }
      // What was sealed meanwhile is all there, in the file that is open here.
      if let own = now.segments.first(where: { $0.salt == segment.salt }) {
        // The same frames in another file: a writer has written it anew.
        if own.number != segment.number { try move(to: own, at: reader.offset, reader.sequence) }
        segment = own
        reader.promise(own.lastSequence)
      }
      let rest = try readOn(engine, &commits)
      if segment.salt == now.segments.last!.salt {
        if case .damaged(let error) = rest { throw error }
        continue
      }
      if let next = now.segments.first(where: { $0.firstSequence == reader.sequence }) {
        try move(to: next, at: UInt64(LogSegmentHeader.size), next.firstSequence)
      } else if now.segments.contains(where: { $0.salt == segment.salt }) {
        if case .damaged(let error) = rest { throw error }
        throw StoreError(
          .corrupt, "a segment that follows frame \(reader.sequence - 1) isn't there", file: reader.path,
          remedy: LogFiles.remedy)
      } else {
        try jump(engine, metadata)
      }
    }
  }

  static func replaced(_ directory: LogDirectory) -> StoreError {
    StoreError(
      .fileSystem, "another store is in its place", file: directory.path,
      remedy: "close the store and open it again")
  }

  /// Goes on in another file, at the frame `sequence`.
  private func move(to next: LogManifest.Segment, at offset: UInt64, _ sequence: UInt64) throws {
    let opened: any OpenFile
    do {
      opened = try replay.directory.open(next, manifest)
    } catch {
      // The writer may have removed it since the manifest was read.
      if try replay.directory.manifest().serial == manifest.serial { throw error }
      return
    }
    try? file.close()
    file = opened
    segment = next
    reader = LogSegmentReader(
      opened, path: replay.directory.path(next), segment: next, offset: offset, sequence: sequence)
  }

  /// Begins anew at the newest base.
  private func jump(_ engine: TableEngine, _ metadata: (StoreMetadata) -> Void) throws {
    let contents = try LogFollower.settled(replay.directory) { try replay.read(schemas.used) }
    try? file.close()
    // A writer with another order of its own may have written the log anew.
    schemas = contents.schema
    turned = contents.turned
    manifest = contents.manifest
    file = contents.file
    reader = contents.reader
    segment = LogFollower.segment(of: contents)
    metadata(contents.metadata)
    try engine.adopt(contents.engine)
  }

  /// Makes whole groups, until there is none; returns why.
  private func readOn(_ engine: TableEngine, _ commits: inout [Commit]) throws -> LogSegmentReader.Step {
    reader.refresh()
    while true {
      let before = reader
      let step = try reader.next()
      guard case .group(let group) = step else { return step }
      do {
        if let commit = try LogReplay.make(group, schemas, turned ?? engine, replay.damage) {
          commits.append(schemas.told(commit))
          replay.index?.note(group, in: segment.number)
        }
      } catch {
        // The next look begins with it again: what couldn't be read now may be read then.
        reader = before
        if let error = error as? StoreError, error.code == .storeClosed || error.file != nil { throw error }
        throw LogReplay.corrupt(error, group, reader.path)
      }
    }
  }

  /// What `body` returns. Where it throws and the writer has replaced the manifest meanwhile, it is tried again: what
  /// it didn't find may have been removed for that.
  static func settled<T>(_ directory: LogDirectory, _ body: () throws -> T) throws -> T {
    for _ in 0..<20 {
      let before = try directory.manifest().serial
      do {
        return try body()
      } catch let error as StoreError {
        if try directory.manifest().serial == before { throw error }
      }
    }
    return try body()
  }
}

extension LogStore {
  /// Reads what another store has saved since this one was opened or refreshed, publishes it, and returns the commits.
  /// For stores that only read: a store that writes has nothing to read, and one with `upTo` doesn't go on.
  ///
  /// Where the list doesn't begin with the commit after the newest snapshot's, or ends before the newest one after the
  /// call, the writer's checkpoints have removed what lay between: anything may have changed then.
  ///
  /// Throws `corrupt` for what was acknowledged and is damaged, `storeClosed`, `locked` in a process that was forked,
  /// and what the file system throws. A frame that isn't whole yet is waited for, by the next call.
  package func refresh() throws -> [Commit] {
    try requireSameProcess()
    _ = try engine.currentSnapshot()
    if options.upTo != nil { return [] }
    return try following.withLock { follower in
      try follower?.refresh(engine) { metadataWasRead($0) } ?? []
    }
  }
}
