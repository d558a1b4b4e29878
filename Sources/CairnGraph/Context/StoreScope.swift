// One store as one context works with it: the tables of its entities, and the objects that are known of it.
//
// A coordinator may have several stores, and their keys mean different rows; so everything that goes by key
// stands here. Keys of unsaved objects are negative and made up by the context, one sequence for all stores.

import CairnModel
import Foundation

/// Confined to the context's queue. A scope without a store holds new objects until a store is added.
final class StoreScope {
  let model: CompiledModel
  private let contextReference: Unmanaged<NSManagedObjectContext>
  fileprivate(set) var store: NSPersistentStore?
  /// The store, if single rows can be had from it.
  private(set) var singleRows: (any SingleRowStore)?
  /// By entity, made when first used.
  private var tables: [EntityTable?]
  /// By root entity: every saved object that the context knows.
  let maps: [IdentityMap]
  /// `maps` once more, for look-ups without counting references.
  let quickMaps: UnsafeMutablePointer<Unmanaged<IdentityMap>>
  /// What the IDs of the store's objects name as their origin.
  private(set) var storeUUID: UUID?
  /// Objects that have a key but aren't saved yet (`obtainPermanentIDs`).
  private(set) var reserved: [RowKey: NSManagedObject] = [:]
  private var registeredAfterSweep = 0

  init(_ model: CompiledModel, _ store: NSPersistentStore?, _ context: NSManagedObjectContext) {
    self.model = model
    self.store = store
    singleRows = store?.store as? any SingleRowStore
    contextReference = .passUnretained(context)
    tables = model.entities.map { _ in nil }
    maps = model.entities.map { _ in IdentityMap() }
    quickMaps = .allocate(capacity: maps.count)
    for (index, map) in maps.enumerated() { (quickMaps + index).initialize(to: .passUnretained(map)) }
    storeUUID = store?.uuid
  }

  deinit { quickMaps.deallocate() }

  /// The scope is the context's own, so that it never outlives it.
  var context: NSManagedObjectContext { contextReference.takeUnretainedValue() }

  func detach() {
    for table in tables { table?.detach() }
  }

  func adoptStore(_ store: NSPersistentStore) {
    self.store = store
    storeUUID = store.uuid
    singleRows = store.store as? any SingleRowStore
  }

  func table(_ id: EntityID) -> EntityTable {
    if let table = tables[id.index] { return table }
    let made = EntityTable(model[id], model, contextReference.takeUnretainedValue(), self)
    tables[id.index] = made
    return made
  }

  // MARK: Looking up

  /// The object with that key if the context knows it.
  func knownObject(_ key: Int64, root: EntityID) -> NSManagedObject? {
    if key < 0 { return context.insertedObject(temporaryKey: key) }
    return savedObject(key, root: root)
  }

  /// The same for a positive key.
  @inline(__always)
  func savedObject(_ key: Int64, root: EntityID) -> NSManagedObject? {
    precondition(root.index < maps.count, "an entity of another model")
    if let found = quickMaps[root.index]._withUnsafeGuaranteedRef({ $0.object(key) }) { return found }
    return reserved.isEmpty ? nil : reserved[RowKey(entity: root, id: key)]
  }

  /// The object with that key, as a fault if it isn't known. Its row is only looked for where `entity` has
  /// children, to learn which of them it is; a key without a row becomes a fault of `entity`.
  func object(key: Int64, in entity: EntityID) -> NSManagedObject {
    let described = model[entity]
    if let known = savedObject(key, root: described.schema.root) { return known }
    return unknownObject(key: key, in: table(entity))
  }

  /// The same for a key that isn't known.
  func unknownObject(key: Int64, in table: EntityTable) -> NSManagedObject {
    if table.entity.isAlone { return make(table, nil, 0, key) }
    let described = table.entity.schema
    if described.concreteFamily.count > 1,
      let found = context.row(RowKey(entity: described.id, id: key), in: self)
    {
      return register(found)
    }
    return make(self.table(described.concreteFamily.first ?? described.id), nil, 0, key)
  }

  /// The same for any key; nil for that of a new object that is gone.
  func anyObject(key: Int64, in entity: EntityID) -> NSManagedObject? {
    key > 0 ? object(key: key, in: entity) : context.insertedObject(temporaryKey: key)
  }

