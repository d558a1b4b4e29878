// Attributes of an object as values: where they are read and where a change goes.

import CairnModel
import Foundation

extension NSManagedObject {
  // MARK: Faults

  /// Makes sure that the object has its row, and calls `awakeFromFetch` if it was a fault.
  @usableFromInline
  final func fire() {
    guard flags.contains(.isFault) else { return }
    if flags.contains(.isDead) {
      flags.remove(.isFault)
      return
    }
    if chunk == nil { loadRow() }
    if chunk == nil { return }
    flags.remove(.isFault)
    if flags.contains(.isInaccessible) {
      table.context?.handleInaccessible(self)
      return
    }
    flags.insert(.isAwaking)
    awakeFromFetch()
    flags.remove(.isAwaking)
  }

  /// Fires the fault if the object is nothing but a fault. Returns whether it shows its row as it is now.
  @inline(never) @usableFromInline
  final func wakes() -> Bool {
    guard flags == .isFault else { return false }
    fire()
    return flags.isEmpty
  }

  /// Takes the newest row of the store, or a row of nulls if it has none. Where the store can't be read, nobody
  /// knows: everything stays as it is, so that an object without a row shows nulls and asks again, and the context
  /// has the error for its next fetch or save.
  final func loadRow() {
    do {
      if let found = try table.context?.loadRow(of: self) {
        (chunk, row) = (found.chunk, Int32(found.row))
        flags.remove(.isInaccessible)
      } else {
        (chunk, row) = (table.emptyRow(key: key), 0)
        flags.insert(.isInaccessible)
      }
    } catch {
      table.context?.keep(error)
    }
  }

  /// Becomes the row of a store, unchanged. Not for objects that stand in one of the context's lists.
  final func settle(on chunk: Chunk?, _ row: Int) {
    self.chunk = chunk
    self.row = Int32(row)
    if let changes {
      if changes.hasReadMore { changes.forgetSaved() } else { self.changes = nil }
    }
    flags.remove([
      .isDraft, .isUpdated, .isListed, .inEvent, .hasOverlay, .isInaccessible, .didAwakeFromInsert,
      .isAssigned,
    ])
    if chunk == nil { flags.insert(.isFault) }
  }

  /// Gives up the row and everything that was read or changed: the next read of a property fetches it anew.
  final func turnIntoFault() {
    if !isFault { willTurnIntoFault() }
    let wasFault = isFault
    chunk = nil
    changes = nil
    flags.remove([.hasOverlay, .isInaccessible])
    flags.insert(.isFault)
    if !wasFault { didTurnIntoFault() }
  }

  // MARK: Reading

  /// The value of a slot: the changed one, else the draft's or the row's. Fires the fault.
  final func slotValue(_ slot: Int) -> Value {
    if flags.contains(.isDraft) { return table.draftValue(slot, Int(row)) }
    if flags.contains(.isFault), !flags.contains(.isAwaking) { fire() }
    if flags.contains(.hasOverlay), let value = changes?.values[slot] { return value }
    return chunk?.withColumn(slot) { value(in: $0) } ?? .null
  }

  /// As `slotValue`, but the object stays a fault if it is one.
  final func peekedValue(_ slot: Int) -> Value {
    if flags.contains(.isDraft) { return table.draftValue(slot, Int(row)) }
    if chunk == nil, !flags.contains(.isDead) { loadRow() }
    if flags.contains(.hasOverlay), let value = changes?.values[slot] { return value }
    return chunk?.withColumn(slot) { value(in: $0) } ?? .null
  }

  /// The key in a to-one slot; negative for an unsaved destination. Fires the fault.
  final func slotKey(_ slot: Int) -> Int64? {
    if flags.contains(.isDraft) { return table.draftKey(slot, Int(row)) }
    fire()
    if flags.contains(.hasOverlay), let value = changes?.values[slot] {
      if case .key(let key) = value { return key }
      return nil
    }
    guard let chunk else { return nil }
    // Nobody lets go of the chunk meanwhile.
    return Unmanaged.passUnretained(chunk)._withUnsafeGuaranteedRef {
      $0.withColumn(slot) { sound($0).isNull(Int(row)) ? nil : $0.integer(Int(row)) }
    }
  }

  /// The value that is stored, whatever was changed since; null for a new object.
  final func storedValue(_ slot: Int) -> Value {
    if flags.contains(.isDraft) { return .null }
    if chunk == nil { fire() }
    return chunk?.withColumn(slot) { value(in: $0) } ?? .null
  }

  /// The row's value in a column; null, and as `sound` says, where it is kept apart and can't be read.
  private func value(in column: Column) -> Value {
    let value = sound(column).value(Int(row))
    if let failure = column.failure(at: Int(row)) { meet(failure) }
    return value
  }

  /// The column itself. Where it stands in for one that couldn't be read, its nulls are no values: the object
  /// becomes one that can't be read, and the context throws why at the next fetch or save.
  private func sound(_ column: Column) -> Column {
    if let damage = column.damage { meet(damage) }
    return column
  }

  @inline(never)
  private func meet(_ damage: StoreError) {
    flags.insert(.isInaccessible)
    managedObjectContext?.keep(damage)
  }

  // MARK: Writing

  /// Puts a value that fits into a slot. Doesn't mark the object as changed.
  final func writeSlot(_ slot: Int, _ value: Value) {
    if flags.contains(.isDraft) { return table.setDraft(slot, Int(row), value) }
    fire()
    ensureChanges().values[slot] = value
    flags.insert(.hasOverlay)
  }

  final func ensureChanges() -> ObjectChanges {
    if let changes { return changes }
    let made = ObjectChanges()
    changes = made
    return made
  }

  /// To be called before a change is made: marks the object as changed, unless it is awaking from a fetch.
  final func noteChange() {
    if flags.isDisjoint(with: [.inEvent, .isAwaking]) { table.context?.noteChange(of: self) }
  }

  // MARK: Transient attributes

  final func transientValue(_ name: String) -> Any? {
    fire()
    if let value = changes?.transients[name] { return value }
    return table.entity.transientDefaults[name]
  }

  final func setTransient(_ name: String, _ value: Any?) {
    fire()
    ensureChanges().transients[name] = .some(value)
  }

  // MARK: Programmer errors

  final func trapWrongType(_ key: String, _ value: Any?, desired: String) -> Never {
    let type = value.map { "\(Swift.type(of: $0))" } ?? "nil"
    fatalError(
      "Unacceptable type of value for attribute: property = \"\(key)\"; desired type = \(desired); given type = "
        + "\(type); value = \(value.map { "\($0)" } ?? "nil").")
  }
}
