// Turns one sort or group key into integers that order and compare as the values do, so that rows can be
// sorted and grouped by machine words.

import Foundation

/// Codes for one path over a set of chunks: code(a) < code(b) exactly when value(a) < value(b) in the one
/// order, and equal exactly when equal. Null is 0, and every value is greater than 0.
struct SortCoder {
  private enum Method {
    /// Value minus `base`, plus 1.
    case integer(slot: Int, base: Int64)
    case double(slot: Int)
    /// For each chunk, a code for each entry of the column's pool.
    case entries(slot: Int, [ObjectIdentifier: [UInt32]])
    /// For each chunk, a code for each row.
    case rows([ObjectIdentifier: [UInt32]])
    /// The codes of the rows that a key leads to; nil takes the row's own key.
    case byKey(slot: Int?, KeyCodes)
  }

  private let method: Method
  /// How many low bits of a code can be set.
  let width: Int

  /// Prepares codes for the rows of `chunks` that `selected` names (nil: all rows of the chunk).
  init(_ path: BoundPath, chunks: [Chunk], masks: [[UInt8]?]?, source: any ChunkSource) {
    if let hop = path.hops.first {
      (method, width) = SortCoder.hopping(hop, path, source)
      return
    }
    guard case .slot(let slot) = path.target else {
      (method, width) = SortCoder.ownKeys(chunks)
      return
    }
    switch Column.Layout.fixed(for: path.type) {
    case nil: (method, width) = SortCoder.integers(slot, chunks)
    case .double, .float: (method, width) = (.double(slot: slot), 64)
    case .bytes where path.type == .string || path.type == .uri:
      (method, width) = SortCoder.strings(slot, chunks, masks)
    default: (method, width) = SortCoder.ranked(slot, chunks, masks)
    }
  }

  /// How many distinct strings would have to be sorted for this path; 0 for paths without strings.
  static func stringEntryCount(_ path: BoundPath, chunks: [Chunk], source: any ChunkSource) -> Int {
    guard path.type.family == .string || path.type.family == .uri, case .slot(let slot) = path.target else {
      return 0
    }
    var rows = chunks
    if let last = path.hops.last {
      rows = source.schema[source.schema[last].destination].concreteFamily.flatMap(source.chunks)
    }
    return rows.reduce(0) { $0 + $1.columns[slot].poolCount }
  }

  /// Adds the codes of `chunk`'s rows to `words`: `words[row] = words[row] << width | code`, the code
  /// subtracted from its greatest value when `descending`. At width 64 the old word is lost.
  func append(to words: UnsafeMutablePointer<UInt64>, _ chunk: Chunk, descending: Bool) {
    let top: UInt64 = width == 64 ? .max : (1 << UInt64(width)) - 1
    let flip: UInt64 = descending ? top : 0
    let shift = UInt64(width)
    let count = chunk.count
    switch method {
    case .integer(let slot, let base):
      let column = chunk.columns[slot]
      switch column.layout {
      case .int8: shiftIn(words, column.values.assumingMemoryBound(to: Int8.self), count, base, flip)
      case .int16: shiftIn(words, column.values.assumingMemoryBound(to: Int16.self), count, base, flip)
      case .int32: shiftIn(words, column.values.assumingMemoryBound(to: Int32.self), count, base, flip)
      default: shiftIn(words, column.values.assumingMemoryBound(to: Int64.self), count, base, flip)
      }
      // Null rows took some code above; its place is in the low bits.
      column.nulls?.forEach(below: count) { words[$0] = words[$0] & ~top | flip }
    case .double(let slot):
      let column = chunk.columns[slot]
      for row in 0..<count {
        words[row] = (column.isNull(row) ? 0 : SortCoder.code(column.double(row))) ^ flip
      }
    case .entries(let slot, let tables):
      let column = chunk.columns[slot]
      let table = tables[ObjectIdentifier(chunk)] ?? []
      for row in 0..<count {
        let code = column.isNull(row) ? 0 : UInt64(table[column.poolEntry(row)])
        words[row] = words[row] << shift | (code ^ flip)
      }
    case .rows(let tables):
      let table = tables[ObjectIdentifier(chunk)] ?? []
      for row in 0..<count { words[row] = words[row] << shift | (UInt64(table[row]) ^ flip) }
    case .byKey(nil, let codes):
      for row in 0..<count { words[row] = shifted(words[row]) | (codes[chunk.key(row)] ^ flip) }
    case .byKey(let slot?, let codes):
      let column = chunk.columns[slot]
      switch column.layout {
      case .int8: lookUp(words, column.values.assumingMemoryBound(to: Int8.self), count, codes, flip)
      case .int16: lookUp(words, column.values.assumingMemoryBound(to: Int16.self), count, codes, flip)
      case .int32: lookUp(words, column.values.assumingMemoryBound(to: Int32.self), count, codes, flip)
      default: lookUp(words, column.values.assumingMemoryBound(to: Int64.self), count, codes, flip)
      }
      column.nulls?.forEach(below: count) { words[$0] = words[$0] & ~top | flip }
    }
  }

