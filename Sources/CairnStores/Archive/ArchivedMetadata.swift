// A store's metadata as it stands in an archive: JSON.

import CairnModel
import Foundation

/// The names of the fields are the format's (Formats/archive.md).
struct ArchivedMetadata: Codable {
  struct Entry: Codable {
    var type: String
    /// Numbers as decimal text; doubles and dates as the 16 hexadecimal digits of their bits, floats as 8; data as
    /// base 64.
    var value: String
  }

  var uuid: String
  var entries: [String: Entry]
  /// By entity, base 64.
  var versionHashes: [String: String]
  var versionIdentifiers: [String]

  init(_ metadata: StoreMetadata) {
    uuid = metadata.uuid.uuidString
    entries = metadata.userEntries.compactMapValues(Entry.init)
    versionHashes = metadata.versionHashes.mapValues { $0.base64EncodedString() }
    versionIdentifiers = metadata.versionIdentifiers
  }

  var json: [UInt8] {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return Array(try encoder.encode(self))
    }
  }

  /// Throws `RecordError` for text that isn't metadata.
  static func read(json: [UInt8], type: String) throws -> StoreMetadata {
    let read: ArchivedMetadata
    do {
      read = try JSONDecoder().decode(ArchivedMetadata.self, from: Data(json))
    } catch {
      throw RecordError(message: "the metadata can't be read: \(error)", offset: 0)
    }
    guard let uuid = UUID(uuidString: read.uuid) else {
      throw RecordError(message: "\"\(read.uuid)\" is no UUID", offset: 0)
    }
    return StoreMetadata(
      uuid: uuid, type: type, userEntries: try read.entries.mapValues { try $0.decoded() },
      versionHashes: try read.versionHashes.mapValues {
        guard let data = Data(base64Encoded: $0) else {
          throw RecordError(message: "a version hash is no base 64", offset: 0)
        }
        return data
      }, versionIdentifiers: read.versionIdentifiers)
  }
}

extension ArchivedMetadata.Entry {
  /// nil for what metadata can't hold.
  fileprivate init?(_ value: Value) {
    switch value {
    case .int(let x): self.init(type: "int64", value: "\(x)")
    case .bool(let x): self.init(type: "bool", value: x ? "1" : "0")
    case .double(let x): self.init(type: "double", value: Self.digits(x.bitPattern))
    case .float(let x): self.init(type: "float", value: Self.digits(x.bitPattern))
    case .date(let x):
      self.init(type: "date", value: Self.digits(x.timeIntervalSinceReferenceDate.bitPattern))
    case .decimal(let x): self.init(type: "decimal", value: "\(x)")
    case .string(let x): self.init(type: "string", value: x)
    case .uri(let x): self.init(type: "uri", value: x)
    case .uuid(let x): self.init(type: "uuid", value: x.uuidString)
    case .data(let x): self.init(type: "data", value: x.base64EncodedString())
    case .null, .key, .composite: return nil
    }
  }

  /// All hexadecimal digits of a number.
  static func digits<T: FixedWidthInteger & UnsignedInteger>(_ bits: T) -> String {
    let digits = String(bits, radix: 16)
    return String(repeating: "0", count: T.bitWidth / 4 - digits.count) + digits
  }

  private static func bits<T: FixedWidthInteger & UnsignedInteger>(_ digits: String) -> T? {
    digits.utf8.count == T.bitWidth / 4 && digits.utf8.first != UInt8(ascii: "+") ? T(digits, radix: 16) : nil
  }

  /// `-12.34`, or NaN: what Foundation writes, and nothing else that it reads.
  private static func decimal(_ text: String) -> Decimal? {
    if text == "NaN" { return .nan }
    guard text.utf8.allSatisfy({ (48...57).contains($0) || $0 == 45 || $0 == 46 }) else { return nil }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }

  fileprivate func decoded() throws -> Value {
    let result: Value? =
      switch type {
      case "int64": Int64(value).map { .int($0) }
      case "bool": ["0": .bool(false), "1": .bool(true)][value]
      case "double": Self.bits(value).map { .double(Double(bitPattern: $0)) }
      case "float": Self.bits(value).map { .float(Float(bitPattern: $0)) }
      case "date":
        Self.bits(value).map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
      case "decimal": Self.decimal(value).map { .decimal($0) }
      case "string": .string(value)
      case "uri": .uri(value)
      case "uuid": UUID(uuidString: value).map { .uuid($0) }
      case "data": Data(base64Encoded: value).map { .data($0) }
      default: nil
      }
    guard let result else {
      throw RecordError(message: "an entry of the metadata is no \(type): \"\(value)\"", offset: 0)
    }
    return result
  }
}
