// A chunk: up to 4,096 rows of one concrete entity as a list of references to columns.
//
// Always holds: keys ascend; every column has at least `count` rows; nothing reachable from a chunk changes
// below `count`. A commit makes a new chunk that shares all the columns it doesn't change.
//
// A chunk of a store in a file has a backing, which brings each column when it is first asked for and may let go
// of it again (ChunkBacking.swift).

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
  /// Whether keys follow each other without a gap from `firstKey`.
  @usableFromInline package let hasDenseKeys: Bool
  /// The last row's key. A chunk has at least one row.
  public let lastKey: Int64
  public let deleted: Bitmap?
  /// The columns that are in memory for as long as the chunk is: by slot, and behind them versions and keys.
  /// The backing has the others.
  @usableFromInline package let held: [Column?]
  /// Has what `held` hasn't; nil where that is nothing.
  package let backing: (any ChunkBacking)?
  public let slotCount: Int
  /// The held columns of slots and versions once more, for `withColumn` and `withVersions`: counting a reference
  /// would cost several times what a read does. `held` holds them.
  @usableFromInline let quickColumns: QuickColumns

  /// Puts a chunk together. `columns` and `versions` have `count` rows at least, `explicitKeys` ascends, and is nil
  /// where keys follow each other without a gap.
  public convenience init(
    entity: EntityID, count: Int, firstKey: Int64, explicitKeys: Column?, versions: Column,
    deleted: Bitmap?, columns: [Column]
  ) {
    precondition(
      columns.allSatisfy { $0.count >= count } && versions.count >= count
        && explicitKeys?.count ?? count >= count,
      "a column of the chunk has fewer rows than the chunk")
    self.init(
      entity: entity, count: count, firstKey: firstKey,
      lastKey: count == 0 ? firstKey : explicitKeys?.integer(count - 1) ?? firstKey + Int64(count - 1),
      hasDenseKeys: explicitKeys == nil, deleted: deleted, slotCount: columns.count,
      held: columns + [versions, explicitKeys], backing: nil)
  }

  /// A chunk of which `backing` has what `held` hasn't. `held` has two places more than there are slots: for the
  /// versions, and for the keys where they have gaps.
  package init(
    entity: EntityID, count: Int, firstKey: Int64, lastKey: Int64, hasDenseKeys: Bool, deleted: Bitmap?,
    slotCount: Int, held: [Column?], backing: (any ChunkBacking)?
  ) {
    // Kernels have scratch memory for so many rows and no more.
    precondition(count <= Chunk.capacity, "a chunk has \(Chunk.capacity) rows at most, not \(count)")
    precondition(
      held.count == slotCount + 2, "\(held.count) columns for \(slotCount) slots, versions and keys")
    self.entity = entity
    self.count = count
    self.firstKey = firstKey
    self.lastKey = lastKey
    self.hasDenseKeys = hasDenseKeys
    self.deleted = deleted
    self.slotCount = slotCount
    self.held = held
    self.backing = backing
    quickColumns = QuickColumns(held[...slotCount])
  }

  deinit { quickColumns.free() }

  // MARK: Columns

  /// The columns by slot. One of a chunk with a backing may have to be read first; where that fails, it is null
  /// in every row and says why (`Column.damage`).
  @inlinable
  public var columns: ChunkColumns { ChunkColumns(chunk: self) }

  /// How often each row was saved: 1 when inserted, one more for each update.
  public var versions: Column { column(slotCount) }

  /// nil while keys follow each other without a gap from `firstKey`.
  var explicitKeys: Column? { hasDenseKeys ? nil : column(slotCount + 1) }

  @inlinable @inline(__always)
  func column(_ place: Int) -> Column {
    if let column = held[place] { return column }
    return backed(place)
  }

  @usableFromInline
  func backed(_ place: Int) -> Column { held[place] ?? backing.unsafelyUnwrapped.column(place) }

  /// Says that the columns of these slots will be asked for soon. Does nothing for a chunk without a backing.
  package func readAhead(_ slots: [Int]) { backing?.readAhead(slots.filter { held[$0] == nil }) }

  /// The same of the rows behind these, where these are in a file: for who reads on, row after row.
  package func readAheadBehind(_ slots: [Int]) { backing?.readAheadBehind(slots) }

  /// The type of a slot, without reading its column.
  public func type(of slot: Int) -> ValueType { held[slot]?.type ?? backing!.type(of: slot) }

  /// The bounds of a slot's values, without reading its column. They may be wider than the column's own.
  public func zone(of slot: Int) -> Zone { held[slot]?.zone ?? backing!.zone(of: slot) }

  public var liveCount: Int { count - (deleted?.setCount ?? 0) }

  public func isDeleted(_ row: Int) -> Bool { deleted?[row] ?? false }

  /// The key's id at `row`.
  public func key(_ row: Int) -> Int64 {
    hasDenseKeys ? firstKey + Int64(row) : column(slotCount + 1).integer(row)
  }

  /// The same, with a row where it may well be; nil for a deleted one too.
  package func row(of key: Int64, near hint: Int) -> Int? {
    let row = hint < count && self.key(hint) == key ? hint : row(of: key)
    return row.flatMap { isDeleted($0) ? nil : $0 }
  }

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

  public func version(_ row: Int) -> Int64 { withVersions { $0.integer(row) } }

  /// What `read` makes of `versions`; as `withColumn`.
  @inlinable @inline(__always)
  public func withVersions<T>(_ read: (Column) -> T) -> T {
    if let column = quickColumns.versions { return column._withUnsafeGuaranteedRef(read) }
    return read(backed(slotCount))
  }

  /// What the columns that the chunk holds take in memory; shared storage counts in full.
  package var footprint: Int { held.reduce(0) { $0 + ($1?.footprint ?? 0) } }

  /// What `read` makes of the column of a slot. Where the chunk holds it, costs no counting of references, as
  /// `columns[slot]` does.
  @inlinable @inline(__always)
  public func withColumn<T>(_ slot: Int, _ read: (Column) -> T) -> T {
    if let column = quickColumns[slot] { return column._withUnsafeGuaranteedRef(read) }
    return read(backed(slot))
  }

  /// The column of a slot, for who holds the chunk for as long as it is used; nil where the chunk doesn't hold the
  /// column, or has values of it elsewhere.
  @inlinable @inline(__always)
  public func heldColumn(_ slot: Int) -> Unmanaged<Column>? { quickColumns[slot] }
}

