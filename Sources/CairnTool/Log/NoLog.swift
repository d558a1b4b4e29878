// What `cairn log` says of what is no log.

import Cairn

enum NoLog {
  /// Says what is at the path instead, and what to use for that. Throws what reading it throws where it isn't there, or
  /// can't be told from a damaged log.
  static func error(_ path: String) throws -> InputError {
    let only = "only a log keeps transactions"
    if ArchivePath.isArchive(path) {
      return InputError(
        "\(path) is an archive, which has the newest state and no transactions: \(only). cairn info shows what is in "
          + "it, and cairn convert makes a log of it, which keeps those from then on")
    }
    let file = URL(fileURLWithPath: path)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      if isFolder.boolValue, let tables = try? StoreConversion.tables(of: path), !tables.isEmpty {
        return InputError(
          "\(path) is a folder of CSV or JSON files, which have no transactions: \(only). cairn fetch reads the "
            + "files, and cairn convert makes a log of the folder, which keeps those from then on")
      }
      let plain = file.pathExtension.lowercased() == "gz" ? file.deletingPathExtension() : file
      let kind = plain.pathExtension.lowercased()
      if !isFolder.boolValue, ["csv", "tsv", "json"].contains(kind) {
        return InputError(
          "\(path) is a \(kind.uppercased()) file, which has no transactions: \(only). cairn fetch reads it, and cairn "
            + "pack makes an archive of it")
      }
    }
    _ = try LogFiles.metadata(at: ArchivePath.full(path))
    return InputError("\(path) is no log store")
  }
}
