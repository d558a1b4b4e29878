// `cairn fetch`: its command line.

import Cairn

/// What `cairn fetch` was asked for. Parsing has no effects.
struct FetchCommand: Equatable {
  enum Format: String, Equatable { case table, json, csv }

  /// Paths, `-` for standard input, each with `ENTITY=` before it where it was said.
  var inputs: [String] = []
  var model: String?
  var modelVersion: String?
  var entity: String?
  var predicate: String?
  var sort: [String] = []
  var limit: Int?
  var offset = 0
  var properties: [String] = []
  var groupBy: [String] = []
  var having: String?
  var aggregates: [String] = []
  var isDistinct = false
  var format = Format.table
  var explains = false
  /// A word that stands for no value in the input.
  var nullMark = ""
  /// Titles of columns by those in the input.
  var renamed: [String: String] = [:]
  /// The commit after which a log store is shown; nil for the newest.
  var generation: Int64?

  /// nil asks for help.
  init?(parsing words: ArraySlice<String>) throws {
    var words = words
    var seen: Set<String> = []
    while let word = words.popFirst() {
      if ["--help", "-h"].contains(word) || word == "help" && inputs.isEmpty { return nil }
      guard word.hasPrefix("--") else {
        if word.hasPrefix("-"), word != "-" { throw FetchCommand.unknown(word) }
        inputs.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      guard seen.insert(name).inserted else { throw FetchCommand.wrong("\(name) comes once") }
      if ["--distinct", "--explain"].contains(name) {
        if parts.count > 1 { throw FetchCommand.wrong("\(name) takes no value") }
        if name == "--distinct" { isDistinct = true } else { explains = true }
        continue
      }
      guard FetchCommand.optionsWithValue.contains(name) else { throw FetchCommand.unknown(name) }
      guard let value = parts.count > 1 ? parts[1] : words.popFirst() else {
        throw FetchCommand.wrong("\(name) wants a value")
      }
      try set(name, value)
    }
    try check()
  }

  private static let optionsWithValue: Set = [
    "--model", "--version", "--entity", "--predicate", "--sort", "--limit", "--offset", "--properties",
    "--group-by",
    "--having", "--aggregate", "--format", "--null", "--rename", "--at",
  ]

  private mutating func set(_ name: String, _ value: String) throws {
    switch name {
    case "--model": model = value
    case "--version": modelVersion = value
    case "--entity": entity = value
    case "--predicate": predicate = value
    case "--sort": sort = try FetchCommand.list(value, name)
    case "--limit": limit = try FetchCommand.number(value, name)
    case "--offset": offset = try FetchCommand.number(value, name)
    case "--properties": properties = try FetchCommand.list(value, name)
    case "--group-by": groupBy = try FetchCommand.list(value, name)
    case "--having": having = value
    case "--aggregate": aggregates = try FetchCommand.list(value, name)
    case "--null": nullMark = value
    case "--at": generation = Int64(try FetchCommand.number(value, name))
    case "--rename":
      for pair in try FetchCommand.list(value, name) {
        let sides = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
          throw FetchCommand.wrong("--rename wants OLD=NEW, not \(pair)")
        }
        renamed[sides[0]] = sides[1]
      }
    default:
      guard let format = Format(rawValue: value) else {
        throw FetchCommand.wrong("--format is table, json or csv")
      }
      self.format = format
    }
  }

  private func check() throws {
    if inputs.isEmpty {
      throw FetchCommand.wrong("of which input? name a CSV or JSON file, or - for standard input")
    }
    if inputs.count(where: { $0 == "-" || $0.hasSuffix("=-") }) > 1 {
      throw FetchCommand.wrong("there is one standard input")
    }
    if having != nil, groupBy.isEmpty { throw FetchCommand.wrong("--having needs --group-by") }
    if !groupBy.isEmpty || !aggregates.isEmpty, !properties.isEmpty {
      throw FetchCommand.wrong("--properties are of rows: groups have --group-by and --aggregate")
    }
    if modelVersion != nil, model == nil { throw FetchCommand.wrong("--version is that of a --model") }
    if explains, format == .csv { throw FetchCommand.wrong("--explain has the formats table and json") }
    if limit == 0 { throw FetchCommand.wrong("--limit wants a number from 1 on") }
  }

