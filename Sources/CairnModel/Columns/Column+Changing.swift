// New versions of a column: with rows added behind it, with rows replaced, with a selection of its rows.
// Only the store's one writer calls these on columns that were published.

import Foundation

extension Column {
  /// No rows yet, with room for `capacity`.
  static func empty(type: ValueType, capacity: Int, preferring hint: Layout? = nil) -> Column {
    let layout: Layout
    switch Layout.fixed(for: type) {
    case nil: layout = .int8
    case .bytes?: layout = hint == .bytes ? .bytes : .codes
    case let fixed?: layout = fixed
    }
    var pool: BytesPool?
    if layout == .bytes || layout == .codes {
      pool = BytesPool(entryCapacity: min(capacity, 64) + 1, byteCapacity: 256)
      if layout == .codes { pool!.append(UnsafeBufferPointer(start: nil, count: 0)) }
    }
    return Column(
      type: type, layout: layout, count: 0, nulls: nil,
      storage: ColumnStorage(layout: layout, capacity: capacity), pool: pool,
      poolCount: layout == .codes ? 1 : 0, zone: Zone())
  }

  /// This column followed by rows `range` of `source`, which is of the same type.
  ///
  /// Shares this column's memory where the new rows fit behind `count`; otherwise copies into memory for
  /// `capacity` rows. So of the versions of a column only the latest may be appended to.
  func appending(_ source: Column, _ range: Range<Int>, capacity: Int) -> Column {
    precondition(source.type == type, "a column of \(type) can't take rows of \(source.type)")
    if range.isEmpty { return self }
    let newCount = count + range.count
    let newNulls = appendedNulls(source, range, newCount: newCount)
    if layout.hasPool {
      return appendingBytes(source, range, capacity: capacity, nulls: newNulls)
    }
    let newZone = zone.union(source.zone(of: range))
    let needed = layout.isInteger ? max(layout, .narrowest(for: newZone)) : layout
    var target = storage
    if needed != layout || storage.capacity < newCount {
      target = ColumnStorage(layout: needed, capacity: max(capacity, newCount))
      Column.copyValues(values, layout, 0..<count, to: target.memory, needed, at: 0)
    }
    Column.copyValues(source.values, source.layout, range, to: target.memory, needed, at: count)
    return Column(
      type: type, layout: needed, count: newCount, nulls: newNulls, storage: target, pool: nil, poolCount: 0,
      zone: newZone)
  }

  /// A copy in which row `rows[i]` holds row `start + i` of `source`. `rows` ascends.
  func replacing(_ rows: [Int], with source: Column, from start: Int) -> Column {
    precondition(source.type == type, "a column of \(type) can't take rows of \(source.type)")
    let newNulls = replacedNulls(rows, source, start)
    if layout.hasPool {
      return replacingBytes(rows, with: source, from: start, newNulls)
    }
    let newZone = zone.union(source.zone(of: start..<start + rows.count))
    let needed = layout.isInteger ? max(layout, .narrowest(for: newZone)) : layout
    let target = ColumnStorage(layout: needed, capacity: max(storage.capacity, count))
    Column.copyValues(values, layout, 0..<count, to: target.memory, needed, at: 0)
    Column.scatterValues(source.values, source.layout, start, to: target.memory, needed, at: rows)
    return Column(
      type: type, layout: needed, count: count, nulls: newNulls, storage: target, pool: nil, poolCount: 0,
      zone: newZone)
  }

  /// The rows named, in that order, as a column of its own. Costs one pass over `rows`.
  public func gathering(_ rows: [Int]) -> Column {
    let newNulls = gatheredNulls(rows)
    if layout.hasPool { return gatheringBytes(rows, newNulls) }
    let target = ColumnStorage(layout: layout, capacity: rows.count)
    Column.gatherValues(values, layout, rows, to: target.memory)
    let gathered = Column(
      measuring: type, layout: layout, count: rows.count, nulls: newNulls, storage: target)
    if !layout.isInteger || Layout.narrowest(for: gathered.zone) == layout { return gathered }
    // Appending to an empty column narrows.
    return Column.empty(type: type, capacity: rows.count).appending(
      gathered, 0..<rows.count, capacity: rows.count)
  }

