// The rows of a damaged archive without what can't be read of them: the one place where damage becomes null.

import CairnModel

/// Brings the chunks of one state into a form in which all columns can be read, and notes what is lost by it.
/// Confined to whoever made it.
final class ChunkRepair {
  private(set) var report: SalvageReport
  /// The tables; rows whose keys can't be read have new ones, behind all others.
  private(set) var snapshot: TableSnapshot
  private(set) var nextKeys: [Int64]
  private let schema: Schema
  /// Whether rows have other keys than before, so that relationships may lead nowhere.
  private var hasMovedRows = false
  /// The keys that the rows of a chunk had in the damaged file, where they have others now.
  private var oldKeys: [ObjectIdentifier: ClosedRange<Int64>] = [:]

  init(_ state: ArchiveFile.State, _ report: SalvageReport, engine: ObjectIdentifier) {
    self.report = report
    schema = state.source.schema
    nextKeys = state.index.nextKeys
    snapshot = TableSnapshot(empty: schema, engine: engine)
    var tables: [Int: Table] = [:]
    for table in state.index.tables.indices where ArchiveTables.isStored(table, schema) {
      tables[table] = self.table(table, state)
    }
    let entityCount = schema.entities.count
    snapshot = TableSnapshot(
      generation: Generation(state.index.generation), schema: schema, engine: engine,
      tables: (0..<entityCount).map { tables[$0] },
      joins: (entityCount..<state.index.tables.count).map { tables[$0]! })
  }

  private func table(_ number: Int, _ state: ArchiveFile.State) -> Table {
    let entity = ArchiveTables.entity(number, schema)
    let types = ArchiveTables.types(number, schema)
    let nothing = [Column?](repeating: nil, count: types.count + 2)
    var chunks: [Chunk] = []
    var moved: [Chunk] = []
    for group in state.index.tables[number] {
      for place in group.chunks.indices {
        let chunk = group.chunk(place, entity: entity, nothingHeld: nothing)
        guard let reason = keyDamage(chunk) else {
          chunks.append(chunk)
          continue
        }
        if number < schema.entities.count {
          moved.append(withNewKeys(chunk, number, reason))
        } else {
          // Nothing names the keys of a pair.
          chunks.append(withKeys(from: chunk.firstKey, chunk))
        }
      }
    }
    var list = ChunkList()
    for chunk in chunks + moved { list.append(chunk) }
    return Table(
      entity: entity, types: types, damage: state.source.damage, chunks: list,
      liveCount: (chunks + moved).reduce(0) { $0 + $1.liveCount })
  }

  /// Why the keys of a chunk can't be used; nil where they can.
  private func keyDamage(_ chunk: Chunk) -> String? {
    if chunk.hasDenseKeys { return nil }
    let keys = chunk.backing!.column(chunk.slotCount + 1)
    if let damage = keys.damage { return damage.message }
    let isOrdered = (1..<max(chunk.count, 1)).allSatisfy { keys.integer($0 - 1) < keys.integer($0) }
    let isFitting = keys.integer(0) == chunk.firstKey && keys.integer(chunk.count - 1) == chunk.lastKey
    return isOrdered && isFitting ? nil : "the keys don't ascend as the footer says"
  }

  /// A chunk whose keys are lost: its rows stay, under new keys, and nothing leads to them any more.
  private func withNewKeys(_ chunk: Chunk, _ number: Int, _ reason: String) -> Chunk {
    let root = schema.entities[number].root.index
    let moved = withKeys(from: nextKeys[root], chunk)
    nextKeys[root] += Int64(chunk.count)
    hasMovedRows = true
    oldKeys[ObjectIdentifier(moved)] = chunk.firstKey...chunk.lastKey
    report.lose(
      schema.entities[number].name, "(keys)", keys: chunk.firstKey...chunk.lastKey, rows: chunk.liveCount,
      reason)
    return moved
  }

  private func withKeys(from first: Int64, _ chunk: Chunk) -> Chunk {
    Chunk(
      entity: chunk.entity, count: chunk.count, firstKey: first, lastKey: first + Int64(chunk.count - 1),
      hasDenseKeys: true, deleted: chunk.deleted, slotCount: chunk.slotCount, held: chunk.held,
      backing: chunk.backing)
  }

  /// As the damaged file has them.
  private func keys(of chunk: Chunk) -> ClosedRange<Int64> {
    oldKeys[ObjectIdentifier(chunk)] ?? chunk.firstKey...chunk.lastKey
  }

  // MARK: Chunk by chunk

