// Columns being written: what a change set or a context's new objects collect before a commit.

import Foundation

/// Collects the values of one slot and turns them into a `Column`.
///
/// Values go in at the end or replace earlier ones. Confined to whoever made it; the column that `finish`
/// returns is Sendable. Putting in a value of another family than the builder's type is a programmer error.
public final class ColumnBuilder {
  public let type: ValueType
  public private(set) var count = 0
  private var integers: ContiguousArray<Int64> = []
  private var doubles: ContiguousArray<Double> = []
  private var decimals: ContiguousArray<Decimal> = []
  private var uuids: ContiguousArray<UUID> = []
  private var strings: ContiguousArray<String> = []
  private var blobs: ContiguousArray<Data> = []
  private var nullWords: ContiguousArray<UInt64> = []

  public init(_ type: ValueType) {
    self.type = type
  }

  public func reserveCapacity(_ rows: Int) {
    switch Column.Layout.fixed(for: type) {
    case nil: integers.reserveCapacity(rows)
    case .double, .float: doubles.reserveCapacity(rows)
    default: break
    }
  }

  // MARK: Adding rows

  public func appendNull() {
    setNullBit(count, true)
    switch Column.Layout.fixed(for: type) {
    case nil: integers.append(0)
    case .double, .float: doubles.append(0)
    case .decimal: decimals.append(0)
    case .uuid: uuids.append(ColumnBuilder.zeroUUID)
    default: if isText { strings.append("") } else { blobs.append(Data()) }
    }
    count += 1
  }

  /// Adds an integer, truth value (0 or 1) or key.
  public func append(_ value: Int64) {
    integers.append(value)
    count += 1
  }

  /// Adds a double, float or date (seconds since 2001).
  public func append(_ value: Double) {
    doubles.append(value)
    count += 1
  }

  public func append(_ value: String) {
    strings.append(value)
    count += 1
  }

  // One for each width, since a generic function called from another module isn't specialised.

  /// Adds integers all at once; `null` is the value that stands for null.
  public func append(contentsOf values: UnsafeBufferPointer<Int64>, null: Int64? = nil) {
    appendIntegers(values, null)
  }

  /// Adds integers all at once; `null` is the value that stands for null.
  public func append(contentsOf values: UnsafeBufferPointer<Int32>, null: Int32? = nil) {
    appendIntegers(values, null)
  }

  @inline(__always)
  private func appendIntegers<T: FixedWidthInteger>(_ values: UnsafeBufferPointer<T>, _ null: T?) {
    let first = count
    integers.append(contentsOf: values.lazy.map { Int64($0) })
    count += values.count
    guard let null else { return }
    for i in values.indices where values[i] == null {
      setNullBit(first + i, true)
      integers[first + i] = 0
    }
  }

  /// Adds any value. Throws `wrongType` for one that the type can't hold, and adds nothing then.
  public func append(value: Value) throws {
    guard value.fits(type) else {
      throw StoreError(.wrongType, "\(value) does not fit the type \(type)")
    }
    if value.isNull { return appendNull() }
    switch Column.Layout.fixed(for: type) {
    case nil: integers.append(value.storedInteger)
    case .double, .float: doubles.append(value.storedDouble)
    case .decimal: decimals.append(value.storedDecimal)
    case .uuid: uuids.append(value.storedUUID)
    default: if isText { strings.append(value.storedString) } else { blobs.append(value.storedData) }
    }
    count += 1
  }

  // MARK: Changing and reading rows

  /// Replaces the value of a row. Throws `wrongType` for one that the type can't hold, and changes nothing.
  public func set(_ value: Value, at row: Int) throws {
    precondition(row < count, "row \(row) of a builder that has \(count)")
    guard value.fits(type) else {
      throw StoreError(.wrongType, "\(value) does not fit the type \(type)")
    }
    setNullBit(row, value.isNull)
    switch Column.Layout.fixed(for: type) {
    case nil: integers[row] = value.isNull ? 0 : value.storedInteger
    case .double, .float: doubles[row] = value.isNull ? 0 : value.storedDouble
    case .decimal: decimals[row] = value.isNull ? 0 : value.storedDecimal
    case .uuid: uuids[row] = value.isNull ? ColumnBuilder.zeroUUID : value.storedUUID
    default:
      if isText {
        strings[row] = value.isNull ? "" : value.storedString
      } else {
        blobs[row] = value.isNull ? Data() : value.storedData
      }
    }
  }

  public func set(_ value: Int64, at row: Int) {
    setNullBit(row, false)
    integers[row] = value
  }

  public func set(_ value: Double, at row: Int) {
    setNullBit(row, false)
    doubles[row] = value
  }

  public func set(_ value: String, at row: Int) {
    setNullBit(row, false)
    strings[row] = value
  }

  public func isNull(_ row: Int) -> Bool {
    let word = row >> 6
    return word < nullWords.count && nullWords[word] & (1 << UInt64(row & 63)) != 0
  }

