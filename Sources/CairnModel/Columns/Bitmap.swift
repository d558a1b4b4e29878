// A set of row numbers as bits: the null rows of a column, the deleted rows of a chunk. Immutable once made.

/// One bit a row. Rows beyond `capacity` read as clear, so a bitmap needn't grow with its column.
public final class Bitmap: @unchecked Sendable {
  // Sendable: `words` is written by the initialisers only and read-only afterwards.
  @usableFromInline let words: UnsafeMutablePointer<UInt64>
  @usableFromInline let wordCount: Int

  /// How many bits are set.
  public let setCount: Int

  /// How many rows the bitmap has bits for.
  public var capacity: Int { wordCount * 64 }

  /// Makes a bitmap for `capacity` rows that starts as `base` and is then changed by `fill`.
  init(capacity: Int, copying base: Bitmap? = nil, fill: (UnsafeMutablePointer<UInt64>) -> Void) {
    wordCount = (max(capacity, base?.capacity ?? 0) + 63) / 64
    words = .allocate(capacity: max(wordCount, 1))
    words.initialize(repeating: 0, count: max(wordCount, 1))
    if let base { words.update(from: base.words, count: base.wordCount) }
    fill(words)
    var total = 0
    for i in 0..<wordCount { total += words[i].nonzeroBitCount }
    setCount = total
  }

  deinit { words.deallocate() }

  @inlinable @inline(__always)
  public subscript(row: Int) -> Bool {
    let word = row >> 6
    return word < wordCount && words[word] & (1 << UInt64(truncatingIfNeeded: row & 63)) != 0
  }

  /// A copy in which `rows` are set too. `rows` may be in any order, and are below `capacity`.
  public func setting(_ rows: some Sequence<Int>, capacity: Int) -> Bitmap {
    Bitmap(capacity: capacity, copying: self) { Bitmap.set(rows, in: $0, capacity) }
  }

  /// A bitmap with `rows` set, which may be in any order and are below `capacity`.
  public convenience init(setting rows: some Sequence<Int>, capacity: Int) {
    self.init(capacity: capacity) { Bitmap.set(rows, in: $0, capacity) }
  }

  private static func set(_ rows: some Sequence<Int>, in words: UnsafeMutablePointer<UInt64>, _ capacity: Int)
  {
    for row in rows {
      precondition(row >= 0 && row < capacity, "row \(row) of a bitmap for \(capacity)")
      words[row >> 6] |= 1 << UInt64(row & 63)
    }
  }

  /// Calls `body` with each set row below `limit`, ascending.
  @inline(__always)
  func forEach(below limit: Int, _ body: (Int) -> Void) { forEach(in: 0..<max(limit, 0), body) }

  /// Calls `body` with each set row of `rows`, ascending. Costs what `rows` has words, wherever it begins.
  @inline(__always)
  package func forEach(in rows: Range<Int>, _ body: (Int) -> Void) {
    let first = rows.lowerBound >> 6
    for index in first..<max(first, min(wordCount, (rows.upperBound + 63) / 64)) {
      var word = words[index]
      if index == first { word &= UInt64.max << UInt64(rows.lowerBound & 63) }
      while word != 0 {
        let row = index << 6 + word.trailingZeroBitCount
        if row >= rows.upperBound { return }
        body(row)
        word &= word - 1
      }
    }
  }
}