  @inline(__always)
  private func shifted(_ word: UInt64) -> UInt64 { width == 64 ? 0 : word &<< UInt64(width) }

  @inline(__always)
  private func lookUp<T: FixedWidthInteger>(
    _ words: UnsafeMutablePointer<UInt64>, _ keys: UnsafePointer<T>, _ count: Int, _ codes: KeyCodes,
    _ flip: UInt64
  ) {
    codes.withDense { dense in
      for row in 0..<count {
        let key = Int64(keys[row])
        let code = UInt64(bitPattern: key) < UInt64(dense.count) ? dense[Int(key)] : codes[key]
        words[row] = shifted(words[row]) | (code ^ flip)
      }
    }
  }

  /// The code of one row.
  func code(_ chunk: Chunk, _ row: Int) -> UInt64 {
    switch method {
    case .integer(let slot, let base):
      let column = chunk.columns[slot]
      return column.isNull(row) ? 0 : UInt64(bitPattern: column.integer(row) &- base &+ 1)
    case .double(let slot):
      let column = chunk.columns[slot]
      return column.isNull(row) ? 0 : SortCoder.code(column.double(row))
    case .entries(let slot, let tables):
      let column = chunk.columns[slot]
      return column.isNull(row) ? 0 : UInt64(tables[ObjectIdentifier(chunk)]?[column.poolEntry(row)] ?? 0)
    case .rows(let tables): return UInt64(tables[ObjectIdentifier(chunk)]?[row] ?? 0)
    case .byKey(nil, let codes): return codes[chunk.key(row)]
    case .byKey(let slot?, let codes):
      let column = chunk.columns[slot]
      return column.isNull(row) ? 0 : codes[column.integer(row)]
    }
  }

  /// Sets `mask[row]` to 1 where the row's code is at most `limit` (at least, when `descending` and the limit
  /// is one of flipped codes), to 0 elsewhere. False, and nothing set, for methods whose codes aren't made by
  /// a plain comparison of integers.
  func mark(_ mask: UnsafeMutablePointer<UInt8>, _ chunk: Chunk, limit: UInt64, descending: Bool) -> Bool {
    guard case .integer(let slot, let base) = method, width < 63 else { return false }
    let top: UInt64 = (1 << UInt64(width)) - 1
    // Back from a code to a value: the code of the worst row that may still come in.
    let code = descending ? top - limit : limit
    let sum = base.addingReportingOverflow(Int64(code) - 1)
    let bound = sum.overflow ? Int64.max : sum.partialValue
    let column = chunk.columns[slot]
    switch column.layout {
    // Code 0 is null's, before every value: there may be no integer below `base` to say so with.
    case _ where code == 0: mask.update(repeating: descending ? 1 : 0, count: chunk.count)
    case .int8: mark(mask, column.values.assumingMemoryBound(to: Int8.self), chunk.count, bound, descending)
    case .int16: mark(mask, column.values.assumingMemoryBound(to: Int16.self), chunk.count, bound, descending)
    case .int32: mark(mask, column.values.assumingMemoryBound(to: Int32.self), chunk.count, bound, descending)
    default: mark(mask, column.values.assumingMemoryBound(to: Int64.self), chunk.count, bound, descending)
    }
    // Null has code 0: the first ascending, the last descending.
    let null: UInt8 = descending ? (limit == top ? 1 : 0) : 1
    column.nulls?.forEach(below: chunk.count) { mask[$0] = null }
    return true
  }

