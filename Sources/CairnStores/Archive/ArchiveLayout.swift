// The parts of an archive whose size is fixed: header, commit slots, block headers, trailers.
// Formats/archive.md says what each field is for.

import CZlib
import Foundation

/// The beginning of the file. Written once.
struct ArchiveHeader: Equatable {
  static let size = 80
  static let magic: [UInt8] = [0x89, 0x43, 0x52, 0x4E, 0x0D, 0x0A, 0x1A, 0x0A]
  static let major: UInt16 = 1
  static let minor: UInt16 = 0

  var uuid: UUID
  /// Milliseconds since 1970.
  var created: Int64
  /// Readers that don't know a bit may ignore it.
  var compatible: UInt64 = 0
  /// Readers that don't know a bit may read, but not write.
  var readOnlyCompatible: UInt64 = 0
  /// Readers that don't know a bit can't read the file.
  var incompatible: UInt64 = 0

  /// Bits of `incompatible`.
  enum Feature {
    /// Large values may be blocks of their own.
    static let blobs: UInt64 = 1
    /// Texts may be items of others.
    static let items: UInt64 = 2
    static let known = blobs | items
  }

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(bytes: ArchiveHeader.magic)
    writer.put(ArchiveHeader.major)
    writer.put(ArchiveHeader.minor)
    writer.put(UInt32(ArchiveHeader.size))
    writer.put(compatible)
    writer.put(readOnlyCompatible)
    writer.put(incompatible)
    writer.put(uuid)
    writer.put(created)
    writer.put(zeros: 12)
    writer.put(Checksum.crc32(writer.bytes))
    return writer.bytes
  }

  /// Throws what is wrong. `bytes` are the first `size` bytes of a file, or fewer.
  init(_ bytes: [UInt8]) throws {
    var reader = RecordReader(bytes)
    guard bytes.starts(with: ArchiveHeader.magic) else {
      throw RecordError(message: "it doesn't begin as an archive does", offset: 0)
    }
    guard bytes.count == ArchiveHeader.size else {
      throw RecordError(message: "the header is cut off", offset: bytes.count)
    }
    guard Checksum.matches(bytes) else {
      throw RecordError(message: "the header's checksum is wrong", offset: ArchiveHeader.size - 4)
    }
    _ = try reader.take(8)
    let major = try reader.integer(UInt16.self)
    guard major == ArchiveHeader.major else {
      throw RecordError(
        message:
          "it is of version \(major) of the format, and this program reads version \(ArchiveHeader.major)",
        offset: 8)
    }
    _ = try reader.integer(UInt16.self)
    guard try reader.integer(UInt32.self) == UInt32(ArchiveHeader.size) else {
      throw reader.error("the header has another size")
    }
    compatible = try reader.integer(UInt64.self)
    readOnlyCompatible = try reader.integer(UInt64.self)
    incompatible = try reader.integer(UInt64.self)
    let unknown = incompatible & ~Feature.known
    guard unknown == 0 else {
      throw RecordError(
        message: "it uses features that this program doesn't know (bits \(String(unknown, radix: 2)))",
        offset: 32)
    }
    uuid = try reader.uuid()
    created = try reader.integer(Int64.self)
    guard try reader.take(12).allSatisfy({ $0 == 0 }) else {
      throw RecordError(message: "a part of the header that has to be zero isn't", offset: 64)
    }
  }

  init(uuid: UUID, created: Int64, features: UInt64 = 0) {
    self.uuid = uuid
    self.created = created
    incompatible = features
  }
}

/// One of the two places that name the newest commit. Both are there from the beginning, and are written in turn.
struct CommitSlot: Equatable {
  static let size = 64
  static let magic: UInt32 = 0x3154_4D43  // "CMT1"
  static let offsets: [UInt64] = [80, 144]
  /// Where blocks begin.
  static let end: UInt64 = 208

  var generation: UInt64
  /// Of the file, the trailer included.
  var fileLength: UInt64
  var footerOffset: UInt64
  /// The footer's block, its header included.
  var footerLength: UInt32

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(CommitSlot.magic)
    writer.put(UInt32(0))
    writer.put(generation)
    writer.put(fileLength)
    writer.put(footerOffset)
    writer.put(footerLength)
    writer.put(zeros: 24)
    writer.put(Checksum.crc32(writer.bytes))
    return writer.bytes
  }

  /// nil for bytes that are no commit slot.
  init?(_ bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    var reader = RecordReader(bytes)
    guard bytes.count == CommitSlot.size, Checksum.matches(bytes),
      (try? reader.integer(UInt32.self)) == CommitSlot.magic, (try? reader.integer(UInt32.self)) == 0,
      let generation = try? reader.integer(UInt64.self), let fileLength = try? reader.integer(UInt64.self),
      let footerOffset = try? reader.integer(UInt64.self),
      let footerLength = try? reader.integer(UInt32.self),
      (try? reader.take(24))?.allSatisfy({ $0 == 0 }) == true
    else { return nil }
    self.init(
      generation: generation, fileLength: fileLength, footerOffset: footerOffset, footerLength: footerLength)
  }

  init(generation: UInt64, fileLength: UInt64, footerOffset: UInt64, footerLength: UInt32) {
    self.generation = generation
    self.fileLength = fileLength
    self.footerOffset = footerOffset
    self.footerLength = footerLength
  }
}

