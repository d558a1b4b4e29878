// Between the values of a transformable attribute and the bytes that a store keeps of them.

import CairnModel
import Foundation

/// Transforms the values of one attribute. The `ValueTransformer` is looked up at each use, so it may be registered
/// after the model was read; it has to be before the first value is kept.
struct AttributeTransformer: Sendable, Equatable {
  /// nil for the one that keeps property lists and whatever can be archived securely.
  let name: String?

  /// Why a value couldn't be transformed.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private func transformer() throws -> ValueTransformer {
    let name = name.map { NSValueTransformerName(rawValue: $0) } ?? .secureUnarchiveFromDataTransformerName
    guard let found = ValueTransformer(forName: name) else {
      throw Failure(
        description: "there is no value transformer \"\(name.rawValue)\": register one with "
          + "ValueTransformer.setValueTransformer(_:forName:) before the model is used")
    }
    return found
  }

  /// Whether the transformer goes from data to values, as those that unarchive do. Others go from values to data.
  private func goesFromData(_ transformer: ValueTransformer) -> Bool {
    transformer is NSSecureUnarchiveFromDataTransformer
  }

  /// The bytes of a value. Throws when there is no transformer, or it makes no data of the value.
  func data(for value: Any) throws -> Data {
    let transformer = try transformer()
    let made =
      goesFromData(transformer)
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    guard let data = made as? Data else {
      throw Failure(
        description: "\(type(of: transformer)) makes no Data of a \(type(of: value))")
    }
    return data
  }

  /// The value of bytes that `data(for:)` made. Throws when there is no transformer, or it makes nothing of them.
  func value(from data: Data) throws -> Any {
    let transformer = try transformer()
    guard goesFromData(transformer) || type(of: transformer).allowsReverseTransformation() else {
      throw Failure(description: "\(type(of: transformer)) doesn't allow reverse transformation")
    }
    let made =
      goesFromData(transformer)
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    guard let made else {
      throw Failure(description: "\(type(of: transformer)) makes nothing of \(data.count) bytes")
    }
    return made
  }
}

/// Objects as bytes: a binary property list where one suffices, else a keyed archive.
///
/// Plain property lists come first because Foundation's keyed unarchiver on Linux follows nested objects by
/// recursion, while its property lists are safe to read whatever their bytes.
enum ArchivedObject {
  static func write(_ value: Any) -> Data? {
    if PropertyListSerialization.propertyList(value, isValidFor: .binary) {
      return try? PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
    }
    guard supportsSecureCoding(value) else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

  /// Asked first, because Foundation's archiver on Linux ends the process over an object that doesn't.
  private static func supportsSecureCoding(_ value: Any) -> Bool {
    switch value as? NSObject {
    case let array as NSArray: array.allSatisfy(supportsSecureCoding)
    case let set as NSSet: set.allSatisfy(supportsSecureCoding)
    case let set as NSOrderedSet: set.array.allSatisfy(supportsSecureCoding)
    case let dictionary as NSDictionary: dictionary.allSatisfy { supportsSecureCoding($0.value) }
    case let object as any NSSecureCoding: type(of: object).supportsSecureCoding
    default: false
    }
  }

  /// nil for bytes that are neither, and for an object that is of none of the allowed classes.
  ///
  /// The class is judged afterwards: Foundation's unarchiver on Linux ends the process when it meets a class that it
  /// wasn't told to expect.
  static func read(_ data: Data, allowed: [AnyClass]) -> Any? {
    guard data.starts(with: Array("bplist00".utf8)),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
    else { return nil }
    var result = list
    if let archive = list as? [String: Any], archive["$archiver"] != nil {
      guard let object = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSObject.self], from: data)
      else {
        return nil
      }
      result = object
    }
    guard let object = result as? NSObject, allowed.contains(where: { object.isKind(of: $0) }) else {
      return nil
    }
    return result
  }
}
