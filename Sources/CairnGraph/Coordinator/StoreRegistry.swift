// Which kinds of store there are, by their type strings.
//
// CairnGraph knows no store: the umbrella module's class `BuiltInStores` registers those that come with Cairn,
// and is found by its name, so that a coordinator works without anybody having called it.

import CairnModel
public import Foundation

/// The process's store types.
package enum StoreRegistry {
  /// What stands behind a type.
  enum Kind: Sendable {
    case factory(StoreFactory)
    /// A subclass of `NSAtomicStore` or `NSIncrementalStore`.
    case custom(NSPersistentStore.Type)

    var storeClass: NSPersistentStore.Type {
      switch self {
      case .factory(let factory): factory.storeClass
      case .custom(let type): type
      }
    }
  }

  private static let registered = Lock<[String: Kind]>([:])

  private static let provider = NSClassFromString("Cairn.BuiltInStores") as? any StoreFactoryProvider.Type

  /// Asked once, on first need.
  private static let builtIn: [String: Kind] = Dictionary(
    (provider?.storeFactories ?? []).map { ($0.type, .factory($0)) }, uniquingKeysWith: { $1 })

  /// Every type with what stands behind it.
  static var all: [String: Kind] { builtIn.merging(registered.withLock { $0 }) { $1 } }

  /// Adds a type, or puts another store behind one.
  package static func register(_ factory: StoreFactory) { register(.factory(factory), as: factory.type) }

  /// nil takes back what was registered; the built-in type of that name is there again.
  static func register(_ kind: Kind?, as type: String) {
    registered.withLock { $0[type] = kind }
  }

  /// The kind of store that a class stands for.
  static func kind(of type: NSPersistentStore.Type) -> Kind? {
    if type is NSAtomicStore.Type || type is NSIncrementalStore.Type { return .custom(type) }
    if type == NSPersistentStore.self { return nil }
    return all.values.first { $0.storeClass == type }
  }

  /// Throws 134000, naming the types there are.
  static func kind(for type: String) throws -> Kind {
    let all = all
    if let found = all[type] { return found }
    throw NSError.coreData(
      NSPersistentStoreInvalidTypeError, "there is no store of the type \"\(type)\"; \(remedy(type, all))")
  }

  private static func remedy(_ type: String, _ all: [String: Kind]) -> String {
    if all.isEmpty { return "there are none: import Cairn" }
    if type == NSXMLStoreType, all[CairnArchiveStoreType] != nil {
      return
        "use CairnArchiveStoreType, one compact file that tools can read (cairn export writes it as JSON)"
    }
    let names = all.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
    let isSQLite = type == NSSQLiteStoreType
    let lasting =
      isSQLite && all[CairnLogStoreType] != nil
      ? "; a description's type may be set to CairnLogStoreType, which lasts" : ""
    // What was meant to last isn't to end with the process because a sentence was followed.
    let other = isSQLite && all[CairnLogStoreType] != nil ? "CairnLogStore" : "NSInMemoryStore"
    let constant = isSQLite ? "NSSQLiteStoreType" : "\"\(type)\""
    return "there are: \(names)\(lasting). To put one in its place, write before the store is added: "
      + "NSPersistentStoreCoordinator.registerStoreClass(\(other).self, forStoreType: \(constant))"
  }

  /// The store in memory. Throws 134000 without the umbrella module.
  static func memory() throws -> StoreFactory {
    guard case .factory(let factory) = builtIn[NSInMemoryStoreType] else {
      throw NSError.coreData(
        NSPersistentStoreInvalidTypeError, "there is no store in memory: import Cairn")
    }
    return factory
  }

  /// Tables for a custom store. Throws 134000 without the umbrella module.
  static func makeTables(_ schema: Schema) throws -> any CheckingStore {
    guard let provider else {
      throw NSError.coreData(NSPersistentStoreInvalidTypeError, "custom stores need tables: import Cairn")
    }
    return provider.makeTables(schema)
  }
}

extension NSPersistentStoreCoordinator {
  /// Makes stores of a class of one's own available under a type, or puts another kind of store behind a type:
  ///
  ///     NSPersistentStoreCoordinator.registerStoreClass(NSInMemoryStore.self, forStoreType: NSSQLiteStoreType)
  ///
  /// nil takes back what was registered. A class that is neither a subclass of `NSAtomicStore` or
  /// `NSIncrementalStore` nor the class of a registered kind of store is a programmer error.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreRegistry.register(nil, as: storeType) }
    guard let type = storeClass as? NSPersistentStore.Type, let kind = StoreRegistry.kind(of: type) else {
      fatalError(
        "\(storeClass) is no class of stores: inherit from NSAtomicStore or NSIncrementalStore, or register a "
          + "StoreFactory that names it")
    }
    StoreRegistry.register(kind, as: storeType)
  }

  /// As `registerStoreClass(_:forStoreType:)`.
  public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }

  /// Cairn's own: makes a kind of store available under its type.
  public class func register(_ factory: StoreFactory) { StoreRegistry.register(factory) }

  /// The class of the stores of each type, as the address that an NSValue holds.
  public class var registeredStoreTypes: [String: NSValue] {
    StoreRegistry.all.mapValues { kind in
      var address = UInt64(UInt(bitPattern: unsafeBitCast(kind.storeClass, to: UnsafeRawPointer.self)))
      return NSValue(bytes: &address, objCType: "Q")  // Foundation on Linux has no NSValues of pointers
    }
  }
}
