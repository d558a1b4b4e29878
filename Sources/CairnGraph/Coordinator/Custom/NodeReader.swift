// From the cache nodes of an atomic store to one change set that fills its tables.

import CairnModel
import Foundation

/// Reads all nodes of a store. Throws 134070 for a value that doesn't fit its property.
struct NodeReader {
  private let model: CompiledModel
  /// By concrete entity, in the order of keys.
  private var nodes: [EntityID: [NSAtomicStoreCacheNode]] = [:]
  /// Keys in to-one slots that only the other side's node tells of.
  private var owners: [RowKey: [Int: Int64]] = [:]
  private var made = ChangeSet()

  init(_ model: CompiledModel, _ nodes: [EntityID: [Int64: NSAtomicStoreCacheNode]]) {
    self.model = model
    for node in nodes.values.flatMap(\.values) {
      self.nodes[EntityID(node.objectID.entity.compiledIndex), default: []].append(node)
    }
    for entity in self.nodes.keys { self.nodes[entity]?.sort { $0.objectID.key < $1.objectID.key } }
  }

  /// One change set with everything.
  func changes() throws -> ChangeSet {
    var reader = self
    for (entity, nodes) in nodes {
      for node in nodes { try reader.readToMany(node, model[entity]) }
    }
    for (entity, nodes) in nodes.sorted(by: { $0.key < $1.key }) {
      try reader.readRows(nodes, model[entity])
    }
    return reader.made
  }

  private mutating func readToMany(_ node: NSAtomicStoreCacheNode, _ entity: CompiledEntity) throws {
    for id in entity.schema.relationships {
      let relation = model[id]
      guard relation.isToMany, relation.storage != .none, let value = node.value(forKey: relation.name) else {
        continue
      }
      let members = try CustomValues.ids(value)
      if case .inverse(let slot, _) = relation.storage {
        for member in members { owners[rowKey(member), default: [:]][slot] = node.objectID.key }
        if !relation.isOrdered { continue }
      }
      if members.isEmpty { continue }
      let keys = (relation.isOrdered ? members : members.sorted { $0.key < $1.key }).map(rowKey)
      made.links.append(
        ChangeSet.Links(id, of: rowKey(node.objectID), relation.isOrdered ? .replace(keys) : .add(keys)))
    }
  }

  private func rowKey(_ id: NSManagedObjectID) -> RowKey {
    RowKey(entity: EntityID(id.entity.compiledIndex), id: id.key)
  }

  private mutating func readRows(_ nodes: [NSAtomicStoreCacheNode], _ entity: CompiledEntity) throws {
    let builders = entity.slotTypes.map { ColumnBuilder($0) }
    for node in nodes {
      let values = CustomValues(entity: entity) { node.value(forKey: $0) }
      for (slot, builder) in builders.enumerated() {
        switch entity.schema.slots[slot].role {
        case .attribute: try builder.append(value: try values.attribute(slot))
        case .order: builder.appendNull()
        case .toOne(let relationship):
          let key =
            try CustomValues.id(node.value(forKey: model[relationship].name))?.key
            ?? owners[rowKey(node.objectID)]?[slot]
          if let key { builder.append(key) } else { builder.appendNull() }
        }
      }
    }
    made.inserts.append(
      ChangeSet.Inserts(
        entity: entity.id, keys: nodes.map(\.objectID.key), columns: builders.map { $0.finish() }))
  }
}
