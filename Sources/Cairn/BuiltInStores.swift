// The stores that come with Cairn. CairnGraph finds the class below by its name, "Cairn.BuiltInStores", when a
// coordinator first needs a store: neither of the two modules below knows the other.
//
// A new kind of store is one more class here, for people to name it by, and one more factory.

package import CairnGraph
package import CairnModel
import CairnStores
public import Foundation

/// The class that stands for the store in memory:
///
///     NSPersistentStoreCoordinator.registerStoreClass(NSInMemoryStore.self, forStoreType: NSSQLiteStoreType)
///
/// Sendable: adds no state to its superclass.
public final class NSInMemoryStore: NSPersistentStore, @unchecked Sendable {}

/// Knows how to open the stores that come with Cairn.
public final class BuiltInStores: NSObject, StoreFactoryProvider {
  package static var storeFactories: [StoreFactory] {
    [
      StoreFactory(type: NSInMemoryStoreType, storeClass: NSInMemoryStore.self) {
        MemoryStore(schema: $0.schema, history: $0.keepsHistory ? .all : .none)
      }
    ]
  }

  package static func makeTables(_ schema: Schema) -> any CheckingStore { MemoryStore(schema: schema) }
}
