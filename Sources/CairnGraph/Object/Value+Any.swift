// Between the engine's values and the values that key-value access takes and gives.
//
// Numbers come out as NSNumber, because on Linux an `Any` that holds an Int64 can't be cast to Int, and one that
// holds an NSNumber can be cast to every number type. Everything else comes out as Swift's own type.

import CairnModel
import Foundation

extension Value {
  /// A value of `type` from what a caller gave for it; nil when it doesn't fit. nil and NSNull are null.
  init?(_ any: Any?, for type: ValueType) {
    guard let any, !(any is NSNull) else {
      self = .null
      return
    }
    guard let value = Value.make(any, type), value.fits(type) else { return nil }
    self = value
  }

  private static func make(_ any: Any, _ type: ValueType) -> Value? {
    switch type {
    case .int16, .int32, .int64: integer(any).map { .int($0) }
    case .bool:
      (any as? Bool).map { .bool($0) } ?? integer(any).flatMap { $0 == 0 || $0 == 1 ? .bool($0 == 1) : nil }
    case .double: double(any).map { .double($0) }
    case .float: (any as? Float ?? double(any).map { Float($0) }).map { .float($0) }
    case .decimal: decimal(any).map { .decimal($0) }
    case .string: (any as? String).map { .string($0) }
    case .date: (any as? Date).map { .date($0) }
    case .data: (any as? Data).map { .data($0) }
    case .uuid: (any as? UUID).map { .uuid($0) }
    case .uri: (any as? URL).map { .uri($0.absoluteString) }
    case .transformable, .key: nil
    }
  }

  private static func integer(_ any: Any) -> Int64? {
    if let number = any as? NSNumber {
      let whole = number.int64Value
      return number.doubleValue == Double(whole) ? whole : nil
    }
    if let integer = any as? any BinaryInteger { return Int64(exactly: integer) }
    if let flag = any as? Bool { return flag ? 1 : 0 }
    return double(any).flatMap { Int64(exactly: $0) }
  }

  private static func double(_ any: Any) -> Double? {
    if let double = any as? Double { return double }
    if let number = any as? NSNumber { return number.doubleValue }
    if let real = any as? any BinaryFloatingPoint { return Double(real) }
    return (any as? any BinaryInteger).map { Double($0) }
  }

  private static func decimal(_ any: Any) -> Decimal? {
    if let decimal = any as? Decimal { return decimal }
    if let number = any as? NSNumber { return number.decimalValue }
    return double(any).map { Decimal($0) }
  }

  /// The value as key-value access gives it; nil for null. Keys have no such form: they become objects.
  var keyValueForm: Any? {
    switch self {
    case .null, .key, .composite: nil
    case .int(let x): NSNumber(value: x)
    case .bool(let x): NSNumber(value: x)
    case .double(let x): NSNumber(value: x)
    case .float(let x): NSNumber(value: x)
    case .decimal(let x): NSDecimalNumber(decimal: x)
    case .string(let x): x
    case .date(let x): x
    case .data(let x): x
    case .uuid(let x): x
    case .uri(let x): URL(string: x)
    }
  }

  /// Whether storing the other value instead would change nothing, not even the sign of a zero.
  func isStoredLike(_ other: Value) -> Bool {
    switch (self, other) {
    case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
    case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern
    default: self == other
    }
  }
}

extension ValueType {
  /// The set of this type alone, as `ManagedAttribute.acceptedTypes` counts types.
  var bit: UInt32 { 1 << UInt32(rawValue) }
}
