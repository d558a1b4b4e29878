// The content of a simulated file, in sectors: what a medium writes whole or not at all.

import Foundation

/// Copies share the sectors that they have in common. Invariant: nothing but zeros lies beyond `size`, so that
/// extending a file shows none of what it held before.
struct FileImage: Sendable {
  typealias Sector = [UInt8]
  static let sectorSize = 512

  private(set) var size = 0
  /// Nil, and what is beyond the end, is a sector of zeros.
  private var sectors: [Sector?] = []

  private static let zeros = Sector(repeating: 0, count: sectorSize)

  func sector(_ index: Int) -> Sector? {
    index < sectors.count ? sectors[index] : nil
  }

  mutating func setSector(_ index: Int, _ sector: Sector?) {
    if index >= sectors.count {
      if sector == nil { return }
      sectors.append(contentsOf: repeatElement(nil, count: index + 1 - sectors.count))
    }
    sectors[index] = sector
  }

  /// Bytes from `offset` on, as many as there are.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(buffer.count, size - offset))
    Self.forEachPiece(offset, count) { index, start, done, count in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count])
      (sector(index) ?? Self.zeros).withUnsafeBytes {
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
      }
    }
    return count
  }

  /// Returns the sectors that have changed.
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> [Int] {
    var changed: [Int] = []
    Self.forEachPiece(offset, bytes.count) { index, start, done, count in
      var sector = sector(index) ?? Self.zeros
      let source = UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
      let isSame = sector.withUnsafeBytes { memcmp($0.baseAddress! + start, source.baseAddress!, count) == 0 }
      if isSame { return }
      sector.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + count]).copyMemory(from: source)
      }
      setSector(index, sector)
      changed.append(index)
    }
    size = max(size, offset + bytes.count)
    return changed
  }

  /// Cuts the content or extends it with zeros. Returns the sectors that have changed.
  mutating func resize(to newSize: Int) -> [Int] {
    size = newSize
    var changed: [Int] = []
    let first = newSize / Self.sectorSize
    for index in sectors.indices.dropFirst(first) {
      guard let old = sectors[index] else { continue }
      let kept = index == first ? newSize % Self.sectorSize : 0
      if kept > 0 && !old[kept...].contains(where: { $0 != 0 }) { continue }
      sectors[index] = kept == 0 ? nil : Array(old[..<kept] + Self.zeros[kept...])
      changed.append(index)
    }
    return changed
  }

  private static func forEachPiece(
    _ offset: Int, _ count: Int, _ body: (_ index: Int, _ start: Int, _ done: Int, _ count: Int) -> Void
  ) {
    var done = 0
    while done < count {
      let (index, start) = (offset + done).quotientAndRemainder(dividingBy: sectorSize)
      let piece = min(count - done, sectorSize - start)
      body(index, start, done, piece)
      done += piece
    }
  }
}
