// One commit in the making: `check` throws and changes nothing, `apply` changes and can't throw.
//
// Always holds: everything that could refuse the change set is asked in `check`; `apply` makes new versions of
// tables, writing only behind the published count of shared columns, so that a reader sees nothing of it.

import CairnModel
import Foundation

struct CommitWork {
  let base: TableSnapshot
  let changes: ChangeSet
  let nextKeys: [Int64]
  private(set) var nextJoinKeys: [Int64]

  var schema: Schema { base.schema }
  /// The keys that the change set inserts and deletes, by root entity, filled by `check`.
  var insertedKeys: [EntityID: KeySet] = [:]
  var deletedKeys: [EntityID: KeySet] = [:]

  private var tables: [Table?]
  private var joins: [Table]

  init(base: TableSnapshot, changes: ChangeSet, nextKeys: [Int64], nextJoinKeys: [Int64]) {
    self.base = base
    self.changes = changes
    self.nextKeys = nextKeys
    self.nextJoinKeys = nextJoinKeys
    tables = base.tables
    joins = base.joins
  }

  /// The next generation; complete after `apply`.
  var result: TableSnapshot {
    TableSnapshot(
      generation: Generation(base.generation.number + 1), schema: schema, engine: base.engine, tables: tables,
      joins: joins)
  }

  // MARK: Applying

  mutating func apply() {
    var ordering = ListOrdering(base)
    for batch in changes.deletes { tables[batch.entity.index]!.delete(keys: batch.keys) }
    for batch in changes.updates where !batch.slots.isEmpty {
      let (slots, columns) = ordering.completing(batch)
      tables[batch.entity.index]!.update(keys: batch.keys, slots: slots, columns: columns)
    }
    for batch in changes.inserts {
      if batch.keys.isEmpty { continue }
      tables[batch.entity.index]!.insert(keys: batch.keys, columns: ordering.completing(batch))
    }
    applyLinks()
  }

  private mutating func applyLinks() {
    for join in schema.joins {
      var work = JoinWork(join, base.joins[join.index])
      for links in changes.links {
        if case .join(join.index, let side) = schema[links.relationship].storage {
          work.apply(links.change, to: links.owner.id, on: side)
        }
      }
      for (root, keys) in deletedKeys { work.dropRows(of: keys, root: root, schema) }
      work.write(to: &joins[join.index], nextKey: &nextJoinKeys[join.index])
    }
    for links in changes.links {
      guard case .inverse(let slot, let order?) = schema[links.relationship].storage else { continue }
      applyOrder(links, slot, order)
    }
  }

  /// Numbers the members of an ordered list whose keys stand in the members' own rows. Doesn't raise the
  /// members' versions: the order is the owner's.
  private mutating func applyOrder(_ links: ChangeSet.Links, _ slot: Int, _ order: Int) {
    let members: [RowKey]
    var position: Int64 = 1
    switch links.change {
    case .replace(let list): members = list
    case .add(let list):
      members = list.filter { !isMember($0, of: links.owner, slot) }
      position =
        ListOrdering.lastOrder(
          of: links.owner.id, slot, order,
          schema[schema[links.relationship].destination].concreteFamily.compactMap { tables[$0.index] }) &+ 1
    case .remove: return
    }
    var byTable: [EntityID: [(key: Int64, order: Int64)]] = [:]
    for member in members {
      byTable[concreteEntity(of: member), default: []].append((member.id, position))
      position &+= 1
    }
    for (entity, list) in byTable {
      let sorted = list.sorted { $0.key < $1.key }
      let builder = ColumnBuilder(.int64)
      for item in sorted { builder.append(item.order) }
      tables[entity.index]!.update(
        keys: sorted.map(\.key), slots: [order], columns: [builder.finish()], raisingVersions: false)
    }
  }

  /// Whether a row led to `owner` before this commit.
  private func isMember(_ member: RowKey, of owner: RowKey, _ slot: Int) -> Bool {
    guard let (chunk, row) = base.locate(member.id, in: schema[member.entity].root) else { return false }
    return !chunk.columns[slot].isNull(row) && chunk.columns[slot].integer(row) == owner.id
  }

  /// The concrete entity of a row that is there after this commit.
  private func concreteEntity(of key: RowKey) -> EntityID {
    for entity in schema[schema[key.entity].root].concreteFamily
    where tables[entity.index]?.locate(key.id) != nil {
      return entity
    }
    preconditionFailure("row \(key.id) was checked and is gone")
  }

  // MARK: Recording

  func record(time: Date) -> Commit {
    CommitWork.record(
      changes, Generation(base.generation.number + 1), time: time, schema: schema, inserted: insertedKeys)
  }

  /// What history tells of changes. `inserted` are the keys that they insert, by root.
  static func record(
    _ changes: ChangeSet, _ generation: Generation, time: Date, schema: Schema, inserted: [EntityID: KeySet]
  ) -> Commit {
    var updated = changes.updates.filter { !$0.keys.isEmpty && !$0.slots.isEmpty }.map { batch in
      Commit.Rows(
        entity: batch.entity, ids: batch.keys, properties: propertyNames(batch, schema))
    }
    // What a commit inserts it doesn't update too.
    for links in changes.links
    where !(inserted[schema[links.owner.entity].root]?.contains(links.owner.id) ?? false) {
      updated.append(
        Commit.Rows(
          entity: links.owner.entity, ids: [links.owner.id], properties: [schema[links.relationship].name]))
    }
    return Commit(
      generation: generation, author: changes.author, contextName: changes.contextName, time: time,
      insertedRows: changes.inserts.filter { !$0.keys.isEmpty }.map {
        Commit.Rows(entity: $0.entity, ids: $0.keys)
      },
      updatedRows: updated,
      deletedRows: changes.deletes.filter { !$0.keys.isEmpty }.map {
        Commit.Rows(entity: $0.entity, ids: $0.keys)
      })
  }

  /// The properties that a batch changes, each once: a composite attribute for its elements, a relationship for
  /// its key and its place.
  private static func propertyNames(_ batch: ChangeSet.Updates, _ schema: Schema) -> [String] {
    let entity = schema[batch.entity]
    var names: [String] = []
    for slot in batch.slots {
      let name: String
      switch entity.slots[slot].role {
      case .attribute:
        name = entity.attributes.first { $0.slots.contains(slot) }?.name ?? entity.slots[slot].name
      case .toOne: name = entity.slots[slot].name
      case .order(let key): name = entity.slots[key].name
      }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}

/// Keys as the sorted lists that a change set's batches bring, without copying them into a hash table.
struct KeySet {
  private(set) var lists: [[Int64]] = []

  /// `keys` ascends.
  mutating func add(_ keys: [Int64]) {
    if !keys.isEmpty { lists.append(keys) }
    // Many small batches would make each question long.
    if lists.count > 8 { lists = [lists.joined().sorted()] }
  }

  init() {}

  init(_ keys: [Int64]) { add(keys) }

  func contains(_ key: Int64) -> Bool { lists.contains { KeySet.index(of: key, in: $0) != nil } }

  /// Where `key` stands in an ascending list.
  static func index(of key: Int64, in list: [Int64]) -> Int? {
    var low = 0
    var high = list.count
    while low < high {
      let middle = (low + high) / 2
      if list[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < list.count && list[low] == key ? low : nil
  }

  var all: [Int64] { lists.flatMap { $0 } }
}
