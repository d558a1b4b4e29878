// From what a program gives as an argument of a format, or as a constant, to the tree that says it.

import CairnModel
import Foundation

extension ExpressionTree {
  /// The constant that `%@` means for an argument: numbers, strings, dates and the like are values; arrays and
  /// sets are lists of their elements; an `NSExpression` is itself, and a key path its name; a case of an
  /// enumeration is its raw value. Whatever else there is, is a constant by itself.
  init(argument: Any?) {
    guard let argument = argument.flatMap(unwrapped) else {
      self = .constant(.null)
      return
    }
    if let value = Value(argument: argument) {
      self = .constant(value)
      return
    }
    switch argument {
    case is NSNull: self = .object(ConstantObject(NullConstant()))
    case let expression as NSExpression: self = expression.tree
    case let object as NSManagedObject: self = .object(ConstantObject(RowConstant(object)))
    case let id as NSManagedObjectID: self = .object(ConstantObject(RowConstant(id)))
    case let path as AnyKeyPath: self = .constant(.string(KeyPathNames.requireName(of: path)))
    case let list as NSOrderedSet: self = .list(list.array.map { ExpressionTree(argument: $0) })
    case let set as NSSet: self = .inOrder(set.allObjects.map { ExpressionTree(argument: $0) })
    case let list as [Any?]: self = .list(list.map { ExpressionTree(argument: $0) })
    case is NSDictionary, is [AnyHashable: Any]: self = .object(ConstantObject(AnyConstant(argument)))
    case let set as Set<AnyHashable>: self = .inOrder(set.map { ExpressionTree(argument: $0.base) })
    case let hashable as AnyHashable where !(argument is NSObject) && type(of: argument) == AnyHashable.self:
      self = ExpressionTree(argument: hashable.base)
    case let raw as any RawRepresentable: self = ExpressionTree(argument: raw.rawValue)
    case let collection as any Collection: self = .elements(of: collection)
    default: self = .object(ConstantObject(AnyConstant(argument)))
    }
  }

  private static func elements(of collection: some Collection) -> ExpressionTree {
    .list(collection.map { ExpressionTree(argument: $0) })
  }

  /// The elements of a set, which have no order of their own: in the order of values, so that equal sets give
  /// equal lists.
  private static func inOrder(_ elements: [ExpressionTree]) -> ExpressionTree {
    .list(
      elements.sorted { a, b in
        switch (a, b) {
        case (.constant(let x), .constant(let y)): x < y
        case (.constant, _): true
        default: false
        }
      })
  }
}

/// What an optional that was boxed in an `Any` holds; nil for none.
func unwrapped(_ any: Any) -> Any? {
  if let optional = any as? any BoxedOptional { return optional.boxed.flatMap(unwrapped) }
  return any
}

private protocol BoxedOptional {
  var boxed: Any? { get }
}

extension Optional: BoxedOptional {
  fileprivate var boxed: Any? { map { $0 } }
}

extension Value {
  /// The value of a number, string, date, data, UUID or URL of Swift's or of Foundation's; nil for all else.
  /// Integers that Int64 is too small for become decimals.
  init?(argument: Any) {
    switch argument {
    case let value as Value: self = value
    case let value as Bool where type(of: argument) == Bool.self: self = .bool(value)
    case let value as Int where type(of: argument) == Int.self: self = .int(Int64(value))
    case let value as Double where type(of: argument) == Double.self: self = .double(value)
    case let value as Float where type(of: argument) == Float.self: self = .float(value)
    case let value as String: self = .string(value)
    case let value as Substring: self = .string(String(value))
    case let value as Character: self = .string(String(value))
    case let value as Decimal where type(of: argument) == Decimal.self: self = .decimal(value)
    case let value as any BinaryInteger where !(type(of: argument) is AnyClass): self = Value(integer: value)
    case let value as any BinaryFloatingPoint where !(type(of: argument) is AnyClass):
      self = .double(Double(value))
    case let value as NSNumber: self = Value(number: value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .uri(value.absoluteString)
    default: return nil
    }
  }

  private init(integer value: some BinaryInteger) {
    if let small = Int64(exactly: value) {
      self = .int(small)
    } else {
      self = Decimal(string: value.description).map { .decimal($0) } ?? .double(Double(value))
    }
  }

  /// A truth value stays one, and a decimal too.
  private init(number: NSNumber) {
    if let decimal = number as? NSDecimalNumber {
      self = .decimal(decimal.decimalValue)
    } else if type(of: number) == Value.truthClass {
      self = .bool(number.boolValue)
    } else {
      switch String(cString: number.objCType) {
      case "f": self = .float(number.floatValue)
      case "d": self = .double(number.doubleValue)
      case "Q": self = Value(integer: number.uint64Value)
      default: self = .int(number.int64Value)
      }
    }
  }

  private static let truthClass: AnyClass = type(of: NSNumber(value: true))
}
