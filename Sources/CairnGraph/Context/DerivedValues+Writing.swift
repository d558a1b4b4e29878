// From a change set to one that has the derived values too, and its commit.

import CairnModel

extension NSPersistentStore {
  /// Commits what a context saves, with the derived values that follow from it. Throws as
  /// `PersistentStore.commit`, and what reading throws.
  ///
  /// Of a model without derived attributes it commits and does nothing else. Otherwise saves of the store
  /// that concern some go one after the other, since each has to be computed from what the one before has
  /// left.
  final func commit(_ changes: ChangeSet, in scope: StoreScope, of save: SavedObjects) throws -> Commit {
    guard let plan = scope.model.derived, plan.isTouched(by: changes) else {
      return try commit(changes, of: save)
    }
    return try derivation.withLock { _ in
      let rows = try RowsAfterSave(changes, store)
      let values = DerivedValues(plan, rows)
      try values.compute()
      return try commit(values.completed(for: scope), of: save)
    }
  }
}

extension DerivedValues {
  /// New values of the slots of one row, by ascending slot.
  private typealias Edits = [(slot: Int, value: Value)]

  /// The change set with the derived values that differ, and without those that were set by hand. `scope` has
  /// the objects that it was made from.
  func completed(for scope: StoreScope) throws -> ChangeSet {
    var changes = rows.changes
    try complete(&changes.inserts)
    var edits = try editsByEntity()
    changes.updates = try changes.updates.flatMap { batch -> [ChangeSet.Updates] in
      if plan.slots[batch.entity.index].isEmpty { return [batch] }
      return try completed(batch, edits: &edits[batch.entity.index])
    }
    for (entity, edits) in edits.enumerated() where !edits.isEmpty {
      changes.updates += try updates(EntityID(entity), edits)
    }
    for index in changes.updates.indices {
      changes.updates[index].versions = try accepted(
        changes.updates[index].versions, changes.updates[index].keys, changes.updates[index].entity, scope)
    }
    for index in changes.deletes.indices {
      changes.deletes[index].versions = try accepted(
        changes.deletes[index].versions, changes.deletes[index].keys, changes.deletes[index].entity, scope)
    }
    return changes
  }

  /// The change set, of new rows and their links alone, with their derived values.
  func completedInserts() throws -> ChangeSet {
    var changes = rows.changes
    try complete(&changes.inserts)
    return changes
  }

  // MARK: Values

  private func complete(_ inserts: inout [ChangeSet.Inserts]) throws {
    for (attribute, result) in zip(plan.attributes, results) {
      for (batch, values) in result.inserted {
        inserts[batch].columns[attribute.slot] = try column(attribute.type, values)
      }
    }
  }

  private func column(_ type: ValueType, _ values: some Collection<Value>) throws -> Column {
    let builder = ColumnBuilder(type)
    builder.reserveCapacity(values.count)
    for value in values { try builder.append(value: value) }
    return builder.finish()
  }

  /// By number of the entity, and by key.
  private func editsByEntity() throws -> [[Int64: Edits]] {
    var edits = [[Int64: Edits]](repeating: [:], count: rows.schema.entities.count)
    for (attribute, result) in zip(plan.attributes, results) {
      for key in result.changed {
        guard let entity = try rows.stored(key, root: attribute.root)?.chunk.entity,
          let value = result.values[key]
        else { continue }
        edits[entity.index][key, default: []].append((attribute.slot, value))
      }
    }
    return edits.map { rows in rows.mapValues { $0.sorted { $0.slot < $1.slot } } }
  }

  /// A batch with the derived values of its rows, which are taken out of `edits`: one batch for each set of
  /// slots.
  private func completed(_ batch: ChangeSet.Updates, edits: inout [Int64: Edits]) throws -> [ChangeSet
    .Updates]
  {
    let derived = plan.slots[batch.entity.index]
    let own = batch.slots.indices.filter { !derived.contains(batch.slots[$0]) }
    var groups: [[Int]: [Int]] = [:]
    var found: [Edits] = []
    found.reserveCapacity(batch.keys.count)
    for (row, key) in batch.keys.enumerated() {
      found.append(edits.removeValue(forKey: key) ?? [])
      groups[found[row].map(\.slot), default: []].append(row)
    }
    return try groups.sorted { $0.value[0] < $1.value[0] }.map { slots, rows in
      let isWhole = rows.count == batch.keys.count
      var made = batch
      if !isWhole {
        made.keys = rows.map { batch.keys[$0] }
        made.versions = batch.versions.map { versions in rows.map { versions[$0] } }
      }
      made.slots = own.map { batch.slots[$0] } + slots
      made.columns = try own.map { place in
        let column = batch.columns[place]
        if isWhole { return column }
        return try self.column(column.type, rows.map { try RowsAfterSave.value(column, $0) })
      }
      made.columns += try columns(rows.map { found[$0] }, slots, batch.entity)
      return made
    }
  }

  /// Updates of rows in which nothing else changes: whatever version they have.
  private func updates(_ entity: EntityID, _ edits: [Int64: Edits]) throws -> [ChangeSet.Updates] {
    var groups: [[Int]: [Int64]] = [:]
    for key in edits.keys.sorted() { groups[(edits[key] ?? []).map(\.slot), default: []].append(key) }
    return try groups.sorted { $0.value[0] < $1.value[0] }.map { slots, keys in
      ChangeSet.Updates(
        entity: entity, keys: keys, versions: nil, slots: slots,
        columns: try columns(keys.map { edits[$0] ?? [] }, slots, entity))
    }
  }

  private func columns(_ edits: [Edits], _ slots: [Int], _ entity: EntityID) throws -> [Column] {
    try slots.indices.map { place in
      try column(rows.schema[entity].slots[slots[place]].type, edits.map { $0[place].value })
    }
  }

  // MARK: Versions

  /// The versions that the rows may have: those that they were read with, and of a row in which since then
  /// nothing but derived values has changed, the one that it has. Costs a look at each row, and at the values
  /// of those that have changed.
  private func accepted(
    _ versions: [Int64]?, _ keys: [Int64], _ entity: EntityID, _ scope: StoreScope
  ) throws -> [Int64]? {
    let derived = plan.slots[entity.index]
    guard var versions, !derived.isEmpty else { return versions }
    let root = rows.schema[entity].root
    try rows.load(keys, root: root)
    for (index, key) in keys.enumerated() {
      guard let (chunk, row) = try rows.stored(key, root: root), chunk.entity == entity,
        chunk.version(row) != versions[index], let object = scope.savedObject(key, root: root),
        let read = object.chunk, read.entity == entity, object.rowVersion == versions[index]
      else { continue }
      let isSame = rows.schema[entity].slots.enumerated().allSatisfy { slot, described in
        // Places in lists change without a new version.
        if case .order = described.role { return true }
        return derived.contains(slot)
          || isEqual(read.columns[slot], Int(object.row), chunk.columns[slot], row)
      }
      if isSame { versions[index] = chunk.version(row) }
    }
    return versions
  }

  private func isEqual(_ a: Column, _ rowOfA: Int, _ b: Column, _ rowOfB: Int) -> Bool {
    guard let a = try? RowsAfterSave.value(a, rowOfA), let b = try? RowsAfterSave.value(b, rowOfB) else {
      return false
    }
    return a.isStoredLike(b)
  }
}
