// A chunk: up to 4,096 rows of one concrete entity as a list of references to columns.
//
// Always holds: keys ascend; every column has at least `count` rows; nothing reachable from a chunk changes
// below `count`. A commit makes a new chunk that shares all the columns it doesn't change.

/// Up to `Chunk.capacity` rows of one table. Immutable.
public final class Chunk: Sendable {
  /// Rows in a chunk: small enough that copying one column costs a microsecond, large enough that the work
  /// done once a chunk vanishes. Four of them make a row group of a file.
  public static let capacity = 4096

  /// The concrete entity of the rows; for the rows of a join table, the owner of its source relationship.
  public let entity: EntityID
  /// How many rows there are, deleted ones included.
  public let count: Int
  public let firstKey: Int64
  /// nil while keys follow each other without a gap from `firstKey`.
  let explicitKeys: Column?
  /// How often each row was saved: 1 when inserted, one more for each update.
  public let versions: Column
  public let deleted: Bitmap?
  public let columns: [Column]

  /// Puts a chunk together. `columns` and `versions` have `count` rows at least, `explicitKeys` ascends.
  public init(
    entity: EntityID, count: Int, firstKey: Int64, explicitKeys: Column?, versions: Column,
    deleted: Bitmap?, columns: [Column]
  ) {
    // Kernels have scratch memory for so many rows and no more.
    precondition(count <= Chunk.capacity, "a chunk has \(Chunk.capacity) rows at most, not \(count)")
    self.entity = entity
    self.count = count
    self.firstKey = firstKey
    self.explicitKeys = explicitKeys
    self.versions = versions
    self.deleted = deleted
    self.columns = columns
  }

  public var liveCount: Int { count - (deleted?.setCount ?? 0) }

  /// Whether keys follow each other without a gap.
  package var hasDenseKeys: Bool { explicitKeys == nil }

  public func isDeleted(_ row: Int) -> Bool { deleted?[row] ?? false }

  /// The key's id at `row`.
  public func key(_ row: Int) -> Int64 {
    explicitKeys?.integer(row) ?? firstKey + Int64(row)
  }

  /// The last row's key. A chunk has at least one row.
  public var lastKey: Int64 { key(count - 1) }

  /// The row with that key, deleted or not; nil if this chunk has none.
  public func row(of key: Int64) -> Int? {
    guard let explicitKeys else {
      guard key >= firstKey else { return nil }
      let row = key.subtractingReportingOverflow(firstKey)
      return !row.overflow && row.partialValue < Int64(count) ? Int(row.partialValue) : nil
    }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if explicitKeys.integer(middle) < key { low = middle + 1 } else { high = middle }
    }
    return low < count && explicitKeys.integer(low) == key ? low : nil
  }

  public func version(_ row: Int) -> Int64 { versions.integer(row) }
}
