// What a context keeps for each entity: the values of new objects, and a quick way from a property's name to its
// slot.

import CairnModel
import Foundation

/// One entity as one context works with it. Confined to the context's queue.
@usableFromInline final class EntityTable {
  let entity: CompiledEntity
  let model: CompiledModel
  let root: EntityID
  let entityIndex: Int32
  /// Of the description, which other objects hold weakly: retaining it to compare it would cost much.
  let entityAddress: UnsafeMutableRawPointer
  // Not a weak reference, because retaining an object that has weak references costs several times as much, and
  // contexts are retained all the time. The context clears it when it ends (`detach`), on the queue that both
  // are confined to.
  private var contextReference: Unmanaged<NSManagedObjectContext>?
  private var scopeReference: Unmanaged<StoreScope>?
  /// The scope's objects by key; empty without a context.
  private var maps: [IdentityMap] = []
  /// `maps` once more, without counting references to them; nil without a context.
  @exclusivity(unchecked) private var quickMaps: UnsafeMutablePointer<Unmanaged<IdentityMap>>?
  /// For the IDs of objects that outlive their context.
  private var lastStore: NSPersistentStore?
  private let contextIdentity: UUID
  private var permanentIDs: IDSpace?
  private var temporaryIDs: IDSpace?
  // Unchecked exclusivity: the table is confined to its context's queue, and no access calls out.
  /// The values of new objects: one builder a slot, one row an object.
  /// A builder may lack the last rows, which then have the default value.
  @exclusivity(unchecked) private var drafts: [ColumnBuilder] = []
  /// `drafts` once more, for the quick ways in: they are taken for each value that is set, so that counting a
  /// reference there would be most of their cost. `drafts` holds the builders.
  @exclusivity(unchecked) private var quickDrafts: UnsafeMutablePointer<Unmanaged<ColumnBuilder>>
  @exclusivity(unchecked) private(set) var draftCount = 0
  private var expectedDraftCount = 0
  private var knownAfterlife: EntityTable?
  /// What notes the reads of a probe for key paths; nil but for the table of a probe.
  var recorder: KeyRecorder?
  private var knownClass: NSManagedObject.Type?
  private var lastChecked: Chunk?
  /// The chunk of which `backedColumn` was asked last, and its columns as far as it was; both once more without
  /// counting references.
  private final var backedChunk: Chunk?
  private final var backedColumns: [Column?] = []
  @exclusivity(unchecked) @usableFromInline final var quickBackedChunk: UnsafeMutableRawPointer?
  @usableFromInline let quickBackedColumns: UnsafeMutablePointer<Unmanaged<Column>?>
  /// What a save checks of each object, and a deletion does to others.
  private(set) lazy var rules = EntityRules(entity, model)
  /// Whether `rules` has any that a changed or new object could break.
  private(set) lazy var hasPropertyRules = !rules.attributes.isEmpty || !rules.relationships.isEmpty
  private(set) lazy var hasDenyRules = !rules.denying.isEmpty
  private(set) lazy var deleteRules = DeleteRules(entity, model)
  @usableFromInline let cache: UnsafeMutablePointer<SlotCacheEntry>
  private var rememberedCount = 0

  init(
    _ entity: CompiledEntity, _ model: CompiledModel, _ context: NSManagedObjectContext?, _ scope: StoreScope?
  ) {
    self.entity = entity
    self.model = model
    root = entity.schema.root
    entityIndex = Int32(entity.id.index)
    entityAddress = Unmanaged.passUnretained(entity.description).toOpaque()
    contextReference = context.map { Unmanaged.passUnretained($0) }
    scopeReference = scope.map { Unmanaged.passUnretained($0) }
    if let scope { (maps, quickMaps) = (scope.maps, scope.quickMaps) }
    contextIdentity = context?.identity ?? UUID()
    quickDrafts = .allocate(capacity: entity.slotTypes.count)
    quickBackedColumns = .allocate(capacity: entity.slotTypes.count)
    cache = .allocate(capacity: SlotCacheEntry.count)
    cache.initialize(repeating: SlotCacheEntry(), count: SlotCacheEntry.count)
  }

  deinit {
    cache.deallocate()
    quickDrafts.deallocate()
    quickBackedColumns.deallocate()
  }

  /// nil for a table without a context, and when the context has ended.
  var context: NSManagedObjectContext? { contextReference?.takeUnretainedValue() }

  /// The store that the table's rows are of, as the context sees it; nil without a context.
  var scope: StoreScope? { scopeReference?.takeUnretainedValue() }