  private func mark<T: FixedWidthInteger>(
    _ mask: UnsafeMutablePointer<UInt8>, _ p: UnsafePointer<T>, _ count: Int, _ bound: Int64,
    _ descending: Bool
  ) {
    if bound > Int64(T.max) || bound < Int64(T.min) {
      let isIn: UInt8 = (bound > Int64(T.max)) != descending ? 1 : 0
      mask.update(repeating: isIn, count: count)
      return
    }
    let bound = T(bound)
    if descending {
      for row in 0..<count { mask[row] = p[row] >= bound ? 1 : 0 }
    } else {
      for row in 0..<count { mask[row] = p[row] <= bound ? 1 : 0 }
    }
  }

  @inline(__always)
  private func shiftIn<T: FixedWidthInteger>(
    _ words: UnsafeMutablePointer<UInt64>, _ p: UnsafePointer<T>, _ count: Int, _ base: Int64, _ flip: UInt64
  ) {
    let shift = UInt64(width)
    if width == 64 {
      for row in 0..<count { words[row] = UInt64(bitPattern: Int64(p[row]) &- base &+ 1) ^ flip }
      return
    }
    let top: UInt64 = (1 << shift) - 1
    for row in 0..<count {
      words[row] = words[row] &<< shift | ((UInt64(bitPattern: Int64(p[row]) &- base &+ 1) & top) ^ flip)
    }
  }

  /// Maps a double to an integer of the same order: NaN to 1, below every number.
  static func code(_ x: Double) -> UInt64 {
    if x.isNaN { return 1 }
    let bits = (x == 0 ? 0.0 : x).bitPattern  // -0.0 is 0.0
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  static func width(of count: UInt64) -> Int { 64 - count.leadingZeroBitCount }

  // MARK: Preparing

  private static func integers(_ slot: Int, _ chunks: [Chunk]) -> (Method, Int) {
    var zone = Zone()
    for chunk in chunks { zone = zone.union(chunk.zone(of: slot)) }
    guard zone.minInteger <= zone.maxInteger else { return (.integer(slot: slot, base: 0), 1) }
    let span = UInt64(bitPattern: zone.maxInteger &- zone.minInteger)
    // A span of all 2^64 values leaves no code for null.
    if span == .max { return ranked(slot, chunks, nil) }
    return (.integer(slot: slot, base: zone.minInteger), width(of: span + 1))
  }

  private static func ownKeys(_ chunks: [Chunk]) -> (Method, Int) {
    var codes = KeyCodes()
    var top: Int64 = 1
    for chunk in chunks {
      for row in 0..<chunk.count { codes[chunk.key(row)] = UInt64(chunk.key(row)) }
      top = max(top, chunk.lastKey)
    }
    return (.byKey(slot: nil, codes), width(of: UInt64(top)))
  }

  private static func hopping(_ hop: RelationshipID, _ path: BoundPath, _ source: any ChunkSource) -> (
    Method, Int
  ) {
    let relation = source.schema[hop]
    var rest = path
    rest.hops.removeFirst()
    let chunks = source.schema[relation.destination].concreteFamily.flatMap(source.chunks)
    let inner = SortCoder(rest, chunks: chunks, masks: nil, source: source)
    let inverse: (slot: Int, owners: InverseKeys)?
    if case .inverse(let slot, _) = relation.storage {
      inverse = (slot, InverseKeys(of: hop, source: source))
    } else {
      inverse = nil
    }
    var codes = KeyCodes()
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Chunk.capacity) { words in
      for chunk in chunks {
        words.update(repeating: 0)
        inner.append(to: words.baseAddress!, chunk, descending: false)
        for row in 0..<chunk.count where !chunk.isDeleted(row) {
          guard let inverse else {
            codes[chunk.key(row)] = words[row]
            continue
          }
          let column = chunk.columns[inverse.slot]
          if !column.isNull(row), inverse.owners.destination(of: column.integer(row)) == chunk.key(row) {
            codes[column.integer(row)] = words[row]
          }
        }
      }
    }
    if case .key(let slot) = relation.storage { return (.byKey(slot: slot, codes), inner.width) }
    return (.byKey(slot: nil, codes), inner.width)
  }

