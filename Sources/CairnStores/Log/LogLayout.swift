// The files of a log, and the parts of them whose size is fixed: segment headers and frames. LogManifest has the file
// that names the others. All integers are little-endian.

import CairnModel
import Foundation

/// The names of what lies in a log's directory:
///
/// - `MANIFEST`: which of the other files make up the store (`LogManifest`).
/// - `base-<number>`: an archive (Formats/archive.md), whole and never changed: the state after some commit.
/// - `log-<number>`: a segment (`LogSegmentHeader`, then frames): the commits after a base.
/// - `torn-<number>-<offset>`: bytes that recovery cut off the segment `log-<number>` at that offset. Of no use to the
///   store; kept so that nothing is destroyed, and may be removed.
/// - `SUSPECT`: an empty file. It is there after a sync has failed: what the newest segment shows may be in the system's
///   memory only. Whoever opens the store for writing writes that segment anew, in a file of another number, and then
///   removes it.
/// - `LOCK`: an empty file that whoever writes holds a lock on; while it does, a note of who it is.
/// - `.MANIFEST.tmp-<UUID>`, `.base-<number>.tmp-<UUID>`, `.torn-….tmp-<UUID>`: replacements under way, or left by a
///   crash.
///
/// Bases and segments are numbered from 1 on, in decimal digits without leading zeros. A number belongs to one file of
/// either kind at a time. A file that the manifest doesn't name was left by a crash, and whoever opens the store for
/// writing removes it.
enum LogNames {
  static let manifest = "MANIFEST"
  static let lock = "LOCK"
  static let suspect = "SUSPECT"

  static func base(_ number: UInt64) -> String { "base-\(number)" }
  static func segment(_ number: UInt64) -> String { "log-\(number)" }
  static func torn(_ number: UInt64, _ offset: UInt64) -> String { "torn-\(number)-\(offset)" }

  /// The number of a base or segment, by its name.
  static func number(_ name: String, prefix: String) -> UInt64? {
    guard name.hasPrefix(prefix), let number = UInt64(name.dropFirst(prefix.count)),
      name == "\(prefix)\(number)"
    else { return nil }
    return number
  }

  /// Whether a file of that name may be a log's.
  static func isOwn(_ name: String) -> Bool {
    if [manifest, lock, suspect].contains(name) || isTorn(name) { return true }
    if number(name, prefix: "base-") != nil || number(name, prefix: "log-") != nil { return true }
    return isTemporary(name)
  }

  static func isTorn(_ name: String) -> Bool {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 3 && parts[0] == "torn" && UInt64(parts[1]) != nil && UInt64(parts[2]) != nil
  }

  static func isTemporary(_ name: String) -> Bool {
    guard name.hasPrefix("."), let end = name.range(of: ".tmp-") else { return false }
    let target = String(name[name.index(after: name.startIndex)..<end.lowerBound])
    return (target == manifest || number(target, prefix: "base-") != nil || isTorn(target))
      && AtomicReplacement.isTemporary(name, of: target)
  }
}

/// The first 64 bytes of a segment:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 8 | magic: 89 43 52 53 0D 0A 1A 0A |
/// | 8 | 2 | major version: 1 |
/// | 10 | 2 | minor version: 0 |
/// | 12 | 4 | size of the header: 64 |
/// | 16 | 16 | UUID of the store |
/// | 32 | 8 | number of the segment |
/// | 40 | 8 | sequence of its first frame |
/// | 48 | 8 | salt: random; goes into the checksum of every frame |
/// | 56 | 4 | zero |
/// | 60 | 4 | checksum of bytes 0…59 |
///
/// Frames follow without gaps, and zeros follow the last frame, however many. UUID, number, sequence and salt are those
/// that the manifest says of the segment. A segment's first frame is of the kind `keys`.
struct LogSegmentHeader: Equatable {
  static let size = 64
  static let magic: [UInt8] = [0x89, 0x43, 0x52, 0x53, 0x0D, 0x0A, 0x1A, 0x0A]

