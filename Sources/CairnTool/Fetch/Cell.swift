// One value of a result, and how it is written: for people, as JSON, as CSV.

import Cairn

enum Cell {
  case none
  case integer(Int64)
  case double(Double)
  case float(Float)
  case decimal(Decimal)
  case truth(Bool)
  /// Also what is written as text: URLs, UUIDs.
  case text(String)
  case date(Date)
  case data(Data)
  /// Of the destinations of a relationship: in JSON alone.
  case list([Cell])

  /// As key-value access gives values.
  init(_ any: Any?) {
    // The two that nearly all values are, by their types: casts go through bridging, which costs microseconds.
    if let any {
      let type = ObjectIdentifier(type(of: any))
      if type == ObjectIdentifier(String.self), let text = any as? String {
        self = .text(text)
        return
      }
      if type == ObjectIdentifier(NSNumber.self), let number = any as? NSNumber {
        self = Cell.number(number)
        return
      }
    }
    switch any {
    case nil, is NSNull: self = .none
    case let text as String: self = .text(text)
    case let date as Date: self = .date(date)
    case let data as Data: self = .data(data)
    case let uuid as UUID: self = .text(uuid.uuidString)
    case let url as URL: self = .text(url.absoluteString)
    case let decimal as NSDecimalNumber: self = .decimal(decimal.decimalValue)
    case let number as NSNumber: self = Cell.number(number)
    case let other?: self = .text("\(other)")
    }
  }

  private static func number(_ number: NSNumber) -> Cell {
    switch Unicode.Scalar(UInt8(bitPattern: number.objCType.pointee)) {
    case "c", "B": .truth(number.boolValue)
    case "f": .float(number.floatValue)
    case "d": .double(number.doubleValue)
    default: .integer(number.int64Value)
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .double, .float, .decimal: true
    default: false
    }
  }

  /// The exact value. nil for none.
  private var plain: String? {
    switch self {
    case .none: nil
    case .integer(let number): String(number)
    case .double(let number): NumberText.text(number)
    case .float(let number): NumberText.text(number)
    case .decimal(let number): number.isNaN ? NumberText.text(Double.nan) : number.description
    case .truth(let truth): truth ? "true" : "false"
    case .text(let text): text
    case .date(let date): DateText.text(date)
    case .data(let data): data.base64EncodedString()
    case .list(let cells): cells.compactMap(\.plain).joined(separator: ", ")
    }
  }

  // MARK: Forms

  /// On one line, with control characters as escapes. `isRounded` leaves six digits of a figure.
  func forPeople(isRounded: Bool) -> String {
    switch self {
    case .none: return "–"
    case .double(let number) where isRounded && number.isFinite && number.description.count > 9:
      return String(format: "%.6g", number)
    case .date(let date): return DateText.rounded(date)
    case .data(let data): return "\(data.count) bytes"
    default: return (plain ?? "").unicodeScalars.map(Cell.visible).joined()
    }
  }

  private static func visible(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    default:
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: break
      // Those that reorder what stands around them.
      case .format where (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value):
        break
      default: return String(Character(scalar))
      }
      return "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
  }

  /// JSON has no infinities, and nothing that isn't a number: those are strings.
  var json: String {
    switch self {
    case .none: return "null"
    case .list(let cells): return "[" + cells.map(\.json).joined(separator: ", ") + "]"
    case .integer, .truth: break
    case .decimal(let number) where !number.isNaN: break
    case .double(let number) where number.isFinite: break
    case .float(let number) where number.isFinite: break
    default: return Cell.quoted(plain ?? "")
    }
    return plain ?? "null"
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Nothing for no value, and two quotes for an empty text.
  var csv: String { plain.map(Cell.field) ?? "" }

  static func field(_ text: String) -> String {
    let needsQuotes = text.isEmpty || text.utf8.contains { [0x00, 0x22, 0x2C, 0x0A, 0x0D].contains($0) }
    guard needsQuotes else { return text }
    // By scalars: a quote and an accent behind it are one character.
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { result += "\"" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}
