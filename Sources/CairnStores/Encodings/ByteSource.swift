// Bytes being read. Every read is checked, so what is beyond here can't be reached by any payload.

/// A cursor in a payload after inflating.
struct ByteSource {
  let base: UnsafePointer<UInt8>
  let count: Int
  private(set) var offset = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    base = bytes.baseAddress ?? UnsafePointer(ByteSource.nothing)
    count = bytes.count
  }

  /// Somewhere to point when there are no bytes.
  private nonisolated(unsafe) static let nothing = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  var remaining: Int { count - offset }

  func error(_ what: String) -> PayloadError { PayloadError(what: what, byteOffset: offset) }

  /// The next `length` bytes, which it steps over.
  mutating func take(_ length: Int) throws -> UnsafePointer<UInt8> {
    guard length >= 0, length <= remaining else { throw error("the payload ends early") }
    defer { offset += length }
    return base + offset
  }

  mutating func byte() throws -> UInt8 { try take(1)[0] }

  mutating func varint() throws -> UInt64 {
    var value: UInt64 = 0
    guard let length = Varint.read(base + offset, remaining, &value) else {
      throw error(remaining < Varint.maxLength ? "a number ends early" : "a number is over 64 bits")
    }
    offset += length
    return value
  }

  mutating func zigzag() throws -> Int64 { Varint.unzigzag(try varint()) }

  /// A number that counts something of which there are `limit` at most.
  mutating func count(from least: Int = 0, upTo limit: Int) throws -> Int {
    let start = offset
    let value = try varint()
    guard value >= UInt64(least), limit >= 0, value <= UInt64(limit) else {
      throw PayloadError(what: "the count \(value) isn't in \(least)...\(limit)", byteOffset: start)
    }
    return Int(value)
  }

  /// Reads `n` zigzag varints.
  mutating func zigzags(_ n: Int, into out: UnsafeMutablePointer<Int64>) throws {
    var place = offset
    for i in 0..<n {
      var code: UInt64 = 0
      guard let length = Varint.read(base + place, count - place, &code) else {
        offset = place
        throw error("a number ends early or is over 64 bits")
      }
      place += length
      out[i] = Varint.unzigzag(code)
    }
    offset = place
  }
}
