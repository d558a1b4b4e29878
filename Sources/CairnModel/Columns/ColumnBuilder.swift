// Columns being written: what a change set or a context's new objects collect before a commit.

import Foundation

/// Collects the values of one slot and turns them into a `Column`.
///
/// Values go in at the end or replace earlier ones. Confined to whoever made it; the column that `finish`
/// returns is Sendable. Putting in a value of another family than the builder's type is a programmer error.
public final class ColumnBuilder {
  public let type: ValueType
  // Unchecked exclusivity, since new objects are written here value by value: a builder is confined to whoever
  // made it, and no access to a field calls out, so that no two can overlap.
  @exclusivity(unchecked) @usableFromInline var rowCount = 0
  /// Integers, or doubles: eight bytes a row. Rows at and after `wordCapacity` have no place yet.
  @exclusivity(unchecked) @usableFromInline var words: UnsafeMutableRawPointer
  @exclusivity(unchecked) @usableFromInline var wordCapacity = 0
  @exclusivity(unchecked) private var decimals: ContiguousArray<Decimal> = []
  @exclusivity(unchecked) private var uuids: ContiguousArray<UUID> = []
  @exclusivity(unchecked) private var strings: ContiguousArray<String> = []
  @exclusivity(unchecked) private var blobs: ContiguousArray<Data> = []
  @exclusivity(unchecked) private var nullWords: ContiguousArray<UInt64> = []

  public init(_ type: ValueType) {
    self.type = type
    words = .allocate(byteCount: 0, alignment: 16)
  }

  deinit { words.deallocate() }

  @inlinable public var count: Int { rowCount }

  public func reserveCapacity(_ rows: Int) {
    switch Column.Layout.fixed(for: type) {
    case nil, .double, .float: if rows > wordCapacity { growWords(to: rows) }
    default: break
    }
  }

  /// Makes room for the row behind the last one.
  @usableFromInline @inline(never)
  func growWords() { growWords(to: max(2 * rowCount, 8)) }

