// How objects of a program's own classes give predicates their keys.

import Foundation

/// A type whose values predicates can read by key.
///
/// Managed objects and dictionaries are readable without it. Of any other class or structure that doesn't say
/// so, predicates read the stored properties, by reflection, which is slower and doesn't find computed ones.
public protocol KeyValueReadable {
  /// nil where there is no value.
  func value(forKey key: String) -> Any?
  /// Whether there is such a key. An unknown one is an error of the predicate. By default there is every key.
  func hasValue(forKey key: String) -> Bool
}

extension KeyValueReadable {
  public func hasValue(forKey key: String) -> Bool { true }
}

extension NSManagedObject: KeyValueReadable {
  /// Whether the entity has such a property, or the class such a member.
  public final func hasValue(forKey key: String) -> Bool {
    let entity = table.entity
    return entity.properties[key] != nil || entity.composites[key] != nil
      || entity.fetchedProperties[key] != nil || KeyedMembers.of(self)?.reader(key) != nil
  }
}

/// A class with members that predicates can name, besides the properties of its entity: where Core Data finds a
/// method by its name, which takes the Objective-C runtime.
public protocol KeyedMembersProviding: AnyObject {
  /// The members that the class adds. Those of its superclasses count too if it adds them to theirs.
  static var keyedMembers: KeyedMembers { get }
}

/// Computed keys and callable functions of a class, by name.
///
///     class var keyedMembers: KeyedMembers {
///       KeyedMembers()
///         .key("initial") { (person: Person) in person.name.map { String($0.prefix(1)) } }
///         .function("isOlderThan:") { (person: Person, arguments) in
///           person.age > (arguments[0] as? Int32 ?? 0)
///         }
///     }
public struct KeyedMembers {
  private var readers: [String: (Any) -> Any?] = [:]
  private var functions: [String: (Any, [Any?]) throws -> Any?] = [:]

  public init() {}

  /// With a key that key paths can read.
  public func key<T>(_ name: String, _ read: @escaping (T) -> Any?) -> KeyedMembers {
    var members = self
    members.readers[name] = { ($0 as? T).flatMap(read) }
    return members
  }

  /// With a function that `FUNCTION(object, "name:", …)` can call. Its name has a colon for each argument.
  public func function<T>(
    _ name: String, _ call: @escaping (T, _ arguments: [Any?]) throws -> Any?
  ) -> KeyedMembers {
    var members = self
    members.functions[name] = { object, arguments in try (object as? T).flatMap { try call($0, arguments) } }
    return members
  }

  func reader(_ name: String) -> ((Any) -> Any?)? { readers[name] }
  func function(_ name: String) -> ((Any, [Any?]) throws -> Any?)? { functions[name] }

  /// Those of an object's class.
  static func of(_ object: Any) -> KeyedMembers? {
    (type(of: object) as? any KeyedMembersProviding.Type)?.keyedMembers
  }
}
