// `cairn log`: the transactions of a log store, oldest first.

import Cairn

/// What `cairn log` was asked for. Parsing has no effects.
struct LogCommand: Equatable {
  let path: String
  /// Transactions up to this one aren't shown.
  var after: Int64 = 0
  /// The newest ones only.
  var limit: Int?
  var follows = false
  var isJSON = false

  static let help = """
    Shows the transactions of a log store, the oldest first: when, by whom, and how many rows each one changed.

    usage: cairn log STORE [--after N] [--limit N] [--follow] [--json]

      --after    shows those after transaction N
      --limit    shows the newest N
      --follow   goes on with what is saved from now on, until it is interrupted
      --json     one object a line, with entities and properties, for programs

    Transactions before the last checkpoint are there only where the store keeps history; without it, and in a log
    that cairn convert or cairn compact has made, the objects are in a base archive, which the output names (in JSON
    by a line {"base": …, "keptAfter": …, "rows": …, "time": …} before the others). With the number of a transaction,
    cairn fetch --at N and cairn export --at N show the store as it was after it.

    The exit status is 65 for a store that is damaged or no log, and 66 for one that can't be read.

    """

  /// nil asks for help.
  init?(parsing words: ArraySlice<String>) throws {
    guard
      let words = try CommandWords(
        words, of: "log", values: ["--after", "--limit"], flags: ["--follow", "--json"], help: Self.help)
    else { return nil }
    guard words.paths.count == 1 else {
      throw words.wrong(
        words.paths.isEmpty
          ? "of which store? cairn log wants its path" : "\"\(words.paths[1])\" is one word too many")
    }
    path = words.paths[0]
    after = try words.number("--after", from: 0) ?? 0
    limit = try words.number("--limit", from: 1).map { Int($0) }
    follows = words.has("--follow")
    isJSON = words.has("--json")
  }

  /// The tool's exit code.
  func run(_ console: Console) throws -> Int32 {
    do {
      guard LogFiles.isLog(at: ArchivePath.full(path)) else { throw try NoStore.noLog(at: path) }
      let log = try LogTransactions(ofLogAt: ArchivePath.full(path), after: after)
      var entries: [LogTransactions.Entry] = []
      var isCut = false
      while let entry = try log.next() {
        entries.append(entry)
        if let limit, entries.count > limit {
          entries.removeFirst()
          isCut = true
        }
      }
      let base =
        !isCut && log.keptAfter > after
        ? try LogBase(ofLogAt: ArchivePath.full(path), keptAfter: log.keptAfter) : nil
      try show(entries, behind: base, of: log, console)
      while follows {
        Thread.sleep(forTimeInterval: 0.1)
        while let entry = try log.next() { try console.write(line(entry, log.schema)) }
      }
      return 0
    } catch let error as InputError {
      Console.printError("cairn: \(error)\n")
      return error.exitCode
    } catch let error as StoreError {
      Console.printError("cairn: \(error)\n")
      return error.code == .fileSystem ? 66 : 65
    }
  }

  private func show(
    _ entries: [LogTransactions.Entry], behind base: LogBase?, of log: LogTransactions, _ console: Console
  ) throws {
    if let base { try console.write(isJSON ? LogCommand.line(base) : base.text + "\n") }
    if isJSON || follows {
      for entry in entries { try console.write(line(entry, log.schema)) }
      return
    }
    if entries.isEmpty {
      let newest = try LogSummary(ofLogAt: ArchivePath.full(path)).generation
      let why =
        after > 0 && after >= newest
        ? " after \(after): the newest is \(newest)" : base == nil ? ": nothing has been saved yet" : ""
      return try console.write("0 transactions\(why)\n")
    }
    if base != nil { try console.write("\n") }
    var table = TextTable(["commit", "time", "author", "context", "inserted", "updated", "deleted", "bytes"])
    for entry in entries {
      table.add([
        ("\(entry.commit.generation.number)", true), (DateText.rounded(entry.commit.time), false),
        (entry.commit.author ?? "–", false), (entry.commit.contextName ?? "–", false),
        (Console.grouped(entry.insertedCount), true), (Console.grouped(entry.updatedCount), true),
        (Console.grouped(entry.deletedCount), true), (Console.grouped(entry.byteCount), true),
      ])
    }
    try console.write(table.text(width: console.terminalWidth))
  }

  private func line(_ entry: LogTransactions.Entry, _ schema: Schema) throws -> String {
    isJSON ? try json(entry, schema) : text(entry)
  }

  private func text(_ entry: LogTransactions.Entry) -> String {
    let who = [entry.commit.author, entry.commit.contextName].compactMap(\.self).joined(separator: ", ")
    return
      "\(entry.commit.generation.number)  \(DateText.rounded(entry.commit.time))  +\(entry.insertedCount) "
      + "~\(entry.updatedCount) -\(entry.deletedCount)\(who.isEmpty ? "" : "  \(who)")\n"
  }

  // MARK: JSON

  private struct Listing: Encodable {
    struct Rows: Encodable {
      let entity: String
      let count: Int
      let properties: [String]?
    }

    let commit: Int64
    let time: String
    let author: String?
    let context: String?
    let inserted: [Rows]
    let updated: [Rows]
    let deleted: [Rows]
    let file: String
    let offset: UInt64
    let bytes: Int
  }

  private func json(_ entry: LogTransactions.Entry, _ schema: Schema) throws -> String {
    func rows(_ all: [Commit.Rows]) -> [Listing.Rows] {
      all.map { rows in
        Listing.Rows(
          entity: schema[rows.entity].name, count: rows.runs.reduce(0) { $0 + $1.count },
          properties: rows.properties.isEmpty ? nil : rows.properties)
      }
    }
    let commit = entry.commit
    let listing = Listing(
      commit: commit.generation.number, time: DateText.rounded(commit.time), author: commit.author,
      context: commit.contextName, inserted: rows(commit.insertedRows), updated: rows(commit.updatedRows),
      deleted: rows(commit.deletedRows), file: entry.file, offset: entry.offset, bytes: entry.byteCount)
    return try LogCommand.line(listing)
  }

  private static func line(_ listing: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(listing), as: UTF8.self) + "\n"
  }
}

extension CommandWords {
  /// The whole number that an option says.
  func number(_ name: String, from least: Int64) throws -> Int64? {
    guard let word = value(name) else { return nil }
    guard let number = Int64(word), number >= least else {
      throw wrong("\(name) wants a number from \(least) on")
    }
    return number
  }
}
