// What saves of derived values ask a store for, and when others may.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

/// A store in memory that counts what it is asked for.
///
/// Sendable: used by one test, on its thread.
final class AskedStore: PersistentStore, @unchecked Sendable {
  static let traits = StoreTraits(type: "Asked", isDurable: false, isFileBased: false)
  private let store: MemoryStore
  var snapshots = 0
  var rowsAsked = 0
  var sourcesAsked = 0
  var fetches = 0
  var beforeCommit: (() -> Void)?

  init(schema: Schema) { store = MemoryStore(schema: schema) }

  var schema: Schema { store.schema }
  var metadata: StoreMetadata {
    get { store.metadata }
    set { store.metadata = newValue }
  }

  func forget() { (snapshots, rowsAsked, sourcesAsked, fetches) = (0, 0, 0, 0) }

  func snapshot() throws -> any StoreSnapshot {
    snapshots += 1
    return try store.snapshot()
  }

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    fetches += 1
    return try store.fetch(request, in: snapshot)
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    fetches += 1
    return try store.count(request, in: snapshot)
  }

  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    fetches += 1
    return try store.aggregate(request, in: snapshot)
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    rowsAsked += keys.count
    return try store.rows(keys, in: snapshot)
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    sourcesAsked += sources.count
    return try store.related(sources, through: relationship, in: snapshot)
  }

  func commit(_ changes: ChangeSet) throws -> Commit {
    beforeCommit?()
    return try store.commit(changes)
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try store.reserveKeys(count, root: root)
  }
  func history(after generation: Generation) throws -> [Commit] { try store.history(after: generation) }
  func purgeHistory(through generation: Generation) throws { try store.purgeHistory(through: generation) }
  func close() throws { try store.close() }
}

@Suite struct DerivedCostTests {
  @Test func `saves that concern no derived attribute ask the store for nothing more`() throws {
    StoreRegistry.register(StoreFactory(type: "Asked") { AskedStore(schema: $0.schema) })
    for model in [DerivedModel.make(), TestModel.make()] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let facade = try coordinator.addPersistentStore(ofType: "Asked", configurationName: nil, at: nil)
      let store = try #require(facade.store as? AskedStore)
      let entity = model.entitiesByName["Note"] == nil ? "Tag" : "Note"
      let compiled = try model.compiled()
      #expect((compiled.derived == nil) == (entity == "Tag"))
      var changes = ChangeSet()
      let key = RowKey(entity: try compiled.schema.requireEntity(named: entity).id, id: 1)
      try changes.insert(key, ["text": "t"], in: compiled.schema)
      #expect(!(compiled.derived?.isTouched(by: changes) ?? false))
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      object.setValue("t", forKey: "text")
      store.forget()
      try context.save()
      // After the commit, the object's row.
      let plain = (store.rowsAsked, store.sourcesAsked, store.fetches)
      #expect(plain == (1, 0, 0), "\(plain)")
    }
  }

  @Test func `a save of one book asks about its shelf and its author, however many others there are`() throws
  {
    StoreRegistry.register(StoreFactory(type: "Asked") { AskedStore(schema: $0.schema) })
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
    let facade = try coordinator.addPersistentStore(ofType: "Asked", configurationName: nil, at: nil)
    let store = try #require(facade.store as? AskedStore)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      object.setValuesForKeys(values)
      return object
    }
    let shelves = (0..<50).map { make("Shelf", ["label": "\($0)"]) }
    for index in 0..<1_000 { _ = make("Book", ["price": 1, "shelf": shelves[index % 50]]) }
    try context.save()
    _ = make("Book", ["price": 1, "shelf": shelves[7]])
    store.forget()
    try context.save()
    #expect(store.sourcesAsked <= 2 && store.fetches == 0, "\(store.sourcesAsked) \(store.fetches)")
    #expect(store.rowsAsked < 30, "\(store.rowsAsked)")
  }

  @Test func `a save that is about to be committed keeps others from computing meanwhile`() throws {
    StoreRegistry.register(StoreFactory(type: "Asked") { AskedStore(schema: $0.schema) })
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
    let facade = try coordinator.addPersistentStore(ofType: "Asked", configurationName: nil, at: nil)
    let store = try #require(facade.store as? AskedStore)
    let contexts = (0..<2).map { _ in NSManagedObjectContext(.privateQueue) }
    for context in contexts { context.persistentStoreCoordinator = coordinator }
    func add(_ entity: String, to context: NSManagedObjectContext) -> NSManagedObject {
      NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    }
    let shelf = add("Shelf", to: contexts[0])
    try contexts[0].save()
    add("Book", to: contexts[0]).setValue(shelf, forKey: "shelf")
    let id = shelf.objectID
    let other = contexts[1]
    let isDone = DispatchSemaphore(value: 0)
    var isWaiting = false
    store.beforeCommit = {
      store.beforeCommit = nil
      other.perform {
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: other)
        book.setValue(other.object(with: id), forKey: "shelf")
        try? other.save()
        isDone.signal()
      }
      isWaiting = isDone.wait(timeout: .now() + 0.3) == .timedOut
    }
    try contexts[0].save()
    #expect(isWaiting)
    if isWaiting { isDone.wait() }
    contexts[0].refreshAllObjects()
    #expect(shelf.value(forKey: "count") as? Int == 2)
  }

  @Test func `a save whose sources can't be read fails, and changes nothing`() throws {
    StoreRegistry.register(StoreFactory(type: "DerivedFailing") { FailingStore(schema: $0.schema) })
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivedModel.make())
    let facade = try coordinator.addPersistentStore(
      ofType: "DerivedFailing", configurationName: nil, at: nil)
    let store = try #require(facade.store as? FailingStore)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
    try context.save()
    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
    book.setValue(shelf, forKey: "shelf")
    let before = try store.snapshot().generation
    store.failsReads = true
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSPersistentStoreSaveError)
    store.failsReads = false
    #expect(try store.snapshot().generation == before && context.hasChanges && book.isInserted)
    try context.save()
    context.refreshAllObjects()
    #expect(shelf.value(forKey: "count") as? Int == 1)
  }
}
