// Reads streams of integers. Whatever the bytes, it writes exactly as many values as it was asked for, or
// throws; each level of nesting costs time in proportion to that count.

struct IntegerReader {
  let scratch: Scratch

  /// Reads a stream of `n` values. A stream of none has no bytes.
  func read(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, depth: Int = 1
  ) throws {
    if n == 0 { return }
    let byte = try source.byte()
    guard let kind = IntegerStreamKind(rawValue: byte), depth <= IntegerStreamKind.depth else {
      throw PayloadError(
        what: depth > IntegerStreamKind.depth
          ? "streams are nested too deep" : "no stream is of kind \(byte)",
        byteOffset: source.offset - 1)
    }
    switch kind {
    case .constant: out.update(repeating: try source.zigzag(), count: n)
    case .frame: try readFrame(n, from: &source, into: out)
    case .planes: try readPlanes(n, from: &source, into: out)
    case .bits: try readBits(n, from: &source, into: out)
    case .varints: try source.zigzags(n, into: out)
    case .delta: try readDelta(n, from: &source, into: out, depth)
    case .runs: try readRuns(n, from: &source, into: out, depth)
    case .dictionary: try readDictionary(n, from: &source, into: out, depth)
    case .scaled: try readScaled(n, from: &source, into: out, depth)
    case .patched: try readPatched(n, from: &source, into: out, depth)
    }
  }

  /// Reads a stream of `n` values, each of which is an index below `limit`.
  func readIndexes(
    _ n: Int, below limit: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>,
    depth: Int = 1
  ) throws {
    let start = source.offset
    try read(n, from: &source, into: out, depth: depth)
    var largest: UInt64 = 0
    for i in 0..<n { largest = max(largest, UInt64(bitPattern: out[i])) }
    guard n == 0 || largest < UInt64(limit) else {
      throw PayloadError(what: "an index isn't below \(limit)", byteOffset: start)
    }
  }

  // MARK: Values side by side

  private func readFrame(_ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>)
    throws
  {
    let base = try source.zigzag()
    let width = try source.count(from: 1, upTo: 8)
    let bytes = UnsafeRawPointer(try source.take(n * width))
    switch width {
    case 1: widen(bytes.assumingMemoryBound(to: UInt8.self), n, base, out)
    case 2: for i in 0..<n { out[i] = base &+ Int64(load(bytes, 2 * i, UInt16.self)) }
    case 4: for i in 0..<n { out[i] = base &+ Int64(load(bytes, 4 * i, UInt32.self)) }
    case 8: for i in 0..<n { out[i] = base &+ Int64(bitPattern: load(bytes, 8 * i, UInt64.self)) }
    default:
      for i in 0..<n {
        var value: UInt64 = 0
        for k in 0..<width {
          value |= UInt64((bytes + (i * width + k)).load(as: UInt8.self)) &<< UInt64(8 * k)
        }
        out[i] = base &+ Int64(bitPattern: value)
      }
    }
  }

  private func readPlanes(_ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>)
    throws
  {
    let base = try source.zigzag()
    let width = try source.count(from: 2, upTo: 8)
    let planes = try source.take(n * width)
    if width == 2 {
      let high = planes + n
      for i in 0..<n { out[i] = base &+ (Int64(planes[i]) | Int64(high[i]) << 8) }
      return
    }
    if width == 3 {
      let middle = planes + n
      let high = middle + n
      for i in 0..<n { out[i] = base &+ (Int64(planes[i]) | Int64(middle[i]) << 8 | Int64(high[i]) << 16) }
      return
    }
    widen(planes, n, base, out)
    for k in 1..<width {
      let plane = planes + k * n
      let shift = Int64(8 * k)
      // Adding is the same as joining bits here, and lets the base go in first.
      for i in 0..<n { out[i] = out[i] &+ Int64(plane[i]) &<< shift }
    }
  }

  private func readBits(_ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>)
    throws
  {
    let base = try source.zigzag()
    let width = try source.count(from: 1, upTo: BitPacking.maxWidth)
    let readable = source.remaining
    let bytes = try source.take(BitPacking.byteCount(n, width: width))
    BitPacking.unpack(bytes, readable: readable, n, width: width) { i, value in
      out[i] = base &+ Int64(bitPattern: value)
    }
  }

  @inline(__always)
  private func widen(
    _ bytes: UnsafePointer<UInt8>, _ n: Int, _ base: Int64, _ out: UnsafeMutablePointer<Int64>
  ) {
    for i in 0..<n { out[i] = base &+ Int64(bytes[i]) }
  }

