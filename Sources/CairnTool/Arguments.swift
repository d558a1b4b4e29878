// The tool's command line: what may be written, and what it means. Parsing has no effects.

/// What the tool was called for.
struct Arguments: Equatable {
  enum Action: Equatable {
    case print(String)
    case tour(ColorChoice)
    case model(ModelCommand)
    case predicate(PredicateCommand)
    case fetch(FetchCommand)
    case archive(ArchiveCommand)
    case log(LogCommand)
  }

  let action: Action

  /// Throws `UsageError` for anything that the help doesn't mention.
  init(parsing words: some Sequence<String>) throws {
    var words = Array(words)[...]
    switch words.popFirst() {
    case nil: throw UsageError("what should it do?", help: Help.tool)
    case "--help", "-h": action = try Arguments.text(Help.tool, words)
    case "help": action = try Arguments.help(words)
    case "--version": action = try Arguments.text("cairn \(Help.version)\n", words)
    case "tour": action = try Arguments.tour(words)
    case "model": action = try ModelCommand(parsing: words).map { .model($0) } ?? .print(ModelCommand.help)
    case "predicate":
      action = try PredicateCommand(parsing: words).map { .predicate($0) } ?? .print(PredicateCommand.help)
    case "fetch": action = try FetchCommand(parsing: words).map { .fetch($0) } ?? .print(FetchCommand.help)
    case "log": action = try LogCommand(parsing: words).map { .log($0) } ?? .print(LogCommand.help)
    case let word? where ArchiveCommand.names.contains(word):
      action =
        try ArchiveCommand(word, parsing: words).map { .archive($0) } ?? .print(ArchiveHelp.text(word))
    case let word? where word.hasPrefix("-"): throw UsageError("there is no option \(word)", help: Help.tool)
    case let word?: throw UsageError("there is no command \"\(word)\"", help: Help.tool)
    }
  }

  private static func text(_ text: String, _ rest: ArraySlice<String>) throws -> Action {
    if let extra = rest.first { throw UsageError("\"\(extra)\" is one word too many", help: Help.tool) }
    return .print(text)
  }

  /// `cairn help COMMAND` is `cairn COMMAND --help`.
  private static func help(_ words: ArraySlice<String>) throws -> Action {
    guard let command = words.first, words.count == 1 else { return try text(Help.tool, words.dropFirst()) }
    switch command {
    case "tour": return .print(Help.tour)
    case "model": return .print(ModelCommand.help)
    case "predicate": return .print(PredicateCommand.help)
    case "fetch": return .print(FetchCommand.help)
    case "log": return .print(LogCommand.help)
    case _ where ArchiveCommand.names.contains(command): return .print(ArchiveHelp.text(command))
    default: throw UsageError("there is no command \"\(command)\"", help: Help.tool)
    }
  }

  private static func tour(_ words: ArraySlice<String>) throws -> Action {
    var words = words
    var color = ColorChoice.auto
    while let word = words.popFirst() {
      switch word {
      case "--help", "-h": return .print(Help.tour)
      case "--color": color = try choice(words.popFirst())
      case _ where word.hasPrefix("--color="): color = try choice(String(word.dropFirst("--color=".count)))
      default: throw UsageError("the tour doesn't know \(word)", help: Help.tour)
      }
    }
    return .tour(color)
  }

  private static func choice(_ word: String?) throws -> ColorChoice {
    guard let choice = word.flatMap(ColorChoice.init) else {
      throw UsageError("--color is always, never or auto", help: Help.tour)
    }
    return choice
  }
}

/// When output has colours.
enum ColorChoice: String {
  case always, never
  /// When it goes to a terminal, and NO_COLOR isn't set.
  case auto
}

/// A command line that makes no sense.
struct UsageError: Error {
  let message: String
  let help: String

  init(_ message: String, help: String) {
    self.message = message
    self.help = help
  }

  /// Two lines: the command's usage, cut where it goes on, and where all of it is.
  var usage: String {
    if help == Help.tool {
      return "usage: cairn \(Help.commands.joined(separator: "|")) …\nsee cairn --help\n"
    }
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("usage: ") }.prefix { !$0.isEmpty }
      .map { $0.trimmingPrefix("usage: ").trimmingPrefix(while: \.isWhitespace) }
    func words(_ count: Int, of line: Substring) -> [Substring] {
      Array(line.split(separator: " ").prefix(count))
    }
    guard let first = lines.first else { fatalError("a help without a usage") }
    let see = "see \(words(2, of: first).joined(separator: " ")) --help\n"
    let alternatives = lines.filter { $0.hasPrefix("cairn ") }
    if alternatives.count == 1 { return "usage: \(first)\(lines.count > 1 ? " …" : "")\n\(see)" }
    let verbs = alternatives.map { words(3, of: $0)[2] }.joined(separator: "|")
    return "usage: \(words(2, of: first).joined(separator: " ")) \(verbs) …\n\(see)"
  }
}

/// What the tool says about itself.
enum Help {
  static let version = "0.1.0"

  static let commands = [
    "tour", "model", "predicate", "fetch", "pack", "info", "log", "export", "convert", "verify", "salvage",
    "compact",
  ]

  static let tool = """
    Core Data for Linux: the command-line tool.

    usage: cairn tour [--color always|never|auto]
           cairn model show|check|diff|convert FILE …
           cairn predicate 'FORMAT' [--on JSON] …
           cairn fetch INPUT… [--model FILE] [--entity NAME] [--predicate FORMAT] …
           cairn pack INPUT… OUT [--model FILE] [--profile fastest|default|smallest] …
           cairn info|verify|compact STORE …
           cairn log STORE [--follow] …
           cairn export STORE [--entity NAME] [--format csv|json] [--to DIR]
           cairn salvage STORE NEW …
           cairn convert IN OUT …
           cairn --help | --version

    commands:
      tour        opens an archive of 336,776 flights and shows what Cairn does with it
      model       shows, checks, compares and converts Core Data's model files
      predicate   parses a predicate, shows its tree, and asks it of an object
      fetch       fetches, sorts, groups and explains over CSV and JSON files, or a store
      pack        makes an archive of CSV and JSON files, or of another archive
      info        shows an archive's entities and what each column takes, or a log's files
      log         shows the transactions of a log: when, who, how many rows
      export      writes a store's rows as CSV or JSON
      convert     makes an archive of a folder of tables or a log, and the other way round
      verify      reads all of a store and says what is wrong with it
      salvage     saves what is readable of a damaged store
      compact     writes a store anew, without what earlier saves left in it

    `cairn COMMAND --help` says more.

    """

  static let tour = """
    Opens an archive of the flights that left New York in 2013, and shows, with the Swift line for each
    step and the time it takes: fetches across relationships, a sorted page, figures by group, an edit
    that another context sees, a snapshot that goes on seeing the old state, and a live list in sections.

    usage: cairn tour [--color always|never|auto]

      --color   colours: auto (the default) has them on a terminal only

    It works on a copy in the directory for temporary files, which it removes, and takes a second or two.

    """
}