  public func integer(_ row: Int) -> Int64 { integers[row] }
  public func double(_ row: Int) -> Double { doubles[row] }
  public func string(_ row: Int) -> String { strings[row] }

  public func value(_ row: Int) -> Value {
    if isNull(row) { return .null }
    switch type {
    case .int16, .int32, .int64: return .int(integers[row])
    case .bool: return .bool(integers[row] != 0)
    case .key: return .key(integers[row])
    case .double: return .double(doubles[row])
    case .float: return .float(Float(doubles[row]))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: doubles[row]))
    case .decimal: return .decimal(decimals[row])
    case .uuid: return .uuid(uuids[row])
    case .string: return .string(strings[row])
    case .uri: return .uri(strings[row])
    case .data, .transformable: return .data(blobs[row])
    }
  }

  // MARK: Finishing

  /// The rows so far as a column, all of them or those of `rows` in that order. The builder is unchanged.
  public func finish(rows: [Int]? = nil) -> Column {
    let column = makeColumn()
    return rows.map(column.gathering) ?? column
  }

  private func makeColumn() -> Column {
    let nulls =
      nullWords.isEmpty
      ? nil
      : Bitmap(capacity: count) { words in
        for (i, word) in nullWords.enumerated() { words[i] = word }
      }
    switch Column.Layout.fixed(for: type) {
    case nil: return integerColumn(nulls)
    case .double: return fixedColumn(.double, doubles, nulls)
    case .float: return fixedColumn(.float, ContiguousArray(doubles.map { Float($0) }), nulls)
    case .decimal: return fixedColumn(.decimal, decimals, nulls)
    case .uuid: return fixedColumn(.uuid, uuids, nulls)
    default: return bytesColumn(nulls)
    }
  }

  private func integerColumn(_ nulls: Bitmap?) -> Column {
    let wide = fixedColumn(.int64, integers, nulls)
    // Appending to an empty column narrows.
    return Column.empty(type: type, capacity: count).appending(wide, 0..<count, capacity: count)
  }

  private func fixedColumn<T>(_ layout: Column.Layout, _ values: ContiguousArray<T>, _ nulls: Bitmap?)
    -> Column
  {
    let storage = ColumnStorage(layout: layout, capacity: count)
    values.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { storage.memory.copyMemory(from: base, byteCount: bytes.count) }
    }
    return Column(measuring: type, layout: layout, count: count, nulls: nulls, storage: storage)
  }

  private func bytesColumn(_ nulls: Bitmap?) -> Column {
    var byteCount = 0
    for string in strings { byteCount += string.utf8.count }
    for blob in blobs { byteCount += blob.count }
    let pool = BytesPool(entryCapacity: count, byteCapacity: byteCount)
    for string in strings {
      var string = string
      string.withUTF8 { pool.append($0) }
    }
    for blob in blobs {
      blob.withUnsafeBytes { pool.append($0.bindMemory(to: UInt8.self)) }
    }
    return Column(
      type: type, layout: .bytes, count: count, nulls: nulls,
      storage: ColumnStorage(layout: .bytes, capacity: 0),
      pool: pool, poolCount: count, zone: Zone())
  }

  private var isText: Bool { type == .string || type == .uri }

  private static let zeroUUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  private func setNullBit(_ row: Int, _ isNull: Bool) {
    let word = row >> 6
    if word >= nullWords.count {
      guard isNull else { return }
      nullWords.append(contentsOf: repeatElement(0, count: word + 1 - nullWords.count))
    }
    let bit: UInt64 = 1 << UInt64(row & 63)
    if isNull { nullWords[word] |= bit } else { nullWords[word] &= ~bit }
  }
}

extension Value {
  // What `ColumnBuilder` stores for a value that `fits` has accepted.

  var storedInteger: Int64 {
    switch self {
    case .int(let x), .key(let x): x
    case .bool(let x): x ? 1 : 0
    default: preconditionFailure("\(self) is no integer")
    }
  }

  var storedDouble: Double {
    switch self {
    case .double(let x): x
    case .float(let x): Double(x)
    case .int(let x): Double(x)
    case .date(let x): x.timeIntervalSinceReferenceDate
    default: preconditionFailure("\(self) is no double")
    }
  }

  var storedDecimal: Decimal {
    switch self {
    case .decimal(let x): x
    case .int(let x): Decimal(x)
    default: preconditionFailure("\(self) is no decimal")
    }
  }

  var storedUUID: UUID {
    if case .uuid(let x) = self { x } else { preconditionFailure("\(self) is no UUID") }
  }

  var storedString: String {
    switch self {
    case .string(let x), .uri(let x): x
    default: preconditionFailure("\(self) is no string")
    }
  }

  var storedData: Data {
    if case .data(let x) = self { x } else { preconditionFailure("\(self) is no data") }
  }
}
