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
  /// An archive whose file has entities and properties in another order than the model.
  case reorderedArchive
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
    case .reorderedArchive: StoreKind.reorderedArchive(1)
    case .toy: { schema, history in ToyStore(schema: schema, history: history) }
    }
  }
}

extension StoreKind {
  static func reorderedArchive(_ seed: UInt64) -> StoreMaker {
    { schema, history in
      let files = SimulatedFileSystem()
      let model = ArchiveStore.Model(schema: schema.shuffled(seed, keepingKeys: true))
      try ArchiveStore(at: "/a.cairn", model: model, options: .init(), fileSystem: files).close()
      return try RereadArchive(schema: schema, history: history, fileSystem: files, compacts: false)
    }
  }

  /// An archive that each generation goes through a file in another order, keys of pairs on the other side included.
  static func turnedArchive(_ seed: UInt64) -> StoreMaker {
    { schema, history in
      try RereadArchive(
        schema: schema, history: history, fileSystem: SimulatedFileSystem(), compacts: false,
        through: schema.shuffled(seed))
    }
  }
}

extension StoreLaw: CustomTestStringConvertible {
  public var testDescription: String { description }
}
