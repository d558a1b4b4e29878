// UUIDs: their bytes as they are, both halves as streams of integers, or a dictionary.

import CairnModel
import Foundation

/// The first byte of the values of a block of UUIDs.
enum UUIDForm: UInt8 {
  /// 16 bytes each.
  case plain = 1
  /// Two streams: the first eight bytes of each as a big-endian integer, then the last eight.
  case halves = 2
  /// Distinct UUIDs of 16 bytes, and a stream of indexes.
  case dictionary = 3
}

struct UUIDWriter {
  let chooser: IntegerChooser

  func write(_ rows: BlockRows, to sink: ByteSink) {
    let scratch = chooser.scratch
    let n = rows.valueCount
    let bytes = scratch.take(UInt8.self, 16 * n)
    var next = 0
    for part in rows.parts {
      let memory = part.rawValues.assumingMemoryBound(to: UInt8.self)
      for row in 0..<part.count where !part.isNull(row) {
        (bytes + 16 * next).update(from: memory + 16 * row, count: 16)
        next += 1
      }
    }
    let high = UUIDWriter.half(bytes, n, scratch)
    let low = UUIDWriter.half(bytes + 8, n, scratch)
    let plain = chooser.measure { $0.append(UnsafeBufferPointer(start: bytes, count: 16 * n)) }
    let highChoice = chooser.choose(high, n)
    let lowChoice = chooser.choose(low, n)
    let halves = highChoice.estimate + lowChoice.estimate
    if let dictionary = Dictionary(high, low, n, scratch) {
      let codes = chooser.choose(dictionary.codes, n)
      if codes.estimate + 16 * dictionary.count < min(plain, halves) {
        sink.append(UUIDForm.dictionary.rawValue)
        sink.append(count: dictionary.count)
        for entry in 0..<dictionary.count {
          let row = dictionary.rows[entry]
          sink.append(UnsafeBufferPointer(start: bytes + 16 * row, count: 16))
        }
        return codes.write(to: sink)
      }
    }
    if halves < plain {
      sink.append(UUIDForm.halves.rawValue)
      highChoice.write(to: sink)
      return lowChoice.write(to: sink)
    }
    sink.append(UUIDForm.plain.rawValue)
    sink.append(UnsafeBufferPointer(start: bytes, count: 16 * n))
  }

  private static func half(_ bytes: UnsafePointer<UInt8>, _ n: Int, _ scratch: Scratch)
    -> UnsafeMutablePointer<Int64>
  {
    let out = scratch.take(Int64.self, n)
    let raw = UnsafeRawPointer(bytes)
    for i in 0..<n { out[i] = Int64(bigEndian: (raw + 16 * i).loadUnaligned(as: Int64.self)) }
    return out
  }

  /// Distinct UUIDs in the order in which they come.
  private struct Dictionary {
    /// A row of each.
    var rows: [Int] = []
    let codes: UnsafeMutablePointer<Int64>

    var count: Int { rows.count }

    /// nil where more than half of them are distinct.
    init?(_ high: UnsafePointer<Int64>, _ low: UnsafePointer<Int64>, _ n: Int, _ scratch: Scratch) {
      codes = scratch.take(Int64.self, n)
      var bits = 4
      while 1 << bits < n + 2 { bits += 1 }
      let size = 1 << bits
      let table = scratch.take(Int32.self, size)
      table.update(repeating: 0, count: size)
      for i in 0..<n {
        let mixed = (UInt64(bitPattern: high[i]) &* 31 ^ UInt64(bitPattern: low[i])) &* 0x9E37_79B9_7F4A_7C15
        var place = Int(truncatingIfNeeded: mixed >> UInt64(64 - bits))
        while table[place] != 0 {
          let row = rows[Int(table[place]) - 1]
          if high[row] == high[i], low[row] == low[i] { break }
          place = (place + 1) & (size - 1)
        }
        if table[place] == 0 {
          guard rows.count < n / 2 else { return nil }
          rows.append(i)
          table[place] = Int32(rows.count)
        }
        codes[i] = Int64(table[place]) - 1
      }
    }
  }
}

struct UUIDReader {
  let reader: IntegerReader

  func read(_ assembly: ColumnAssembly, from source: inout ByteSource) throws -> [Column] {
    let n = assembly.valueCount
    let values = reader.scratch.take(uuid_t.self, assembly.rowCount)
    if n > 0 { try readValues(n, from: &source, into: UnsafeMutableRawPointer(values)) }
    assembly.mask.expand(values, filler: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    return assembly.unbounded(values, .uuid)
  }

  private func readValues(_ n: Int, from source: inout ByteSource, into out: UnsafeMutableRawPointer) throws {
    let byte = try source.byte()
    guard let form = UUIDForm(rawValue: byte) else {
      throw PayloadError(what: "UUIDs have no form \(byte)", byteOffset: source.offset - 1)
    }
    switch form {
    case .plain: out.copyMemory(from: try source.take(16 * n), byteCount: 16 * n)
    case .halves:
      let words = reader.scratch.take(Int64.self, n)
      for offset in [0, 8] {
        try reader.read(n, from: &source, into: words)
        for i in 0..<n { (out + (16 * i + offset)).storeBytes(of: words[i].bigEndian, as: Int64.self) }
      }
    case .dictionary:
      let count = try source.count(from: 1, upTo: n)
      let entries = UnsafeRawPointer(try source.take(16 * count))
      let codes = reader.scratch.take(Int64.self, n)
      try reader.readIndexes(n, below: count, from: &source, into: codes)
      for i in 0..<n { (out + 16 * i).copyMemory(from: entries + 16 * Int(codes[i]), byteCount: 16) }
    }
  }
}
