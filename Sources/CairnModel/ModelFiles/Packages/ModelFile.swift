// Model files and packages on disk: which versions there are, which is the current one, and their documents.

public import Foundation

/// Reads models from wherever they are: `.xcdatamodeld`, `.xcdatamodel`, its `contents`, `.momd` and `.mom`.
///
/// A folder is recognised by what is in it, so its name's extension doesn't matter.
public enum ModelFile {
  /// One version in a package. Its document is read when it is asked for.
  public struct Version: Sendable, Hashable {
    /// Without extension: `Model 2` of `Model 2.xcdatamodel`.
    public let name: String
    /// The `contents` or `.mom` file.
    public let url: URL
    /// Whether new stores are made with this version.
    public let isCurrent: Bool
    public let form: ModelFileForm

    /// Reads the whole file each time.
    public func document() throws -> ModelDocument {
      if form == .source, !FileManager.default.fileExists(atPath: url.path) {
        throw ModelFile.outdated(url.deletingLastPathComponent())
      }
      let data = try ModelFile.bytes(at: url)
      switch form {
      case .source: return try ModelDocument(contents: data, file: url.path)
      case .compiled: return try ModelDocument(compiled: data, file: url.path)
      }
    }
  }

  /// The document of the current version, or of the one named. One file is its own only version, and answers to
  /// any name that is its own.
  public static func read(at url: URL, version: String? = nil) throws -> ModelDocument {
    let all = try versions(at: url)
    // Without a name the current one, which there always is.
    guard let named = all.first(where: { version == nil ? $0.isCurrent : $0.name == version }) else {
      throw ModelFileError(
        .unknownVersion, file: url.path, "it has no version \"\(version ?? "")\"",
        remedy: "it has " + all.map { "\"\($0.name)\"" }.joined(separator: ", "))
    }
    return try named.document()
  }

  /// The versions in the order of their names as people count (`Model`, `Model 2`, `Model 10`). Never empty.
  /// Exactly one of them is the current one: the one that the package marks as that, or the last without a mark.
  public static func versions(at url: URL) throws -> [Version] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw ModelFileError(
        .unreadable, file: url.path, "there is no such file", remedy: "give the path of a model")
    }
    if !isFolder.boolValue { return [try single(url)] }
    let names = try list(url)
    if names.contains("contents") || names.contains("elements") {
      return [sourceVersion(folder: url, isCurrent: true)]
    }
    let sources = names.filter { $0.hasSuffix(".xcdatamodel") }
    if !sources.isEmpty { return try sourceVersions(url, sources) }
    let compiled = names.filter { $0.hasSuffix(".mom") }
    if !compiled.isEmpty { return try compiledVersions(url, compiled) }
    throw ModelFileError(
      .unknownFormat, file: url.path, "there is no model in this folder",
      remedy: "give an .xcdatamodeld, an .xcdatamodel or a .momd")
  }

  static func bytes(at url: URL) throws -> Data {
    let path = url.resolvingSymlinksInPath().path
    // Foundation takes a device or a pipe for a file without permission, or waits for it.
    if let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType,
      type != .typeRegular
    {
      throw ModelFileError(
        .unreadable, file: url.path,
        "it is \(type == .typeDirectory ? "a folder" : "a device or a pipe"), no file",
        remedy: "give the path of a model's file")
    }
    do {
      return try Data(contentsOf: url)
    } catch {
      throw ModelFileError(
        .unreadable, file: url.path, "it can't be read (\((error as NSError).localizedDescription))",
        remedy: "look at its permissions")
    }
  }

  // MARK: One file

  private static func single(_ url: URL) throws -> Version {
    let start = try bytes(at: url).prefix(64)
    let isCompiled = start.starts(with: "bplist".utf8)
    if !isCompiled, url.lastPathComponent == "elements" { throw outdated(url) }
    // A contents file has the name of the folder that it is in.
    let owner = url.lastPathComponent == "contents" ? url.deletingLastPathComponent() : url
    return Version(
      name: owner.deletingPathExtension().lastPathComponent, url: url, isCurrent: true,
      form: isCompiled ? .compiled : .source)
  }

  // MARK: Packages of sources

  private static func sourceVersion(folder: URL, isCurrent: Bool) -> Version {
    Version(
      name: folder.deletingPathExtension().lastPathComponent, url: folder.appendingPathComponent("contents"),
      isCurrent: isCurrent, form: .source)
  }

  private static func sourceVersions(_ url: URL, _ names: [String]) throws -> [Version] {
    let sorted = names.sorted { isBefore(withoutExtension($0), withoutExtension($1)) }
    let current = try currentSource(url) ?? (sorted.count == 1 ? sorted[0] : nil)
    if let current, !sorted.contains(current) {
      throw ModelFileError(
        .unknownVersion, file: url.path, ".xccurrentversion names \"\(current)\", which isn't there",
        remedy: "choose the current version in Xcode, or name a version")
    }
    // Without a mark, the last version counts: people number them upwards.
    return sorted.map { name in
      sourceVersion(folder: url.appendingPathComponent(name), isCurrent: name == (current ?? sorted.last))
    }
  }

  private static func currentSource(_ url: URL) throws -> String? {
    let mark = url.appendingPathComponent(".xccurrentversion")
    guard FileManager.default.fileExists(atPath: mark.path) else { return nil }
    return try propertyList(mark)["_XCCurrentVersionName"] as? String
  }

  // MARK: Packages of compiled models

  private static func compiledVersions(_ url: URL, _ names: [String]) throws -> [Version] {
    let sorted = names.map(withoutExtension).sorted(by: isBefore)
    let info = url.appendingPathComponent("VersionInfo.plist")
    var current: String?
    if FileManager.default.fileExists(atPath: info.path) {
      current = try propertyList(info)["NSManagedObjectModel_CurrentVersionName"] as? String
    }
    if let current, !sorted.contains(current) {
      throw ModelFileError(
        .unknownVersion, file: url.path, "VersionInfo.plist names \"\(current)\", which isn't there",
        remedy: "compile the model again, or name a version")
    }
    return sorted.map { name in
      Version(
        name: name, url: url.appendingPathComponent(name + ".mom"),
        isCurrent: name == (current ?? sorted.last),
        form: .compiled)
    }
  }

  // MARK: Helpers

  private static func propertyList(_ url: URL) throws -> [String: Any] {
    let data = try bytes(at: url)
    guard data.count <= 16 << 20,
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
    else {
      throw ModelFileError(
        .corrupt, file: url.path, "it is no property list", remedy: "restore it from version control")
    }
    return list
  }

  private static func list(_ url: URL) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw ModelFileError(
        .unreadable, file: url.path,
        "the folder can't be read (\((error as NSError).localizedDescription))",
        remedy: "look at its permissions")
    }
  }

  private static func withoutExtension(_ name: String) -> String {
    String(name.prefix(upTo: name.lastIndex(of: ".") ?? name.endIndex))
  }

  /// Runs of digits compare as numbers.
  private static func isBefore(_ a: String, _ b: String) -> Bool {
    let order = a.compare(b, options: [.numeric], locale: Locale(identifier: "en_US_POSIX"))
    return order == .orderedAscending || order == .orderedSame && a < b
  }

  fileprivate static func outdated(_ url: URL) -> ModelFileError {
    ModelFileError(
      .outdatedFormat, file: url.path, "this model was saved by Xcode 3 and has no contents file",
      remedy: "open it in Xcode 4 or later, raise its Tools Version in the file inspector, and save it")
  }
}
