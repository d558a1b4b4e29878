// Stores in memory behind file URLs: "/dev/null" for one of its own, "/dev/null/name" for one that everybody in
// the process shares who opens it under that name.

import CairnModel
import Foundation

enum MemoryStores {
  private struct WeakStore {
    weak var store: (any PersistentStore)?
  }

  private static let shared = Lock<[String: WeakStore]>([:])

  /// Whether a URL means a store in memory.
  static func isMemory(_ url: URL?) -> Bool {
    guard let url, url.isFileURL else { return false }
    return url.path == "/dev/null" || isShared(url)
  }

  static func isShared(_ url: URL) -> Bool { url.isFileURL && url.path.hasPrefix("/dev/null/") }

  /// Whether somebody holds a shared store of that name.
  static func isOpen(_ url: URL) -> Bool { shared.withLock { $0[url.path]?.store != nil } }

  /// Opens the store. A shared one lives for as long as somebody holds it. Throws 134020 when it was made with
  /// a different model.
  static func open(_ request: StoreFactory.Request) throws -> any PersistentStore {
    let factory = try StoreRegistry.memory()
    guard let url = request.url, isShared(url) else { return try factory.open(request) }
    return try shared.withLock { stores in
      stores = stores.filter { $0.value.store != nil }
      if let found = stores[url.path]?.store {
        guard found.schema.hasSameLayout(as: request.schema) else {
          throw NSError.coreData(
            NSPersistentStoreIncompatibleSchemaError,
            "the store in memory at \(url.path) was opened with a different model")
        }
        return found
      }
      let made = try factory.open(request)
      stores[url.path] = WeakStore(store: made)
      return made
    }
  }

  /// Forgets a shared store: the next one to open it gets an empty one.
  static func destroy(_ url: URL) {
    shared.withLock { $0[url.path] = nil }
  }
}

extension Schema {
  /// Whether rows mean the same in both: the same entities with the same slots, and relationships kept alike.
  func hasSameLayout(as other: Schema) -> Bool {
    self === other
      || entities.elementsEqual(other.entities) { a, b in
        a.name == b.name && a.root == b.root && a.isAbstract == b.isAbstract && a.slots == b.slots
      }
        && relationships.elementsEqual(other.relationships) { a, b in
          a.name == b.name && a.owner == b.owner && a.destination == b.destination
            && a.inverse == b.inverse && a.isToMany == b.isToMany && a.isOrdered == b.isOrdered
            && a.storage == b.storage
        } && joins == other.joins
  }
}
