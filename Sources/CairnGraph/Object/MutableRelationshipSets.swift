// To-many relationships as Foundation's mutable collections: what `mutableSetValue(forKey:)` gives. The ordered
// ones are in MutableRelationshipList.swift.
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

  /// As `mutableSetValue(forKey:)`, for an ordered relationship. A change of it costs the number of
  /// members, but for `add`.
  ///
  /// What no subclass can override off Apple's systems (`array`, `set`, `firstObject`, `lastObject`, `reversed`,
  /// enumerators, iteration) shows a rollback, a refresh and a merge from the next call of this method on, or the next
  /// change.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let relation = toMany(key, ordered: true)
    return table.context?.openList(of: self, relation) ?? RelationshipList(self, relation)
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
