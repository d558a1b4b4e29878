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
    return try Table(String(decoding: Gzip.inflate(compressed, limit: 64 << 20), as: UTF8.self), name)
  }

  /// Lines of values under column names. No value holds a comma, a quote or a line break.
  struct Table: Sendable {
    let rows: [[Substring]]
    private let columns: [Substring: Int]
    private let name: String

    init(_ text: String, _ name: String) throws {
      var lines = text.utf8.split(separator: UInt8(ascii: "\n")).map { line in
        line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Substring($0) }
      }
      guard let header = lines.first, lines.allSatisfy({ $0.count == header.count }) else {
        throw TourError("the table \"\(name)\" has lines of different lengths")
      }
      lines.removeFirst()
      rows = lines
      columns = Dictionary(header.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      self.name = name
    }

    /// Throws for a column that isn't there.
    func column(_ title: Substring) throws -> Int {
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
