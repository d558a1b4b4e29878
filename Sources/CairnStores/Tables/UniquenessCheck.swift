// Uniqueness constraints: what a change set's rows would have twice, among themselves or with the store.
//
// Rows with a null among a constraint's values never conflict, as in SQL and in Core Data's SQLite store.

import CairnModel

struct UniquenessCheck {
  private let work: CommitWork
  private var schema: Schema { work.schema }

  init(_ work: CommitWork) {
    self.work = work
  }

  func duplicates() throws -> [CommitConflict.Duplicate] {
    var result: [CommitConflict.Duplicate] = []
    for constraint in touchedConstraints() {
      let changed = changedRows(constraint)
      for (values, keys) in changed.groups {
        let stored = storedRow(constraint, values, changed.keys)
        if stored == nil, keys.count == 1 { continue }
        result.append(.init(constraint: constraint, values: values, keys: keys.sorted(), stored: stored))
      }
    }
    return result.sorted { ($0.keys.first?.id ?? 0) < ($1.keys.first?.id ?? 0) }
  }

  private func touchedConstraints() -> [SchemaConstraint] {
    var result: [SchemaConstraint] = []
    func add(_ constraints: some Sequence<SchemaConstraint>) {
      for constraint in constraints where !result.contains(constraint) { result.append(constraint) }
    }
    for batch in work.changes.inserts where !batch.keys.isEmpty {
      add(schema[batch.entity].uniquenessConstraints)
    }
    for batch in work.changes.updates where !batch.keys.isEmpty {
      add(schema[batch.entity].uniquenessConstraints.filter { !Set($0.slots).isDisjoint(with: batch.slots) })
    }
    return result
  }

  /// The rows whose values in the constraint are new: all of their keys, and by values those without null.
  private func changedRows(
    _ constraint: SchemaConstraint
  ) -> (keys: Set<Int64>, groups: [[Value]: [RowKey]]) {
    let family = Set(schema[constraint.entity].concreteFamily)
    var keys: Set<Int64> = []
    var groups: [[Value]: [RowKey]] = [:]
    func add(_ entity: EntityID, _ key: Int64, _ values: [Value]) {
      keys.insert(key)
      if !values.contains(where: \.isNull) {
        groups[values, default: []].append(RowKey(entity: entity, id: key))
      }
    }
    for batch in work.changes.inserts where family.contains(batch.entity) {
      for (row, key) in batch.keys.enumerated() {
        add(batch.entity, key, constraint.slots.map { batch.columns[$0]?.value(row) ?? .null })
      }
    }
    for batch in work.changes.updates where family.contains(batch.entity) {
      if Set(constraint.slots).isDisjoint(with: batch.slots) { continue }
      for (row, key) in batch.keys.enumerated() {
        // A stale row has been reported; its values say nothing.
        guard let (chunk, oldRow) = work.base.tables[batch.entity.index]?.locate(key) else { continue }
        add(
          batch.entity, key,
          constraint.slots.map { slot in
            batch.slots.firstIndex(of: slot).map { batch.columns[$0].value(row) }
              ?? chunk.columns[slot].value(oldRow)
          })
      }
    }
    return (keys, groups)
  }

  /// The row of the store that has these values and keeps them.
  private func storedRow(_ constraint: SchemaConstraint, _ values: [Value], _ changed: Set<Int64>)
    -> StoredRow?
  {
    let deleted = work.deletedKeys[schema[constraint.entity].root]
    func keeps(_ chunk: Chunk, _ row: Int) -> Bool {
      let key = chunk.key(row)
      return !changed.contains(key) && !(deleted?.contains(key) ?? false)
        && zip(constraint.slots, values).allSatisfy { chunk.columns[$0].value(row) == $1 }
    }
    for entity in schema[constraint.entity].concreteFamily {
      guard let table = work.base.tables[entity.index], table.liveCount > 0 else { continue }
      for key in candidates(constraint, values, table).sorted() {
        if let (chunk, row) = table.locate(key), keeps(chunk, row) { return StoredRow(chunk, row) }
      }
    }
    return nil
  }

  private func candidates(_ constraint: SchemaConstraint, _ values: [Value], _ table: Table) -> [Int64] {
    var prefix: [UInt64] = []
    for (slot, value) in zip(constraint.slots, values) {
      guard let words = IndexCoder.words(value, as: table.types[slot]) else { return [] }
      prefix += words
    }
    // The writer holds the newest version, which an index always serves.
    guard let index = table.indexes.index(on: constraint.slots, for: table) else {
      preconditionFailure("the newest version of a table has no index")
    }
    return index.keys(.init(prefix: prefix, next: nil), version: table.serial)
  }
}
