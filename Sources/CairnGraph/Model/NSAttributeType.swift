// The types of attributes, in both of Core Data's spellings.

import CairnModel
import Foundation

/// The type of an attribute, in Core Data's older spelling. Raw values are Core Data's.
public enum NSAttributeType: UInt, Sendable {
  case undefinedAttributeType = 0
  case integer16AttributeType = 100
  case integer32AttributeType = 200
  case integer64AttributeType = 300
  case decimalAttributeType = 400
  case doubleAttributeType = 500
  case floatAttributeType = 600
  case stringAttributeType = 700
  case booleanAttributeType = 800
  case dateAttributeType = 900
  case binaryDataAttributeType = 1000
  case UUIDAttributeType = 1100
  case URIAttributeType = 1200
  case transformableAttributeType = 1800
  case objectIDAttributeType = 2000
  case compositeAttributeType = 2100
}

extension NSAttributeDescription {
  /// The type of an attribute.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// Only for transient attributes, which then hold anything.
    public static let undefined = AttributeType(.undefinedAttributeType)
    public static let integer16 = AttributeType(.integer16AttributeType)
    public static let integer32 = AttributeType(.integer32AttributeType)
    public static let integer64 = AttributeType(.integer64AttributeType)
    public static let decimal = AttributeType(.decimalAttributeType)
    public static let double = AttributeType(.doubleAttributeType)
    public static let float = AttributeType(.floatAttributeType)
    public static let string = AttributeType(.stringAttributeType)
    public static let boolean = AttributeType(.booleanAttributeType)
    public static let date = AttributeType(.dateAttributeType)
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    public static let uuid = AttributeType(.UUIDAttributeType)
    public static let uri = AttributeType(.URIAttributeType)
    /// A value of any class, kept as the bytes that a value transformer makes of it.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// Only for transient attributes and the results of expressions.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// Of `NSCompositeAttributeDescription` alone.
    public static let composite = AttributeType(.compositeAttributeType)
  }
}

extension NSAttributeDescription.AttributeType {
  /// As a model file has it; nil for a number that is no type.
  var kind: ModelDocument.AttributeKind? { .init(rawValue: Int(rawValue)) }

  /// The name of the Foundation class of the values, as Core Data reports it; nil where the type doesn't say.
  var valueClassName: String? { kind?.valueClassName }

  /// As an error message calls it.
  var title: String {
    switch self {
    case .undefined: "undefined"
    case .composite: "composite"
    case .objectID: "objectID"
    default: ValueType(self).map { "\($0)" } ?? "number \(rawValue)"
    }
  }
}

extension ValueType {
  /// What one slot holds for an attribute of the type; nil for undefined and object IDs, which can't be stored,
  /// and for composites, which take a slot an element.
  init?(_ type: NSAttributeDescription.AttributeType) {
    guard let type = type.kind?.valueType else { return nil }
    self = type
  }
}
