// How the toy store answers requests: it looks at every row, one by one.

import CairnModel
import Foundation

struct ToyQuestion {
  let schema: Schema
  let state: ToyState

  func checkEntity(_ id: EntityID) throws {
    if !schema.entities.indices.contains(id.index) {
      throw StoreError(.unknownEntity, "there is no entity number \(id.index)")
    }
  }

  // MARK: Rows

  /// The ids of the matching rows, in order.
  func ids(_ request: StoreRequest) throws -> [Int64] {
    if request.offset < 0 || request.limit ?? 0 < 0 {
      throw StoreError(.unsupportedRequest, "a window can't be negative")
    }
    try checkEntity(request.entity)
    let paths = try request.sort.map { try ToyPath($0.path, from: request.entity, in: schema) }
    let rows = try matching(request.entity, request.includesSubentities, request.predicate)
    let keyed = rows.map { id in (id, paths.map { value($0, id, request.entity) }) }
    let sorted = keyed.sorted { a, b in
      for (term, (x, y)) in zip(request.sort, zip(a.1, b.1)) {
        let order = Value.compare(x, y)
        if order != 0 { return term.ascending ? order < 0 : order > 0 }
      }
      return (entity(a.0, request.entity), a.0) < (entity(b.0, request.entity), b.0)
    }
    let rest = sorted.map(\.0).dropFirst(request.offset)
    return Array(request.limit.map { rest.prefix($0) } ?? rest)
  }

  private func entity(_ id: Int64, _ family: EntityID) -> EntityID {
    state.rows[schema[family].root]![id]!.entity
  }

  /// By entity, then by key.
  func matching(_ entity: EntityID, _ withSubentities: Bool, _ predicate: PredicateTree?) throws -> [Int64] {
    let family = withSubentities ? schema[entity].concreteFamily : [entity]
    let interpreter = ToyInterpreter(question: self, entity: entity)
    if let predicate { try interpreter.check(predicate) }
    var found: [(entity: EntityID, id: Int64)] = []
    for (id, row) in state.rows[schema[entity].root] ?? [:] where family.contains(row.entity) {
      if let predicate, try !interpreter.holds(predicate, id) { continue }
      found.append((row.entity, id))
    }
    return found.sorted { $0 < $1 }.map(\.id)
  }

  /// A batch with the rows of these ids of one hierarchy.
  func batch(_ ids: [Int64], of entity: EntityID) -> RowBatch {
    batch(ids.map { RowKey(entity: entity, id: $0) })
  }

  /// Builds one chunk an entity and run of 4,096 keys; places put the rows in order.
  func batch(_ keys: [RowKey]) -> RowBatch {
    var byEntity: [EntityID: Set<Int64>] = [:]
    for key in keys {
      if let row = state.rows[schema[key.entity].root]?[key.id] {
        byEntity[row.entity, default: []].insert(key.id)
      }
    }
    var chunks: [Chunk] = []
    var places: [EntityID: [Int64: RowBatch.Place]] = [:]
    for (entity, ids) in byEntity {
      let ids = ids.sorted()
      for start in stride(from: 0, to: ids.count, by: Chunk.capacity) {
        let part = Array(ids[start..<min(start + Chunk.capacity, ids.count)])
        for (row, id) in part.enumerated() {
          places[schema[entity].root, default: [:]][id] = .init(chunk: chunks.count, row: row)
        }
        chunks.append(chunk(part, entity))
      }
    }
    return RowBatch(chunks: chunks, places: keys.compactMap { places[schema[$0.entity].root]?[$0.id] })
  }

  private func chunk(_ ids: [Int64], _ entity: EntityID) -> Chunk {
    let types = schema[entity].slots.map(\.type)
    let rows = ids.map { state.rows[schema[entity].root]![$0]! }
    let columns = types.indices.map { slot -> Column? in
      let builder = ColumnBuilder(types[slot])
      // A row's values came out of columns of these types, so they fit.
      for row in rows { try! builder.append(value: row.values[slot]) }
      return builder.finish()
    }
    return Chunk.make(
      entity: entity, types: types, keys: ids, versions: rows.map(\.version), columns: columns,
      range: ids.indices)
  }

  // MARK: Relationships

  func destinations(of source: RowKey, through relation: SchemaRelationship) -> [RowKey] {
    let root = schema[relation.owner].root
    guard schema[source.entity].root == root, let row = state.rows[root]?[source.id],
      schema[relation.owner].concreteFamily.contains(row.entity)
    else { return [] }
    switch relation.storage {
    case .none: return []
    case .key(let slot):
      guard case .key(let id) = row.values[slot] else { return [] }
      return [named(id, relation)]
    case .inverse(let slot, let order):
      let members = members(of: source.id, slot, order, relation)
      return relation.isToMany ? members : Array(members.prefix(1))
    case .join(let number, let side):
      let join = state.joins[number] ?? ToyJoin()
      let isForward = side == .source || schema.joins[number].isSymmetric
      let ids = (isForward ? join.forward : join.backward)[source.id] ?? []
      return (relation.isOrdered ? ids : ids.sorted()).map { named($0, relation) }
    }
  }

