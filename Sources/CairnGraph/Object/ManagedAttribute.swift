// Managed properties that are attributes: the quick way straight from the column, and the slow one through
// `Value` for faults, changed objects and new ones.
//
// `@inlinable`, since a read through generics that aren't specialised costs some hundred nanoseconds, and one
// that is costs some ten (Benchmarks: property reads).

public import CairnModel
import Foundation

/// A type that an attribute can be read as.
///
/// An enumeration with raw values joins by declaring it:
///
///     enum Status: Int16, ManagedAttribute { case planned, flown, cancelled }
public protocol ManagedAttribute: ManagedValue {
  /// The attribute types that `read` can read: a bit for each, at the place of its raw value.
  static var acceptedTypes: UInt32 { get }
  /// The value at a row of a column of an accepted type; nil where it is null, and where the type has no value
  /// for what is stored.
  static func read(_ column: Column, _ row: Int) -> Self?
  /// The same of a boxed value of an accepted type that isn't null.
  static func read(_ value: Value) -> Self?
  /// What a non-optional property has while its attribute is nil; nil where there is no such value.
  static var valueForNil: Self? { get }
  /// The value as a slot of `type` holds it, whether or not it fits.
  func managedValue(for type: ValueType) -> Value
  /// Puts a value into a row of a new object. False, and nothing done, where the slow way has to be taken.
  static func write(_ value: Self, _ drafts: DraftRow, _ slot: Int) -> Bool
}

/// The row of a new object, as `ManagedAttribute.write` fills it. Not to be kept: it holds nothing.
public struct DraftRow {
  // Unmanaged, since counting a reference would cost as much as setting the value. The object that is being
  // written holds its table, and nothing that can be done with a row makes it let go.
  @usableFromInline let table: Unmanaged<EntityTable>
  @usableFromInline let row: Int

  @inlinable @inline(__always)
  init(_ object: NSManagedObject) {
    table = .passUnretained(object.table)
    row = Int(object.row)
  }

  /// For attributes of integer types and Booleans. False if the slot is none, or the value doesn't fit.
  @inlinable @inline(__always)
  public func set(_ slot: Int, integer value: Int64) -> Bool {
    table._withUnsafeGuaranteedRef { $0.setDraft(slot, row, integer: value) }
  }

  /// For attributes of the types double and date.
  @inlinable @inline(__always)
  public func set(_ slot: Int, double value: Double, of type: ValueType) -> Bool {
    table._withUnsafeGuaranteedRef { $0.setDraft(slot, row, double: value, of: type) }
  }

  /// For string attributes.
  @inlinable @inline(__always)
  public func set(_ slot: Int, string value: String) -> Bool {
    table._withUnsafeGuaranteedRef { $0.setDraft(slot, row, string: value) }
  }
}

extension ManagedAttribute {
  @inlinable
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    object.attributeValue(key)
  }

  @inlinable
  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    object.optionalAttributeValue(key)
  }

  @inlinable
  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    if let value, object.flags.rawValue == ObjectFlags.freshDraftBits {
      let row = DraftRow(object)
      let slot = row.table._withUnsafeGuaranteedRef { $0.cachedSlot(key, acceptedTypes) }
      if slot >= 0, write(value, row, slot) { return }
    }
    object.setAttribute(key, value)
  }

  public static var valueForNil: Self? { nil }

  @inlinable
  public static func write(_ value: Self, _ drafts: DraftRow, _ slot: Int) -> Bool { false }
}

/// The attribute types that come with Cairn: `managedValue(forKey:)` reads them without asking how they are read.
public protocol ManagedScalar: ManagedAttribute {}

extension NSManagedObject {
  /// The same as the general one, and without a call for each read.
  @inlinable @inline(__always)
  public final func managedValue<T: ManagedScalar>(forKey key: StaticString) -> T { attributeValue(key) }

  /// The same as the general one, and without a call for each read.
  @inlinable @inline(__always)
  public final func managedValue<T: ManagedScalar>(forKey key: StaticString) -> T? {
    optionalAttributeValue(key)
  }

  @inlinable @inline(__always)
  final func attributeValue<T: ManagedAttribute>(_ key: StaticString) -> T {
    if let column = plainColumn(key, T.acceptedTypes),
      let value = column._withUnsafeGuaranteedRef({ T.read($0, Int(row)) })
    {
      return value
    }
    guard let value = attribute(key, as: T.self) ?? T.valueForNil else { trapNil(key, T.self) }
    return value
  }

