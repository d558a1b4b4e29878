// Relationships: the key in a row, or the rows whose key leads here, found by an index.

import CairnModel

extension TableEngine {
  package func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    let tables = try tables(of: snapshot)
    guard schema.relationships.indices.contains(relationship.index) else {
      throw StoreError(.unknownProperty, "there is no relationship number \(relationship.index)")
    }
    let relation = schema[relationship]
    for source in sources { try check(source, relation) }
    switch relation.storage {
    case .key(let slot): return stored(sources, slot, relation, tables)
    case .inverse(let slot, let order):
      var result = inverse(sources, relation, tables, slot, order)
      if !relation.isToMany { result = result.firstOfEach }
      return result
    case .join(let join, let side): return joined(sources, relation, tables, join, side)
    case .none:
      throw StoreError(
        .unsupportedRequest, "a transient relationship isn't stored", entity: schema[relation.owner].name,
        property: relation.name)
    }
  }

  private func check(_ source: RowKey, _ relation: SchemaRelationship) throws {
    let entity = try requireEntity(source.entity)
    guard entity.root == schema[relation.owner].root else {
      throw StoreError(
        .unknownProperty, "a key of \"\(entity.name)\" has no such relationship",
        entity: schema[relation.owner].name, property: relation.name)
    }
  }

  private func stored(
    _ sources: [RowKey], _ slot: Int, _ relation: SchemaRelationship, _ tables: TableSnapshot
  ) -> RelatedKeys {
    RelatedKeys(sources) { source in
      guard let (chunk, row) = tables.locate(source.id, in: relation.owner), !chunk.columns[slot].isNull(row)
      else {
        return []
      }
      let id = chunk.columns[slot].integer(row)
      let entity = tables.locate(id, in: relation.destination)?.chunk.entity ?? relation.destination
      return [RowKey(entity: entity, id: id)]
    }
  }

  /// The rows whose slot holds the source's key, over all tables of the destination's family.
  private func inverse(
    _ sources: [RowKey], _ relation: SchemaRelationship, _ tables: TableSnapshot, _ slot: Int, _ order: Int?
  ) -> RelatedKeys {
    let finders = schema[relation.destination].concreteFamily.compactMap { tables.tables[$0.index] }.map {
      MemberFinder($0, slot: slot, order: order, sources: sources)
    }
    return RelatedKeys(sources) { source in
      let members = finders.flatMap { $0.members(of: source.id) }
      return MemberFinder.sorted(members).map { RowKey(entity: $0.chunk.entity, id: $0.chunk.key($0.row)) }
    }
  }

  private func joined(
    _ sources: [RowKey], _ relation: SchemaRelationship, _ tables: TableSnapshot, _ join: Int,
    _ side: JoinSide
  ) -> RelatedKeys {
    let isOrdered = relation.isOrdered
    let finder = MemberFinder(
      tables.joins[join], slot: JoinSlot.key(side), order: isOrdered ? JoinSlot.order(side) : nil,
      sources: sources)
    let other = JoinSlot.key(side.other)
    return RelatedKeys(sources) { source in
      let keys = MemberFinder.sorted(finder.members(of: source.id)).map { member -> RowKey in
        let id = member.chunk.columns[other].integer(member.row)
        let entity = tables.locate(id, in: relation.destination)?.chunk.entity ?? relation.destination
        return RowKey(entity: entity, id: id)
      }
      return isOrdered ? keys : keys.sorted { $0.id < $1.id }
    }
  }
}

/// Finds the rows of one table whose key slot holds an owner's key.
private struct MemberFinder {
  struct Member {
    let chunk: Chunk
    let row: Int
    /// The place in the owner's list; 0 where there is no order.
    let order: Int64
  }

  private let table: Table
  private let slot: Int
  private let order: Int?
  private let index: TableIndex?
  /// Without an index, the members of the sources asked for, found by one pass over the table.
  private var scanned: [Int64: [Member]] = [:]

  init(_ table: Table, slot: Int, order: Int?, sources: [RowKey]) {
    self.table = table
    self.slot = slot
    self.order = order
    index =
      table.liveCount == 0 ? nil : table.indexes.index(on: [slot] + (order.map { [$0] } ?? []), for: table)
    if index == nil { scan(Set(sources.map(\.id))) }
  }

  private mutating func scan(_ wanted: Set<Int64>) {
    for chunk in table.chunks.all {
      for row in 0..<chunk.count where !chunk.isDeleted(row) && !chunk.columns[slot].isNull(row) {
        let owner = chunk.columns[slot].integer(row)
        if wanted.contains(owner) { scanned[owner, default: []].append(member(chunk, row)) }
      }
    }
  }

  private func member(_ chunk: Chunk, _ row: Int) -> Member {
    guard let order, !chunk.columns[order].isNull(row) else {
      return Member(chunk: chunk, row: row, order: 0)
    }
    return Member(chunk: chunk, row: row, order: chunk.columns[order].integer(row))
  }

  func members(of owner: Int64) -> [Member] {
    guard let index else { return scanned[owner] ?? [] }
    let keys = index.keys(.init(prefix: [UInt64(bitPattern: owner)], next: nil), version: table.serial)
    return TableEngine.places(of: keys, in: table).flatMap { chunk, rows in
      rows.filter { !chunk.columns[slot].isNull($0) && chunk.columns[slot].integer($0) == owner }
        .map { member(chunk, $0) }
    }
  }

  /// By place in the list, then by key.
  static func sorted(_ members: [Member]) -> [Member] {
    members.sorted { a, b in
      a.order == b.order ? a.chunk.key(a.row) < b.chunk.key(b.row) : a.order < b.order
    }
  }
}

extension RelatedKeys {
  init(_ sources: [RowKey], _ destinations: (RowKey) -> [RowKey]) {
    var offsets = [0]
    var keys: [RowKey] = []
    offsets.reserveCapacity(sources.count + 1)
    for source in sources {
      keys += destinations(source)
      offsets.append(keys.count)
    }
    self.init(offsets: offsets, keys: keys)
  }

  /// A to-one relationship leads to one row at most.
  fileprivate var firstOfEach: RelatedKeys {
    RelatedKeys(offsets.indices.dropLast().map { Array(self[$0].prefix(1)) })
  }

  private init(_ lists: [[RowKey]]) {
    var offsets = [0]
    for list in lists { offsets.append(offsets.last! + list.count) }
    self.init(offsets: offsets, keys: lists.flatMap { $0 })
  }
}
