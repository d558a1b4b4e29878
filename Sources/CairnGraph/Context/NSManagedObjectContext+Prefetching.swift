// Bringing in what a fetch's results are related to, with one question to the store for each step of a path.

import CairnModel
import Foundation

/// The stored members of a to-many relationship as a prefetch has found them.
struct PrefetchedKeys {
  let keys: ArraySlice<RowKey>
  /// They hold for this generation only.
  let generation: Generation
}

extension NSManagedObjectContext {
  /// Loads the destinations of each path for all of `objects`, and keeps them until the next prefetch, save or
  /// end of `perform`. Throws `unknownProperty` for a name that is no relationship, and the stores' errors.
  final func prefetch(_ paths: [String], for objects: [NSManagedObject], of entity: CompiledEntity) throws {
    var held: [NSManagedObject] = []
    for path in paths {
      var step = objects
      var current = entity
      for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
        guard let relation = relation(name, current) else {
          throw StoreError(
            .unknownProperty, "Invalid relationship keypath \(path) to prefetch: \(name) is no relationship",
            entity: current.name, property: name)
        }
        step = try load(relation, of: step)
        held += step
        current = compiledModel[relation.destination]
      }
    }
    prefetched = held
  }

  /// Also of entities that inherit, whose own relationships a path may name.
  private final func relation(_ name: String, _ entity: CompiledEntity) -> Relation? {
    let family = [entity.id] + entity.schema.concreteFamily
    for id in family {
      if case .relationship(let relation)? = compiledModel[id].properties[name] { return relation }
    }
    return nil
  }

  private final func load(_ relation: Relation, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
    var result: [NSManagedObject] = []
    let owners = objects.filter { $0.hasRelation(relation) }
    for scope in scopes {
      let members = owners.filter { $0.table.scope === scope }
      guard !members.isEmpty, let store = scope.store?.store else { continue }
      scope.load(members)
      let snapshot = try store.snapshot()
      if relation.keySlot == nil { try loadKeys(relation, members, store, snapshot) }
      var keys = Set<Int64>()
      for member in members {
        for key in member.peekedKeys(of: relation, snapshot.generation) where key > 0 { keys.insert(key) }
      }
      let root = compiledModel[relation.destination].schema.root
      let missing = keys.filter { key in
        guard let known = scope.knownObject(key, root: root) else { return true }
        return known.isFault && known.chunk == nil
      }
      let rows = missing.sorted().map { RowKey(entity: relation.destination, id: $0) }
      let batch = try checked(store.rows(rows, in: snapshot), in: scope)
      result += scope.register(batch)
      let loaded = Set(missing)
      result += keys.filter { !loaded.contains($0) }.compactMap { scope.knownObject($0, root: root) }
    }
    return result
  }

  private final func loadKeys(
    _ relation: Relation, _ members: [NSManagedObject], _ store: any PersistentStore,
    _ snapshot: any StoreSnapshot
  ) throws {
    let saved = members.filter { !$0.flags.contains(.isDraft) }
    let sources = saved.map { RowKey(entity: $0.table.entity.id, id: $0.key) }
    let related = try store.related(sources, through: relation.id, in: snapshot)
    for (index, member) in saved.enumerated() {
      member.ensureChanges().prefetched[relation.id] = PrefetchedKeys(
        keys: related[index], generation: snapshot.generation)
    }
  }
}

extension NSManagedObject {
  fileprivate final func hasRelation(_ relation: Relation) -> Bool {
    if case .relationship(let own)? = table.entity.properties[relation.name] { return own === relation }
    return false
  }

  /// Without firing the fault.
  fileprivate final func peekedKeys(of relation: Relation, _ generation: Generation) -> [Int64] {
    if let slot = relation.keySlot {
      if case .key(let key) = peekedValue(slot) { return [key] }
      return []
    }
    return changes?.prefetched[relation.id]?.keys.map(\.id) ?? []
  }
}
