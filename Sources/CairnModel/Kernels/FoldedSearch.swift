// CONTAINS[cd] of an ASCII text, without folding what is searched: most scalars fold to nothing that such a
// text has.

/// Searches UTF-8 for a text of ASCII as if all had been folded first, in one pass.
///
/// Rests on two laws of folding, which a test holds Foundation to: a scalar folds alike wherever it stands
/// behind a letter of ASCII or behind what folds to one, and nothing but the scalars that `mayBecomeASCII`
/// names has ASCII in what it folds to.
final class FoldedSearch: Sendable {
  private enum Kind {
    /// In no match, or in the middle of one that is found by its anchor.
    static let skipped: UInt8 = 0
    static let anchor: UInt8 = 1
    /// Begins a scalar that may fold to ASCII, or to nothing.
    static let foldable: UInt8 = 2
  }

  private let needle: [UInt8]
  private let first: UInt8
  private let last: UInt8
  /// Where to go on when the byte at a place of the needle doesn't match.
  private let fallback: [Int]
  /// The place of the needle's rarest byte; of the first of its rarest two where there are two.
  private let anchor: Int
  /// nil for a needle of one byte.
  private let anchors: StopBytes?
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
    first = needle[0]
    last = needle[needle.count - 1]
    var letters = [UInt8](repeating: 0, count: 256)
    for byte in needle {
      letters[Int(byte)] = byte
      if options.contains(.caseInsensitive), byte >= 0x61, byte <= 0x7A { letters[Int(byte - 0x20)] = byte }
    }
    self.letters = letters
    // The later in this list, the rarer.
    let frequent = Array("eaniortslhudckmgpybvfw-zjxq".utf8)
    let rarity = needle.map { frequent.firstIndex(of: $0) ?? 20 }
    let pairs = needle.indices.dropLast()
    anchor = pairs.max { rarity[$0] + rarity[$0 + 1] < rarity[$1] + rarity[$1 + 1] } ?? 0
    let rarest = needle[anchor]
    anchors =
      needle.count < 2 ? nil : StopBytes(rarest, needle[anchor + 1], among: letters, needle: needle)
    kinds = (0..<256).map { byte in
      if byte < 0x80 { return letters[byte] == rarest ? Kind.anchor : Kind.skipped }
      return FoldedSearch.mayBecomeASCII(lead: UInt8(byte), next: 0xBF) ? Kind.foldable : Kind.skipped
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

  /// Whether any scalar whose UTF-8 begins with these bytes folds to something with ASCII in it: the blocks of
  /// Latin, some Greek punctuation, signs, ligatures. Georgian and what follows it don't.
  static func mayBecomeASCII(lead: UInt8, next: UInt8) -> Bool {
    (0xC2...0xC9).contains(lead) || [0xCD, 0xE2, 0xEF].contains(lead) || lead == 0xE1 && next >= 0xB4
  }

  /// Whether the folded text has the needle; nil where only folding it tells.
  func answer(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    guard let start = bytes.baseAddress else { return false }
    var end = UInt64(bytes.count)
    var answer = Answer.no
    search(start, ends: &end, count: 1, &answer)
    return answer == Answer.unknown ? nil : answer == Answer.yes
  }

  /// What `search` says of a text.
  enum Answer {
    static let no: UInt8 = 0
    static let yes: UInt8 = 1
    /// Only folding the text tells.
    static let unknown: UInt8 = 2
  }

  /// Searches `count` texts that lie end to end in `bytes`, each up to its place in `ends`, and sets an `Answer` for
  /// each. All are looked at as if they were one, and as several only where something is found: most texts are short.
  func search(
    _ bytes: UnsafePointer<UInt8>, ends: UnsafePointer<UInt64>, count: Int,
    _ answers: UnsafeMutablePointer<UInt8>
  ) {
    answers.update(repeating: Answer.no, count: count)
    guard count > 0 else { return }
    let total = Int(truncatingIfNeeded: ends[count &- 1])
    kinds.withUnsafeBufferPointer { kinds in
      letters.withUnsafeBufferPointer { letters in
        let (kinds, letters) = (kinds.baseAddress!, letters.baseAddress!)
        var place = 0
        var text = 0
        while true {
          if let anchors { place = anchors.first(bytes, from: place, total) }
          if place >= total { return }
          while Int(truncatingIfNeeded: ends[text]) <= place { text &+= 1 }
          let start = text == 0 ? 0 : Int(truncatingIfNeeded: ends[text &- 1])
          let end = Int(truncatingIfNeeded: ends[text])
          switch look(bytes + start, place &- start, end &- start, kinds, letters) {
          case .end(let next): place = start &+ next
          case .found:
            answers[text] = Answer.yes
            place = end
          case .unknown:
            answers[text] = Answer.unknown
            place = end
          }
        }
      }
    }
  }

  private enum Outcome {
    case found
    case unknown
    /// Where to go on.
    case end(Int)
  }

  /// Looks at `place` of a text: it may be an anchor, a letter with a mark behind it, what may fold to letters, or
  /// nothing of these.
  @inline(__always)
  private func look(
    _ start: UnsafePointer<UInt8>, _ place: Int, _ count: Int, _ kinds: UnsafePointer<UInt8>,
    _ letters: UnsafePointer<UInt8>
  ) -> Outcome {
    var place = place
    let byte = start[place]
    if byte < 0x80 {
      if kinds[Int(byte)] == Kind.anchor, isFound(start, count, place &- anchor, letters) { return .found }
      place &+= 1
      // What follows a letter may be a mark.
      if letters[Int(byte)] == 0 || place == count || start[place] < 0x80 { return .end(place) }
    } else if kinds[Int(byte)] != Kind.foldable {
      return .end(place &+ 1)
    }
    return isInNoMatch(start, place, count, letters)
      ? .end(place &+ 2) : stretch(UnsafeBufferPointer(start: start, count: count), place)
  }

  @inline(__always)
  private func isFound(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, _ start: Int, _ letters: UnsafePointer<UInt8>
  ) -> Bool {
    guard start >= 0, start &+ needle.count <= count else { return false }
    for place in 0..<needle.count where letters[Int(bytes[start &+ place])] != needle[place] { return false }
    return true
  }

  /// Whether the scalar at `place` is one of two bytes that can't be in a match: what it folds to isn't in the needle,
  /// or what stands beside it isn't where the needle goes on. False says nothing.
  @inline(__always)
  private func isInNoMatch(
    _ start: UnsafePointer<UInt8>, _ place: Int, _ count: Int, _ letters: UnsafePointer<UInt8>
  ) -> Bool {
    let lead = start[place]
    guard lead >= 0xC2, lead < 0xE0, place &+ 1 < count, start[place &+ 1] & 0xC0 == 0x80 else {
      return false
    }
    let folded = table[UInt32(lead & 0x1F) << 6 | UInt32(start[place &+ 1] & 0x3F)]
    if folded == FoldingTable.barrier { return true }
    guard folded >> 24 == 1 else { return false }
    let letter = UInt8(truncatingIfNeeded: folded)
    if letters[Int(letter)] != letter { return true }
    func isOutside(_ byte: UInt8) -> Bool { byte < 0x80 && letters[Int(byte)] == 0 }
    if letter != first, place == 0 || isOutside(start[place &- 1]) { return true }
    return letter != last && (place &+ 2 >= count || isOutside(start[place &+ 2]))
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

/// Looks at sixteen bytes at once for what `FoldedSearch` stops at.
private struct StopBytes {
  private typealias Bytes = SIMD16<UInt8>

  /// The two bytes of the anchor, and the bit that tells upper from lower case where either is one.
  private let first: Bytes
  private let second: Bytes
  private let firstCase: Bytes
  private let secondCase: Bytes
  /// A byte of a needle of letters is among 26 when that bit is set; one of another among all of ASCII.
  private let letterCase: Bytes
  private let leastLetter: Bytes
  private let letterSpan: Bytes

  /// `letters` says by byte which one of the needle's it stands for, 0 for none.
  init(_ first: UInt8, _ second: UInt8, among letters: [UInt8], needle: [UInt8]) {
    func caseBit(_ byte: UInt8) -> UInt8 {
      (0x61...0x7A).contains(byte) && letters[Int(byte - 0x20)] == byte ? 0x20 : 0
    }
    self.first = Bytes(repeating: first)
    self.second = Bytes(repeating: second)
    firstCase = Bytes(repeating: caseBit(first))
    secondCase = Bytes(repeating: caseBit(second))
    let hasOnlyLetters = needle.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    letterCase = Bytes(repeating: hasOnlyLetters ? 0x20 : 0)
    leastLetter = Bytes(repeating: hasOnlyLetters ? 0x61 : 0)
    letterSpan = Bytes(repeating: hasOnlyLetters ? 25 : 0x7F)
  }

  /// The first place from `place` on where there may be an anchor, a letter before something that isn't ASCII, or a
  /// scalar that may fold to ASCII (`FoldedSearch.mayBecomeASCII`); `count` where there is none. Less than 17 bytes
  /// aren't looked at: that is `place` itself.
  @inline(__always)
  func first(_ start: UnsafePointer<UInt8>, from place: Int, _ count: Int) -> Int {
    if count < 17 { return place }
    var place = place
    while place &+ 17 <= count {
      let found = stops(start + place)
      if found[0] | found[1] != 0 { return place &+ StopBytes.firstSet(found) }
      place &+= 16
    }
    // The last sixteen, some of which were looked at already. The very last byte has none behind it to be a stop with.
    let last = count &- 17
    let seen = UInt64(place &- last) &* 8
    var found = stops(start + last)
    found[0] &= UInt64.max << seen
    found[1] &= seen < 64 ? .max : UInt64.max << (seen &- 64)
    return found[0] | found[1] == 0 ? count : last &+ StopBytes.firstSet(found)
  }

  @inline(__always)
  private static func firstSet(_ found: SIMD2<UInt64>) -> Int {
    found[0] != 0 ? found[0].trailingZeroBitCount / 8 : 8 &+ found[1].trailingZeroBitCount / 8
  }

  /// All bits of each byte for which the mask is set. Masks that are put together as masks are made anew of their
  /// signs, which costs as much as three comparisons.
  @inline(__always)
  private func ones(_ mask: SIMDMask<SIMD16<Int8>>) -> Bytes { unsafeBitCast(mask, to: Bytes.self) }

  /// Of each of the sixteen bytes, some bits or none. Reads one byte more.
  @inline(__always)
  private func stops(_ start: UnsafePointer<UInt8>) -> SIMD2<UInt64> {
    let start = UnsafeRawPointer(start)
    let bytes = start.loadUnaligned(as: Bytes.self)
    let next = start.loadUnaligned(fromByteOffset: 1, as: Bytes.self)
    let anchors = ones((bytes | firstCase) .== first) & ones((next | secondCase) .== second)
    let letters = ones(((bytes | letterCase) &- leastLetter) .<= letterSpan)
    // Vectors throughout: with a number beside a vector, the compiler makes a loop over the bytes.
    let marked = letters & next
    let latin = ones((bytes &- Bytes(repeating: 0xC2)) .<= Bytes(repeating: 7))
    let greek = ones(bytes .== Bytes(repeating: 0xCD))
    let signs = ones(bytes .== Bytes(repeating: 0xE2)) | ones(bytes .== Bytes(repeating: 0xEF))
    let extended = ones(bytes .== Bytes(repeating: 0xE1)) & ones(next .>= Bytes(repeating: 0xB4))
    let found = anchors | latin | greek | signs | extended
    // Of `marked` the highest bit alone says something.
    let stops = unsafeBitCast(found | (marked & Bytes(repeating: 0x80)), to: SIMD2<UInt64>.self)
    return SIMD2(stops[0].littleEndian, stops[1].littleEndian)
  }
}
