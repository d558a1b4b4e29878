// Doubles, dates and floats: as bit patterns, or as integers over a power of ten with exceptions listed.

import CairnModel

/// The first byte of the values of a block of doubles, dates or floats.
enum FloatingForm: UInt8 {
  /// A stream of bit patterns.
  case patterns = 1
  /// An exponent, exceptions, and a stream of integers.
  case decimals = 2
}

enum PowersOfTen {
  /// 10^0 to 10^15, all of which a double holds exactly.
  static let exponents = 0...15
  static let values: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
  ]
}

struct FloatingWriter {
  let chooser: IntegerChooser

  func write(_ rows: BlockRows, isFloat: Bool, to sink: ByteSink) {
    let scratch = chooser.scratch
    let patterns = rows.bitPatterns(scratch: scratch)
    rows.compact(patterns)
    let n = rows.valueCount
    let plain = chooser.choose(patterns, n)
    if let exponent = FloatingWriter.exponent(for: patterns, n, isFloat: isFloat) {
      let decimals = ScaledDecimals(patterns, n, exponent: exponent, isFloat: isFloat, scratch: scratch)
      if decimals.exceptionCount <= n / 4 {
        let choice = chooser.choose(decimals.integers, n)
        if choice.estimate + decimals.exceptionCount * 10 < plain.estimate {
          sink.append(FloatingForm.decimals.rawValue)
          sink.append(UInt8(exponent))
          sink.append(count: decimals.exceptionCount)
          IntegerShaper.writeSmall(decimals.rows, decimals.exceptionCount, to: sink, scratch: scratch)
          IntegerShaper.writeSmall(decimals.patterns, decimals.exceptionCount, to: sink, scratch: scratch)
          return choice.write(to: sink)
        }
      }
    }
    sink.append(FloatingForm.patterns.rawValue)
    plain.write(to: sink)
  }

  /// The least exponent with which most of a sample comes back; nil where that is less than two thirds of it.
  private static func exponent(for patterns: UnsafePointer<Int64>, _ n: Int, isFloat: Bool) -> Int? {
    let size = min(n, 200)
    var best = 0
    var bestHits = size * 2 / 3
    for exponent in PowersOfTen.exponents {
      var hits = 0
      for i in 0..<size
      where ScaledDecimals.integer(for: patterns[i * n / size], exponent, isFloat: isFloat) != nil {
        hits += 1
      }
      if hits > bestHits {
        best = exponent
        bestHits = hits
      }
    }
    return bestHits > size * 2 / 3 ? best : nil
  }
}

/// Bit patterns as integers over a power of ten; those that don't come back exactly are listed.
struct ScaledDecimals {
  let integers: UnsafeMutablePointer<Int64>
  let rows: UnsafeMutablePointer<Int64>
  let patterns: UnsafeMutablePointer<Int64>
  let exceptionCount: Int

  init(_ source: UnsafePointer<Int64>, _ n: Int, exponent: Int, isFloat: Bool, scratch: Scratch) {
    integers = scratch.take(Int64.self, n)
    rows = scratch.take(Int64.self, n)
    patterns = scratch.take(Int64.self, n)
    var found = 0
    var filler: Int64 = 0
    for i in 0..<n {
      if let integer = ScaledDecimals.integer(for: source[i], exponent, isFloat: isFloat) {
        filler = integer
      } else {
        rows[found] = Int64(i)
        patterns[found] = source[i]
        found += 1
      }
      integers[i] = filler
    }
    exceptionCount = found
  }

  /// The integer from which the value comes back bit for bit; nil where there is none below 2^53.
  @inline(__always)
  static func integer(for pattern: Int64, _ exponent: Int, isFloat: Bool) -> Int64? {
    let x =
      isFloat
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
      : Double(bitPattern: UInt64(bitPattern: pattern))
    let scaled = (x * PowersOfTen.values[exponent]).rounded()
    // NaN fails this too.
    guard abs(scaled) < 0x1p53 else { return nil }
    let integer = Int64(scaled)
    return self.pattern(integer, PowersOfTen.values[exponent], isFloat: isFloat) == pattern ? integer : nil
  }