  /// Sorts the distinct strings that selected rows name, once, and numbers them.
  private static func strings(_ slot: Int, _ chunks: [Chunk], _ masks: [[UInt8]?]?) -> (Method, Int) {
    // Held until the end: a chunk in a file may let go of its columns at any time, and of their bytes with them.
    let columns = chunks.map { $0.columns[slot] }
    var entries: [(chunk: Int, entry: Int)] = []
    var tables: [[UInt32]] = []
    for (index, chunk) in chunks.enumerated() {
      let column = columns[index]
      var table = [UInt32](repeating: 0, count: max(column.poolCount, column.count))
      for row in 0..<chunk.count where masks?[index].map({ $0[row] != 0 }) ?? true {
        if column.isNull(row) { continue }
        let entry = column.poolEntry(row)
        if table[entry] == 0 {
          table[entry] = 1
          entries.append((index, entry))
        }
      }
      tables.append(table)
    }
    func bytes(_ x: (chunk: Int, entry: Int)) -> UnsafeBufferPointer<UInt8> {
      columns[x.chunk].pool.unsafelyUnwrapped.entry(x.entry)
    }
    entries.sort { StringOrder.compare(utf8: bytes($0), bytes($1)) < 0 }
    var code: UInt32 = 0
    for (i, entry) in entries.enumerated() {
      if i == 0 || StringOrder.compare(utf8: bytes(entries[i - 1]), bytes(entry)) != 0 { code += 1 }
      tables[entry.chunk][entry.entry] = code
    }
    let byChunk = Dictionary(uniqueKeysWithValues: zip(chunks.map(ObjectIdentifier.init), tables))
    return (.entries(slot: slot, byChunk), max(1, width(of: UInt64(code))))
  }

  /// For types without a code of their own: the selected rows' values, sorted and numbered.
  private static func ranked(_ slot: Int, _ chunks: [Chunk], _ masks: [[UInt8]?]?) -> (Method, Int) {
    var values: [(value: Value, chunk: Int, row: Int)] = []
    for (index, chunk) in chunks.enumerated() {
      let column = chunk.columns[slot]
      for row in 0..<chunk.count where masks?[index].map({ $0[row] != 0 }) ?? true {
        if !column.isNull(row) { values.append((column.value(row), index, row)) }
      }
    }
    values.sort { $0.value < $1.value }
    var tables = chunks.map { [UInt32](repeating: 0, count: $0.count) }
    var code: UInt32 = 0
    for (i, entry) in values.enumerated() {
      if i == 0 || values[i - 1].value != entry.value { code += 1 }
      tables[entry.chunk][entry.row] = code
    }
    let byChunk = Dictionary(uniqueKeysWithValues: zip(chunks.map(ObjectIdentifier.init), tables))
    return (.rows(byChunk), max(1, width(of: UInt64(code))))
  }
}

/// A code for each key, 0 where there is none: an array where keys are dense, a dictionary elsewhere.
private struct KeyCodes {
  private var dense: [UInt64] = []
  private var sparse: [Int64: UInt64] = [:]
  private var entryCount = 0

  @inline(__always)
  func withDense(_ body: (UnsafeBufferPointer<UInt64>) -> Void) { dense.withUnsafeBufferPointer(body) }

  subscript(key: Int64) -> UInt64 {
    get {
      if key >= 0, key < Int64(dense.count) { return dense[Int(key)] }
      return sparse.isEmpty ? 0 : sparse[key] ?? 0
    }
    set {
      entryCount += 1
      if key >= 0, key < Int64(dense.count) {
        dense[Int(key)] = newValue
      } else if key >= 0, key < Int64(max(1 << 12, entryCount * 16)) {
        dense.append(contentsOf: repeatElement(0, count: max(Int(key) + 1, dense.count * 2) - dense.count))
        for (known, code) in sparse where known >= 0 && known < Int64(dense.count) {
          dense[Int(known)] = code
          sparse[known] = nil
        }
        dense[Int(key)] = newValue
      } else {
        sparse[key] = newValue
      }
    }
  }
}
