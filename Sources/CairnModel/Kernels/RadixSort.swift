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
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { packed in
      let packed = packed.baseAddress!
      words.withUnsafeBufferPointer { words in
        for place in 0..<count { packed[place] = words[Int(order[place])] &<< 32 | UInt64(order[place]) }
      }
      sort(packed, count, width: width)
      for place in 0..<count { order[place] = UInt32(truncatingIfNeeded: packed[place]) }
    }
  }

  /// Reorders `words` by bits 32 to 32 + `width`, at most 32 of them; words in which those are equal keep their order.
  package static func sort(_ words: UnsafeMutablePointer<UInt64>, _ count: Int, width: Int) {
    if count < 2 { return }
    let passes = max(1, (width + 11) / 12)
    let bits = max(1, (width + passes - 1) / passes)
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: passes << bits) { starts in
      let starts = starts.baseAddress!
      starts.update(repeating: 0, count: passes << bits)
      for pass in 0..<passes {
        countDigits(words, count, starts + pass << bits, shift: 32 + pass * bits, bits)
      }
      withUnsafeTemporaryAllocation(of: UInt64.self, capacity: count) { other in
        var from = words
        var to = other.baseAddress!
        for pass in 0..<passes {
          let shift = 32 + pass * bits
          let moved = scatter(from, to, count, starts + pass << bits, shift: shift, bits)
          if moved { swap(&from, &to) }
        }
        if from != words { words.update(from: from, count: count) }
      }
    }
  }

  @inline(never)
  private static func countDigits(
    _ words: UnsafePointer<UInt64>, _ count: Int, _ sizes: UnsafeMutablePointer<UInt32>, shift: Int,
    _ bits: Int
  ) {
    let mask = (1 << bits) - 1
    let shift = UInt64(shift)
    for place in 0..<count { sizes[Int(truncatingIfNeeded: words[place] &>> shift) & mask] &+= 1 }
  }

  /// One pass; false if all words have the same digit and nothing was moved. `starts` has how many words have each digit.
  @inline(never)
  private static func scatter(
    _ from: UnsafePointer<UInt64>, _ to: UnsafeMutablePointer<UInt64>, _ count: Int,
    _ starts: UnsafeMutablePointer<UInt32>, shift: Int, _ bits: Int
  ) -> Bool {
    let mask = (1 << bits) - 1
    let shift = UInt64(shift)
    if starts[Int(truncatingIfNeeded: from[0] &>> shift) & mask] == UInt32(count) { return false }
    var next: UInt32 = 0
    for digit in 0...mask {
      let size = starts[digit]
      starts[digit] = next
      next &+= size
    }
    for place in 0..<count {
      let word = from[place]
      let digit = Int(truncatingIfNeeded: word &>> shift) & mask
      let start = starts[digit]
      starts[digit] = start &+ 1
      to[Int(start)] = word
    }
    return true
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