  var uuid: UUID
  var number: UInt64
  var firstSequence: UInt64
  var salt: UInt64

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(bytes: LogSegmentHeader.magic)
    writer.put(LogManifest.major)
    writer.put(LogManifest.minor)
    writer.put(UInt32(LogSegmentHeader.size))
    writer.put(uuid)
    writer.put(number)
    writer.put(firstSequence)
    writer.put(salt)
    writer.put(UInt32(0))
    writer.put(Checksum.crc32(writer.bytes))
    return writer.bytes
  }

  init(uuid: UUID, number: UInt64, firstSequence: UInt64, salt: UInt64) {
    self.uuid = uuid
    self.number = number
    self.firstSequence = firstSequence
    self.salt = salt
  }

  /// Throws `RecordError` for bytes that are no header.
  init(_ bytes: [UInt8]) throws {
    var reader = RecordReader(bytes)
    guard bytes.starts(with: LogSegmentHeader.magic) else {
      throw RecordError(message: "it doesn't begin as a segment does", offset: 0)
    }
    guard bytes.count == LogSegmentHeader.size else {
      throw RecordError(message: "the header is cut off", offset: bytes.count)
    }
    guard Checksum.matches(bytes) else {
      throw RecordError(message: "the header's checksum is wrong", offset: LogSegmentHeader.size - 4)
    }
    _ = try reader.take(8)
    let major = try reader.integer(UInt16.self)
    guard major == LogManifest.major else {
      throw RecordError(
        message: "it is of version \(major) of the format, and this program reads \(LogManifest.major)",
        offset: 8)
    }
    _ = try reader.integer(UInt16.self)
    guard try reader.integer(UInt32.self) == UInt32(LogSegmentHeader.size) else {
      throw reader.error("the header has another size")
    }
    uuid = try reader.uuid()
    number = try reader.integer(UInt64.self)
    firstSequence = try reader.integer(UInt64.self)
    salt = try reader.integer(UInt64.self)
    guard try reader.integer(UInt32.self) == 0 else {
      throw reader.error("a part of the header that has to be zero isn't")
    }
  }
}

/// One frame: a header of 36 bytes, and a payload of at most 1 MiB.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 4 | length: the bytes from offset 8 on, payload included; 28 at least |
/// | 4 | 4 | checksum (COM-40) of: the segment's salt (8 bytes), the length (4 bytes), the bytes from offset 8 on |
/// | 8 | 8 | sequence: one higher than that of the frame before, over all segments of a store |
/// | 16 | 8 | generation: of the commit, for kind 1; of the newest commit before it, for others |
/// | 24 | 8 | durable: the sequence up to which everything was on the medium when this frame was written; less than its own |
/// | 32 | 1 | kind |
/// | 33 | 1 | flags |
/// | 34 | 2 | zero |
///
/// **Groups.** The frames from behind a frame with the flag `commit` up to the next such frame are one group: all of it
/// happened, or nothing. Here all frames of a group have one kind, one generation and, but for `commit`, the same
/// flags, and their payloads are pieces of one: all are 1 MiB long but the last.
///
/// **Kinds.** 0 is none, so that zeros never parse. The payloads are in `LogRecords`: 1 a transaction, 2 keys, 3 close,
/// 4 idle. A frame of another kind is an error, unless it has the flag `ancillary`: then its group is passed over.
///
/// **Flags.** 1 `commit`: the last frame of its group. 2 `compressed`: the payload of the group is the length of the
/// content (4 bytes; 16 MiB at most) and the content, deflated (RFC 1951). 4 `ancillary`. Others are 0.
///
/// **What may be wrong at the end of the newest segment.** Let s be the sequence expected next, at offset x. Where
/// all bytes from x on are zeros, the log ends. Where there is no frame with sequence s and a right checksum, look
/// at every later offset for frames with right checksums whose sequence is s or more. If `durable` of any of these is
/// s or more, or the manifest promises frame s, what stood at x was acknowledged and is damaged: an error. Otherwise it
/// was never acknowledged: the log ends behind the last frame with `commit` before x, and the rest is a torn tail. The
/// same holds of a group whose last frame is missing. Every other segment is sealed: the manifest says its length and
/// its last frame, and all of it has to be right.
struct LogFrame: Equatable {
  /// Before the payload.
  static let headerSize = 36
  /// Of the payload.
  static let largestPiece = 1 << 20
  /// What stands before the part that `length` counts.
  static let prefixSize = 8

