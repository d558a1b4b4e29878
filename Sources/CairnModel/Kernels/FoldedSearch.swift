// CONTAINS[cd] of an ASCII text, without folding what is searched: most scalars fold to nothing that such a
// text has.

/// Searches UTF-8 for a text of ASCII as if all had been folded first, in one pass.
///
/// Rests on two laws of folding, which a test holds Foundation to: a scalar folds alike wherever it stands
/// behind a letter of ASCII or behind what folds to one, and nothing but the scalars that `mayBecomeASCII`
/// names has ASCII in what it folds to.
struct FoldedSearch: Sendable {
  private enum Kind {
    /// In no match, or in the middle of one that is found by its anchor.
    static let skipped: UInt8 = 0
    static let anchor: UInt8 = 1
    /// Begins a scalar that may fold to ASCII, or to nothing.
    static let foldable: UInt8 = 2
    /// Begins a scalar that may fold to nothing behind a letter.
    static let mark: UInt8 = 3
  }

  private let needle: [UInt8]
  /// Where to go on when the byte at a place of the needle doesn't match.
  private let fallback: [Int]
  /// The place of the needle's rarest byte.
  private let anchor: Int
  private let anchors: EightBytes.Anchor
  /// By byte.
  private let kinds: [UInt8]
  /// By byte of ASCII: what it folds to, if the needle has that; 0 otherwise, and for all other bytes.
  private let letters: [UInt8]
  private let table: FoldingTable

  /// nil for texts that can't be searched for in this way. `needle` is folded.
  init?(_ needle: [UInt8], _ options: StringOptions) {
    guard let table = FoldingTable.of(options), !needle.isEmpty, needle.allSatisfy({ 1 <= $0 && $0 < 0x80 })
    else { return nil }
    self.table = table
    self.needle = needle
    var letters = [UInt8](repeating: 0, count: 256)
    for byte in needle {
      letters[Int(byte)] = byte
      if options.contains(.caseInsensitive), byte >= 0x61, byte <= 0x7A { letters[Int(byte - 0x20)] = byte }
    }
    self.letters = letters
    // The later in this list, the rarer.
    let frequent = Array("eaniortslhudckmgpybvfw-zjxq".utf8)
    let rarest = needle.indices.max { a, b in
      (frequent.firstIndex(of: needle[a]) ?? 20) < (frequent.firstIndex(of: needle[b]) ?? 20)
    }!
    anchor = rarest
    anchors = EightBytes.Anchor(
      needle[rarest],
      isEitherCase: needle[rarest] >= 0x61 && letters[Int(needle[rarest] & 0xDF)] == needle[rarest])
    kinds = (0..<256).map { byte in
      if byte < 0x80 { return letters[byte] == needle[rarest] ? Kind.anchor : Kind.skipped }
      if byte < 0xC2 { return Kind.skipped }
      return FoldedSearch.mayBecomeASCII(lead: UInt8(byte)) ? Kind.foldable : Kind.mark
    }
    var fallback = [0, 0]
    var matched = 0
    for place in needle.indices.dropFirst() {
      while matched > 0, needle[matched] != needle[place] { matched = fallback[matched] }
      if needle[matched] == needle[place] { matched += 1 }
      fallback.append(matched)
    }
    self.fallback = fallback
  }

  /// Whether any scalar whose UTF-8 begins with `lead` folds to something with ASCII in it: the blocks of
  /// Latin, some Greek punctuation, signs, ligatures.
  static func mayBecomeASCII(lead: UInt8) -> Bool {
    (0xC2...0xC9).contains(lead) || [0xCD, 0xE1, 0xE2, 0xEF].contains(lead)
  }

  /// Whether the folded text has the needle; nil where only folding it tells.
  func answer(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    guard let start = bytes.baseAddress else { return false }
    return kinds.withUnsafeBufferPointer { kinds in
      letters.withUnsafeBufferPointer { letters in
        answer(bytes, start, kinds.baseAddress!, letters.baseAddress!)
      }
    }
  }

  @inline(__always)
  private func answer(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: UnsafePointer<UInt8>, _ kinds: UnsafePointer<UInt8>,
    _ letters: UnsafePointer<UInt8>
  ) -> Bool? {
    let count = bytes.count
    var place = 0
    while true {
      place = EightBytes.skip(start, place, count, anchors)
      while place < count, kinds[Int(start[place])] == Kind.skipped { place &+= 1 }
      if place >= count { return false }
      let kind = kinds[Int(start[place])]
      if kind == Kind.anchor {
        if isFound(start, count, place &- anchor, letters) { return true }
        place &+= 1
      } else if kind == Kind.mark, place == 0 || letters[Int(start[place &- 1])] == 0 {
        // The rest of a run of other scripts: no mark in it stands behind a letter.
        place = EightBytes.skipScripts(start, place &+ 1, count)
        while place < count, start[place] >= 0x80, kinds[Int(start[place])] != Kind.foldable { place &+= 1 }
      } else {
        switch stretch(bytes, place) {
        case .found: return true
        case .unknown: return nil
        case .end(let end): place = end
        }
      }
    }
  }