  @inline(__always)
  private func load<T: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: UnsafeRawPointer, _ offset: Int, _ type: T.Type
  ) -> T {
    T(littleEndian: (bytes + offset).loadUnaligned(as: T.self))
  }

  // MARK: Streams of streams

  private func readDelta(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, _ depth: Int
  ) throws {
    var value = try source.zigzag()
    out[0] = value
    try read(n - 1, from: &source, into: out + 1, depth: depth + 1)
    for i in 1..<max(n, 1) {
      value &+= out[i]
      out[i] = value
    }
  }

  private func readRuns(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, _ depth: Int
  ) throws {
    let runs = try source.count(from: 1, upTo: n)
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let values = scratch.take(Int64.self, runs)
    let repeats = scratch.take(Int64.self, runs)
    try read(runs, from: &source, into: values, depth: depth + 1)
    try read(runs, from: &source, into: repeats, depth: depth + 1)
    var row = 0
    for run in 0..<runs {
      guard repeats[run] >= 0, repeats[run] < n - row else { throw source.error("runs are too long") }
      let length = Int(repeats[run]) + 1
      (out + row).update(repeating: values[run], count: length)
      row += length
    }
    guard row == n else { throw source.error("runs are too short") }
  }

  private func readDictionary(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, _ depth: Int
  ) throws {
    let entries = try source.count(from: 1, upTo: n)
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let values = scratch.take(Int64.self, entries)
    try read(entries, from: &source, into: values, depth: depth + 1)
    if depth < IntegerStreamKind.depth, try readCodes(n, of: values, entries, from: &source, into: out) {
      return
    }
    try readIndexes(n, below: entries, from: &source, into: out, depth: depth + 1)
    for i in 0..<n { out[i] = values[Int(truncatingIfNeeded: out[i])] }
  }

  /// Reads codes in the two forms that nearly all have, bytes and bits from 0 on, as the values that they are of, without
  /// a pass over the codes. False, and nothing read, for every other form.
  private func readCodes(
    _ n: Int, of values: UnsafePointer<Int64>, _ limit: Int, from source: inout ByteSource,
    into out: UnsafeMutablePointer<Int64>
  ) throws -> Bool {
    var ahead = source
    let kind = IntegerStreamKind(rawValue: try ahead.byte())
    guard kind == .frame || kind == .bits, try ahead.zigzag() == 0 else { return false }
    let width = try ahead.count(from: 1, upTo: BitPacking.maxWidth)
    var largest: UInt64 = 0
    if kind == .bits {
      let readable = ahead.remaining
      let bytes = try ahead.take(BitPacking.byteCount(n, width: width))
      let last = UInt64(limit - 1)
      BitPacking.unpack(bytes, readable: readable, n, width: width) { i, code in
        largest = max(largest, code)
        out[i] = values[Int(truncatingIfNeeded: min(code, last))]
      }
    } else {
      guard width == 1 else { return false }
      let bytes = try ahead.take(n)
      var most: UInt8 = 0
      for i in 0..<n { most = max(most, bytes[i]) }
      largest = UInt64(most)
      if largest < UInt64(limit) { for i in 0..<n { out[i] = values[Int(bytes[i])] } }
    }
    guard largest < UInt64(limit) else {
      throw PayloadError(what: "an index isn't below \(limit)", byteOffset: source.offset)
    }
    source = ahead
    return true
  }

  private func readScaled(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, _ depth: Int
  ) throws {
    let base = try source.zigzag()
    let factor = Int64(bitPattern: try source.varint())
    try read(n, from: &source, into: out, depth: depth + 1)
    for i in 0..<n { out[i] = base &+ factor &* out[i] }
  }

  private func readPatched(
    _ n: Int, from source: inout ByteSource, into out: UnsafeMutablePointer<Int64>, _ depth: Int
  ) throws {
    let patches = try source.count(from: 1, upTo: n)
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let rows = scratch.take(Int64.self, patches)
    let values = scratch.take(Int64.self, patches)
    try readIndexes(patches, below: n, from: &source, into: rows, depth: depth + 1)
    try read(patches, from: &source, into: values, depth: depth + 1)
    try read(n, from: &source, into: out, depth: depth + 1)
    for i in 0..<patches { out[Int(truncatingIfNeeded: rows[i])] = values[i] }
  }
}
