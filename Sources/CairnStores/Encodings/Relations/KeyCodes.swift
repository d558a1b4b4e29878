// Numbers for the combinations of values that some slots have in a row.

import CairnModel

/// Rows have the same number where they have the same values. Which number it is means nothing.
struct KeyCodes {
  let codes: UnsafeMutablePointer<Int64>
  /// Above all of the codes.
  let bound: Int

  /// The values of a slot as integers of which equal ones stand for equal values, those of nulls included;
  /// nil for types that can't be part of a key.
  static func view(_ rows: BlockRows, _ type: ValueType, scratch: Scratch) -> UnsafeMutablePointer<Int64>? {
    switch type {
    case .int16, .int32, .int64, .bool, .key: return rows.integers(scratch: scratch)
    case .double, .date, .float: return rows.bitPatterns(scratch: scratch)
    case .string, .uri, .data, .transformable:
      let list = TextList(capacity: rows.count, scratch: scratch)
      var next = 0
      for part in rows.parts {
        for row in 0..<part.count {
          let bytes = part.bytes(row)
          list.starts[next] = bytes.baseAddress ?? TextList.nowhere
          list.lengths[next] = Int64(bytes.count)
          next += 1
        }
      }
      let whole = TextList(starts: list.starts, lengths: list.lengths, count: next, byteCount: 0)
      return TextDictionary(whole, limit: next, scratch: scratch)?.codes
    case .decimal, .uuid: return nil
    }
  }

  /// Codes of `n` values.
  init(_ values: UnsafePointer<Int64>, _ n: Int, scratch: Scratch) {
    let (low, high) = IntegerBounds.of(values, n)
    let range = UInt64(bitPattern: high &- low)
    codes = scratch.take(Int64.self, n)
    if n == 0 {
      bound = 0
    } else if range < UInt64(2 * n + 64) {
      for i in 0..<n { codes[i] = values[i] &- low }
      bound = Int(range) + 1
    } else {
      bound = KeyCodes.number(values, n, codes, scratch)
    }
  }

  /// Codes of the combinations of two codes.
  init(_ first: KeyCodes, _ second: KeyCodes, _ n: Int, scratch: Scratch) {
    codes = scratch.take(Int64.self, n)
    // Both bounds are at most some 2^17, so that this can't overflow.
    let factor = Int64(second.bound)
    for i in 0..<n { codes[i] = first.codes[i] &* factor &+ second.codes[i] }
    let product = first.bound * second.bound
    bound = product <= 2 * n + 64 ? product : KeyCodes.number(codes, n, codes, scratch)
  }

  /// Numbers values in the order in which they come. `out` may be `values`.
  private static func number(
    _ values: UnsafePointer<Int64>, _ n: Int, _ out: UnsafeMutablePointer<Int64>, _ scratch: Scratch
  ) -> Int {
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    var bits = 4
    while 1 << bits < 2 * n { bits += 1 }
    let mask = 1 << bits - 1
    let table = scratch.take(Int32.self, mask + 1)
    table.update(repeating: 0, count: mask + 1)
    let met = scratch.take(Int64.self, n)
    var found = 0
    for i in 0..<n {
      let value = values[i]
      let mixed = UInt64(bitPattern: value) &* 0x9E37_79B9_7F4A_7C15
      var place = Int(truncatingIfNeeded: mixed >> UInt64(64 - bits))
      while table[place] != 0, met[Int(table[place]) - 1] != value { place = (place + 1) & mask }
      if table[place] == 0 {
        met[found] = value
        found += 1
        table[place] = Int32(found)
      }
      out[i] = Int64(table[place]) - 1
    }
    return found
  }
}
