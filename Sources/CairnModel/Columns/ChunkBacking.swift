// What stands behind a chunk whose columns are in a file: brings them when they are asked for.

/// The columns of one chunk that aren't in memory for good.
package protocol ChunkBacking: AnyObject, Sendable {
  /// The column at a place of the chunk: a slot, or behind the slots the versions, and the keys. Reads and decodes
  /// it where it isn't in memory; where that fails, the column is `Column.damaged`. Costs a lock.
  func column(_ place: Int) -> Column

  /// Says that the columns of these slots will be asked for soon: those that aren't in memory may be read on another
  /// thread meanwhile. Returns at once, and reports nothing. Costs a lock a slot.
  func readAhead(_ slots: [Int])

  /// The same of the rows that come behind the chunk's in the file, as far as they are read together.
  func readAheadBehind(_ slots: [Int])

  /// The type of a slot's values. Reads nothing.
  func type(of slot: Int) -> ValueType

  /// Bounds of a slot's values, which may be wider than they are. Reads nothing.
  func zone(of slot: Int) -> Zone
}

/// A chunk's columns by slot.
public struct ChunkColumns: RandomAccessCollection, Sendable {
  @usableFromInline let chunk: Chunk

  @usableFromInline
  init(chunk: Chunk) {
    self.chunk = chunk
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { chunk.slotCount }

  @inlinable @inline(__always)
  public subscript(slot: Int) -> Column { chunk.column(slot) }
}

extension Column {
  /// Stands in the place of a column that couldn't be read: null in every row.
  package static func damaged(type: ValueType, count: Int, _ error: StoreError) -> Column {
    let builder = ColumnBuilder(type)
    for _ in 0..<count { builder.appendNull() }
    return Column(builder.finish(), damage: error)
  }
}
