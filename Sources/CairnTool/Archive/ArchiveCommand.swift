// The commands about archives: their command lines, and which file does what.

import Cairn

/// What one of the commands about archives was asked for. Parsing has no effects.
enum ArchiveCommand: Equatable {
  case info(path: String, isJSON: Bool)
  case verify(path: String)
  case salvage(path: String, to: String, model: String?, ArchiveStore.Profile)
  case compact(path: String, ArchiveStore.Profile)
  case pack(PackCommand)
  case export(ExportCommand)
  case convert(from: String, to: String, as: OutputKind?, ExportCommand.Format, ArchiveStore.Profile)

  static let names = ["info", "verify", "salvage", "compact", "pack", "export", "convert"]

  /// nil asks for help. `name` is one of `names`.
  init?(_ name: String, parsing words: ArraySlice<String>) throws {
    let help = ArchiveHelp.text(name)
    func parsed(_ values: Set<String> = [], flags: Set<String> = [], paths: ClosedRange<Int>) throws
      -> CommandWords?
    {
      guard let words = try CommandWords(words, of: name, values: values, flags: flags, help: help) else {
        return nil
      }
      if words.paths.count < paths.lowerBound {
        throw words.wrong("cairn \(name) wants \(ArchiveHelp.paths(name))")
      }
      if words.paths.count > paths.upperBound {
        throw words.wrong("\"\(words.paths[paths.upperBound])\" is one word too many")
      }
      return words
    }
    switch name {
    case "info":
      guard let words = try parsed(flags: ["--json"], paths: 1...1) else { return nil }
      self = .info(path: words.paths[0], isJSON: words.has("--json"))
    case "verify":
      guard let words = try parsed(paths: 1...1) else { return nil }
      self = .verify(path: words.paths[0])
    case "salvage":
      guard let words = try parsed(["--model", "--profile"], paths: 2...2) else { return nil }
      self = .salvage(
        path: words.paths[0], to: words.paths[1], model: words.value("--model"), try words.profile())
    case "compact":
      guard let words = try parsed(["--profile"], paths: 1...1) else { return nil }
      self = .compact(path: words.paths[0], try words.profile())
    case "pack":
      let options: Set = ["--model", "--version", "--profile", "--null", "--rename"]
      guard let words = try parsed(options, paths: 2...Int.max) else { return nil }
      self = .pack(try PackCommand(words))
    case "export":
      guard let words = try parsed(["--entity", "--format", "--to", "--at"], paths: 1...1) else { return nil }
      self = .export(
        ExportCommand(
          path: words.paths[0], entity: words.value("--entity"),
          format: try words.choice("--format", ExportCommand.Format.self) ?? .csv,
          folder: words.value("--to"), generation: try words.number("--at", from: 0)))
    default:
      guard let words = try parsed(["--as", "--format", "--profile"], paths: 2...2) else { return nil }
      self = .convert(
        from: words.paths[0], to: words.paths[1], as: try words.choice("--as", OutputKind.self),
        try words.choice("--format", ExportCommand.Format.self) ?? .csv, try words.profile())
    }
  }

  /// The tool's exit code: 0; 2 where something is lost; 65 for damage and for input that makes no sense; 66 for what
  /// can't be read; 73 for what can't be written.
  func run(_ console: Console) throws -> Int32 {
    do {
      if let store { try NoStore.refuseTables(at: store) }
      switch self {
      case .info(let path, let isJSON):
        if LogFiles.isLog(at: ArchivePath.full(path)) {
          let summary = try LogSummary(ofLogAt: ArchivePath.full(path))
          try console.write(isJSON ? LogListing.json(summary) : LogListing.text(summary, path, console))
        } else {
          let summary = try ArchiveSummary(ofArchiveAt: ArchivePath.full(path))
          try console.write(
            isJSON ? ArchiveListing.json(summary) : ArchiveListing.text(summary, path, console))
        }
        return 0
      case .verify(let path): return try ArchiveRepairs.verify(path, console)
      case .salvage(let path, let target, let model, let profile):
        return try ArchiveRepairs.salvage(path, target, model, profile, console)
      case .compact(let path, let profile): return try ArchiveRepairs.compact(path, profile, console)
      case .pack(let command): try command.run(console)
      case .export(let command): try command.run(console)
      case .convert(let source, let target, let kind, let format, let profile):
        try StoreConversion(from: source, to: target, as: kind, format, profile).run(console)
      }
      return 0
    } catch let error as InputError {
      if error.exitCode == 64 { throw UsageError(error.description, help: help) }
      Console.printError("cairn: \(error)\n")
      return error.exitCode
    } catch let error as StoreError {
      Console.printError("cairn: \(error)\n")
      return error.code == .fileSystem ? 66 : 65
    } catch let error as SchemaError {
      Console.printError("cairn: \(error)\n")
      return 65
    }
  }

  /// The path that has to be that of a store. Of what verify looks at it says itself what is wrong, but for folders.
  private var store: String? {
    switch self {
    case .info(let path, _), .salvage(let path, _, _, _), .compact(let path, _): return path
    case .export(let command): return command.path
    case .verify(let path):
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
        ? path : nil
    case .pack, .convert: return nil
    }
  }

  private var help: String {
    switch self {
    case .info: ArchiveHelp.text("info")
    case .verify: ArchiveHelp.text("verify")
    case .salvage: ArchiveHelp.text("salvage")
    case .compact: ArchiveHelp.text("compact")
    case .pack: ArchiveHelp.text("pack")
    case .export: ArchiveHelp.text("export")
    case .convert: ArchiveHelp.text("convert")
    }
  }
}

extension CommandWords {
  func profile() throws -> ArchiveStore.Profile {
    try choice("--profile", ArchiveStore.Profile.self) ?? .default
  }
}

/// Paths as the stores take them, and files that mustn't be there yet.
enum ArchivePath {
  static func full(_ path: String) -> String { URL(fileURLWithPath: path).path }

  /// Whether a file begins as an archive does. Nothing but a regular file is opened for that: a pipe can be read once.
  static func isArchive(_ path: String) -> Bool {
    if path == "-" { return false }
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let type = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.type] as? FileAttributeType
    return type == .typeRegular && ArchiveFiles.isArchive(url.path)
  }

  /// Whether an archive or a log store is at `path`.
  static func isStore(_ path: String) -> Bool {
    isArchive(path) || path != "-" && LogFiles.isLog(at: full(path))
  }

  /// Throws `InputError` 73 where something is there.
  static func requireNothing(at path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
      throw InputError("\(path) is there already: name a file that isn't, or remove it", 73)
    }
  }

  /// What `body` returns; where the system refuses to write the file, `InputError` 73. `inputs` are what it reads.
  static func writing<T>(_ path: String, reading inputs: [String], _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as StoreError where error.code == .fileSystem {
      if let file = error.file, inputs.map(full).contains(file) { throw error }
      throw InputError("\(path) can't be written: \(error)", 73)
    }
  }
}
