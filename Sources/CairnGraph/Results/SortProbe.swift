// Whether an object's sort keys have changed: the results say "moved" of it then, wherever it stands.

import CairnModel
import Foundation

/// Looks at the slots of an object's own row that decide where it stands.
///
/// Of a key over a relationship that is the slot which leads away: what lies behind can change without the
/// object, so that an equal key doesn't say that the value is as before.
struct SortProbe {
  private struct Term {
    let slot: Int
    let path: BoundPath
  }

  enum Answer { case unchanged, changed, unknown }

  private var terms: [Term] = []
  /// Whether a key hangs on more than those slots.
  private var isPartial = false

  init(_ order: ObjectOrder, _ model: CompiledModel) {
    for path in order.paths {
      switch (path.hops.first, path.target) {
      case (nil, .slot(let slot)): terms.append(Term(slot: slot, path: path))
      case (nil, .ownKey): continue
      case (let hop?, _):
        isPartial = true
        if let slot = model[hop].keySlot { terms.append(Term(slot: slot, path: path)) }
      }
    }
  }

  /// The slots' values as the context's last event has left them; nil where they aren't known any more.
  func valuesBeforeEvent(of object: NSManagedObject) -> [Value]? {
    let isInEvent = object.flags.contains(.inEvent)
    if object.flags.contains(.isDraft) {
      guard isInEvent else { return terms.map { object.peekedValue($0.slot) } }
      guard let before = object.changes?.valuesBeforeEvent else { return nil }
      return terms.map { before[$0.slot] ?? .null }
    }
    guard let chunk = object.chunk, object.flags.isDisjoint(with: [.isInaccessible, .isDead]) else {
      return nil
    }
    let changes = isInEvent ? object.changes?.valuesBeforeEvent : object.changes?.values
    var values: [Value] = []
    for term in terms {
      if let changed = changes?[term.slot] {
        values.append(changed)
        continue
      }
      let column = chunk.columns[term.slot]
      if column.damage != nil { return nil }
      values.append(column.value(Int(object.row)))
    }
    return values
  }

  /// Whether sort keys of the object are others than before.
  func compare(_ object: NSManagedObject, with before: [Value]?) -> Answer {
    guard let before else { return .unknown }
    for (term, old) in zip(terms, before) {
      let new = object.peekedValue(term.slot)
      if Value.compare(old, new) == 0 { continue }
      if term.path.hops.isEmpty { return .changed }
      if Value.compare(object.value(at: term.path, firstKey: old), object.value(at: term.path)) != 0 {
        return .changed
      }
    }
    return isPartial ? .unknown : .unchanged
  }
}