  /// A column of fixed width whose bounds are found by looking at its values.
  convenience init(
    measuring type: ValueType, layout: Layout, count: Int, nulls: Bitmap?, storage: ColumnStorage
  ) {
    let bare = Column(
      type: type, layout: layout, count: count, nulls: nulls, storage: storage, pool: nil, poolCount: 0,
      zone: Zone())
    self.init(
      type: type, layout: layout, count: count, nulls: nulls, storage: storage, pool: nil, poolCount: 0,
      zone: bare.measuredZone())
  }

  // MARK: Nulls and zones

  private func appendedNulls(_ source: Column, _ range: Range<Int>, newCount: Int) -> Bitmap? {
    guard let theirs = source.nulls else { return nulls }
    let offset = count - range.lowerBound
    let bitmap = Bitmap(capacity: newCount, copying: nulls) { words in
      theirs.forEach(in: range) { row in
        let new = row + offset
        words[new >> 6] |= 1 << UInt64(new & 63)
      }
    }
    return bitmap.setCount == 0 ? nil : bitmap
  }

  private func replacedNulls(_ rows: [Int], _ source: Column, _ start: Int) -> Bitmap? {
    if nulls == nil, source.nulls == nil { return nil }
    return Bitmap(capacity: count, copying: nulls) { words in
      for (i, row) in rows.enumerated() {
        let bit: UInt64 = 1 << UInt64(row & 63)
        if source.isNull(start + i) { words[row >> 6] |= bit } else { words[row >> 6] &= ~bit }
      }
    }
  }

  private func gatheredNulls(_ rows: [Int]) -> Bitmap? {
    guard let nulls else { return nil }
    return Bitmap(capacity: rows.count) { words in
      for (new, row) in rows.enumerated() where nulls[row] { words[new >> 6] |= 1 << UInt64(new & 63) }
    }
  }

  /// The bounds of the values in `range`, or wider ones.
  func zone(of range: Range<Int>) -> Zone {
    range.count == count ? zone : measuredZone(range)
  }

  /// The bounds of the values in `range` (nil: of all rows), found by looking at them.
  func measuredZone(_ range: Range<Int>? = nil) -> Zone {
    let range = range ?? 0..<count
    switch layout {
    case .int8: return integerZone(values.assumingMemoryBound(to: Int8.self), range)
    case .int16: return integerZone(values.assumingMemoryBound(to: Int16.self), range)
    case .int32: return integerZone(values.assumingMemoryBound(to: Int32.self), range)
    case .int64: return integerZone(values.assumingMemoryBound(to: Int64.self), range)
    case .float: return doubleZone(values.assumingMemoryBound(to: Float.self), range)
    case .double: return doubleZone(values.assumingMemoryBound(to: Double.self), range)
    case .decimal, .uuid, .bytes, .codes, .external: return Zone()
    }
  }

  private func integerZone<T: FixedWidthInteger>(_ p: UnsafePointer<T>, _ range: Range<Int>) -> Zone {
    var low = T.max
    var high = T.min
    // Run by run of rows that aren't null.
    var start = range.lowerBound
    func add(upTo end: Int) {
      for row in start..<end {
        low = min(low, p[row])
        high = max(high, p[row])
      }
    }
    nulls?.forEach(in: range) { row in
      add(upTo: row)
      start = row + 1
    }
    add(upTo: range.upperBound)
    var zone = Zone()
    if low <= high {
      zone.minInteger = Int64(low)
      zone.maxInteger = Int64(high)
    }
    return zone
  }

  private func doubleZone<T: BinaryFloatingPoint>(_ p: UnsafePointer<T>, _ range: Range<Int>) -> Zone {
    var zone = Zone()
    for row in range where !isNull(row) {
      let x = Double(p[row])
      if x.isNaN { zone.mayHoldNaN = true }
      // Comparisons with NaN are false, so it leaves the bounds alone.
      if x < zone.minDouble { zone.minDouble = x }
      if x > zone.maxDouble { zone.maxDouble = x }
    }
    return zone
  }

  // MARK: Copying values of fixed width

  static func copyValues(
    _ source: UnsafeMutableRawPointer, _ from: Layout, _ range: Range<Int>,
    to target: UnsafeMutableRawPointer,
    _ to: Layout, at start: Int
  ) {
    if from == to {
      let stride = from.stride
      (target + start * stride).copyMemory(
        from: source + range.lowerBound * stride, byteCount: range.count * stride)
      return
    }
    switch from {
    case .int8: widen(source.assumingMemoryBound(to: Int8.self), range, target, to, start)
    case .int16: widen(source.assumingMemoryBound(to: Int16.self), range, target, to, start)
    case .int32: widen(source.assumingMemoryBound(to: Int32.self), range, target, to, start)
    default: widen(source.assumingMemoryBound(to: Int64.self), range, target, to, start)
    }
  }

