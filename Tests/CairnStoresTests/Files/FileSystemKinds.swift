// The file systems that the laws run over. A new one is one case more here, and then has to keep every law.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

enum FileSystemKind: CaseIterable, Sendable {
  case posix, simulated

  /// Runs `body` with an empty directory of such a file system, and removes it afterwards.
  func withDirectory(_ body: (Place) throws -> Void) throws {
    switch self {
    case .posix:
      let url = FileManager.default.temporaryDirectory.appending(path: "cairn-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(at: url) }
      // The temporary directory itself may be behind a link.
      let root = try POSIXFileSystem.shared.resolve(url.path)
      try body(
        Place(
          fileSystem: POSIXFileSystem.shared, root: root,
          link: { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: $1) }))
    case .simulated:
      let files = SimulatedFileSystem()
      try files.makeDirectory("/place")
      try body(Place(fileSystem: files, root: "/place", link: { try files.makeLink(at: $0, to: $1) }))
    }
  }
}

/// An empty directory to try things in.
struct Place {
  let fileSystem: any FileSystem
  let root: String
  /// Makes a symbolic link at the first path that leads to the second.
  let link: (String, String) throws -> Void

  func path(_ name: String) -> String { root + "/" + name }

  @discardableResult
  func make(_ name: String, _ content: [UInt8] = []) throws -> String {
    let file = try fileSystem.open(path(name), .create(permissions: 0o644))
    defer { try? file.close() }
    if !content.isEmpty { try file.write(content, at: 0) }
    return path(name)
  }

  func content(_ name: String) throws -> [UInt8] {
    let file = try fileSystem.open(path(name), .read)
    defer { try? file.close() }
    return try file.contents(limit: 1 << 24, path: path(name))
  }
}

/// The system's reason for refusing what `body` does, or nil if it doesn't refuse it.
func refusal(_ body: () throws -> Void) -> Int32? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StoreError)?.systemError ?? -1
  }
}
