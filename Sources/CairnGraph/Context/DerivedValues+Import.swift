// The derived values of rows that no context has made: tables say what they are of, and maybe what they are.

import CairnModel

/// Brings rows into a store, with the derived values that a context would have saved with them.
package struct DerivedImport {
  /// A derived value that was given and doesn't follow from the rows, and the one that was written instead.
  package struct Correction: Sendable {
    package let row: RowKey
    package let slot: Int
    package let given: Value
    package let written: Value
  }

  private let store: NSPersistentStore
  private let plan: DerivedPlan?

  /// Throws what is wrong with the model of the store's coordinator.
  package init(into store: NSPersistentStore) throws {
    self.store = store
    plan = try store.persistentStoreCoordinator?.compiledModel().derived
  }

  /// The slots of an entity's derived attributes, inherited ones too.
  package func slots(of entity: EntityID) -> Set<Int> { plan?.slots[entity.index] ?? [] }

  /// Those of them that are the time of the save. Nothing else tells what it was, so that what is given is kept.
  package func times(of entity: EntityID) -> Set<Int> {
    Set((plan?.attributes ?? []).filter { $0.isTime && $0.family.contains(entity) }.map(\.slot))
  }

  /// Commits new rows of which derived values are given in some columns, or none. What is given of `times` stays as it
  /// is, and so does a sum of floating-point numbers that adding in another order may have made, since keys have
  /// another order here. All others are what a save gives them. Throws as `PersistentStore.commit`.
  package func commit(_ changes: ChangeSet) throws -> [Correction] {
    guard let plan, plan.isTouched(by: changes) else {
      _ = try store.store.commit(changes)
      return []
    }
    return try store.derivation.withLock { _ in
      let values = DerivedValues(plan, try RowsAfterSave(changes, store.store), keepsGiven: true)
      try values.compute()
      _ = try store.store.commit(values.completedInserts())
      return values.corrections
    }
  }
}

extension DerivedValues {
  /// What new rows get where a column says something of a derived attribute: `computed`, or what is given.
  func reconciled(_ computed: [Value], _ batch: ChangeSet.Inserts, _ attribute: DerivedAttribute) throws
    -> [Value]
  {
    guard let column = batch.columns[attribute.slot] else { return computed }
    let given = try batch.keys.indices.map { try RowsAfterSave.value(column, $0) }
    if attribute.isTime { return given }
    var result = computed
    var differing: [Int] = []
    for row in given.indices where !given[row].isNull {
      // The sign of a zero, and the bits of what is no number, are those that are given.
      if given[row] == computed[row] { result[row] = given[row] } else { differing.append(row) }
    }
    let others = try sumsInOtherOrders(attribute, differing.map { batch.keys[$0] })
    for (row, others) in zip(differing, others) {
      if let others, others.contains(given[row], as: attribute.type) {
        result[row] = given[row]
      } else {
        corrections.append(
          DerivedImport.Correction(
            row: RowKey(entity: batch.entity, id: batch.keys[row]), slot: attribute.slot, given: given[row],
            written: computed[row]))
      }
    }
    return result
  }

  /// Where sums of the same numbers lie that were added in other orders; nil for what is no sum of floating-point
  /// numbers.
  private func sumsInOtherOrders(_ attribute: DerivedAttribute, _ keys: [Int64]) throws
    -> [ClosedRange<Double>?]
  {
    guard case .sum(let relation, let source) = attribute.form else { return keys.map { _ in nil } }
    let members = try links(relation).destinations(of: keys)
    return try keys.map { key in
      let summands = try values(of: source, members[key] ?? [], areMembers: true)
      var size = 0.0
      for case .double(let summand) in summands { size += abs(summand) }
      for case .float(let summand) in summands { size += abs(Double(summand)) }
      // Of n additions each rounds by half of that at most, and so did each of the other order.
      let error = Double(summands.count) * .ulpOfOne * size
      guard error > 0, let sum = DerivedValues.sum(summands[...]).nearestDouble, (sum + error).isFinite,
        (sum - error).isFinite
      else { return nil }
      return (sum - error)...(sum + error)
    }
  }
}

extension DerivedAttribute {
  fileprivate var isTime: Bool { if case .now = form { true } else { false } }
}

extension ClosedRange<Double> {
  /// Whether a slot of the type may have the value of a number in here.
  fileprivate func contains(_ value: Value, as type: ValueType) -> Bool {
    Value.compare(Value.double(lowerBound).nearest(type), value) <= 0
      && Value.compare(value, Value.double(upperBound).nearest(type)) <= 0
  }
}
