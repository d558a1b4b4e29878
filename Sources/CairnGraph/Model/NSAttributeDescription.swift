// Attributes: properties that hold a value. Transformable, composite and object-ID attributes aren't there yet.

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
}

/// A property that holds a value.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
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
  }

  /// `integer32` unless set.
  public final var type = AttributeType.integer32 { willSet { requireMutable() } }

  /// The value that a new object starts with. It has to fit the type: the model doesn't compile otherwise.
  public final var defaultValue: Any? { willSet { requireMutable() } }

  /// `type` in its older spelling.
  public final var attributeType: NSAttributeType {
    get { NSAttributeType(rawValue: type.rawValue) ?? .undefinedAttributeType }
    set { type = AttributeType(rawValue: newValue.rawValue) }
  }

  /// The name of the Foundation class of the values, as Core Data reports it; nil for undefined types.
  public final var attributeValueClassName: String? { ValueType(type).map(Self.className) }

  private static func className(_ type: ValueType) -> String {
    switch type {
    case .int16, .int32, .int64, .double, .float, .bool: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .data, .transformable: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .key: "NSManagedObjectID"
    }
  }
}

extension ValueType {
  /// nil for types that can't be stored.
  init?(_ type: NSAttributeDescription.AttributeType) {
    switch type {
    case .integer16: self = .int16
    case .integer32: self = .int32
    case .integer64: self = .int64
    case .decimal: self = .decimal
    case .double: self = .double
    case .float: self = .float
    case .string: self = .string
    case .boolean: self = .bool
    case .date: self = .date
    case .binaryData: self = .data
    case .uuid: self = .uuid
    case .uri: self = .uri
    default: return nil
    }
  }
}
