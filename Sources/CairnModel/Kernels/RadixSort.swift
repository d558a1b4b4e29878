// Sorting row numbers by machine words, some bits at a time.

/// Least-significant-digit radix sort of row numbers by their words.
package enum RadixSort {
  private static let digitBits = 11

  /// Reorders `order` so that `words[order[i]]` ascends; equal words keep their order. Only the low `width`
  /// bits of the words are set.
  package static func sort(_ order: inout [UInt32], by words: [UInt64], width: Int) {
    let count = order.count
    guard count > 1 else { return }
    if width <= 32 { return sortPacked(&order, by: words, width: width) }
    var from = order.map { (word: words[Int($0)], row: $0) }
    var to = from
    var shift = 0
    while shift < width {
      if scatter(from, &to, shift) { swap(&from, &to) }
      shift += digitBits
    }
    for i in 0..<count { order[i] = from[i].row }
  }

  /// The same where a word and a row number fit one word together, which is half as much to move.
  private static func sortPacked(_ order: inout [UInt32], by words: [UInt64], width: Int) {
    let count = order.count
    let passes = max(1, (width + 11) / 12)
    let digitBits = max(1, (width + passes - 1) / passes)
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 2 * count) { memory in
      var from = memory.baseAddress!
      var to = from + count
      words.withUnsafeBufferPointer { words in
        for place in 0..<count { from[place] = words[Int(order[place])] &<< 32 | UInt64(order[place]) }
      }
      for pass in 0..<passes where scatter(from, to, count, shift: 32 + pass * digitBits, bits: digitBits) {
        swap(&from, &to)
      }
      for place in 0..<count { order[place] = UInt32(truncatingIfNeeded: from[place]) }
    }
  }

  /// One pass; false if all rows have the same digit and nothing was moved.
  private static func scatter(
    _ from: UnsafePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, _ count: Int, shift: Int, bits: Int
  ) -> Bool {
    let mask = (1 << bits) - 1
    let shift = UInt64(shift)
    return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: mask + 1) { starts in
      let starts = starts.baseAddress!
      starts.update(repeating: 0, count: mask + 1)
      for place in 0..<count { starts[Int(truncatingIfNeeded: from[place] &>> shift) & mask] &+= 1 }
      if starts[Int(truncatingIfNeeded: from[0] &>> shift) & mask] == UInt32(count) { return false }
      var next: UInt32 = 0
      for digit in 0...mask {
        let size = starts[digit]
        starts[digit] = next
        next += size
      }
      for place in 0..<count {
        let digit = Int(truncatingIfNeeded: from[place] &>> shift) & mask
        to[Int(starts[digit])] = from[place]
        starts[digit] &+= 1
      }
      return true
    }
  }

  /// One pass; false if all rows have the same digit and nothing was moved.
  private static func scatter(
    _ from: [(word: UInt64, row: UInt32)], _ to: inout [(word: UInt64, row: UInt32)], _ shift: Int
  ) -> Bool {
    let buckets = 1 << digitBits
    let mask = UInt64(buckets - 1)
    let shift = UInt64(shift)
    return withUnsafeTemporaryAllocation(of: Int.self, capacity: buckets) { starts in
      starts.update(repeating: 0)
      return from.withUnsafeBufferPointer { from in
        for item in from { starts[Int(truncatingIfNeeded: item.word &>> shift & mask)] &+= 1 }
        if starts[Int(from[0].word &>> shift & mask)] == from.count { return false }
        var next = 0
        for i in 0..<buckets {
          let size = starts[i]
          starts[i] = next
          next += size
        }
        to.withUnsafeMutableBufferPointer { to in
          for item in from {
            let digit = Int(truncatingIfNeeded: item.word &>> shift & mask)
            to[starts[digit]] = item
            starts[digit] &+= 1
          }
        }
        return true
      }
    }
  }
}