  /// Whether rows of both tables are of one store of one context.
  @inline(__always)
  func isOfSameScope(as other: EntityTable) -> Bool {
    guard let scopeReference, let others = other.scopeReference else { return false }
    return scopeReference.toOpaque() == others.toOpaque()
  }

  /// The saved object that the context knows under a key of a hierarchy, by its root's index.
  @inline(__always)
  func knownObject(_ key: Int64, rootIndex: Int) -> Unmanaged<NSManagedObject>? {
    quickMaps?[rootIndex]._withUnsafeGuaranteedRef { $0.quickObject(key) }
  }

  @inline(__always)
  func isOf(_ scope: StoreScope) -> Bool {
    scopeReference?.toOpaque() == Unmanaged.passUnretained(scope).toOpaque()
  }

  /// Called by the context when it ends; objects may outlive it.
  func detach() {
    lastStore = scope?.store
    contextReference = nil
    scopeReference = nil
    maps = []
    quickMaps = nil
  }

  /// A table of the same entity in no context, for objects that the context has done with.
  var afterlife: EntityTable {
    if let knownAfterlife { return knownAfterlife }
    let made = EntityTable(entity, model, nil, nil)
    made.lastStore = scope?.store
    knownAfterlife = made
    return made
  }

  /// A table for a single object without a context.
  static func detached(_ entity: NSEntityDescription) -> EntityTable {
    do {
      let model = try entity.managedObjectModel.compiled()
      return EntityTable(model.entities[entity.compiledIndex], model, nil, nil)
    } catch {
      fatalError("\(error)")
    }
  }

  var objectClass: NSManagedObject.Type {
    if let knownClass { return knownClass }
    let found = model.objectClass(of: entity)
    if found != NSManagedObject.self { knownClass = found }
    return found
  }

  func makeID(_ key: Int64) -> NSManagedObjectID {
    NSManagedObjectID(key == 0 ? -1 : key, in: idSpace(isPermanent: key > 0))
  }

  /// What IDs of the entity have in common. Those without a store can only be temporary.
  func idSpace(isPermanent: Bool) -> IDSpace {
    if isPermanent {
      if let permanentIDs { return permanentIDs }
      if let store = scope?.store ?? lastStore {
        // A scope's store stays, once it has one.
        let made = IDSpace(entity, store, origin: store.uuid)
        permanentIDs = made
        return made
      }
    }
    if let temporaryIDs { return temporaryIDs }
    let made = IDSpace(entity, nil, origin: contextIdentity)
    temporaryIDs = made
    return made
  }

  // MARK: Drafts

  /// Adds a row of default values and returns its number. Costs nothing yet: builders catch up when a later
  /// row is written.
  func addDraft() -> Int {
    if draftCount == 0 { makeBuilders() }
    draftCount += 1
    return draftCount - 1
  }

  private func makeBuilders() {
    drafts = entity.slotTypes.map { ColumnBuilder($0) }
    for (slot, draft) in drafts.enumerated() {
      (quickDrafts + slot).initialize(to: .passUnretained(draft))
      // Who inserts in instalments inserts as many again.
      if expectedDraftCount > 8 { draft.reserveCapacity(min(expectedDraftCount, 16_384)) }
    }
  }

  /// Works with the builder of a slot, without counting a reference to it: nothing that can be done with a builder
  /// lets go of it.
  @inline(__always)
  private func withDraft<T>(_ slot: Int, _ work: (ColumnBuilder) -> T) -> T {
    precondition(slot < drafts.count, "a new object was used after its save")
    return quickDrafts[slot]._withUnsafeGuaranteedRef(work)
  }

  func draftValue(_ slot: Int, _ row: Int) -> Value {
    let draft = drafts[slot]
    return row < draft.count ? draft.value(row) : entity.defaults[slot]
  }

  /// The key in a to-one slot; negative for an unsaved destination.
  func draftKey(_ slot: Int, _ row: Int) -> Int64? {
    withDraft(slot) { draft in
      row < draft.count && !draft.isNull(row) ? draft.integer(row) : nil
    }
  }

  /// Puts a value that fits into a row.
  func setDraft(_ slot: Int, _ row: Int, _ value: Value) {
    let draft = drafts[slot]
    do {
      try catchUp(slot, row)
      switch value {
      // Keys of unsaved destinations are negative, which fits no finished column.
      case .key(let key) where row < draft.count: draft.set(key, at: row)
      case .key(let key): draft.append(key)
      case _ where row < draft.count: try draft.set(value, at: row)
      default: try draft.append(value: value)
      }
    } catch {
      fatalError("\(entity.name).\(entity.schema.slots[slot].name): \(error)")
    }
  }

