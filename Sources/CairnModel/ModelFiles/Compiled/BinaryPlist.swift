// Apple's binary property lists, read with the UIDs of keyed archives, which Foundation doesn't give out.

import Foundation

/// The objects of a binary property list in a flat table; containers name theirs by number. Nothing is nested, so
/// reading needs no stack, and all that is kept is at most as large as the file.
struct BinaryPlist {
  enum Object {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    case uid(Int)
    /// Arrays and sets.
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private(set) var objects: [Object] = []
  private(set) var top = 0

  /// Throws `ModelFileError` with the offset for everything that isn't as it should be.
  init(_ data: Data, file: String) throws {
    var reader = BinaryPlistReader(bytes: [UInt8](data), file: file)
    (objects, top) = try reader.read()
  }
}

private struct BinaryPlistReader {
  let bytes: [UInt8]
  let file: String
  private var referenceSize = 1
  /// What contents may still be taken from the file. Objects that share bytes would otherwise let a small file
  /// grow without bound.
  private var budget: Int

  init(bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
    budget = bytes.count
  }

  mutating func read() throws -> ([BinaryPlist.Object], Int) {
    guard bytes.count >= 8 + 32, bytes.starts(with: "bplist0".utf8) else {
      throw fault("it is no binary property list, or ends too early", 0)
    }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw fault("the sizes of offsets and references can't be", trailer + 6)
    }
    let count = try number(trailer + 8, 8)
    let top = try number(trailer + 16, 8)
    let table = try number(trailer + 24, 8)
    guard count > 0, top < count, table >= 8, table <= trailer, count <= (trailer - table) / offsetSize else {
      throw fault("the table of \(count) objects doesn't fit the file", trailer + 8)
    }
    var objects: [BinaryPlist.Object] = []
    objects.reserveCapacity(count)
    for i in 0..<count {
      let offset = try number(table + i * offsetSize, offsetSize)
      guard offset >= 8, offset < table else {
        throw fault("object \(i) is said to be at \(offset)", table + i * offsetSize)
      }
      objects.append(try object(at: offset, end: table, count: count))
    }
    return (objects, top)
  }

  private mutating func object(at offset: Int, end: Int, count: Int) throws -> BinaryPlist.Object {
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 15))
    switch (kind, low) {
    case (0, 0): return .null
    case (0, 8): return .bool(false)
    case (0, 9): return .bool(true)
    // Only eight bytes have a sign.
    case (1, 0...3): return .integer(Int64(bitPattern: unsigned(try take(offset + 1, 1 << low, end))))
    case (1, 4):
      // Sixteen bytes hold what is too large for eight, which no model has.
      let range = try take(offset + 1, 16, end)
      guard bytes[range.lowerBound..<range.lowerBound + 8].allSatisfy({ $0 == 0 }),
        let value = Int64(exactly: unsigned(range.lowerBound + 8..<range.upperBound))
      else { throw fault("a number is too large", offset) }
      return .integer(value)
    case (2, 2): return .real(Double(Float(bitPattern: UInt32(unsigned(try take(offset + 1, 4, end))))))
    case (2, 3): return .real(Double(bitPattern: unsigned(try take(offset + 1, 8, end))))
    case (3, 3):
      let seconds = Double(bitPattern: unsigned(try take(offset + 1, 8, end)))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (4, _): return .data(Data(bytes[try contents(offset, unit: 1, end)]))
    case (5, _), (7, _):
      let range = try contents(offset, unit: 1, end)
      guard let text = String(validating: bytes[range], as: UTF8.self) else {
        throw fault("a text isn't valid", offset)
      }
      return .string(text)
    case (6, _):
      let range = try contents(offset, unit: 2, end)
      let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
      }
      guard let text = String(validating: units, as: UTF16.self) else {
        throw fault("a text isn't valid", offset)
      }
      return .string(text)
    case (8, 0...7): return .uid(try number(offset + 1, low + 1, end: end))
    case (10, _), (12, _):
      return .array(try references(try contents(offset, unit: referenceSize, end), count))
    case (13, _):
      let range = try contents(offset, unit: 2 * referenceSize, end)
      let middle = range.lowerBound + range.count / 2
      return .dictionary(
        keys: try references(range.lowerBound..<middle, count),
        values: try references(middle..<range.upperBound, count))
    default: throw fault("there is no kind of object \(bytes[offset])", offset)
    }
  }

  /// The bytes behind a marker with a count, which stands in the marker or as a number after it.
  private mutating func contents(_ offset: Int, unit: Int, _ end: Int) throws -> Range<Int> {
    var count = Int(bytes[offset] & 15)
    var start = offset + 1
    if count == 15 {
      guard start < end, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else {
        throw fault("a count is missing", offset)
      }
      let size = 1 << Int(bytes[start] & 15)
      count = try number(start + 1, size, end: end)
      start += 1 + size
    }
    guard start <= end, count <= (end - start) / unit else {
      throw fault("\(count) elements don't fit the file", offset)
    }
    budget -= count * unit
    guard budget >= 0 else { throw fault("objects overlap", offset) }
    return start..<start + count * unit
  }

  private func references(_ range: Range<Int>, _ count: Int) throws -> [Int] {
    try stride(from: range.lowerBound, to: range.upperBound, by: referenceSize).map { offset in
      let reference = try number(offset, referenceSize)
      guard reference < count else { throw fault("there is no object \(reference)", offset) }
      return reference
    }
  }

  private func take(_ offset: Int, _ size: Int, _ end: Int) throws -> Range<Int> {
    guard offset + size <= end else { throw fault("an object goes beyond the last", offset) }
    return offset..<offset + size
  }

  /// A number that isn't negative; `end` is the file's where none is given.
  private func number(_ offset: Int, _ size: Int, end: Int? = nil) throws -> Int {
    guard let value = Int(exactly: unsigned(try take(offset, size, end ?? bytes.count))) else {
      throw fault("a number is too large", offset)
    }
    return value
  }

  private func unsigned(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }

  private func fault(_ message: String, _ offset: Int) -> ModelFileError {
    ModelFileError(
      .corrupt, file: file, message, remedy: "compile the model again from its source", offset: offset)
  }
}
