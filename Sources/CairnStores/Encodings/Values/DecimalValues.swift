// Decimals: four streams of integers, one for each part of Foundation's Decimal, so that each form of a
// number comes back as it was.

import CairnModel
import Foundation

/// The 20 bytes of a Decimal in memory, whose fields Foundation doesn't show on every system: the exponent, a
/// byte of flags, two bytes of 0, and eight words of 16 bits, the lowest first.
private enum DecimalFields {
  static let size = 20
  /// In a file, the lowest four bits of the flags say how many words count; then negative, then compact.
  static let lengthMask: Int64 = 0xF
  static let maxLength = 8
  static let flagsLimit = 0x40

  /// The flags of a file for those of memory.
  static func flags(fromMemory byte: UInt8) -> Int64 {
    #if canImport(Darwin)
      return Int64(byte & 0x3F)
    #else
      return Int64(byte >> 4 | (byte & 8) << 1 | (byte & 4) << 3)
    #endif
  }

  /// The flags of memory for those of a file.
  static func flags(inMemory flags: Int64) -> UInt8 {
    let byte = UInt8(truncatingIfNeeded: flags)
    #if canImport(Darwin)
      return byte
    #else
      return byte << 4 | byte >> 1 & 8 | byte >> 3 & 4
    #endif
  }

  /// Traps where Foundation has changed what is said here: better no file than a wrong one.
  static let check: Void = {
    let known = [0xFE, flags(inMemory: 0x31), 0, 0, 0xD2, 4] + Array(repeating: 0, count: 14)
    let number = Decimal(sign: .minus, exponent: -2, significand: 1234)
    let isKnown = withUnsafeBytes(of: number) { $0.elementsEqual(known) }
    precondition(isKnown, "this Foundation's Decimal isn't laid out as expected; decimals can't be stored")
  }()
}

struct DecimalWriter {
  let chooser: IntegerChooser

  func write(_ rows: BlockRows, to sink: ByteSink) {
    DecimalFields.check
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
        flags[next] = DecimalFields.flags(fromMemory: (value + 1).load(as: UInt8.self))
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
    DecimalFields.check
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
      else { throw PayloadError(what: "a value is no decimal", byteOffset: start) }
    }
    for stream in [exponents, flags, low, high] { assembly.mask.expand(stream, filler: 0) }
    return assembly.parts { start, count, nulls in
      Column.raw(type: .decimal, layout: .decimal, count: count, nulls: nulls, zone: Zone()) { memory in
        for row in 0..<count {
          let target = memory + DecimalFields.size * row
          target.storeBytes(of: Int8(truncatingIfNeeded: exponents[start + row]), as: Int8.self)
          let byte = DecimalFields.flags(inMemory: flags[start + row])
          (target + 1).storeBytes(of: byte, as: UInt8.self)
          (target + 2).storeBytes(of: 0, as: UInt16.self)
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
