// Predicates and sort keys evaluated on objects, for the changes that a store doesn't know of yet.
//
// The slow twin of the column kernels: both work from the same `BoundPredicate` and the same tests of single
// values, so they can only differ in how they get at a value. A test holds them to the same answers.

import CairnModel
import Foundation

/// A predicate to be asked of objects of one entity. Doesn't fire their faults.
struct PredicateInterpreter {
  private let predicate: BoundPredicate

  /// Throws what the store would throw for the same predicate.
  init(_ tree: PredicateTree, to entity: EntityID, in schema: Schema) throws {
    predicate = try BoundPredicate(tree, to: entity, in: schema)
  }

  func matches(_ object: NSManagedObject) -> Bool { predicate.holds(for: ObjectRow(object: object)) }
}

/// An object as predicates see it.
private struct ObjectRow: PredicateRow {
  let object: NSManagedObject

  func value(_ target: BoundPath.Target) -> Value {
    switch target {
    case .slot(let slot): object.peekedValue(slot)
    case .ownKey: .key(object.key)
    }
  }

  func destination(of relationship: RelationshipID) -> ObjectRow? {
    object.destination(of: object.table.model[relationship]).flatMap(ObjectRow.loaded)
  }

  func members(of relationship: RelationshipID) -> [ObjectRow] {
    object.destinations(ofAny: object.table.model[relationship]).compactMap(ObjectRow.loaded)
  }

  private static func loaded(_ object: NSManagedObject) -> ObjectRow? {
    if object.chunk == nil, !object.flags.contains(.isDraft) { object.loadRow() }
    return object.flags.contains(.isInaccessible) ? nil : ObjectRow(object: object)
  }
}

/// The order of a fetch: its sort keys, then the entity, then the key, unsaved objects last as they were
/// inserted.
struct ObjectOrder {
  private let terms: [(path: BoundPath, ascending: Bool)]

  init(_ terms: [SortTerm], of entity: EntityID, in schema: Schema) throws {
    self.terms = try BoundPath.bind(terms, to: entity, in: schema)
  }

  /// Whether `a` comes before `b`.
  func areInOrder(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
    let order = compare(a, b)
    if order != .orderedSame { return order == .orderedAscending }
    let (x, y) = (a.table.entity.id, b.table.entity.id)
    return x == y ? ObjectOrder.rank(a.key) < ObjectOrder.rank(b.key) : x < y
  }

  /// The order by the sort keys alone.
  func compare(_ a: NSManagedObject, _ b: NSManagedObject) -> ComparisonResult {
    for (path, ascending) in terms {
      let order = Value.compare(a.value(at: path), b.value(at: path))
      if order != 0 { return (order < 0) == ascending ? .orderedAscending : .orderedDescending }
    }
    return .orderedSame
  }

  private static func rank(_ key: Int64) -> UInt64 {
    key > 0 ? UInt64(key) : UInt64(bitPattern: Int64.min) + UInt64(-key)
  }

  /// `stored` is in order; returns it with the few `others` put in their places.
  func merge(_ stored: [NSManagedObject], _ others: [NSManagedObject]) -> [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(stored.count + others.count)
    var start = 0
    for object in others.sorted(by: areInOrder) {
      var low = start
      var high = stored.count
      while low < high {
        let middle = (low + high) / 2
        if areInOrder(object, stored[middle]) { high = middle } else { low = middle + 1 }
      }
      result += stored[start..<low]
      result.append(object)
      start = low
    }
    return result + stored[start...]
  }
}

extension NSManagedObject {
  /// The value at the end of a path over to-one relationships; null where the path ends early.
  fileprivate final func value(at path: BoundPath) -> Value {
    var object = self
    for hop in path.hops {
      guard let next = object.destination(of: table.model[hop]) else { return .null }
      if next.chunk == nil, !next.flags.contains(.isDraft) { next.loadRow() }
      if next.flags.contains(.isInaccessible) { return .null }
      object = next
    }
    switch path.target {
    case .slot(let slot): return object.peekedValue(slot)
    case .ownKey: return .key(object.key)
    }
  }
}
