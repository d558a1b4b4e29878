// Copying the rows of one store into another, of the same schema, batch by batch and through the store protocol
// alone.
//
// Rows first, without the keys that lead to other rows; then the keys; then lists and join rows. So no batch leads
// to a row that isn't there yet, whatever the order of the entities.

import CairnModel
import Foundation

/// One copy. The target is empty.
struct StoreCopier {
  /// A batch of rows and what their keys have become.
  struct Moved {
    let entity: EntityID
    let old: [Int64]
    let new: [Int64]
  }

  private static let batchSize = Chunk.capacity

  private let source: any PersistentStore
  private let target: any PersistentStore
  private let schema: Schema
  private let snapshot: any StoreSnapshot
  private let entities: [EntityID]
  /// By root entity: old keys to new ones.
  private var keys: [EntityID: [Int64: Int64]] = [:]
  private(set) var moved: [Moved] = []

  /// `entities` are the concrete ones to copy.
  init(from source: any PersistentStore, to target: any PersistentStore, _ entities: [EntityID]) throws {
    self.source = source
    self.target = target
    schema = source.schema
    snapshot = try source.snapshot()
    self.entities = entities
  }

  mutating func copy() throws {
    for entity in entities { try copyRows(schema[entity]) }
    for entity in entities { try copyKeys(schema[entity]) }
    for relationship in schema.relationships { try copyLinks(relationship) }
  }

  // MARK: Rows

  private func batches(of entity: EntityID) throws -> [RowBatch] {
    let all = try source.fetch(StoreRequest(entity: entity, includesSubentities: false), in: snapshot)
    return stride(from: 0, to: all.count, by: Self.batchSize).map { start in
      all.part(start..<min(start + Self.batchSize, all.count))
    }
  }

  private mutating func copyRows(_ entity: SchemaEntity) throws {
    for batch in try batches(of: entity.id) {
      let reserved = try target.reserveKeys(batch.count, root: entity.root)
      let columns = entity.slots.indices.map { slot in
        entity.slots[slot].role == .attribute ? batch.column(slot) : nil
      }
      let old = batch.ids
      let new = Array(reserved)
      var changes = ChangeSet()
      changes.inserts = [ChangeSet.Inserts(entity: entity.id, keys: new, columns: columns)]
      _ = try target.commit(changes)
      for (before, after) in zip(old, new) { keys[entity.root, default: [:]][before] = after }
      moved.append(Moved(entity: entity.id, old: old, new: new))
    }
  }

  // MARK: To-one keys

  private func copyKeys(_ entity: SchemaEntity) throws {
    let slots = entity.slots.indices.filter { if case .toOne = entity.slots[$0].role { true } else { false } }
    if slots.isEmpty { return }
    for batch in try batches(of: entity.id) {
      let rows = keys[entity.root] ?? [:]
      var changes = ChangeSet()
      changes.updates = [
        ChangeSet.Updates(
          entity: entity.id, keys: batch.ids.map { rows[$0] ?? 0 }, versions: nil, slots: slots,
          columns: slots.map { keyColumn(batch, entity, $0) })
      ]
      _ = try target.commit(changes)
    }
  }

  /// The keys that the destinations have in the target; nil for one that has no row.
  private func keyColumn(_ batch: RowBatch, _ entity: SchemaEntity, _ slot: Int) -> Column {
    let column = ColumnBuilder(.key)
    guard case .toOne(let relationship) = entity.slots[slot].role else { return column.finish() }
    let map = keys[schema[schema[relationship].destination].root] ?? [:]
    for row in 0..<batch.count {
      if case .key(let old) = batch.value(row, slot: slot), let new = map[old] {
        column.append(new)
      } else {
        column.appendNull()
      }
    }
    return column.finish()
  }

  // MARK: Lists and join rows

  private func copyLinks(_ relationship: SchemaRelationship) throws {
    switch relationship.storage {
    case .key, .none, .inverse(_, nil): return
    case .join(_, .target) where !relationship.isOrdered: return
    case .join, .inverse: break
    }
    let owners = schema[relationship.owner].concreteFamily.filter(entities.contains)
    for owner in owners {
      for batch in try batches(of: owner) { try copyLinks(relationship, of: batch) }
    }
  }

  private func copyLinks(_ relationship: SchemaRelationship, of batch: RowBatch) throws {
    let related = try source.related(batch.keys, through: relationship.id, in: snapshot)
    let owners = keys[schema[relationship.owner].root] ?? [:]
    let members = keys[schema[relationship.destination].root] ?? [:]
    var changes = ChangeSet()
    for (index, key) in batch.keys.enumerated() {
      let list = related[index].compactMap { member in
        members[member.id].map { RowKey(entity: relationship.destination, id: $0) }
      }
      guard !list.isEmpty, let owner = owners[key.id] else { continue }
      changes.links.append(
        ChangeSet.Links(
          relationship.id, of: RowKey(entity: key.entity, id: owner),
          relationship.isOrdered ? .replace(list) : .add(list)))
    }
    if !changes.isEmpty { _ = try target.commit(changes) }
  }
}

extension RowBatch {
  /// Some of the rows, with the chunks that they are in and no others.
  fileprivate func part(_ range: Range<Int>) -> RowBatch {
    var numbers: [UInt32: Int] = [:]
    var chunks: [Chunk] = []
    let places = self.places[range].map { place in
      let number =
        numbers[place.chunk]
        ?? {
          numbers[place.chunk] = chunks.count
          chunks.append(self.chunks[Int(place.chunk)])
          return chunks.count - 1
        }()
      return Place(chunk: number, row: Int(place.row))
    }
    return RowBatch(chunks: chunks, places: places)
  }
}
