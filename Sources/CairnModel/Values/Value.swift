// One value of one slot, boxed: the form for constants, errors, tests and everything that isn't a hot loop.
// Columns hold the same values unboxed (Columns/Column.swift).

public import Foundation

/// A value of any attribute type, or the key of a row.
///
/// `Value` has one order and one equality (`Value+Order.swift`), which predicates, sorts, indexes, uniqueness
/// constraints and files share. `==` is that equality: `.int(1) == .double(1.0) == .bool(true)`.
public enum Value: Sendable {
  case null
  case int(Int64)
  case double(Double)
  case float(Float)
  case decimal(Decimal)
  case bool(Bool)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  /// A URL's absolute string.
  case uri(String)
  case key(Int64)
  /// The elements of a composite attribute by name; elements that are null may be absent.
  case composite([String: Value])

  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The family that decides what this value can be compared with; nil for null and composites.
  public var family: ValueType.Family? {
    switch self {
    case .null, .composite: nil
    case .int, .double, .float, .decimal, .bool: .number
    case .string: .string
    case .date: .date
    case .data: .bytes
    case .uuid: .uuid
    case .uri: .uri
    case .key: .key
    }
  }

  /// Whether a slot of `type` can hold this value without losing anything of it. Null fits every type.
  public func fits(_ type: ValueType) -> Bool {
    switch (self, type) {
    case (.null, _): true
    case (.int(let x), .int16), (.int(let x), .int32), (.int(let x), .int64), (.int(let x), .bool):
      type.integerRange.unsafelyUnwrapped.contains(x)
    case (.bool, .bool), (.bool, .int16), (.bool, .int32), (.bool, .int64): true
    case (.double, .double), (.float, .float), (.float, .double), (.decimal, .decimal): true
    case (.int(let x), .double): Int64(exactly: Double(x)) == x
    case (.int(let x), .float): Int64(exactly: Float(x)) == x
    case (.double(let x), .float): x.isNaN || Double(Float(x)) == x
    case (.int, .decimal), (.string, .string), (.date, .date), (.uuid, .uuid), (.uri, .uri): true
    case (.data, .data), (.data, .transformable): true
    case (.key(let x), .key): x > 0
    default: false
    }
  }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
}

extension Value: CustomStringConvertible {
  /// The value as an error message shows it: strings quoted, bytes by their count.
  public var description: String {
    switch self {
    case .null: "nil"
    case .int(let x): String(x)
    case .double(let x): String(x)
    case .float(let x): String(x)
    case .decimal(let x): x.description
    case .bool(let x): x ? "true" : "false"
    case .string(let x): "\"\(x)\""
    case .date(let x): "date \(x.timeIntervalSinceReferenceDate)"
    case .data(let x): "\(x.count) bytes"
    case .uuid(let x): x.uuidString
    case .uri(let x): "<\(x)>"
    case .key(let x): "key \(x)"
    case .composite(let x):
      "{" + x.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }
}
