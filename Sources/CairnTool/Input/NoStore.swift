// What commands that want a store, or a log, say of what is none.

import Cairn

enum NoStore {
  /// What tables at a path are, and what there is for them.
  private struct Tables {
    let what: String
    let remedy: String
    let conversion: String
  }

  /// nil where no tables are at the path: there is nothing, a store, or something else.
  private static func tables(_ path: String) -> Tables? {
    let file = URL(fileURLWithPath: path)
    var isFolder: ObjCBool = false
    guard !ArchivePath.isStore(path), FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    else { return nil }
    if isFolder.boolValue {
      guard let tables = try? StoreConversion.tables(of: path), !tables.isEmpty else { return nil }
      return Tables(
        what: "a folder of CSV or JSON files", remedy: "cairn fetch reads the files",
        conversion: "cairn convert makes a store of the folder")
    }
    let plain = file.pathExtension.lowercased() == "gz" ? file.deletingPathExtension() : file
    let kind = plain.pathExtension.lowercased()
    guard ["csv", "tsv", "json"].contains(kind) else { return nil }
    return Tables(
      what: "a \(kind.uppercased()) file", remedy: "cairn fetch reads it",
      conversion: "cairn pack makes an archive of it")
  }

  /// Throws `InputError` that says what to use for tables, where a command wants a store.
  static func refuseTables(at path: String) throws {
    guard let tables = tables(path) else { return }
    throw InputError("\(path) is \(tables.what), and no store: \(tables.remedy), and \(tables.conversion)")
  }

  /// What `cairn log` says: what is at the path instead, and what to use for that. Throws what reading it throws where
  /// it isn't there, or can't be told from a damaged log.
  static func noLog(at path: String) throws -> InputError {
    let only = "only a log keeps transactions"
    if ArchivePath.isArchive(path) {
      return InputError(
        "\(path) is an archive, which has the newest state and no transactions: \(only). cairn info shows what is in "
          + "it, and cairn convert makes a log of it, which keeps those from then on")
    }
    if let tables = tables(path) {
      return InputError(
        "\(path) is \(tables.what), which has no transactions: \(only). \(tables.remedy), and \(tables.conversion)"
      )
    }
    _ = try LogFiles.metadata(at: ArchivePath.full(path))
    return InputError("\(path) is no log store")
  }
}
