// `cairn predicate`: its command line, and what it prints.

import Cairn

/// What `cairn predicate` was asked for. Parsing has no effects.
struct PredicateCommand: Equatable {
  let format: String
  /// A JSON array.
  let arguments: String?
  /// JSON, or the path of a file of it after an `@`.
  let object: String?
  let isForMachines: Bool

  /// nil asks for help.
  init?(parsing words: ArraySlice<String>) throws {
    var words = words
    var (formats, arguments, objects): ([String], [String], [String]) = ([], [], [])
    var isForMachines = false
    func value(of option: String) throws -> String {
      guard let value = words.popFirst() else { throw PredicateCommand.wrong("\(option) wants a value") }
      return value
    }
    while let word = words.popFirst() {
      switch word {
      case "--help", "-h": return nil
      case "--json": isForMachines = true
      case "--on": objects.append(try value(of: word))
      case _ where word.hasPrefix("--on="): objects.append(String(word.dropFirst("--on=".count)))
      case "--arguments": arguments.append(try value(of: word))
      case _ where word.hasPrefix("--arguments="):
        arguments.append(String(word.dropFirst("--arguments=".count)))
      case _ where word.hasPrefix("--"):
        throw PredicateCommand.wrong("cairn predicate has no option \(word)")
      default: formats.append(word)
      }
    }
    guard formats.count == 1 else {
      throw PredicateCommand.wrong(
        formats.isEmpty ? "which predicate?" : "one predicate at a time: put the format in quotes")
    }
    guard arguments.count <= 1, objects.count <= 1 else {
      throw PredicateCommand.wrong("--on and --arguments come once")
    }
    format = formats[0]
    self.arguments = arguments.first
    object = objects.first
    self.isForMachines = isForMachines
  }

  private static func wrong(_ message: String) -> UsageError { UsageError(message, help: help) }

  /// The tool's exit code: 0, 65 for a format, JSON or values that make no sense, 66 for a file that can't be
  /// read; then with a sentence on standard error.
  func run(_ console: Console) throws -> Int32 {
    let report: Report
    do {
      report = try makeReport()
    } catch let error as InputError {
      Console.printError("cairn: \(error)\n")
      return error.exitCode
    } catch let error as PredicateFormatError {
      Console.printError("cairn: \(error)\n")
      return 65
    } catch let error as PredicateEvaluationError {
      Console.printError("cairn: \(error)\n")
      return 65
    }
    try console.write(isForMachines ? report.json : report.text)
    return 0
  }

  private func makeReport() throws -> Report {
    let arguments = try self.arguments.map { text -> [Any?] in
      guard let list = try JSONValue.read(text, "--arguments") as? [Any?] else {
        throw InputError("--arguments wants a JSON array, as '[\"x\", 3]'", 65)
      }
      return list
    }
    let predicate = try NSPredicate(parsing: format, arguments: arguments ?? [])
    guard let object else { return Report(predicate, result: nil) }
    let value = try JSONValue.read(JSONValue.text(object), "--on")
    do {
      return Report(predicate, result: try predicate.matches(value))
    } catch let error as PredicateEvaluationError
      where error.reason == .unknownKey && !JSONValue.hasKeys(value)
    {
      throw InputError("\(error); --on gives a value without keys: an object has some, as {\"name\": \"x\"}")
    }
  }

  static let help = """
    Parses a predicate and prints its tree and its canonical form; with an object also whether it holds.

    usage: cairn predicate 'FORMAT' [--arguments JSON] [--on JSON|@FILE] [--json]

      --arguments   a JSON array: what stands for %@, %K, %d and their like, in order
      --on          the object that is asked: its members are its keys, objects and arrays within it
                    relationships, null is nil; @FILE reads the JSON from a file
      --json        prints {"canonical": "…", "result": true}, without the result where there is no object

    examples:
      cairn predicate 'ANY kids.age > %d' --arguments '[10]' --on '{"kids": [{"age": 12}]}'
      cairn predicate 'name ==[cd] "ÅSA" AND NOT tags CONTAINS "x"'

    The exit status is 0 for a predicate that makes sense, be its result true or false: a script reads the
    result, as with --json. It is 65 for a predicate, JSON or values that make no sense, and 66 for a file
    that can't be read.

    """
}

/// JSON as what predicates are asked of.
private enum JSONValue {
  /// What stands in the place of an option's value: itself, or the text of a file.
  static func text(_ option: String) throws -> String {
    guard option.hasPrefix("@") else { return option }
    let path = String(option.dropFirst())
    do {
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    } catch {
      throw InputError("\(path) can't be read: \((error as NSError).localizedDescription)", 66)
    }
  }

  static func read(_ text: String, _ option: String) throws -> Any? {
    do {
      return value(try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
    } catch {
      let reason = (error as NSError).userInfo["NSDebugDescription"] as? String ?? "\(error)"
      throw InputError("what \(option) gives is no JSON: \(reason)", 65)
    }
  }

  static func hasKeys(_ value: Any?) -> Bool { value is [String: Any] || value is [String: Any?] }

  private static func value(_ json: Any) -> Any? {
    switch json {
    case is NSNull: nil
    case let object as [String: Any]: object.compactMapValues { value($0) }
    case let list as [Any]: list.map { value($0) }
    default: json
    }
  }
}

/// What is printed.
private struct Report {
  private let predicate: NSPredicate
  private let result: Bool?

  init(_ predicate: NSPredicate, result: Bool?) {
    self.predicate = predicate
    self.result = result
  }

  var text: String {
    let tree = PredicateOutline(predicate.tree).text
    let answer = result.map { "\nresult: \($0)\n" } ?? ""
    return "canonical: \(predicate.canonicalFormat)\n\n\(tree)\(answer)"
  }

  var json: String {
    struct Line: Encodable {
      let canonical: String
      let result: Bool?
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = Line(canonical: predicate.canonicalFormat, result: result)
    guard let data = try? encoder.encode(line) else { fatalError("a text and a truth value can be encoded") }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
