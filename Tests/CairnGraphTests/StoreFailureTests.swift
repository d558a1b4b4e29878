// What contexts do when their store fails, with a store that fails when it is told to.

import Cairn
import Testing

@testable import CairnGraph

/// A store in memory whose answers can be replaced by an error, or spoilt.
///
/// Sendable: the switches are set by the one test that uses the store.
final class FailingStore: PersistentStore, @unchecked Sendable {
  static let traits = StoreTraits(type: "Failing", isDurable: false, isFileBased: false)
  private let store: MemoryStore
  var failsReads = false
  /// Only looking up rows by key.
  var failsRows = false
  var beforeSnapshot: (() throws -> Void)?
  var failsCommits = false
  var spoilsRows = false
  /// Run before it closes.
  var onClose: () throws -> Void = {}

  init(schema: Schema) { store = MemoryStore(schema: schema) }

  private func read<T>(_ work: () throws -> T) throws -> T {
    if failsReads { throw StoreError(.fileSystem, "the disk is gone") }
    return try work()
  }

  /// The batch without the last column of its chunks.
  private func spoil(_ batch: RowBatch) -> RowBatch {
    if !spoilsRows { return batch }
    let chunks = batch.chunks.map { chunk in
      Chunk(
        entity: chunk.entity, count: chunk.count, firstKey: chunk.firstKey, explicitKeys: nil,
        versions: chunk.versions, deleted: chunk.deleted, columns: chunk.columns.dropLast())
    }
    return RowBatch(chunks: chunks, places: batch.places)
  }

  var schema: Schema { store.schema }
  var metadata: StoreMetadata {
    get { store.metadata }
    set { store.metadata = newValue }
  }

  func snapshot() throws -> any StoreSnapshot {
    try beforeSnapshot?()
    return try store.snapshot()
  }

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    try read { spoil(try store.fetch(request, in: snapshot)) }
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    try read { try store.count(request, in: snapshot) }
  }

  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    try read { try store.aggregate(request, in: snapshot) }
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    if failsRows { throw StoreError(.fileSystem, "the disk is gone") }
    return try read { spoil(try store.rows(keys, in: snapshot)) }
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    try read { try store.related(sources, through: relationship, in: snapshot) }
  }

  func commit(_ changes: ChangeSet) throws -> Commit {
    if failsCommits { throw StoreError(.fileSystem, "the disk is full") }
    return try store.commit(changes)
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try store.reserveKeys(count, root: root)
  }

  func history(after generation: Generation) throws -> [Commit] { try store.history(after: generation) }
  func purgeHistory(through generation: Generation) throws { try store.purgeHistory(through: generation) }

  func close() throws {
    try onClose()
    try store.close()
  }
}

@Suite struct StoreFailureTests {
  let context: NSManagedObjectContext
  let store: FailingStore

  init() throws {
    StoreRegistry.register(StoreFactory(type: "Failing") { FailingStore(schema: $0.schema) })
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let facade = try coordinator.addPersistentStore(ofType: "Failing", configurationName: nil, at: nil)
    store = try #require(facade.store as? FailingStore)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  private func savedTag() throws -> Tag {
    let tag = Tag(context: context)
    tag.text = "red"
    try context.save()
    return tag
  }

