// How many columns of a terminal text takes: East Asian characters and emoji take two, combining marks none.

import Cairn

enum DisplayWidth {
  static func of(_ text: String) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// One grapheme cluster, which a terminal draws in one place.
  static func of(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    // A flag is two letters; a sequence of emoji begins with one; a digit with the emoji selector is drawn as one.
    if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .format, .surrogate: return 0
    default: return isWide(first) ? 2 : 1
    }
  }

  /// The text, or as much of it as leaves room for an ellipsis.
  static func cut(_ text: String, to width: Int) -> String {
    if of(text) <= width { return text }
    var (result, used) = ("", 0)
    for character in text {
      let next = of(character)
      if used + next > width - 1 { break }
      result.append(character)
      used += next
    }
    return width > 0 ? result + "…" : ""
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isEmojiPresentation { return true }
    let value = scalar.value
    if value < 0x1100 { return false }
    return wide.contains { $0.contains(value) }
  }

  /// What Unicode's EastAsianWidth.txt calls Wide or Fullwidth, emoji aside; unassigned code points of the
  /// ideographic planes count, too.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
    0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FF6, 0x17000...0x18CFF, 0x18D00...0x18DF2,
    0x1AFF0...0x1B2FB,
    0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD,
  ]
}
