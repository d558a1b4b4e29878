// A folder for the files of one test.

import Foundation

enum ToolFolder {
  /// Makes the files in a folder of their own, which is gone afterwards.
  static func with<T>(
    _ files: [String: String] = [:], _ body: (_ path: @escaping (String) -> String) throws -> T
  ) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
    return try body { folder.appendingPathComponent($0).path }
  }
}
