// The rows of tables in memory as another schema with the same names has them. (Those of a file:
// ArchiveStore.beginning.)

import CairnModel

extension TableSnapshot {
  /// The same rows as the schema `order.given` has them; `order` is from this snapshot's own schema. The
  /// chunks share all columns with these, also those that aren't read yet; indexes are built anew.
  ///
  /// Keys of one-to-one pairs that this snapshot has on the other side cost one pass over them, and the
  /// memory of three keys a row. Throws what of them can't be read.
  func reordered(_ order: SchemaOrder, _ damage: DamageLog) throws -> TableSnapshot {
    var turned: [Int: [(place: Int, sourceOf: [Int64: Int64])]] = [:]
    for flip in order.flips where table(flip.table) != nil {
      turned[flip.table, default: []].append((flip.givenPlace, try sources(of: flip)))
    }
    let given = order.given
    let tables = (0..<ArchiveTables.count(given)).map { number -> Table? in
      let own = order.storedTables[number]
      guard let table = table(own) else { return nil }
      let entity = ArchiveTables.entity(number, given)
      let places = order.tables[own].storedPlaces
      var chunks = ChunkList()
      for chunk in table.chunks.all { chunks.append(chunk.reordered(entity, places, turned[own] ?? [])) }
      return Table(
        entity: entity, types: ArchiveTables.types(number, given), damage: damage, chunks: chunks,
        liveCount: table.liveCount)
    }
    let entityCount = given.entities.count
    return TableSnapshot(
      generation: generation, schema: given, engine: engine, tables: Array(tables[..<entityCount]),
      joins: tables[entityCount...].map { $0! })
  }

  /// Who leads to each key; of several the lowest, as everywhere.
  private func sources(of flip: SchemaOrder.Flip) throws -> [Int64: Int64] {
    var result: [Int64: Int64] = [:]
    for (number, slot) in flip.sources {
      for chunk in table(number)?.chunks.all ?? [] {
        let column = chunk.columns[slot]
        if let damage = column.damage { throw damage }
        for row in 0..<chunk.count where !column.isNull(row) && !chunk.isDeleted(row) {
          let (key, target) = (chunk.key(row), column.integer(row))
          result[target] = min(result[target] ?? key, key)
        }
      }
    }
    return result
  }
}

extension Chunk {
  /// `places` has for each place of the result this chunk's own, or -1 where it is among `turned`; nil where
  /// all are the same.
  fileprivate func reordered(
    _ entity: EntityID, _ places: [Int]?, _ turned: [(place: Int, sourceOf: [Int64: Int64])]
  ) -> Chunk {
    if places == nil, entity == self.entity { return self }
    let places = places ?? Array(held.indices)
    var columns = places.map { $0 < 0 ? nil : held[$0] }
    for (place, sourceOf) in turned {
      let builder = ColumnBuilder(.key)
      for row in 0..<count { sourceOf[key(row)].map { builder.append($0) } ?? builder.appendNull() }
      columns[place] = builder.finish()
    }
    return Chunk(
      entity: entity, count: count, firstKey: firstKey, lastKey: lastKey, hasDenseKeys: hasDenseKeys,
      deleted: deleted, slotCount: places.count - 2, held: columns,
      backing: backing.map { ReorderedBacking($0, places) })
  }
}

/// What stands behind a chunk, in other places.
private final class ReorderedBacking: ChunkBacking {
  private let inner: any ChunkBacking
  private let places: [Int]

  init(_ inner: any ChunkBacking, _ places: [Int]) {
    self.inner = inner
    self.places = places
  }

  func column(_ place: Int) -> Column { inner.column(places[place]) }
  func readAhead(_ slots: [Int]) { inner.readAhead(slots.map { places[$0] }) }

  func readAheadBehind(_ slots: [Int]) { inner.readAheadBehind(slots.map { places[$0] }) }
  func type(of slot: Int) -> ValueType { inner.type(of: places[slot]) }
  func zone(of slot: Int) -> Zone { inner.zone(of: places[slot]) }
}
