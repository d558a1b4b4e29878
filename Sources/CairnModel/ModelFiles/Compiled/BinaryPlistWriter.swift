// Writes binary property lists with UIDs.

import Foundation

/// Collects objects, equal scalars once, and writes them as one file.
struct BinaryPlistWriter {
  private enum Scalar: Hashable {
    case bool(Bool)
    case integer(Int64)
    case real(UInt64)
    case data(Data)
    case string(String)
    case uid(Int)
  }

  private var objects: [BinaryPlist.Object] = []
  private var known: [Scalar: Int] = [:]

  mutating func string(_ text: String) -> Int { scalar(.string(text), .string(text)) }
  mutating func bool(_ flag: Bool) -> Int { scalar(.bool(flag), .bool(flag)) }
  mutating func integer(_ number: Int64) -> Int { scalar(.integer(number), .integer(number)) }
  mutating func real(_ number: Double) -> Int { scalar(.real(number.bitPattern), .real(number)) }
  mutating func data(_ data: Data) -> Int { scalar(.data(data), .data(data)) }
  mutating func uid(_ number: Int) -> Int { scalar(.uid(number), .uid(number)) }

  mutating func array(_ members: [Int]) -> Int { add(.array(members)) }

  mutating func dictionary(_ members: [(key: String, value: Int)]) -> Int {
    let keys = members.map { string($0.key) }
    return add(.dictionary(keys: keys, values: members.map(\.value)))
  }

  private mutating func scalar(_ key: Scalar, _ object: BinaryPlist.Object) -> Int {
    if let number = known[key] { return number }
    let number = add(object)
    known[key] = number
    return number
  }

  private mutating func add(_ object: BinaryPlist.Object) -> Int {
    objects.append(object)
    return objects.count - 1
  }

  func file(top: Int) -> Data {
    var bytes = Array("bplist00".utf8)
    let referenceSize = size(UInt64(objects.count))
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      write(object, referenceSize, to: &bytes)
    }
    let table = bytes.count
    let offsetSize = size(UInt64(table))
    for offset in offsets { append(UInt64(offset), offsetSize, to: &bytes) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [objects.count, top, table] { append(UInt64(number), 8, to: &bytes) }
    return Data(bytes)
  }

  private func write(_ object: BinaryPlist.Object, _ referenceSize: Int, to bytes: inout [UInt8]) {
    switch object {
    case .null: bytes.append(0)
    case .bool(let flag): bytes.append(flag ? 9 : 8)
    case .integer(let number):
      let count = number < 0 ? 8 : size(UInt64(number))
      bytes.append(0x10 | UInt8(count.trailingZeroBitCount))
      append(UInt64(bitPattern: number), count, to: &bytes)
    case .real(let number):
      bytes.append(0x23)
      append(number.bitPattern, 8, to: &bytes)
    case .date(let date):
      bytes.append(0x33)
      append(date.timeIntervalSinceReferenceDate.bitPattern, 8, to: &bytes)
    case .data(let data):
      marker(0x40, data.count, to: &bytes)
      bytes += data
    case .string(let text):
      if text.utf8.allSatisfy({ $0 < 128 }) {
        marker(0x50, text.utf8.count, to: &bytes)
        bytes += text.utf8
      } else {
        marker(0x60, text.utf16.count, to: &bytes)
        for unit in text.utf16 { append(UInt64(unit), 2, to: &bytes) }
      }
    case .uid(let number):
      let count = size(UInt64(number))
      bytes.append(0x80 | UInt8(count - 1))
      append(UInt64(number), count, to: &bytes)
    case .array(let members):
      marker(0xA0, members.count, to: &bytes)
      for member in members { append(UInt64(member), referenceSize, to: &bytes) }
    case .dictionary(let keys, let values):
      marker(0xD0, keys.count, to: &bytes)
      for member in keys + values { append(UInt64(member), referenceSize, to: &bytes) }
    }
  }

  private func marker(_ kind: UInt8, _ count: Int, to bytes: inout [UInt8]) {
    if count < 15 {
      bytes.append(kind | UInt8(count))
    } else {
      bytes.append(kind | 15)
      write(.integer(Int64(count)), 0, to: &bytes)
    }
  }

  /// 1, 2, 4 or 8 bytes.
  private func size(_ number: UInt64) -> Int {
    number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
  }

  private func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: 8 * (count - 1), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }
}