  private static func widen<S: FixedWidthInteger>(
    _ source: UnsafePointer<S>, _ range: Range<Int>, _ target: UnsafeMutableRawPointer, _ to: Layout,
    _ start: Int
  ) {
    switch to {
    case .int8: convert(source, range, target.assumingMemoryBound(to: Int8.self) + start)
    case .int16: convert(source, range, target.assumingMemoryBound(to: Int16.self) + start)
    case .int32: convert(source, range, target.assumingMemoryBound(to: Int32.self) + start)
    default: convert(source, range, target.assumingMemoryBound(to: Int64.self) + start)
    }
  }

  @inline(__always)
  private static func convert<S: FixedWidthInteger, T: FixedWidthInteger>(
    _ source: UnsafePointer<S>, _ range: Range<Int>, _ target: UnsafeMutablePointer<T>
  ) {
    let p = source + range.lowerBound
    for i in 0..<range.count { target[i] = T(truncatingIfNeeded: p[i]) }
  }

  private static func scatterValues(
    _ source: UnsafeMutableRawPointer, _ from: Layout, _ start: Int, to target: UnsafeMutableRawPointer,
    _ to: Layout, at rows: [Int]
  ) {
    switch from {
    case .int8: scatterInto(source.assumingMemoryBound(to: Int8.self) + start, target, to, rows)
    case .int16: scatterInto(source.assumingMemoryBound(to: Int16.self) + start, target, to, rows)
    case .int32: scatterInto(source.assumingMemoryBound(to: Int32.self) + start, target, to, rows)
    case .int64: scatterInto(source.assumingMemoryBound(to: Int64.self) + start, target, to, rows)
    case .float, .double, .decimal, .uuid, .bytes, .codes, .external:
      let stride = from.stride
      for (i, row) in rows.enumerated() {
        (target + row * stride).copyMemory(from: source + (start + i) * stride, byteCount: stride)
      }
    }
  }

  private static func scatterInto<S: FixedWidthInteger>(
    _ source: UnsafePointer<S>, _ target: UnsafeMutableRawPointer, _ to: Layout, _ rows: [Int]
  ) {
    switch to {
    case .int8: scatter(source, target.assumingMemoryBound(to: Int8.self), rows)
    case .int16: scatter(source, target.assumingMemoryBound(to: Int16.self), rows)
    case .int32: scatter(source, target.assumingMemoryBound(to: Int32.self), rows)
    default: scatter(source, target.assumingMemoryBound(to: Int64.self), rows)
    }
  }

  @inline(__always)
  private static func scatter<S: FixedWidthInteger, T: FixedWidthInteger>(
    _ source: UnsafePointer<S>, _ target: UnsafeMutablePointer<T>, _ rows: [Int]
  ) {
    for i in rows.indices { target[rows[i]] = T(truncatingIfNeeded: source[i]) }
  }

  private static func gatherValues(
    _ source: UnsafeMutableRawPointer, _ layout: Layout, _ rows: [Int], to target: UnsafeMutableRawPointer
  ) {
    switch layout {
    case .int8: gather(Int8.self, source, rows, target)
    case .int16, .codes: gather(Int16.self, source, rows, target)
    case .int32, .float: gather(Int32.self, source, rows, target)
    case .int64, .double: gather(Int64.self, source, rows, target)
    case .decimal: gather(Decimal.self, source, rows, target)
    case .uuid: gather(uuid_t.self, source, rows, target)
    case .bytes, .external: break
    }
  }

  @inline(__always)
  private static func gather<T>(
    _ type: T.Type, _ source: UnsafeMutableRawPointer, _ rows: [Int], _ target: UnsafeMutableRawPointer
  ) {
    let from = source.assumingMemoryBound(to: T.self)
    let to = target.assumingMemoryBound(to: T.self)
    for i in rows.indices { to[i] = from[rows[i]] }
  }
}

extension Column.Layout: Comparable {
  public static func < (a: Column.Layout, b: Column.Layout) -> Bool { a.rawValue < b.rawValue }
}
