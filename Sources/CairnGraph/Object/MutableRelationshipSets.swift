// To-many relationships as Foundation's mutable collections: what `mutableSetValue(forKey:)` gives.
//
// They hold no members of their own: each question reads the relationship, each change changes it, with its
// inverse.

import CairnModel
public import Foundation

extension NSManagedObject {
  /// The destinations of a to-many relationship as a set that changes the relationship, and its inverse, when it
  /// is changed. An attribute or to-one relationship is a programmer error.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    RelationshipSet(self, toMany(key, ordered: nil))
  }

  /// As `mutableSetValue(forKey:)`, for an ordered relationship.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    RelationshipList(self, toMany(key, ordered: true))
  }

  private func toMany(_ key: String, ordered: Bool?) -> Relation {
    guard case .relationship(let relation) = table.property(named: key), relation.isToMany,
      ordered.map({ relation.isOrdered == $0 }) ?? true
    else {
      fatalError("\(table.entity.name).\(key) is no \(ordered == true ? "ordered " : "")to-many relationship")
    }
    return relation
  }

  final func member(_ any: Any, _ relation: Relation) -> NSManagedObject {
    guard let object = any as? NSManagedObject else {
      trapWrongType(relation.name, any, desired: "NSManagedObject")
    }
    return object
  }
}

private final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject
  private let relation: Relation

  init(_ owner: NSManagedObject, _ relation: Relation) {
    self.owner = owner
    self.relation = relation
    super.init(capacity: 0)
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { fatalError("a relationship isn't archived through its set") }

  @available(*, unavailable)
  required init(capacity: Int) { fatalError("made by mutableSetValue(forKey:)") }

  private var members: [NSManagedObject] { owner.destinations(of: relation) }

  override var count: Int { members.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, contains(object) else { return nil }
    return object
  }

  override func contains(_ anObject: Any) -> Bool {
    guard let object = anObject as? NSManagedObject, object.table.context === owner.table.context,
      owner.table.model[relation.destination].schema.concreteFamily.contains(object.table.entity.id)
    else { return false }
    return owner.isMember(object, of: relation) && !object.flags.contains(.isPropagated)
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: members).objectEnumerator() }
  override var allObjects: [Any] { members }
  override func add(_ object: Any) { owner.add(owner.member(object, relation), to: relation) }
  override func remove(_ object: Any) { owner.remove(owner.member(object, relation), from: relation) }
  override func removeAllObjects() { owner.setDestinations(of: relation, to: []) }

  override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
  override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }

  override func intersect(_ otherSet: Set<AnyHashable>) {
    for object in members where !otherSet.contains(object) { remove(object) }
  }

  override func setSet(_ otherSet: Set<AnyHashable>) {
    owner.setDestinations(of: relation, to: otherSet.map { owner.member($0.base, relation) })
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: members) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: members) }
  override var hash: Int { count }
  override func isEqual(_ value: Any?) -> Bool {
    guard let other = value as? NSSet else { return false }
    return Set(members as [NSObject]) == Set(other.allObjects.compactMap { $0 as? NSObject })
  }
}

private final class RelationshipList: NSMutableOrderedSet {
  private let owner: NSManagedObject
  private let relation: Relation

  init(_ owner: NSManagedObject, _ relation: Relation) {
    self.owner = owner
    self.relation = relation
    super.init(capacity: 0)
  }

  @available(*, unavailable)
  required init?(coder: NSCoder) { fatalError("a relationship isn't archived through its list") }

  @available(*, unavailable)
  required init(arrayLiteral elements: Any...) { fatalError("made by mutableOrderedSetValue(forKey:)") }

  private var members: [NSManagedObject] {
    get { owner.destinations(of: relation) }
    set { owner.setDestinations(of: relation, to: newValue) }
  }

  override var count: Int { members.count }
  override func object(at idx: Int) -> Any { members[idx] }
  override func index(of object: Any) -> Int {
    guard let object = object as? NSManagedObject else { return NSNotFound }
    return members.firstIndex { $0 === object } ?? NSNotFound
  }

  override func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }
  override func add(_ object: Any) { owner.add(owner.member(object, relation), to: relation) }
  override func remove(_ val: Any) { owner.remove(owner.member(val, relation), from: relation) }
  override func removeAllObjects() { members = [] }

  override func insert(_ object: Any, at idx: Int) {
    let object = owner.member(object, relation)
    var list = members
    if list.contains(where: { $0 === object }) { return }
    list.insert(object, at: idx)
    members = list
  }

  override func removeObject(at idx: Int) {
    var list = members
    list.remove(at: idx)
    members = list
  }

  override func replaceObject(at idx: Int, with object: Any) {
    let object = owner.member(object, relation)
    var list = members
    if list.contains(where: { $0 === object }) { return }
    list[idx] = object
    members = list
  }

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    var list = members
    list.swapAt(idx1, idx2)
    members = list
  }

  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    var list = members
    let moved = indexes.map { list[$0] }
    for index in indexes.reversed() { list.remove(at: index) }
    list.insert(contentsOf: moved, at: idx)
    members = list
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: members) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: members) }
}