  // The quick ways in, for what fits the slot's type as it is. They return false where it doesn't, and nothing
  // is set then.

  @usableFromInline
  func setDraft(_ slot: Int, _ row: Int, integer value: Int64) -> Bool {
    withDraft(slot) { draft in
      switch draft.type {
      case .int64: break
      case .int32: if Int64(Int32(truncatingIfNeeded: value)) != value { return false }
      case .int16: if Int64(Int16(truncatingIfNeeded: value)) != value { return false }
      case .bool: if value & 1 != value { return false }
      default: return false
      }
      if row == draft.count { draft.append(value) } else { replace(draft, slot, row, value) }
      return true
    }
  }

  @usableFromInline
  func setDraft(_ slot: Int, _ row: Int, double value: Double, of type: ValueType) -> Bool {
    withDraft(slot) { draft in
      guard draft.type == type else { return false }
      if row > draft.count { catchUpWithDefaults(slot, row) }
      if row < draft.count { draft.set(value, at: row) } else { draft.append(value) }
      return true
    }
  }

  @usableFromInline
  func setDraft(_ slot: Int, _ row: Int, string value: String) -> Bool {
    withDraft(slot) { draft in
      guard draft.type == .string else { return false }
      if row > draft.count { catchUpWithDefaults(slot, row) }
      if row < draft.count { draft.set(value, at: row) } else { draft.append(value) }
      return true
    }
  }

  /// Puts a key, negative for an unsaved destination, into a to-one slot.
  func setDraft(_ slot: Int, _ row: Int, key: Int64) {
    withDraft(slot) { draft in
      if row == draft.count { draft.append(key) } else { replace(draft, slot, row, key) }
    }
  }

  private func replace(_ draft: ColumnBuilder, _ slot: Int, _ row: Int, _ value: Int64) {
    if row > draft.count { catchUpWithDefaults(slot, row) }
    if row < draft.count { draft.set(value, at: row) } else { draft.append(value) }
  }

  private func catchUpWithDefaults(_ slot: Int, _ row: Int) {
    do {
      try catchUp(slot, row)
    } catch {
      fatalError("\(entity.name): \(error)")  // defaults fit: the schema has checked them
    }
  }

  func draftIsNull(_ slot: Int, _ row: Int) -> Bool {
    let draft = drafts[slot]
    return row < draft.count ? draft.isNull(row) : entity.defaults[slot].isNull
  }

  /// The builders, one a slot, with all rows of drafts.
  func finishedDrafts() -> [ColumnBuilder] {
    do {
      for slot in drafts.indices { try catchUp(slot, draftCount) }
      return drafts
    } catch {
      fatalError("\(entity.name): \(error)")  // defaults fit: the schema has checked them
    }
  }

  private func catchUp(_ slot: Int, _ row: Int) throws {
    while drafts[slot].count < row { try drafts[slot].append(value: entity.defaults[slot]) }
  }

  /// Forgets all drafts: each has become a row of the store.
  func clearDrafts() {
    expectedDraftCount = draftCount
    drafts = []
    draftCount = 0
  }

  // MARK: Rows from a store

  /// The column of a slot of a chunk that doesn't hold it itself; nil for one that couldn't be read. Held by the
  /// table until a row of another chunk is asked for: so that the next property costs no lock.
  @inlinable @inline(__always)
  final func backedColumn(_ chunk: Unmanaged<Chunk>, _ slot: Int) -> Unmanaged<Column>? {
    if quickBackedChunk == chunk.toOpaque(), let known = quickBackedColumns[slot] { return known }
    return chunk._withUnsafeGuaranteedRef { readBackedColumn($0, slot) }
  }

  @inline(never) @usableFromInline
  final func readBackedColumn(_ chunk: Chunk, _ slot: Int) -> Unmanaged<Column>? {
    if backedChunk !== chunk {
      // Who reads row after row asks for the same properties of the next chunk.
      if let backedChunk, chunk.firstKey == backedChunk.lastKey &+ 1 {
        let slots = backedColumns.indices.filter { backedColumns[$0] != nil }
        chunk.readAhead(slots)
        // Else this thread and the other would take turns at the columns that are needed at once.
        chunk.readAheadBehind(slots)
      }
      backedChunk = chunk
      backedColumns = [Column?](repeating: nil, count: entity.slotTypes.count)
      quickBackedChunk = Unmanaged.passUnretained(chunk).toOpaque()
      quickBackedColumns.initialize(repeating: nil, count: entity.slotTypes.count)
    }
    let column = chunk.columns[slot]
    // Values that are kept apart may fail one by one: `slotValue` says so.
    if column.damage != nil || column.layout == .external { return nil }
    backedColumns[slot] = column
    quickBackedColumns[slot] = .passUnretained(column)
    return .passUnretained(column)
  }

