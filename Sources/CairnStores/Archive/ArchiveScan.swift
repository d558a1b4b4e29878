// What lies in an archive told by the bytes alone: blocks, trailers, zeros, and what is none of these. For verifying
// and salvaging; opening follows the footer and never looks around.

import CairnModel
import Foundation

/// A walk over a file from one block to the next.
///
/// Memory is one window. Time is bounded by a multiple of the file's size, whatever its bytes: checksums of what only
/// looks like blocks are worked out over so many bytes and no more.
struct ArchiveScan {
  enum Piece: Equatable {
    /// A block whose checksum is right.
    case block(BlockHeader)
    case trailer(ArchiveTrailer)
    case zeros
    /// Nothing that a writer makes, up to the next thing that one does.
    case unknown
  }

  struct Found {
    let piece: Piece
    let offset: UInt64
    let length: UInt64
  }

  private let file: any OpenFile
  private let end: UInt64
  /// Ascending; passed over.
  private let known: [BlockPlace]
  private var budget: UInt64

  private static let window = 1 << 16

  /// `known` ascends and doesn't overlap.
  init(_ file: any OpenFile, upTo end: UInt64, known: [BlockPlace] = []) {
    (self.file, self.end, self.known) = (file, end, known)
    budget = 16 * end + 1 << 20
  }

  /// Everything from where blocks begin, in order. Throws what the file system and `visit` throw.
  mutating func forEach(_ visit: (Found) throws -> Void) throws {
    var at = CommitSlot.end
    var next = 0
    while at < end {
      while next < known.count, known[next].offset < at { next += 1 }
      if next < known.count, known[next].offset == at {
        at += UInt64(known[next].length)
        continue
      }
      let limit = next < known.count ? known[next].offset : end
      let found = try piece(at, limit) ?? unknown(at, limit)
      try visit(found)
      at += found.length
    }
  }

  private mutating func piece(_ at: UInt64, _ limit: UInt64) throws -> Found? {
    if let header = try block(at, limit) {
      return Found(
        piece: .block(header), offset: at, length: UInt64(BlockHeader.size) + UInt64(header.storedLength))
    }
    if limit - at >= UInt64(ArchiveTrailer.size),
      let trailer = ArchiveTrailer(try file.bytes(ArchiveTrailer.size, at: at))
    {
      return Found(piece: .trailer(trailer), offset: at, length: UInt64(ArchiveTrailer.size))
    }
    let zeros = try zeros(at, limit)
    return zeros == 0 ? nil : Found(piece: .zeros, offset: at, length: zeros)
  }

  private mutating func block(_ at: UInt64, _ limit: UInt64) throws -> BlockHeader? {
    guard limit - at >= UInt64(BlockHeader.size) else { return nil }
    let bytes = try file.bytes(BlockHeader.size, at: at)
    guard bytes.count == BlockHeader.size, let (header, checksum) = try? BlockHeader.read(bytes[...]),
      UInt64(header.storedLength) <= limit - at - UInt64(BlockHeader.size),
      UInt64(header.storedLength) <= budget
    else { return nil }
    budget -= UInt64(header.storedLength)
    var sum = Checksum.crc32(bytes[..<(BlockHeader.size - 4)])
    var offset = at + UInt64(BlockHeader.size)
    let end = offset + UInt64(header.storedLength)
    while offset < end {
      let part = try file.bytes(Int(min(1 << 20, end - offset)), at: offset)
      if part.isEmpty { return nil }
      sum = Checksum.crc32(part, after: sum)
      offset += UInt64(part.count)
    }
    return sum == checksum ? header : nil
  }

  private func zeros(_ at: UInt64, _ limit: UInt64) throws -> UInt64 {
    var offset = at
    while offset < limit {
      let part = try file.bytes(Int(min(UInt64(ArchiveScan.window), limit - offset)), at: offset)
      guard let end = part.firstIndex(where: { $0 != 0 }) else {
        if part.isEmpty { break }
        offset += UInt64(part.count)
        continue
      }
      return offset + UInt64(end) - at
    }
    return offset - at
  }

  /// From `at` to where a block or a trailer begins.
  private mutating func unknown(_ at: UInt64, _ limit: UInt64) throws -> Found {
    var offset = at + 1
    while offset < limit {
      let part = try file.bytes(Int(min(UInt64(ArchiveScan.window), limit - offset)), at: offset)
      if part.isEmpty { break }
      // The first bytes of the two magic numbers.
      for (place, byte) in part.enumerated() where byte == 0x42 || byte == 0x89 {
        let start = offset + UInt64(place)
        guard try beginsLikeSomething(part, place, start) else { continue }
        if let found = try piece(start, limit), found.piece != .zeros {
          return Found(piece: .unknown, offset: at, length: start - at)
        }
      }
      offset += UInt64(part.count)
    }
    return Found(piece: .unknown, offset: at, length: limit - at)
  }

  private func beginsLikeSomething(_ part: [UInt8], _ place: Int, _ start: UInt64) throws -> Bool {
    let bytes = place + 4 <= part.count ? Array(part[place..<place + 4]) : try file.bytes(4, at: start)
    return bytes == ArchiveScan.block || bytes == ArchiveScan.trailer
  }

  private static let block: [UInt8] = [0x42, 0x4C, 0x4B, 0x31]
  private static let trailer: [UInt8] = [0x89, 0x43, 0x52, 0x4E]
}
