// Fields of the input as values of an attribute's type.

import Cairn

/// Reads the fields of one column. A field that isn't of the type is nil; the caller knows where it stands.
struct FieldReader {
  let type: ValueType
  /// A word that stands for no value, such as NA.
  let nullMark: [UInt8]

  init(_ type: ValueType, nullMark: [UInt8]) {
    (self.type, self.nullMark) = (type, nullMark)
  }

  /// Puts the field at the end of the column; false, and nothing is added, if it isn't of the type.
  func append(_ field: Field, _ bytes: Field.Bytes, to column: ColumnBuilder) -> Bool {
    switch type {
    case .int16, .int32, .int64:
      guard let number = FieldReader.integer(field, bytes), type.integerRange?.contains(number) ?? false
      else {
        return false
      }
      column.append(number)
    case .double:
      guard let number = FieldReader.anyDouble(field, bytes) else { return false }
      column.append(number)
    case .date:
      guard let date = FieldReader.date(field, bytes) else { return false }
      column.append(date)
    case .string:
      guard FieldReader.isText(field) else { return false }
      column.append(field.text(bytes))
    default:
      guard let value = value(field, bytes) else { return false }
      // It fits: it was made for the type.
      return (try? column.append(value: value)) != nil
    }
    return true
  }

  /// The same as a value.
  func value(_ field: Field, _ bytes: Field.Bytes) -> Value? {
    switch type {
    case .int16, .int32, .int64:
      return FieldReader.integer(field, bytes).flatMap { number in
        type.integerRange?.contains(number) ?? false ? .int(number) : nil
      }
    case .double: return FieldReader.anyDouble(field, bytes).map { .double($0) }
    case .float: return FieldReader.anyFloat(field, bytes).map { .float($0) }
    case .date: return FieldReader.date(field, bytes).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .bool: return FieldReader.truth(field, bytes).map { .bool($0) }
    case .decimal:
      guard FieldReader.double(field, bytes) != nil else {
        return FieldReader.special(field, bytes, NumberText.special).flatMap {
          $0.isNaN ? .decimal(.nan) : nil
        }
      }
      return Decimal(string: field.text(bytes)).map { .decimal($0) }
    default:
      guard FieldReader.isText(field) else { return nil }
      let text = field.text(bytes)
      switch type {
      case .string: return .string(text)
      case .uuid: return UUID(uuidString: text).map { .uuid($0) }
      case .uri: return URL(string: text).map { .uri($0.absoluteString) }
      case .data, .transformable: return Data(base64Encoded: text).map { .data($0) }
      default: return nil
      }
    }
  }

  /// What a message says that the field should have been.
  var expectation: String {
    switch type {
    case .int16, .int32, .int64:
      let range = type.integerRange ?? 0...0
      return "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .decimal: return "a number, or nan"
    case .double, .float: return "a number, or nan, inf or -inf"
    case .bool: return "a truth value (true, false, yes, no, 1, 0)"
    case .date: return "a date as in ISO 8601 (2013-01-31, 2013-01-31T10:00:00Z)"
    case .data, .transformable: return "data in base64"
    case .uuid: return "a UUID"
    case .uri: return "a URL"
    case .string: return "a text"
    case .key: return "nothing that a text can say"
    }
  }

  // MARK: Types

  private static func isText(_ field: Field) -> Bool {
    switch field.form {
    case .plain, .quoted, .escaped, .string: true
    default: false
    }
  }

  static func integer(_ field: Field, _ bytes: Field.Bytes) -> Int64? {
    guard field.form == .plain || field.form == .quoted || field.form == .number else { return nil }
    var position = field.start
    guard position < field.end else { return nil }
    let isNegative = bytes[position] == UInt8(ascii: "-")
    if isNegative || bytes[position] == UInt8(ascii: "+") { position += 1 }
    guard position < field.end else { return nil }
    var number: Int64 = 0
    while position < field.end {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return nil }
      let (product, isTooGreat) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = product.subtractingReportingOverflow(Int64(digit))
      if isTooGreat || overflows { return nil }
      number = sum
      position += 1
    }
    if isNegative { return number }
    return number == .min ? nil : -number
  }

  private static let powers: [Double] = (0...22).map { power in
    (0..<power).reduce(1) { product, _ in product * 10 }
  }

  /// Digits, a point and an exponent, which have to be there in JSON's order; no infinity, and no hexadecimal.
  static func double(_ field: Field, _ bytes: Field.Bytes) -> Double? {
    guard field.form == .plain || field.form == .quoted || field.form == .number else { return nil }
    var position = field.start
    var (mantissa, digits, decimals): (UInt64, Int, Int) = (0, 0, 0)
    var hasPoint = false
    let isNegative = position < field.end && bytes[position] == UInt8(ascii: "-")
    if isNegative || position < field.end && bytes[position] == UInt8(ascii: "+") { position += 1 }
    while position < field.end {
      let byte = bytes[position]
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
      } else if byte &- 0x30 < 10 {
        if digits < 18 { mantissa = mantissa * 10 + UInt64(byte &- 0x30) }
        digits += 1
        if hasPoint { decimals += 1 }
      } else {
        break
      }
      position += 1
    }
    guard digits > 0 else { return nil }
    if position == field.end, digits <= 18, mantissa <= 1 << 53, decimals <= 22 {
      // Both are exact, so the quotient is the nearest double.
      let size = Double(mantissa) / powers[decimals]
      return isNegative ? -size : size
    }
    if position < field.end {
      guard bytes[position] | 0x20 == UInt8(ascii: "e") else { return nil }
      position += 1
      if position < field.end, bytes[position] == UInt8(ascii: "-") || bytes[position] == UInt8(ascii: "+") {
        position += 1
      }
      guard position < field.end, bytes[position..<field.end].allSatisfy({ $0 &- 0x30 < 10 }) else {
        return nil
      }
    }
    guard let number = Double(field.text(bytes)), number.isFinite else { return nil }
    return number
  }

  /// Also what no literal says.
  private static func anyDouble(_ field: Field, _ bytes: Field.Bytes) -> Double? {
    double(field, bytes) ?? special(field, bytes, NumberText.special)
  }

  /// Read as it is written, not by way of a double, which would round it twice.
  private static func anyFloat(_ field: Field, _ bytes: Field.Bytes) -> Float? {
    guard double(field, bytes) != nil else { return special(field, bytes, NumberText.specialFloat) }
    return Float(field.text(bytes)).flatMap { $0.isFinite ? $0 : nil }
  }

  private static func special<T>(_ field: Field, _ bytes: Field.Bytes, _ read: (String) -> T?) -> T? {
    guard isText(field), field.form != .escaped else { return nil }
    return read(field.text(bytes))
  }

  static func truth(_ field: Field, _ bytes: Field.Bytes) -> Bool? {
    switch field.form {
    case .truth: return bytes[field.start] == UInt8(ascii: "t")
    case .plain, .quoted: break
    default: return nil
    }
    switch field.text(bytes).lowercased() {
    case "true", "yes", "1": return true
    case "false", "no", "0": return false
    default: return nil
    }
  }

  /// Seconds since 2001.
  static func date(_ field: Field, _ bytes: Field.Bytes) -> Double? {
    guard isText(field), field.form != .escaped else { return nil }
    return DateText.seconds(bytes, field.start, field.end)
  }
}
