// From what a custom store says of an object to the values of its slots, and to keys.

import CairnModel
import Foundation

/// Reads the values of one entity's objects. Throws 134070 for a value that doesn't fit.
struct CustomValues {
  let entity: CompiledEntity
  /// The value of a property, as the store keeps it; nil for none.
  let value: (String) -> Any?

  /// The value of an attribute's slot. A composite attribute's value is a dictionary.
  func attribute(_ slot: Int) throws -> Value {
    let described = entity.schema.slots[slot]
    let parts = described.name.split(separator: ".").map(String.init)
    var found = value(parts[0])
    for part in parts.dropFirst() { found = (found as? [String: Any])?[part] }
    if described.type == .transformable, let data = found as? Data { return .data(data) }
    guard let value = Value(found, for: described.type) else {
      throw CustomValues.error(
        "\(entity.name).\(described.name) is \(found.map { "\($0)" } ?? "nil"), which doesn't fit \(described.type)"
      )
    }
    return value
  }

  static func error(_ message: String) -> NSError {
    .coreData(NSPersistentStoreOperationError, "the custom store says nonsense: \(message)")
  }

  /// The ID that a value names: an ID, an object or a cache node; nil for null.
  static func id(_ any: Any?) throws -> NSManagedObjectID? {
    switch any {
    case nil, is NSNull: return nil
    case let id as NSManagedObjectID: return id
    case let node as NSAtomicStoreCacheNode: return node.objectID
    case let object as NSManagedObject: return object.objectID
    case let other?: throw error("\(other) is no object ID, object or cache node")
    }
  }

  /// The IDs that the value of a to-many relationship names, in its order if it has one.
  static func ids(_ any: Any?) throws -> [NSManagedObjectID] {
    let members: [Any]
    switch any {
    case nil, is NSNull: members = []
    case let list as [Any]: members = list
    case let set as Set<AnyHashable>: members = Array(set)
    case let set as NSSet: members = set.allObjects
    case let set as NSOrderedSet: members = set.array
    case let other?: throw error("\(other) is no collection of objects")
    }
    return try members.compactMap { try id($0 is AnyHashable ? ($0 as? AnyHashable)?.base ?? $0 : $0) }
  }
}