/// References to columns that aren't counted; nil where the chunk doesn't hold the column, or values of it are
/// elsewhere: reading those may fail, which whoever uses these doesn't ask.
///
/// Sendable: constant, and so are columns.
@usableFromInline struct QuickColumns: @unchecked Sendable {
  /// nil where no column is held.
  @usableFromInline let first: UnsafeMutablePointer<Unmanaged<Column>?>?
  /// Of slots; the column of the versions comes behind them.
  @usableFromInline let count: Int

  /// Somebody else has to hold the columns for as long as this is used.
  init(_ held: ArraySlice<Column?>) {
    count = held.count - 1
    if held.allSatisfy({ $0 == nil }) {
      first = nil
      return
    }
    let memory = UnsafeMutablePointer<Unmanaged<Column>?>.allocate(capacity: held.count)
    for (slot, column) in held.enumerated() {
      let isQuick = column?.layout != .external
      (memory + slot).initialize(to: isQuick ? column.map { .passUnretained($0) } : nil)
    }
    first = memory
  }

  func free() { first?.deallocate() }

  @inlinable @inline(__always)
  subscript(slot: Int) -> Unmanaged<Column>? {
    precondition(slot >= 0 && slot < count, "the chunk has no such column")
    return first?[slot]
  }

  @inlinable @inline(__always)
  var versions: Unmanaged<Column>? { first?[count] }
}