  /// Throws unless the chunk has the slots of this entity: property reads rely on it.
  func check(_ chunk: Chunk) throws {
    if chunk === lastChecked { return }
    guard chunk.slotCount == entity.slotTypes.count,
      entity.slotTypes.indices.allSatisfy({ chunk.type(of: $0) == entity.slotTypes[$0] })
    else {
      throw StoreError(
        .corrupt, "the store handed out rows with other columns than the model's", entity: entity.name)
    }
    lastChecked = chunk
  }

  /// A row of nulls, for an object whose row is gone.
  func emptyRow(key: Int64) -> Chunk {
    Chunk.make(
      entity: entity.id, types: entity.slotTypes, keys: [key], versions: [0],
      columns: entity.slotTypes.map { _ in nil }, range: 0..<1)
  }

  // MARK: From names to slots

  /// The slot (or, for `relationshipBit`, the relationship) of a property that was looked up before under the
  /// same literal; -1 if it wasn't, or isn't of one of the types.
  ///
  /// A literal is known by its address: it is constant memory that ends with a zero byte, so an address always
  /// means the same name.
  @inlinable @inline(__always)
  func cachedSlot(_ key: StaticString, _ accepted: UInt32) -> Int {
    let address = UInt(bitPattern: key.utf8Start)
    var entry = cache + SlotCacheEntry.place(of: address)
    if entry.pointee.address != address { entry = cachedEntry(address) }
    return entry.pointee.typeBit & accepted != 0 ? Int(entry.pointee.slot) : -1
  }

  /// The relationship of a name that was looked up before: -1 in `slot` where it wasn't, or is none.
  @inline(__always)
  func cachedRelation(_ key: StaticString) -> SlotCacheEntry {
    let address = UInt(bitPattern: key.utf8Start)
    var entry = cache + SlotCacheEntry.place(of: address)
    if entry.pointee.address != address { entry = cachedEntry(address) }
    return entry.pointee.typeBit == SlotCacheEntry.relationshipBit ? entry.pointee : SlotCacheEntry()
  }

  /// The entry of an address, or an empty one where it has none. Entries stand at the first free place from their
  /// own on.
  @inline(never) @usableFromInline
  func cachedEntry(_ address: UInt) -> UnsafeMutablePointer<SlotCacheEntry> {
    var entry = cache + SlotCacheEntry.place(of: address)
    // There is always an empty entry: `remember` sees to it.
    while entry.pointee.address != 0, entry.pointee.address != address {
      entry = entry == cache + (SlotCacheEntry.count - 1) ? cache : entry + 1
    }
    return entry
  }

  private func remember(_ made: SlotCacheEntry) {
    if rememberedCount >= SlotCacheEntry.count * 3 / 4 {
      // Only names under many literals come to this.
      cache.update(repeating: SlotCacheEntry(), count: SlotCacheEntry.count)
      rememberedCount = 0
    }
    let entry = cachedEntry(made.address)
    if entry.pointee.address == 0 { rememberedCount += 1 }
    entry.pointee = made
  }

  /// What `key` means; remembers it for `cachedSlot`. An unknown key is a programmer error.
  func property(_ key: StaticString) -> CompiledProperty {
    let property = property(named: key.description)
    let address = UInt(bitPattern: key.utf8Start)
    switch property {
    case .attribute(let slot, let type):
      remember(SlotCacheEntry(address: address, slot: Int32(slot), typeBit: type.bit))
    case .relationship(let relation):
      remember(
        SlotCacheEntry(
          address: address, slot: Int32(relation.id.index), typeBit: SlotCacheEntry.relationshipBit,
          keySlot: Int32(relation.keySlot ?? -1), root: Int32(relation.destinationRoot.index),
          onlyDestination: Int32(relation.onlyDestination?.index ?? -1),
          unorderedInverse: Int32(relation.unorderedInverse?.index ?? -1)))
    case .transient: break
    }
    return property
  }

  /// What `key` means. An unknown key is a programmer error.
  func property(named key: String) -> CompiledProperty {
    guard let property = entity.properties[key] else {
      fatalError(
        "the entity \(entity.name) is not key value coding-compliant for the key \"\(key)\". Its properties "
          + "are: \(entity.properties.keys.sorted().joined(separator: ", "))")
    }
    return property
  }
}
