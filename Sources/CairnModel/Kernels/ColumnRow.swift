// Rows of columns as predicates see them, with what relationships need found once for all rows.

/// What all the rows of one question share: members by owner, found by one pass over each member table.
///
/// Confined to the thread that asks: it finds things when they are first needed.
final class ColumnRows {
  struct Place {
    var chunk: Chunk
    var row: Int
  }

  let source: any ChunkSource
  private var members: [RelationshipID: [Int64: [Place]]] = [:]
  private var inverses: [RelationshipID: InverseKeys] = [:]

  init(_ source: any ChunkSource) { self.source = source }

  func row(_ chunk: Chunk, _ row: Int) -> ColumnRow { ColumnRow(shared: self, chunk: chunk, row: row) }

  func inverse(of relationship: RelationshipID) -> InverseKeys {
    if let known = inverses[relationship] { return known }
    let found = InverseKeys(of: relationship, source: source)
    inverses[relationship] = found
    return found
  }

  func members(of relationship: RelationshipID, owner: Int64) -> [Place] {
    if let known = members[relationship] { return known[owner] ?? [] }
    var all: [Int64: [Place]] = [:]
    source.forEachMember(of: relationship) { owner, chunk, row in
      all[owner, default: []].append(Place(chunk: chunk, row: row))
    }
    members[relationship] = all
    return all[owner] ?? []
  }
}

/// One row of a chunk.
struct ColumnRow: PredicateRow {
  let shared: ColumnRows
  let chunk: Chunk
  let row: Int

  func value(_ target: BoundPath.Target) -> Value {
    switch target {
    case .slot(let slot): chunk.columns[slot].value(row)
    case .ownKey: .key(chunk.key(row))
    }
  }

  func destination(of relationship: RelationshipID) -> ColumnRow? {
    let relation = shared.source.schema[relationship]
    let key: Int64?
    if case .key(let slot) = relation.storage {
      key = chunk.columns[slot].isNull(row) ? nil : chunk.columns[slot].integer(row)
    } else {
      key = shared.inverse(of: relationship).destination(of: chunk.key(row))
    }
    return key.flatMap { shared.source.locate($0, in: relation.destination) }.map {
      shared.row($0.chunk, $0.row)
    }
  }

  func members(of relationship: RelationshipID) -> [ColumnRow] {
    if !shared.source.schema[relationship].isToMany {
      return destination(of: relationship).map { [$0] } ?? []
    }
    return shared.members(of: relationship, owner: chunk.key(row)).map { shared.row($0.chunk, $0.row) }
  }
}

extension ChunkSource {
  /// Calls `body` with every live member of a to-many relationship and the key of its owner: one pass over the
  /// member table, or over the rows of the join.
  func forEachMember(of relationship: RelationshipID, _ body: (Int64, Chunk, Int) -> Void) {
    let relation = schema[relationship]
    switch relation.storage {
    case .inverse(let slot, _):
      for chunk in schema[relation.destination].concreteFamily.flatMap(chunks) {
        let column = chunk.columns[slot]
        for row in 0..<chunk.count where !column.isNull(row) && !chunk.isDeleted(row) {
          body(column.integer(row), chunk, row)
        }
      }
    case .join(let join, let side):
      for pairs in joinChunks(join) {
        let owners = pairs.columns[JoinSlot.key(side)]
        let keys = pairs.columns[JoinSlot.key(side.other)]
        for pair in 0..<pairs.count where !pairs.isDeleted(pair) {
          if let place = locate(keys.integer(pair), in: relation.destination) {
            body(owners.integer(pair), place.chunk, place.row)
          }
        }
      }
    case .key, .none: break
    }
  }
}
