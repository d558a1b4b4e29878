// Managed properties of types that Swift can encode: values of transformable attributes.

public import CairnModel
public import Foundation

/// A type that a transformable (or binary) attribute keeps as the property list that `Codable` makes of it.
///
///     struct Place: Codable, ManagedCodable { var latitude, longitude: Double }
///
///     final class Note: NSManagedObject {
///       @Managed var place: Place?
///     }
///
/// The attribute needs no value transformer, and one that is named isn't used for such a property. A value that
/// can't be encoded is a programmer error; so are bytes that can't be decoded, unless the property is optional,
/// which is nil then.
public protocol ManagedCodable: Codable, ManagedAttribute {}

extension ManagedCodable {
  @inlinable public static var acceptedTypes: UInt32 { 0x1200 }

  public static func read(_ column: Column, _ row: Int) -> Self? {
    column.isNull(row) ? nil : CodedValue.read(Data(column.bytes(row)))
  }

  public static func read(_ value: Value) -> Self? {
    if case .data(let data) = value { CodedValue.read(data) } else { nil }
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    object.codedValue(key)
  }

  public func managedValue(for type: ValueType) -> Value { .data(CodedValue.write(self)) }
}

/// Values as property lists. In an array of one, since a property list can't be a bare number or text.
enum CodedValue {
  static func read<T: Decodable>(_ data: Data) -> T? {
    try? PropertyListDecoder().decode([T].self, from: data).first
  }

  static func write<T: Encodable>(_ value: T) -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    do {
      return try encoder.encode([value])
    } catch {
      fatalError("a \(T.self) can't be encoded: \(error)")
    }
  }
}

extension NSManagedObject {
  /// nil where the attribute is nil, or its bytes aren't of that type.
  fileprivate final func codedValue<T: ManagedCodable>(_ key: StaticString) -> T? {
    if let recorder = table.recorder { return recorder.attribute(key, T.self, of: self) }
    guard case .attribute(let slot, let type) = table.property(key), type.bit & T.acceptedTypes != 0 else {
      return attribute(key, as: T.self)
    }
    return T.read(slotValue(slot))
  }
}

/// A type that stands in an array property: objects for a to-many relationship in order, other values for a
/// transformable attribute.
public protocol ManagedElement {
  // Not of type [Self], which a class that isn't final couldn't promise.
  /// Elements of this type.
  static func managedElements(_ object: NSManagedObject, _ key: StaticString) -> [Any]?
  /// `elements` are of this type.
  static func setManagedElements(_ elements: [Any]?, _ object: NSManagedObject, _ key: StaticString)
}

extension ManagedElement where Self: Codable {
  public static func managedElements(_ object: NSManagedObject, _ key: StaticString) -> [Any]? {
    CodedElements<Self>.managedGetOptional(object, key)?.elements
  }

  public static func setManagedElements(_ elements: [Any]?, _ object: NSManagedObject, _ key: StaticString) {
    let coded = elements.map { CodedElements(elements: $0.compactMap { $0 as? Self }) }
    CodedElements.managedSet(coded, object, key)
  }
}

/// An array as one coded value.
struct CodedElements<Element: Codable>: ManagedCodable {
  let elements: [Element]

  init(elements: [Element]) { self.elements = elements }

  init(from decoder: any Decoder) throws {
    elements = try decoder.singleValueContainer().decode([Element].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(elements)
  }
}

extension String: ManagedElement {}
extension Int: ManagedElement {}
extension Int16: ManagedElement {}
extension Int32: ManagedElement {}
extension Int64: ManagedElement {}
extension Double: ManagedElement {}
extension Float: ManagedElement {}
extension Bool: ManagedElement {}
extension Date: ManagedElement {}
extension Data: ManagedElement {}
extension UUID: ManagedElement {}
extension URL: ManagedElement {}
extension Decimal: ManagedElement {}

/// Of transformable attributes.
extension Dictionary: ManagedValue where Key == String, Value: Codable {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    managedGetOptional(object, key) ?? [:]
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    CodedElements<Self>.managedGetOptional(object, key)?.elements.first
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    CodedElements.managedSet(value.map { CodedElements(elements: [$0]) }, object, key)
  }
}

/// An object of Foundation, or of a class of one's own, that a transformable attribute keeps through its value
/// transformer.
public protocol ManagedTransformable: NSObject, ManagedValue {}

extension ManagedTransformable {
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self {
    guard let value = managedGetOptional(object, key) else { object.trapNil(key, self) }
    return value
  }

  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self? {
    guard let value = object.storedForm(key.description) else { return nil }
    guard let typed = value as? Self else { object.trapWrongSwiftType(key, self, "\(Swift.type(of: value))") }
    return typed
  }

  public static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString) {
    object.setStoredForm(value, key.description)
  }
}
