// `cairn convert`: which kinds of stores IN and OUT are, and what makes one of the other.

import Cairn

struct StoreConversion {
  private enum Work {
    case pack(PackCommand)
    case export(ExportCommand)
    case log(InputWords, String, ArchiveStore.Profile)
  }

  private let work: Work

  /// Throws `InputError` for what can't be converted. Looks at the files, and reads none but their beginnings.
  init(
    from source: String, to target: String, as said: OutputKind?, _ format: ExportCommand.Format,
    _ profile: ArchiveStore.Profile
  ) throws {
    let kind = try OutputKind(path: target, said: said)
    let isStore = ArchivePath.isStore(source)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: source, isDirectory: &isFolder) else {
      throw InputError("\(source): there is no such file", 66)
    }
    guard isStore || isFolder.boolValue else {
      throw InputError("\(source) is neither a store nor a folder; cairn pack takes single files")
    }
    let input = isStore ? InputWords(inputs: [source]) : try StoreConversion.input(of: source)
    switch kind {
    case .archive: work = .pack(PackCommand(input, into: target, profile))
    case .log: work = .log(input, target, profile)
    case .folder:
      guard isStore else {
        throw InputError(
          "\(source) is a folder, of which a store is made, and \(target) would be one too: end it in .cairn for an "
            + "archive, or in .cairnlog for a log", 64)
      }
      work = .export(ExportCommand(path: source, entity: nil, format: format, folder: target))
    }
  }

  func run(_ console: Console) throws {
    switch work {
    case .pack(let command): try command.run(console)
    case .export(let command): try command.run(console)
    case .log(let input, let target, let profile):
      try StoreConversion.makeLog(of: input, target, profile, console)
    }
  }

  /// Moves the rows into a new log, as a coordinator moves a store to another type.
  private static func makeLog(
    of words: InputWords, _ target: String, _ profile: ArchiveStore.Profile, _ console: Console
  ) throws {
    try ArchivePath.requireNothing(at: target)
    let line = ProgressLine()
    defer { line.clear() }
    let input = try InputStore(words) { line.show($0) }
    for warning in input.warnings {
      line.clear()
      Console.printError("cairn: warning: \(warning)\n")
    }
    let coordinator = input.container.persistentStoreCoordinator
    guard let store = coordinator.persistentStores.first else { throw InputError("the store isn't open", 1) }
    line.show("writing \(target)")
    do {
      let log = try coordinator.migratePersistentStore(
        store, to: URL(fileURLWithPath: ArchivePath.full(target)),
        options: [CairnArchiveProfileOption: profile.rawValue], withType: CairnLogStoreType)
      if let log = log.store as? LogStore { try log.compact() }
      try coordinator.remove(log)
    } catch {
      throw InputError("\(target) can't be written: \(error.localizedDescription)", 73)
    }
    line.clear()
    let bytes = try LogSummary(ofLogAt: ArchivePath.full(target)).totalByteCount
    try console.write("\(target): a log of \(Console.grouped(Int(bytes))) bytes\n")
  }

  /// The tables and the model of a folder.
  private static func input(of folder: String) throws -> InputWords {
    let models = try files(of: folder, ["xcdatamodel", "xcdatamodeld", "mom", "momd"])
    guard models.count < 2 else {
      throw InputError("\(folder) has \(models.count) models: say which with cairn pack --model", 64)
    }
    let tables = try tables(of: folder)
    guard !tables.isEmpty else { throw InputError("\(folder) has no CSV or JSON files") }
    return InputWords(inputs: tables, model: models.first)
  }

  /// The paths of the CSV and JSON files in a folder. Throws `InputError` 66 where it can't be read.
  static func tables(of folder: String) throws -> [String] { try files(of: folder, ["csv", "tsv", "json"]) }

  private static func files(of folder: String, _ extensions: Set<String>) throws -> [String] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw InputError("\(folder) can't be read: \(error.localizedDescription)", 66)
    }
    return names.filter { name in
      let plain = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
      return !name.hasPrefix(".") && extensions.contains(URL(fileURLWithPath: plain).pathExtension)
    }.map { URL(fileURLWithPath: folder).appendingPathComponent($0).path }
  }
}
