// One generation of a store's tables: what a reader holds.

import CairnModel

/// All tables as they were after one commit. Immutable; versions share everything that didn't change.
final class TableSnapshot: StoreSnapshot, ChunkSource {
  let generation: Generation
  let schema: Schema
  /// Which engine made it: another's snapshots are refused.
  let engine: ObjectIdentifier
  /// By entity; nil for abstract ones.
  let tables: [Table?]
  /// By join. A join's rows have the slots of `JoinSlot`.
  let joins: [Table]

  init(generation: Generation, schema: Schema, engine: ObjectIdentifier, tables: [Table?], joins: [Table]) {
    self.generation = generation
    self.schema = schema
    self.engine = engine
    self.tables = tables
    self.joins = joins
  }

  /// No rows yet.
  convenience init(empty schema: Schema, engine: ObjectIdentifier) {
    self.init(
      generation: Generation(0), schema: schema, engine: engine,
      tables: schema.entities.map { entity in
        entity.isAbstract ? nil : Table(entity: entity.id, types: entity.slots.map(\.type))
      },
      joins: schema.joins.map { Table(entity: schema[$0.source].owner, types: JoinSlot.types) })
  }

  /// A table by number: first the entities, then the joins. nil for abstract entities.
  func table(_ number: Int) -> Table? {
    number < tables.count ? tables[number] : joins[number - tables.count]
  }

  /// The same generation with some tables in other chunks, by number.
  func replacing(_ changed: [Int: Table]) -> TableSnapshot {
    if changed.isEmpty { return self }
    var tables = tables
    var joins = joins
    for (number, table) in changed {
      if number < tables.count { tables[number] = table } else { joins[number - tables.count] = table }
    }
    return TableSnapshot(generation: generation, schema: schema, engine: engine, tables: tables, joins: joins)
  }

  func chunks(of entity: EntityID) -> [Chunk] { tables[entity.index]?.chunks.all ?? [] }

  func joinChunks(_ join: Int) -> [Chunk] { joins[join].chunks.all }

  func locate(_ id: Int64, in entity: EntityID) -> (chunk: Chunk, row: Int)? {
    let family = schema.entities[entity.index].concreteFamily
    // Tables are looked at where they lie: copying one counts four references.
    return tables.withUnsafeBufferPointer { tables in
      for concrete in family {
        if let place = tables[concrete.index]?.locate(id) { return place }
      }
      return nil
    }
  }
}
