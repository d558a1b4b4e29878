// What a custom store's reference object is in the URI of its object, and as a key of a dictionary.

import Foundation

/// A reference object, such that two of the same value are equal, however Swift or Foundation keeps it.
///
/// In a URI it has a letter for its kind, so that it is read back as what it was: `ps` and a string, `pn` and a
/// number, `pu` and a UUID. Anything else is `po` and its description, which only the table that has seen it knows.
enum ReferenceName: Hashable {
  case string(String)
  /// In its one spelling.
  case number(String)
  case uuid(UUID)
  case other(AnyHashable)

  /// Anything that can't be hashed is a programmer error.
  init(_ reference: Any) {
    switch reference {
    case let text as String: self = .string(text)
    case let uuid as UUID: self = .uuid(uuid)
    case let number as NSNumber: self = .number(ReferenceName.spelling(number))
    case let other as AnyHashable: self = .other(other)
    default:
      fatalError(
        "the reference object \(reference) is a \(type(of: reference)), which can't be hashed: use a string, a "
          + "number or a UUID")
    }
  }

  /// The last part of the object's URI.
  var uriName: String {
    switch self {
    case .string(let text): "ps" + text
    case .number(let text): "pn" + text
    case .uuid(let uuid): "pu" + uuid.uuidString
    case .other(let other): "po\(other.base)"
    }
  }

  /// The same, of anything but a string, a number or a UUID: what its own code prints.
  var otherText: String? { if case .other = self { uriName } else { nil } }

  /// The string, number or UUID that such a part says; nil for other texts.
  static func reference(ofURIName text: String) -> Any? {
    let rest = String(text.dropFirst(2))
    switch text.prefix(2) {
    case "ps": return rest
    case "pn": return number(rest)
    case "pu": return UUID(uuidString: rest)
    default: return nil
    }
  }

  /// Different numbers have different ones: whole numbers that fit 64 bits have no point, decimal numbers are
  /// written out, and others have as many digits as tell them from their neighbours.
  private static func spelling(_ number: NSNumber) -> String {
    let text = number.stringValue
    if number is NSDecimalNumber || Int64(text) != nil || UInt64(text) != nil { return text }
    let double = number.doubleValue
    return Int64(exactly: double).map { "\($0)" } ?? "\(double)"
  }

  private static func number(_ text: String) -> NSNumber? {
    let readings: [NSNumber?] = [
      Int64(text).map { NSNumber(value: $0) }, UInt64(text).map { NSNumber(value: $0) },
      Double(text).map { NSNumber(value: $0) }, NSDecimalNumber(string: text),
    ]
    return readings.lazy.compactMap { $0 }.first { spelling($0) == text }
  }
}
