// What an object holds beyond its row: changed values, transient values, and changed links.

import CairnModel
import Foundation

/// The unsaved side of one object. Confined to its context's queue.
final class ObjectChanges {
  // Unchecked exclusivity, here and in `PendingLinks`: both are confined to the context's queue, and no access
  // to a field calls out.
  /// By slot; keys of unsaved objects are negative. A new object's slots are in the draft instead.
  @exclusivity(unchecked) var values: SmallMap<Int, Value> = [:]
  @exclusivity(unchecked) private var event = EventStart.none
  // Apart, so that what most changed objects have lies in little memory: a save walks over many of them.
  /// nil where there are none.
  @exclusivity(unchecked) private var changedLinks: ChangedLinks?
  /// What few objects have; nil where there is none of it.
  private var rarities: Rarities?

  /// `values` as they were when the event began that goes on; of a new object, its whole row.
  private enum EventStart {
    case none
    case empty
    indirect case values(SmallMap<Int, Value>)
  }

  private final class ChangedLinks {
    @exclusivity(unchecked) var links: SmallMap<RelationshipID, PendingLinks> = [:]
    /// The pending links that were asked for last: a long run of additions is to one relationship.
    /// `links` holds them, and whatever takes them out of it forgets them here.
    @exclusivity(unchecked) var last: (relation: RelationshipID, pending: Unmanaged<PendingLinks>)?
  }

  private final class Rarities {
    var transients: [String: Any?] = [:]
    var fetched: [String: NSArray] = [:]
    var prefetched: [RelationshipID: PrefetchedKeys] = [:]
    var readRelations: Set<RelationshipID> = []
    var reservedKey: Int64?
  }

  private var madeRarities: Rarities {
    if let rarities { return rarities }
    let made = Rarities()
    rarities = made
    return made
  }

  /// Values of transient attributes. Kept when the object is saved.
  var transients: [String: Any?] {
    get { rarities?.transients ?? [:] }
    set { madeRarities.transients = newValue }
  }

  /// Results of fetched properties, kept until the object is refreshed.
  var fetched: [String: NSArray] {
    get { rarities?.fetched ?? [:] }
    set { madeRarities.fetched = newValue }
  }

  /// Stored members of to-many relationships that a fetch has brought along.
  var prefetched: [RelationshipID: PrefetchedKeys] {
    get { rarities?.prefetched ?? [:] }
    set { madeRarities.prefetched = newValue }
  }

  /// Whether a to-many relationship was read since the object was a fault.
  func wasRead(_ relation: RelationshipID) -> Bool {
    rarities?.readRelations.contains(relation) ?? false
  }

  func noteRead(_ relation: RelationshipID) {
    if !wasRead(relation) { madeRarities.readRelations.insert(relation) }
  }

  /// The key that a new object will have, once it was asked for its permanent ID.
  var reservedKey: Int64? {
    get { rarities?.reservedKey }
    set { if newValue != nil || rarities != nil { madeRarities.reservedKey = newValue } }
  }

  /// Whether anything in here outlives a save.
  var hasReadMore: Bool {
    guard let rarities else { return false }
    return !(rarities.transients.isEmpty && rarities.readRelations.isEmpty && rarities.fetched.isEmpty)
  }

  /// The changed links by relationship.
  var links: SmallMap<RelationshipID, PendingLinks> { changedLinks?.links ?? [:] }

  /// `values` as they were when the event began that goes on; of a new object, its whole row. nil outside of one.
  var valuesBeforeEvent: SmallMap<Int, Value>? {
    switch event {
    case .none: nil
    case .empty: [:]
    case .values(let values): values
    }
  }

  /// Adds a key to an unordered to-many relationship that doesn't have it.
  func addNew(_ key: Int64, to relation: RelationshipID) {
    if let last = changedLinks?.last, last.relation == relation {
      last.pending._withUnsafeGuaranteedRef { $0.add(key, isNew: true) }
    } else {
      let pending = pendingLinks(relation)
      changedLinks?.last = (relation, .passUnretained(pending))
      pending.add(key, isNew: true)
    }
  }

  /// The last of the fields, for walks that read ahead.
  var hasRarities: Bool { rarities != nil }
  /// Whether `links` has any, without counting a reference to them.
  var hasLinks: Bool { changedLinks != nil }
  var hasSavable: Bool { !values.isEmpty || hasLinks }

