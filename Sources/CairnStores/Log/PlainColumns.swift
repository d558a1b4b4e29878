// Columns of a few rows in a transaction, value by value.

import CairnModel
import Foundation

enum PlainColumns {
  /// The values of the rows that aren't null. Of several rows a byte says whether some are null, and a bit
  /// for each says which. The column holds one value at least.
  static func write(_ column: Column, to sink: ByteSink) {
    if column.count > 1 { writeNulls(column, to: sink) }
    switch column.type {
    case .int16, .int32, .int64:
      for row in 0..<column.count where !column.isNull(row) { sink.append(zigzag: column.integer(row)) }
    case .bool, .key:
      for row in 0..<column.count where !column.isNull(row) {
        sink.append(varint: UInt64(column.integer(row)))
      }
    case .double, .date: writeWords(column, 8, to: sink)
    case .float: writeWords(column, 4, to: sink)
    case .uuid: writeWords(column, 16, to: sink)
    case .decimal:
      for row in 0..<column.count where !column.isNull(row) {
        let fields = DecimalFields(UnsafeRawPointer(column.rawValues) + DecimalFields.size * row)
        sink.append(UInt8(bitPattern: fields.exponent))
        sink.append(fields.flags)
        sink.append(varint: fields.low)
        sink.append(varint: fields.high)
      }
    case .string, .uri, .data, .transformable:
      for row in 0..<column.count where !column.isNull(row) {
        let bytes = column.bytes(row)
        sink.append(count: bytes.count)
        sink.append(bytes)
      }
    }
  }

  private static func writeNulls(_ column: Column, to sink: ByteSink) {
    if column.nullCount == 0 { return sink.append(0) }
    sink.append(1)
    let length = (column.count + 7) / 8
    let bits = sink.reserve(length)
    bits.update(repeating: 0, count: length)
    for row in 0..<column.count where column.isNull(row) { bits[row >> 3] |= 1 << UInt8(row & 7) }
    sink.commit(length)
  }

  /// All systems that Cairn runs on are little-endian, as the file is.
  private static func writeWords(_ column: Column, _ width: Int, to sink: ByteSink) {
    let values = UnsafePointer(column.rawValues.assumingMemoryBound(to: UInt8.self))
    for row in 0..<column.count where !column.isNull(row) {
      sink.append(UnsafeBufferPointer(start: values + width * row, count: width))
    }
  }

  // MARK: Reading

  /// Throws `PayloadError`, and takes memory only for what is there.
  static func read(_ type: ValueType, count: Int, from source: inout ByteSource) throws -> Column {
    let nulls = count > 1 ? try readNulls(count, from: &source) : nil
    switch type {
    case .int16, .int32, .int64, .bool, .key: return try readIntegers(type, count, nulls, from: &source)
    case .double, .date:
      return try readFloating(type, .double, count, nulls, from: &source) { $0.load(as: Double.self) }
    case .float:
      return try readFloating(type, .float, count, nulls, from: &source) { Double($0.load(as: Float.self)) }
    case .uuid:
      let values = try source.take(16 * (count - (nulls?.setCount ?? 0)))
      return spread(type, .uuid, UnsafeRawPointer(values), count, nulls, Zone())
    case .decimal: return try readDecimals(count, nulls, from: &source)
    case .string, .uri, .data, .transformable: return try readBytes(type, count, nulls, from: &source)
    }
  }

  /// A column of nothing but nulls.
  static func nulls(_ type: ValueType, count: Int) -> Column {
    let all = Bitmap(setting: 0..<count, capacity: count)
    switch type {
    case .string, .uri, .data, .transformable:
      let entries = BytesPool.filled(entryCount: count, byteCount: 0) { ends, _ in
        ends.initialize(repeating: 0, count: count)
      }
      return .raw(type: type, count: count, nulls: all, entries: entries)
    case .int16, .int32, .int64, .bool, .key: return zeros(type, .int8, count, all)
    case .double, .date: return zeros(type, .double, count, all)
    case .float: return zeros(type, .float, count, all)
    case .decimal: return zeros(type, .decimal, count, all)
    case .uuid: return zeros(type, .uuid, count, all)
    }
  }

  private static func zeros(_ type: ValueType, _ layout: Column.Layout, _ count: Int, _ nulls: Bitmap)
    -> Column
  {
    .raw(type: type, layout: layout, count: count, nulls: nulls, zone: Zone()) { memory in
      fillZeros(memory, layout, 0..<count)
    }
  }

  private static func readNulls(_ count: Int, from source: inout ByteSource) throws -> Bitmap? {
    let form = try source.byte()
    if form == 0 { return nil }
    guard form == 1 else {
      throw PayloadError(what: "nulls have no form \(form) here", byteOffset: source.offset - 1)
    }
    let length = (count + 7) / 8
    let bits = try source.take(length)
    guard count % 8 == 0 || bits[length - 1] >> UInt8(count % 8) == 0 else {
      throw source.error("a bitmap has bits behind its last row")
    }
    let rows = (0..<count).lazy.filter { bits[$0 >> 3] & 1 << UInt8($0 & 7) != 0 }
    let nulls = Bitmap(setting: rows, capacity: count)
    guard (1..<count).contains(nulls.setCount) else {
      throw source.error("\(nulls.setCount) of \(count) rows are null by a bitmap")
    }
    return nulls
  }

