// Appends to a log's newest segment, and begins new ones. A frame is written once, whole; what a write that failed left
// is cut off, durably, before anything else is written there.

import CairnModel
import Foundation

/// The one writer of an open log. Confined to whoever holds the store's lock on it.
final class LogWriter {
  struct Options {
    /// How many bytes of zeros are kept ready behind the end, in which frames are written without a change of size.
    var preallocation: Int
    /// How many keys of each hierarchy are promised ahead.
    var keySlack: Int64
  }

  let directory: LogDirectory
  private let options: Options
  let schema: LogSchema
  let syncer: LogSyncer
  private(set) var manifest: LogManifest
  private var file: any OpenFile
  private var identity: FileInformation
  /// Where the next frame goes.
  private(set) var end: UInt64
  /// Up to where the file is known to have zeros.
  private var allocated: UInt64
  private(set) var lastSequence: UInt64
  private var lastKind: UInt8
  private var newestTime: Int64
  /// Whether a write has failed whose bytes may be there still.
  private var needsCut = false
  /// By entity of the bases: keys below these were promised.
  private var promised: [Int64]

  /// Writes behind the end of a log that was read. `nextKeys` are those that nobody has been given; here as
  /// everywhere by the store's entities.
  init(_ contents: LogContents, directory: LogDirectory, nextKeys: [Int64], options: Options) throws {
    self.directory = directory
    self.options = options
    schema = contents.schema
    manifest = contents.manifest
    file = contents.file
    identity = try file.information()
    end = contents.end.offset
    allocated = contents.end.tear == nil ? identity.size : end
    lastSequence = contents.end.sequence
    lastKind = contents.end.kind
    newestTime = contents.end.newestTime
    promised = schema.stored(byEntity: nextKeys)
    // What was read may be in the system's memory only, so that nothing newer may say that it is durable.
    // Where the mark can't be made either, reopening believes what the system shows.
    syncer = LogSyncer(durableThrough: manifest.segments.last!.lastSequence) {
      _ = try? directory.fileSystem.open(directory.path(LogNames.suspect), .create(permissions: 0o644))
      try? directory.fileSystem.syncDirectory(directory.path)
    }
    syncer.use(file)
    syncer.noteWritten(lastSequence)
  }

  var segment: LogManifest.Segment { manifest.segments[manifest.segments.count - 1] }
  /// What was written since the newest base.
  var tailLength: UInt64 {
    manifest.segments(after: manifest.newestBase).dropLast().reduce(0) { $0 + $1.length } + end
  }
  /// Whether nothing was written since a store was closed, and the manifest promises all of it: the close may have died
  /// in between.
  var isClosed: Bool {
    lastKind == LogFrame.Kind.close.rawValue && segment.lastSequence == lastSequence && segment.length == end
  }

  /// Throws why nothing can be written any more, and where the segment isn't the one in its place any more, or was cut
  /// off under the store.
  func requireWorking() throws {
    try syncer.requireWorking()
    let path = directory.path(segment)
    guard let present = try directory.fileSystem.information(path), present.isSameFile(as: identity),
      present.size >= end
    else {
      throw StoreError(
        .fileSystem, "the log was removed, replaced or cut off while it was open", file: path,
        remedy: "close the store, see what became of the file, and open it again")
    }
  }

  /// Throws where the numbers of frames are about to run out.
  func requireSequences() throws {
    if lastSequence < .max - (1 << 32) { return }
    throw StoreError(.unsupportedRequest, "the log has no sequences left", file: directory.path)
  }

  // MARK: Frames

  /// Appends a transaction, and returns the sequence of its last frame. Throws what the file system throws; then
  /// nothing was written.
  func append(_ changes: ChangeSet, _ commit: Commit, nextKeys: [Int64]) throws -> UInt64 {
    var promises = LogKeys()
    let nextKeys = schema.stored(byEntity: nextKeys)
    for entity in schema.stored.entities where entity.root == entity.id {
      let root = entity.id.index
      if nextKeys[root] > promised[root] - options.keySlack / 2, nextKeys[root] > 1 {
        promises.next.append((root, promise(after: nextKeys[root])))
      }
    }
    let transaction = LogTransaction(
      time: commit.time, author: commit.author, contextName: commit.contextName, keys: promises)
    let payload = try schema.encode(transaction, changes)
    let sequence = try append(.transaction, payload, generation: commit.generation.number)
    promises.raise(&promised)
    newestTime = max(newestTime, commit.time.clampedMilliseconds)
    return sequence
  }

