// Values of 1 to 56 bits end to end, lowest bit first.

enum BitPacking {
  static let maxWidth = 56

  static func byteCount(_ n: Int, width: Int) -> Int { (n * width + 7) / 8 }

  /// Writes `n` values less `base`; `target` has room for 8 bytes more than `byteCount`.
  static func pack(
    _ values: UnsafePointer<Int64>, _ n: Int, base: Int64, width: Int,
    to target: UnsafeMutablePointer<UInt8>
  ) {
    let raw = UnsafeMutableRawPointer(target)
    var held: UInt64 = 0
    var heldBits: UInt64 = 0
    var place = 0
    for i in 0..<n {
      held |= UInt64(bitPattern: values[i] &- base) &<< heldBits
      heldBits &+= UInt64(width)
      // At most 7 bits stay held, so that 56 more fit.
      (raw + place).storeBytes(of: held.littleEndian, as: UInt64.self)
      let whole = heldBits >> 3
      place &+= Int(whole)
      held = held &>> (whole &* 8)
      heldBits &= 7
    }
    (raw + place).storeBytes(of: held.littleEndian, as: UInt64.self)
  }

  /// Reads `n` values and adds `base`. `source` has `byteCount` bytes and `readable` bytes in all.
  @inline(__always)
  static func unpack(
    _ source: UnsafePointer<UInt8>, readable: Int, _ n: Int, width: Int,
    _ body: (_ index: Int, _ value: UInt64) -> Void
  ) {
    let raw = UnsafeRawPointer(source)
    let mask: UInt64 = (1 &<< UInt64(width)) &- 1
    // Values whose eight bytes from their first on are all there.
    let fast = readable < 8 ? 0 : min(n, ((readable - 8) * 8) / width + 1)
    var bit = 0
    for i in 0..<fast {
      let word = UInt64(littleEndian: (raw + bit >> 3).loadUnaligned(as: UInt64.self))
      body(i, word &>> UInt64(bit & 7) & mask)
      bit &+= width
    }
    for i in fast..<n {
      var word: UInt64 = 0
      let first = bit >> 3
      for k in 0..<min(8, readable - first) { word |= UInt64(source[first + k]) << UInt64(8 * k) }
      body(i, word &>> UInt64(bit & 7) & mask)
      bit &+= width
    }
  }
}
