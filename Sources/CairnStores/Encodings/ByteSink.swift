// Bytes being written: a payload before deflating, or a candidate for one.

/// Memory that grows at its end. Confined to its encoder.
final class ByteSink {
  private(set) var base: UnsafeMutablePointer<UInt8>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 1 << 16) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: base, count: count) }

  func removeAll() { count = 0 }

  func truncate(to count: Int) { self.count = count }

  /// Where the next `room` bytes go. `commit` says how many were written.
  func reserve(_ room: Int) -> UnsafeMutablePointer<UInt8> {
    if count + room > capacity {
      capacity = max(count + room, capacity * 2)
      let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
      grown.update(from: base, count: count)
      base.deallocate()
      base = grown
    }
    return base + count
  }

  func commit(_ written: Int) { count += written }

  func append(_ byte: UInt8) {
    reserve(1)[0] = byte
    count += 1
  }

  func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count).update(from: start, count: bytes.count)
    count += bytes.count
  }

  /// LEB128: seven bits a byte, lowest first, the top bit set in all but the last.
  func append(varint value: UInt64) {
    count += Varint.write(value, to: reserve(Varint.maxLength))
  }

  func append(count value: Int) { append(varint: UInt64(value)) }

  func append(zigzag value: Int64) { append(varint: Varint.zigzag(value)) }
}
