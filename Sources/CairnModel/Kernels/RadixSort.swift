// Sorting row numbers by machine words, eleven bits at a time.

/// Least-significant-digit radix sort of row numbers by their words.
package enum RadixSort {
  private static let digitBits = 11

  /// Reorders `order` so that `words[order[i]]` ascends; equal words keep their order. Only the low `width`
  /// bits of the words are set.
  package static func sort(_ order: inout [UInt32], by words: [UInt64], width: Int) {
    let count = order.count
    guard count > 1 else { return }
    var from = order.map { (word: words[Int($0)], row: $0) }
    var to = from
    var shift = 0
    while shift < width {
      if scatter(from, &to, shift) { swap(&from, &to) }
      shift += digitBits
    }
    for i in 0..<count { order[i] = from[i].row }
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