  /// The parts between commas that stand in no parentheses and no quotes.
  private static func list(_ text: String, _ option: String) throws -> [String] {
    var parts = [""]
    var depth = 0
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "(" || character == "{" {
        depth += 1
      } else if character == ")" || character == "}" {
        depth -= 1
      } else if character == ",", depth == 0 {
        parts.append("")
        continue
      }
      parts[parts.count - 1].append(character)
    }
    let trimmed = parts.map { $0.trimmingCharacters(in: .whitespaces) }
    if trimmed.contains("") { throw wrong("\(option) has an empty part in \"\(text)\"") }
    return trimmed
  }

  private static func number(_ text: String, _ option: String) throws -> Int {
    guard let number = Int(text), number >= 0 else { throw wrong("\(option) wants a number, not \(text)") }
    return number
  }

  private static func unknown(_ option: String) -> UsageError { wrong("cairn fetch has no option \(option)") }

  private static func wrong(_ message: String) -> UsageError { UsageError(message, help: help) }
}

extension FetchCommand {
  static let help = """
    Fetches from CSV or JSON files, or a store, as a program fetches from a store, and prints what it finds.

    usage: cairn fetch INPUT… [--model FILE [--version NAME]] [--entity NAME] [--predicate FORMAT]
                       [--sort KEY,-KEY] [--limit N] [--offset N] [--properties LIST] [--distinct]
                       [--group-by LIST [--having FORMAT]] [--aggregate LIST]
                       [--format table|json|csv] [--explain] [--null WORD] [--rename OLD=NEW,…]
                       [--at COMMIT]

    INPUT is a CSV file with a header line (.tsv: with tabs), a JSON file (an array of objects, or an object with
    one such array for each entity), either of them compressed with gzip or not, or - for standard input. Its
    entity is the one of its name (airlines.csv is Airline or airlines), or the one written before it, as in
    Airline=list.csv. Or it is one store, an archive or a log, which has its model in it; of an archive only what
    the request needs is read.

      --model       an .xcdatamodeld, .xcdatamodel, .momd or .mom, whose attributes the columns are of.
                    Titles may differ from names in case and underscores. A to-one relationship is a column like
                    airline.carrier: a value of the destination's attribute; what no input has is made. To-many
                    relationships are what cairn export writes: tables of pairs in CSV, arrays in JSON.
                    Without a model every input is an entity, whose attributes have the types that all of the
                    column's values have: whole numbers, numbers, truth values, dates, texts
      --version     the version of the model's package; the current one otherwise
      --entity      whose objects are fetched; needn't be said where there is one entity
      --predicate   as NSPredicate(format:) takes it
      --sort        keys or paths, the weightiest first; - before one is descending
      --properties  the columns, which may be paths over to-one relationships
      --aggregate   count, count(x), sum(x), min(x), max(x), average(x), median(x), mode(x), stddev(x),
                    count(distinct x), and arithmetic of them; each with a name as in "max(x) as most"
      --group-by    a row for each group; --having is a condition on groups, as in 'count > 100'
      --distinct    equal rows are printed once
      --format      table for people, json and csv for programs: exact values, as cairn help export tells of them
      --explain     prints how the request was run instead of what it found
      --null        a word that stands for no value in CSV, besides nothing between two commas; ≠ ""
      --at          of a log: the objects as they were after that commit, if history keeps it (cairn log)
      --rename      titles of columns, as in carrier=airline.carrier; flights.carrier=… is of one input only

    examples:
      cairn fetch flights.csv --null NA --predicate 'dep_delay > 60' --sort -dep_delay --limit 10
      cairn fetch flights.csv --null NA --group-by carrier --aggregate 'count, average(arr_delay) as late' \\
        --having 'count > 1000' --sort -late

    The exit status is 65 for input, a model or a predicate that makes no sense, and 66 for a file that can't be
    read. Validation rules of the model aren't asked; types, required values, uniqueness, and that nobody has the
    partner of another in a one-to-one relationship are. Derived attributes are computed, as cairn help pack says.

    """
}
