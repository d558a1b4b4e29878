// A change set as the bytes of a transaction and back. Here what both directions share; Formats/log.md says
// the form.

import CairnModel

/// What a change set changes: its inserts, updates, deletes and links, without the versions that updates and
/// deletes were made on, author and context. What changes nothing, a batch without rows or an update without
/// slots, isn't written, and a column of nulls among inserts comes back as none; everything else comes back
/// bit for bit.
package enum TransactionCoding {
  /// The same bytes for the same changes, however columns hold them.
  ///
  /// `changes` are ones that a commit would accept. Throws `malformedChangeSet`, `unknownEntity`,
  /// `abstractEntity`, `unknownProperty` or `wrongType` where they can't be written at all, the damage of a
  /// column that has one, and `unsupportedRequest` where no reader would take them: they have to set hundreds
  /// of millions of values to null.
  package static func encode(_ changes: ChangeSet, schema: Schema) throws -> [UInt8] {
    try encode(changes, schema: schema, limits: Limits())
  }

  /// The changes that were encoded, if `bytes` are all of them and nothing else. Throws `PayloadError`
  /// otherwise.
  ///
  /// The bytes may be anything. Of the changes only the form is checked, and that entities, slots and
  /// relationships are there: keys may lead nowhere. Memory taken is bounded by some hundred megabytes and a
  /// multiple of the bytes.
  package static func decode(_ bytes: UnsafeRawBufferPointer, schema: Schema) throws -> ChangeSet {
    try decode(bytes, schema: schema, limits: Limits())
  }

  package static func decode(_ bytes: [UInt8], schema: Schema) throws -> ChangeSet {
    try bytes.withUnsafeBytes { try decode($0, schema: schema) }
  }

  static func encode(_ changes: ChangeSet, schema: Schema, limits: Limits) throws -> [UInt8] {
    var encoder = TransactionEncoder(schema: schema, limits: limits)
    try encoder.write(changes)
    return Array(encoder.sink.buffer)
  }

  static func decode(_ bytes: UnsafeRawBufferPointer, schema: Schema, limits: Limits) throws -> ChangeSet {
    var decoder = TransactionDecoder(bytes, schema: schema, limits: limits)
    return try decoder.changes()
  }

  /// The first byte of a batch, without `blocks`. Batches stand in this order; the three kinds of links mix.
  enum Kind: UInt8 {
    case insert = 1
    case update, delete, add, remove, replace

    var rank: Int { min(Int(rawValue), 4) }
  }

  /// Added to the kind of a batch of rows whose keys and columns are encoded blocks.
  static let blocks: UInt8 = 0x10
  /// How many rows a block has; the last one of a batch has the rest.
  static let blockRows = 16_384
  /// How many rows are written value by value.
  static let plainRows = 1000

  /// How much a reader lets a transaction cost.
  ///
  /// Its cost is eight bytes for each key and each value of a column that is there, null or not, and the
  /// length of each block after inflating. A few bytes can say a column of nulls or a block of equal values,
  /// however long.
  struct Limits {
    /// What every transaction may cost.
    var base = 1 << 28
    /// What it may cost besides for each of its bytes.
    var perByte = 64

    func allow(cost: Int, byteCount: Int) -> Bool { cost <= base + perByte * byteCount }

    /// The cost of rows with that many columns; `Int.max` where it is beyond all limits.
    static func cost(rows: Int, columns: Int) -> Int {
      let cells = rows.multipliedReportingOverflow(by: columns + 1)
      return cells.overflow || cells.partialValue > Int.max / 16 ? Int.max / 2 : 8 * cells.partialValue
    }
  }
}
