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

/// The class that stands for the archive, one compact file:
///
///     NSPersistentStoreCoordinator.registerStoreClass(CairnArchiveStore.self, forStoreType: NSSQLiteStoreType)
///
/// Sendable: adds no state to its superclass.
public final class CairnArchiveStore: NSPersistentStore, @unchecked Sendable {}

/// Knows how to open the stores that come with Cairn.
public final class BuiltInStores: NSObject, StoreFactoryProvider {
  package static var storeFactories: [StoreFactory] {
    [
      StoreFactory(type: NSInMemoryStoreType, storeClass: NSInMemoryStore.self) {
        MemoryStore(schema: $0.schema, history: $0.keepsHistory ? .all : .none)
      },
      archive(CairnArchiveStoreType), archive(NSBinaryStoreType),
    ]
  }

  package static func makeTables(_ schema: Schema) -> any CheckingStore { MemoryStore(schema: schema) }

  private static func archive(_ type: String) -> StoreFactory {
    StoreFactory(
      type: type, storeClass: CairnArchiveStore.self,
      files: StoreFactory.Files(
        metadata: { try ArchiveFiles.metadata(at: $0.path) },
        setUserEntries: { try ArchiveFiles.setUserEntries($1, at: $0.path) },
        destroy: { try ArchiveFiles.destroy(at: $0.path) },
        replace: { try ArchiveFiles.replace($0.path, with: $1.path) },
        modelSource: { try ArchiveFiles.modelSource(at: $0.path) })
    ) { request in
      var model = ArchiveStore.Model(schema: request.schema)
      model.versionHashes = request.versionHashes
      model.versionIdentifiers = request.versionIdentifiers
      if let url = request.url, !FileManager.default.fileExists(atPath: url.path) {
        model.source = request.modelSource()
      }
      var options = ArchiveStore.Options()
      options.isReadOnly = request.isReadOnly
      options.history = request.keepsHistory ? .all : .none
      if let name = request.options[CairnArchiveProfileOption] as? String {
        guard let profile = ArchiveStore.Profile(rawValue: name) else {
          throw StoreError(
            .unsupportedRequest, "there is no archive profile \"\(name)\"",
            remedy: "there are: " + ArchiveStore.Profile.allCases.map(\.rawValue).joined(separator: ", "))
        }
        options.profile = profile
      }
      if let budget = request.options[CairnCacheBudgetOption] as? NSNumber {
        options.cacheBudget = budget.intValue
      }
      if let budget = request.options[CairnCacheBudgetOption] as? Int { options.cacheBudget = budget }
      return try ArchiveStore(at: request.url?.path ?? "", model: model, options: options)
    }
  }
}

/// How much time an archive's saves take to make it small: "fastest", "default" or "smallest".
public let CairnArchiveProfileOption = "CairnArchiveProfile"
/// How many bytes of decoded columns a store in a file keeps in memory that nobody holds; 256 MiB where it isn't
/// said.
public let CairnCacheBudgetOption = "CairnCacheBudget"
