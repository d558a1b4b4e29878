// From a type, a configuration and a URL to an open store.

import CairnModel
import Foundation

extension NSPersistentStoreCoordinator {
  /// Opens a store without adding it. Throws as `addPersistentStore`.
  final func open(
    _ type: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    if let kind = StoreRegistry.all[type], case .custom(let storeClass) = kind {
      return try open(storeClass, type, configuration, url, options)
    }
    let factory = try factory(type, url)
    let model = try compiledModel()
    guard let entities = servedEntities(configuration, model) else {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "the model has no configuration \"\(configuration ?? "")\"")
    }
    let facade = factory.storeClass.init(
      persistentStoreCoordinator: self, configurationName: configuration, at: url ?? nowhere, options: options
    )
    let readOptions = StoreOptions(options)
    let version = managedObjectModel.version(ofConfiguration: configuration)
    let request = StoreFactory.Request(
      schema: model.schema, entities: entities, url: url, isReadOnly: facade.isReadOnly,
      keepsHistory: readOptions.flag(NSPersistentHistoryTrackingKey), options: options ?? [:],
      versionHashes: version?.hashes ?? [:], versionIdentifiers: version?.identifiers ?? [],
      modelSource: { [managedObjectModel] in
        (try? managedObjectModel.document.contents()).map { String(decoding: $0, as: UTF8.self) }
      })
    if let files = factory.files {
      try requireFile(url, facade.isReadOnly)
      try requireVersion(files, request, type)
    }
    facade.attach(try openError { try openStore(factory, request) }, type: type, url: url)
    return facade
  }

  private final func openStore(
    _ factory: StoreFactory, _ request: StoreFactory.Request
  ) throws -> any PersistentStore {
    factory.type == NSInMemoryStoreType && MemoryStores.isMemory(request.url)
      ? try MemoryStores.open(request) : try factory.open(request)
  }

  /// The factory of a type; the one of stores in memory where the URL says so and the type is one of files.
  private final func factory(_ type: String, _ url: URL?) throws -> StoreFactory {
    let fileTypes = [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType]
    if case .factory(let factory)? = StoreRegistry.all[type] {
      return MemoryStores.isMemory(url) && factory.files != nil ? try StoreRegistry.memory() : factory
    }
    if MemoryStores.isMemory(url), fileTypes.contains(type) { return try StoreRegistry.memory() }
    guard case .factory(let factory) = try StoreRegistry.kind(for: type) else {
      throw NSError.coreData(NSPersistentStoreInvalidTypeError, "the type \"\(type)\" has just changed")
    }
    return factory
  }

  /// Opens a subclass of `NSAtomicStore` or `NSIncrementalStore`.
  private final func open(
    _ storeClass: NSPersistentStore.Type, _ type: String, _ configuration: String?, _ url: URL?,
    _ options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let model = try compiledModel()
    guard let entities = servedEntities(configuration, model) else {
      throw NSError.coreData(
        NSPersistentStoreOpenError, "the model has no configuration \"\(configuration ?? "")\"")
    }
    let facade = storeClass.init(
      persistentStoreCoordinator: self, configurationName: configuration, at: url ?? nowhere, options: options
    )
    let engine = try openError { () throws -> any PersistentStore in
      guard let custom = facade as? any CustomStore else {
        throw NSError.coreData(NSPersistentStoreInvalidTypeError, "\(storeClass) is no custom store")
      }
      return try custom.openEngine(model, entities)
    }
    facade.attach(engine, type: type, url: url)
    return facade
  }

  /// Where a store in memory is said to be while it is made.
  private final var nowhere: URL { URL(fileURLWithPath: "/dev/null") }

  /// What `body` throws, under one of Core Data's numbers.
  private final func openError<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error where (error as NSError).domain == NSCocoaErrorDomain {
      throw error
    } catch {
      throw NSError.coreData(
        NSPersistentStoreCoordinator.openErrorCode(error), "the store couldn't be opened: \(error)",
        [NSUnderlyingErrorKey: error])
    }
  }

  static func openErrorCode(_ error: any Error) -> Int {
    guard let error = error as? StoreError else { return NSPersistentStoreOpenError }
    switch error.code {
    case .corrupt: return CocoaError.Code.fileReadCorruptFile.rawValue
    case .incompatibleSchema: return NSPersistentStoreIncompatibleVersionHashError
    case .fileSystem where error.isDenied: return CocoaError.Code.fileReadNoPermission.rawValue
    case .fileSystem where error.isMissing: return CocoaError.Code.fileReadNoSuchFile.rawValue
    default: return NSPersistentStoreOpenError
    }
  }

  /// Throws 134100 for a store that was made with another version of the model.
  private final func requireVersion(
    _ files: StoreFactory.Files, _ request: StoreFactory.Request, _ type: String
  ) throws {
    // A file that can't be read says so when the store is opened.
    guard let url = request.url, FileManager.default.fileExists(atPath: url.path),
      let stored = try? files.metadata(url)
    else { return }
    if stored.versionHashes.isEmpty || stored.versionHashes == request.versionHashes { return }
    let differing = Set(stored.versionHashes.keys).union(request.versionHashes.keys).filter {
      stored.versionHashes[$0] != request.versionHashes[$0]
    }
    throw NSError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "the model used to open the store at \(url.path) isn't the one that it was made with; they differ in: "
        + differing.sorted().joined(separator: ", "),
      [
        "metadata": NSPersistentStore.dictionary(stored, type: type),
        "reason": "The model used to open the store is incompatible with the one used to create the store",
        NSFilePathErrorKey: url.path,
      ])
  }

  private final func requireFile(_ url: URL?, _ isReadOnly: Bool) throws {
    guard let url else {
      throw NSError.coreData(NSPersistentStoreOpenError, "a store in a file needs a URL")
    }
    guard isReadOnly, !FileManager.default.fileExists(atPath: url.path) else { return }
    throw NSError.coreData(
      CocoaError.Code.fileReadNoSuchFile.rawValue, "there is no store at \(url.path) to be read",
      [NSFilePathErrorKey: url.path, "reason": "Attempt to open missing file read only"])
  }

  final func compiledModel() throws -> CompiledModel {
    do {
      return try managedObjectModel.compiled()
    } catch {
      throw NSError.coreData(
        NSPersistentStoreIncompatibleSchemaError, "\(error)", [NSUnderlyingErrorKey: error])
    }
  }

  /// The concrete entities of a configuration, with those that inherit from them; nil when there is none of that
  /// name.
  final func servedEntities(_ configuration: String?, _ model: CompiledModel) -> [EntityID]? {
    let all = model.entities.filter { !$0.schema.isAbstract }.map(\.id)
    guard let configuration, configuration != PF_DEFAULT_CONFIGURATION_NAME else { return all }
    guard let listed = managedObjectModel.entities(forConfigurationName: configuration) else { return nil }
    let served = Set(listed.flatMap { model.entities[$0.compiledIndex].schema.concreteFamily })
    return all.filter(served.contains)
  }
}

/// A subclass of `NSPersistentStore` that is open by way of an adapter.
protocol CustomStore: NSPersistentStore {
  /// Loads what the store has and puts an adapter over it. `entities` are the concrete ones to be served.
  func openEngine(_ model: CompiledModel, _ entities: [EntityID]) throws -> any PersistentStore
}
