// The stores that laws of contexts, requests and results are checked on. A new store is a case more here.

import Cairn
import Foundation
import Testing

enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case archive
  case log

  var testDescription: String { rawValue }

  var type: String {
    switch self {
    case .memory: NSInMemoryStoreType
    case .archive: CairnArchiveStoreType
    case .log: CairnLogStoreType
    }
  }

  /// Where nothing is yet; nil for a store that is in no file.
  func makeURL() -> URL? {
    switch self {
    case .memory: nil
    case .archive: TestFiles.unusedURL(extension: "cairn")
    case .log: TestFiles.unusedURL(extension: "cairnlog")
    }
  }

  /// Of many random runs all for the store in memory, and each tenth for one in a file, which takes as long for them:
  /// what differs between the two is below contexts, and is tried there.
  func some<Run>(of runs: [Run]) -> [Run] {
    self == .memory ? runs : runs.enumerated().filter { $0.offset.isMultiple(of: 10) }.map(\.element)
  }

  /// Adds a new store of this kind.
  @discardableResult
  func add(to coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: makeURL())
  }
}

/// Files that go with the process.
enum TestFiles {
  /// In memory where the system has such a place: a sync of thousands of small saves isn't what is tested.
  private static let directory: URL = {
    let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    let isThere = FileManager.default.isWritableFile(atPath: shared.path)
    let url = (isThere ? shared : FileManager.default.temporaryDirectory)
      .appendingPathComponent("cairn-tests-\(ProcessInfo.processInfo.processIdentifier)")
    try! FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: TestFiles.directory) }
    return url
  }()

  static func unusedURL(extension name: String) -> URL {
    directory.appendingPathComponent(UUID().uuidString).appendingPathExtension(name)
  }
}
