// The table on standard output.
//
// Invariant: a row is printed as soon as its case is done, so widths are known from the names alone.

import Foundation

struct Table {
  private let nameWidth: Int
  private let figureWidth = 13
  private let ratioWidth = 8

  init(names: [String]) { nameWidth = names.map(\.count).max() ?? 0 }

  func printHeader(peer: String) {
    Console.printLine(
      left("case", nameWidth) + right("ours", figureWidth) + right(peer, figureWidth + 2)
        + right("ratio", ratioWidth) + right("goal", ratioWidth))
  }

  func printRow(_ figures: Figures) {
    var line = left(figures.name, nameWidth)
    line += right(amount(figures.ours, figures.unit), figureWidth)
    line += right(amount(figures.theirs, figures.unit), figureWidth + 2)
    line += right(figures.ratio.map(Self.number) ?? "-", ratioWidth)
    line += right(figures.goal.map { Self.plain($0) } ?? "-", ratioWidth)
    if let ratio = figures.ratio, let goal = figures.goal {
      line += "  " + (ratio <= goal ? Console.paint("reached", .green) : Console.paint("missed", .red))
    }
    Console.printLine(line)
  }

  func printFailure(_ name: String) {
    Console.printLine(left(name, nameWidth) + Console.paint(right("FAILED", figureWidth), .red))
  }

  private func amount(_ value: Double?, _ unit: String) -> String {
    value.map { "\(Self.number($0)) \(unit)" } ?? "-"
  }

  /// Three significant digits, or all digits before the point.
  static func number(_ value: Double) -> String {
    let places = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4
    return String(format: "%.\(places)f", value)
  }

  private static func plain(_ goal: Double) -> String { String(format: "%.2f", goal) }

  private func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
