// Where the tool writes: plain text in a pipe, with colours on a terminal.
//
// Always holds: without colours no escape code is written, and nothing is written twice or taken back, so that
// the output can be kept, compared and searched.

import Cairn

/// Standard output, with a few ways of showing things.
struct Console: Sendable {
  /// How a piece of text is meant. The numbers are the terminal's.
  private enum Style: String {
    case title = "1"
    case code = "36"
    case faint = "2"
  }

  private let isColored: Bool

  init(color: ColorChoice) {
    switch color {
    case .always: isColored = true
    case .never: isColored = false
    case .auto: isColored = isatty(1) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }
  }

  /// How many columns the terminal has; nil where standard output is none.
  var terminalWidth: Int? {
    guard isatty(1) == 1 else { return nil }
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Throws when standard output doesn't take it, as when a disk is full.
  func write(_ text: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }

  static func printError(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  // MARK: Ways of showing things

  func title(_ text: String) throws { try write(styled(text, .title) + "\n") }

  /// A step's number, name and time, ending at the same column for all of them.
  func step(_ number: Int, _ name: String, _ time: Duration) throws {
    let milliseconds = Console.milliseconds(time) + " ms"
    let gap = max(2, Console.width - 3 - name.count - milliseconds.count)
    try write(
      "\n" + styled("\(number)  \(name)", .title) + String(repeating: " ", count: gap)
        + styled(milliseconds, .faint) + "\n")
  }

  /// Swift source, indented below a step.
  func code(_ lines: String) throws {
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      try write("   " + styled(String(line), .code) + "\n")
    }
    try write("\n")
  }

  func line(_ text: String) throws { try write("   " + text + "\n") }

  /// Rows of cells in columns: numbers to the right, text to the left.
  func table(_ rows: [[Cell]]) throws {
    let columnCount = rows.map(\.count).max() ?? 0
    let widths = (0..<columnCount).map { column in
      rows.map { column < $0.count ? $0[column].text.count : 0 }.max() ?? 0
    }
    for row in rows {
      var line = ""
      for (cell, width) in zip(row, widths) {
        let padding = String(repeating: " ", count: width - cell.text.count)
        line += (cell.isNumber ? padding + cell.text : cell.text + padding) + "   "
      }
      while line.last == " " { line.removeLast() }
      try self.line(line)
    }
  }

  /// One place of a table.
  struct Cell: ExpressibleByStringLiteral {
    let text: String
    let isNumber: Bool

    init(stringLiteral text: String) { self.init(text) }

    init(_ text: String) {
      self.text = text
      isNumber = false
    }

    /// A whole number, in groups of three digits.
    init(_ number: Int) {
      text = Console.grouped(number)
      isNumber = true
    }

    /// A number with one decimal place.
    init(_ number: Double) {
      text = String(format: "%.1f", number)
      isNumber = true
    }
  }

  // MARK: Text

  private static let width = 88

  private func styled(_ text: String, _ style: Style) -> String {
    isColored ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Like 27,004, whatever the locale, so that two runs can be compared.
  static func grouped(_ number: Int) -> String {
    var digits = Array(String(number.magnitude))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }

  static func milliseconds(_ time: Duration) -> String {
    let value = Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
    return value < 10 ? String(format: "%.2f", value) : grouped(Int(value.rounded()))
  }
}
