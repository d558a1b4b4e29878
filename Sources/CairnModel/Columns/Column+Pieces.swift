// Columns cut into pieces and put together again, for encodings that take a few thousand rows at a time.

import Foundation

extension Column {
  /// The rows of `range` as a column of their own, whose bounds may be wider than its values.
  ///
  /// A programmer error where values are kept elsewhere (`loadingExternalValues`). For reading only, since a dictionary is shared with this column: appending to a piece is a programmer
  /// error.
  package func piece(_ range: Range<Int>) -> Column {
    if range == 0..<count { return self }
    precondition(layout != .external, "values that are kept elsewhere have to be loaded first")
    let nulls = nulls?.piece(range)
    guard layout == .bytes else {
      let target = ColumnStorage(layout: layout, capacity: range.count)
      Column.copyValues(values, layout, range, to: target.memory, layout, at: 0)
      return Column(
        type: type, layout: layout, count: range.count, nulls: nulls, storage: target, pool: pool,
        poolCount: poolCount, zone: zone)
    }
    let source = pool!
    let start = range.lowerBound == 0 ? 0 : source.ends[range.lowerBound - 1]
    let end = range.isEmpty ? start : source.ends[range.upperBound - 1]
    let target = BytesPool.filled(entryCount: range.count, byteCount: Int(end - start)) { ends, bytes in
      bytes.update(from: source.bytes + Int(start), count: Int(end - start))
      for row in 0..<range.count { ends[row] = source.ends[range.lowerBound + row] - start }
    }
    return .raw(type: type, count: range.count, nulls: nulls, entries: target)
  }

  /// The rows of `parts`, end to end; one part is returned as it is. All are of `type`. Costs one copy.
  package static func joining(_ parts: [Column], type: ValueType) -> Column {
    if parts.count == 1 { return parts[0] }
    let count = parts.reduce(0) { $0 + $1.count }
    let isText = parts.contains { $0.layout == .bytes || $0.layout == .codes }
    let layout = parts.map(\.layout).max() ?? Layout.fixed(for: type) ?? .int8
    guard !isText, layout != .bytes else {
      let hint: Layout = parts.contains { $0.layout == .bytes } ? .bytes : .codes
      return parts.reduce(Column.empty(type: type, capacity: count, preferring: hint)) {
        $0.appending($1, 0..<$1.count, capacity: count)
      }
    }
    let storage = ColumnStorage(layout: layout, capacity: count)
    var start = 0
    for part in parts {
      copyValues(part.values, part.layout, 0..<part.count, to: storage.memory, layout, at: start)
      start += part.count
    }
    return Column(
      type: type, layout: layout, count: count, nulls: Bitmap.joining(parts, count: count), storage: storage,
      pool: nil, poolCount: 0, zone: parts.reduce(Zone()) { $0.union($1.zone) })
  }
}

extension Bitmap {
  /// The bits of `range` as those of the rows from 0 on.
  fileprivate func piece(_ range: Range<Int>) -> Bitmap {
    Bitmap(capacity: range.count) { target in
      let shift = UInt64(range.lowerBound & 63)
      for index in 0..<(range.count + 63) / 64 {
        let source = range.lowerBound >> 6 + index
        var word = source < wordCount ? words[source] >> shift : 0
        if shift > 0, source + 1 < wordCount { word |= words[source + 1] << (64 - shift) }
        let left = range.count - 64 * index
        target[index] = left < 64 ? word & (1 << UInt64(left) - 1) : word
      }
    }
  }

  /// The nulls of columns that stand end to end; nil where there are none.
  fileprivate static func joining(_ parts: [Column], count: Int) -> Bitmap? {
    guard parts.contains(where: { $0.nulls != nil }) else { return nil }
    return Bitmap(capacity: count) { target in
      var start = 0
      for part in parts {
        part.nulls?.forEach(below: part.count) { row in
          target[(start + row) >> 6] |= 1 << UInt64((start + row) & 63)
        }
        start += part.count
      }
    }
  }
}