  @inline(__always)
  private func isFound(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, _ start: Int, _ letters: UnsafePointer<UInt8>
  ) -> Bool {
    guard start >= 0, start &+ needle.count <= count else { return false }
    for place in 0..<needle.count where letters[Int(bytes[start &+ place])] != needle[place] { return false }
    return true
  }

  private enum Outcome {
    case found
    case unknown
    /// Where to go on.
    case end(Int)
  }

  /// Looks at what folds to letters of the needle around the scalar at `place`.
  private func stretch(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Outcome {
    var matched = 0
    var at = place
    while at > 0, place - at < needle.count, letters[Int(bytes[at - 1])] != 0 { at -= 1 }
    while at < bytes.count {
      let byte = bytes[at]
      if byte < 0x80 {
        let letter = letters[Int(byte)]
        if letter == 0 { break }
        matched = next(matched, letter)
        at += 1
      } else {
        guard let scalar = FoldedSearch.scalar(bytes, at) else { return .unknown }
        at += scalar.length
        let folded = table[scalar.value]
        if folded == FoldingTable.unknown { return .unknown }
        if folded == FoldingTable.barrier { break }
        var rest = folded & 0xFF_FFFF
        for _ in 0..<(folded >> 24) {
          matched = next(matched, UInt8(truncatingIfNeeded: rest))
          if matched == needle.count { return .found }
          rest >>= 8
        }
      }
      if matched == needle.count { return .found }
    }
    return .end(at)
  }

  private func next(_ matched: Int, _ byte: UInt8) -> Int {
    var matched = matched
    while matched > 0, needle[matched] != byte { matched = fallback[matched] }
    return needle[matched] == byte ? matched + 1 : 0
  }

  private static func scalar(
    _ bytes: UnsafeBufferPointer<UInt8>, _ at: Int
  ) -> (value: UInt32, length: Int)? {
    let lead = bytes[at]
    let length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0
    guard length > 0, at + length <= bytes.count else { return nil }
    var value = UInt32(lead) & (0x7F >> UInt32(length))
    for place in at + 1..<at + length {
      guard bytes[place] & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(bytes[place] & 0x3F)
    }
    return (value, length)
  }
}

/// Looks at eight bytes at once for what `FoldedSearch` stops at.
private enum EightBytes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// A byte of ASCII to be found, be it in either case.
  struct Anchor {
    fileprivate let pattern: UInt64
    fileprivate let caseBits: UInt64

    init(_ byte: UInt8, isEitherCase: Bool) {
      caseBits = isEitherCase ? ones * 0x20 : 0
      pattern = ones * UInt64(isEitherCase ? byte | 0x20 : byte)
    }
  }

  @inline(__always)
  private static func load(_ start: UnsafePointer<UInt8>, _ place: Int) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(start + place).loadUnaligned(as: UInt64.self))
  }

  /// The first place from `place` on that has the anchor or isn't ASCII, or one within eight bytes of the end.
  @inline(__always)
  static func skip(_ start: UnsafePointer<UInt8>, _ place: Int, _ count: Int, _ anchor: Anchor) -> Int {
    var place = place
    while place &+ 8 <= count {
      let bytes = load(start, place)
      let differences = (bytes | anchor.caseBits) ^ anchor.pattern
      // The lowest of these bits is right: a difference of zero borrows from those above it only.
      let stops = ((differences &- ones) & ~differences | bytes) & highBits
      if stops != 0 { return place &+ stops.trailingZeroBitCount / 8 }
      place &+= 8
    }
    return place
  }

  /// Goes on from `place` while there are eight bytes that aren't ASCII and none of which begins a scalar that may fold
  /// to it (`FoldedSearch.mayBecomeASCII`).
  @inline(__always)
  static func skipScripts(_ start: UnsafePointer<UInt8>, _ place: Int, _ count: Int) -> Int {
    var place = place
    while place &+ 8 <= count {
      let bytes = load(start, place)
      guard bytes & highBits == highBits else { return place }
      let low = bytes & ~highBits
      let leads =
        between(low, 0x42, 0x49) | between(low, 0x4D, 0x4D) | between(low, 0x61, 0x62)
        | between(low, 0x6F, 0x6F)
      if leads != 0 { return place }
      place &+= 8
    }
    return place
  }

  /// The high bit of each byte, below 0x80 all of them, that is in a range.
  @inline(__always)
  private static func between(_ bytes: UInt64, _ first: UInt64, _ last: UInt64) -> UInt64 {
    (ones &* (0x80 + last) &- bytes) & (bytes &+ ones &* (0x80 - first)) & highBits
  }
}
