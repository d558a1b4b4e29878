// Turns the values of indexed slots into machine words whose order follows the values' order, without needing
// to see other values.
//
// Always holds: value(a) < value(b) implies words(a) <= words(b) in lexicographic order, and equal values
// have equal words. Different values may share words (long strings, Int64.min and null), so whoever finds a
// row by its words checks the row's values before believing it.

import Foundation

package enum IndexCoder {
  /// How many words a value of this type takes: where one word can't tell values apart, a second one is a
  /// hash (or the rest of a UUID), which makes equality exact in all but rare cases.
  package static func wordCount(_ type: ValueType) -> Int {
    switch type {
    case .int16, .int32, .int64, .bool, .key, .double, .float, .date: 1
    case .decimal, .string, .uri, .data, .transformable, .uuid: 2
    }
  }

  /// The words of a value that the slot's type can be compared with; nil where comparing needs the values
  /// themselves (an integer slot against a fraction, say).
  package static func words(_ value: Value, as type: ValueType) -> [UInt64]? {
    if value.isNull { return [UInt64](repeating: 0, count: wordCount(type)) }
    guard value.family == type.family else { return nil }
    let builder = ColumnBuilder(type)
    guard (try? builder.append(value: value)) != nil else { return nil }
    return words(builder.finish(), 0)
  }

  /// The words of one row.
  package static func words(_ column: Column, _ row: Int) -> [UInt64] {
    if wordCount(column.type) == 1 { return [firstWord(column, row)] }
    return [firstWord(column, row), secondWord(column, row)]
  }

  /// One array a word, with an entry for each row of the column.
  package static func words(_ column: Column) -> [[UInt64]] {
    let first = (0..<column.count).map { firstWord(column, $0) }
    return wordCount(column.type) == 1 ? [first] : [first, (0..<column.count).map { secondWord(column, $0) }]
  }

  private static func firstWord(_ column: Column, _ row: Int) -> UInt64 {
    if column.isNull(row) { return 0 }
    switch column.type {
    case .key: return UInt64(bitPattern: column.integer(row))
    case .int16, .int32, .int64, .bool:
      return max(1, UInt64(bitPattern: column.integer(row)) ^ 1 << 63)
    case .double, .float, .date: return SortCoder.code(column.double(row))
    case .decimal: return wholePart(column.decimal(row))
    case .uuid: return max(1, bigEndian(withUnsafeBytes(of: column.uuid(row).uuid) { Array($0[0..<8]) }))
    case .string, .uri: return max(1, prefix(ofText: column.bytes(row)))
    case .data, .transformable: return max(1, bigEndian(Array(column.bytes(row).prefix(8))))
    }
  }

  private static func secondWord(_ column: Column, _ row: Int) -> UInt64 {
    if column.isNull(row) { return 0 }
    switch column.type {
    case .uuid: return bigEndian(withUnsafeBytes(of: column.uuid(row).uuid) { Array($0[8..<16]) })
    case .decimal: return UInt64(bitPattern: Int64(Value.decimal(column.decimal(row)).hashValue))
    default: return BytesPool.hash64(column.bytes(row))
    }
  }

  /// The first eight steps of a string in the one order: ASCII as it is, anything else as the top bits of
  /// its decomposed scalar, after which the word tells no more.
  private static func prefix(ofText bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let head = bytes.prefix(9)
    if head.allSatisfy({ $0 < 0x80 }) { return bigEndian(Array(head.prefix(8))) }
    // Decomposing may look at all the marks behind a letter, so it gets the whole string.
    let text = String(decoding: bytes, as: UTF8.self).decomposedStringWithCanonicalMapping
    var steps: [UInt8] = []
    for scalar in text.unicodeScalars.prefix(8) {
      if scalar.isASCII {
        steps.append(UInt8(scalar.value))
      } else {
        steps.append(0x80 | UInt8(min(scalar.value >> 8, 0x7F)))
        break
      }
    }
    return bigEndian(steps)
  }

  /// A decimal's floor, clamped to Int64: converting to a double rounds, and not always the same way round.
  private static func wholePart(_ x: Decimal) -> UInt64 {
    if x.isNaN { return 1 }
    return max(1, UInt64(bitPattern: DecimalParts(x).floor) ^ 1 << 63)
  }

  private static func bigEndian(_ bytes: [UInt8]) -> UInt64 {
    var word: UInt64 = 0
    for i in 0..<8 { word = word << 8 | (i < bytes.count ? UInt64(bytes[i]) : 0) }
    return word
  }
}