  private static func readIntegers(
    _ type: ValueType, _ count: Int, _ nulls: Bitmap?, from source: inout ByteSource
  ) throws -> Column {
    let range = type.integerRange!
    let isSigned = type != .bool && type != .key
    return try withUnsafeTemporaryAllocation(of: Int64.self, capacity: count) { buffer in
      let values = buffer.baseAddress!
      var zone = Zone()
      for row in 0..<count {
        if let nulls, nulls[row] {
          values[row] = 0
          continue
        }
        let code = try source.varint()
        let value = isSigned ? Varint.unzigzag(code) : Int64(bitPattern: code)
        guard range.contains(value) else { throw source.error("\(value) isn't of type \(type)") }
        values[row] = value
        zone.minInteger = min(zone.minInteger, value)
        zone.maxInteger = max(zone.maxInteger, value)
      }
      let layout = Column.Layout.narrowest(low: zone.minInteger, high: zone.maxInteger)
      return Column.raw(type: type, layout: layout, count: count, nulls: nulls, zone: zone) { memory in
        switch layout {
        case .int8: ColumnAssembly.narrow(values, count, memory.assumingMemoryBound(to: Int8.self))
        case .int16: ColumnAssembly.narrow(values, count, memory.assumingMemoryBound(to: Int16.self))
        case .int32: ColumnAssembly.narrow(values, count, memory.assumingMemoryBound(to: Int32.self))
        default: memory.assumingMemoryBound(to: Int64.self).update(from: values, count: count)
        }
      }
    }
  }

  private static func readFloating(
    _ type: ValueType, _ layout: Column.Layout, _ count: Int, _ nulls: Bitmap?,
    from source: inout ByteSource, _ value: (UnsafeRawPointer) -> Double
  ) throws -> Column {
    let valueCount = count - (nulls?.setCount ?? 0)
    let width = layout == .float ? 4 : 8
    let values = UnsafeRawPointer(try source.take(width * valueCount))
    var zone = Zone()
    for i in 0..<valueCount {
      var word: UInt64 = 0
      let x = withUnsafeMutableBytes(of: &word) { memory in
        memory.copyMemory(from: UnsafeRawBufferPointer(start: values + width * i, count: width))
        return value(UnsafeRawPointer(memory.baseAddress!))
      }
      if x.isNaN { zone.mayHoldNaN = true }
      // Comparisons with NaN are false, so it leaves the bounds alone.
      if x < zone.minDouble { zone.minDouble = x }
      if x > zone.maxDouble { zone.maxDouble = x }
    }
    return spread(type, layout, values, count, nulls, zone)
  }

  private static func readDecimals(_ count: Int, _ nulls: Bitmap?, from source: inout ByteSource) throws
    -> Column
  {
    let valueCount = count - (nulls?.setCount ?? 0)
    let size = DecimalFields.size
    // A decimal takes four bytes at least.
    guard valueCount <= source.remaining / 4 else { throw source.error("the payload ends early") }
    return try withUnsafeTemporaryAllocation(byteCount: size * valueCount, alignment: 16) { buffer in
      let values = buffer.baseAddress!
      for i in 0..<valueCount {
        let start = source.offset
        let exponent = Int8(bitPattern: try source.byte())
        let flags = try source.byte()
        let fields = DecimalFields(
          exponent: Int64(exponent), flags: Int64(flags), low: try source.varint(),
          high: try source.varint())
        guard let fields else { throw PayloadError(what: "a value is no decimal", byteOffset: start) }
        fields.store(to: values + size * i)
      }
      return spread(.decimal, .decimal, UnsafeRawPointer(values), count, nulls, Zone())
    }
  }

  private static func readBytes(
    _ type: ValueType, _ count: Int, _ nulls: Bitmap?, from source: inout ByteSource
  ) throws -> Column {
    let valueCount = count - (nulls?.setCount ?? 0)
    var again = source
    var byteCount = 0
    for _ in 0..<valueCount {
      let length = try source.count(upTo: source.remaining)
      _ = try source.take(length)
      byteCount += length
    }
    let entries = try BytesPool.filled(entryCount: count, byteCount: byteCount) { ends, bytes in
      var end = 0
      for row in 0..<count {
        if nulls.map({ !$0[row] }) ?? true {
          let length = try again.count(upTo: again.remaining)
          (bytes + end).update(from: try again.take(length), count: length)
          end += length
        }
        ends[row] = UInt64(end)
      }
    }
    return .raw(type: type, count: count, nulls: nulls, entries: entries)
  }

  /// A column of the values that stand side by side at `values`, with 0 where rows are null.
  private static func spread(
    _ type: ValueType, _ layout: Column.Layout, _ values: UnsafeRawPointer, _ count: Int, _ nulls: Bitmap?,
    _ zone: Zone
  ) -> Column {
    let width = layout.byteWidth
    return Column.raw(type: type, layout: layout, count: count, nulls: nulls, zone: zone) { memory in
      guard let nulls else { return memory.copyMemory(from: values, byteCount: width * count) }
      var next = values
      for row in 0..<count {
        if nulls[row] {
          fillZeros(memory, layout, row..<row + 1)
        } else {
          (memory + width * row).copyMemory(from: next, byteCount: width)
          next += width
        }
      }
    }
  }

  /// A decimal that is 0 has bits set.
  private static func fillZeros(
    _ memory: UnsafeMutableRawPointer, _ layout: Column.Layout, _ rows: Range<Int>
  ) {
    if layout == .decimal {
      (memory.assumingMemoryBound(to: Decimal.self) + rows.lowerBound).update(repeating: 0, count: rows.count)
    } else {
      let width = layout.byteWidth
      (memory + width * rows.lowerBound).initializeMemory(
        as: UInt8.self, repeating: 0, count: width * rows.count)
    }
  }
}

extension Column.Layout {
  /// Of a value of fixed width.
  fileprivate var byteWidth: Int {
    switch self {
    case .int8: 1
    case .int16, .codes: 2
    case .int32, .float: 4
    case .int64, .double: 8
    case .decimal: DecimalFields.size
    case .uuid: 16
    case .bytes, .external: 0
    }
  }
}
