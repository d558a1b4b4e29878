// An incremental store in the shape of `PersistentStore`: questions become calls of the subclass, its nodes
// become chunks.

import CairnModel
import Foundation

/// The adapter. It keeps no rows: every question is asked anew.
///
/// Sendable: the store's code is called with `references.lock` held, and the rest is constant or behind a lock.
final class IncrementalEngine: PersistentStore, @unchecked Sendable {
  static let traits = StoreTraits(type: "Incremental", isDurable: true, isFileBased: false)

  private final class Snapshot: StoreSnapshot {
    let generation: Generation
    init(_ generation: Generation) { self.generation = generation }
  }

  // The facade owns this; contexts hold the facade.
  private weak var facade: NSIncrementalStore?
  private let references: ReferenceTable
  private let entities: [EntityID]
  /// nil once closed.
  private let generation = Lock<Int64?>(0)

  init(_ facade: NSIncrementalStore, _ references: ReferenceTable, _ entities: [EntityID]) {
    self.facade = facade
    self.references = references
    self.entities = entities
  }

  private var model: CompiledModel { references.model }

  var schema: Schema { model.schema }

  var metadata: StoreMetadata {
    get { StoreMetadata(uuid: facade?.uuid ?? UUID(), type: facade?.type ?? "") }
    set {}  // the facade keeps its own
  }

  func snapshot() throws -> any StoreSnapshot {
    guard let number = generation.withLock({ $0 }) else { throw closed }
    return Snapshot(Generation(number))
  }

  private var closed: StoreError { StoreError(.storeClosed, "the store was removed from its coordinator") }

  /// Runs the subclass's code, with a context in which it can make objects of IDs.
  private func ask<T>(_ body: (NSIncrementalStore, NSManagedObjectContext) throws -> T) throws -> T {
    guard let facade, generation.withLock({ $0 != nil }) else { throw closed }
    references.lock.lock()
    defer { references.lock.unlock() }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = facade.persistentStoreCoordinator
    return try withExtendedLifetime(context) { try body(facade, context) }
  }

