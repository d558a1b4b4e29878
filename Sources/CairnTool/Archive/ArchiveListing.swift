// What `cairn info` prints: for people a few lines and a table, for programs JSON.

import Cairn

enum ArchiveListing {
  static func text(_ summary: ArchiveSummary, _ path: String, _ console: Console) -> String {
    let raw = summary.tables.reduce(0) { $0 + $1.rawBytes }
    let stored = summary.tables.reduce(0) { $0 + $1.storedBytes }
    var lines = [
      "\(path): \(grouped(summary.fileBytes)) bytes, \(grouped(summary.deadBytes)) of them dead",
      "uuid        \(summary.uuid.uuidString)",
      "commit      \(summary.generation), saved \(DateText.rounded(summary.saved))",
      "created     \(DateText.rounded(summary.created))",
      "model       "
        + (summary.hasModel ? "inside" : "none inside")
        + (summary.modelVersions.isEmpty
          ? "" : ", version \(summary.modelVersions.joined(separator: ", "))"),
      "columns     \(grouped(stored)) bytes, \(ratio(stored, raw)) of \(grouped(raw)) raw",
      "the rest    \(grouped(summary.footerBytes)) bytes of footers (\(summary.footerCount)), "
        + "\(grouped(summary.schemaBytes)) of schema, \(grouped(summary.metadataBytes)) of metadata, "
        + "\(grouped(summary.copyBytes)) of copies",
    ]
    if summary.unfinishedBytes > 0 {
      lines.append("unfinished  \(grouped(summary.unfinishedBytes)) bytes that a save left behind")
    }
    var table = TextTable([
      "entity", "column", "type", "rows", "bytes", "raw", "ratio", "blocks", "codec", "follows",
    ])
    for entity in summary.tables where entity.rows > 0 || entity.isEntity {
      table.add(
        cells(entity.name, "", "", "\(grouped(entity.rows))", entity.storedBytes, entity.rawBytes, nil, nil))
      for column in entity.columns where column.blocks > 0 {
        let codec =
          column.deflatedBlocks == 0
          ? "stored" : column.deflatedBlocks == column.blocks ? "deflate" : "both"
        table.add(
          cells(
            "", column.name, column.type, "", column.storedBytes, column.rawBytes, column.blocks,
            (codec, column.follows.joined(separator: ", "))))
      }
    }
    let text = table.text(width: console.terminalWidth)
    // The number of lines, which a table ends with, is that of nothing here.
    return lines.joined(separator: "\n") + "\n\n"
      + text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(2).joined(separator: "\n")
      + "\n"
  }

  private static func cells(
    _ entity: String, _ column: String, _ type: String, _ rows: String, _ stored: Int, _ raw: Int,
    _ blocks: Int?, _ rest: (codec: String, follows: String)?
  ) -> [(text: String, isNumber: Bool)] {
    [
      (entity, false), (column, false), (type, false), (rows.isEmpty ? "–" : rows, !rows.isEmpty),
      (grouped(stored), true), (grouped(raw), true), (ratio(stored, raw), true),
      (blocks.map { grouped($0) } ?? "–", blocks != nil), (rest?.codec ?? "", false),
      (rest?.follows ?? "", false),
    ].map { ($0.0, $0.1) }
  }

  private static func ratio(_ stored: Int, _ raw: Int) -> String {
    raw == 0 ? "–" : String(format: "%.1f %%", 100 * Double(stored) / Double(raw))
  }

  private static func grouped(_ number: some BinaryInteger) -> String { Console.grouped(Int(number)) }

  // MARK: JSON

  private struct Listing: Encodable {
    let uuid: String
    let generation: Int64
    let created: String
    let saved: String
    let modelVersions: [String]
    let hasModel: Bool
    let fileBytes: UInt64
    let deadBytes: UInt64
    let unfinishedBytes: UInt64
    let footerBytes: Int
    let footers: Int
    let schemaBytes: Int
    let metadataBytes: Int
    let copyBytes: Int
    let tables: [Table]
  }

  private struct Table: Encodable {
    let name: String
    let kind: String
    let rows: Int
    let groups: Int
    let bytes: Int
    let rawBytes: Int
    let columns: [Column]
  }

  private struct Column: Encodable {
    let name: String
    let type: String
    let blocks: Int
    let bytes: Int
    let rawBytes: Int
    let deflatedBlocks: Int
    let follows: [String]
  }

  static func json(_ summary: ArchiveSummary) throws -> String {
    let listing = Listing(
      uuid: summary.uuid.uuidString, generation: summary.generation,
      created: DateText.rounded(summary.created),
      saved: DateText.rounded(summary.saved), modelVersions: summary.modelVersions,
      hasModel: summary.hasModel,
      fileBytes: summary.fileBytes, deadBytes: summary.deadBytes, unfinishedBytes: summary.unfinishedBytes,
      footerBytes: summary.footerBytes, footers: summary.footerCount, schemaBytes: summary.schemaBytes,
      metadataBytes: summary.metadataBytes, copyBytes: summary.copyBytes,
      tables: summary.tables.map { table in
        Table(
          name: table.name, kind: table.isEntity ? "entity" : "relationship", rows: table.rows,
          groups: table.groups, bytes: table.storedBytes, rawBytes: table.rawBytes,
          columns: table.columns.map {
            Column(
              name: $0.name, type: $0.type, blocks: $0.blocks, bytes: $0.storedBytes, rawBytes: $0.rawBytes,
              deflatedBlocks: $0.deflatedBlocks, follows: $0.follows)
          })
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(listing), as: UTF8.self) + "\n"
  }
}
