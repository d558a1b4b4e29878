// How far a long piece of work has come, on standard error, and only where that is a terminal.

import Cairn

/// One line that is written over, and gone when the work is done. Confined to whoever made it.
final class ProgressLine {
  private let isShown = isatty(2) == 1
  private var last = ContinuousClock.now
  private var width = 0

  /// Shows a part of a whole, ten times a second at most.
  func show(_ what: String, _ done: Int, of total: Int) {
    guard isShown, total > 0, ContinuousClock.now - last > .milliseconds(100) else { return }
    last = .now
    write("\(what): \(100 * done / total) % of \(Console.grouped(total))")
  }

  /// Shows a step whose length isn't known, at once.
  func show(_ what: String) { if isShown { write(what + " …") } }

  func clear() {
    if isShown, width > 0 { write("") }
    width = 0
  }

  private func write(_ text: String) {
    let text = DisplayWidth.cut(text, to: 78)
    let padding = String(repeating: " ", count: max(0, width - text.count))
    Console.printError("\r\(text)\(padding)" + (text.isEmpty ? "\r" : ""))
    width = text.count
  }
}
