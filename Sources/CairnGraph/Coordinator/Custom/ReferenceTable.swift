// How a custom store's own names for its objects become keys, and back. What such a name is in a URI stands in
// ReferenceName.swift.

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
    var keys: [EntityID: [ReferenceName: Int64]] = [:]
    /// The keys of other names than strings, numbers and UUIDs by their texts; 0 for a text that two of them have.
    var texts: [EntityID: [String: Int64]] = [:]
    /// By root entity.
    var references: [EntityID: [Int64: (entity: EntityID, reference: Any)]] = [:]
    var next: [EntityID: Int64] = [:]

    mutating func note(
      _ key: Int64, _ name: ReferenceName, _ text: String?, _ reference: Any, _ entity: SchemaEntity
    ) {
      keys[entity.id, default: [:]][name] = key
      references[entity.root, default: [:]][key] = (entity.id, reference)
      guard let text else { return }
      let known = texts[entity.id]?[text] ?? key
      texts[entity.id, default: [:]][text] = known == key ? key : 0
    }
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
    let name = ReferenceName(reference)
    let text = name.otherText
    return names.withLock { names in
      if let known = names.keys[entity.id]?[name] { return known }
      let root = entity.schema.root
      let key = names.next[root, default: 1]
      names.next[root] = key + 1
      names.note(key, name, text, reference, entity.schema)
      return key
    }
  }

  /// Gives a key that exists already its reference object.
  func bind(_ key: Int64, to reference: Any, of entity: CompiledEntity) {
    let name = ReferenceName(reference)
    let text = name.otherText
    names.withLock { names in
      let root = entity.schema.root
      names.next[root] = max(names.next[root, default: 1], key + 1)
      names.note(key, name, text, reference, entity.schema)
    }
  }

  /// The concrete entity and the reference object of a key; nil for a key that was never given.
  func name(of key: Int64, root: EntityID) -> (entity: EntityID, reference: Any)? {
    names.withLock { $0.references[root]?[key] }
  }

  /// The greatest key so far.
  func lastKey(root: EntityID) -> Int64 { names.withLock { $0.next[root, default: 1] - 1 } }

  // MARK: IDs

  func id(_ key: Int64, _ entity: CompiledEntity, _ store: NSPersistentStore) -> NSManagedObjectID {
    NSManagedObjectID(key: key, entity: entity, store: store, origin: store.uuid)
  }

  /// Of a temporary ID and of one of another store, a programmer error.
  func reference(of id: NSManagedObjectID, in store: NSPersistentStore) -> Any {
    guard id.origin == store.uuid, let name = name(of: id.key, root: id.root) else {
      fatalError("\(id) names no object of the store \(store.identifier ?? "")")
    }
    return name.reference
  }

  func uriName(of key: Int64, in description: NSEntityDescription) -> String {
    guard let name = name(of: key, root: entity(description).schema.root) else { return "p\(key)" }
    return ReferenceName(name.reference).uriName
  }

  /// Whether or not the store has spoken of the object yet: a string, a number or a UUID that wasn't seen so far
  /// gets its key here. nil for a text that is no name's.
  func key(ofURIName text: String, in description: NSEntityDescription) -> Int64? {
    let entity = entity(description)
    if let reference = ReferenceName.reference(ofURIName: text) { return key(reference, of: entity) }
    let key = names.withLock { $0.texts[entity.id]?[text] }
    return key == 0 ? nil : key
  }
}
