// The forms that lay values side by side, and how they are written.

/// How the values of a stream lie when no other stream is inside it.
enum IntegerLeaf: CaseIterable {
  case planes, bits, varints, frame

  /// The bytes that `n` values within `range` take, or for varints might take.
  func byteCount(_ n: Int, range: UInt64) -> Int {
    switch self {
    case .planes, .frame: n * max(IntegerStatistics.byteWidth(range), 1)
    case .bits: BitPacking.byteCount(n, width: IntegerStatistics.bitWidth(range))
    case .varints: n * Varint.length(range)
    }
  }

  /// Whether the form says anything that an earlier one doesn't for such values.
  func suits(_ range: UInt64) -> Bool {
    let bits = IntegerStatistics.bitWidth(range)
    switch self {
    case .planes: return true
    case .bits: return bits % 8 != 0 && bits <= BitPacking.maxWidth
    case .varints: return bits > 7
    case .frame: return bits > 8
    }
  }

  /// Writes a stream of values all of which are in `low...low + range`.
  func write(
    _ values: UnsafePointer<Int64>, _ n: Int, low: Int64, range: UInt64, to sink: ByteSink
  ) {
    if range == 0 {
      sink.append(IntegerStreamKind.constant.rawValue)
      sink.append(zigzag: low)
      return
    }
    switch self {
    case .planes, .frame:
      let width = IntegerStatistics.byteWidth(range)
      let isFrame = self == .frame || width == 1
      sink.append((isFrame ? IntegerStreamKind.frame : .planes).rawValue)
      sink.append(zigzag: low)
      sink.append(count: width)
      let target = sink.reserve(n * width)
      if isFrame {
        IntegerLeaf.interleave(values, n, low, width, target)
      } else {
        IntegerLeaf.split(values, n, low, width, target)
      }
      sink.commit(n * width)
    case .bits:
      let width = IntegerStatistics.bitWidth(range)
      sink.append(IntegerStreamKind.bits.rawValue)
      sink.append(zigzag: low)
      sink.append(count: width)
      let length = BitPacking.byteCount(n, width: width)
      BitPacking.pack(values, n, base: low, width: width, to: sink.reserve(length + 16))
      sink.commit(length)
    case .varints:
      sink.append(IntegerStreamKind.varints.rawValue)
      let target = sink.reserve(n * Varint.maxLength)
      var length = 0
      for i in 0..<n { length += Varint.write(Varint.zigzag(values[i]), to: target + length) }
      sink.commit(length)
    }
  }

  private static func split(
    _ values: UnsafePointer<Int64>, _ n: Int, _ low: Int64, _ width: Int,
    _ target: UnsafeMutablePointer<UInt8>
  ) {
    for k in 0..<width {
      let plane = target + k * n
      let shift = UInt64(8 * k)
      for i in 0..<n { plane[i] = UInt8(truncatingIfNeeded: UInt64(bitPattern: values[i] &- low) &>> shift) }
    }
  }

  private static func interleave(
    _ values: UnsafePointer<Int64>, _ n: Int, _ low: Int64, _ width: Int,
    _ target: UnsafeMutablePointer<UInt8>
  ) {
    if width == 1 {
      for i in 0..<n { target[i] = UInt8(truncatingIfNeeded: values[i] &- low) }
      return
    }
    for i in 0..<n {
      var value = UInt64(bitPattern: values[i] &- low)
      for k in 0..<width {
        target[i * width + k] = UInt8(truncatingIfNeeded: value)
        value >>= 8
      }
    }
  }
}
