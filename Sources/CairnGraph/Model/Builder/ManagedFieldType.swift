// What the Swift type of a managed property says of the property.

import CairnModel
import Foundation

/// A property as its type describes it.
enum ManagedFieldType {
  /// nil for a type that several attribute types can be read as, or none that a class can name.
  case attribute(NSAttributeDescription.AttributeType?, isOptional: Bool, valueForNil: Any?)
  case toOne(NSManagedObject.Type, isOptional: Bool)
  case toMany(NSManagedObject.Type, isOrdered: Bool)

  init(_ type: any ManagedValue.Type) {
    if let optional = type as? any OptionalManagedValue.Type {
      self = ManagedFieldType(optional.wrappedType).madeOptional
    } else if let objectClass = type as? NSManagedObject.Type {
      self = .toOne(objectClass, isOptional: false)
    } else if let collection = type as? any ManagedCollection.Type {
      self = .toMany(collection.elementClass, isOrdered: collection.isOrdered)
    } else {
      self = .attribute(
        Self.attributeType(type), isOptional: false,
        valueForNil: (type as? any ManagedAttribute.Type).flatMap { Self.valueForNil($0) })
    }
  }

  private var madeOptional: ManagedFieldType {
    switch self {
    case .attribute(let type, _, _): .attribute(type, isOptional: true, valueForNil: nil)
    case .toOne(let type, _): .toOne(type, isOptional: true)
    case .toMany: self
    }
  }

  private static func attributeType(_ type: Any.Type) -> NSAttributeDescription.AttributeType? {
    if let raw = type as? any RawRepresentable.Type { return attributeType(rawType(of: raw)) }
    return types[ObjectIdentifier(type)]
  }

  private static func rawType<T: RawRepresentable>(of type: T.Type) -> Any.Type { T.RawValue.self }

  private static let types: [ObjectIdentifier: NSAttributeDescription.AttributeType] = [
    ObjectIdentifier(Int16.self): .integer16, ObjectIdentifier(Int32.self): .integer32,
    ObjectIdentifier(Int64.self): .integer64, ObjectIdentifier(Int.self): .integer64,
    ObjectIdentifier(Double.self): .double, ObjectIdentifier(Float.self): .float,
    ObjectIdentifier(Bool.self): .boolean, ObjectIdentifier(String.self): .string,
    ObjectIdentifier(Date.self): .date, ObjectIdentifier(Data.self): .binaryData,
    ObjectIdentifier(UUID.self): .uuid, ObjectIdentifier(URL.self): .uri,
    ObjectIdentifier(Decimal.self): .decimal,
  ]

  /// 0 or false, as Xcode gives it to a number that isn't optional; nil for other types.
  private static func valueForNil<T: ManagedAttribute>(_ type: T.Type) -> Any? {
    guard let value = T.valueForNil else { return nil }
    let stored = attributeType(type).flatMap { ValueType($0) }.map { value.managedValue(for: $0) }
    switch stored {
    case .int, .double, .float, .bool: return stored?.keyValueForm
    default: return nil
    }
  }
}

/// Optionals of managed values.
private protocol OptionalManagedValue {
  static var wrappedType: any ManagedValue.Type { get }
}

extension Optional: OptionalManagedValue where Wrapped: ManagedValue {
  fileprivate static var wrappedType: any ManagedValue.Type { Wrapped.self }
}

/// To-many types that know the class of their members.
private protocol ManagedCollection {
  static var elementClass: NSManagedObject.Type { get }
  static var isOrdered: Bool { get }
}

extension Set: ManagedCollection where Element: NSManagedObject {
  fileprivate static var elementClass: NSManagedObject.Type { Element.self }
  fileprivate static var isOrdered: Bool { false }
}

extension Array: ManagedCollection where Element: NSManagedObject {
  fileprivate static var elementClass: NSManagedObject.Type { Element.self }
  fileprivate static var isOrdered: Bool { true }
}
