// Rows on their way to becoming objects.

import CairnModel
import Foundation

/// A row for which an object is to be made; without a chunk, a fault whose row hasn't been looked for.
struct FetchedRow {
  let table: EntityTable
  let chunk: Chunk?
  let row: Int
  let key: Int64
}

/// The row that the instance in the making is for.
///
/// Holds nothing, since references would be counted several times for each object: the scope that makes the object
/// holds everything meanwhile.
struct ObjectInTheMaking {
  let table: Unmanaged<EntityTable>
  let chunk: Unmanaged<Chunk>?
  let row: Int32
  let key: Int64

  @inline(__always)
  init(_ table: EntityTable, _ chunk: Chunk?, _ row: Int32, _ key: Int64) {
    self.table = .passUnretained(table)
    self.chunk = chunk.map { .passUnretained($0) }
    self.row = row
    self.key = key
  }
}