  @Test func `a commit that fails leaves the context as it was, and a later save succeeds`() throws {
    let tag = Tag(context: context)
    tag.text = "red"
    store.failsCommits = true
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134_030)
    #expect(error?.userInfo[NSUnderlyingErrorKey] as? StoreError == StoreError(.fileSystem, ""))
    #expect(tag.isInserted && tag.objectID.isTemporaryID && tag.text == "red")
    store.failsCommits = false
    try context.save()
    #expect(!tag.objectID.isTemporaryID)
  }

  @Test func `what fails after a commit doesn't fail the save`() throws {
    let tag = Tag(context: context)
    tag.text = "red"
    store.failsReads = true
    try context.save()
    #expect(!context.hasChanges && tag.isFault && !tag.objectID.isTemporaryID)
    store.failsReads = false
    #expect(tag.text == "red")
  }

  @Test func `an error under a getter is thrown by the next fetch or save`() throws {
    let tag = try savedTag()
    context.refresh(tag, mergeChanges: false)
    store.failsReads = true
    #expect(tag.text.isEmpty && tag.people.isEmpty)
    store.failsReads = false
    #expect(throws: StoreError(.fileSystem, "")) { try context.fetch(request(Tag.self)) }
    #expect(try context.fetch(request(Tag.self)).count == 1)
    context.refresh(tag, mergeChanges: false)
    #expect(tag.text == "red")
  }

  @Test func `an object that couldn't be read asks again, and is deleted when it is to be`() throws {
    let tag = try savedTag()
    context.refresh(tag, mergeChanges: false)
    store.failsReads = true
    #expect(tag.text.isEmpty && tag.isFault)
    store.failsReads = false
    #expect(throws: StoreError(.fileSystem, "")) { try context.save() }
    #expect(tag.text == "red")
    context.refresh(tag, mergeChanges: false)
    store.failsReads = true
    #expect(tag.text.isEmpty)
    context.delete(tag)
    #expect(throws: (any Error).self) { try context.save() }
    #expect(throws: (any Error).self) { try context.save() }
    #expect(tag.isDeleted)
    store.failsReads = false
    #expect(throws: Never.self) {
      do { try context.save() } catch { try context.save() }  // what was kept under a getter comes first
    }
    #expect(try store.count(StoreRequest(entity: try tag.entityID(store)), in: store.snapshot()) == 0)
  }

  @Test func `a change to an object that couldn't be read overwrites nothing else`() throws {
    context.mergePolicy = NSMergePolicy.overwrite
    let person = Person(context: context)
    person.name = "Ada"
    person.age = 30
    try context.save()
    context.refresh(person, mergeChanges: false)
    store.failsReads = true
    person.age = 31
    store.failsReads = false
    do { try context.save() } catch { try context.save() }
    context.refresh(person, mergeChanges: false)
    #expect(person.name == "Ada" && person.age == 31)
  }

  @Test func `a row that somebody deletes right after the save leaves a fault, not another entity's row`()
    throws
  {
    let company = Company(context: context)
    company.name = "C"
    let tag = Tag(context: context)
    tag.text = "T"
    store.beforeSnapshot = { [store] in
      store.beforeSnapshot = nil
      var changes = ChangeSet()
      changes.delete(RowKey(entity: try store.schema.requireEntity(named: "Company").id, id: 1))
      _ = try store.commit(changes)
    }
    try context.save()
    #expect(company.isFault)
    #expect(company.name == nil && tag.text == "T")
  }

  @Test func `134040: what one store has saved is told of when another refuses`() throws {
    let model = TestModel.make()
    model.setEntities([model.entitiesByName["Tag"]!], forConfigurationName: "Fails")
    model.setEntities(
      ["Company", "Person", "Manager"].map { model.entitiesByName[$0]! }, forConfigurationName: "Works")
    for relation in model.entitiesByName["Person"]!.relationshipsByName where relation.key == "tags" {
      relation.value.isTransient = true
      relation.value.inverseRelationship?.isTransient = true
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Works", at: nil)
    let facade = try coordinator.addPersistentStore(ofType: "Failing", configurationName: "Fails", at: nil)
    let failing = try #require(facade.store as? FailingStore)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let (ada, bob) = (Person(context: context), Person(context: context))
    ada.name = "Ada"
    try context.save()
    let saves = Notes(.NSManagedObjectContextDidSave, context)
    failing.failsCommits = true
    context.delete(ada)
    bob.name = "Bob"
    let tag = Tag(context: context)
    tag.text = "red"
    let error = thrown { try context.save() }
    #expect(error?.code == NSPersistentStoreIncompleteSaveError)
    #expect(saves.objects(NSDeletedObjectsKey) == [ada] && saves.objects(NSUpdatedObjectsKey) == [bob])
    #expect(ada.managedObjectContext == nil && !ada.hasChanges && !bob.hasChanges)
    #expect(context.insertedObjects == [tag] && tag.text == "red")
    failing.failsCommits = false
    try context.save()
    #expect(!context.hasChanges && saves.objects(NSInsertedObjectsKey, 1) == [tag])
  }

  @Test func `a dictionary fetch throws when what a row leads to can't be read`() throws {
    let person = Person(context: context)
    person.name = "Ada"
    person.company = Company(context: context)
    try context.save()
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", "company.name"]
    #expect(try context.fetch(request).count == 1)
    store.failsRows = true
    #expect(throws: StoreError(.fileSystem, "")) { try context.fetch(request) }
  }

  @Test func `rows that don't have the model's columns are refused`() throws {
    let tag = try savedTag()
    store.spoilsRows = true
    #expect(throws: StoreError(.corrupt, "")) { try context.fetch(request(Tag.self)) }
    context.refresh(tag, mergeChanges: false)
    #expect(tag.text.isEmpty)
    #expect(throws: StoreError(.corrupt, "")) { try context.save() }
  }

  @Test func `an error of a fetch is thrown as it is`() throws {
    store.failsReads = true
    #expect(throws: StoreError(.fileSystem, "")) { try context.fetch(request(Tag.self)) }
    #expect(throws: StoreError(.fileSystem, "")) { try context.count(for: request(Tag.self)) }
    #expect(throws: StoreError(.fileSystem, "")) { try context.aggregate("Tag", [.init(.count, nil)]) }
  }
}

extension NSManagedObject {
  fileprivate func entityID(_ store: FailingStore) throws -> EntityID {
    try store.schema.requireEntity(named: entity.name ?? "").id
  }
}