  // MARK: Asking

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    try ask { store, context in
      let fetch = try fetchRequest(request)
      let ids = try CustomValues.ids(try store.execute(fetch, with: context))
      return try batch(
        ids.map { ($0, try store.newValuesForObject(with: $0, with: context)) }, store, context)
    }
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    try ask { store, context in
      let result = try store.execute(try fetchRequest(request), with: context)
      if let list = result as? [Any], list.count == 1, let number = list[0] as? NSNumber {
        return number.intValue
      }
      return try CustomValues.ids(result).count
    }
  }

  private func fetchRequest(_ request: StoreRequest) throws -> NSFetchRequest<NSFetchRequestResult> {
    let entity = model[request.entity]
    let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: entity.name)
    fetch.entity = entity.description
    fetch.includesSubentities = request.includesSubentities
    fetch.predicateTree = request.predicate
    fetch.sortDescriptors = request.sort.map {
      NSSortDescriptor(key: $0.path.joined(separator: "."), ascending: $0.ascending)
    }
    fetch.fetchOffset = request.offset
    fetch.fetchLimit = request.limit ?? 0
    return fetch
  }

  /// Works on a copy of the whole store in memory: an incremental store has no words for figures.
  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    let tables = try StoreRegistry.makeTables(schema)
    var copier = try StoreCopier(from: self, to: tables, entities)
    try copier.copy()
    return try tables.aggregate(request, in: tables.snapshot())
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    try ask { store, context in
      try batch(keys.compactMap { try found($0, store, context) }, store, context)
    }
  }

  /// An object by key; nil when there is none.
  private func found(
    _ key: RowKey, _ store: NSIncrementalStore, _ context: NSManagedObjectContext
  ) throws -> (NSManagedObjectID, NSIncrementalStoreNode)? {
    guard let name = references.name(of: key.id, root: schema[key.entity].root) else { return nil }
    let id = references.id(key.id, model[name.entity], store)
    do {
      return (id, try store.newValuesForObject(with: id, with: context))
    } catch let error as NSError
      where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
    {
      return nil
    }
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    let relation = model[relationship]
    return try ask { store, context in
      var offsets = [0]
      var keys: [RowKey] = []
      for source in sources {
        var members = try destinations(source, relation, store, context)
        if !relation.isOrdered { members.sort() }
        keys += members
        offsets.append(keys.count)
      }
      return RelatedKeys(offsets: offsets, keys: keys)
    }
  }

  private func destinations(
    _ source: RowKey, _ relation: Relation, _ store: NSIncrementalStore, _ context: NSManagedObjectContext
  ) throws -> [RowKey] {
    guard let (id, node) = try found(source, store, context) else { return [] }
    guard let described = id.entity.relationshipsByName[relation.name] else { return [] }
    let value =
      try node.value(named: relation.name)
      ?? store.newValue(forRelationship: described, forObjectWith: id, with: context)
    let ids = relation.isToMany ? try CustomValues.ids(value) : try CustomValues.id(value).map { [$0] } ?? []
    return ids.map { RowKey(entity: relation.destination, id: $0.key) }
  }

  // MARK: Chunks

  private typealias Answer = (id: NSManagedObjectID, node: NSIncrementalStoreNode)

  /// Rows of nodes, in their order.
  private func batch(
    _ answers: [Answer], _ store: NSIncrementalStore, _ context: NSManagedObjectContext
  ) throws -> RowBatch {
    var byEntity: [Int: [Int]] = [:]
    for (index, answer) in answers.enumerated() {
      byEntity[answer.id.entity.compiledIndex, default: []].append(index)
    }
    var chunks: [Chunk] = []
    var places = [RowBatch.Place](repeating: RowBatch.Place(chunk: 0, row: 0), count: answers.count)
    for (entity, indices) in byEntity.sorted(by: { $0.key < $1.key }) {
      let sorted = indices.sorted { answers[$0].id.key < answers[$1].id.key }
      for start in stride(from: 0, to: sorted.count, by: Chunk.capacity) {
        let part = sorted[start..<min(start + Chunk.capacity, sorted.count)]
        // The same object twice in an answer is one row, in two places.
        var rows: [Int] = []
        for index in part {
          if rows.last.map({ answers[$0].id.key != answers[index].id.key }) ?? true { rows.append(index) }
          places[index] = RowBatch.Place(chunk: chunks.count, row: rows.count - 1)
        }
        chunks.append(try chunk(model.entities[entity], rows.map { answers[$0] }, store, context))
      }
    }
    return RowBatch(chunks: chunks, places: places)
  }

  private func chunk(
    _ entity: CompiledEntity, _ answers: [Answer], _ store: NSIncrementalStore,
    _ context: NSManagedObjectContext
  ) throws -> Chunk {
    let builders = entity.slotTypes.map { ColumnBuilder($0) }
    for (id, node) in answers {
      let values = CustomValues(entity: entity) { node.value(named: $0) }
      for (slot, builder) in builders.enumerated() {
        switch entity.schema.slots[slot].role {
        case .attribute: try builder.append(value: try values.attribute(slot))
        case .order: builder.appendNull()
        case .toOne(let relationship):
          let key = try toOne(model[relationship], id, node, store, context)
          if let key { builder.append(key) } else { builder.appendNull() }
        }
      }
    }
    return Chunk.make(
      entity: entity.id, types: entity.slotTypes, keys: answers.map(\.id.key),
      versions: answers.map { Int64(clamping: $0.node.version) }, columns: builders.map { $0.finish() },
      range: 0..<answers.count)
  }

  private func toOne(
    _ relation: Relation, _ id: NSManagedObjectID, _ node: NSIncrementalStoreNode,
    _ store: NSIncrementalStore, _ context: NSManagedObjectContext
  ) throws -> Int64? {
    if let value = node.value(named: relation.name) { return try CustomValues.id(value)?.key }
    guard let described = id.entity.relationshipsByName[relation.name] else { return nil }
    return try CustomValues.id(store.newValue(forRelationship: described, forObjectWith: id, with: context))?
      .key
  }

  // MARK: Saving

  /// Throws `CommitConflict` when a changed or deleted object isn't as the context has read it.
  func checkVersions(_ changes: ChangeSet) throws {
    var expected: [(RowKey, Int64)] = []
    for batch in changes.updates {
      for (key, version) in zip(batch.keys, batch.versions ?? []) {
        expected.append((RowKey(entity: batch.entity, id: key), version))
      }
    }
    for batch in changes.deletes {
      for (key, version) in zip(batch.keys, batch.versions ?? []) {
        expected.append((RowKey(entity: batch.entity, id: key), version))
      }
    }
    let stale = try ask { store, context in
      try expected.compactMap { key, version -> CommitConflict.Stale? in
        guard let answer = try found(key, store, context) else {
          return CommitConflict.Stale(key: key, expected: version, stored: nil)
        }
        if Int64(clamping: answer.1.version) == version { return nil }
        let row = StoredRow(try batch([answer], store, context), 0)
        return CommitConflict.Stale(key: key, expected: version, stored: row)
      }
    }
    if !stale.isEmpty { throw CommitConflict(stale: stale, duplicates: []) }
  }

  /// The record of a save that the store has made.
  func noteCommit(_ changes: ChangeSet) -> Commit {
    let number = generation.withLock { number in
      number = (number ?? 0) + 1
      return number ?? 0
    }
    let links = changes.links.map { ($0.owner, [schema[$0.relationship].name]) }
    let updates = changes.updates.flatMap { batch in
      batch.keys.map { key in
        (RowKey(entity: batch.entity, id: key), batch.slots.map { schema[batch.entity].slots[$0].name })
      }
    }
    return Commit(
      generation: Generation(number), author: changes.author, contextName: changes.contextName, time: Date(),
      inserted: changes.inserts.flatMap { batch in batch.keys.map { RowKey(entity: batch.entity, id: $0) } },
      updated: (updates + links).map { (key: $0.0, properties: $0.1) },
      deleted: changes.deletes.flatMap { batch in batch.keys.map { RowKey(entity: batch.entity, id: $0) } })
  }

  func commit(_ changes: ChangeSet) throws -> Commit { throw needsObjects }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> { throw needsObjects }

  private var needsObjects: StoreError {
    StoreError(
      .unsupportedRequest, "an incremental store is told of objects, not of rows",
      remedy: "save a context; rows can't be copied into it")
  }

  func history(after generation: Generation) throws -> [Commit] {
    if try snapshot().generation <= generation { return [] }
    throw StoreError(.historyPurged, "an incremental store keeps no history")
  }

  func purgeHistory(through generation: Generation) throws {}

  func close() throws { generation.withLock { $0 = nil } }
}
