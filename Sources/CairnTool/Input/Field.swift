// One value of the input as text: where its bytes stand, and how it was written.

import Cairn

struct Field {
  enum Form: UInt8 {
    /// Of CSV: anything. Without bytes it is no value.
    case plain
    /// Of CSV, in quotes: a text, which may be empty.
    case quoted
    /// The same, with quotes in it that are written twice.
    case escaped
    /// Of JSON.
    case null, number, truth, string
    /// Of JSON: an object or an array.
    case structure
    /// Of JSON: a member that the object doesn't have.
    case absent
  }

  let start: Int
  let end: Int
  let form: Form

  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// What it says, as the input has it.
  func text(_ bytes: Bytes) -> String {
    guard form == .escaped else { return String(decoding: bytes[start..<end], as: UTF8.self) }
    // By bytes: a quote and an accent behind it are one character.
    var text: [UInt8] = []
    text.reserveCapacity(end - start)
    var position = start
    while position < end {
      text.append(bytes[position])
      position += bytes[position] == UInt8(ascii: "\"") ? 2 : 1
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether it stands for no value. `mark` is a word that does, too, besides an empty field.
  func isNull(_ bytes: Bytes, mark: [UInt8]) -> Bool {
    switch form {
    case .null, .absent: return true
    case .plain: break
    default: return false
    }
    if start == end { return true }
    guard !mark.isEmpty, end - start == mark.count else { return false }
    return bytes[start..<end].elementsEqual(mark)
  }
}
