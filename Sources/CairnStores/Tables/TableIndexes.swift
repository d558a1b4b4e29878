// The indexes of one table, shared by all of its versions.
//
// An index finds *candidates*: every live row with the wanted values is among them, but some may have been
// changed or deleted since, or share a word with another value. Whoever asks checks each candidate against its
// own version of the table. So nothing ever has to be taken out of an index at a commit, deletes cost it
// nothing, and one structure serves many versions.
//
// An index is built on first use, by a reader, from that reader's version of the table. Commits only note which
// keys they touched; the next reader adds these keys as a sorted run. A reader never waits for a writer. A writer
// waits for an index that is being built only where it asks for one itself, to check uniqueness or links.

import CairnModel

/// Finds rows of one table by the values of some of its slots.
final class TableIndexes: Sendable {
  private struct State {
    var indexes: [[Int]: TableIndex] = [:]
    /// Whether commits are noted: from the first build on.
    var isNoting = false
    /// The last version that was made without a note. An index of an older version can't catch up.
    var unnotedSerial: Int64 = 0
    /// What commits touched, oldest first, as far as some index hasn't caught up with it.
    var notes: [Note] = []
    var noteKeyCount = 0
  }

  struct Note: Sendable {
    let serial: Int64
    let keys: [Int64]
    /// nil for inserts, which touch every slot.
    let slots: [Int]?
  }

  private let types: [ValueType]
  private let state = Lock(State())
  /// Held while an index is built or caught up, so that two readers don't do the same work; never by `note`.
  private let building = Lock(())

  /// What counts columns of the table that couldn't be read; nil for tables that are in memory as a whole.
  private let damage: DamageLog?

  init(types: [ValueType], damage: DamageLog?) {
    self.types = types
    self.damage = damage
  }

  /// Takes down what a commit touches. Called by the writer before it publishes the version `serial`.
  func note(serial: Int64, keys: [Int64], slots: [Int]?, rowCount: Int) {
    state.withLock { state in
      guard state.isNoting else {
        state.unnotedSerial = serial
        return
      }
      state.notes.append(Note(serial: serial, keys: keys, slots: slots))
      state.noteKeyCount += keys.count
      // Nobody has asked for a long time: building anew will be cheaper than catching up.
      if state.noteKeyCount > max(4096, rowCount) || state.notes.count > 100_000 {
        state = State()
        state.unnotedSerial = serial
      }
    }
  }

  func isBuilt(_ slots: [Int]) -> Bool { state.withLock { $0.indexes[slots] != nil } }

  /// The index on `slots` as `table` needs it. Builds it or catches up where needed; nil for a version older
  /// than what the index remembers, whose rows have to be looked through instead.
  func index(on slots: [Int], for table: Table) -> TableIndex? {
    if let ready = known(slots), ready.serial >= table.serial {
      return ready.serves(table.serial) ? ready : nil
    }
    return building.withLock { _ in
      // Another reader may have done the work meanwhile.
      let (known, missed) = begin(slots, table)
      if let known, known.serial >= table.serial { return known.serves(table.serial) ? known : nil }
      guard let missed else { return nil }
      let damageBefore = damage?.count
      let result =
        known?.catchingUp(with: missed, to: table) ?? TableIndex(on: slots, types: types, of: table)
      // An index of what couldn't be read serves the request that fails for it, and no other.
      if damage?.count == damageBefore { finish(slots, result) }
      return result
    }
  }

  private func known(_ slots: [Int]) -> TableIndex? { state.withLock { $0.indexes[slots] } }

  /// What is there to start from, and what it missed; no `missed` where it isn't known.
  private func begin(_ slots: [Int], _ table: Table) -> (known: TableIndex?, missed: [Note]?) {
    state.withLock { state in
      state.isNoting = true
      guard let known = state.indexes[slots] else {
        return (nil, table.serial >= state.unnotedSerial ? [] : nil)
      }
      let missed = state.notes.filter { note in
        note.serial > known.serial && note.serial <= table.serial
          && (note.slots.map { touched in slots.contains { touched.contains($0) } } ?? true)
      }
      return (known, missed)
    }
  }

  private func finish(_ slots: [Int], _ index: TableIndex) {
    state.withLock { state in
      // Notes were given up while the index was being built: it serves this reader and nobody else.
      guard state.isNoting, index.serial >= state.unnotedSerial || state.indexes[slots] != nil else { return }
      state.indexes[slots] = index
      let oldest = state.indexes.values.reduce(Int64.max) { min($0, $1.serial) }
      guard let first = state.notes.first, first.serial <= oldest else { return }
      state.notes.removeAll { $0.serial <= oldest }
      // An index that is built later from an older version couldn't learn of what these notes said.
      state.unnotedSerial = max(state.unnotedSerial, oldest)
      state.noteKeyCount = state.notes.reduce(0) { $0 + $1.keys.count }
    }
  }

  /// What the indexes take in memory.
  var footprint: Int { state.withLock { $0.indexes.values.reduce(0) { $0 + $1.footprint } } }
}
