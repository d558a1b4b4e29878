// The words of a command line that takes paths and options, told apart. What they mean is each command's affair.

import Cairn

struct CommandWords {
  private(set) var paths: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []
  let command: String
  let help: String

  /// nil asks for help. Throws `UsageError` for an option that is none of `values` and `flags`, or comes twice.
  init?(
    _ words: ArraySlice<String>, of command: String, values withValue: Set<String> = [],
    flags known: Set<String> = [], help: String
  ) throws {
    (self.command, self.help) = (command, help)
    var words = words
    while let word = words.popFirst() {
      if ["--help", "-h"].contains(word) || word == "help" && paths.isEmpty { return nil }
      guard word.hasPrefix("-"), word != "-" else {
        paths.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      if values[name] != nil || flags.contains(name) { throw wrong("\(name) comes once") }
      if known.contains(name) {
        if parts.count > 1 { throw wrong("\(name) takes no value") }
        flags.insert(name)
      } else if withValue.contains(name) {
        guard let value = parts.count > 1 ? parts[1] : words.popFirst() else {
          throw wrong("\(name) wants a value")
        }
        values[name] = value
      } else {
        throw wrong("cairn \(command) has no option \(name)")
      }
    }
  }

  func wrong(_ message: String) -> UsageError { UsageError(message, help: help) }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  func value(_ name: String) -> String? { values[name] }

  /// The value of an option that is one of few words.
  func choice<T: RawRepresentable & CaseIterable>(_ name: String, _ type: T.Type) throws -> T?
  where T.RawValue == String {
    guard let word = values[name] else { return nil }
    guard let choice = T(rawValue: word) else {
      throw wrong("\(name) is one of \(T.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }
}
