// The file that says which others make up a log, and what is promised of each.

import CairnModel
import Foundation

/// `MANIFEST`. Replaced as a whole, durably; so it is always one that a writer made, or damaged.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | magic: 89 43 52 4C 0D 0A 1A 0A |
/// | 8 | 2 | major version: 1 |
/// | 10 | 2 | minor version: 0 |
/// | 12 | 4 | size of the file |
/// | 16 | 8 | compatible features, a bit each: who doesn't know one ignores it |
/// | 24 | 8 | features compatible for reading: who doesn't know one may only read |
/// | 32 | 8 | incompatible features: who doesn't know one refuses the store |
/// | 40 | 16 | UUID of the store |
/// | 56 | 8 | when the store was made, in milliseconds since 1970-01-01T00:00:00Z, signed |
/// | 64 | 8 | serial: one higher with each replacement |
/// | 72 | 8 | purged: history up to this generation isn't told any more |
/// | 80 | 4 | how many bases there are: 1 at least |
/// | 84 | 4 | how many segments there are: 1 at least |
/// | 88 | 4 | length of the metadata |
/// | 92 | 4 | zero |
/// | 96 | 32 each | bases (`Base`), oldest first |
/// | … | 64 each | segments (`Segment`), oldest first |
/// | … | … | metadata: JSON as in an archive (ARC-100), with the UUID above |
/// | end - 4 | 4 | checksum of everything before |
///
/// The state of the store is that of the newest base and the frames from the base's first sequence on.
/// Older bases and segments are kept for history. Segments follow on each other: the first sequence of each is one
/// higher than the last of the one before. All are sealed but the last. Each base begins where some segment does.
struct LogManifest: Equatable {
  static let magic: [UInt8] = [0x89, 0x43, 0x52, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]
  static let major: UInt16 = 1
  static let minor: UInt16 = 0
  static let headerSize = 96
  /// Of the file.
  static let largestSize = 64 << 20

  /// | offset | size | field |
  /// |---|---|---|
  /// | 0 | 8 | number: the file is `base-<number>` |
  /// | 8 | 8 | generation: the newest commit in it, which is also the archive's own |
  /// | 16 | 8 | first sequence: frames from this one on come after it |
  /// | 24 | 8 | length of the file |
  struct Base: Equatable {
    static let size = 32
    var number: UInt64
    var generation: Int64
    var firstSequence: UInt64
    var length: UInt64
  }

  /// | offset | size | field |
  /// |---|---|---|
  /// | 0 | 8 | number: the file is `log-<number>` |
  /// | 8 | 8 | salt, as in its header |
  /// | 16 | 8 | sequence of its first frame |
  /// | 24 | 8 | sequence up to which all frames are there for certain |
  /// | 32 | 8 | where the last of these ends, in bytes from the start of the file |
  /// | 40 | 8 | generation of the newest commit before it |
  /// | 48 | 8 | the latest of the times of its commits, in milliseconds since 1970, for a sealed one; else 0 |
  /// | 56 | 4 | 1 if it is sealed: nothing is in it but what is promised, and its length is that; else 0 |
  /// | 60 | 4 | zero |
  struct Segment: Equatable {
    static let size = 64
    var number: UInt64
    var salt: UInt64
    var firstSequence: UInt64
    var lastSequence: UInt64
    var length: UInt64
    var generationBefore: Int64
    var newestTime: Int64 = 0
    var isSealed = false
  }

  var compatible: UInt64 = 0
  var readOnlyCompatible: UInt64 = 0
  var uuid: UUID
  /// Milliseconds since 1970.
  var created: Int64
  var serial: UInt64 = 1
  var purgedThrough: Int64 = 0
  var bases: [Base]
  var segments: [Segment]
  /// JSON.
  var metadata: [UInt8]

  init(uuid: UUID, created: Int64, bases: [Base], segments: [Segment], metadata: [UInt8]) {
    self.uuid = uuid
    self.created = created
    self.bases = bases
    self.segments = segments
    self.metadata = metadata
  }

  /// Which no file of the store has.
  var freeNumber: UInt64 { 1 + max(bases.map(\.number).max() ?? 0, segments.map(\.number).max() ?? 0) }

  var newestBase: Base { bases[bases.count - 1] }