  @inlinable @inline(__always)
  final func optionalAttributeValue<T: ManagedAttribute>(_ key: StaticString) -> T? {
    if let column = plainColumn(key, T.acceptedTypes) {
      let row = Int(row)
      if column._withUnsafeGuaranteedRef({ $0.isNull(row) }) { return nil }
      if let value = column._withUnsafeGuaranteedRef({ T.read($0, row) }) { return value }
    }
    return attribute(key, as: T.self)
  }
}

extension NSManagedObject {
  /// The column of an attribute that can be read as it is, at `row`; nil where the slow way has to be taken. To be
  /// used before anything else is done with the object, which holds it.
  @inlinable @inline(__always)
  final func plainColumn(_ key: StaticString, _ accepted: UInt32) -> Unmanaged<Column>? {
    if flags.rawValue != 0, !wakes() { return nil }
    let slot = table.cachedSlot(key, accepted)
    guard slot >= 0 else { return nil }
    let held = Unmanaged.passUnretained(chunk.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      $0.heldColumn(slot)
    }
    return held ?? backedColumn(slot)
  }

  /// The column of a slot that the chunk doesn't hold itself; nil for one that couldn't be read.
  @inlinable @inline(__always)
  final func backedColumn(_ slot: Int) -> Unmanaged<Column>? {
    Unmanaged.passUnretained(table)._withUnsafeGuaranteedRef {
      $0.backedColumn(.passUnretained(chunk.unsafelyUnwrapped), slot)
    }
  }

  @inline(never) @usableFromInline
  final func attribute<T: ManagedAttribute>(_ key: StaticString, as type: T.Type) -> T? {
    if let recorder = table.recorder { return recorder.attribute(key, type, of: self) }
    fire()
    var slot = table.cachedSlot(key, T.acceptedTypes)
    if slot < 0 {
      switch table.property(key) {
      case .attribute(let found, let valueType):
        if valueType.bit & T.acceptedTypes == 0 { trapWrongSwiftType(key, T.self, "\(valueType)") }
        slot = found
      case .transient: return transient(key, as: type)
      case .relationship: trapWrongSwiftType(key, T.self, "a relationship")
      }
    }
    let value = slotValue(slot)
    if value.isNull { return nil }
    guard let result = T.read(value) else {
      fatalError("\(table.entity.name).\(key) holds \(value), which \(T.self) has no case for")
    }
    return result
  }

  private func transient<T: ManagedAttribute>(_ key: StaticString, as type: T.Type) -> T? {
    guard let any = transientValue(key.description) else { return nil }
    if let value = any as? T { return value }
    for type in ValueType.allCases where type.bit & T.acceptedTypes != 0 {
      if let value = Value(any, for: type), let result = T.read(value) { return result }
    }
    trapWrongSwiftType(key, T.self, "\(Swift.type(of: any))")
  }

  @inline(never) @usableFromInline
  final func setAttribute<T: ManagedAttribute>(_ key: StaticString, _ value: T?) {
    var slot = table.cachedSlot(key, T.acceptedTypes)
    if slot < 0 {
      switch table.property(key) {
      case .attribute(let found, let type):
        if type.bit & T.acceptedTypes == 0 { trapWrongSwiftType(key, T.self, "\(type)") }
        slot = found
      case .transient(let type):
        noteChange()
        return setTransient(
          key.description, type.flatMap { value?.managedValue(for: $0).keyValueForm } ?? value)
      case .relationship: trapWrongSwiftType(key, T.self, "a relationship")
      }
    }
    let type = table.entity.slotTypes[slot]
    let stored = value?.managedValue(for: type) ?? .null
    guard stored.fits(type) else { trapWrongType(key.description, value, desired: "\(type)") }
    noteChange()
    writeSlot(slot, stored)
  }

  @inline(never) @usableFromInline
  final func trapNil<T>(_ key: StaticString, _ type: T.Type) -> Never {
    fatalError(
      "\(table.entity.name).\(key) is nil, and a \(T.self) can't be: declare the property as \(T.self)?")
  }

  final func trapWrongSwiftType<T>(_ key: StaticString, _ type: T.Type, _ actual: String) -> Never {
    fatalError("\(table.entity.name).\(key) is \(actual) in the model, and can't be used as \(T.self)")
  }
}
