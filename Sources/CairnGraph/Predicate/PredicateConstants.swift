// What stands behind `ExpressionTree.object`: constants that are no values. A new kind of constant goes here.

import CairnModel
import Foundation

/// A constant that knows what it is for an evaluation over objects.
protocol GivenConstant: PredicateConstant {
  /// The object as it was given.
  var given: Any { get }
}

/// NSNull as an argument. Compares as nil, and prints as `<null>`.
final class NullConstant: GivenConstant {
  var given: Any { NSNull() }
  var storeValue: Value? { .null }
  var canonicalText: String { "<null>" }

  func isEqual(to other: any PredicateConstant) -> Bool { other is NullConstant }
  func hash(into hasher: inout Hasher) {}
}

/// A managed object, or its ID: both mean a row, and are equal when they mean the same one.
///
/// Sendable: all is constant but the object. Of that only `key`, `objectID` and, by an evaluation, properties
/// are read, on the thread that uses the predicate; as with Core Data's own predicates, that has to be the
/// object's own queue. A store is asked, and asks for `storeValue`, within a request of that queue.
final class RowConstant: GivenConstant, @unchecked Sendable {
  private let object: NSManagedObject?
  private let knownID: NSManagedObjectID

  init(_ object: NSManagedObject) {
    self.object = object
    knownID = object.objectID
  }

  init(_ id: NSManagedObjectID) {
    object = nil
    knownID = id
  }

  /// The ID as it is now: a save gives its object a permanent one.
  var id: NSManagedObjectID { object?.objectID ?? knownID }

  var given: Any { object ?? knownID }
  var storeValue: Value? { .key(id.key) }
  var canonicalText: String { id.description }

  func isEqual(to other: any PredicateConstant) -> Bool {
    guard let other = other as? RowConstant else { return false }
    return id == other.id
  }

  /// By what a save doesn't change.
  func hash(into hasher: inout Hasher) { hasher.combine(knownID.root) }
}

/// Any other object, such as a dictionary, a fetch request or an instance of a program's own class. Compared by
/// its own equality where it has one, otherwise by identity.
///
/// Sendable: it is only handed back to an evaluation, compared and printed, on the thread that uses the
/// predicate. A predicate with an object that isn't safe to use elsewhere is used where that object lives, as
/// with Core Data's own.
final class AnyConstant: GivenConstant, @unchecked Sendable {
  let given: Any

  init(_ given: Any) { self.given = given }

  var storeValue: Value? { nil }
  var canonicalText: String { AnyConstant.text(of: given) }

  func isEqual(to other: any PredicateConstant) -> Bool {
    guard let other = other as? AnyConstant else { return false }
    return AnyConstant.areEqual(given, other.given)
  }

  func hash(into hasher: inout Hasher) {
    if let hashable = given as? AnyHashable { hasher.combine(hashable) }
  }

  static func areEqual(_ a: Any, _ b: Any) -> Bool {
    if let x = a as? NSObject, let y = b as? NSObject { return x.isEqual(y) }
    if let x = a as? AnyHashable, let y = b as? AnyHashable { return x == y }
    return isObject(a) && isObject(b) && (a as AnyObject) === (b as AnyObject)
  }

  private static func isObject(_ any: Any) -> Bool { type(of: any) is AnyClass }

  private static func text(of any: Any) -> String {
    guard let dictionary = any as? [AnyHashable: Any] else { return String(describing: any) }
    let entries = dictionary.map { "\(text(of: $0.key.base)) = \(text(of: $0.value))" }.sorted()
    return "{" + entries.joined(separator: "; ") + "}"
  }
}

/// A predicate of Foundation's, or of a program's own class, which has no tree.
///
/// Sendable: a predicate never changes, and is only asked by an evaluation, on the thread that uses it.
final class PredicateBlock: PredicateConstant, @unchecked Sendable {
  let predicate: NSPredicate

  init(_ predicate: NSPredicate) { self.predicate = predicate }

  var storeValue: Value? { nil }
  var canonicalText: String { "BLOCKPREDICATE(0x\(address(of: predicate)))" }

  func isEqual(to other: any PredicateConstant) -> Bool {
    guard let other = other as? PredicateBlock else { return false }
    return predicate === other.predicate || predicate.isEqual(other.predicate)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(predicate.hash) }
}

/// An expression's block. Equal only to itself.
///
/// Sendable: the block is only called by an evaluation, on the thread that uses the expression; a block that
/// isn't safe elsewhere is used there alone, as with Core Data's own.
final class ExpressionBlock: PredicateConstant, @unchecked Sendable {
  typealias Body = (Any?, [Any], NSMutableDictionary?) -> Any

  let body: Body

  init(_ body: @escaping Body) { self.body = body }

  var storeValue: Value? { nil }
  var canonicalText: String { "BLOCK(0x\(address(of: self)))" }

  func isEqual(to other: any PredicateConstant) -> Bool { self === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private func address(of object: AnyObject) -> String {
  String(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), radix: 16)
}
