// An incremental store as Apple's guide has one written, over a dictionary that stands for a service.

import Cairn

/// What the service knows: records by name. One for each URL, and it outlives the stores.
final class DictionaryService: @unchecked Sendable {
  // Sendable: each test has its own, and uses it from one thread.
  struct Record {
    var entity: String
    var values: [String: Any] = [:]
    /// Names of related records.
    var toOne: [String: String] = [:]
    var version: UInt64 = 1
  }

  var records: [String: Record] = [:]
  var metadata: [String: Any] = [:]
  var metadataSaves = 0
  private var last = 0

  func newName() -> String {
    last += 1
    return "r\(last)"
  }

  private static let lock = NSLock()
  nonisolated(unsafe) private static var services: [URL: DictionaryService] = [:]

  static func at(_ url: URL) -> DictionaryService {
    lock.withLock {
      if let known = services[url] { return known }
      let made = DictionaryService()
      services[url] = made
      return made
    }
  }
}

final class DictionaryStore: NSIncrementalStore, @unchecked Sendable {
  static let name = "DictionaryStore"

  override var type: String { DictionaryStore.name }
  private var service: DictionaryService { DictionaryService.at(url!) }

  override func loadMetadata() throws {
    if service.metadata.isEmpty {
      service.metadata = [
        NSStoreTypeKey: DictionaryStore.name,
        NSStoreUUIDKey: DictionaryStore.identifierForNewStore(at: url!),
      ]
    }
    metadata = service.metadata
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let fetch as NSFetchRequest<NSFetchRequestResult>: return try run(fetch, context!)
    case let save as NSSaveChangesRequest: return try run(save)
    default:
      throw NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreUnsupportedRequestTypeError)
    }
  }

  private func run(
    _ fetch: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext
  ) throws -> [Any] {
    guard let entity = fetch.entity else { return [] }
    let wanted = Set([entity] + (fetch.includesSubentities ? entity.subentities : [])).compactMap(\.name)
    let names = service.records.filter { wanted.contains($0.value.entity) }.keys
      .sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    var objects = names.map { name in context.object(with: id(name)) }
    if let key = fetch.sortDescriptors?.first?.key {
      objects.sort { "\($0.value(forKey: key) ?? "")" < "\($1.value(forKey: key) ?? "")" }
    }
    objects = Array(objects.dropFirst(fetch.fetchOffset))
    return fetch.fetchLimit > 0 ? Array(objects.prefix(fetch.fetchLimit)) : objects
  }

  private func id(_ name: String) -> NSManagedObjectID {
    let model = persistentStoreCoordinator!.managedObjectModel
    return newObjectID(for: model.entitiesByName[service.records[name]!.entity]!, referenceObject: name)
  }

  private func run(_ save: NSSaveChangesRequest) throws -> [Any] {
    guard let inserted = save.insertedObjects, let updated = save.updatedObjects,
      let deleted = save.deletedObjects
    else {
      service.metadata = metadata
      service.metadataSaves += 1
      return []
    }
    for object in inserted.union(updated) {
      let name = referenceObject(for: object.objectID) as! String
      var record = service.records[name] ?? DictionaryService.Record(entity: object.entity.name!, version: 0)
      record.version += 1
      for key in object.entity.attributesByName.keys { record.values[key] = object.value(forKey: key) }
      for (key, relationship) in object.entity.relationshipsByName where !relationship.isToMany {
        let other = object.value(forKey: key) as? NSManagedObject
        record.toOne[key] = other.map { referenceObject(for: $0.objectID) as! String }
      }
      service.records[name] = record
    }
    for object in deleted { service.records[referenceObject(for: object.objectID) as! String] = nil }
    return []
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    guard let record = service.records[referenceObject(for: objectID) as! String] else {
      throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: record.values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let name = referenceObject(for: objectID) as! String
    guard relationship.isToMany else {
      return service.records[name]?.toOne[relationship.name].map(id) ?? NSNull()
    }
    let inverse = relationship.inverseRelationship!.name
    return service.records.filter { $0.value.toOne[inverse] == name }.keys.map(id)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: service.newName()) }
  }
}
