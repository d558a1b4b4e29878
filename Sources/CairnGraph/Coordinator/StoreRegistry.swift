// Which kinds of store there are, by their type strings.
//
// CairnGraph knows no store: the umbrella module's class `BuiltInStores` registers those that come with Cairn,
// and is found by its name, so that a coordinator works without anybody having called it.

package import CairnModel
package import Foundation

/// How to open one kind of store.
package struct StoreFactory: Sendable {
  package struct Request: Sendable {
    package let schema: Schema
    package let url: URL?
    /// Whether the store is to remember its commits.
    package let keepsHistory: Bool
  }

  /// Core Data's store type string.
  package let type: String
  /// Opens a store, or makes it where there is none.
  package let open: @Sendable (Request) throws -> any PersistentStore

  package init(type: String, open: @escaping @Sendable (Request) throws -> any PersistentStore) {
    self.type = type
    self.open = open
  }
}

/// A class that knows store factories; `Cairn.BuiltInStores` is found as one.
package protocol StoreFactoryProvider: AnyObject {
  static var storeFactories: [StoreFactory] { get }
}

/// The process's store types.
package enum StoreRegistry {
  private static let registered = Lock<[String: StoreFactory]>([:])

  /// Asked once, on first need.
  private static let builtIn: [String: StoreFactory] = {
    let provider = NSClassFromString("Cairn.BuiltInStores") as? any StoreFactoryProvider.Type
    return Dictionary((provider?.storeFactories ?? []).map { ($0.type, $0) }, uniquingKeysWith: { $1 })
  }()

  /// Adds a type, or puts another store behind one.
  package static func register(_ factory: StoreFactory) {
    registered.withLock { $0[factory.type] = factory }
  }

  /// Throws 134000, naming the types there are.
  static func factory(for type: String) throws -> StoreFactory {
    let own = registered.withLock { $0 }
    if let found = own[type] ?? builtIn[type] { return found }
    let types = Set(own.keys).union(builtIn.keys).sorted().map { "\"\($0)\"" }
    let known = types.isEmpty ? "there are none: import Cairn" : "there are: \(types.joined(separator: ", "))"
    throw NSError.coreData(
      NSPersistentStoreInvalidTypeError, "there is no store of the type \"\(type)\"; \(known)")
  }
}
