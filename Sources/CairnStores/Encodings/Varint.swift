// LEB128 and zigzag.

enum Varint {
  static let maxLength = 10

  @inline(__always)
  static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: value << 1 ^ value >> 63) }

  @inline(__always)
  static func unzigzag(_ code: UInt64) -> Int64 {
    Int64(bitPattern: code >> 1) ^ -Int64(bitPattern: code & 1)
  }

  /// How many bytes were written, `maxLength` at most.
  @inline(__always)
  static func write(_ value: UInt64, to target: UnsafeMutablePointer<UInt8>) -> Int {
    var rest = value
    var length = 0
    while rest >= 0x80 {
      target[length] = UInt8(truncatingIfNeeded: rest) | 0x80
      rest >>= 7
      length += 1
    }
    target[length] = UInt8(truncatingIfNeeded: rest)
    return length + 1
  }

  @inline(__always)
  static func length(_ value: UInt64) -> Int { (70 - (value | 1).leadingZeroBitCount) / 7 }

  /// How many bytes were read, or nil where `source` ends first or 64 bits don't hold the value.
  @inline(__always)
  static func read(_ source: UnsafePointer<UInt8>, _ count: Int, _ value: inout UInt64) -> Int? {
    guard count > 0 else { return nil }
    let first = source[0]
    if first < 0x80 {
      value = UInt64(first)
      return 1
    }
    var result = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    var index = 1
    while index < min(count, maxLength) {
      let byte = source[index]
      if index == 9, byte > 1 { return nil }
      result |= UInt64(byte & 0x7F) &<< shift
      index += 1
      if byte < 0x80 {
        value = result
        return index
      }
      shift += 7
    }
    return nil
  }
}
