// What scalars fold to, asked of Foundation a page of 256 scalars at a time, when one of them is first met.

import Foundation
import Synchronization

/// The ASCII in what each scalar folds to.
///
/// Sendable: the pages are constant, and each is set once, atomically.
final class FoldingTable: @unchecked Sendable {
  /// No ASCII in it, and not nothing.
  static let barrier: UInt32 = 1 << 24 | 0xFF
  /// Depends on what stands around it, or is too long.
  static let unknown = UInt32.max

  private let options: StringOptions
  /// By the upper bits of a scalar; never freed, since tables live as long as the process.
  /// Addresses of 256 entries each, 0 where a page isn't made: as plain integers, since a lazy reference
  /// costs calls and counts references at each look.
  private let pages: UnsafeMutablePointer<Atomic<UInt>>
  private static let pageCount = 0x110000 >> 8

  private init(_ options: StringOptions) {
    self.options = options
    pages = .allocate(capacity: FoldingTable.pageCount)
    for page in 0..<FoldingTable.pageCount { (pages + page).initialize(to: Atomic(0)) }
  }

  private static let both = FoldingTable([.caseInsensitive, .diacriticInsensitive])
  private static let cases = FoldingTable(.caseInsensitive)
  private static let diacritics = FoldingTable(.diacriticInsensitive)

  /// nil for options that do more, or nothing.
  static func of(_ options: StringOptions) -> FoldingTable? {
    switch options {
    case [.caseInsensitive, .diacriticInsensitive]: both
    case .caseInsensitive: cases
    case .diacriticInsensitive: diacritics
    default: nil
    }
  }

  /// The number of bytes in the top byte, up to three, and the bytes from the lowest on: ASCII, and FF for
  /// anything else; or `unknown`.
  subscript(scalar: UInt32) -> UInt32 {
    // Ideographs and Hangul, whose pages would be many.
    if 0x3400 <= scalar, scalar < 0xA000 || 0xAC00 <= scalar && scalar < 0xD7A4 {
      return FoldingTable.barrier
    }
    let number = Int(scalar >> 8)
    guard number < FoldingTable.pageCount else { return FoldingTable.unknown }
    var address = pages[number].load(ordering: .acquiring)
    if address == 0 { address = addPage(number) }
    return UnsafePointer<UInt32>(bitPattern: address).unsafelyUnwrapped[Int(scalar & 0xFF)]
  }

  /// The page's address, whoever makes it first.
  @inline(never)
  private func addPage(_ number: Int) -> UInt {
    let page = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
    for (place, entry) in makePage(number).enumerated() { (page + place).initialize(to: entry) }
    let made = UInt(bitPattern: page)
    let (isFirst, known) = pages[number].compareExchange(
      expected: 0, desired: made, ordering: .acquiringAndReleasing)
    if isFirst { return made }
    page.deallocate()
    return known
  }

  private func makePage(_ number: Int) -> [UInt32] {
    // Each behind a letter, since marks fold otherwise where they stand alone, and before a character that
    // nothing is joined with.
    let end: Unicode.Scalar = "\u{1}"
    var text = String.UnicodeScalarView()
    var entries = [UInt32](repeating: FoldingTable.unknown, count: 256)
    var places: [Int] = []
    for low in 0..<256 {
      guard let scalar = Unicode.Scalar(UInt32(number << 8 | low)), scalar.value >= 0x80 else { continue }
      text.append("a")
      text.append(scalar)
      text.append(end)
      places.append(low)
    }
    let folded = StringMatcher.fold(String(text), options)
    let pieces = folded.utf8.split(separator: 1, omittingEmptySubsequences: false)
    guard pieces.count == places.count + 1 else { return entries }
    for (low, piece) in zip(places, pieces) {
      guard piece.first == UInt8(ascii: "a") else { continue }
      var bytes: [UInt8] = []
      for byte in piece.dropFirst() {
        if byte < 0x80 { bytes.append(byte) } else if bytes.last != 0xFF { bytes.append(0xFF) }
      }
      guard bytes.count <= 3 else { continue }
      entries[low] = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(bytes.count) << 24
    }
    return entries
  }
}
