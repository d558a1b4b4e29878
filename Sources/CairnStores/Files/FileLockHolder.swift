// Who holds a lock: a note in the lock file, for the message to whoever doesn't get it. The note proves nothing; the
// lock does.

import Foundation

/// A process, as it introduces itself in a lock file.
///
/// The note is UTF-8 text of four lines, "process 123", "program cairn", "host h", "since 2026-11-30T10:00:00Z".
package struct FileLockHolder: Sendable, Hashable {
  package let processID: Int32
  package let program: String
  package let host: String
  /// To the second.
  package let since: Date

  package init(processID: Int32, program: String, host: String, since: Date) {
    self.processID = processID
    self.program = Self.oneLine(program)
    self.host = Self.oneLine(host)
    self.since = Date(timeIntervalSince1970: since.timeIntervalSince1970.rounded(.down))
  }

  /// This process.
  package static func current(since: Date = Date()) -> FileLockHolder {
    FileLockHolder(
      processID: getpid(), program: ProcessInfo.processInfo.processName,
      host: ProcessInfo.processInfo.hostName, since: since)
  }

  /// Nil if the text isn't a note: nobody holds the lock, or someone who has only just got it.
  package init?(note: String) {
    var fields: [Substring: Substring] = [:]
    for line in note.split(separator: "\n") {
      guard let space = line.firstIndex(of: " ") else { return nil }
      fields[line[..<space]] = line[line.index(after: space)...]
    }
    guard let process = fields["process"].flatMap({ Int32($0) }), let program = fields["program"],
      let host = fields["host"],
      let since = fields["since"].flatMap({ try? Date(String($0), strategy: .iso8601) })
    else { return nil }
    self.init(processID: process, program: String(program), host: String(host), since: since)
  }

  package var note: String {
    "process \(processID)\nprogram \(program)\nhost \(host)\nsince \(since.formatted(.iso8601))\n"
  }

  /// "process 123 (cairn) since 2026-11-30T10:00:00Z", with the host where it isn't `observer`'s.
  package func description(for observer: FileLockHolder) -> String {
    let time = "since \(since.formatted(.iso8601))"
    if host == observer.host && processID == observer.processID { return "this process, \(time)" }
    let place = host == observer.host ? "" : " on \(host)"
    return "process \(processID) (\(program))\(place) \(time)"
  }

  /// At most so long that a note fits in what is read of one.
  private static func oneLine(_ text: String) -> String {
    String(text.prefix(200).map { $0.isNewline ? " " : $0 })
  }
}
