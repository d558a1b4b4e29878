// Values of a column that aren't in memory: large ones, which a store keeps apart and reads one by one.

import Foundation

/// A value that is read whenever it is asked for.
package protocol ExternalValue: AnyObject, Sendable {
  /// In bytes.
  var byteCount: Int { get }

  /// Reads it. Throws `StoreError`. Costs its size in memory, which the caller then holds.
  func read() throws -> Data

  /// Told when a column keeps the value in memory, and when it lets go of it.
  func isKept(_ isKept: Bool)
}

/// Which rows of a column have such values, and those of them that had to stay in memory.
///
/// Sendable: constant but for `kept`, which is only touched under its lock; the memory behind a buffer in it never
/// changes and lives as long as this.
package final class ExternalValues: @unchecked Sendable {
  private struct Kept {
    var buffers: [Int: UnsafeMutableBufferPointer<UInt8>] = [:]
    var failures: [Int: StoreError] = [:]
  }

  /// Ascending.
  package let rows: [Int]
  package let values: [any ExternalValue]
  private let kept = Lock(Kept())

  /// nil for no rows. `rows` ascends.
  package init?(rows: [Int], values: [any ExternalValue]) {
    precondition(rows.count == values.count, "\(rows.count) rows for \(values.count) values")
    if rows.isEmpty { return nil }
    self.rows = rows
    self.values = values
  }

  deinit {
    let buffers = kept.withLock { $0.buffers }
    for (row, buffer) in buffers {
      buffer.deallocate()
      self[row]?.isKept(false)
    }
  }

  /// nil where the row's value is in the column itself.
  package subscript(row: Int) -> (any ExternalValue)? { place(of: row).map { values[$0] } }

  private func place(of row: Int) -> Int? {
    let place = firstPlace(from: row)
    return place < rows.count && rows[place] == row ? place : nil
  }

  /// Of the first row that is `row` or comes after it.
  private func firstPlace(from row: Int) -> Int {
    var (low, high) = (0, rows.count)
    while low < high {
      let middle = (low + high) / 2
      if rows[middle] < row { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Reading

  /// The value for the caller alone; nil where it is in the column itself, or can't be read.
  func data(_ row: Int) -> Data? {
    guard let value = self[row] else { return nil }
    do {
      return try value.read()
    } catch {
      note(error, row)
      return nil
    }
  }

  /// The bytes, which stay in memory as long as this; none where they can't be read.
  func bytes(_ row: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let value = self[row] else { return nil }
    if let buffer = kept.withLock({ $0.buffers[row] }) { return UnsafeBufferPointer(buffer) }
    guard let data = data(row) else { return UnsafeBufferPointer(start: nil, count: 0) }
    let new = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: data.count)
    _ = new.initialize(from: data)
    let winner = kept.withLock { kept in
      if let other = kept.buffers[row] { return other }
      kept.buffers[row] = new
      return new
    }
    if winner.baseAddress == new.baseAddress { value.isKept(true) } else { new.deallocate() }
    return UnsafeBufferPointer(winner)
  }

  private func note(_ error: any Error, _ row: Int) {
    let told = error as? StoreError ?? StoreError(.corrupt, "a value can't be read: \(error)")
    kept.withLock { $0.failures[row] = told }
  }

  /// Why the row's value couldn't be read, if it was asked for in vain.
  func failure(_ row: Int) -> StoreError? { kept.withLock { $0.failures[row] } }

  // MARK: Other columns

  /// What a column has of two that stand behind each other: of `first` everything, of `second` the rows in `range`,
  /// the first of which becomes row `start`.
  static func appending(
    _ second: ExternalValues?, _ range: Range<Int>, to first: ExternalValues?, at start: Int
  ) -> ExternalValues? {
    guard let second else { return first }
    let places = second.firstPlace(from: range.lowerBound)..<second.firstPlace(from: range.upperBound)
    if places.isEmpty { return first }
    return ExternalValues(
      rows: (first?.rows ?? []) + second.rows[places].map { $0 - range.lowerBound + start },
      values: (first?.values ?? []) + second.values[places])
  }

  /// What a column has whose rows are these.
  static func gathering(_ rows: [Int], of values: ExternalValues?) -> ExternalValues? {
    guard let values else { return nil }
    let found = rows.enumerated().compactMap { new, row in values[row].map { (row: new, value: $0) } }
    return ExternalValues(rows: found.map(\.row), values: found.map(\.value))
  }

  /// What a column has of whose rows some were replaced by those of another from `start` on. `rows` ascends.
  static func replacing(
    _ rows: [Int], of old: ExternalValues?, with new: ExternalValues?, from start: Int
  ) -> ExternalValues? {
    if old == nil, new == nil { return nil }
    let gone = Set(rows)
    var found: [(row: Int, value: any ExternalValue)] = []
    if let old {
      for (row, value) in zip(old.rows, old.values) where !gone.contains(row) { found.append((row, value)) }
    }
    if let new {
      for (place, row) in rows.enumerated() { new[start + place].map { found.append((row, $0)) } }
    }
    found.sort { $0.row < $1.row }
    return ExternalValues(rows: found.map(\.row), values: found.map(\.value))
  }
}

extension Column {
  /// Which rows have values out of memory; nil for none.
  package var externalValues: ExternalValues? { external }

  /// What `bytes` finds where the layout is `external`.
  @usableFromInline @inline(never)
  func externalBytes(_ row: Int) -> UnsafeBufferPointer<UInt8> { external?.bytes(row) ?? inlineBytes(row) }

  /// The bytes that are in the column itself: none for a value that is kept elsewhere.
  func inlineBytes(_ row: Int) -> UnsafeBufferPointer<UInt8> { pool!.entry(poolEntry(row)) }

  /// The bytes at `row` as data of the caller's own; empty where it is null. A value that is kept elsewhere is read and
  /// not kept, which `bytes` does.
  public func data(_ row: Int) -> Data {
    if layout == .external, external?[row] != nil { return external?.data(row) ?? Data() }
    return Data(bytes(row))
  }

  /// Why the value at `row` couldn't be read when it was last asked for; nil where it could. Where a whole column
  /// can't be, `damage` says so.
  @inlinable
  public func failure(at row: Int) -> StoreError? { layout == .external ? externalFailure(row) : nil }

  @usableFromInline @inline(never)
  func externalFailure(_ row: Int) -> StoreError? { external?.failure(row) }

  /// The same rows, with nothing where values are kept elsewhere.
  package var withoutExternalValues: Column {
    guard layout == .external else { return self }
    return Column(
      type: type, layout: .bytes, count: count, nulls: nulls, storage: storage, pool: pool,
      poolCount: poolCount, zone: zone)
  }

  /// The same rows, with `values` in some that have no bytes and aren't null.
  package func with(externalValues values: ExternalValues?) -> Column {
    guard let values else { return self }
    let plain = layout == .codes ? gatheringBytes(Array(0..<count), nulls) : self
    return Column(
      type: type, layout: .external, count: count, nulls: nulls, storage: plain.storage, pool: plain.pool,
      poolCount: count, zone: zone, external: values)
  }

  /// The same rows with all values in memory. Where one can't be read, `failure` says so afterwards.
  package var loadingExternalValues: Column {
    guard layout == .external else { return self }
    let target = BytesPool(
      entryCapacity: count, byteCapacity: (0..<count).reduce(0) { $0 + bytes($1).count })
    for row in 0..<count { target.append(bytes(row)) }
    return Column(
      type: type, layout: .bytes, count: count, nulls: nulls, storage: storage, pool: target,
      poolCount: count, zone: zone)
  }
}

extension Column {
  /// The same rows with the values of `rows`, which ascend, kept elsewhere: what the column has of them goes, and so do
  /// other values that it had elsewhere.
  package func replacingBytes(at rows: [Int], by values: ExternalValues) -> Column {
    let gone = Bitmap(setting: rows, capacity: count)
    let target = BytesPool(
      entryCapacity: count,
      byteCapacity: (0..<count).reduce(0) { $0 + (gone[$1] ? 0 : inlineBytes($1).count) })
    for row in 0..<count {
      target.append(gone[row] ? UnsafeBufferPointer(start: nil, count: 0) : inlineBytes(row))
    }
    return Column(
      type: type, layout: .external, count: count, nulls: nulls,
      storage: ColumnStorage(layout: .bytes, capacity: 0), pool: target, poolCount: count, zone: zone,
      external: values)
  }

  /// The same rows with null in `rows`, which ascend.
  package func nulling(_ rows: [Int]) -> Column {
    let builder = ColumnBuilder(type)
    for _ in rows { builder.appendNull() }
    return replacing(rows, with: builder.finish(), from: 0)
  }
}