  enum Kind: UInt8 {
    case transaction = 1
    case keys, close, idle
  }

  struct Flags: OptionSet {
    let rawValue: UInt8
    static let commit = Flags(rawValue: 1)
    static let compressed = Flags(rawValue: 2)
    static let ancillary = Flags(rawValue: 4)
    static let known: Flags = [.commit, .compressed, .ancillary]
  }

  var sequence: UInt64
  var generation: Int64
  var durable: UInt64
  /// As it stands there: a later version's may be none of `Kind`.
  var kind: UInt8
  var flags: Flags
  var payloadLength: Int

  /// Header and payload.
  var size: Int { LogFrame.headerSize + payloadLength }

  /// Appends a frame to `bytes`.
  func append(payload: some Collection<UInt8>, salt: UInt64, to bytes: inout [UInt8]) {
    var header = RecordWriter()
    let length = UInt32(LogFrame.headerSize - LogFrame.prefixSize + payload.count)
    header.put(sequence)
    header.put(UInt64(bitPattern: generation))
    header.put(durable)
    header.put(kind)
    header.put(flags.rawValue)
    header.put(UInt16(0))
    var seed = RecordWriter()
    seed.put(salt)
    seed.put(length)
    let checksum = Checksum.crc32(
      payload, after: Checksum.crc32(header.bytes, after: Checksum.crc32(seed.bytes)))
    var prefix = RecordWriter()
    prefix.put(length)
    prefix.put(checksum)
    bytes += prefix.bytes
    bytes += header.bytes
    bytes += payload
  }

  /// How long the frame is whose first bytes these are; nil where none begins there.
  static func size(prefix: UInt32) -> Int? {
    let rest = headerSize - prefixSize
    guard prefix >= rest, prefix <= rest + largestPiece else { return nil }
    return prefixSize + Int(prefix)
  }

  /// The frame that `bytes` are, header and payload and nothing else; nil where the checksum is wrong.
  init?(_ bytes: UnsafeRawBufferPointer, salt: UInt64) {
    guard bytes.count >= LogFrame.headerSize else { return nil }
    let length = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    guard LogFrame.size(prefix: length) == bytes.count else { return nil }
    var seed = RecordWriter()
    seed.put(salt)
    seed.put(length)
    let rest = UnsafeRawBufferPointer(rebasing: bytes[LogFrame.prefixSize...])
    let checksum = Checksum.crc32(rest, after: Checksum.crc32(seed.bytes))
    guard checksum == LogFrame.field(bytes, 4, UInt32.self) else { return nil }
    self.init(fields: bytes)
  }

  /// What the header says, with nothing checked. `bytes` begin with a header.
  init(fields bytes: UnsafeRawBufferPointer) {
    sequence = LogFrame.field(bytes, 8, UInt64.self)
    generation = Int64(bitPattern: LogFrame.field(bytes, 16, UInt64.self))
    durable = LogFrame.field(bytes, 24, UInt64.self)
    kind = bytes[32]
    flags = Flags(rawValue: bytes[33])
    payloadLength = max(0, bytes.count - LogFrame.headerSize)
    reserved = LogFrame.field(bytes, 34, UInt16.self)
  }

  /// Has to be zero.
  private(set) var reserved: UInt16 = 0

  init(
    sequence: UInt64, generation: Int64, durable: UInt64, kind: Kind, flags: Flags, payloadLength: Int
  ) {
    self.sequence = sequence
    self.generation = generation
    self.durable = durable
    self.kind = kind.rawValue
    self.flags = flags
    self.payloadLength = payloadLength
  }

  static func field<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ type: T.Type) -> T
  {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// What no writer makes of a frame whose checksum is right; nil where nothing is wrong.
  var fault: String? {
    if kind == 0 { return "a frame of kind 0" }
    if reserved != 0 || !flags.isSubset(of: .known) { return "a frame with unknown flags" }
    if durable >= sequence { return "a frame that says it was durable before it was written" }
    if generation < 0 { return "a frame of commit \(generation)" }
    if Kind(rawValue: kind) == nil && !flags.contains(.ancillary) {
      return "a frame of kind \(kind), which this program doesn't know"
    }
    return nil
  }
}
