// How a custom store's own names for its objects become keys, and back.

import CairnModel
import Foundation

/// The model that a custom store was opened with, and its objects' reference objects.
///
/// Keys are given in the order in which reference objects turn up, and mean nothing after the store is closed:
/// URIs are made of the reference object.
///
/// Sendable: what changes stands behind locks. Reference objects are values (strings, numbers, UUIDs).
final class ReferenceTable: @unchecked Sendable {
  private struct Names {
    var keys: [EntityID: [AnyHashable: Int64]] = [:]
    /// By root entity.
    var references: [EntityID: [Int64: (entity: EntityID, reference: AnyHashable)]] = [:]
    var next: [EntityID: Int64] = [:]
  }

  /// Held while a custom store's code runs, which may come back to the store on the same thread.
  let lock = NSRecursiveLock()
  let model: CompiledModel
  private let names: Lock<Names>

  init(_ model: CompiledModel) {
    self.model = model
    names = Lock(Names())
  }

  func entity(_ description: NSEntityDescription) -> CompiledEntity {
    let index = description.compiledIndex
    guard model.entities.indices.contains(index), model.entities[index].description === description else {
      fatalError("the entity \"\(description.name ?? "")\" isn't in the model of the store's coordinator")
    }
    return model.entities[index]
  }

  /// The key of a reference object; a new one when it wasn't seen yet. Anything that can't be hashed is a
  /// programmer error.
  func key(_ reference: Any, of entity: CompiledEntity) -> Int64 {
    let name = hashable(reference)
    return names.withLock { names in
      if let known = names.keys[entity.id]?[name] { return known }
      let root = entity.schema.root
      let key = names.next[root, default: 1]
      names.next[root] = key + 1
      names.keys[entity.id, default: [:]][name] = key
      names.references[root, default: [:]][key] = (entity.id, name)
      return key
    }
  }

  /// Gives a key that exists already its reference object.
  func bind(_ key: Int64, to reference: Any, of entity: CompiledEntity) {
    let name = hashable(reference)
    names.withLock { names in
      let root = entity.schema.root
      names.next[root] = max(names.next[root, default: 1], key + 1)
      names.keys[entity.id, default: [:]][name] = key
      names.references[root, default: [:]][key] = (entity.id, name)
    }
  }

  /// The concrete entity and the reference object of a key; nil for a key that was never given.
  func name(of key: Int64, root: EntityID) -> (entity: EntityID, reference: AnyHashable)? {
    names.withLock { $0.references[root]?[key] }
  }

  /// The greatest key so far.
  func lastKey(root: EntityID) -> Int64 { names.withLock { $0.next[root, default: 1] - 1 } }

  private func hashable(_ reference: Any) -> AnyHashable {
    guard let name = reference as? AnyHashable else {
      fatalError("the reference object \(reference) is a \(type(of: reference)), which can't be hashed")
    }
    return name
  }

  // MARK: IDs

  func id(_ key: Int64, _ entity: CompiledEntity, _ store: NSPersistentStore) -> NSManagedObjectID {
    NSManagedObjectID(key: key, entity: entity, store: store, origin: store.uuid)
  }

  /// Of a temporary ID and of one of another store, a programmer error.
  func reference(of id: NSManagedObjectID, in store: NSPersistentStore) -> Any {
    guard id.origin == store.uuid, let name = name(of: id.key, root: id.root) else {
      fatalError("\(id) names no object of the store \(store.identifier ?? "")")
    }
    return name.reference.base
  }

  func uriName(of key: Int64, in description: NSEntityDescription) -> String {
    guard let name = name(of: key, root: entity(description).schema.root) else { return "p\(key)" }
    return "p\(name.reference.base)"
  }

  /// A text that no reference object prints as yet means a number if it is one, and else itself.
  func key(ofURIName text: String, in description: NSEntityDescription) -> Int64? {
    guard text.hasPrefix("p") else { return nil }
    let entity = entity(description)
    let name = String(text.dropFirst())
    let known = names.withLock { names in
      names.keys[entity.id]?.first { "\($0.key.base)" == name }?.value
    }
    if let known { return known }
    return key(Int64(name).map { NSNumber(value: $0) as Any } ?? name, of: entity)
  }
}
