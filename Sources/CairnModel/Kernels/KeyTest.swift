// A test of keys: what a condition on the far end of a to-one relationship becomes. Also a set of integers.

/// Whether a row with some key satisfies a test: one byte a key where keys are dense, a dictionary elsewhere.
struct KeyTest {
  private let base: Int64
  private var dense: [UInt8]
  private var sparse: [Int64: Bool]
  /// The answer for null and for keys without a row.
  let otherwise: Bool
  /// The least and the greatest key that answers differently; the other way round where there is none.
  private var lowest = Int64.max
  private var highest = Int64.min

  /// Room for keys in `range`, all of which answer `otherwise` at first.
  init(range: ClosedRange<Int64>?, rowCount: Int, otherwise: Bool) {
    self.otherwise = otherwise
    sparse = [:]
    guard let range else {
      base = 0
      dense = []
      return
    }
    let (span, overflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
    base = range.lowerBound
    let isDense = !overflow && span < Int64(max(1 << 16, rowCount * 16))
    dense = isDense ? [UInt8](repeating: otherwise ? 1 : 0, count: Int(span) + 1) : []
  }

  /// The table of an IN over a column of `type`; nil for another test, another type, and a list with numbers of
  /// other types in it, which compare by value.
  init?(members test: ValueTest, of type: ValueType) {
    guard case .isIn(let values) = test else { return nil }
    let wanted: [Int64]
    switch type {
    case .int16, .int32, .int64, .bool:
      wanted = values.compactMap {
        switch $0 {
        case .int(let x): x
        case .bool(let x): x ? 1 : 0
        default: nil
        }
      }
    case .key: wanted = values.compactMap { if case .key(let x) = $0 { x } else { nil } }
    default: return nil
    }
    guard wanted.count == values.count, let low = wanted.first, let high = wanted.last else { return nil }
    self.init(range: low...high, rowCount: wanted.count, otherwise: false)
    for x in wanted { set(x, true) }
  }

  mutating func set(_ key: Int64, _ result: Bool) {
    if result != otherwise {
      lowest = min(lowest, key)
      highest = max(highest, key)
    }
    if dense.isEmpty { sparse[key] = result } else { dense[Int(key - base)] = result ? 1 : 0 }
  }

  func matches(_ key: Int64) -> Bool {
    if dense.isEmpty { return sparse[key] ?? otherwise }
    let place = key &- base
    return place >= 0 && place < Int64(dense.count) ? dense[Int(place)] != 0 : otherwise
  }

  /// Whether neither null nor any key from `low` to `high` satisfies it.
  func excludes(_ low: Int64, _ high: Int64) -> Bool { !otherwise && (high < lowest || low > highest) }

  /// The keys that answer differently from `otherwise`, ascending. Costs the range of the keys.
  var exceptions: [Int64] {
    if dense.isEmpty { return sparse.filter { $0.value != otherwise }.map(\.key).sorted() }
    let usual: UInt8 = otherwise ? 1 : 0
    return dense.indices.lazy.filter { dense[$0] != usual }.map { base + Int64($0) }
  }

  /// Fills `mask` for a column of keys.
  func fill(_ mask: UnsafeMutablePointer<UInt8>, _ column: Column, count: Int) {
    switch column.layout {
    case .int8: fill(mask, column.values.assumingMemoryBound(to: Int8.self), count)
    case .int16: fill(mask, column.values.assumingMemoryBound(to: Int16.self), count)
    case .int32: fill(mask, column.values.assumingMemoryBound(to: Int32.self), count)
    default: fill(mask, column.values.assumingMemoryBound(to: Int64.self), count)
    }
    let null: UInt8 = otherwise ? 1 : 0
    column.nulls?.forEach(below: count) { mask[$0] = null }
  }

  private func fill<T: FixedWidthInteger>(
    _ mask: UnsafeMutablePointer<UInt8>, _ keys: UnsafePointer<T>, _ count: Int
  ) {
    if dense.isEmpty {
      for row in 0..<count { mask[row] = matches(Int64(keys[row])) ? 1 : 0 }
      return
    }
    let null: UInt8 = otherwise ? 1 : 0
    let limit = UInt64(dense.count)
    dense.withUnsafeBufferPointer { table in
      if let run = exceptionRun(table) {
        fill(mask, keys, count, where: base + Int64(run.lowerBound)...base + Int64(run.upperBound))
        return
      }
      for row in 0..<count {
        let place = UInt64(bitPattern: Int64(keys[row]) &- base)
        mask[row] = place < limit ? table[Int(truncatingIfNeeded: place)] : null
      }
    }
  }

  /// The places of the keys that answer differently from `otherwise`, where they follow each other and a short look
  /// finds them: what a condition on one row, or on a few, comes to.
  private func exceptionRun(_ table: UnsafeBufferPointer<UInt8>) -> ClosedRange<Int>? {
    guard table.count <= Chunk.capacity else { return nil }
    let usual: UInt8 = otherwise ? 1 : 0
    guard let first = table.firstIndex(where: { $0 != usual }) else { return nil }
    let end = table[first...].firstIndex(of: usual) ?? table.count
    return table[end...].contains { $0 != usual } ? nil : first...end - 1
  }

  /// Comparing is several times as quick as looking up: the compiler makes it many rows at a time.
  private func fill<T: FixedWidthInteger>(
    _ mask: UnsafeMutablePointer<UInt8>, _ keys: UnsafePointer<T>, _ count: Int, where run: ClosedRange<Int64>
  ) {
    let usual: UInt8 = otherwise ? 1 : 0
    let low = max(run.lowerBound, Int64(T.min))
    let high = min(run.upperBound, Int64(T.max))
    guard low <= high else { return mask.update(repeating: usual, count: count) }
    let (first, last) = (T(low), T(high))
    for row in 0..<count { mask[row] = keys[row] >= first && keys[row] <= last ? 1 - usual : usual }
  }
}