  private func promise(after key: Int64) -> Int64 {
    let (sum, overflow) = key.addingReportingOverflow(options.keySlack)
    return overflow ? .max : sum
  }

  /// Whether `promise` has to write a frame.
  func mustPromise(next: Int64, root: EntityID) -> Bool { next > promised[schema.stored(root).index] }

  /// Promises that keys below `next` may be in use. Returns the sequence of the frame that says so; nil where that was
  /// promised before.
  func promise(next: Int64, root: EntityID, generation: Int64) throws -> UInt64? {
    guard mustPromise(next: next, root: root) else { return nil }
    let root = schema.stored(root).index
    let keys = LogKeys([(root, promise(after: next))])
    var writer = RecordWriter()
    keys.write(to: &writer)
    let sequence = try append(.keys, writer.bytes, generation: generation)
    keys.raise(&promised)
    return sequence
  }

  /// Says that everything before is durable, if that isn't said yet.
  func appendIdle(generation: Int64) throws {
    guard lastKind != LogFrame.Kind.idle.rawValue, !isClosed, syncer.durable == lastSequence else { return }
    _ = try append(.idle, [], generation: generation)
  }

  private func append(_ kind: LogFrame.Kind, _ payload: [UInt8], generation: Int64) throws -> UInt64 {
    try syncer.requireWorking()
    if needsCut { try cut() }
    try requireSequences()
    let (bytes, count) = LogWriter.frames(
      kind, payload, generation: generation, after: lastSequence, durable: syncer.durable, salt: segment.salt)
    let newEnd = end + UInt64(bytes.count)
    if newEnd > allocated, options.preallocation > 0 {
      let size = newEnd + UInt64(options.preallocation)
      // Where there is no room for that, there may be for the frame.
      if (try? file.preallocate(to: size)) != nil { allocated = size }
    }
    do {
      try file.write(bytes, at: end)
    } catch {
      needsCut = true
      try? cut()
      throw error
    }
    end = newEnd
    allocated = max(allocated, newEnd)
    lastSequence += UInt64(count)
    lastKind = kind.rawValue
    syncer.noteWritten(lastSequence)
    return lastSequence
  }

  /// A group's frames, and how many they are.
  static func frames(
    _ kind: LogFrame.Kind, _ content: [UInt8], generation: Int64, after sequence: UInt64, durable: UInt64,
    salt: UInt64
  ) -> (bytes: [UInt8], count: Int) {
    let deflated = LogCompression.deflate(content)
    let payload = deflated ?? content
    let flags: LogFrame.Flags = deflated == nil ? [] : [.compressed]
    var bytes: [UInt8] = []
    let pieces = max(1, (payload.count + LogFrame.largestPiece - 1) / LogFrame.largestPiece)
    bytes.reserveCapacity(payload.count + pieces * LogFrame.headerSize)
    for number in 0..<pieces {
      let start = number * LogFrame.largestPiece
      let piece = payload[start..<min(start + LogFrame.largestPiece, payload.count)]
      LogFrame(
        sequence: sequence + UInt64(number) + 1, generation: generation, durable: durable, kind: kind,
        flags: number == pieces - 1 ? flags.union(.commit) : flags, payloadLength: piece.count
      ).append(payload: piece, salt: salt, to: &bytes)
    }
    return (bytes, pieces)
  }

  /// Cuts off what is behind the end. Synced, because what comes to stand there instead has the same sequences: were
  /// some of the old sectors to come back, a frame of both might look whole.
  func cut() throws {
    try file.truncate(to: end)
    allocated = end
    try syncer.syncNow()
    needsCut = false
  }

  // MARK: Files

