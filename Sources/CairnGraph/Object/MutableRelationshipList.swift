// Ordered to-many relationships as Foundation's mutable collection: what `mutableOrderedSetValue(forKey:)` gives.
//
// Off Apple's systems a subclass can't override all of NSOrderedSet: `array`, `set`, `firstObject`, `lastObject`,
// `reversed`, enumerators and iteration read the base class's own memory. So that holds the members once more, and is
// brought up to date whenever the program changes the relationship, from whichever side.

import CairnModel
import Foundation

final class RelationshipList: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let relation: Relation
  /// How many members the base class has.
  private var mirroredCount = 0
  /// While the base class is given members it has to see its own state, not the relationship's.
  private var isMirroring = false
  private var isChanging = false

  init(_ owner: NSManagedObject, _ relation: Relation) {
    self.owner = owner
    self.relation = relation
    super.init(capacity: 0)
    mirror()
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { fatalError("a relationship isn't archived through its list") }

  @available(*, unavailable)
  required init(arrayLiteral elements: Any...) { fatalError("made by mutableOrderedSetValue(forKey:)") }

  private var members: [NSManagedObject] { owner.destinations(of: relation) }

  /// Brings the base class up to date, unless a change is under way here, which does so at its end.
  func mirror() {
    if isChanging { return }
    isMirroring = true
    defer { isMirroring = false }
    while mirroredCount > 0 {
      super.removeObject(at: mirroredCount - 1)
      mirroredCount -= 1
    }
    for member in members {
      super.insert(member, at: mirroredCount)
      mirroredCount += 1
    }
  }

  /// Gives the base class one member more, at the end.
  func mirror(adding member: NSManagedObject) {
    if isChanging { return }
    isMirroring = true
    defer { isMirroring = false }
    super.insert(member, at: mirroredCount)
    mirroredCount += 1
  }

  private func change(_ body: () -> Void) {
    isChanging = true
    body()
    isChanging = false
    mirror()
  }

  /// What `edit` makes of the members as an ordered set of its own becomes the relationship's.
  private func change(_ edit: (NSMutableOrderedSet) -> Void) {
    let plain = NSMutableOrderedSet(array: members)
    edit(plain)
    let edited = plain.array.map { owner.member($0, relation) }
    change { owner.setDestinations(of: relation, to: edited) }
  }

  // MARK: Asking

  override var count: Int { isMirroring ? mirroredCount : members.count }
  override func object(at idx: Int) -> Any { members[idx] }

  override func index(of object: Any) -> Int {
    guard let object = object as? NSManagedObject else { return NSNotFound }
    return members.firstIndex { $0 === object } ?? NSNotFound
  }

  override func contains(_ object: Any) -> Bool { !isMirroring && index(of: object) != NSNotFound }
  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }

  // MARK: Changing

  override func add(_ object: Any) {
    // `noteListChange` tells of it.
    owner.add(owner.member(object, relation), to: relation)
  }

  override func remove(_ val: Any) {
    let object = owner.member(val, relation)
    change { owner.remove(object, from: relation) }
  }

  override func removeAllObjects() { change { owner.setDestinations(of: relation, to: []) } }
  override func addObjects(from array: [Any]) { change { $0.addObjects(from: array) } }
  override func insert(_ object: Any, at idx: Int) { change { $0.insert(object, at: idx) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) { change { $0.insert(objects, at: indexes) } }
  override func setObject(_ obj: Any, at idx: Int) { change { $0.setObject(obj, at: idx) } }
  override func removeObject(at idx: Int) { change { $0.removeObject(at: idx) } }
  override func removeObjects(at indexes: IndexSet) { change { $0.removeObjects(at: indexes) } }
  override func removeObjects(in range: NSRange) { change { $0.removeObjects(in: range) } }
  override func removeObjects(in array: [Any]) { change { $0.removeObjects(in: array) } }
  override func replaceObject(at idx: Int, with obj: Any) {
    // One that is a member already stays where it is, as with a collection of Foundation's own.
    if contains(obj) { return }
    change { $0.replaceObject(at: idx, with: obj) }
  }

  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    change { $0.replaceObjects(at: indexes, with: objects) }
  }

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    change { $0.exchangeObject(at: idx1, withObjectAt: idx2) }
  }

  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    change { $0.moveObjects(at: indexes, to: idx) }
  }

  override func union(_ other: NSOrderedSet) { change { $0.union(other) } }
  override func minus(_ other: NSOrderedSet) { change { $0.minus(other) } }
  override func unionSet(_ other: Set<AnyHashable>) { change { $0.unionSet(other) } }
  override func minusSet(_ other: Set<AnyHashable>) { change { $0.minusSet(other) } }

  // Foundation's own never returns where a member that goes stands before one that stays.
  override func intersect(_ other: NSOrderedSet) { intersectSet(other.set) }

  override func intersectSet(_ other: Set<AnyHashable>) {
    let kept = members.filter { other.contains($0) }
    change { owner.setDestinations(of: relation, to: kept) }
  }

  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    change { $0.sort(comparator: cmptr) }
  }

  override func sort(
    options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    change { $0.sort(options: opts, usingComparator: cmptr) }
  }

  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    change { $0.sortRange(range, options: opts, usingComparator: cmptr) }
  }

  override func sort(using sortDescriptors: [NSSortDescriptor]) {
    change { $0.sort(using: sortDescriptors) }
  }
}

// MARK: Following the relationship

/// The lists that somebody may still hold, by owner and relationship.
struct OpenLists {
  private struct Place: Hashable {
    /// A list that is held holds its owner, so that its address means nobody else.
    let owner: ObjectIdentifier
    let relation: RelationshipID

    init(_ owner: NSManagedObject, _ relation: Relation) {
      self.owner = ObjectIdentifier(owner)
      self.relation = relation.id
    }
  }

  private struct Entry {
    weak var list: RelationshipList?
  }

  private var entries: [Place: Entry] = [:]
  /// How many there may be before those whose lists are gone are taken out.
  private var sweepCount = 16

  /// Costs a look-up where lists were handed out, and nothing elsewhere.
  subscript(owner: NSManagedObject, relation: Relation) -> RelationshipList? {
    entries.isEmpty ? nil : entries[Place(owner, relation)]?.list
  }

  mutating func add(_ list: RelationshipList, _ owner: NSManagedObject, _ relation: Relation) {
    if entries.count >= sweepCount {
      entries = entries.filter { $0.value.list != nil }
      sweepCount = max(16, 2 * entries.count)
    }
    entries[Place(owner, relation)] = Entry(list: list)
  }
}

extension NSManagedObjectContext {
  final func openList(of object: NSManagedObject, _ relation: Relation) -> RelationshipList {
    if let known = openLists[object, relation] {
      known.mirror()
      return known
    }
    let list = RelationshipList(object, relation)
    openLists.add(list, object, relation)
    return list
  }

  /// Brings the list that shows `relation` of `object` up to date, to which `member` was added at the end, or anything
  /// may have been done.
  final func noteListChange(
    _ object: NSManagedObject, _ relation: Relation, adding member: NSManagedObject? = nil
  ) {
    guard let list = openLists[object, relation] else { return }
    if let member { list.mirror(adding: member) } else { list.mirror() }
  }
}
