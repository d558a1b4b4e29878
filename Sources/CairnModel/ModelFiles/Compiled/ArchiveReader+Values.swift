// Archived values: defaults of attributes, and constants of predicates.

import Foundation

extension ArchiveReader {
  /// The value in a field; null where there is none, nil for an object that is no value.
  func value(_ object: ArchivedObject, _ name: String) throws -> Value? {
    if let number = try? object.reference(name) { return try value(number) }
    return try charged(ArchiveReader.plain(object.field(name)), object.number)
  }

  /// The value of an archived object; nil for one of a class that is no value.
  func value(_ number: Int) throws -> Value? {
    if let plain = try charged(ArchiveReader.plain(archive.value(number)), number) { return plain }
    guard let object = archive.object(number) else { return nil }
    switch object.className {
    case "NSNull": return .null
    case "NSString", "NSMutableString": return .string(try object.string("NS.string") ?? "")
    case "NSDate":
      switch object.field("NS.time") {
      case .real(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
      case .number(let seconds): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
      default: throw object.wrong("NS.time", "a number")
      }
    case "NSData", "NSMutableData":
      guard case .data(let data) = object.field("NS.data") else { throw object.wrong("NS.data", "data") }
      return try charged(.data(data), number)
    case "NSUUID":
      guard case .data(let data) = object.field("NS.uuidbytes"), data.count == 16 else {
        throw object.wrong("NS.uuidbytes", "16 bytes")
      }
      return .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case "NSURL":
      let relative = try object.string("NS.relative") ?? ""
      guard let base = try object.object("NS.base"), base.className == "NSURL" else { return .uri(relative) }
      let url = URL(string: try base.string("NS.relative") ?? "").flatMap {
        URL(string: relative, relativeTo: $0)
      }
      return .uri(url?.absoluteString ?? relative)
    case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return .decimal(try decimal(object))
    default: return nil
    }
  }

  /// The value, which a predicate's text may repeat.
  private func charged(_ value: Value?, _ number: Int) throws -> Value? {
    switch value {
    case .string(let text): try archive.cost.charge(text, object: number)
    case .data(let data): try archive.cost.charge(1 + data.count / 16, object: number)
    default: try archive.cost.charge(1, object: number)
    }
    return value
  }

  private static func plain(_ field: KeyedArchive.Field) -> Value? {
    switch field {
    case .null: .null
    case .bool(let x): .bool(x)
    case .number(let x): .int(x)
    case .real(let x): .double(x)
    case .string(let x): .string(x)
    case .data(let x): .data(x)
    case .reference, .list, .other: nil
    }
  }

  /// ± mantissa × 10^exponent; the mantissa in eight words of sixteen bits, the low word first, each with its
  /// low byte first where `NS.mantissa.bo` is 1. No words in use, and a minus, is what isn't a number.
  private func decimal(_ object: ArchivedObject) throws -> Decimal {
    guard case .data(let mantissa) = object.field("NS.mantissa"), mantissa.count <= 16 else {
      throw object.wrong("NS.mantissa", "at most 16 bytes")
    }
    let exponent = try object.integer("NS.exponent")
    let wordCount = try object.integer("NS.length")
    let isNegative = try object.flag("NS.negative")
    guard (-128...127).contains(exponent), (0...8).contains(wordCount) else {
      throw object.wrong("NS.exponent", "a small number")
    }
    if wordCount == 0 { return isNegative ? .nan : 0 }
    var bytes = Array(mantissa)
    if try object.integer("NS.mantissa.bo") != 1 {
      for i in stride(from: 0, to: bytes.count - 1, by: 2) { bytes.swapAt(i, i + 1) }
    }
    let number = bytes.prefix(2 * wordCount).reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    let text = (isNegative ? "-" : "") + "\(number)e\(exponent)"
    guard let result = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
      throw object.wrong("NS.mantissa", "a decimal number")
    }
    return result
  }
}
