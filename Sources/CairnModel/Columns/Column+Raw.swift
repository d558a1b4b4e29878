// Columns made from memory and read as memory: what the stores' encodings need, a whole column a call.
// Whoever fills memory here keeps Column's rules: the place of a null holds 0, or an empty string.

extension Column {
  /// Where the values of fixed width lie, `count` of them; valid while the column is held.
  package var rawValues: UnsafeMutableRawPointer { values }

  /// A column whose values of fixed width `fill` writes, `count` of them at `layout`'s stride, each of them.
  package static func raw(
    type: ValueType, layout: Layout, count: Int, nulls: Bitmap?, zone: Zone,
    fill: (UnsafeMutableRawPointer) -> Void
  ) -> Column {
    let storage = ColumnStorage(layout: layout, capacity: count)
    fill(storage.memory)
    return Column(
      type: type, layout: layout, count: count, nulls: nulls, storage: storage, pool: nil, poolCount: 0,
      zone: zone)
  }

  /// A column of strings or data with one entry of `pool` a row.
  package static func raw(type: ValueType, count: Int, nulls: Bitmap?, entries pool: BytesPool) -> Column {
    precondition(pool.entryCount == count, "\(pool.entryCount) entries for \(count) rows")
    return Column(
      type: type, layout: .bytes, count: count, nulls: nulls,
      storage: ColumnStorage(layout: .bytes, capacity: 0), pool: pool, poolCount: count, zone: Zone())
  }

  /// A column of strings or data whose codes `fill` writes, each below the number of entries of `dictionary`,
  /// of which no two are equal and entry 0 is empty.
  ///
  /// A dictionary that `BytesPool.filled` made has no room for more. So columns may share it: each that is
  /// appended to copies it first.
  package static func raw(
    type: ValueType, count: Int, nulls: Bitmap?, dictionary: BytesPool,
    fill: (UnsafeMutablePointer<UInt16>) -> Void
  ) -> Column {
    let storage = ColumnStorage(layout: .codes, capacity: count)
    fill(storage.memory.assumingMemoryBound(to: UInt16.self))
    return Column(
      type: type, layout: .codes, count: count, nulls: nulls, storage: storage, pool: dictionary,
      poolCount: dictionary.entryCount, zone: Zone())
  }

  /// How many entries of a dictionary rows may name; 0 for layouts without one.
  package var rawDictionaryCount: Int { layout == .codes ? poolCount : 0 }

  /// An entry of the dictionary, or of a layout that has one entry a row; valid while the column is held.
  package func rawEntry(_ index: Int) -> UnsafeBufferPointer<UInt8> { pool!.entry(index) }
}

extension Column.Layout {
  /// The narrowest integer layout that holds both ends; `int8` where low > high.
  package static func narrowest(low: Int64, high: Int64) -> Column.Layout {
    var zone = Zone()
    zone.minInteger = low
    zone.maxInteger = high
    return narrowest(for: zone)
  }
}

extension Bitmap {
  /// Bits for `rowCount` rows, row r at bit r % 64 of word r / 64; bits behind them are clear.
  package convenience init(rowCount: Int, copying words: UnsafePointer<UInt64>) {
    self.init(capacity: rowCount) { $0.update(from: words, count: (rowCount + 63) / 64) }
  }

  /// The bits of the first 64 × `count` rows.
  package func copyWords(to target: UnsafeMutablePointer<UInt64>, count: Int) {
    let own = min(count, wordCount)
    target.update(from: words, count: own)
    if own < count { (target + own).initialize(repeating: 0, count: count - own) }
  }
}

extension BytesPool {
  /// A pool that is full: `fill` writes where each entry ends, ascending up to `byteCount`, and the bytes.
  package static func filled(
    entryCount: Int, byteCount: Int,
    _ fill: (_ ends: UnsafeMutablePointer<UInt64>, _ bytes: UnsafeMutablePointer<UInt8>) throws -> Void
  ) rethrows -> BytesPool {
    let pool = BytesPool(entryCapacity: entryCount, byteCapacity: byteCount)
    try fill(pool.ends, pool.bytes)
    pool.setFilled(entryCount: entryCount, byteCount: byteCount)
    return pool
  }
}
