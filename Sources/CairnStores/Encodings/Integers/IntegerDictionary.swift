// The distinct values of a stream of integers, and each value's number among them.

struct IntegerDictionary {
  /// Distinct values ascending, and how often each occurs.
  let values: UnsafeMutablePointer<Int64>
  let frequencies: UnsafeMutablePointer<Int64>
  let count: Int
  /// For each row the index of its value in `values`.
  let codes: UnsafeMutablePointer<Int64>

  /// nil where there are more than `limit` distinct values. The memory is the scratch's.
  init?(
    _ source: UnsafePointer<Int64>, _ n: Int, _ statistics: IntegerStatistics, limit: Int, scratch: Scratch
  ) {
    codes = scratch.take(Int64.self, n)
    if statistics.range < UInt64(max(4 * n, 4096)) {
      let span = Int(statistics.range) + 1
      let base = statistics.low
      let table = scratch.take(Int64.self, span)
      table.update(repeating: 0, count: span)
      for i in 0..<n { table[Int(source[i] &- base)] &+= 1 }
      var found = 0
      for place in 0..<span where table[place] != 0 { found += 1 }
      guard found <= limit else { return nil }
      values = scratch.take(Int64.self, found)
      frequencies = scratch.take(Int64.self, found)
      count = found
      found = 0
      for place in 0..<span where table[place] != 0 {
        values[found] = base &+ Int64(place)
        frequencies[found] = table[place]
        table[place] = Int64(found)
        found += 1
      }
      for i in 0..<n { codes[i] = table[Int(source[i] &- base)] }
      return
    }
    // Open addressing, at most half full.
    var bits = 4
    while 1 << bits < 2 * min(n, limit + 1) { bits += 1 }
    let size = 1 << bits
    let table = scratch.take(Int32.self, size)
    table.update(repeating: 0, count: size)
    let met = scratch.take(Int64.self, limit + 1)
    var found = 0
    for i in 0..<n {
      let value = source[i]
      let mixed = UInt64(bitPattern: value) &* 0x9E37_79B9_7F4A_7C15
      var place = Int(truncatingIfNeeded: mixed >> UInt64(64 - bits))
      while table[place] != 0, met[Int(table[place]) - 1] != value { place = (place + 1) & (size - 1) }
      if table[place] == 0 {
        guard found < limit else { return nil }
        met[found] = value
        found += 1
        table[place] = Int32(found)
      }
      codes[i] = Int64(table[place]) - 1
    }
    values = scratch.take(Int64.self, found)
    frequencies = scratch.take(Int64.self, found)
    count = found
    let order = scratch.order(found) { met[$0] < met[$1] }
    let rank = scratch.take(Int64.self, found)
    for i in 0..<found {
      values[i] = met[Int(order[i])]
      rank[Int(order[i])] = Int64(i)
      frequencies[i] = 0
    }
    for i in 0..<n {
      let code = rank[Int(codes[i])]
      codes[i] = code
      frequencies[Int(code)] &+= 1
    }
  }

  /// The same dictionary with the most frequent value first; of equally frequent ones the smaller first.
  func byFrequency(_ n: Int, scratch: Scratch) -> IntegerDictionary {
    let order = scratch.order(count) { a, b in
      frequencies[a] == frequencies[b] ? a < b : frequencies[a] > frequencies[b]
    }
    let rank = scratch.take(Int64.self, count)
    let newValues = scratch.take(Int64.self, count)
    let newFrequencies = scratch.take(Int64.self, count)
    for i in 0..<count {
      newValues[i] = values[Int(order[i])]
      newFrequencies[i] = frequencies[Int(order[i])]
      rank[Int(order[i])] = Int64(i)
    }
    let newCodes = scratch.take(Int64.self, n)
    for i in 0..<n { newCodes[i] = rank[Int(codes[i])] }
    return IntegerDictionary(values: newValues, frequencies: newFrequencies, count: count, codes: newCodes)
  }

  private init(
    values: UnsafeMutablePointer<Int64>, frequencies: UnsafeMutablePointer<Int64>, count: Int,
    codes: UnsafeMutablePointer<Int64>
  ) {
    self.values = values
    self.frequencies = frequencies
    self.count = count
    self.codes = codes
  }
}
