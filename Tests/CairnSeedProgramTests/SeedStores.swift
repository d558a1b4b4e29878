// The stores that the seed programs run over. A new store is a case more here.

import Cairn
import Testing

enum SeedStore: String, CaseIterable, CustomTestStringConvertible {
  case memory

  var testDescription: String { rawValue }

  /// A store of that kind that nobody has used yet.
  func makeDescription() -> NSPersistentStoreDescription {
    switch self {
    case .memory:
      let description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
      return description
    }
  }
}
