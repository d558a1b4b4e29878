// The stores that the seed programs run over. A new store is a case more here.

import Cairn
import Foundation
import Testing

enum SeedStore: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case archive
  case log

  var testDescription: String { rawValue }

  /// A store of that kind that nobody has used yet.
  func makeDescription() -> NSPersistentStoreDescription {
    switch self {
    case .memory:
      let description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
      return description
    case .archive, .log:
      let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".cairn")
      let description = NSPersistentStoreDescription(url: url)
      description.type = self == .log ? CairnLogStoreType : CairnArchiveStoreType
      return description
    }
  }
}
