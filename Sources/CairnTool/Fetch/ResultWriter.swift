// Rows of results: a table for people, JSON or CSV for programs.

import Cairn

struct ResultWriter {
  private let format: FetchCommand.Format
  private let columns: [String]
  /// Columns whose numbers were worked out, and have more digits than anybody reads.
  private let figures: Set<String>
  /// Of the terminal; nil where there is none.
  private let width: Int?
  private let write: (String) throws -> Void

  init(
    _ format: FetchCommand.Format, columns: [String], roundsFigures figures: Set<String> = [],
    _ console: Console
  ) {
    (self.format, self.columns, self.figures) = (format, columns, figures)
    (width, write) = (console.terminalWidth, console.write)
  }

  /// For a file.
  init(_ format: FetchCommand.Format, columns: [String], write: @escaping (String) throws -> Void) {
    (self.format, self.columns, figures, width, self.write) = (format, columns, [], nil, write)
  }

  func write(rows: some Sequence<[Cell]>) throws {
    switch format {
    case .table: try writeTable(rows)
    case .json: try writeJSON(rows)
    case .csv: try writeCSV(rows)
    }
  }

  private func writeTable(_ rows: some Sequence<[Cell]>) throws {
    let isRounded = columns.map(figures.contains)
    var table = TextTable(columns)
    for row in rows {
      table.add(zip(row, isRounded).map { ($0.forPeople(isRounded: $1), $0.isNumber) })
    }
    try write(table.text(width: width))
  }

  /// An array with a row on each line, the members in the order of the columns.
  private func writeJSON(_ rows: some Sequence<[Cell]>) throws {
    let names = columns.map { Cell.quoted($0) + ": " }
    var buffer = "["
    var isFirst = true
    for row in rows {
      buffer += isFirst ? "\n  {" : ",\n  {"
      isFirst = false
      buffer += zip(names, row).map { $0 + $1.json }.joined(separator: ", ") + "}"
      try flush(&buffer, ifOver: 1 << 16)
    }
    buffer += isFirst ? "]\n" : "\n]\n"
    try flush(&buffer, ifOver: 0)
  }

  /// As RFC 4180 has it, with its line ends.
  private func writeCSV(_ rows: some Sequence<[Cell]>) throws {
    var buffer = columns.map(Cell.field).joined(separator: ",") + "\r\n"
    for row in rows {
      buffer += row.map(\.csv).joined(separator: ",") + "\r\n"
      try flush(&buffer, ifOver: 1 << 16)
    }
    try flush(&buffer, ifOver: 0)
  }

  private func flush(_ buffer: inout String, ifOver size: Int) throws {
    guard buffer.utf8.count > size else { return }
    try write(buffer)
    buffer = ""
  }
}
