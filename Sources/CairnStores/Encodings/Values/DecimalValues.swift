// Decimals: four streams of integers, one for each part of Foundation's Decimal, so that each form of a
// number comes back as it was.

import CairnModel
import Foundation

/// The fields of a Decimal, which isn't to be asked for them everywhere. In memory its 20 bytes are the
/// exponent, flags, two bytes of 0, and eight words of 16 bits, little-endian; on every system alike.
private enum DecimalFields {
  static let size = 20
  /// The lowest four bits of the flags: how many words count. Bit 4: negative. Bit 5: compact.
  static let lengthMask: Int64 = 0xF
  static let flagsLimit = 0x40
  static let maxLength = 8
}

struct DecimalWriter {
  let chooser: IntegerChooser

  func write(_ rows: BlockRows, to sink: ByteSink) {
    let n = rows.valueCount
    let exponents = chooser.scratch.take(Int64.self, n)
    let flags = chooser.scratch.take(Int64.self, n)
    let low = chooser.scratch.take(Int64.self, n)
    let high = chooser.scratch.take(Int64.self, n)
    var next = 0
    for part in rows.parts {
      for row in 0..<part.count where !part.isNull(row) {
        let value = UnsafeRawPointer(part.rawValues) + DecimalFields.size * row
        exponents[next] = Int64(value.load(as: Int8.self))
        flags[next] = Int64((value + 1).load(as: UInt8.self)) & Int64(DecimalFields.flagsLimit - 1)
        low[next] = Int64(littleEndian: (value + 4).loadUnaligned(as: Int64.self))
        high[next] = Int64(littleEndian: (value + 12).loadUnaligned(as: Int64.self))
        next += 1
      }
    }
    for stream in [exponents, flags, low, high] { chooser.write(stream, n, to: sink) }
  }
}

struct DecimalReader {
  let reader: IntegerReader

  func read(_ assembly: ColumnAssembly, from source: inout ByteSource) throws -> [Column] {
    let n = assembly.valueCount
    let exponents = reader.scratch.take(Int64.self, assembly.rowCount)
    let flags = reader.scratch.take(Int64.self, assembly.rowCount)
    let low = reader.scratch.take(Int64.self, assembly.rowCount)
    let high = reader.scratch.take(Int64.self, assembly.rowCount)
    let start = source.offset
    try reader.read(n, from: &source, into: exponents)
    try reader.readIndexes(n, below: DecimalFields.flagsLimit, from: &source, into: flags)
    try reader.read(n, from: &source, into: low)
    try reader.read(n, from: &source, into: high)
    for i in 0..<n {
      guard Int8(exactly: exponents[i]) != nil, flags[i] & DecimalFields.lengthMask <= DecimalFields.maxLength
      else { throw EncodingError(what: "a value is no decimal", byteOffset: start) }
    }
    for stream in [exponents, flags, low, high] { assembly.mask.expand(stream, filler: 0) }
    return assembly.parts { start, count, nulls in
      Column.raw(type: .decimal, layout: .decimal, count: count, nulls: nulls, zone: Zone()) { memory in
        for row in 0..<count {
          let target = memory + DecimalFields.size * row
          let header =
            UInt32(UInt8(truncatingIfNeeded: exponents[start + row])) | UInt32(flags[start + row]) << 8
          target.storeBytes(of: header.littleEndian, as: UInt32.self)
          (target + 4).storeBytes(of: low[start + row].littleEndian, as: Int64.self)
          (target + 12).storeBytes(of: high[start + row].littleEndian, as: Int64.self)
        }
        // The place of a null holds the number 0 as Foundation makes it.
        guard let nulls else { return }
        let values = memory.assumingMemoryBound(to: Decimal.self)
        for row in 0..<count where nulls[row] { values[row] = 0 }
      }
    }
  }
}
