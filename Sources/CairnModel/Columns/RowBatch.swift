// What a store answers with: rows by reference, in the order asked for.

/// Rows of one or more chunks, in order. Holds the chunks, copies no values.
///
/// A store that can't share its memory builds chunks of its own (`Chunk.make`) and hands those out.
public struct RowBatch: Sendable {
  /// A row of the batch: which chunk, and where in it.
  public struct Place: Sendable, Hashable {
    public let chunk: UInt32
    public let row: UInt32

    public init(chunk: Int, row: Int) {
      self.chunk = UInt32(chunk)
      self.row = UInt32(row)
    }
  }

  public let chunks: [Chunk]
  /// One place a row, in order.
  public let places: [Place]

  public init(chunks: [Chunk], places: [Place]) {
    self.chunks = chunks
    self.places = places
  }

  public static let empty = RowBatch(chunks: [], places: [])

  public var count: Int { places.count }

  public func chunk(_ index: Int) -> Chunk { chunks[Int(places[index].chunk)] }

  public func row(_ index: Int) -> Int { Int(places[index].row) }

  public func key(_ index: Int) -> RowKey {
    let chunk = chunk(index)
    return RowKey(entity: chunk.entity, id: chunk.key(row(index)))
  }

  public func version(_ index: Int) -> Int64 { chunk(index).version(row(index)) }

  public func value(_ index: Int, slot: Int) -> Value { chunk(index).columns[slot].value(row(index)) }

  /// The ids of the rows' keys, in order.
  public var ids: [Int64] {
    var ids: [Int64] = []
    ids.reserveCapacity(count)
    forEachKey { _, id in ids.append(id) }
    return ids
  }

  /// Calls `body` with the number of each row's chunk and the id of its key, in order.
  @inlinable @inline(__always)
  package func forEachKey(_ body: (_ chunk: Int, _ id: Int64) -> Void) {
    let firstKeys = chunks.map { $0.hasDenseKeys ? $0.firstKey : nil }
    places.withUnsafeBufferPointer { places in
      for place in places {
        let chunk = Int(place.chunk)
        let row = Int(place.row)
        if let first = firstKeys[chunk] {
          body(chunk, first + Int64(row))
        } else {
          body(chunk, chunks[chunk].key(row))
        }
      }
    }
  }

  public var keys: [RowKey] {
    places.map { place in
      let chunk = chunks[Int(place.chunk)]
      return RowKey(entity: chunk.entity, id: chunk.key(Int(place.row)))
    }
  }
}