  /// The segments whose frames come after a base.
  func segments(after base: Base) -> ArraySlice<Segment> {
    segments[(segments.firstIndex { $0.firstSequence >= base.firstSequence } ?? segments.endIndex)...]
  }

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(bytes: LogManifest.magic)
    writer.put(LogManifest.major)
    writer.put(LogManifest.minor)
    let size =
      LogManifest.headerSize + bases.count * Base.size + segments.count * Segment.size + metadata.count + 4
    writer.put(UInt32(size))
    writer.put(compatible)
    writer.put(readOnlyCompatible)
    writer.put(UInt64(0))
    writer.put(uuid)
    writer.put(created)
    writer.put(serial)
    writer.put(purgedThrough)
    writer.put(UInt32(bases.count))
    writer.put(UInt32(segments.count))
    writer.put(UInt32(metadata.count))
    writer.put(UInt32(0))
    for base in bases {
      writer.put(base.number)
      writer.put(base.generation)
      writer.put(base.firstSequence)
      writer.put(base.length)
    }
    for segment in segments {
      writer.put(segment.number)
      writer.put(segment.salt)
      writer.put(segment.firstSequence)
      writer.put(segment.lastSequence)
      writer.put(segment.length)
      writer.put(segment.generationBefore)
      writer.put(segment.newestTime)
      writer.put(UInt32(segment.isSealed ? 1 : 0))
      writer.put(UInt32(0))
    }
    writer.put(bytes: metadata)
    writer.put(Checksum.crc32(writer.bytes))
    return writer.bytes
  }

  /// Throws `RecordError` for bytes that are no manifest, are one of a newer format, or say what can't be.
  init(_ bytes: [UInt8]) throws {
    var reader = RecordReader(bytes)
    guard bytes.starts(with: LogManifest.magic) else {
      throw RecordError(message: "it doesn't begin as the manifest of a log does", offset: 0)
    }
    guard bytes.count >= LogManifest.headerSize + 4 else {
      throw RecordError(message: "the manifest is cut off", offset: bytes.count)
    }
    _ = try reader.take(8)
    let major = try reader.integer(UInt16.self)
    _ = try reader.integer(UInt16.self)
    guard try reader.integer(UInt32.self) == UInt32(bytes.count), Checksum.matches(bytes) else {
      throw RecordError(message: "the manifest's size or checksum is wrong", offset: bytes.count - 4)
    }
    guard major == LogManifest.major else {
      throw RecordError(
        message: "it is of version \(major) of the format, and this program reads \(LogManifest.major)",
        offset: 8)
    }
    compatible = try reader.integer(UInt64.self)
    readOnlyCompatible = try reader.integer(UInt64.self)
    let incompatible = try reader.integer(UInt64.self)
    guard incompatible == 0 else {
      throw RecordError(
        message: "it uses features that this program doesn't know (bits \(String(incompatible, radix: 2)))",
        offset: 32)
    }
    uuid = try reader.uuid()
    created = try reader.integer(Int64.self)
    serial = try reader.integer(UInt64.self)
    purgedThrough = try reader.integer(Int64.self)
    let baseCount = Int(try reader.integer(UInt32.self))
    let segmentCount = Int(try reader.integer(UInt32.self))
    let metadataLength = Int(try reader.integer(UInt32.self))
    guard try reader.integer(UInt32.self) == 0 else { throw reader.error("a part that has to be zero isn't") }
    guard baseCount > 0, segmentCount > 0,
      LogManifest.headerSize + baseCount * Base.size + segmentCount * Segment.size + metadataLength + 4
        == bytes.count
    else { throw RecordError(message: "\(baseCount) bases and \(segmentCount) segments", offset: 80) }
    bases = []
    segments = []
    for _ in 0..<baseCount {
      bases.append(
        Base(
          number: try reader.integer(UInt64.self), generation: try reader.integer(Int64.self),
          firstSequence: try reader.integer(UInt64.self), length: try reader.integer(UInt64.self)))
    }
    for _ in 0..<segmentCount { segments.append(try LogManifest.segment(&reader)) }
    metadata = Array(try reader.take(metadataLength))
    if let fault { throw RecordError(message: fault, offset: LogManifest.headerSize) }
  }

  private static func segment(_ reader: inout RecordReader) throws -> Segment {
    var segment = Segment(
      number: try reader.integer(UInt64.self), salt: try reader.integer(UInt64.self),
      firstSequence: try reader.integer(UInt64.self), lastSequence: try reader.integer(UInt64.self),
      length: try reader.integer(UInt64.self), generationBefore: try reader.integer(Int64.self),
      newestTime: try reader.integer(Int64.self))
    let sealed = try reader.integer(UInt32.self)
    guard sealed <= 1, try reader.integer(UInt32.self) == 0 else {
      throw reader.error("a segment with unknown flags")
    }
    segment.isSealed = sealed == 1
    return segment
  }

  /// What contradicts itself; nil where nothing does.
  private var fault: String? {
    let numbers = bases.map(\.number) + segments.map(\.number)
    guard Set(numbers).count == numbers.count, !numbers.contains(0), serial > 0 else {
      return "a number is used twice, or is 0"
    }
    for (older, newer) in zip(bases, bases.dropFirst())
    where older.generation > newer.generation || older.firstSequence >= newer.firstSequence {
      return "its bases don't ascend"
    }
    for (older, newer) in zip(segments, segments.dropFirst()) {
      guard older.isSealed, older.lastSequence < .max, newer.firstSequence == older.lastSequence + 1,
        newer.generationBefore >= older.generationBefore
      else { return "its segments don't follow on each other" }
    }
    for segment in segments {
      guard segment.firstSequence > 0, segment.lastSequence >= segment.firstSequence,
        segment.length > LogSegmentHeader.size, segment.length < UInt64(Int64.max),
        segment.generationBefore >= 0
      else { return "segment \(segment.number) can't be as it says" }
    }
    if segments[segments.count - 1].isSealed { return "its last segment is sealed" }
    for base in bases {
      guard base.length < UInt64(Int64.max),
        segments.contains(where: {
          $0.firstSequence == base.firstSequence && $0.generationBefore == base.generation
        })
      else { return "base \(base.number) begins where no segment does" }
    }
    return nil
  }
}