  private func growWords(to capacity: Int) {
    let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity * 8, alignment: 16)
    grown.copyMemory(from: words, byteCount: min(rowCount, wordCapacity) * 8)
    words.deallocate()
    words = grown
    wordCapacity = capacity
  }

  /// Where the eight bytes of a row are, which has to be there.
  private func word(_ row: Int) -> UnsafeMutableRawPointer {
    precondition(
      row >= 0 && row < rowCount && row < wordCapacity, "row \(row) of a builder that has \(rowCount)")
    return words + 8 * row
  }

  private subscript(integer row: Int) -> Int64 {
    get { word(row).load(as: Int64.self) }
    set { word(row).storeBytes(of: newValue, as: Int64.self) }
  }

  private subscript(double row: Int) -> Double {
    get { word(row).load(as: Double.self) }
    set { word(row).storeBytes(of: newValue, as: Double.self) }
  }

  // MARK: Adding rows

  public func appendNull() {
    setNullBit(count, true)
    switch Column.Layout.fixed(for: type) {
    case nil: return append(0 as Int64)
    case .double, .float: return append(0 as Double)
    case .decimal: decimals.append(0)
    case .uuid: uuids.append(ColumnBuilder.zeroUUID)
    default: if isText { strings.append("") } else { blobs.append(Data()) }
    }
    rowCount += 1
  }

  /// Adds an integer, truth value (0 or 1) or key.
  @inlinable
  public func append(_ value: Int64) {
    if rowCount >= wordCapacity { growWords() }
    (words + 8 &* rowCount).storeBytes(of: value, as: Int64.self)
    rowCount &+= 1
  }

  /// Adds a double, float or date (seconds since 2001).
  @inlinable
  public func append(_ value: Double) {
    if rowCount >= wordCapacity { growWords() }
    (words + 8 &* rowCount).storeBytes(of: value, as: Double.self)
    rowCount &+= 1
  }

  public func append(_ value: String) {
    strings.append(value)
    rowCount += 1
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
  private func appendIntegers<T: FixedWidthInteger & SignedInteger>(
    _ values: UnsafeBufferPointer<T>, _ null: T?
  ) {
    let first = count
    if first + values.count > wordCapacity { growWords(to: max(first + values.count, 2 * first)) }
    let new = (words + 8 * first).assumingMemoryBound(to: Int64.self)
    for i in values.indices { new[i] = Int64(values[i]) }
    rowCount += values.count
    guard let null else { return }
    // Sixteen at a time are seen to have none.
    for start in stride(from: 0, to: values.count, by: 16) {
      let end = min(start + 16, values.count)
      var hits: T = 0
      for i in start..<end { hits |= values[i] == null ? -1 : 0 }
      if hits == 0 { continue }
      for i in start..<end where values[i] == null {
        setNullBit(first + i, true)
        new[i] = 0
      }
    }
  }

  /// Adds any value. Throws `wrongType` for one that the type can't hold, and adds nothing then.
  public func append(value: Value) throws {
    guard value.fits(type) else {
      throw StoreError(.wrongType, "\(value) does not fit the type \(type)")
    }
    if value.isNull { return appendNull() }
    switch Column.Layout.fixed(for: type) {
    case nil: return append(value.storedInteger)
    case .double, .float: return append(value.storedDouble)
    case .decimal: decimals.append(value.storedDecimal)
    case .uuid: uuids.append(value.storedUUID)
    default: if isText { strings.append(value.storedString) } else { blobs.append(value.storedData) }
    }
    rowCount += 1
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
    case nil: self[integer: row] = value.isNull ? 0 : value.storedInteger
    case .double, .float: self[double: row] = value.isNull ? 0 : value.storedDouble
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
    self[integer: row] = value
    setNullBit(row, false)
  }

  public func set(_ value: Double, at row: Int) {
    self[double: row] = value
    setNullBit(row, false)
  }

  public func set(_ value: String, at row: Int) {
    setNullBit(row, false)
    strings[row] = value
  }

  /// Whether all integers are 0 or more, as the keys of saved rows are.
  package var holdsNoNegative: Bool {
    let values = words.assumingMemoryBound(to: Int64.self)
    var all: Int64 = 0
    for row in 0..<min(rowCount, wordCapacity) { all |= values[row] }
    return all >= 0
  }

  public func isNull(_ row: Int) -> Bool {
    let word = row >> 6
    return word < nullWords.count && nullWords[word] & (1 << UInt64(row & 63)) != 0
  }

  public func integer(_ row: Int) -> Int64 { self[integer: row] }
  public func double(_ row: Int) -> Double { self[double: row] }
  public func string(_ row: Int) -> String { strings[row] }

  public func value(_ row: Int) -> Value {
    if isNull(row) { return .null }
    switch type {
    case .int16, .int32, .int64: return .int(self[integer: row])
    case .bool: return .bool(self[integer: row] != 0)
    case .key: return .key(self[integer: row])
    case .double: return .double(self[double: row])
    case .float: return .float(Float(self[double: row]))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: self[double: row]))
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
    case .double: return wordColumn(.double, nulls)
    case .float:
      return fixedColumn(.float, ContiguousArray((0..<count).map { Float(self[double: $0]) }), nulls)
    case .decimal: return fixedColumn(.decimal, decimals, nulls)
    case .uuid: return fixedColumn(.uuid, uuids, nulls)
    default: return bytesColumn(nulls)
    }
  }

  private func integerColumn(_ nulls: Bitmap?) -> Column {
    let values = words.assumingMemoryBound(to: Int64.self)
    var zone = Zone()
    (zone.minInteger, zone.maxInteger) = IntegerBounds.of(values, count, without: nulls)
    // Nulls hold 0, which every layout has.
    let layout = Column.Layout.narrowest(for: zone)
    let storage = ColumnStorage(layout: layout, capacity: count)
    Column.copyValues(words, .int64, 0..<count, to: storage.memory, layout, at: 0)
    return Column(
      type: type, layout: layout, count: count, nulls: nulls, storage: storage, pool: nil, poolCount: 0,
      zone: zone)
  }

  private func wordColumn(_ layout: Column.Layout, _ nulls: Bitmap?) -> Column {
    let storage = ColumnStorage(layout: layout, capacity: count)
    storage.memory.copyMemory(from: words, byteCount: 8 * count)
    return Column(measuring: type, layout: layout, count: count, nulls: nulls, storage: storage)
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
