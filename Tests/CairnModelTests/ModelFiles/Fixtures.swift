// The files in Resources, which real programs and Xcode wrote (Resources/SOURCE.md), by name.

import Foundation

@testable import CairnModel

enum Fixtures {
  static let folder: URL = Bundle.module.url(forResource: "Resources", withExtension: nil)!

  static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

  static func data(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }

  /// The paths of all files of that name or extension below `folder`, sorted.
  static func paths(endingIn suffix: String) -> [String] {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(suffix) }.sorted()
  }
}

extension Fixtures {
  static func text(_ path: String) throws -> String { String(decoding: try data(path), as: UTF8.self) }

  static func document(_ path: String) throws -> ModelDocument {
    try ModelDocument(contents: data(path), file: path)
  }
}
