// `cairn convert`: which kinds of stores IN and OUT are, and what makes one of the other.

import Cairn

struct StoreConversion {
  private enum Work {
    case pack(PackCommand)
    case export(ExportCommand)
  }

  private let work: Work

  /// Throws `InputError` for what can't be converted. Looks at the files, and reads none but their beginnings.
  init(
    from source: String, to target: String, _ format: ExportCommand.Format, _ profile: ArchiveStore.Profile
  ) throws {
    let isArchive = URL(fileURLWithPath: target).pathExtension == "cairn"
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
      throw InputError("\(source): there is no such file", 66)
    }
    if isFolder.boolValue {
      guard isArchive else {
        throw InputError("\(source) is a folder, of which an archive is made: OUT has to end in .cairn", 64)
      }
      work = .pack(PackCommand(try StoreConversion.input(of: source), into: target, profile))
    } else if ArchivePath.isArchive(source) {
      work =
        isArchive
        ? .pack(PackCommand(InputWords(inputs: [source]), into: target, profile))
        : .export(ExportCommand(path: source, entity: nil, format: format, folder: target))
    } else {
      throw InputError("\(source) is neither an archive nor a folder; cairn pack takes single files")
    }
  }

  func run(_ console: Console) throws {
    switch work {
    case .pack(let command): try command.run(console)
    case .export(let command): try command.run(console)
    }
  }

  /// The tables and the model of a folder.
  private static func input(of folder: String) throws -> InputWords {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw InputError("\(folder) can't be read: \(error.localizedDescription)", 66)
    }
    func paths(_ extensions: Set<String>) -> [String] {
      names.filter { name in
        let plain = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
        return !name.hasPrefix(".") && extensions.contains(URL(fileURLWithPath: plain).pathExtension)
      }.map { URL(fileURLWithPath: folder).appendingPathComponent($0).path }
    }
    let models = paths(["xcdatamodel", "xcdatamodeld", "mom", "momd"])
    guard models.count < 2 else {
      throw InputError("\(folder) has \(models.count) models: say which with cairn pack --model", 64)
    }
    let tables = paths(["csv", "tsv", "json"])
    guard !tables.isEmpty else { throw InputError("\(folder) has no CSV or JSON files") }
    return InputWords(inputs: tables, model: models.first)
  }
}