  func objects(keys: [Int64], in entity: EntityID) -> [NSManagedObject] {
    let described = model[entity].schema
    guard described.concreteFamily.count > 1 else {
      return keys.compactMap { anyObject(key: $0, in: entity) }
    }
    let unknown = keys.filter { $0 > 0 && knownObject($0, root: described.root) == nil }
    if !unknown.isEmpty,
      let batch = try? context.rows(unknown.map { RowKey(entity: entity, id: $0) }, in: self)
    {
      let held = register(batch)
      return withExtendedLifetime(held) { keys.compactMap { anyObject(key: $0, in: entity) } }
    }
    return keys.compactMap { anyObject(key: $0, in: entity) }
  }

  /// Whether nothing was committed to the store since.
  func isAt(_ generation: Generation) -> Bool { (try? store?.store.snapshot().generation) == generation }

  // MARK: Registering rows

  /// The objects of rows: those that are known, unchanged by it unless they are faults, or new ones.
  ///
  /// The rows' chunks have been checked (`EntityTable.check`).
  func register(_ batch: RowBatch) -> [NSManagedObject] {
    collectIfDoubled()
    let tables = batch.chunks.map { table($0.entity) }
    var result: [NSManagedObject] = []
    result.reserveCapacity(batch.count)
    batch.places.withUnsafeBufferPointer { places in
      var next = 0
      while next < places.count {
        // Rows of one chunk follow each other, mostly.
        let index = places[next].chunk
        var end = next + 1
        while end < places.count, places[end].chunk == index { end += 1 }
        register(
          places[next..<end], of: batch.chunks[Int(index)], tables[Int(index)], &result)
        next = end
      }
    }
    return result
  }

  private func register(
    _ places: Slice<UnsafeBufferPointer<RowBatch.Place>>, of chunk: Chunk, _ table: EntityTable,
    _ result: inout [NSManagedObject]
  ) {
    let map = maps[table.root.index]
    let context = context
    let type = table.objectClass
    let entity = table.entity.description
    for place in places {
      let row = Int32(place.row)
      let key = chunk.key(Int(row))
      if let known = map.object(key) {
        if known.flags == .isFault, known.table === table { (known.chunk, known.row) = (chunk, row) }
        result.append(known)
        continue
      }
      context.making = ObjectInTheMaking(table, chunk, row, key)
      let object = type.init(entity: entity, insertInto: context)
      context.making = nil
      map.insert(object, key)
      result.append(object)
    }
  }

  /// A new object for a row that has none yet.
  func register(_ row: FetchedRow) -> NSManagedObject {
    make(row.table, row.chunk, Int32(row.row), row.key)
  }

  /// A new object for a row that has none yet; without a chunk, a fault whose row hasn't been looked for.
  private func make(_ table: EntityTable, _ chunk: Chunk?, _ row: Int32, _ key: Int64) -> NSManagedObject {
    let context = context
    context.making = ObjectInTheMaking(table, chunk, row, key)
    let object = table.objectClass.init(entity: table.entity.description, insertInto: context)
    context.making = nil
    quickMaps[table.root.index]._withUnsafeGuaranteedRef { $0.insert(object, key) }
    return object
  }

  /// Makes a saved object known under its key.
  func add(_ object: NSManagedObject) {
    maps[object.table.root.index].insert(object, object.key)
  }

  func remove(_ object: NSManagedObject) {
    maps[object.table.root.index].remove(object.key)
  }

  func reserve(_ object: NSManagedObject, _ key: Int64) {
    reserved[RowKey(entity: object.table.entity.schema.root, id: key)] = object
  }

  func giveBack(_ key: Int64, root: EntityID) { reserved[RowKey(entity: root, id: key)] = nil }

  func forgetReserved() { reserved = [:] }

  func clearDrafts() {
    for table in tables { table?.clearDrafts() }
  }

  var saved: [NSManagedObject] { maps.flatMap(\.all) }

  /// Forgets every saved object.
  func removeAll() {
    for map in maps { map.removeAll() }
    registeredAfterSweep = 0
  }

  // MARK: Letting go

  /// Lets go of unchanged objects that only the context holds, looking at so many places of each map.
  func collect(placeCount: Int) {
    var freed: [NSManagedObject] = []
    for index in maps.indices where maps[index].count > 0 {
      freed += maps[index].collect(places: placeCount)
    }
    for object in freed where !object.isFault {
      object.willTurnIntoFault()
      object.flags.insert(.isFault)
      object.didTurnIntoFault()
    }
    freed.removeAll()
  }

