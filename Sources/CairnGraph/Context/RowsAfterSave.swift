// The rows of a store as a change set will leave them, while it isn't committed yet: what derived values are
// computed from. Links between rows are in LinksAfterSave.swift.

import CairnModel

/// Confined to one save, which keeps others from committing meanwhile.
final class RowsAfterSave {
  let schema: Schema
  let changes: ChangeSet
  private let store: any PersistentStore
  private let snapshot: any StoreSnapshot
  /// By root entity: the numbers of the batches, whose keys are one space.
  private var inserts: [[Int]]
  private var updates: [[Int]]
  private var deletes: [[Int]]
  /// By root entity: the rows that were looked for, as they are before the save.
  private var stored: [[Int64: Stored]]
  /// By number of the root entity.
  private var touched: [Int: Set<Int64>] = [:]

  private enum Stored {
    case missing
    case row(Chunk, Int)
  }

  init(_ changes: ChangeSet, _ store: any PersistentStore) throws {
    schema = store.schema
    self.changes = changes
    self.store = store
    snapshot = try store.snapshot()
    let empty = [[Int]](repeating: [], count: schema.entities.count)
    (inserts, updates, deletes) = (empty, empty, empty)
    stored = schema.entities.map { _ in [:] }
    for (index, batch) in changes.inserts.enumerated() { inserts[root(batch.entity)].append(index) }
    for (index, batch) in changes.updates.enumerated() { updates[root(batch.entity)].append(index) }
    for (index, batch) in changes.deletes.enumerated() { deletes[root(batch.entity)].append(index) }
  }

  private func root(_ entity: EntityID) -> Int { schema[entity].root.index }

  // MARK: What the save does to a row

  /// The batch and the row in it.
  func inserted(_ key: Int64, root: EntityID) -> (batch: Int, row: Int)? {
    for index in inserts[root.index] {
      if let row = RowsAfterSave.index(of: key, in: changes.inserts[index].keys) { return (index, row) }
    }
    return nil
  }

  func updated(_ key: Int64, root: EntityID) -> (batch: Int, row: Int)? {
    for index in updates[root.index] {
      if let row = RowsAfterSave.index(of: key, in: changes.updates[index].keys) { return (index, row) }
    }
    return nil
  }

  func isDeleted(_ key: Int64, root: EntityID) -> Bool {
    deletes[root.index].contains { RowsAfterSave.index(of: key, in: changes.deletes[$0].keys) != nil }
  }

  /// Where `key` stands in an ascending list.
  private static func index(of key: Int64, in list: [Int64]) -> Int? {
    list.withUnsafeBufferPointer { list in
      guard let first = list.first, let last = list.last, key >= first, key <= last else { return nil }
      var low = 0
      var high = list.count
      while low < high {
        let middle = (low + high) / 2
        if list[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low < list.count && list[low] == key ? low : nil
    }
  }

  // MARK: Before the save

  /// Looks for rows all at once; those that are known aren't looked for again.
  func load(_ keys: some Sequence<Int64>, root: EntityID) throws {
    var unknown: Set<Int64> = []
    for key in keys where stored[root.index][key] == nil && inserted(key, root: root) == nil {
      unknown.insert(key)
    }
    if unknown.isEmpty { return }
    for key in unknown { stored[root.index][key] = .missing }
    let found = try store.rows(unknown.sorted().map { RowKey(entity: root, id: $0) }, in: snapshot)
    for index in 0..<found.count {
      stored[root.index][found.key(index).id] = .row(found.chunk(index), found.row(index))
    }
  }

  /// The row as it is before the save; nil for none.
  func stored(_ key: Int64, root: EntityID) throws -> (chunk: Chunk, row: Int)? {
    if stored[root.index][key] == nil { try load([key], root: root) }
    guard case .row(let chunk, let row)? = stored[root.index][key] else { return nil }
    return (chunk, row)
  }

  func storedValue(_ key: Int64, root: EntityID, _ slot: Int) throws -> Value {
    guard let (chunk, row) = try stored(key, root: root) else { return .null }
    return try RowsAfterSave.value(chunk.columns[slot], row)
  }

  /// Throws why it can't be read, since what would be computed from null instead is wrong.
  static func value(_ column: Column, _ row: Int) throws -> Value {
    if let damage = column.damage { throw damage }
    let value = column.value(row)
    if let failure = column.failure(at: row) { throw failure }
    return value
  }

  func related(_ keys: [Int64], _ root: EntityID, through relationship: RelationshipID) throws -> RelatedKeys
  {
    try store.related(keys.map { RowKey(entity: root, id: $0) }, through: relationship, in: snapshot)
  }

  func fetch(_ request: StoreRequest) throws -> [Int64] { try store.fetch(request, in: snapshot).ids }

  // MARK: After the save

  /// The value of a slot that isn't derived; null of a row that isn't there.
  func value(_ key: Int64, root: EntityID, _ slot: Int) throws -> Value {
    if let (batch, row) = inserted(key, root: root) {
      return try changes.inserts[batch].columns[slot].map { try RowsAfterSave.value($0, row) } ?? .null
    }
    if let (index, row) = updated(key, root: root) {
      let batch = changes.updates[index]
      if let place = batch.slots.firstIndex(of: slot) {
        return try RowsAfterSave.value(batch.columns[place], row)
      }
    } else if isDeleted(key, root: root) {
      return .null
    }
    return try storedValue(key, root: root, slot)
  }

  /// The same of many rows, of which most are as they are stored: those aren't kept.
  func values(_ keys: [Int64], root: EntityID, _ slot: Int) throws -> [Value] {
    let touched = touched[root.index] ?? noteTouched(root)
    // Owners may share members.
    let untouched = keys.filter { !touched.contains($0) }.sorted()
    var wanted: [RowKey] = []
    for key in untouched where wanted.last?.id != key { wanted.append(RowKey(entity: root, id: key)) }
    let found = wanted.isEmpty ? .empty : try store.rows(wanted, in: snapshot)
    let ids = found.ids
    var next = 0
    var last: (chunk: Chunk, column: Column)?
    return try keys.map { key in
      if touched.contains(key) { return try value(key, root: root, slot) }
      // Keys ascend within an owner's members, and mostly follow each other.
      if next >= ids.count || ids[next] != key {
        guard let place = RowsAfterSave.index(of: key, in: ids) else { return .null }
        next = place
      }
      let chunk = found.chunk(next)
      let row = found.row(next)
      next += 1
      if let last, last.chunk === chunk { return try RowsAfterSave.value(last.column, row) }
      let column = chunk.columns[slot]
      last = (chunk, column)
      return try RowsAfterSave.value(column, row)
    }
  }

  /// The keys that the save inserts, updates or deletes.
  private func noteTouched(_ root: EntityID) -> Set<Int64> {
    var keys: Set<Int64> = []
    for index in inserts[root.index] { keys.formUnion(changes.inserts[index].keys) }
    for index in updates[root.index] { keys.formUnion(changes.updates[index].keys) }
    for index in deletes[root.index] { keys.formUnion(changes.deletes[index].keys) }
    touched[root.index] = keys
    return keys
  }

  /// The keys of rows in which the save sets a slot.
  func keys(updating slot: Int, of family: Set<EntityID>) -> [Int64] {
    changes.updates.flatMap { family.contains($0.entity) && $0.slots.contains(slot) ? $0.keys : [] }
  }

  func keys(deletedFrom family: Set<EntityID>) -> [Int64] {
    changes.deletes.flatMap { family.contains($0.entity) ? $0.keys : [] }
  }
}
