// The tour's data: four tables of comma-separated values, compressed, beside the executable.

import Cairn

/// The tables as they were read; nothing in them has been interpreted yet.
struct FlightTables: Sendable {
  let airlines: Table
  let airports: Table
  let planes: Table
  let flights: Table

  /// Throws when a table isn't there, or isn't what it should be.
  init() throws {
    airlines = try FlightTables.read("airlines")
    airports = try FlightTables.read("airports")
    planes = try FlightTables.read("planes")
    flights = try FlightTables.read("flights-2013-01")
  }

  private static func read(_ name: String) throws -> Table {
    let file = Bundle.main.bundleURL.appendingPathComponent(
      "cairn_CairnTool.resources/flights/\(name).csv.gz")
    guard let compressed = try? Data(contentsOf: file) else {
      throw TourError(
        "the tour's data isn't beside the executable: \(file.path) can't be read. `swift run cairn tour` has "
          + "it there")
    }
    return try Table(
      CSVLines.read(
        InputFile(name: "\(name).csv", bytes: Array(Gzip.inflate(compressed, limit: InputFile.greatestSize))))
    )
  }

  /// Rows of values under column names.
  struct Table: Sendable {
    let rows: [[Substring]]
    private let columns: [String: Int]
    private let name: String

    init(_ records: Records) throws {
      var rows: [[Substring]] = []
      try records.forEach { _, fields, bytes in rows.append(fields.map { Substring($0.text(bytes)) }) }
      self.rows = rows
      columns = Dictionary(uniqueKeysWithValues: records.columns.enumerated().map { ($1, $0) })
      name = records.file
    }

    /// Throws for a column that isn't there.
    func column(_ title: String) throws -> Int {
      guard let column = columns[title] else {
        throw TourError("the table \"\(name)\" has no column \(title)")
      }
      return column
    }
  }
}

/// Why the tour can't go on, in a sentence.
struct TourError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension Substring {
  /// nil for NA, which stands where there is no value.
  var valueOrNil: String? { self == "NA" ? nil : String(self) }
}
