// The stores that every law and every random run is checked on. A new store is one case more.

import CairnModel
import CairnStores
import CairnTesting
import Testing

enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  case archive
  /// An archive whose file is opened anew for every generation.
  case rereadArchive
  /// The same, and written anew after every commit.
  case compactedArchive
  /// The third party's store that is written against public API alone.
  case toy

  var testDescription: String { rawValue }

  var maker: StoreMaker {
    switch self {
    case .memory: { schema, history in MemoryStore(schema: schema, history: history) }
    case .archive:
      { schema, history in
        var options = ArchiveStore.Options()
        options.history = history
        return try ArchiveStore(
          at: "/a.cairn", model: .init(schema: schema), options: options, fileSystem: SimulatedFileSystem())
      }
    case .rereadArchive:
      { schema, history in
        try RereadArchive(
          schema: schema, history: history, fileSystem: SimulatedFileSystem(), compacts: false)
      }
    case .compactedArchive:
      { schema, history in
        try RereadArchive(
          schema: schema, history: history, fileSystem: SimulatedFileSystem(), compacts: true)
      }
    case .toy: { schema, history in ToyStore(schema: schema, history: history) }
    }
  }
}

extension StoreLaw: CustomTestStringConvertible {
  public var testDescription: String { description }
}