  /// The changed links of one relationship, made if there are none yet.
  func pendingLinks(_ relation: RelationshipID) -> PendingLinks {
    let holder = changedLinks ?? ChangedLinks()
    changedLinks = holder
    if let found = holder.links[relation] { return found }
    let made = PendingLinks()
    holder.links[relation] = made
    return made
  }

  func forgetLinks(_ relation: RelationshipID) {
    guard let changedLinks else { return }
    changedLinks.last = nil
    changedLinks.links[relation] = nil
    if changedLinks.links.isEmpty { self.changedLinks = nil }
  }

  /// Forgets everything that a save has written.
  func forgetSaved() {
    values = [:]
    changedLinks = nil
    event = .none
  }

  /// Forgets everything but links.
  func forgetRow() {
    values = [:]
    event = .none
    guard let rarities else { return }
    rarities.transients = [:]
    rarities.fetched = [:]
    rarities.prefetched = [:]
    rarities.readRelations = []
  }

  func beginEvent() { event = values.isEmpty ? .empty : .values(values) }

  func beginEvent(row: [Value]) {
    event = .values(SmallMap(uniqueKeysWithValues: row.enumerated().map { ($0, $1) }))
  }

  func endEvent() {
    event = .none
    if let changedLinks { for (_, pending) in changedLinks.links { pending.isOfEvent = false } }
  }
}

/// Changes to the destinations of one relationship of one object that aren't in a slot of its own row.
final class PendingLinks {
  /// A to-one's destination where the row of another object holds the key: `.some(nil)` is none.
  var destination: Int64?? { didSet { isOfEvent = true } }
  /// For an ordered to-many that was changed: the whole list.
  var list: OrderedKeys? { didSet { isOfEvent = true } }
  /// Added to an unordered to-many. Only filled while nothing was removed: see `add`.
  @exclusivity(unchecked) private(set) var added: [Int64] = []
  /// For an unordered to-many: whether a key was added (true) or removed (false). Has all changes, and `added`
  /// none, once it isn't empty.
  @exclusivity(unchecked) private var changed: [Int64: Bool] = [:]
  /// The stored members, once they were asked for.
  var storedMembers: Set<Int64>?
  /// Whether the event that goes on has changed something here.
  @exclusivity(unchecked) var isOfEvent = false

  /// Adds a key to an unordered to-many. `isNew`: the caller knows that it is no member; then a long run of
  /// additions costs no look-ups.
  func add(_ key: Int64, isNew: Bool) {
    isOfEvent = true
    if isNew, changed.isEmpty { return added.append(key) }
    settle()
    changed[key] = true
  }

  func remove(_ key: Int64) {
    isOfEvent = true
    settle()
    changed[key] = false
  }

  private func settle() {
    for key in added { changed[key] = true }
    added = []
  }

  /// Whether the key was added (true), removed (false), or nothing is known here.
  func membership(_ key: Int64) -> Bool? {
    if !added.isEmpty { settle() }
    return changed[key]
  }

  /// All changes of membership.
  var membership: [Int64: Bool] {
    settle()
    return changed
  }

  var changesMembership: Bool { !added.isEmpty || !changed.isEmpty }

  /// The stored members with the changes made to them.
  func members(of stored: [Int64]) -> [Int64] {
    if changed.isEmpty {
      if stored.isEmpty || added.isEmpty { return stored + added }
      // A member whose own row was read before others made it one is added here and stored as well.
      let known = Set(stored)
      return stored + added.filter { !known.contains($0) }
    }
    return stored.filter { changed[$0] == nil } + changed.filter(\.value).keys.sorted(by: >)
  }
}

/// A list of keys without duplicates, with a quick answer to whether one is in it.
struct OrderedKeys {
  private(set) var keys: [Int64]
  private var members: Set<Int64>

  init(_ keys: [Int64]) {
    self.keys = keys
    members = Set(keys)
  }

  func contains(_ key: Int64) -> Bool { members.contains(key) }

  mutating func append(_ key: Int64) {
    if members.insert(key).inserted { keys.append(key) }
  }

  /// Costs the length of the list.
  mutating func remove(_ key: Int64) {
    guard members.remove(key) != nil, let place = keys.firstIndex(of: key) else { return }
    keys.remove(at: place)
  }
}
