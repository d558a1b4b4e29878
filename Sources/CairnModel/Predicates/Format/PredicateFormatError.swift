// Why a format string is none, with the place in it.

public import Foundation

/// A format string that can't be parsed, or arguments that don't fit it.
public struct PredicateFormatError: Error, Sendable, Hashable {
  public let format: String
  /// The character of `format` that the message is about, counted from 0; the count of its characters where
  /// something is missing at the end.
  public let offset: Int
  /// What is wrong, without the format string.
  public let message: String

  public init(format: String, offset: Int, message: String) {
    self.format = format
    self.offset = offset
    self.message = message
  }
}

extension PredicateFormatError: CustomStringConvertible, LocalizedError {
  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  /// The message with the format string, and below it the line that it is about with a caret under the place.
  /// Of long strings only what stands near the place is shown.
  public var description: String {
    let isShort = format.index(format.startIndex, offsetBy: 201, limitedBy: format.endIndex) == nil
    let shown = isShort ? format : String(format.prefix(200)) + "…"
    let (line, caret) = excerpt()
    return "Unable to parse the format string \"\(shown)\": \(message)\n\(line)\n\(caret)^"
  }

  /// The line around the place, cut to what fits a screen, and the blanks that lead to it.
  private func excerpt() -> (line: String, caret: String) {
    let place =
      format.index(format.startIndex, offsetBy: offset, limitedBy: format.endIndex) ?? format.endIndex
    let before = format[..<place].suffix(50)
    let after = format[place...].prefix(50)
    let lineBefore = before.lastIndex(where: \.isNewline).map { before[before.index(after: $0)...] } ?? before
    let lineAfter = after.firstIndex(where: \.isNewline).map { after[..<$0] } ?? after
    let isCutBefore = lineBefore.startIndex == before.startIndex && before.startIndex > format.startIndex
    let isCutAfter = lineAfter.endIndex == after.endIndex && after.endIndex < format.endIndex
    let line = (isCutBefore ? "…" : "") + lineBefore + lineAfter + (isCutAfter ? "…" : "")
    let blanks = lineBefore.map(PredicateFormatError.blank).joined()
    return (line, (isCutBefore ? " " : "") + blanks)
  }

  /// Blanks as wide as a character is on a terminal: combining marks are part of their character.
  private static func blank(for character: Character) -> String {
    if character == "\t" { return "\t" }
    guard let scalar = character.unicodeScalars.first else { return "" }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
      0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return "  "
    case 0x200B...0x200F, 0x300...0x36F, 0xFEFF: return ""
    default: return scalar.value < 0x20 || scalar.value == 0x7F ? "" : " "
    }
  }
}
