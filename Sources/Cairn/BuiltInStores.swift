// The stores that come with Cairn. CairnGraph finds this class by its name, "Cairn.BuiltInStores", when a
// coordinator first needs a store: neither of the two modules below knows the other.

package import CairnGraph
import CairnModel
import CairnStores
public import Foundation

/// Knows how to open the stores that come with Cairn.
public final class BuiltInStores: NSObject, StoreFactoryProvider {
  package static var storeFactories: [StoreFactory] {
    [
      StoreFactory(type: NSInMemoryStoreType) {
        MemoryStore(schema: $0.schema, history: $0.keepsHistory ? .all : .none)
      }
    ]
  }
}
