// A snapshot made of literals: the smallest thing that satisfies ChunkSource.

import Foundation

@testable import CairnModel

/// Rows by entity name. Rows of one entity are given in ascending order of their keys.
struct TestSource: ChunkSource {
  struct Row {
    var key: Int64
    var values: [String: Value]
    var isDeleted = false
  }

  let schema: Schema
  private var chunksByEntity: [[Chunk]]

  init(_ schema: Schema, _ rows: [String: [Row]] = [:], chunkSize: Int = Chunk.capacity) {
    self.schema = schema
    chunksByEntity = schema.entities.map { entity in
      TestSource.chunks(of: entity, rows[entity.name] ?? [], chunkSize)
    }
  }

  private static func chunks(of entity: SchemaEntity, _ rows: [Row], _ chunkSize: Int) -> [Chunk] {
    let columns = entity.slots.map { slot in column(slot.type, rows.map { $0.values[slot.name] ?? .null }) }
    return stride(from: 0, to: rows.count, by: chunkSize).map { start in
      let range = start..<min(start + chunkSize, rows.count)
      let chunk = Chunk.make(
        entity: entity.id, types: entity.slots.map(\.type), keys: rows.map(\.key), columns: columns,
        range: range)
      let deleted = range.filter { rows[$0].isDeleted }.map { $0 - start }
      return deleted.isEmpty ? chunk : chunk.deleting(deleted)
    }
  }

  func chunks(of entity: EntityID) -> [Chunk] { chunksByEntity[entity.index] }

  func locate(_ id: Int64, in entity: EntityID) -> (chunk: Chunk, row: Int)? {
    for concrete in schema[entity].concreteFamily {
      for chunk in chunksByEntity[concrete.index] {
        if let row = chunk.row(of: id), !chunk.isDeleted(row) { return (chunk, row) }
      }
    }
    return nil
  }

  /// Every live row of an entity and its family, in the order of a selection.
  func selection(of entity: String) -> RowSelection {
    var selection = RowSelection()
    for id in schema.entity(named: entity)!.concreteFamily {
      for chunk in chunks(of: id) where chunk.liveCount > 0 {
        selection.chunks.append(chunk)
        selection.masks.append(
          chunk.deleted == nil ? nil : (0..<chunk.count).map { chunk.isDeleted($0) ? 0 : 1 })
        selection.count += chunk.liveCount
      }
    }
    return selection
  }
}

/// A column of these values, by way of a builder.
func column(_ type: ValueType, _ values: [Value]) -> Column {
  let builder = ColumnBuilder(type)
  for value in values { try! builder.append(value: value) }
  return builder.finish()
}

extension Column {
  var allValues: [Value] { (0..<count).map(value) }
}

/// The same value to the last bit, except that all NaNs are one: what a column has to give back. Stricter
/// than `==`, which takes 1 for 1.0.
func isSame(_ a: Value, _ b: Value) -> Bool {
  switch (a, b) {
  case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern || x.isNaN && y.isNaN
  case (.float(let x), .float(let y)): x.bitPattern == y.bitPattern || x.isNaN && y.isNaN
  case (.date(let x), .date(let y)):
    isSame(.double(x.timeIntervalSinceReferenceDate), .double(y.timeIntervalSinceReferenceDate))
  case (.int, .int), (.bool, .bool), (.decimal, .decimal), (.key, .key), (.null, .null): a == b
  case (.string, .string), (.uri, .uri), (.data, .data), (.uuid, .uuid): a == b
  default: false
  }
}

func areSame(_ a: [Value], _ b: [Value]) -> Bool {
  a.count == b.count && zip(a, b).allSatisfy(isSame)
}

/// A schema with one entity "Item" that has one attribute a type, named after the type, and a key slot "key".
let itemSchema = try! Schema(
  SchemaDescription(entities: [
    .init(
      name: "Item", attributes: ValueType.allCases.filter { $0 != .key }.map { .init("\($0)", $0) },
      relationships: [.init("key", to: "Item", maxCount: 1)])
  ]))
