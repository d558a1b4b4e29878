// What an object holds beyond its row: changed values, transient values, and changed links.

import CairnModel

/// The unsaved side of one object. Confined to its context's queue.
final class ObjectChanges {
  /// By slot; keys of unsaved objects are negative. A new object's slots are in the draft instead.
  var values: [Int: Value] = [:]
  /// Kept when the object is saved.
  var transients: [String: Any?] = [:]
  private(set) var links: [RelationshipID: PendingLinks] = [:]

  /// The changed links of one relationship, made if there are none yet.
  func pendingLinks(_ relation: RelationshipID) -> PendingLinks {
    if let found = links[relation] { return found }
    let made = PendingLinks()
    links[relation] = made
    return made
  }

  func forgetLinks(_ relation: RelationshipID) {
    links[relation] = nil
  }

  /// Forgets everything that a save has written.
  func forgetSaved() {
    values = [:]
    links = [:]
  }
}

/// Changes to the destinations of one relationship of one object that aren't in a slot of its own row.
final class PendingLinks {
  /// A to-one's destination where the row of another object holds the key: `.some(nil)` is none.
  var destination: Int64??
  /// For an unordered to-many: whether a key was added (true) or removed (false).
  var membership: [Int64: Bool] = [:]
  /// For an ordered to-many that was changed: the whole list.
  var list: OrderedKeys?
}

/// A list of keys without duplicates, with a quick answer to whether one is in it.
struct OrderedKeys {
  private(set) var keys: [Int64]
  private var members: Set<Int64>

  init(_ keys: [Int64]) {
    self.keys = keys
    members = Set(keys)
  }

  mutating func append(_ key: Int64) {
    if members.insert(key).inserted { keys.append(key) }
  }

  /// Costs the length of the list.
  mutating func remove(_ key: Int64) {
    guard members.remove(key) != nil, let place = keys.firstIndex(of: key) else { return }
    keys.remove(at: place)
  }
}
