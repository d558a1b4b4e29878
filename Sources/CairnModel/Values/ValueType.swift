// The kinds of value that a slot holds. A new attribute type starts here: the compiler then leads through
// every `switch` that has to know of it (Value, Column, ColumnBuilder, Formats/common.md).

/// What a slot of a row holds: one case for every attribute type of Core Data, plus the key of a row.
///
/// Composite attributes have no case: `Schema` flattens them into one slot an element
/// (`location.latitude`), as Core Data's own SQLite store does.
public enum ValueType: UInt8, Hashable, Sendable, CaseIterable {
  case int16, int32, int64
  case decimal, double, float
  case string, bool, date, data, uuid
  /// A URL, kept as its absolute string.
  case uri
  /// The bytes that a value transformer or an archiver made.
  case transformable
  /// The id of another row: a to-one relationship.
  case key

  /// The values that may be ordered against each other. Ordering across families is an error in a
  /// predicate, and equality across families is false.
  public enum Family: Sendable { case number, string, date, bytes, uuid, uri, key }

  public var family: Family {
    switch self {
    case .int16, .int32, .int64, .decimal, .double, .float, .bool: .number
    case .string: .string
    case .date: .date
    case .data, .transformable: .bytes
    case .uuid: .uuid
    case .uri: .uri
    case .key: .key
    }
  }

  /// The range of an integer type; nil for the others. A `key` is a positive Int64.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .int16: Int64(Int16.min)...Int64(Int16.max)
    case .int32: Int64(Int32.min)...Int64(Int32.max)
    case .int64: Int64.min...Int64.max
    case .bool: 0...1
    case .key: 1...Int64.max
    default: nil
    }
  }
}
