// Values side by side, with nothing done to them: what every block is held against. Choosing looks at samples, and a
// sample may mislead; a block that would take more than its values do is written so instead.

import CairnModel

enum PlainForms {
  /// What values of a type take side by side, with a bit for nulls where there are any, in bytes.
  static func byteCount(_ rows: BlockRows, _ type: ValueType) -> Int {
    let nulls = rows.nullCount == 0 ? 0 : (rows.count + 7) / 8
    return overhead(type) + nulls + rows.valueCount * width(type) + textBytes(rows, type)
  }

  /// Forms, and a kind, a base and a width for each stream, of which decimals have four.
  static func overhead(_ type: ValueType) -> Int { type == .decimal ? 56 : 16 }

  /// Of a value; for texts of its length.
  private static func width(_ type: ValueType) -> Int {
    switch type {
    case .bool: 1
    case .int16: 2
    case .int32, .float: 4
    case .int64, .key, .double, .date: 8
    case .decimal: 20
    case .uuid: 16
    case .string, .uri, .data, .transformable: 4
    }
  }

  private static func textBytes(_ rows: BlockRows, _ type: ValueType) -> Int {
    guard ItemRelation.types.contains(type) else { return 0 }
    var byteCount = 0
    for part in rows.parts {
      for row in 0..<part.count where !part.isNull(row) { byteCount += part.bytes(row).count }
    }
    return byteCount
  }

  /// Writes rows of which some aren't null, in no more than `byteCount` bytes. `chooser` chooses nothing.
  static func write(_ rows: BlockRows, _ type: ValueType, to sink: ByteSink, _ chooser: IntegerChooser) {
    if rows.nullCount == 0 {
      sink.append(NullForm.none.rawValue)
    } else {
      NullMaskWriter.writeBitmap(rows, to: sink)
    }
    let scratch = chooser.scratch
    switch type {
    case .int16, .int32, .int64, .bool, .key:
      let values = rows.integers(scratch: scratch)
      rows.compact(values)
      chooser.write(values, rows.valueCount, to: sink)
    case .double, .date, .float:
      let patterns = rows.bitPatterns(scratch: scratch)
      rows.compact(patterns)
      sink.append(FloatingForm.patterns.rawValue)
      chooser.write(patterns, rows.valueCount, to: sink)
    case .decimal: DecimalWriter(chooser: chooser).write(rows, to: sink)
    case .uuid:
      sink.append(UUIDForm.plain.rawValue)
      for part in rows.parts {
        let memory = part.rawValues.assumingMemoryBound(to: UInt8.self)
        for row in 0..<part.count where !part.isNull(row) {
          sink.append(UnsafeBufferPointer(start: memory + 16 * row, count: 16))
        }
      }
    case .string, .uri, .data, .transformable:
      let list = TextWriter.list(rows, scratch: scratch)
      sink.append(TextForm.lengths.rawValue)
      chooser.write(list.lengths, list.count, to: sink)
      for i in 0..<list.count { sink.append(list[i]) }
    }
  }
}
