// What the end of a path says that a command is to write there, so that no name is taken for what it isn't.

import Cairn

/// What a path that doesn't exist yet is to become. Raw values are what `cairn convert --as` takes.
enum OutputKind: String, CaseIterable {
  case archive, log, folder

  static let suffixes =
    ".cairn is an archive, .cairnlog a log, and a name without a suffix a folder of tables"

  /// nil for a path whose suffix says none of them. A slash at the end says a folder.
  init?(path: String) {
    switch OutputKind.suffix(path) {
    case _ where path.hasSuffix("/"): self = .folder
    case "": self = .folder
    case "cairn": self = .archive
    case "cairnlog": self = .log
    default: return nil
    }
  }

  /// By the path, or by what was said; throws `InputError` 64 where neither says it, or they contradict each other.
  init(path: String, said: OutputKind?) throws {
    let meant = OutputKind(path: path)
    if let said {
      // A folder may be called anything, and a store may have no suffix.
      if let meant, meant != .folder, meant != said {
        throw InputError("--as \(said.rawValue), but \(path) ends as \(meant.article) does", 64)
      }
      self = said
    } else if let meant {
      self = meant
    } else {
      let suffix = OutputKind.suffix(path)
      let single =
        ["csv", "tsv", "json"].contains(suffix)
        ? "; cairn export writes the rows of one entity as one file" : ""
      throw InputError(
        "\(path): the suffix .\(suffix) doesn't say what to make: \(OutputKind.suffixes); or say it by --as archive, "
          + "--as log or --as folder\(single)", 64)
    }
  }

  /// Throws `InputError` 64 for a path that ends as something else than what `command` writes there. Unknown suffixes
  /// and none at all are fine: the command makes one kind of thing.
  static func require(_ kind: OutputKind, at path: String, by command: String, instead: String) throws {
    let suffix = OutputKind.suffix(path)
    let other: String
    switch suffix {
    case "cairn" where kind != .archive && !path.hasSuffix("/"): other = "an archive"
    case "cairnlog" where kind != .log && !path.hasSuffix("/"): other = "a log"
    case "csv", "tsv", "json", "gz": other = "a table"
    default: return
    }
    throw InputError(
      "\(path) ends as \(other) does, and \(command) makes \(kind.article) there: \(instead)", 64)
  }

  var article: String {
    switch self {
    case .archive: "an archive"
    case .log: "a log"
    case .folder: "a folder"
    }
  }

  private static func suffix(_ path: String) -> String {
    URL(fileURLWithPath: path).pathExtension.lowercased()
  }
}
