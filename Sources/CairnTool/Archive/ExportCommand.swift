// `cairn export`: which tables of a store are written, and where to.

import Cairn

struct ExportCommand: Equatable {
  enum Format: String, Equatable, CaseIterable { case csv, json }

  let path: String
  let entity: String?
  let format: Format
  /// For one file an entity; nil is standard output.
  let folder: String?
  /// The commit after which a log's rows are shown; nil for the newest.
  var generation: Int64?

  /// Throws `InputError`, `ModelFileError` and `StoreError`.
  func run(_ console: Console) throws {
    guard ArchivePath.isStore(path) else {
      // Says why: that it isn't there, or what it is instead.
      _ = try ArchiveFiles.metadata(at: ArchivePath.full(path))
      throw InputError("\(path) is neither an archive nor a log store")
    }
    if let folder {
      try OutputKind.require(
        .folder, at: folder, by: "cairn export --to",
        instead: "leave the suffix out; one entity's rows go to standard output without --to")
      try ArchivePath.requireNothing(at: folder)
    }
    let input = try InputStore(store: path, at: generation)
    let export = try TableExport(input.store, format)
    let tables = try entity.map { [try table(named: $0, export, input)] } ?? export.tables
    if folder == nil, format == .csv, tables.count != 1 {
      throw InputError(
        "which rows? --entity is one of \(ExportCommand.list(export)), or --to names a folder for all", 64)
    }
    if let folder {
      try write(tables, export, input, to: folder)
    } else if format == .json, entity == nil, tables.count > 1 {
      try writeAll(tables, export, console)
    } else {
      for table in tables { try export.write(table, console.write) }
    }
    for warning in export.warnings(of: tables) { Console.printError("cairn: warning: \(warning)\n") }
  }

  private static func list(_ export: TableExport) -> String {
    export.tables.map(\.name).sorted().joined(separator: ", ")
  }

  /// Of an entity or a relationship.
  private func table(named name: String, _ export: TableExport, _ input: InputStore) throws
    -> TableExport.Table
  {
    if let table = export.tables.first(where: { $0.name == name }) { return table }
    if name.contains(".") {
      throw InputError("there is no table \"\(name)\": there are \(ExportCommand.list(export))")
    }
    return .rows(try input.entity(named: name))
  }

  /// One object with an array for each entity.
  private func writeAll(_ tables: [TableExport.Table], _ export: TableExport, _ console: Console) throws {
    for (number, table) in tables.enumerated() {
      try console.write((number == 0 ? "{\n" : ",\n") + Cell.quoted(table.name) + ": ")
      try export.write(table) { text in
        // An array's last line ends with a comma here.
        try console.write(text.hasSuffix("]\n") ? String(text.dropLast()) : text)
      }
    }
    try console.write("\n}\n")
  }

  private func write(
    _ tables: [TableExport.Table], _ export: TableExport, _ input: InputStore, to folder: String
  ) throws {
    let url = URL(fileURLWithPath: folder)
    let line = ProgressLine()
    defer { line.clear() }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try ModelFile.write(
        input.container.managedObjectModel.document, to: url.appendingPathComponent("Model.xcdatamodel"))
      for table in tables {
        line.show("writing \(table.name)")
        let file = url.appendingPathComponent("\(table.name).\(format.rawValue)")
        try Data().write(to: file, options: .withoutOverwriting)
        let handle = try FileHandle(forWritingTo: file)
        try export.write(table) { try handle.write(contentsOf: Data($0.utf8)) }
        try handle.close()
      }
    } catch let error as CocoaError {
      throw InputError("\(folder) can't be written: \(error.localizedDescription)", 73)
    }
  }
}
