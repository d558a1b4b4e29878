// The values of a block's parts, gathered end to end in memory of the encoder's.

import CairnModel

/// The rows of a block and which of them are null.
struct BlockRows {
  let parts: [Column]
  let count: Int
  let nullCount: Int
  /// Bit r % 64 of word r / 64 is set where row r is null.
  let nullBits: UnsafeMutablePointer<UInt64>

  init(_ parts: [Column], scratch: Scratch) {
    self.parts = parts
    count = parts.reduce(0) { $0 + $1.count }
    let wordCount = (count + 63) / 64
    nullBits = scratch.take(UInt64.self, wordCount)
    nullBits.update(repeating: 0, count: wordCount)
    var start = 0
    for part in parts {
      if part.nullCount > 0 {
        for row in 0..<part.count where part.isNull(row) {
          nullBits[(start + row) >> 6] |= 1 << UInt64((start + row) & 63)
        }
      }
      start += part.count
    }
    var total = 0
    for word in 0..<wordCount { total += nullBits[word].nonzeroBitCount }
    nullCount = total
  }

  /// How many values there are.
  var valueCount: Int { count - nullCount }

  func isNull(_ row: Int) -> Bool { nullBits[row >> 6] & (1 << UInt64(row & 63)) != 0 }

  /// The values of an integer column, those of nulls included.
  func integers(scratch: Scratch) -> UnsafeMutablePointer<Int64> {
    let out = scratch.take(Int64.self, count)
    var start = 0
    for part in parts {
      let memory = part.rawValues
      switch part.layout {
      case .int8: BlockRows.widen(memory.assumingMemoryBound(to: Int8.self), part.count, out + start)
      case .int16: BlockRows.widen(memory.assumingMemoryBound(to: Int16.self), part.count, out + start)
      case .int32: BlockRows.widen(memory.assumingMemoryBound(to: Int32.self), part.count, out + start)
      default: BlockRows.widen(memory.assumingMemoryBound(to: Int64.self), part.count, out + start)
      }
      start += part.count
    }
    return out
  }

  @inline(__always)
  private static func widen<T: FixedWidthInteger>(
    _ source: UnsafePointer<T>, _ n: Int, _ out: UnsafeMutablePointer<Int64>
  ) {
    for i in 0..<n { out[i] = Int64(truncatingIfNeeded: source[i]) }
  }

  /// Bit patterns of 64-bit values, or of 32-bit ones.
  func bitPatterns(scratch: Scratch) -> UnsafeMutablePointer<Int64> {
    let out = scratch.take(Int64.self, count)
    var start = 0
    for part in parts {
      if part.layout == .float {
        BlockRows.widen(part.rawValues.assumingMemoryBound(to: UInt32.self), part.count, out + start)
      } else {
        (out + start).update(from: part.rawValues.assumingMemoryBound(to: Int64.self), count: part.count)
      }
      start += part.count
    }
    return out
  }

  /// Moves the values of rows that aren't null together.
  func compact<T: BitwiseCopyable>(_ values: UnsafeMutablePointer<T>) {
    if nullCount == 0 { return }
    var next = 0
    for row in 0..<count where !isNull(row) {
      values[next] = values[row]
      next += 1
    }
  }
}