  func collectIfDoubled() {
    if context.retainsRegisteredObjects { return }
    let count = maps.reduce(0) { $0 + $1.count }
    if count < 2 * registeredAfterSweep + 2_048 { return }
    collect(placeCount: .max)
    registeredAfterSweep = maps.reduce(0) { $0 + $1.count }
  }
}

extension NSManagedObjectContext {
  /// The scopes in the order of the coordinator's stores, brought up to date with them: there is at least one.
  final var scopes: [StoreScope] {
    syncScopes()
    return knownScopes
  }

  private final func syncScopes() {
    // Read before the list: if that changes in between, the next call sees another number.
    let generation = coordinator?.storesGeneration ?? 0
    if generation == syncedGeneration, !knownScopes.isEmpty { return }
    defer { syncedGeneration = generation }
    let model = compiledModel
    let stores = coordinator?.persistentStores ?? []
    if knownScopes.isEmpty, stores.isEmpty { knownScopes = [StoreScope(model, nil, self)] }
    guard stores.count != knownScopes.count || zip(stores, knownScopes).contains(where: { $0 !== $1.store }),
      !(stores.isEmpty && knownScopes.count == 1 && knownScopes[0].store == nil)
    else { return }
    var rest = knownScopes
    var waiting = rest.firstIndex { $0.store == nil }.map { rest.remove(at: $0) }
    var result: [StoreScope] = []
    for store in stores {
      if let index = rest.firstIndex(where: { $0.store === store }) {
        result.append(rest.remove(at: index))
      } else if let adopting = waiting {
        adopting.adoptStore(store)
        result.append(adopting)
        waiting = nil
      } else {
        result.append(StoreScope(model, store, self))
      }
    }
    for gone in rest { invalidate(gone) }
    knownScopes = result.isEmpty ? [waiting ?? StoreScope(model, nil, self)] : result
    for case let object? in inserted where !serves(object.table.scope, object.table.entity.id) {
      move(object, to: scope(forNew: object.table.entity.id))
    }
  }

  /// A store was removed: its objects keep what they have read, and nothing more can be read of them.
  private final func invalidate(_ scope: StoreScope) {
    invalidateResults()
    for object in scope.saved { kill(object) }
    for case let object? in inserted where object.table.scope === scope { uninsert(object) }
    changeCount += 1
    updatedList.removeAll { $0.flags.contains(.isDead) }
    updatedCount = updatedList.count { $0.isUpdated }
    deleted.removeAll { $0.flags.contains(.isDead) }
    scope.removeAll()
    retired.append(scope)
  }

  /// The table that the last new object began in, if that is of the entity and the next one begins there too.
  @inline(__always)
  final func lastTable(of entity: NSEntityDescription) -> EntityTable? {
    guard let lastTable, lastTable.entity == Unmanaged.passUnretained(entity).toOpaque(),
      coordinator?.storesGeneration == syncedGeneration
    else { return nil }
    return lastTable.table
  }

  /// Whether objects of an entity may be kept in the scope's store.
  final func serves(_ scope: StoreScope?, _ entity: EntityID) -> Bool {
    guard let scope, knownScopes.contains(where: { $0 === scope }) else { return false }
    guard let store = scope.store, let coordinator else { return true }
    return coordinator.stores(for: entity).contains { $0 === store }
  }

  /// Where a new object of the entity goes, unless it is assigned to a store.
  final func scope(forNew entity: EntityID) -> StoreScope {
    syncScopes()
    if knownScopes.count == 1 { return knownScopes[0] }
    let scopes = knownScopes
    let serving = coordinator?.stores(for: entity) ?? []
    let chosen = serving.first { !$0.isReadOnly } ?? serving.first
    return scopes.first { $0.store === chosen } ?? scopes[0]
  }

  final func scope(origin: UUID) -> StoreScope? {
    if let first = knownScopes.first, first.storeUUID == origin { return first }
    return scopes.first { $0.storeUUID == origin }
  }

  /// The scope whose store keeps the entity's objects; the first of them.
  final func scope(serving entity: EntityID) -> StoreScope {
    let scopes = scopes
    return scopes.count == 1 ? scopes[0] : scopes.first { serves($0, entity) } ?? scopes[0]
  }
}
