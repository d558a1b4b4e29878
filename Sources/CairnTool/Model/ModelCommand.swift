// `cairn model`: its command line, and which part of it does what.

import Cairn

/// What `cairn model` was asked for. Parsing has no effects.
struct ModelCommand: Equatable {
  enum Verb: Equatable {
    case show(Style)
    case check
    case diff(to: String)
    case convert(to: String)
  }

  enum Style: Equatable { case text, json, diagram }

  let verb: Verb
  let path: String
  /// Of the package at `path`; nil is the current one.
  let version: String?
  /// Of the other package of a diff.
  let otherVersion: String?

  /// nil asks for help.
  init?(parsing words: ArraySlice<String>) throws {
    var words = words
    guard let name = words.popFirst() else { throw ModelCommand.wrong("what should it do with a model?") }
    if ["--help", "-h", "help"].contains(name) { return nil }
    guard ["show", "check", "diff", "convert"].contains(name) else {
      throw ModelCommand.wrong("cairn model has no command \"\(name)\"")
    }
    var (paths, versions): ([String], [String]) = ([], [])
    var style = Style.text
    while let word = words.popFirst() {
      switch word {
      case "--help", "-h": return nil
      case "--json" where name == "show": style = .json
      case "--diagram" where name == "show": style = .diagram
      case "--version":
        guard let version = words.popFirst() else { throw ModelCommand.wrong("--version wants a name") }
        versions.append(version)
      case _ where word.hasPrefix("--version="): versions.append(String(word.dropFirst("--version=".count)))
      case _ where word.hasPrefix("-"): throw ModelCommand.wrong("cairn model \(name) has no option \(word)")
      default: paths.append(word)
      }
    }
    let pathCount = ["diff", "convert"].contains(name) ? 2 : 1
    guard paths.count == pathCount else {
      throw ModelCommand.wrong("cairn model \(name) wants \(pathCount == 1 ? "one path" : "two paths")")
    }
    guard versions.count <= (name == "diff" ? 2 : 1) else { throw ModelCommand.wrong("--version comes once") }
    path = paths[0]
    version = versions.first
    otherVersion = versions.dropFirst().first
    switch name {
    case "show": verb = .show(style)
    case "check": verb = .check
    case "diff": verb = .diff(to: paths[1])
    default: verb = .convert(to: paths[1])
    }
  }

  private static func wrong(_ message: String) -> UsageError { UsageError(message, help: help) }

  /// The tool's exit code: 0, or 65 for a model with errors.
  func run(_ console: Console) throws -> Int32 {
    switch verb {
    case .show(let style):
      let document = try ModelCommand.document(at: path, version)
      switch style {
      case .text: try console.write(ModelSummary(document).text)
      case .json: try console.write(ModelJSON.text(of: document))
      case .diagram: try console.write(ModelDiagram.text(of: document))
      }
    case .check: return try check(ModelCommand.document(at: path, version), console)
    case .diff(let other):
      let old = try ModelCommand.document(at: path, version)
      let new = try ModelCommand.document(at: other, otherVersion)
      try console.write(ModelComparison(old: old, new: new).text)
    case .convert(let target):
      return try convert(URL(fileURLWithPath: path), to: URL(fileURLWithPath: target))
    }
    return 0
  }

  /// Of a model's file, or of an archive or a log, which have one in them.
  private static func document(at path: String, _ version: String?) throws -> ModelDocument {
    guard ArchivePath.isStore(path) else {
      return try ModelFile.read(at: URL(fileURLWithPath: path), version: version)
    }
    if version != nil {
      throw InputError("\(path) is a store, and has one version of its model: leave --version out")
    }
    do {
      return try InputStore.document(inStoreAt: path)
    } catch let error as StoreError {
      throw InputError("\(error)", error.code == .fileSystem ? 66 : 65)
    }
  }

  private func check(_ document: ModelDocument, _ console: Console) throws -> Int32 {
    let notes = document.check()
    for note in notes { try console.write(note.description + "\n") }
    let errors = notes.count { $0.severity == .error }
    let warnings = notes.count - errors
    try console.write(
      "\(errors) error\(errors == 1 ? "" : "s"), \(warnings) warning\(warnings == 1 ? "" : "s")\n")
    return errors == 0 ? 0 : 65
  }

  /// Between packages all versions go over, unless one was named.
  /// A model with errors has no compiled form: 65, and nothing is written.
  private func convert(_ source: URL, to target: URL) throws -> Int32 {
    let isPackage = ["xcdatamodeld", "momd"].contains(target.pathExtension.lowercased())
    let versions = ArchivePath.isStore(path) ? [] : try ModelFile.versions(at: source)
    let form: ModelFileForm =
      ["momd", "mom"].contains(target.pathExtension.lowercased()) ? .compiled : .source
    var documents: [(name: String, document: ModelDocument)]
    if version == nil, isPackage, !versions.isEmpty {
      documents = try versions.map { ($0.name, try $0.document()) }
    } else {
      let name = version ?? versions.first { $0.isCurrent }?.name ?? ""
      let own = source.deletingPathExtension().lastPathComponent
      documents = [(name.isEmpty ? own : name, try ModelCommand.document(at: path, version))]
    }
    if form == .compiled {
      let errors = documents.flatMap { name, document in
        document.check().filter { $0.severity == .error }.map { "cairn: \(name): \($0)\n" }
      }
      if !errors.isEmpty {
        Console.printError(errors.joined())
        Console.printError(
          "cairn: \(source.path): a model with errors can't be compiled, and nothing was written\n")
        return 65
      }
    }
    for (name, document) in documents {
      for note in document.notes + document.reduced(to: form).losses {
        let text =
          note.severity == .error ? note.description : "warning: not kept: \(note.description.dropFirst(9))"
        Console.printError("cairn: \(name): \(text)\n")
      }
    }
    if isPackage {
      let current = version ?? versions.first { $0.isCurrent }?.name ?? documents[0].name
      try ModelFile.write(documents, current: current, to: target)
    } else {
      try ModelFile.write(documents[0].document, to: target)
    }
    return 0
  }

  static let help = """
    Shows, checks, compares and converts Core Data's model files.

    usage: cairn model show FILE [--version NAME] [--json | --diagram]
           cairn model check FILE [--version NAME]
           cairn model diff OLD NEW [--version NAME [--version NAME]]
           cairn model convert IN OUT [--version NAME]

    FILE is an .xcdatamodeld, an .xcdatamodel, its contents, a .momd or a .mom; or an archive or a log, which has
    its model in it.

      show      entities with their properties and version hashes;
                --json for programs, --diagram as a Mermaid class diagram
      check     what Core Data refuses (error) and what is probably not meant (warning);
                exits with 65 if there are errors
      diff      what was added, removed, renamed and changed, and which version hashes differ;
                two names of versions are for OLD and NEW
      convert   writes OUT, in the form that its extension says, from IN; nothing is overwritten, and a model
                with errors isn't compiled

      --version the version of a package; without it, the current one (for convert between packages, all)

    """
}

extension ModelFileError {
  /// The exit code of sysexits.h for it.
  var exitCode: Int32 {
    switch code {
    case .unreadable: 66
    case .unwritable: 73
    default: 65
    }
  }
}