  @inline(__always)
  static func pattern(_ integer: Int64, _ power: Double, isFloat: Bool) -> Int64 {
    let x = Double(integer) / power
    return isFloat ? Int64(Float(x).bitPattern) : Int64(bitPattern: x.bitPattern)
  }
}

struct FloatingReader {
  let reader: IntegerReader

  func read(_ assembly: ColumnAssembly, from source: inout ByteSource) throws -> [Column] {
    let n = assembly.valueCount
    let isFloat = assembly.type == .float
    let patterns = reader.scratch.take(Int64.self, assembly.rowCount)
    if n > 0 { try readPatterns(n, isFloat: isFloat, from: &source, into: patterns) }
    assembly.mask.expand(patterns, filler: 0)
    return columns(patterns, assembly)
  }

  /// Columns of bit patterns, which for floats have 32 bits.
  private func columns(_ patterns: UnsafeMutablePointer<Int64>, _ assembly: ColumnAssembly) -> [Column] {
    if assembly.type != .float {
      return patterns.withMemoryRebound(to: Double.self, capacity: assembly.rowCount) { assembly.doubles($0) }
    }
    let floats = reader.scratch.take(Float.self, assembly.rowCount)
    for row in 0..<assembly.rowCount {
      floats[row] = Float(bitPattern: UInt32(truncatingIfNeeded: patterns[row]))
    }
    return assembly.floats(floats)
  }

  /// Columns of predicted values: of whole numbers, or of bit patterns.
  func columns(_ values: UnsafeMutablePointer<Int64>, isWhole: Bool, _ assembly: ColumnAssembly) throws
    -> [Column]
  {
    let isFloat = assembly.type == .float
    for row in 0..<assembly.rowCount {
      if isWhole { values[row] = ScaledDecimals.pattern(values[row], 1, isFloat: isFloat) }
      guard !isFloat || UInt64(bitPattern: values[row]) <= UInt64(UInt32.max) else {
        throw PayloadError(what: "a float has more than 32 bits", byteOffset: 0)
      }
    }
    return columns(values, assembly)
  }

  private func readPatterns(
    _ n: Int, isFloat: Bool, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>
  ) throws {
    let byte = try source.byte()
    guard let form = FloatingForm(rawValue: byte) else {
      throw PayloadError(what: "doubles have no form \(byte)", byteOffset: source.offset - 1)
    }
    let start = source.offset
    switch form {
    case .patterns: try reader.read(n, from: &source, into: out)
    case .decimals: try readDecimals(n, isFloat: isFloat, from: &source, into: out)
    }
    if !isFloat { return }
    var bits: UInt64 = 0
    for i in 0..<n { bits |= UInt64(bitPattern: out[i]) }
    guard bits <= UInt64(UInt32.max) else {
      throw PayloadError(what: "a float has more than 32 bits", byteOffset: start)
    }
  }

  private func readDecimals(
    _ n: Int, isFloat: Bool, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>
  ) throws {
    let exponent = Int(try source.byte())
    guard PowersOfTen.exponents.contains(exponent) else {
      throw PayloadError(what: "10^\(exponent) is no scale", byteOffset: source.offset - 1)
    }
    let count = try source.count(upTo: n)
    let rows = reader.scratch.take(Int64.self, count)
    let patterns = reader.scratch.take(Int64.self, count)
    try reader.readIndexes(count, below: n, from: &source, into: rows)
    try reader.read(count, from: &source, into: patterns)
    try reader.read(n, from: &source, into: out)
    let power = PowersOfTen.values[exponent]
    if isFloat {
      for i in 0..<n { out[i] = ScaledDecimals.pattern(out[i], power, isFloat: true) }
    } else {
      for i in 0..<n { out[i] = ScaledDecimals.pattern(out[i], power, isFloat: false) }
    }
    for i in 0..<count { out[Int(truncatingIfNeeded: rows[i])] = patterns[i] }
  }
}
