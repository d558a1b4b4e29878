// The program's two outputs and the error that it ends with.
//
// Invariant: everything is written through `FileHandle` at once, so that a table row appears when its
// case is done, also in a pipe.

import Foundation

/// A sentence for the user: what went wrong and, where there is one, the remedy.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A command line that isn't understood.
struct UsageError: Error {
  let description: String

  init(_ description: String) { self.description = description }
}

enum Console {
  /// Exit codes; `usage` is `EX_USAGE` of sysexits.h.
  enum ExitCode {
    static let failure: Int32 = 1
    static let usage: Int32 = 64
  }

  static func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func printError(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }

  static let isTerminal = isatty(STDOUT_FILENO) == 1

  enum Colour: String {
    case green = "32"
    case red = "31"
    case faint = "2"
  }

  /// Colours `text` on a terminal and leaves it alone elsewhere.
  static func paint(_ text: String, _ colour: Colour) -> String {
    isTerminal ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }
}
