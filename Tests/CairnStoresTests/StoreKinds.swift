// The stores that every law and every random run is checked on. A new store is one case more.

import CairnModel
import CairnStores
import CairnTesting
import Testing

enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  /// The third party's store that is written against public API alone.
  case toy

  var testDescription: String { rawValue }

  var maker: StoreMaker {
    switch self {
    case .memory: { schema, history in MemoryStore(schema: schema, history: history) }
    case .toy: { schema, history in ToyStore(schema: schema, history: history) }
    }
  }
}

extension StoreLaw: CustomTestStringConvertible {
  public var testDescription: String { description }
}
