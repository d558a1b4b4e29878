// Reading models from files and writing them, in every form that Xcode knows.

public import CairnModel
public import Foundation

extension NSManagedObjectModel {
  /// Cairn's own: the model that a document describes. Classes that it names without a module are those of the
  /// file that calls this.
  ///
  /// Throws `SchemaError` for predicates and expressions that can't be understood; what else is wrong is found when
  /// the model is validated or used.
  public convenience init(document: ModelDocument, fileID: String = #fileID) throws {
    self.init(fileID: fileID)
    try DocumentReader.read(document, into: self)
  }

  /// Cairn's own: the model in an `.xcdatamodeld` or `.momd` (its current version, or the one that is named), an
  /// `.xcdatamodel`, a `.mom`, or a bare `contents`. Where there is nothing at `url`, the same model in another of
  /// these forms beside it is read, so that the name of a compiled model finds its source.
  ///
  /// Throws `ModelFileError` for a file that can't be read, and as `init(document:)`.
  public convenience init(reading url: URL, version: String? = nil, fileID: String = #fileID) throws {
    let found = ModelSearch.existing(url) ?? url
    try self.init(document: ModelFile.read(at: found, version: version), fileID: fileID)
  }

  /// As `init(reading:version:)`, for the current version; nil, with a line on standard error that says why, where
  /// that throws.
  public convenience init?(contentsOf url: URL, fileID: String = #fileID) {
    do {
      try self.init(reading: url, fileID: fileID)
    } catch {
      let line = "Cairn: failed to load the model at \(url.path): \(error)\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
      return nil
    }
  }

  /// Cairn's own: the model of that name in a bundle, in whatever form it is there. As `Bundle.url(forModelNamed:)`
  /// finds it; throws `ModelFileError` where it finds none, and as `init(reading:version:)`.
  public convenience init(named name: String, in bundle: Bundle = .main, fileID: String = #fileID) throws {
    guard let url = bundle.url(forModelNamed: name) else {
      throw ModelFileError(
        .unreadable, file: bundle.bundlePath, "there is no model \"\(name)\"",
        remedy: "list \(name).xcdatamodeld among the target's resources in Package.swift, as .copy")
    }
    try self.init(reading: url, fileID: fileID)
  }

  /// The file of that name in the main bundle or a resource bundle beside the executable; nil if there is none.
  package static func file(named name: String) -> URL? {
    ModelSearch.bundles().lazy.compactMap { $0.url(forModelNamed: name) }.first
  }

  /// Cairn's own: the model as a document. What a document can't hold (blocks as predicates, user infos that aren't
  /// texts, the default values of transformable attributes) is in its `notes`.
  public final var document: ModelDocument { DocumentWriter.document(of: self) }

  /// Cairn's own: writes the model in the form that the extension says: `xcdatamodeld`, `xcdatamodel`, `momd`, `mom`,
  /// or a file named `contents`.
  ///
  /// Throws `ModelFileError`, and then has written nothing, for another name, for one that is taken, and for what
  /// can't be written. What is lost is in the document's `notes`, and in what `ModelDocument.reduced(to:)` says.
  public final func write(to url: URL) throws {
    try ModelFile.write(document, to: url)
  }
}

extension Bundle {
  /// Cairn's own: where the model of that name is, in whatever form: `.momd`, `.mom`, `.xcdatamodeld` or
  /// `.xcdatamodel`, in this order. nil if there is none.
  ///
  /// Xcode compiles a model into a `.momd`; SwiftPM on Linux copies the `.xcdatamodeld` as it is, so that
  /// `url(forResource:withExtension:)` finds no "momd" there. Use this, or `NSManagedObjectModel(named:in:)`.
  public func url(forModelNamed name: String) -> URL? {
    ModelSearch.folders(of: self).lazy.compactMap { ModelSearch.existing($0.appendingPathComponent(name)) }
      .first
  }
}

/// Finds model files.
enum ModelSearch {
  /// The forms of models, the first being preferred.
  static let extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

  /// `url` if something is there, else the same name with the extension of another form; nil if there is none.
  static func existing(_ url: URL) -> URL? {
    let manager = FileManager.default
    if extensions.contains(url.pathExtension) || url.lastPathComponent == "contents" {
      if manager.fileExists(atPath: url.path) { return url }
      if url.lastPathComponent == "contents" { return nil }
    }
    let stem = extensions.contains(url.pathExtension) ? url.deletingPathExtension() : url
    return extensions.lazy.map { stem.appendingPathExtension($0) }
      .first { manager.fileExists(atPath: $0.path) } ?? (manager.fileExists(atPath: url.path) ? url : nil)
  }

  /// The models of a bundle, each once, in the order of their names.
  static func models(in bundle: Bundle) -> [URL] {
    var found: [URL] = []
    for folder in folders(of: bundle) {
      var stems: Set<String> = []
      for name in names(in: folder).sorted() {
        let url = folder.appendingPathComponent(name)
        guard extensions.contains(url.pathExtension) else { continue }
        let stem = url.deletingPathExtension()
        if stems.insert(stem.lastPathComponent).inserted, let best = existing(stem) { found.append(best) }
      }
    }
    return found
  }

  /// The main bundle and the resource bundles beside the executable, which is where SwiftPM puts them.
  static func bundles() -> [Bundle] {
    let beside = names(in: Bundle.main.bundleURL).filter {
      $0.hasSuffix(".resources") || $0.hasSuffix(".bundle")
    }
    return [Bundle.main]
      + beside.sorted().compactMap { Bundle(url: Bundle.main.bundleURL.appendingPathComponent($0)) }
  }

  /// Where a bundle's resources are, each folder once.
  static func folders(of bundle: Bundle) -> [URL] {
    var folders: [URL] = []
    for url in [bundle.resourceURL, bundle.bundleURL].compactMap({ $0?.standardizedFileURL })
    where !folders.contains(where: { $0.path == url.path }) {
      folders.append(url)
    }
    return folders
  }

  private static func names(in folder: URL) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
  }
}
