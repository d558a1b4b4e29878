// What a change set is in the numbers of another schema, which has the same names in another order.

import CairnModel

/// The numbers that one schema has for the entities, slots and relationships of another.
struct ChangeNumbers: Sendable {
  private struct EntityNumbers {
    let id: EntityID
    /// By slot.
    let slots: [Int]
  }

  /// By entity; nil where these and their slots have the same numbers in both.
  private let entities: [EntityNumbers]?
  /// By relationship. nil for one that isn't stored, which no changes name.
  private let relationships: [RelationshipID?]

  /// nil where all numbers are the same. `order` is from the one schema to the other, and has no flips.
  init?(from: Schema, _ order: SchemaOrder) {
    let to = order.given
    relationships = from.relationships.map {
      to.entity(named: from[$0.owner].name)?.relationship(named: $0.name)
    }
    entities =
      order.isSame
      ? nil
      : from.entities.map { entity in
        let table = order.tables[entity.id.index]
        return EntityNumbers(
          id: EntityID(table.given), slots: table.givenPlaces ?? Array(entity.slots.indices))
      }
    if entities == nil, relationships.count == to.relationships.count,
      relationships.enumerated().allSatisfy({ $1?.index == $0 })
    {
      return nil
    }
  }

  /// Whether links may name a relationship of `from` that there is no number for.
  func leavesOutLinks(of from: Schema) -> Bool {
    zip(from.relationships, relationships).contains { $0.mayHaveLinks && $1 == nil }
  }

  /// `changes` are ones that a commit accepts, or that were read. Batches without rows are left out.
  func translated(_ changes: ChangeSet) -> ChangeSet {
    var result = changes
    if let entities {
      result.inserts = changes.inserts.filter { !$0.keys.isEmpty }.map { translated($0, entities) }
      result.updates = changes.updates.filter { !$0.keys.isEmpty }.map { batch in
        var result = batch
        let entity = entities[batch.entity.index]
        result.entity = entity.id
        result.slots = batch.slots.map { entity.slots[$0] }
        return result
      }
      result.deletes = changes.deletes.filter { !$0.keys.isEmpty }.map { batch in
        var result = batch
        result.entity = entities[batch.entity.index].id
        return result
      }
    }
    result.links = changes.links.map { translated($0) }
    return result
  }

  private func translated(_ batch: ChangeSet.Inserts, _ entities: [EntityNumbers]) -> ChangeSet.Inserts {
    let entity = entities[batch.entity.index]
    var columns = batch.columns
    for (slot, column) in batch.columns.enumerated() { columns[entity.slots[slot]] = column }
    return .init(entity: entity.id, keys: batch.keys, columns: columns)
  }

  private func translated(_ links: ChangeSet.Links) -> ChangeSet.Links {
    guard let relationship = relationships[links.relationship.index] else { return links }
    let change: ChangeSet.LinkChange =
      switch links.change {
      case .add(let members): .add(members.map(translated))
      case .remove(let members): .remove(members.map(translated))
      case .replace(let members): .replace(members.map(translated))
      }
    return .init(relationship, of: translated(links.owner), change)
  }

  private func translated(_ key: RowKey) -> RowKey {
    entities.map { RowKey(entity: $0[key.entity.index].id, id: key.id) } ?? key
  }
}

extension SchemaRelationship {
  /// Whether change sets may have links of it.
  fileprivate var mayHaveLinks: Bool {
    switch storage {
    case .join, .inverse(_, .some): true
    case .key, .inverse, .none: false
    }
  }
}
