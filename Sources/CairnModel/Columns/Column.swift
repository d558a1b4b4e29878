// One column: the values of one slot for a run of rows, unboxed, at the narrowest width that holds them.
//
// Always holds: rows 0..<count never change. Storage may have room behind `count`, where the store's one
// writer puts further rows; a reader never looks there, so no lock is needed. A change to a row that was
// published makes a new column (Column+Changing.swift). The place of a null holds 0, or an empty string.

public import Foundation

/// The values of one slot for consecutive rows. Immutable as far as any holder can see.
///
/// Sendable: every field is constant; the memory behind `values` is written only at rows `>= count` of every
/// column version that was published, by whoever holds the store's write lock, and a version with a larger
/// count reaches readers through the lock that publishes a snapshot.
public final class Column: @unchecked Sendable {
  /// How the values lie in memory.
  public enum Layout: UInt8, Sendable {
    case int8, int16, int32, int64
    case float, double
    /// Foundation's `Decimal`, 20 bytes.
    case decimal
    /// 16 bytes in the order of the UUID's text.
    case uuid
    /// Row r is entry r of the pool.
    case bytes
    /// Row r is the entry of the pool that its UInt16 names.
    case codes
    /// As `bytes`, but some rows have none in the pool: they are kept elsewhere, and read when they are asked for.
    case external
  }

  public let type: ValueType
  public let layout: Layout
  /// How many rows there are.
  public let count: Int
  public let nulls: Bitmap?
  @usableFromInline let values: UnsafeMutableRawPointer
  @usableFromInline let pool: BytesPool?
  /// How many entries of the pool rows of this column may name.
  let poolCount: Int
  let storage: ColumnStorage
  public let zone: Zone
  /// Why the values couldn't be read; nil for every column but those that stand in for one.
  public let damage: StoreError?
  /// With the layout of that name, and only then.
  let external: ExternalValues?

  init(
    type: ValueType, layout: Layout, count: Int, nulls: Bitmap?, storage: ColumnStorage, pool: BytesPool?,
    poolCount: Int, zone: Zone, external: ExternalValues? = nil
  ) {
    self.external = external
    self.type = type
    self.layout = layout
    self.count = count
    self.nulls = nulls.flatMap { $0.setCount == 0 ? nil : $0 }
    self.storage = storage
    self.values = storage.memory
    self.pool = pool
    self.poolCount = poolCount
    self.zone = zone
    damage = nil
  }

  /// The same column, but known to stand in for one that couldn't be read.
  init(_ column: Column, damage: StoreError) {
    type = column.type
    layout = column.layout
    count = column.count
    nulls = column.nulls
    storage = column.storage
    values = column.values
    pool = column.pool
    poolCount = column.poolCount
    zone = column.zone
    external = column.external
    self.damage = damage
  }

  public var nullCount: Int { nulls?.setCount ?? 0 }

  // MARK: Reading one row

  @inlinable @inline(__always)
  public func isNull(_ row: Int) -> Bool {
    guard let nulls else { return false }
    return nulls[row]
  }

  /// The integer, truth value (0 or 1) or key at `row`; 0 where it is null. A programmer error for the types
  /// that aren't kept as integers.
  @inlinable @inline(__always)
  public func integer(_ row: Int) -> Int64 {
    switch layout {
    case .int8: Int64(values.assumingMemoryBound(to: Int8.self)[row])
    case .int16: Int64(values.assumingMemoryBound(to: Int16.self)[row])
    case .int32: Int64(values.assumingMemoryBound(to: Int32.self)[row])
    default: values.assumingMemoryBound(to: Int64.self)[row]
    }
  }

  /// The double, float or date (seconds since 2001) at `row`; 0 where it is null. A programmer error for the
  /// other types.
  @inlinable @inline(__always)
  public func double(_ row: Int) -> Double {
    layout == .float
      ? Double(values.assumingMemoryBound(to: Float.self)[row])
      : values.assumingMemoryBound(to: Double.self)[row]
  }

  /// The UTF-8 or the bytes at `row`; empty where it is null. Valid while the column is held.
  /// (Entry 0 of a dictionary is always empty, and stands where rows are null.)
  @inlinable @inline(__always)
  public func bytes(_ row: Int) -> UnsafeBufferPointer<UInt8> {
    if layout == .codes {
      return pool.unsafelyUnwrapped.entry(Int(values.assumingMemoryBound(to: UInt16.self)[row]))
    }
    return layout == .external ? externalBytes(row) : pool.unsafelyUnwrapped.entry(row)
  }

  /// The string or URI at `row`; empty where it is null.
  @inlinable
  public func string(_ row: Int) -> String { String(decoding: bytes(row), as: UTF8.self) }