  /// The rows whose slot leads to `owner`: by their place in the list, those without one last, then by key.
  private func members(of owner: Int64, _ slot: Int, _ order: Int?, _ relation: SchemaRelationship)
    -> [RowKey]
  {
    let family = schema[relation.destination].concreteFamily
    let rows = (state.rows[schema[relation.destination].root] ?? [:]).filter {
      family.contains($0.value.entity) && $0.value.values[slot] == .key(owner)
    }
    func rank(_ row: ToyRow) -> Int64 {
      guard let order, case .int(let place) = row.values[order] else { return order == nil ? 0 : .max }
      return place
    }
    return rows.sorted { (rank($0.value), $0.key) < (rank($1.value), $1.key) }.map { named($0.key, relation) }
  }

  private func named(_ id: Int64, _ relation: SchemaRelationship) -> RowKey {
    let row = state.rows[schema[relation.destination].root]?[id]
    return RowKey(entity: row?.entity ?? relation.destination, id: id)
  }

  // MARK: Paths

  /// The value at the end of a path; null where a step leads nowhere.
  func value(_ path: ToyPath, _ id: Int64, _ entity: EntityID) -> Value {
    var key = RowKey(entity: entity, id: id)
    for hop in path.hops {
      guard let next = destinations(of: key, through: schema[hop]).first else { return .null }
      key = next
      if state.rows[schema[key.entity].root]?[key.id] == nil, hop != path.hops.last || path.slot != nil {
        return .null
      }
    }
    guard let slot = path.slot else { return .key(key.id) }
    return state.rows[schema[key.entity].root]![key.id]!.values[slot]
  }

  // MARK: Aggregates

  func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
    try checkEntity(request.entity)
    let groupPaths = try request.groupBy.map { try ToyPath($0, from: request.entity, in: schema) }
    let terms = try request.terms.map { term in
      (term.function, try term.path.map { try ToyPath($0, from: request.entity, in: schema) })
    }
    let ids = try matching(request.entity, request.includesSubentities, request.predicate)
    var groups: [[Value]: [Int64]] = request.groupBy.isEmpty ? [[]: []] : [:]
    for id in ids {
      groups[groupPaths.map { value($0, id, request.entity) }, default: []].append(id)
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { group, ids in
      AggregateRow(
        group: group,
        values: terms.map { function, path in
          guard let path else { return .int(Int64(ids.count)) }
          return figure(function, ids.map { value(path, $0, request.entity) }.filter { !$0.isNull })
        })
    }
  }

  private func figure(_ function: AggregateRequest.Function, _ values: [Value]) -> Value {
    switch function {
    case .count: return .int(Int64(values.count))
    case .min: return values.reduce(.null) { $0.isNull || $1 < $0 ? $1 : $0 }
    case .max: return values.reduce(.null) { $0.isNull || $1 > $0 ? $1 : $0 }
    case .sum: return sum(values)
    case .average:
      if values.isEmpty { return .null }
      if case .decimal(let total) = sum(values) {
        return .double(double(.decimal(total / Decimal(values.count))))
      }
      return .double(double(sum(values)) / Double(values.count))
    }
  }

  private func sum(_ values: [Value]) -> Value {
    if case .decimal? = values.first {
      return .decimal(values.reduce(Decimal(0)) { if case .decimal(let x) = $1 { $0 + x } else { $0 } })
    }
    if values.allSatisfy({ whole($0) != nil }) {
      let total = values.reduce(Decimal(0)) { $0 + Decimal(whole($1)!) }
      let exact = Decimal(Int64.min)...Decimal(Int64.max) ~= total
      return exact
        ? .int(Int64(NSDecimalNumber(decimal: total).stringValue)!)
        : .double(NSDecimalNumber(decimal: total).doubleValue)
    }
    return .double(values.reduce(0) { $0 + double($1) })
  }

  private func whole(_ value: Value) -> Int64? {
    switch value {
    case .int(let x): x
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  private func double(_ value: Value) -> Double {
    switch value {
    case .double(let x): x
    case .float(let x): Double(x)
    case .decimal(let x): NSDecimalNumber(decimal: x).doubleValue
    default: Double(whole(value) ?? 0)
    }
  }
}

/// A path over to-one relationships, checked against the schema.
struct ToyPath {
  var hops: [RelationshipID] = []
  /// nil when the path ends at a row: then its key is the value.
  var slot: Int?
  var type = ValueType.key

  /// Throws `unknownProperty`, or `unbindablePredicate` for a step that has no single value.
  init(_ names: [String], from entity: EntityID, in schema: Schema) throws {
    var current = schema[entity]
    for (index, name) in names.enumerated() {
      guard let id = current.relationship(named: name) else {
        try finish(Array(names[index...]), current)
        return
      }
      if schema[id].isToMany { throw StoreError(.unbindablePredicate, "it is to-many", property: name) }
      hops.append(id)
      current = schema[schema[id].destination]
    }
  }

  private mutating func finish(_ names: [String], _ entity: SchemaEntity) throws {
    let name = names.joined(separator: ".")
    guard let found = entity.slot(named: name), entity.slots[found].role == .attribute else {
      let isWhole = entity.attribute(named: names[0])?.isComposite ?? false
      throw StoreError(isWhole ? .unbindablePredicate : .unknownProperty, "no such value", property: name)
    }
    slot = found
    type = entity.slots[found].type
  }
}
