// An archive as JSON: everything that it says, each value exactly. Formats/archive.md, section 12, says the
// form, which the independent reader writes too.

import CairnModel
import Foundation

/// Writes an archive's newest state as JSON.
package struct ArchiveDump {
  private let contents: ArchiveContents
  private let engine: TableEngine
  private let damage: DamageLog
  private let write: ([UInt8]) throws -> Void
  private var buffer: [UInt8] = []

  private static let bufferSize = 1 << 16

  /// Reads all of the archive at `path` and hands its JSON to `write`, in pieces. Nothing is written to the
  /// archive.
  ///
  /// Throws `corrupt` for the first damage that is met, what the file system throws, and what `write` throws;
  /// what was handed out until then is no JSON.
  package static func json(
    at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared, _ write: ([UInt8]) throws -> Void
  ) throws {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    let damage = DamageLog()
    let contents = try ArchiveFile(file: file, path: path).open(cacheBudget: 64 << 20, damage: damage)
    try withoutActuallyEscaping(write) { write in
      var dump = ArchiveDump(contents, damage, write)
      try damage.checking { try dump.writeAll() }
    }
  }

  /// The same in one piece.
  package static func json(
    at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared
  ) throws -> [UInt8] {
    var result: [UInt8] = []
    try json(at: path, on: fileSystem) { result += $0 }
    return result
  }

  private init(
    _ contents: ArchiveContents, _ damage: DamageLog, _ write: @escaping ([UInt8]) throws -> Void
  ) {
    self.contents = contents
    self.damage = damage
    self.write = write
    engine = TableEngine(
      schema: contents.source.schema, history: .none, clock: { Date() },
      beginning: ArchiveStore.beginning(contents, damage))
  }

  private var schema: Schema { engine.schema }

  private mutating func put(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= ArchiveDump.bufferSize { try flush() }
  }

  private mutating func flush() throws {
    try write(buffer)
    buffer.removeAll(keepingCapacity: true)
  }

  // MARK: Parts

  private mutating func writeAll() throws {
    let snapshot = try engine.currentSnapshot()
    try put("{\"generation\":\(contents.index.generation),\"created\":\(contents.header.created)")
    try put(",\"saved\":\(contents.index.time),\"metadata\":")
    try put(String(decoding: try ArchivedMetadata(contents.metadata).json, as: UTF8.self))
    try put(",\"model\":\(contents.schema.model.map(ArchiveDump.quoted) ?? "null"),\"entities\":[")
    for entity in schema.entities {
      try put(entity.id.index == 0 ? "\n" : ",\n")
      try put(entity, snapshot)
    }
    try put("]}\n")
    try flush()
  }

  private mutating func put(_ entity: SchemaEntity, _ snapshot: TableSnapshot) throws {
    let parent = entity.superentity.map { ArchiveDump.quoted(schema[$0].name) } ?? "null"
    try put("{\"name\":\(ArchiveDump.quoted(entity.name)),\"superentity\":\(parent)")
    try put(",\"isAbstract\":\(entity.isAbstract)")
    if entity.superentity == nil { try put(",\"nextKey\":\(contents.index.nextKeys[entity.id.index])") }
    try put(",\"types\":{")
    let attributes = entity.slots.indices.filter { entity.slots[$0].role == .attribute }
    for (number, slot) in attributes.enumerated() {
      let described = entity.slots[slot]
      try put(number == 0 ? "" : ",")
      try put("\(ArchiveDump.quoted(described.name)):\"\(ArchivedSchema.name(of: described.type))\"")
    }
    try put("},\"rows\":[")
    if !entity.isAbstract { try putRows(entity, attributes, snapshot) }
    try put("]}")
  }

  private mutating func putRows(_ entity: SchemaEntity, _ attributes: [Int], _ snapshot: TableSnapshot) throws
  {
    let names = attributes.map { ArchiveDump.quoted(entity.slots[$0].name) }
    var isFirst = true
    // A chunk at a time, so that the lists of relationships don't fill the memory.
    for chunk in snapshot.chunks(of: entity.id) {
      let columns = attributes.map { chunk.columns[$0] }
      for column in columns + [chunk.versions] { if let damage = column.damage { throw damage } }
      let rows = (0..<chunk.count).filter { !chunk.isDeleted($0) }
      let keys = rows.map { RowKey(entity: entity.id, id: chunk.key($0)) }
      let links = try entity.relationships.map { id in
        (schema[id], try engine.related(keys, through: id, in: snapshot))
      }
      for (place, row) in rows.enumerated() {
        try put(isFirst ? "\n" : ",\n")
        isFirst = false
        try put("{\"key\":\(keys[place].id),\"version\":\(chunk.version(row)),\"values\":{")
        for (number, column) in columns.enumerated() {
          try put("\(number == 0 ? "" : ",")\(names[number]):\(ArchiveDump.value(column, row))")
        }
        try put("},\"relationships\":{")
        for (number, (relation, related)) in links.enumerated() {
          try put("\(number == 0 ? "" : ",")\(ArchiveDump.quoted(relation.name)):")
          try put(ArchiveDump.list(related[place].map(\.id), relation))
        }
        try put("}}")
      }
    }
  }

  // MARK: Values

  private static func list(_ ids: [Int64], _ relation: SchemaRelationship) -> String {
    if !relation.isToMany { return ids.first.map { "\($0)" } ?? "null" }
    return "[" + (relation.isOrdered ? ids : ids.sorted()).map { "\($0)" }.joined(separator: ",") + "]"
  }

  private static func value(_ column: Column, _ row: Int) -> String {
    if column.isNull(row) { return "null" }
    switch column.type {
    case .int16, .int32, .int64, .key: return "\(column.integer(row))"
    case .bool: return column.integer(row) != 0 ? "true" : "false"
    case .double, .date:
      // The bits as they are: no operation has had the chance to make another NaN of this one.
      let x = column.rawValues.assumingMemoryBound(to: Double.self)[row]
      return number(x, bits: ArchivedMetadata.Entry.digits(x.bitPattern))
    case .float:
      let x = column.rawValues.assumingMemoryBound(to: Float.self)[row]
      return number(Double(x), bits: ArchivedMetadata.Entry.digits(x.bitPattern))
    case .decimal: return "\"\(text(of: column.decimal(row)))\""
    case .uuid: return "\"\(column.uuid(row).uuidString)\""
    case .string, .uri: return text(column.bytes(row))
    case .data, .transformable: return "\"\(column.data(row).base64EncodedString())\""
    }
  }

  /// A number that reads back as the same double; what JSON has no number for as its bits.
  private static func number(_ x: Double, bits: String) -> String {
    x.isFinite ? "\(x)" : "{\"bits\":\"\(bits)\"}"
  }

  /// All digits, and none that say nothing.
  private static func text(of x: Decimal) -> String {
    var text = x.description
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text == "-0" ? "0" : text
  }

  /// A string; bytes that are no UTF-8 as base 64.
  private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    if text.utf8.elementsEqual(bytes) { return quoted(text) }
    return "{\"bytes\":\"\(Data(bytes).base64EncodedString())\"}"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