/// The end of what a commit wrote: says the same as its slot.
struct ArchiveTrailer: Equatable {
  static let size = 64
  static let magic: UInt64 = 0x314C_5254_4E52_4389  // 89 "CRNTRL1"

  var slot: CommitSlot
  var uuid: UUID

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(ArchiveTrailer.magic)
    writer.put(slot.footerOffset)
    writer.put(slot.footerLength)
    writer.put(UInt32(0))
    writer.put(slot.generation)
    writer.put(slot.fileLength)
    writer.put(uuid)
    writer.put(UInt32(0))
    writer.put(Checksum.crc32(writer.bytes))
    return writer.bytes
  }

  /// nil for bytes that are no trailer.
  init?(_ bytes: [UInt8]) {
    var reader = RecordReader(bytes)
    guard bytes.count == ArchiveTrailer.size, Checksum.matches(bytes),
      (try? reader.integer(UInt64.self)) == ArchiveTrailer.magic,
      let footerOffset = try? reader.integer(UInt64.self),
      let footerLength = try? reader.integer(UInt32.self),
      (try? reader.integer(UInt32.self)) == 0, let generation = try? reader.integer(UInt64.self),
      let fileLength = try? reader.integer(UInt64.self), let uuid = try? reader.uuid(),
      (try? reader.integer(UInt32.self)) == 0
    else { return nil }
    slot = CommitSlot(
      generation: generation, fileLength: fileLength, footerOffset: footerOffset, footerLength: footerLength)
    self.uuid = uuid
  }

  init(slot: CommitSlot, uuid: UUID) {
    self.slot = slot
    self.uuid = uuid
  }
}

/// What stands before the bytes of each block.
struct BlockHeader: Equatable {
  static let size = 32
  static let magic: UInt32 = 0x314B_4C42  // "BLK1"

  enum Kind: UInt8 {
    case schema = 1, metadata, columns, footer, blob
  }

  /// The places of a group behind its slots, as block headers number them.
  static let versions: UInt16 = 0xFFFE
  static let keys: UInt16 = 0xFFFF

  var kind: Kind
  /// 0: as they are; 1: deflated (RFC 1951).
  var codec: UInt8
  /// 1 for a column with blobs; 0 for every other, and for other kinds.
  var encoding: UInt8 = 0
  /// Which table, for columns: an entity, or behind the entities a join.
  var table: UInt16 = 0
  /// Which slot, or `versions`, or `keys`.
  var column: UInt16 = 0
  /// The group that the block was written for.
  var group: UInt32 = 0
  var rows: UInt32 = 0
  /// The size of the bytes before they were deflated.
  var rawLength: UInt32
  var storedLength: UInt32

  /// Everything before the checksum.
  private var fields: [UInt8] {
    var writer = RecordWriter()
    writer.put(BlockHeader.magic)
    writer.put(kind.rawValue)
    writer.put(codec)
    writer.put(encoding)
    writer.put(UInt8(0))
    writer.put(table)
    writer.put(column)
    writer.put(group)
    writer.put(rows)
    writer.put(rawLength)
    writer.put(storedLength)
    return writer.bytes
  }

  /// The header of a block with these bytes.
  func bytes(over stored: [UInt8]) -> [UInt8] {
    let fields = fields
    var writer = RecordWriter()
    writer.put(bytes: fields)
    writer.put(Checksum.crc32(stored, after: Checksum.crc32(fields)))
    return writer.bytes
  }

  /// The header of a block, and the checksum over it and the bytes that follow. Throws for bytes that are none.
  static func read(_ bytes: ArraySlice<UInt8>) throws -> (header: BlockHeader, checksum: UInt32) {
    var reader = RecordReader(bytes)
    guard try reader.integer(UInt32.self) == magic else { throw reader.error("there is no block") }
    let kindNumber = try reader.integer(UInt8.self)
    let codec = try reader.integer(UInt8.self)
    let encoding = try reader.integer(UInt8.self)
    let flags = try reader.integer(UInt8.self)
    guard let kind = Kind(rawValue: kindNumber), codec <= 1, flags == 0 else {
      throw reader.error("a block of kind \(kindNumber), codec \(codec), flags \(flags)")
    }
    let header = BlockHeader(
      kind: kind, codec: codec, encoding: encoding, table: try reader.integer(UInt16.self),
      column: try reader.integer(UInt16.self), group: try reader.integer(UInt32.self),
      rows: try reader.integer(UInt32.self), rawLength: try reader.integer(UInt32.self),
      storedLength: try reader.integer(UInt32.self))
    return (header, try reader.integer(UInt32.self))
  }
}

/// zlib's CRC-32 (COM-40).
enum Checksum {
  static func crc32(_ bytes: some Collection<UInt8>, after start: UInt32 = 0) -> UInt32 {
    let whole = bytes.withContiguousStorageIfAvailable { buffer in
      UInt32(truncatingIfNeeded: crc32_z(UInt(start), buffer.baseAddress, buffer.count))
    }
    return bytes.isEmpty ? start : whole ?? crc32(Array(bytes), after: start)
  }

  /// Whether the last four bytes are the checksum of those before.
  static func matches(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= 4 else { return false }
    var reader = RecordReader(bytes.suffix(4))
    return (try? reader.integer(UInt32.self)) == crc32(bytes.dropLast(4))
  }
}
