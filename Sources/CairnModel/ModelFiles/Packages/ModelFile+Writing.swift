// Writes models to disk, in the form that the name's extension says.

public import Foundation

extension ModelFile {
  /// Writes one document as an `.xcdatamodeld` or `.momd` with this one version, an `.xcdatamodel`, a `.mom`, or a
  /// bare `contents`.
  ///
  /// Throws `ModelFileError` for any other name, for one that is taken already, and for what the form can't
  /// hold; then nothing has been written. What is lost is in `ModelDocument.reduced(to:)`.
  public static func write(_ document: ModelDocument, to url: URL) throws {
    let name = url.deletingPathExtension().lastPathComponent
    switch url.pathExtension.lowercased() {
    case "xcdatamodeld", "momd": try write([(name, document)], current: name, to: url)
    case "xcdatamodel": try write(["contents": document.contents()], to: url)
    case "mom": try write(document.compiledData(), to: url)
    case "" where url.lastPathComponent == "contents": try write(document.contents(), to: url)
    default:
      throw ModelFileError(
        .unknownFormat, file: url.path, "its name doesn't say what form of model it should be",
        remedy: "let it end in .xcdatamodeld, .xcdatamodel, .momd or .mom, or be \"contents\"")
    }
  }

  /// Writes a package of several versions, each of another name: an `.xcdatamodeld` or a `.momd`. Throws as the
  /// writing of one document.
  public static func write(
    _ versions: [(name: String, document: ModelDocument)], current: String, to url: URL
  ) throws {
    var files: [String: Data] = [:]
    for (name, _) in versions where name.isEmpty || name.contains("/") || name.hasPrefix(".") {
      throw ModelFileError(
        .unwritable, file: url.path, "a version can't be named \"\(name)\"", remedy: "name it otherwise")
    }
    var taken: Set<String> = []
    for (name, _) in versions where !taken.insert(name).inserted {
      throw ModelFileError(
        .unwritable, file: url.path, "two versions are named \"\(name)\"", remedy: "name one otherwise")
    }
    guard versions.contains(where: { $0.name == current }) else {
      throw ModelFileError(
        .unknownVersion, file: url.path, "there is no version \"\(current)\" to be the current one",
        remedy: "name one of the versions")
    }
    switch url.pathExtension.lowercased() {
    case "xcdatamodeld":
      for (name, document) in versions { files["\(name).xcdatamodel/contents"] = try document.contents() }
      files[".xccurrentversion"] = try propertyList(
        ["_XCCurrentVersionName": "\(current).xcdatamodel"], .xml, url)
    case "momd":
      for (name, document) in versions { files["\(name).mom"] = try document.compiledData() }
      files["VersionInfo.plist"] = try propertyList(versionInfo(versions, current: current), .binary, url)
    default:
      throw ModelFileError(
        .unknownFormat, file: url.path, "a package of versions is an .xcdatamodeld or a .momd",
        remedy: "let its name end so")
    }
    try write(files, to: url)
  }

  /// What `VersionInfo.plist` says: by these hashes a store finds the version that it was made with.
  private static func versionInfo(
    _ versions: [(name: String, document: ModelDocument)], current: String
  ) -> [String: Any] {
    var hashes: [String: [String: Data]] = [:]
    var checksums: [String: String] = [:]
    for (name, document) in versions {
      hashes[name] = document.versionHashes
      checksums[name] = document.versionChecksum
    }
    return [
      "NSManagedObjectModel_CurrentVersionName": current, "NSManagedObjectModel_VersionHashes": hashes,
      "NSManagedObjectModel_VersionChecksums": checksums,
    ]
  }

  private static func propertyList(
    _ list: [String: Any], _ format: PropertyListSerialization.PropertyListFormat, _ url: URL
  ) throws -> Data {
    try wrapped(url) {
      try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
    }
  }

  /// Writes a folder: all of it, or nothing.
  private static func write(_ files: [String: Data], to url: URL) throws {
    try refuseTaken(url)
    let draft = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.lastPathComponent).\(UUID().uuidString)")
    let manager = FileManager.default
    try wrapped(url) {
      do {
        try manager.createDirectory(at: draft, withIntermediateDirectories: false)
        for (path, data) in files.sorted(by: { $0.key < $1.key }) {
          let file = draft.appendingPathComponent(path)
          try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
          try data.write(to: file)
        }
        try manager.moveItem(at: draft, to: url)
      } catch {
        try? manager.removeItem(at: draft)
        throw error
      }
    }
  }

  private static func write(_ data: Data, to url: URL) throws {
    try refuseTaken(url)
    try wrapped(url) { try data.write(to: url, options: .atomic) }
  }

  private static func refuseTaken(_ url: URL) throws {
    if FileManager.default.fileExists(atPath: url.path) {
      throw ModelFileError(
        .unwritable, file: url.path, "there is something of that name already",
        remedy: "remove it, or choose another name")
    }
  }

  private static func wrapped<T>(_ url: URL, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      throw ModelFileError(
        .unwritable, file: url.path, "it can't be written (\((error as NSError).localizedDescription))",
        remedy: "look at the folder and its permissions")
    }
  }
}
