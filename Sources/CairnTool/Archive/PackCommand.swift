// `cairn pack`: tables, or another archive, as an archive.

import Cairn

struct PackCommand: Equatable {
  var input: InputWords
  /// The archive that is made.
  let target: String
  let profile: ArchiveStore.Profile

  init(_ input: InputWords, into target: String, _ profile: ArchiveStore.Profile) {
    (self.input, self.target, self.profile) = (input, target, profile)
  }

  init(_ words: CommandWords) throws {
    var input = InputWords()
    input.inputs = Array(words.paths.dropLast())
    input.model = words.value("--model")
    input.modelVersion = words.value("--version")
    input.nullMark = words.value("--null") ?? ""
    for pair in words.value("--rename")?.split(separator: ",") ?? [] {
      let sides = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
        throw words.wrong("--rename wants OLD=NEW, not \(pair)")
      }
      input.renamed[sides[0]] = sides[1]
    }
    if input.modelVersion != nil, input.model == nil { throw words.wrong("--version is that of a --model") }
    self.init(input, into: words.paths.last ?? "", try words.profile())
  }

  /// Throws `InputError`, `ModelFileError` and `StoreError`; there is no archive then.
  func run(_ console: Console) throws {
    try OutputKind.require(
      .archive, at: target, by: "cairn pack",
      instead: "the last path is the archive, as in \(PackCommand.name(for: target))")
    try ArchivePath.requireNothing(at: target)
    let line = ProgressLine()
    defer { line.clear() }
    let input = try InputStore(input) { line.show($0) }
    for warning in input.warnings {
      line.clear()
      Console.printError("cairn: warning: \(warning)\n")
    }
    let model = try input.archiveModel
    let path = ArchivePath.full(target)
    try ArchivePath.writing(target, reading: self.input.inputs) {
      try ArchiveFiles.pack(input.store, into: path, model: model, profile: profile) { done, total in
        line.show("packing", done, of: total)
      }
    }
    line.clear()
    let summary = try ArchiveSummary(ofArchiveAt: path)
    let rows = summary.tables.filter(\.isEntity).reduce(0) { $0 + $1.rows }
    let comparison = try comparison(summary.fileBytes)
    try console.write(
      "\(target): \(Console.grouped(rows)) rows in \(Console.grouped(Int(summary.fileBytes))) bytes\(comparison)\n"
    )
  }

  /// The path with the suffix of an archive.
  private static func name(for path: String) -> String {
    URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent + ".cairn"
  }

  /// With the size of the inputs: of files their own, and of a log what its newest state takes, without room that
  /// it keeps ready and without history. Nothing for what has no size, as a pipe.
  private func comparison(_ size: UInt64) throws -> String {
    var total: UInt64 = 0
    var isLog = false
    for word in input.inputs {
      let path =
        FileManager.default.fileExists(atPath: word) ? word : String(word.drop { $0 != "=" }.dropFirst())
      isLog = LogFiles.isLog(at: ArchivePath.full(path))
      let bytes =
        isLog
        ? try LogSummary(ofLogAt: ArchivePath.full(path)).liveByteCount
        : (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? UInt64
      guard let bytes, bytes > 0 else { return "" }
      total += bytes
    }
    let of = "\(Console.grouped(Int(total))) \(isLog ? "live bytes of the log" : "bytes of input")"
    // Of a few lines an archive is many times as long, which no percentage says well.
    return size > total
      ? ", from \(of)" : String(format: ", %.1f %% of ", 100 * Double(size) / Double(total)) + of
  }
}

extension InputStore {
  /// The model as an archive keeps it.
  var archiveModel: ArchiveStore.Model {
    get throws {
      let model = container.managedObjectModel
      var result = ArchiveStore.Model(schema: schema)
      result.source = String(decoding: try model.document.contents(), as: UTF8.self)
      result.versionHashes = model.entityVersionHashesByName
      result.versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
      return result
    }
  }
}
