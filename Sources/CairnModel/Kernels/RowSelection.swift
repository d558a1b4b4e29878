// Which rows a filter left over.

/// The rows that a filter selected: for each chunk a mask, or nil for all of its rows.
struct RowSelection {
  var chunks: [Chunk] = []
  var masks: [[UInt8]?] = []
  var count = 0

  /// The selected rows in the order of the chunks.
  func places() -> [RowBatch.Place] {
    // Of no rows, the standard library would write a count of 0 into the one empty array that all threads share.
    if count == 0 { return [] }
    return [RowBatch.Place](unsafeUninitializedCapacity: count) { buffer, filled in
      for (index, chunk) in chunks.enumerated() {
        guard let mask = masks[index] else {
          for row in 0..<chunk.count {
            buffer.initializeElement(at: filled, to: RowBatch.Place(chunk: index, row: row))
            filled += 1
          }
          continue
        }
        mask.withUnsafeBufferPointer { mask in
          RowSelection.forEachSet(mask.baseAddress!, chunk.count) { row in
            buffer.initializeElement(at: filled, to: RowBatch.Place(chunk: index, row: row))
            filled += 1
          }
        }
      }
    }
  }

  /// Calls `body` for each row whose byte is set, eight bytes at a look.
  @inline(__always)
  static func forEachSet(_ mask: UnsafePointer<UInt8>, _ count: Int, _ body: (Int) -> Void) {
    let raw = UnsafeRawPointer(mask)
    var row = 0
    while row + 8 <= count {
      var word = raw.loadUnaligned(fromByteOffset: row, as: UInt64.self).littleEndian
      while word != 0 {
        body(row + word.trailingZeroBitCount >> 3)
        word &= word - 1
      }
      row += 8
    }
    while row < count {
      if mask[row] != 0 { body(row) }
      row += 1
    }
  }

  /// How many bytes are set.
  static func countSet(_ mask: UnsafePointer<UInt8>, _ count: Int) -> Int {
    var total = 0
    var row = 0
    // Sums of 255 bytes at most fit the eight-bit lanes the compiler may choose.
    while row < count {
      let end = min(row + 128, count)
      var part: UInt8 = 0
      while row < end {
        part &+= mask[row]
        row += 1
      }
      total += Int(part)
    }
    return total
  }
}
