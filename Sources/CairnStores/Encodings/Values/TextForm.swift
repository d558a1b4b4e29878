// The forms in which a list of strings or data is written, and lists of bytes in memory.

/// The first byte of a list of strings.
enum TextForm: UInt8 {
  /// A stream of lengths, then all bytes.
  case lengths = 1
  /// A byte that occurs in no entry, then the entries, each with that byte behind it.
  case separated = 2
  /// A stream that says how many bytes each entry has in common with the one before, then the list of the
  /// rest of each, in one of the forms above.
  case fronts = 3
  /// A number of distinct entries, their list in one of the other forms, and a stream of indexes into it.
  case dictionary = 4
  /// A byte that joins items, a stream of how many items each entry has, a number of classes, a stream of the
  /// items' classes, and for each class the list of its items in one of the first two forms.
  case items = 5
}

/// Entries of bytes somewhere in memory. The lists are the scratch's.
struct TextList {
  let starts: UnsafeMutablePointer<UnsafePointer<UInt8>>
  let lengths: UnsafeMutablePointer<Int64>
  let count: Int
  let byteCount: Int

  init(capacity: Int, scratch: Scratch) {
    starts = scratch.take(UnsafePointer<UInt8>.self, capacity)
    lengths = scratch.take(Int64.self, capacity)
    count = 0
    byteCount = 0
  }

  init(
    starts: UnsafeMutablePointer<UnsafePointer<UInt8>>, lengths: UnsafeMutablePointer<Int64>, count: Int,
    byteCount: Int
  ) {
    self.starts = starts
    self.lengths = lengths
    self.count = count
    self.byteCount = byteCount
  }

  subscript(index: Int) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: starts[index], count: Int(truncatingIfNeeded: lengths[index]))
  }

  /// The first entries, of which at least one and otherwise at most `limit` bytes.
  func prefix(bytes limit: Int) -> TextList {
    if byteCount <= limit { return self }
    var taken = 0
    var bytes = 0
    while taken < count, taken == 0 || bytes + Int(lengths[taken]) <= limit {
      bytes += Int(lengths[taken])
      taken += 1
    }
    return TextList(starts: starts, lengths: lengths, count: taken, byteCount: bytes)
  }

  /// Somewhere for the starts of empty entries to point.
  static nonisolated(unsafe) let nowhere = UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
}
