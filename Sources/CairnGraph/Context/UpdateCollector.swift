// The rows that a save changes, gathered by which slots change. Holds the columns that the last object's row is in, since
// the objects of a save lie together, mostly, and each look would cost counting references.

import CairnModel

/// Makes the update batches of one save.
final class UpdateCollector {
  private var batches: [UpdateBatch] = []
  private var places: [UpdateBatch.Kind: Int] = [:]
  private var lastBatch: UpdateBatch?
  /// Where the row of the last object is, and columns of that chunk; nil for those that have to be read with more care.
  private var lastChunk: Chunk?
  private var lastVersions: Column?
  private var lastColumn: Column?
  private var lastSlot = -1

  // MARK: Batches

  /// The batch in which only that slot changes, with the object's row added: its value is still to be appended.
  @inline(__always)
  func batch(of object: NSManagedObject, _ slot: Int) -> UpdateBatch {
    let entity = object.table.entityIndex
    if let lastBatch, lastBatch.isOnly(slot, entity) {
      lastBatch.add(object.key, version: version(of: object))
      return lastBatch
    }
    return batch(of: object, [slot])
  }

  /// The same of several slots, which ascend.
  func batch(of object: NSManagedObject, _ slots: [Int]) -> UpdateBatch {
    let found = batch(object.table.entity, slots)
    found.add(object.key, version: version(of: object))
    lastBatch = found
    return found
  }

  private func batch(_ entity: CompiledEntity, _ slots: [Int]) -> UpdateBatch {
    let kind = UpdateBatch.Kind(entity: entity.id, slots: slots)
    if let lastBatch, lastBatch.kind == kind { return lastBatch }
    if let place = places[kind] { return batches[place] }
    let made = UpdateBatch(kind, entity)
    places[kind] = batches.count
    batches.append(made)
    return made
  }

  /// All of them, in an order that doesn't depend on chance.
  func finish() -> [ChangeSet.Updates] {
    batches.sorted { ($0.kind.entity, $0.keys[0]) < ($1.kind.entity, $1.keys[0]) }.map { $0.finish() }
  }

  // MARK: What is stored

  /// As `NSManagedObject.storedValue`, of objects whose rows are in one chunk, mostly.
  @inline(__always)
  func storedValue(of object: NSManagedObject, _ slot: Int) -> Value {
    if !isInLastChunk(object) { openChunk(of: object) }
    if slot != lastSlot {
      let column = lastChunk?.columns[slot]
      // What can't be read, and what is kept apart, says so to its object.
      lastColumn = column?.damage == nil && column?.layout != .external ? column : nil
      lastSlot = slot
    }
    return lastColumn?.value(Int(object.row)) ?? object.storedValue(slot)
  }

  private func version(of object: NSManagedObject) -> Int64 {
    if !isInLastChunk(object) { openChunk(of: object) }
    return lastVersions?.integer(Int(object.row)) ?? object.rowVersion
  }

  @inline(__always)
  private func isInLastChunk(_ object: NSManagedObject) -> Bool {
    object.chunk != nil && object.chunk === lastChunk
  }

  private func openChunk(of object: NSManagedObject) {
    lastChunk = object.chunk
    let versions = lastChunk?.versions
    lastVersions = versions?.damage == nil ? versions : nil
    (lastSlot, lastColumn) = (-1, nil)
  }
}

/// The rows of one entity in which a save changes the same slots.
final class UpdateBatch {
  struct Kind: Hashable {
    let entity: EntityID
    let slots: [Int]
  }

  let kind: Kind
  /// One a slot; whoever adds an object appends its values.
  let columns: [ColumnBuilder]
  private(set) var keys: [Int64] = []
  private var versions: [Int64] = []
  private var isAscending = true
  private let entityIndex: Int32
  /// -1 where there are more.
  private let onlySlot: Int

  init(_ kind: Kind, _ entity: CompiledEntity) {
    self.kind = kind
    entityIndex = Int32(kind.entity.index)
    onlySlot = kind.slots.count == 1 ? kind.slots[0] : -1
    columns = kind.slots.map { ColumnBuilder(entity.slotTypes[$0]) }
  }

  func isOnly(_ slot: Int, _ entity: Int32) -> Bool { slot == onlySlot && entity == entityIndex }

  func add(_ key: Int64, version: Int64) {
    if let last = keys.last, key < last { isAscending = false }
    keys.append(key)
    versions.append(version)
  }

  func finish() -> ChangeSet.Updates {
    let order = isAscending ? nil : keys.indices.sorted { keys[$0] < keys[$1] }
    return ChangeSet.Updates(
      entity: kind.entity, keys: order.map { $0.map { keys[$0] } } ?? keys,
      versions: order.map { $0.map { versions[$0] } } ?? versions, slots: kind.slots,
      columns: columns.map { $0.finish(rows: order) })
  }
}
