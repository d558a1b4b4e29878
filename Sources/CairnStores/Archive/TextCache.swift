// What texts of archives and logs say, kept for the next file that has the same text: schemas and metadata are read
// again and again, and parsing them took longer than all the rest of opening a file.

import CairnModel

/// What was made of a few texts, by the bytes that they are stored as. Equal bytes have an equal text, and what is made
/// of a text depends on nothing else, so a value is right for every file; a hash alone wouldn't prove that.
///
/// Keeps `capacity` values, the last used ones, and none of a text of more than `longest` bytes, so that no file of a
/// stranger holds memory. Sendable: everything that changes is behind the lock, under which nothing is parsed.
final class TextCache<Value: Sendable>: Sendable {
  private struct Entry {
    let codec: UInt8
    let rawLength: UInt32
    let stored: [UInt8]
    let value: Value
  }

  static var capacity: Int { 8 }
  static var longest: Int { 1 << 18 }

  /// The last used last.
  private let entries = Lock<[Entry]>([])

  /// The value of a text block whose checksum is right; `make` makes it of the text. Throws `RecordError`, and what
  /// `make` throws.
  func value(
    _ header: BlockHeader, _ stored: [UInt8], _ make: ([UInt8]) throws -> Value
  ) throws -> Value {
    try TextBlock.check(header, stored)
    return try value(header.codec, header.rawLength, stored) {
      try make(try TextBlock.decode(header, stored))
    }
  }

  /// The value of a text that stands in a file as it is. Throws what `make` throws.
  func value(ofPlain text: [UInt8], _ make: ([UInt8]) throws -> Value) throws -> Value {
    guard let count = UInt32(exactly: text.count) else { return try make(text) }
    return try value(0, count, text) { try make(text) }
  }

  private func value(
    _ codec: UInt8, _ rawLength: UInt32, _ stored: [UInt8], _ make: () throws -> Value
  ) throws -> Value {
    let known = entries.withLock { entries -> Value? in
      let found = entries.lastIndex {
        $0.codec == codec && $0.rawLength == rawLength && $0.stored == stored
      }
      guard let found else { return nil }
      let entry = entries.remove(at: found)
      entries.append(entry)
      return entry.value
    }
    if let known { return known }
    let value = try make()
    guard Int(rawLength) <= Self.longest else { return value }
    entries.withLock { entries in
      if entries.count >= Self.capacity { entries.removeFirst() }
      entries.append(Entry(codec: codec, rawLength: rawLength, stored: stored, value: value))
    }
    return value
  }

  /// How many values it has.
  var count: Int { entries.withLock { $0.count } }
}
