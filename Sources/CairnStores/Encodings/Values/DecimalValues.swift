// Decimals: four streams of integers, one for each part of Foundation's Decimal, so that each form of a
// number comes back as it was.

import CairnModel
import Foundation

/// The 20 bytes of a Decimal in memory, whose fields Foundation doesn't show on every system: the exponent, a
/// byte of flags, two bytes of 0, and eight words of 16 bits, the lowest first.
struct DecimalFields {
  let exponent: Int8
  /// As in a file.
  let flags: UInt8
  /// The first four words, and the last four.
  let low: UInt64
  let high: UInt64

  static let size = 20
  /// In a file, the lowest four bits of the flags say how many words count; then negative, then compact.
  static let lengthMask: UInt8 = 0xF
  static let maxLength = 8
  static let flagsLimit = 0x40

  /// The flags of a file for those of memory.
  private static func flags(fromMemory byte: UInt8) -> UInt8 {
    #if canImport(Darwin)
      return byte & 0x3F
    #else
      return byte >> 4 | (byte & 8) << 1 | (byte & 4) << 3
    #endif
  }

  /// The flags of memory for those of a file.
  private static func flags(inMemory flags: UInt8) -> UInt8 {
    #if canImport(Darwin)
      return flags
    #else
      return flags << 4 | flags >> 1 & 8 | flags >> 3 & 4
    #endif
  }

  /// Traps where Foundation has changed what is said here: better no file than a wrong one.
  static let check: Void = {
    let known = [0xFE, flags(inMemory: 0x31), 0, 0, 0xD2, 4] + Array(repeating: 0, count: 14)
    let number = Decimal(sign: .minus, exponent: -2, significand: 1234)
    let isKnown = withUnsafeBytes(of: number) { $0.elementsEqual(known) }
    precondition(isKnown, "this Foundation's Decimal isn't laid out as expected; decimals can't be stored")
  }()

  /// nil where no decimal has such fields.
  init?(exponent: Int64, flags: Int64, low: UInt64, high: UInt64) {
    DecimalFields.check
    guard let exponent = Int8(exactly: exponent), let flags = UInt8(exactly: flags),
      flags < DecimalFields.flagsLimit, flags & DecimalFields.lengthMask <= DecimalFields.maxLength
    else { return nil }
    self.exponent = exponent
    self.flags = flags
    self.low = low
    self.high = high
  }

  /// Those of a decimal in memory.
  init(_ value: UnsafeRawPointer) {
    DecimalFields.check
    exponent = value.load(as: Int8.self)
    flags = DecimalFields.flags(fromMemory: (value + 1).load(as: UInt8.self))
    low = UInt64(littleEndian: (value + 4).loadUnaligned(as: UInt64.self))
    high = UInt64(littleEndian: (value + 12).loadUnaligned(as: UInt64.self))
  }

  func store(to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: exponent, as: Int8.self)
    (target + 1).storeBytes(of: DecimalFields.flags(inMemory: flags), as: UInt8.self)
    (target + 2).storeBytes(of: 0, as: UInt16.self)
    (target + 4).storeBytes(of: low.littleEndian, as: UInt64.self)
    (target + 12).storeBytes(of: high.littleEndian, as: UInt64.self)
  }
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
        let fields = DecimalFields(UnsafeRawPointer(part.rawValues) + DecimalFields.size * row)
        exponents[next] = Int64(fields.exponent)
        flags[next] = Int64(fields.flags)
        low[next] = Int64(bitPattern: fields.low)
        high[next] = Int64(bitPattern: fields.high)
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
    func fields(_ i: Int) -> DecimalFields? {
      DecimalFields(
        exponent: exponents[i], flags: flags[i], low: UInt64(bitPattern: low[i]),
        high: UInt64(bitPattern: high[i]))
    }
    for i in 0..<n where fields(i) == nil {
      throw PayloadError(what: "a value is no decimal", byteOffset: start)
    }
    for stream in [exponents, flags, low, high] { assembly.mask.expand(stream, filler: 0) }
    return assembly.parts { start, count, nulls in
      Column.raw(type: .decimal, layout: .decimal, count: count, nulls: nulls, zone: Zone()) { memory in
        for row in 0..<count { fields(start + row)!.store(to: memory + DecimalFields.size * row) }
        // The place of a null holds the number 0 as Foundation makes it.
        guard let nulls else { return }
        let values = memory.assumingMemoryBound(to: Decimal.self)
        for row in 0..<count where nulls[row] { values[row] = 0 }
      }
    }
  }
}
