// The tour's data: an archive beside the executable, of which each tour takes a copy that it may write to.

import Cairn

/// A copy of the archive in a directory of its own.
struct TourArchive {
  private let directory: URL
  private let file: URL

  /// Throws when the archive isn't there, or can't be copied.
  init() throws {
    let source = Bundle.main.bundleURL.appendingPathComponent(
      "cairn_CairnTool.resources/flights/flights.cairn")
    guard FileManager.default.isReadableFile(atPath: source.path) else {
      throw TourError(
        "the tour's data isn't beside the executable: \(source.path) can't be read. `swift run cairn tour` has "
          + "it there")
    }
    directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cairn-tour-\(UUID().uuidString)")
    file = directory.appendingPathComponent("flights.cairn")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    do {
      try FileManager.default.copyItem(at: source, to: file)
    } catch {
      remove()
      throw error
    }
  }

  func remove() { try? FileManager.default.removeItem(at: directory) }

  /// A container whose store is the archive, with the model that is in it.
  func container() throws -> NSPersistentContainer {
    let container = NSPersistentContainer(
      name: "Flights", managedObjectModel: try NSManagedObjectModel(ofStoreAt: file))
    container.persistentStoreDescriptions[0].url = file
    container.persistentStoreDescriptions[0].type = CairnArchiveStoreType
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// In bytes.
  func size() throws -> Int {
    guard let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
      throw TourError("the size of \(file.path) can't be read")
    }
    return bytes
  }

  /// The archive's size beside that of the same four tables in other forms, in thousands of bytes.
  func sizes() throws -> [[Console.Cell]] {
    [[.init("this archive"), .init(try size() / 1000), "kB"]]
      + TourArchive.otherSizes.map { [.init($0.form), .init($0.bytes / 1000), "kB"] }
  }

  /// Constants, because the tour has none of these files; Resources/flights/SOURCE.md says how they were measured.
  private static let otherSizes = [
    (form: "the CSV files that it was made of", bytes: 31_405_736),
    (form: "the same, compressed with gzip", bytes: 8_259_080),
    (form: "an SQLite file without indexes", bytes: 20_353_024),
    (form: "one with an index for each relationship", bytes: 34_758_656),
  ]
}

/// Why the tour can't go on, in a sentence.
struct TourError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
