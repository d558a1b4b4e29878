// A table of text in columns, as wide as it looks on a terminal.

import Cairn

struct TextTable {
  private let titles: [String]
  private var rows: [[String]] = []
  private var widths: [Int]
  /// Whether nothing but numbers, and no values, has been seen, by column.
  private var isNumeric: [Bool]
  private var hasNumbers: [Bool]

  init(_ titles: [String]) {
    self.titles = titles
    widths = titles.map(DisplayWidth.of)
    isNumeric = titles.map { _ in true }
    hasNumbers = titles.map { _ in false }
  }

  mutating func add(_ cells: [(text: String, isNumber: Bool)]) {
    for (column, cell) in cells.enumerated() {
      widths[column] = max(widths[column], DisplayWidth.of(cell.text))
      if cell.isNumber { hasNumbers[column] = true } else if cell.text != "–" { isNumeric[column] = false }
    }
    rows.append(cells.map(\.text))
  }

  /// With a line for the titles, a rule, and the number of rows below. `width` cuts: first the widest columns of
  /// text, then the ends of lines.
  func text(width: Int?) -> String {
    let widths = width.map(fitted) ?? widths
    var lines = [
      line(titles, widths), widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "),
    ]
    lines += rows.map { line($0, widths) }
    if let width { lines = lines.map { DisplayWidth.cut($0, to: width) } }
    lines.append(rows.count == 1 ? "1 row" : "\(Console.grouped(rows.count)) rows")
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = zip(cells, widths).enumerated().map { column, cell in
      let text = DisplayWidth.cut(cell.0, to: cell.1)
      let padding = String(repeating: " ", count: max(0, cell.1 - DisplayWidth.of(text)))
      return isNumeric[column] && hasNumbers[column] ? padding + text : text + padding
    }.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return line
  }

  /// Takes from the widest columns of text until the table fits or they are at 8.
  private func fitted(_ width: Int) -> [Int] {
    var widths = widths
    let gaps = 2 * (widths.count - 1)
    while widths.reduce(gaps, +) > width {
      let texts = widths.indices.filter { !(isNumeric[$0] && hasNumbers[$0]) && widths[$0] > 8 }
      guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
    }
    return widths
  }
}