  /// The chunk with columns that can all be read; nil where nothing of it is of use.
  func repaired(_ chunk: Chunk, _ table: Int) -> Chunk? {
    var columns = (0..<chunk.slotCount).map { chunk.columns[$0] }
    var isChanged = false
    func lose(_ slot: Int?, _ place: Int, _ reason: String) {
      let names = ArchiveTables.names(table, place, schema)
      report.lose(
        names.table, slot == nil ? nil : names.column, keys: keys(of: chunk),
        rows: chunk.liveCount, reason)
      isChanged = true
    }
    for slot in columns.indices {
      guard let damage = columns[slot].damage else { continue }
      if table >= schema.entities.count, slot == JoinSlot.source || slot == JoinSlot.target {
        lose(nil, slot, damage.message)
        return nil
      }
      lose(slot, slot, damage.message)
      columns[slot] = .nulls(columns[slot].type, chunk.count)
    }
    for slot in columns.indices {
      let lost = lostBlobs(columns[slot], chunk)
      if lost.isEmpty { continue }
      let names = ArchiveTables.names(table, slot, schema)
      for (row, reason) in lost where !chunk.isDeleted(row) {
        let key = keys(of: chunk).lowerBound + chunk.key(row) - chunk.firstKey
        report.lose(names.table, names.column, keys: key...key, rows: 1, reason)
      }
      columns[slot] = columns[slot].nulling(lost.map(\.row))
      isChanged = true
    }
    var versions = chunk.versions
    if let damage = versions.damage {
      lose(chunk.slotCount, chunk.slotCount, damage.message)
      versions = .ones(chunk.count)
    }
    if hasMovedRows, table < schema.entities.count, unlink(&columns, chunk, table) { isChanged = true }
    if isChanged { order(&columns, chunk, table) }
    count(chunk, table)
    guard isChanged else { return chunk }
    return Chunk(
      entity: chunk.entity, count: chunk.count, firstKey: chunk.firstKey,
      explicitKeys: chunk.hasDenseKeys ? nil : chunk.place(chunk.slotCount + 1), versions: versions,
      deleted: chunk.deleted, columns: columns)
  }

  /// Rows whose value is kept apart and can't be read, and why.
  private func lostBlobs(_ column: Column, _ chunk: Chunk) -> [(row: Int, reason: String)] {
    column.blobs(chunk.count).compactMap { row, blob in
      do {
        _ = try blob.verified()
        return nil
      } catch {
        return (row, (error as? StoreError)?.message ?? "\(error)")
      }
    }
  }

  private func count(_ chunk: Chunk, _ table: Int) {
    guard table < schema.entities.count else { return }
    let name = schema.entities[table].name
    if report.rows.last?.entity != name { report.rows.append((name, 0)) }
    report.rows[report.rows.count - 1].count += chunk.liveCount
  }

  /// Nulls what leads to rows that aren't there under that key any more.
  private func unlink(_ columns: inout [Column], _ chunk: Chunk, _ table: Int) -> Bool {
    var isChanged = false
    for (slot, described) in schema.entities[table].slots.enumerated() {
      guard case .toOne(let relationship) = described.role else { continue }
      let column = columns[slot]
      let destination = schema[relationship].destination
      let lost = (0..<chunk.count).filter { row in
        !column.isNull(row) && snapshot.locate(column.integer(row), in: destination) == nil
      }
      if lost.isEmpty { continue }
      let live = lost.count { !chunk.isDeleted($0) }
      if live > 0 {
        report.lose(
          schema.entities[table].name, described.name, keys: keys(of: chunk),
          rows: live, "it led to rows whose keys are lost")
      }
      let unlinked = Bitmap(setting: lost, capacity: chunk.count)
      let kept = ColumnBuilder(.key)
      for row in 0..<chunk.count {
        column.isNull(row) || unlinked[row] ? kept.appendNull() : kept.append(column.integer(row))
      }
      columns[slot] = kept.finish()
      isChanged = true
    }
    return isChanged
  }

  /// Places in ordered lists: none for a row without an owner; in the order of keys where the places are lost.
  private func order(_ columns: inout [Column], _ chunk: Chunk, _ table: Int) {
    guard table < schema.entities.count else {
      let join = schema.joins[table - schema.entities.count]
      for (slot, isOrdered) in [
        (JoinSlot.sourceOrder, join.isSourceOrdered), (JoinSlot.targetOrder, join.isTargetOrdered),
      ] where isOrdered && columns[slot].nullCount == chunk.count {
        columns[slot] = places(chunk) { _ in true }
      }
      return
    }
    for (slot, described) in schema.entities[table].slots.enumerated() {
      guard case .order(let of) = described.role else { continue }
      let (owners, old) = (columns[of], columns[slot])
      if (0..<chunk.count).allSatisfy({ owners.isNull($0) == old.isNull($0) }) { continue }
      columns[slot] = places(chunk) { !owners.isNull($0) }
      if old.nullCount < chunk.count {
        // Only owners are lost: the others keep their places.
        let kept = ColumnBuilder(.int64)
        for row in 0..<chunk.count {
          owners.isNull(row) || old.isNull(row) ? kept.appendNull() : kept.append(old.integer(row))
        }
        columns[slot] = kept.finish()
      }
    }
  }

  private func places(_ chunk: Chunk, where hasPlace: (Int) -> Bool) -> Column {
    let builder = ColumnBuilder(.int64)
    for row in 0..<chunk.count { hasPlace(row) ? builder.append(chunk.key(row)) : builder.appendNull() }
    return builder.finish()
  }
}

extension Column {
  fileprivate static func nulls(_ type: ValueType, _ count: Int) -> Column {
    let builder = ColumnBuilder(type)
    for _ in 0..<count { builder.appendNull() }
    return builder.finish()
  }

  fileprivate static func ones(_ count: Int) -> Column {
    let builder = ColumnBuilder(.int64)
    for _ in 0..<count { builder.append(Int64(1)) }
    return builder.finish()
  }
}
