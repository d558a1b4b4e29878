// Following key paths one row at a time: the slow twin of what the kernels do with key paths.

/// Whatever is asked of one row at a time.
struct RowTest {
  let matches: (Chunk, Int) -> Bool
}

/// Reads the value at the end of a path, one row at a time: right for every path, fast for none.
struct PathReader {
  let path: BoundPath
  /// One a hop: the key of the next row, or nil.
  private let hops: [(Chunk, Int) -> Int64?]
  private let destinations: [EntityID]
  private let locate: (Int64, EntityID) -> (chunk: Chunk, row: Int)?

  init(_ path: BoundPath, source: any ChunkSource) {
    self.path = path
    locate = source.locate
    destinations = path.hops.map { source.schema[$0].destination }
    hops = path.hops.map { hop in
      if case .key(let slot) = source.schema[hop].storage {
        return { chunk, row in
          let column = chunk.columns[slot]
          return column.isNull(row) ? nil : column.integer(row)
        }
      }
      let owners = InverseKeys(of: hop, source: source)
      return { chunk, row in owners.destination(of: chunk.key(row)) }
    }
  }

  func value(_ chunk: Chunk, _ row: Int) -> Value {
    var chunk = chunk
    var row = row
    for (hop, destination) in zip(hops, destinations) {
      guard let key = hop(chunk, row), let next = locate(key, destination) else { return .null }
      (chunk, row) = (next.chunk, next.row)
    }
    switch path.target {
    case .slot(let slot): return chunk.columns[slot].value(row)
    case .ownKey: return .key(chunk.key(row))
    }
  }
}

/// For a to-one relationship that is stored on the other side: which row leads here.
struct InverseKeys {
  private var keys: [Int64: Int64] = [:]

  /// Costs one pass over the destination's rows.
  init(of relationship: RelationshipID, source: any ChunkSource) {
    let relation = source.schema[relationship]
    guard case .inverse(let slot, _) = relation.storage else { return }
    for entity in source.schema[relation.destination].concreteFamily {
      for chunk in source.chunks(of: entity) {
        let column = chunk.columns[slot]
        for row in 0..<chunk.count where !column.isNull(row) && !chunk.isDeleted(row) {
          // Of several rows that claim the same owner, the one with the smallest key counts.
          let owner = column.integer(row)
          keys[owner] = min(keys[owner] ?? Int64.max, chunk.key(row))
        }
      }
    }
  }

  func destination(of key: Int64) -> Int64? { keys[key] }
}
