// The types that attributes can be read as.
//
// `acceptedTypes` are written as numbers, because they are tested inside every property read; a test holds them
// to the raw values of `ValueType`.

public import CairnModel
public import Foundation

/// Whole numbers: of integer attributes and Booleans. A value that is too large for the type is a programmer
/// error.
public protocol ManagedInteger: ManagedScalar, FixedWidthInteger {}

extension ManagedInteger {
  @inlinable public static var acceptedTypes: UInt32 { 0x87 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Self? {
    column.isNull(row) ? nil : Self(column.integer(row))
  }

  public static func read(_ value: Value) -> Self? {
    switch value {
    case .int(let x): Self(x)
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  @inlinable public static var valueForNil: Self? { 0 }

  public func managedValue(for type: ValueType) -> Value { .int(Int64(self)) }

  @inlinable
  public static func write(_ value: Self, _ drafts: DraftRow, _ slot: Int) -> Bool {
    drafts.set(slot, integer: Int64(value))
  }
}

extension Int: ManagedInteger {}
extension Int16: ManagedInteger {}
extension Int32: ManagedInteger {}
extension Int64: ManagedInteger {}

extension Bool: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x87 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Bool? {
    column.isNull(row) ? nil : column.integer(row) != 0
  }

  public static func read(_ value: Value) -> Bool? { Int64.read(value).map { $0 != 0 } }

  @inlinable public static var valueForNil: Bool? { false }

  public func managedValue(for type: ValueType) -> Value { .bool(self) }

  @inlinable
  public static func write(_ value: Bool, _ drafts: DraftRow, _ slot: Int) -> Bool {
    drafts.set(slot, integer: value ? 1 : 0)
  }
}

/// Of double and float attributes, and of dates: then it is their time interval since the reference date.
extension Double: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x130 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Double? {
    column.isNull(row) ? nil : column.double(row)
  }

  public static func read(_ value: Value) -> Double? {
    switch value {
    case .double(let x): x
    case .float(let x): Double(x)
    case .date(let x): x.timeIntervalSinceReferenceDate
    default: nil
    }
  }

  @inlinable public static var valueForNil: Double? { 0 }

  public func managedValue(for type: ValueType) -> Value {
    switch type {
    case .date: .date(Date(timeIntervalSinceReferenceDate: self))
    case .float: .float(Float(self))
    default: .double(self)
    }
  }

  @inlinable
  public static func write(_ value: Double, _ drafts: DraftRow, _ slot: Int) -> Bool {
    drafts.set(slot, double: value, of: .double)
  }
}

extension Float: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x20 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Float? {
    column.isNull(row) ? nil : Float(column.double(row))
  }

  public static func read(_ value: Value) -> Float? { Double.read(value).map { Float($0) } }

  @inlinable public static var valueForNil: Float? { 0 }

  public func managedValue(for type: ValueType) -> Value { .float(self) }
}

/// A non-optional String property is empty while its attribute is nil.
extension String: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x40 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> String? {
    column.isNull(row) ? nil : column.string(row)
  }

  public static func read(_ value: Value) -> String? {
    if case .string(let x) = value { x } else { nil }
  }

  @inlinable public static var valueForNil: String? { "" }

  public func managedValue(for type: ValueType) -> Value { .string(self) }

  @inlinable
  public static func write(_ value: String, _ drafts: DraftRow, _ slot: Int) -> Bool {
    drafts.set(slot, string: value)
  }
}

extension Date: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x100 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Date? {
    column.isNull(row) ? nil : Date(timeIntervalSinceReferenceDate: column.double(row))
  }

  public static func read(_ value: Value) -> Date? {
    if case .date(let x) = value { x } else { nil }
  }

  public func managedValue(for type: ValueType) -> Value { .date(self) }

  @inlinable
  public static func write(_ value: Date, _ drafts: DraftRow, _ slot: Int) -> Bool {
    drafts.set(slot, double: value.timeIntervalSinceReferenceDate, of: .date)
  }
}

extension Data: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x200 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Data? {
    column.isNull(row) ? nil : Data(column.bytes(row))
  }

  public static func read(_ value: Value) -> Data? {
    if case .data(let x) = value { x } else { nil }
  }

  public func managedValue(for type: ValueType) -> Value { .data(self) }
}

extension UUID: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x400 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> UUID? {
    column.isNull(row) ? nil : column.uuid(row)
  }

  public static func read(_ value: Value) -> UUID? {
    if case .uuid(let x) = value { x } else { nil }
  }

  public func managedValue(for type: ValueType) -> Value { .uuid(self) }
}

extension URL: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x800 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> URL? {
    column.isNull(row) ? nil : URL(string: column.string(row))
  }

  public static func read(_ value: Value) -> URL? {
    if case .uri(let x) = value { URL(string: x) } else { nil }
  }

  public func managedValue(for type: ValueType) -> Value { .uri(absoluteString) }
}

extension Decimal: ManagedScalar {
  @inlinable public static var acceptedTypes: UInt32 { 0x8 }

  @inlinable @inline(__always)
  public static func read(_ column: Column, _ row: Int) -> Decimal? {
    column.isNull(row) ? nil : column.decimal(row)
  }

  public static func read(_ value: Value) -> Decimal? {
    switch value {
    case .decimal(let x): x
    case .int(let x): Decimal(x)
    default: nil
    }
  }

  public func managedValue(for type: ValueType) -> Value { .decimal(self) }
}

extension ManagedAttribute where Self: RawRepresentable, RawValue: ManagedAttribute {
  @inlinable
  public static func write(_ value: Self, _ drafts: DraftRow, _ slot: Int) -> Bool {
    RawValue.write(value.rawValue, drafts, slot)
  }

  public static var acceptedTypes: UInt32 { RawValue.acceptedTypes }

  public static func read(_ column: Column, _ row: Int) -> Self? {
    RawValue.read(column, row).flatMap { Self(rawValue: $0) }
  }

  public static func read(_ value: Value) -> Self? {
    RawValue.read(value).flatMap { Self(rawValue: $0) }
  }

  /// The case whose raw value stands for nil, such as the one with raw value 0.
  public static var valueForNil: Self? { RawValue.valueForNil.flatMap { Self(rawValue: $0) } }

  public func managedValue(for type: ValueType) -> Value { rawValue.managedValue(for: type) }
}
