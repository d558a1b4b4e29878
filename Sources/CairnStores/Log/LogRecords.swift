// What the payloads of a log's frames say, besides the changes themselves (TransactionCoding).

import CairnModel
import Foundation

/// Keys that aren't handed out yet: of each hierarchy named, the next one.
///
/// ```
/// keys := count (root next){count}      root: the number of the hierarchy's root entity; next: a varint
/// ```
///
/// Count and roots are varints; roots ascend. In a frame of kind 2, and at the beginning of a transaction, these
/// are promises: keys below `next` may have been handed out. In a frame of kind 3 they are exact, for all roots.
struct LogKeys: Equatable {
  var next: [(root: Int, key: Int64)] = []

  static func == (a: LogKeys, b: LogKeys) -> Bool { a.next.elementsEqual(b.next, by: ==) }

  func write(to writer: inout RecordWriter) {
    writer.put(varint: next.count)
    for (root, key) in next {
      writer.put(varint: root)
      writer.put(varint: UInt64(bitPattern: key))
    }
  }

  init(_ next: [(root: Int, key: Int64)] = []) { self.next = next }

  /// Throws `RecordError`.
  init(_ reader: inout RecordReader, schema: Schema) throws {
    let count = try reader.count(atMost: schema.entities.count)
    for _ in 0..<count {
      let root = try reader.count(atMost: schema.entities.count - 1)
      let key = try reader.varint()
      guard root > next.last?.root ?? -1, schema.entities[root].root.index == root else {
        throw reader.error("keys of entity \(root), which is no root, or out of order")
      }
      guard key > 0, key <= UInt64(Int64.max) else { throw reader.error("\(key) is no key") }
      next.append((root, Int64(key)))
    }
  }

  /// Raises what is less.
  func raise(_ keys: inout [Int64]) {
    for (root, key) in next { keys[root] = max(keys[root], key) }
  }

  /// The keys of the roots among `keys`, which has one of each entity.
  static func all(_ keys: [Int64], _ schema: Schema) -> LogKeys {
    LogKeys(schema.entities.filter { $0.root == $0.id }.map { ($0.id.index, keys[$0.id.index]) })
  }
}

/// What a transaction says of itself, and the changes.
///
/// ```
/// transaction := keys time text text changes
/// time        := seconds since 2001-01-01T00:00:00Z, a binary64
/// text        := 0 | length + 1, UTF-8      a varint; 0 for none
/// ```
///
/// The texts are the author and the context's name. The changes are those of TransactionCoding, up to the end;
/// relationships are numbered as in the schema of the store's bases.
struct LogTransaction {
  var keys = LogKeys()
  var time: Date
  var author: String?
  var contextName: String?

  func write(to writer: inout RecordWriter) {
    keys.write(to: &writer)
    writer.put(time.timeIntervalSinceReferenceDate)
    for text in [author, contextName] {
      guard let text else {
        writer.put(UInt8(0))
        continue
      }
      writer.put(varint: text.utf8.count + 1)
      writer.put(bytes: text.utf8)
    }
  }

  init(time: Date, author: String?, contextName: String?, keys: LogKeys) {
    (self.time, self.author, self.contextName, self.keys) = (time, author, contextName, keys)
  }

  /// Throws `RecordError`. Leaves `reader` before the changes.
  init(_ reader: inout RecordReader, schema: Schema) throws {
    keys = try LogKeys(&reader, schema: schema)
    time = Date(timeIntervalSinceReferenceDate: try reader.double())
    author = try LogTransaction.text(&reader)
    contextName = try LogTransaction.text(&reader)
  }

  private static func text(_ reader: inout RecordReader) throws -> String? {
    let length = try reader.count(atMost: reader.remaining)
    if length == 0 { return nil }
    let bytes = try reader.take(length - 1)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw reader.error("a text is no UTF-8")
    }
    return text
  }
}
