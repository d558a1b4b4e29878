// Where a program's own files are: its stores, and what it keeps for later runs.

package import Foundation

package enum ProgramDirectory {
  /// The directory that an environment variable of the XDG base directory specification names; nil unless it is set
  /// to an absolute path.
  package static func base(_ variable: String) -> URL? {
    // Not `ProcessInfo.environment`, which makes a dictionary of everything each time.
    guard let value = getenv(variable).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
    return URL(fileURLWithPath: value, isDirectory: true)
  }

  /// The program's part of a directory that all of the user's programs share: named after the executable.
  package static func url(in base: URL) -> URL {
    base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
  }
}
