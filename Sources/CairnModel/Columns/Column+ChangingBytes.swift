// New versions of columns of strings and data. Such a column starts as codes of a dictionary and goes over to
// one entry a row when a dictionary doesn't pay; entries of the pool behind those that a version knows are
// the writer's to use, as rows behind its count are.

import Foundation

extension Column {
  /// A dictionary is given up where it doesn't pay: with more distinct entries than half of the rows, or
  /// with more than a UInt16 can name.
  private static func isDictionaryWorthwhile(entries: Int, rows: Int) -> Bool {
    entries <= 64 || entries * 2 <= rows && entries < 60_000
  }

  func appendingBytes(_ source: Column, _ range: Range<Int>, capacity: Int, nulls: Bitmap?) -> Column {
    if layout == .codes {
      if source.layout != .external,
        let column = appendingCodes(source, range, capacity: capacity, nulls: nulls)
      {
        return column
      }
      return expanded(capacity: capacity).appendingBytes(source, range, capacity: capacity, nulls: nulls)
    }
    var byteCount = 0
    for row in range { byteCount += source.inlineBytes(row).count }
    let all = ExternalValues.appending(source.external, range, to: external, at: count)
    var target = pool!
    target.truncate(to: count)
    if !target.hasRoom(forEntries: range.count, bytes: byteCount) {
      target = target.grown(
        entries: count, moreEntries: max(range.count, capacity - count), moreBytes: byteCount)
    }
    for row in range {
      target.append(source.isNull(row) ? UnsafeBufferPointer(start: nil, count: 0) : source.inlineBytes(row))
    }
    return Column(
      type: type, layout: all == nil ? .bytes : .external, count: count + range.count, nulls: nulls,
      storage: storage, pool: target, poolCount: count + range.count, zone: Zone(), external: all)
  }

  /// nil where a dictionary isn't worthwhile any more.
  private func appendingCodes(_ source: Column, _ range: Range<Int>, capacity: Int, nulls: Bitmap?) -> Column?
  {
    var target = pool!
    target.truncate(to: poolCount)
    var memory = storage
    if memory.capacity < count + range.count {
      memory = ColumnStorage(layout: .codes, capacity: max(capacity, count + range.count))
      memory.memory.copyMemory(from: values, byteCount: count * 2)
    }
    let codes = memory.memory.assumingMemoryBound(to: UInt16.self) + (count - range.lowerBound)
    // Codes of a dictionary that the source has already met.
    var known = [Int32](repeating: -1, count: source.layout == .codes ? source.poolCount : 0)
    for row in range {
      if source.isNull(row) {
        codes[row] = 0
        continue
      }
      let entry = source.poolEntry(row)
      if !known.isEmpty, known[entry] >= 0 {
        codes[row] = UInt16(known[entry])
        continue
      }
      let code = Column.intern(source.bytes(row), in: &target)
      if !Column.isDictionaryWorthwhile(entries: code + 1, rows: max(count + range.count, 256)) { return nil }
      codes[row] = UInt16(code)
      if !known.isEmpty { known[entry] = Int32(code) }
    }
    return Column(
      type: type, layout: .codes, count: count + range.count, nulls: nulls, storage: memory, pool: target,
      poolCount: target.entryCount, zone: Zone())
  }

  /// The number of the entry with these bytes, in a larger copy of the pool where it had no room for it.
  private static func intern(_ bytes: UnsafeBufferPointer<UInt8>, in pool: inout BytesPool) -> Int {
    if let found = pool.intern(bytes) { return found }
    pool = pool.grown(entries: pool.entryCount, moreEntries: 1, moreBytes: bytes.count)
    return pool.intern(bytes)!
  }

  /// The same rows without a dictionary.
  private func expanded(capacity: Int) -> Column {
    Column.empty(type: type, capacity: max(capacity, count), preferring: .bytes)
      .appendingBytes(self, 0..<count, capacity: capacity, nulls: nulls)
  }

  func gatheringBytes(_ rows: [Int], _ newNulls: Bitmap?) -> Column {
    var byteCount = 0
    for row in rows { byteCount += inlineBytes(row).count }
    let target = BytesPool(entryCapacity: rows.count, byteCapacity: byteCount)
    for row in rows { target.append(inlineBytes(row)) }  // empty where null
    let all = ExternalValues.gathering(rows, of: external)
    return Column(
      type: type, layout: all == nil ? .bytes : .external, count: rows.count, nulls: newNulls,
      storage: ColumnStorage(layout: .bytes, capacity: 0), pool: target, poolCount: rows.count, zone: Zone(),
      external: all)
  }

  func replacingBytes(
    _ rows: [Int], with source: Column, from start: Int, _ newNulls: Bitmap?
  ) -> Column {
    if layout == .codes, source.layout != .external,
      let column = replacingCodes(rows, with: source, from: start, newNulls)
    {
      return column
    }
    let rebuilt = rebuiltBytes(rows, with: source, from: start, newNulls)
    if layout != .codes || rebuilt.layout == .external { return rebuilt }
    // Entries that nothing names any more are dropped here.
    let capacity = max(storage.capacity, count)
    return Column.empty(type: type, capacity: capacity).appending(rebuilt, 0..<count, capacity: capacity)
  }

  /// New codes, and the new entries behind the old ones of the same pool; nil where a dictionary isn't
  /// worthwhile any more.
  private func replacingCodes(
    _ rows: [Int], with source: Column, from start: Int, _ newNulls: Bitmap?
  ) -> Column? {
    var target = pool!
    target.truncate(to: poolCount)
    let memory = ColumnStorage(layout: .codes, capacity: max(storage.capacity, count))
    memory.memory.copyMemory(from: values, byteCount: count * Layout.codes.stride)
    let codes = memory.memory.assumingMemoryBound(to: UInt16.self)
    for (i, row) in rows.enumerated() {
      if source.isNull(start + i) {
        codes[row] = 0
        continue
      }
      let code = Column.intern(source.bytes(start + i), in: &target)
      if !Column.isDictionaryWorthwhile(entries: code + 1, rows: max(count, 256)) { return nil }
      codes[row] = UInt16(code)
    }
    return Column(
      type: type, layout: .codes, count: count, nulls: newNulls, storage: memory, pool: target,
      poolCount: target.entryCount, zone: Zone())
  }

  /// All rows in a pool of their own, without a dictionary.
  private func rebuiltBytes(_ rows: [Int], with source: Column, from start: Int, _ newNulls: Bitmap?)
    -> Column
  {
    func forEach(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
      var next = 0
      for row in 0..<count {
        if next < rows.count, rows[next] == row {
          body(source.inlineBytes(start + next))  // empty where null
          next += 1
        } else {
          body(inlineBytes(row))
        }
      }
    }
    var byteCount = 0
    forEach { byteCount += $0.count }
    let target = BytesPool(
      entryCapacity: max(count, pool!.entryCapacity),
      byteCapacity: max(byteCount, min(pool!.byteCapacity, byteCount * 2)))
    forEach { target.append($0) }
    let all = ExternalValues.replacing(rows, of: external, with: source.external, from: start)
    return Column(
      type: type, layout: all == nil ? .bytes : .external, count: count, nulls: newNulls,
      storage: ColumnStorage(layout: .bytes, capacity: 0), pool: target, poolCount: count, zone: Zone(),
      external: all)
  }
}