  /// Seals the segment, and begins another, whose first frame promises keys. Everything is on the medium when it
  /// returns. Throws what the file system throws: the old segment is written on then; or `outcomeUnknown`, after which
  /// nothing is written any more.
  func rotate(generation: Int64, nextKeys: [Int64]) throws {
    try cut()
    var changed = manifest
    let old = changed.segments.count - 1
    changed.segments[old].lastSequence = lastSequence
    changed.segments[old].length = end
    changed.segments[old].newestTime = newestTime
    changed.segments[old].isSealed = true
    var promises = LogKeys.all(schema.stored(byEntity: nextKeys), schema.stored)
    for place in promises.next.indices { promises.next[place].key = promise(after: promises.next[place].key) }
    let (segment, bytes) = LogWriter.newSegment(
      uuid: manifest.uuid, number: manifest.freeNumber, after: lastSequence, generation: generation, promises)
    changed.segments.append(segment)
    let made = try LogWriter.make(segment, bytes, in: directory)
    let madeIdentity: FileInformation
    do {
      madeIdentity = try made.information()
      try replace(changed)
    } catch {
      // Where the manifest may name it, it stays.
      if syncer.failure == nil {
        try? made.close()
        try? directory.fileSystem.remove(directory.path(segment))
      }
      throw error
    }
    identity = madeIdentity
    let sealed = file
    file = made
    syncer.use(made)
    syncer.noteDurable(segment.lastSequence)
    try? sealed.close()
    end = segment.length
    allocated = end
    lastSequence = segment.lastSequence
    lastKind = LogFrame.Kind.keys.rawValue
    newestTime = 0
    promises.raise(&promised)
  }

  /// A segment that has nothing but keys yet, and its bytes.
  static func newSegment(
    uuid: UUID, number: UInt64, after sequence: UInt64, generation: Int64, _ keys: LogKeys
  ) -> (LogManifest.Segment, [UInt8]) {
    var writer = RecordWriter()
    keys.write(to: &writer)
    let salt = UInt64.random(in: 0 ... .max)
    let header = LogSegmentHeader(uuid: uuid, number: number, firstSequence: sequence + 1, salt: salt)
    var bytes = header.bytes
    let (frames, count) = frames(
      .keys, writer.bytes, generation: generation, after: sequence, durable: sequence, salt: salt)
    bytes += frames
    let segment = LogManifest.Segment(
      number: number, salt: salt, firstSequence: sequence + 1, lastSequence: sequence + UInt64(count),
      length: UInt64(bytes.count), generationBefore: generation)
    return (segment, bytes)
  }

  /// Makes the file of a new segment, durably. Leaves none where it throws.
  static func make(_ segment: LogManifest.Segment, _ bytes: [UInt8], in directory: LogDirectory) throws
    -> any OpenFile
  {
    try make(segment, in: directory) { try $0.write(bytes, at: 0) }
  }

  /// Makes the file of a segment, and has `fill` write what is in it. Durable when it returns; where it throws, no file
  /// is left.
  static func make(
    _ segment: LogManifest.Segment, in directory: LogDirectory, _ fill: (any OpenFile) throws -> Void
  ) throws -> any OpenFile {
    let path = directory.path(segment)
    // What is there was left by a crash, and couldn't be removed.
    if try directory.fileSystem.information(path) != nil { try directory.fileSystem.remove(path) }
    let file = try directory.fileSystem.open(path, .create(permissions: 0o644))
    do {
      try fill(file)
      try file.sync()
      try directory.fileSystem.syncDirectory(directory.path)
      return file
    } catch {
      try? file.close()
      try? directory.fileSystem.remove(path)
      throw error
    }
  }

  /// Replaces the manifest, durably. Throws what the file system throws: the old one is there then; or
  /// `outcomeUnknown`, after which nothing is written any more, because nobody knows which files count.
  func replace(_ changed: LogManifest) throws {
    try syncer.requireWorking()
    var changed = changed
    changed.serial += 1
    do {
      try directory.replace(changed)
    } catch let error as StoreError where error.code == .outcomeUnknown {
      syncer.fail(error)
      throw error
    }
    manifest = changed
  }

  /// Says that nothing is missing behind it, with the exact keys that come next, and cuts off what is kept ready.
  /// Everything is on the medium when it returns.
  func close(generation: Int64, nextKeys: [Int64], metadata: [UInt8]?) throws {
    try syncer.requireWorking()
    var changed = manifest
    if let metadata { changed.metadata = metadata }
    if !isClosed {
      var writer = RecordWriter()
      LogKeys.all(schema.stored(byEntity: nextKeys), schema.stored).write(to: &writer)
      try syncer.syncNow()
      _ = try append(.close, writer.bytes, generation: generation)
      try cut()
      changed.segments[changed.segments.count - 1].lastSequence = lastSequence
      changed.segments[changed.segments.count - 1].length = end
    }
    if changed != manifest { try replace(changed) }
  }

  /// Nothing is written or synced any more when it returns.
  func closeFile() {
    syncer.use(nil)
    try? file.close()
  }
}
