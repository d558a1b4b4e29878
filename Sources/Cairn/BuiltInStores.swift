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

/// The class that stands for the log, a directory in which saves are appended:
///
///     NSPersistentStoreCoordinator.registerStoreClass(CairnLogStore.self, forStoreType: NSSQLiteStoreType)
///
/// Sendable: adds no state to its superclass.
public final class CairnLogStore: NSPersistentStore, @unchecked Sendable {}

/// Knows how to open the stores that come with Cairn.
public final class BuiltInStores: NSObject, StoreFactoryProvider {
  package static var storeFactories: [StoreFactory] {
    [
      StoreFactory(type: NSInMemoryStoreType, storeClass: NSInMemoryStore.self) {
        MemoryStore(schema: $0.schema, history: $0.keepsHistory ? .all : .none)
      },
      archive(CairnArchiveStoreType), archive(NSBinaryStoreType), log(),
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
      var options = ArchiveStore.Options()
      options.isReadOnly = request.isReadOnly
      options.history = request.keepsHistory ? .all : .none
      options.profile = try choice(CairnArchiveProfileOption, "archive profile", request) ?? options.profile
      options.cacheBudget = number(CairnCacheBudgetOption, request).map { Int($0) } ?? options.cacheBudget
      return try ArchiveStore(at: request.url?.path ?? "", model: model(request), options: options)
    }
  }

  private static func log() -> StoreFactory {
    StoreFactory(
      type: CairnLogStoreType, storeClass: CairnLogStore.self,
      files: StoreFactory.Files(
        metadata: { try LogFiles.metadata(at: $0.path) },
        setUserEntries: { try LogFiles.setUserEntries($1, at: $0.path) },
        destroy: { try LogFiles.destroy(at: $0.path) },
        replace: { try LogFiles.replace($0.path, with: $1.path) },
        modelSource: { try LogFiles.modelSource(at: $0.path) })
    ) { request in
      var options = LogStore.Options()
      options.isReadOnly = request.isReadOnly
      options.history = request.keepsHistory ? .all : .none
      options.historyDays = number(CairnHistoryDaysOption, request)
      options.durability = try choice(CairnDurabilityOption, "durability", request) ?? options.durability
      options.profile = try choice(CairnArchiveProfileOption, "archive profile", request) ?? options.profile
      options.cacheBudget = number(CairnCacheBudgetOption, request).map { Int($0) } ?? options.cacheBudget
      options.upTo = number(CairnGenerationOption, request).map { Int64($0) }
      if options.upTo != nil, !request.isReadOnly {
        throw StoreError(
          .unsupportedRequest, "an earlier state can't be written to",
          remedy: "open it with NSReadOnlyPersistentStoreOption")
      }
      options.lockTimeout = number(NSPersistentStoreTimeoutOption, request) ?? options.lockTimeout
      return try LogStore(at: request.url?.path ?? "", model: model(request), options: options)
    }
  }

  // MARK: What is asked for

  /// With its source for a store that isn't there yet: it costs writing the model.
  private static func model(_ request: StoreFactory.Request) -> ArchiveStore.Model {
    var model = ArchiveStore.Model(schema: request.schema)
    model.versionHashes = request.versionHashes
    model.versionIdentifiers = request.versionIdentifiers
    if let url = request.url, !FileManager.default.fileExists(atPath: url.path) {
      model.source = request.modelSource()
    }
    return model
  }

  /// nil where the option isn't set. Throws `unsupportedRequest` for a name that isn't one of the choices.
  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ what: String, _ request: StoreFactory.Request
  ) throws -> Choice? {
    guard let given = request.options[key] else { return nil }
    if let name = given as? String, let choice = Choice(rawValue: name) { return choice }
    throw StoreError(
      .unsupportedRequest, "there is no \(what) \"\(given)\"",
      remedy: "there are: " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
  }

  private static func number(_ key: String, _ request: StoreFactory.Request) -> Double? {
    switch request.options[key] {
    case let number as NSNumber: number.doubleValue
    case let number as Int: Double(number)
    case let number as Double: number
    default: nil
    }
  }
}

/// What is on the medium when a save to a log returns: "full", everything, which is the default; "normal", all but
/// the saves of the last second, which only a power cut takes; "off", whatever the system has written by then. A crash
/// of the program loses nothing, and no level ever shows half of a save.
public let CairnDurabilityOption = "CairnDurability"
/// Opens a log for reading only as it was after the commit of this number, if its history keeps that.
public let CairnGenerationOption = "CairnGeneration"
/// For how many days a log with `NSPersistentHistoryTrackingKey` remembers its commits; for ever where it isn't said.
public let CairnHistoryDaysOption = "CairnHistoryDays"

/// How much time an archive's saves take to make it small: "fastest", "default" or "smallest".
public let CairnArchiveProfileOption = "CairnArchiveProfile"
/// How many bytes of decoded columns a store in a file keeps in memory that nobody holds; 256 MiB where it isn't
/// said.
public let CairnCacheBudgetOption = "CairnCacheBudget"
