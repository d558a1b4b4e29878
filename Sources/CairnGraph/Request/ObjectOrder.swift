// Sort keys evaluated on objects, for the changes that a store doesn't know of yet and for orders of strings that
// it doesn't know at all.

import CairnModel
import Foundation

/// The order of a fetch: its sort keys, then the entity, then the key, unsaved objects last as they were
/// inserted.
struct ObjectOrder {
  private let terms: [Term]

  private struct Term {
    let path: BoundPath
    let ascending: Bool
    let collation: SortCollation
  }

  /// Throws `unknownProperty` for a key that the entity doesn't have.
  init(_ keys: [SortKey], of entity: EntityID, in schema: Schema) throws {
    let paths = try BoundPath.bind(keys.map(\.term), to: entity, in: schema)
    terms = zip(paths, keys).map { bound, key in
      Term(
        path: bound.path, ascending: bound.ascending,
        collation: bound.path.type == .string ? key.collation : .plain)
    }
  }

  var paths: [BoundPath] { terms.map(\.path) }

  /// Whether a store sorts so too.
  var isPlain: Bool { terms.allSatisfy { $0.collation == .plain } }

  /// Whether `a` comes before `b`.
  func areInOrder(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
    for term in terms {
      let order = term.collation.compare(a.value(at: term.path), b.value(at: term.path))
      if order != 0 { return (order < 0) == term.ascending }
    }
    return ObjectOrder.tie(a, b)
  }

  /// An object with its keys, for who compares it with many.
  struct Keyed {
    let object: NSManagedObject
    fileprivate let keys: [Value]
  }

  func keyed(_ object: NSManagedObject) -> Keyed {
    Keyed(object: object, keys: terms.map { object.value(at: $0.path) })
  }

  /// Whether `a` comes before `b`.
  func areInOrder(_ a: NSManagedObject, _ b: Keyed) -> Bool {
    for (index, term) in terms.enumerated() {
      let order = term.collation.compare(a.value(at: term.path), b.keys[index])
      if order != 0 { return (order < 0) == term.ascending }
    }
    return ObjectOrder.tie(a, b.object)
  }

  /// Whether `a` comes before `b`.
  func areInOrder(_ a: Keyed, _ b: NSManagedObject) -> Bool {
    for (index, term) in terms.enumerated() {
      let order = term.collation.compare(a.keys[index], b.value(at: term.path))
      if order != 0 { return (order < 0) == term.ascending }
    }
    return ObjectOrder.tie(a.object, b)
  }

  /// Whether `a` comes before `b`.
  func areInOrder(_ a: Keyed, _ b: Keyed) -> Bool {
    for (index, term) in terms.enumerated() {
      let order = term.collation.compare(a.keys[index], b.keys[index])
      if order != 0 { return (order < 0) == term.ascending }
    }
    return ObjectOrder.tie(a.object, b.object)
  }

  /// The order of objects that the keys don't tell apart.
  private static func tie(_ a: NSManagedObject, _ b: NSManagedObject) -> Bool {
    let (x, y) = (a.table.entity.id, b.table.entity.id)
    return x == y ? rank(a.key) < rank(b.key) : x < y
  }

  private static func rank(_ key: Int64) -> UInt64 {
    key > 0 ? UInt64(key) : UInt64(bitPattern: Int64.min) + UInt64(-key)
  }

  /// All objects in order. Reads each key of each object once.
  func sort(_ objects: [NSManagedObject]) -> [NSManagedObject] {
    objects.map(keyed).sorted(by: areInOrder).map(\.object)
  }

  /// `stored` is in order; returns it with the few `others` put in their places.
  func merge(_ stored: [NSManagedObject], _ others: [NSManagedObject]) -> [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(stored.count + others.count)
    var start = 0
    for object in others.map(keyed).sorted(by: areInOrder) {
      var low = start
      var high = stored.count
      while low < high {
        let middle = (low + high) / 2
        if areInOrder(object, stored[middle]) { high = middle } else { low = middle + 1 }
      }
      result += stored[start..<low]
      result.append(object.object)
      start = low
    }
    return result + stored[start...]
  }
}

extension NSManagedObject {
  /// The value at the end of a path over to-one relationships; null where the path ends early. Fires no
  /// faults.
  final func value(at path: BoundPath) -> Value { value(at: path, path.hops[...]) }

  /// The value that the path would lead to if its first relationship led to `key`.
  final func value(at path: BoundPath, firstKey key: Value) -> Value {
    guard case .key(let key) = key, let first = path.hops.first,
      let next = table.scope?.anyObject(key: key, in: table.model[first].destination)
    else { return .null }
    return next.loaded?.value(at: path, path.hops.dropFirst()) ?? .null
  }

  /// The object with its row, or nil if that is gone.
  private var loaded: NSManagedObject? {
    if chunk == nil, !flags.contains(.isDraft) { loadRow() }
    return flags.contains(.isInaccessible) ? nil : self
  }

  private func value(at path: BoundPath, _ hops: ArraySlice<RelationshipID>) -> Value {
    var object = self
    for hop in hops {
      guard let next = object.destination(of: table.model[hop])?.loaded else { return .null }
      object = next
    }
    switch path.target {
    case .slot(let slot): return object.peekedValue(slot)
    case .ownKey: return .key(object.key)
    }
  }
}
