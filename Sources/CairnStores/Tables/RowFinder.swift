// Finds many rows of one table by key, and numbers the chunks they're in.
//
// For a batch, what the search needs of every chunk is laid out flat first, so that a key costs a binary search
// over plain integers and no reference is counted. For a few keys of a large table that isn't worth it.

import CairnModel

struct RowFinder {
  /// What is to know of a chunk without touching it.
  private struct Outline {
    let count: Int
    /// No gaps between keys and no deleted rows: the row follows from the key.
    let isPlain: Bool
  }

  private let table: Table
  private let all: [Chunk]
  private let firstKeys: [Int64]
  private let outlines: [Outline]
  /// The number of each chunk in the list that grows, or -1.
  private var numbers: [Int32]
  /// The same for a search that isn't laid out flat.
  private var numbersByChunk: [ObjectIdentifier: Int32] = [:]

  init(_ table: Table, expecting keyCount: Int) {
    self.table = table
    let isFlat = keyCount * 8 > table.chunks.pageCount * ChunkList.pageSize
    all = isFlat ? table.chunks.all : []
    firstKeys = all.map(\.firstKey)
    outlines = all.map { Outline(count: $0.count, isPlain: $0.hasDenseKeys && $0.deleted == nil) }
    numbers = [Int32](repeating: -1, count: all.count)
  }

  /// The place of the live row with that key; its chunk is added to `chunks` when it first turns up.
  mutating func place(of key: Int64, in chunks: inout [Chunk]) -> RowBatch.Place? {
    if all.isEmpty { return slowPlace(of: key, in: &chunks) }
    guard let index = ChunkList.lastIndex(in: firstKeys, notAfter: key) else { return nil }
    let row: Int
    if outlines[index].isPlain {
      row = Int(key - firstKeys[index])
      if row >= outlines[index].count { return nil }
    } else {
      guard let found = all[index].row(of: key), !all[index].isDeleted(found) else { return nil }
      row = found
    }
    if numbers[index] < 0 {
      numbers[index] = Int32(chunks.count)
      chunks.append(all[index])
    }
    return RowBatch.Place(chunk: Int(numbers[index]), row: row)
  }

  private mutating func slowPlace(of key: Int64, in chunks: inout [Chunk]) -> RowBatch.Place? {
    guard let (chunk, row) = table.locate(key) else { return nil }
    let id = ObjectIdentifier(chunk)
    if numbersByChunk[id] == nil {
      numbersByChunk[id] = Int32(chunks.count)
      chunks.append(chunk)
    }
    return RowBatch.Place(chunk: Int(numbersByChunk[id]!), row: row)
  }
}