  public func decimal(_ row: Int) -> Decimal { values.assumingMemoryBound(to: Decimal.self)[row] }

  public func uuid(_ row: Int) -> UUID { UUID(uuid: values.assumingMemoryBound(to: uuid_t.self)[row]) }

  /// The value at `row`, boxed; null too where it is kept elsewhere and can't be read (`failure`). Costs an enum and,
  /// for strings and data, a copy.
  public func value(_ row: Int) -> Value {
    if isNull(row) { return .null }
    switch type {
    case .int16, .int32, .int64: return .int(integer(row))
    case .bool: return .bool(integer(row) != 0)
    case .key: return .key(integer(row))
    case .double: return .double(double(row))
    case .float: return .float(Float(double(row)))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(row)))
    case .decimal: return .decimal(decimal(row))
    case .uuid: return .uuid(uuid(row))
    case .string: return .string(string(row))
    case .uri: return .uri(string(row))
    case .data, .transformable:
      let data = data(row)
      return failure(at: row) == nil ? .data(data) : .null
    }
  }

  /// What the column takes in memory, room behind `count` included; shared storage counts in full. A
  /// dictionary's hash table, which only the writer may look at, is left out, and so are values that are kept
  /// elsewhere, but for what says where they are.
  public var footprint: Int {
    storage.byteCount + (nulls.map { $0.capacity / 8 } ?? 0) + (pool?.footprint ?? 0)
      + (external?.rows.count ?? 0) * 120
  }

  /// Which entry of the pool `row` names. A programmer error for layouts without a pool.
  func poolEntry(_ row: Int) -> Int {
    layout == .codes ? Int(values.assumingMemoryBound(to: UInt16.self)[row]) : row
  }
}

extension Column.Layout {
  var stride: Int {
    switch self {
    case .int8: 1
    case .int16, .codes: 2
    case .int32, .float: 4
    case .int64, .double: 8
    case .decimal: MemoryLayout<Decimal>.stride
    case .uuid: 16
    case .bytes, .external: 0
    }
  }

  var isInteger: Bool { rawValue <= Column.Layout.int64.rawValue }

  var isFloatingPoint: Bool { self == .float || self == .double }

  /// Whether values are entries of a pool.
  var hasPool: Bool { rawValue >= Column.Layout.bytes.rawValue }

  /// The narrowest integer layout that holds both ends.
  static func narrowest(for zone: Zone) -> Column.Layout {
    guard zone.minInteger <= zone.maxInteger else { return .int8 }
    let low = zone.minInteger
    let high = zone.maxInteger
    if low >= Int64(Int8.min), high <= Int64(Int8.max) { return .int8 }
    if low >= Int64(Int16.min), high <= Int64(Int16.max) { return .int16 }
    if low >= Int64(Int32.min), high <= Int64(Int32.max) { return .int32 }
    return .int64
  }

  /// The layout of a type whose width doesn't depend on its values; nil for integers.
  static func fixed(for type: ValueType) -> Column.Layout? {
    switch type {
    case .int16, .int32, .int64, .bool, .key: nil
    case .double, .date: .double
    case .float: .float
    case .decimal: .decimal
    case .uuid: .uuid
    case .string, .uri, .data, .transformable: .bytes
    }
  }
}

/// Bounds of the values of a column that aren't null, for skipping chunks. They may be wider than the values.
public struct Zone: Sendable, Hashable {
  /// For integer layouts; min > max when there is no value.
  public var minInteger = Int64.max
  public var maxInteger = Int64.min
  /// For floating-point layouts, NaN left out; min > max when there is no value.
  public var minDouble = Double.infinity
  public var maxDouble = -Double.infinity
  public var mayHoldNaN = false

  public init() {}

  public func union(_ other: Zone) -> Zone {
    var zone = Zone()
    zone.minInteger = min(minInteger, other.minInteger)
    zone.maxInteger = max(maxInteger, other.maxInteger)
    zone.minDouble = min(minDouble, other.minDouble)
    zone.maxDouble = max(maxDouble, other.maxDouble)
    zone.mayHoldNaN = mayHoldNaN || other.mayHoldNaN
    return zone
  }
}

/// Memory for the values of one or more versions of a column.
///
/// Sendable: it only owns the memory; who may write where is `Column`'s rule.
final class ColumnStorage: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer
  /// In rows.
  let capacity: Int
  let byteCount: Int

  init(layout: Column.Layout, capacity: Int) {
    self.capacity = layout.stride == 0 ? Int.max : capacity
    byteCount = layout.stride == 0 ? 0 : max(capacity, 1) * layout.stride
    memory = .allocate(byteCount: max(byteCount, 8), alignment: 16)
  }

  deinit { memory.deallocate() }
}
