// A log's files taken apart, so that a test can change any of them and make checksums right again.

import CairnModel
import Foundation

@testable import CairnStores

/// The files of a log by name.
struct LogParts: Equatable {
  static let path = "/log"

  var files: [String: [UInt8]]

  init(_ files: [String: [UInt8]]) { self.files = files }

  /// What is in the directory but the lock.
  init(_ fileSystem: SimulatedFileSystem) throws {
    files = [:]
    for name in try fileSystem.list(LogParts.path) where name != LogNames.lock {
      let path = Paths.join(LogParts.path, name)
      files[name] = try fileSystem.open(path, .read).contents(limit: 1 << 24, path: path)
    }
  }

  /// The same files in a file system of their own.
  func fileSystem() throws -> SimulatedFileSystem {
    let made = SimulatedFileSystem()
    try made.makeDirectory(LogParts.path)
    for (name, bytes) in files {
      let file = try made.open(Paths.join(LogParts.path, name), .create(permissions: 0o644))
      try file.write(bytes, at: 0)
      try file.sync()
    }
    try made.syncDirectory(LogParts.path)
    try made.syncDirectory("/")
    return made
  }

  func changing(_ body: (inout LogParts) throws -> Void) rethrows -> LogParts {
    var copy = self
    try body(&copy)
    return copy
  }

  // MARK: Manifest

  var manifest: LogManifest { get throws { try LogManifest(files[LogNames.manifest]!) } }

  /// Changes fields, and writes the manifest anew.
  mutating func changeManifest(_ body: (inout LogManifest) -> Void) throws {
    var manifest = try self.manifest
    body(&manifest)
    files[LogNames.manifest] = manifest.bytes
  }

  /// Changes bytes, and makes the checksum right.
  mutating func patchManifest(_ body: (inout [UInt8]) -> Void) {
    body(&files[LogNames.manifest]!)
    let end = files[LogNames.manifest]!.count - 4
    ArchiveParts.put(
      Checksum.crc32(files[LogNames.manifest]![..<end]), end, &files[LogNames.manifest]!)
  }

  /// Where in the manifest a segment's fields are.
  func segmentOffset(_ index: Int) throws -> Int {
    try LogManifest.headerSize + manifest.bases.count * LogManifest.Base.size
      + index * LogManifest.Segment.size
  }

  // MARK: Segments

  var newestSegment: String { get throws { LogNames.segment(try manifest.segments.last!.number) } }

  func salt(_ name: String) -> UInt64 { files[name]!.withUnsafeBytes { LogFrame.field($0, 48, UInt64.self) } }

  /// The frames of a segment, headers and payloads, as far as their lengths tell.
  func frames(_ name: String) -> [[UInt8]] {
    let bytes = files[name]!
    var result: [[UInt8]] = []
    var offset = LogSegmentHeader.size
    while offset + 4 <= bytes.count {
      let length = bytes.withUnsafeBytes { LogFrame.field($0, offset, UInt32.self) }
      guard let size = LogFrame.size(prefix: length), offset + size <= bytes.count else { break }
      result.append(Array(bytes[offset..<offset + size]))
      offset += size
    }
    return result
  }

  /// Changes the frames of the newest segment, whose lengths and checksums are made right.
  mutating func changeFrames(_ body: (inout [[UInt8]]) throws -> Void) throws {
    let name = try newestSegment
    var frames = frames(name)
    try body(&frames)
    let salt = salt(name)
    files[name] =
      files[name]![..<LogSegmentHeader.size] + frames.flatMap { LogParts.sealed($0, salt: salt) }
  }

  static func sealed(_ frame: [UInt8], salt: UInt64) -> [UInt8] {
    var frame = frame
    let length = UInt32(frame.count - LogFrame.prefixSize)
    ArchiveParts.put(length, 0, &frame)
    var seed = RecordWriter()
    seed.put(salt)
    seed.put(length)
    let checksum = Checksum.crc32(frame[LogFrame.prefixSize...], after: Checksum.crc32(seed.bytes))
    ArchiveParts.put(checksum, 4, &frame)
    return frame
  }

  /// A group of one frame that goes behind the last one; its generation is that of the last one, or one more
  /// for a transaction, and `ahead` more than that.
  mutating func append(
    _ kind: UInt8, _ payload: [UInt8], flags: LogFrame.Flags = .commit, ahead: Int64 = 0
  ) throws {
    try changeFrames { frames in
      let last = frames.last!.withUnsafeBytes { LogFrame(fields: $0) }
      var frame = [UInt8](repeating: 0, count: LogFrame.headerSize)
      ArchiveParts.put(last.sequence + 1, 8, &frame)
      let next = last.generation + (kind == LogFrame.Kind.transaction.rawValue ? 1 : 0) + ahead
      ArchiveParts.put(UInt64(bitPattern: next), 16, &frame)
      ArchiveParts.put(last.durable, 24, &frame)
      frame[32] = kind
      frame[33] = flags.rawValue
      frames.append(frame + payload)
    }
  }

  /// The same with a transaction.
  mutating func append(
    _ changes: ChangeSet, _ schema: Schema, keys: LogKeys = LogKeys(), ahead: Int64 = 0
  ) throws {
    var writer = RecordWriter()
    LogTransaction(time: Golden.time, author: nil, contextName: nil, keys: keys).write(to: &writer)
    try append(
      LogFrame.Kind.transaction.rawValue,
      writer.bytes + TransactionCoding.encode(changes, schema: schema), ahead: ahead)
  }
}

extension Checksum {
  static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 { crc32(Array(bytes)) }
}
