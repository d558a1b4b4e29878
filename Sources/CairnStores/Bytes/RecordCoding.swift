// Small records of a file as bytes: integers, varints, strings. Reading checks every bound and never traps.

import Foundation

/// Appends fields, little-endian.
struct RecordWriter {
  private(set) var bytes: [UInt8] = []

  mutating func put<T: FixedWidthInteger>(_ value: T) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ value: Double) { put(value.bitPattern) }

  mutating func put(_ value: UUID) { withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) } }

  mutating func put(zeros count: Int) { bytes.append(contentsOf: repeatElement(0, count: count)) }

  mutating func put(bytes new: some Sequence<UInt8>) { bytes.append(contentsOf: new) }

  /// Seven bits a byte, the lowest first; the top bit says that more follow.
  mutating func put(varint value: some BinaryInteger) {
    var rest = UInt64(value)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// A signed number: 0, -1, 1, -2 … as the varints 0, 1, 2, 3 …
  mutating func put(zigzag value: Int64) { put(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

  mutating func put(counted new: some Collection<UInt8>) {
    put(varint: new.count)
    bytes.append(contentsOf: new)
  }
}

/// What is wrong with a record, and where in it.
struct RecordError: Error {
  let message: String
  /// Bytes from the record's start.
  let offset: Int
}

/// Reads fields as `RecordWriter` writes them.
struct RecordReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var offset: Int { position - bytes.startIndex }
  var isAtEnd: Bool { position == bytes.endIndex }
  var remaining: Int { bytes.endIndex - position }

  func error(_ message: String) -> RecordError { RecordError(message: message, offset: offset) }

  mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else {
      throw error("\(count) bytes are wanted, and \(remaining) left")
    }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private mutating func byte() throws -> UInt8 {
    guard position < bytes.endIndex else { throw error("1 bytes are wanted, and 0 left") }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    if T.self == UInt8.self { return T(truncatingIfNeeded: try byte()) }
    let taken = try take(MemoryLayout<T>.size)
    return taken.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(as: T.self)) }
  }

  mutating func double() throws -> Double { Double(bitPattern: try integer(UInt64.self)) }

  mutating func uuid() throws -> UUID {
    try take(16).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  mutating func varint() throws -> UInt64 {
    if position < bytes.endIndex, bytes[position] < 0x80 {
      position += 1
      return UInt64(bytes[position - 1])
    }
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.endIndex {
      let byte = bytes[position]
      if shift == 63, byte > 1 { throw error("a varint is greater than 64 bits") }
      position += 1
      result |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw error("a varint isn't finished")
  }

  mutating func zigzag() throws -> Int64 {
    let raw = try varint()
    return Int64(bitPattern: raw >> 1) ^ -Int64(raw & 1)
  }

  /// A varint of at most `limit`.
  mutating func count(atMost limit: Int) throws -> Int {
    let start = offset
    let value = try varint()
    guard value <= UInt64(limit) else {
      throw RecordError(message: "\(value) is more than \(limit)", offset: start)
    }
    return Int(value)
  }

  /// A varint that is a number of things each of which takes a byte at least.
  mutating func countOfRest() throws -> Int { try count(atMost: remaining) }

  mutating func counted() throws -> ArraySlice<UInt8> { try take(try countOfRest()) }
}
