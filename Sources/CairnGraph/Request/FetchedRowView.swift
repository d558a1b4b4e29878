// One row of a store, read by key without an object: what dictionary fetches evaluate expressions over.

import CairnModel
import Foundation

/// A store that a fetch asks, at one generation.
struct FetchSource {
  let scope: StoreScope
  let store: any PersistentStore
  let snapshot: any StoreSnapshot
  /// Set while a fetch is explained.
  var tracer: FetchTracer?

  func fetch(_ request: StoreRequest) throws -> RowBatch {
    guard let tracer else { return try store.fetch(request, in: snapshot) }
    return try tracer.fetch(request, self)
  }

  func count(_ request: StoreRequest) throws -> Int {
    guard let tracer else { return try store.count(request, in: snapshot) }
    return try tracer.count(request, self)
  }

  func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
    guard let tracer else { return try store.aggregate(request, in: snapshot) }
    return try tracer.aggregate(request, self)
  }
}

/// A way from a row, over to-one relationships, to a property. Throws `unknownProperty` for names that the model
/// doesn't have.
struct RowPath {
  init(_ names: [String], _ entity: CompiledEntity, _ model: CompiledModel) throws {
    var entity = entity
    for (index, name) in names.enumerated() {
      if name.hasPrefix("@") { return }
      switch entity.properties[name] {
      case .relationship(let relation): entity = model[relation.destination]
      case .attribute where index == names.count - 1: return
      case .transient:
        throw StoreError(
          .unknownProperty, "a transient attribute isn't stored, so it can't be fetched", entity: entity.name,
          property: names.joined(separator: "."))
      default:
        if entity.composites[name] != nil { return }
        throw StoreError(
          .unknownProperty, "Invalid keypath \(names.joined(separator: ".")) passed to setPropertiesToFetch:",
          entity: entity.name, property: name,
          remedy: "its properties are: \(entity.properties.keys.sorted().joined(separator: ", "))")
      }
    }
  }
}

/// Confined to the fetch that makes it. What goes wrong on the way along a relationship is kept by the context:
/// whoever reads rows asks it at the end (`throwDeferredError`).
struct FetchedRowView: KeyValueReadable {
  private let source: FetchSource
  private let context: NSManagedObjectContext
  private let chunk: Chunk
  private let row: Int

  init(_ source: FetchSource, _ context: NSManagedObjectContext, _ chunk: Chunk, _ row: Int) {
    self.source = source
    self.context = context
    self.chunk = chunk
    self.row = row
  }

  private var entity: CompiledEntity { context.compiledModel[chunk.entity] }

  var objectID: NSManagedObjectID { source.scope.table(chunk.entity).makeID(chunk.key(row)) }

  /// The value at the end of a path, as a dictionary shows it: a to-one relationship as an ID.
  func any(_ names: [String]) throws -> Any? {
    guard let name = names.first else { return nil }
    let found = value(forKey: name)
    if names.count == 1 { return (found as? FetchedRowView)?.objectID ?? found }
    let rest = Array(names.dropFirst())
    switch found {
    case let next as FetchedRowView: return try next.any(rest)
    case nil: return nil
    default: return try Evaluator(context: context).value(.keyPath(rest), for: found)
    }
  }

  func hasValue(forKey key: String) -> Bool { entity.properties[key] != nil || entity.composites[key] != nil }

  /// A to-one relationship is the row that it leads to; a to-many one the rows, as an array.
  func value(forKey key: String) -> Any? {
    let table = source.scope.table(chunk.entity)
    if let composite = entity.composites[key] {
      return composite.form({ column($0).value(row) }, table.keyValueForm)
    }
    switch entity.properties[key] {
    case .attribute(let slot, _):
      let column = column(slot)
      let value = column.value(row)
      if let failure = column.failure(at: row) { context.keep(failure) }
      return table.keyValueForm(value, slot)
    case .relationship(let relation):
      let rows = destinations(of: relation)
      return relation.isToMany ? rows : rows.first
    default: return nil
    }
  }

  /// One that couldn't be read has no values, and leaves its error with the context.
  private func column(_ slot: Int) -> Column {
    let column = chunk.columns[slot]
    if let damage = column.damage { context.keep(damage) }
    return column
  }

  private func destinations(of relation: Relation) -> [FetchedRowView] {
    do {
      let keys: [RowKey]
      if let slot = relation.keySlot {
        guard case .key(let key) = column(slot).value(row) else { return [] }
        keys = [RowKey(entity: relation.destination, id: key)]
      } else {
        let own = RowKey(entity: chunk.entity, id: chunk.key(row))
        keys = try Array(source.store.related([own], through: relation.id, in: source.snapshot)[0])
      }
      let batch = try context.checked(source.store.rows(keys, in: source.snapshot), in: source.scope)
      return (0..<batch.count).map { FetchedRowView(source, context, batch.chunk($0), batch.row($0)) }
    } catch {
      context.keep(error)
      return []
    }
  }
}
