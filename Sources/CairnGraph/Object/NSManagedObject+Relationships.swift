// Relationships of an object. Both sides of a pair change together, at once, in `link` and `unlink` and nowhere
// else.
//
// Where a change is kept follows from where the schema stores the relationship: a key slot of the object's own
// row, or the object's `PendingLinks`, which are added to what the store says when the relationship is read.

import CairnModel
import Foundation

extension NSManagedObject {
  // MARK: Reading

  /// The destination of a to-one relationship. Doesn't load the destination where its class is known without.
  final func destination(of relation: Relation) -> NSManagedObject? {
    if flags.contains(.isPropagated), hasLetGo(of: relation) { return nil }
    return storedOrPendingDestination(of: relation)
  }

  private func storedOrPendingDestination(of relation: Relation) -> NSManagedObject? {
    guard let key = destinationKey(of: relation) else { return nil }
    return scope(relation)?.anyObject(key: key, in: relation.destination)
  }

  final func destinationKey(of relation: Relation) -> Int64? {
    if let slot = relation.keySlot { return slotKey(slot) }
    if let pending = changes?.links[relation.id]?.destination { return pending }
    return storedKeys(of: relation).first?.id
  }

  /// The destinations of a to-many relationship, in order if it is ordered.
  final func destinations(of relation: Relation) -> [NSManagedObject] {
    let keys = destinationKeys(of: relation)
    if keys.isEmpty { return [] }
    return scope(relation)?.objects(keys: keys, in: relation.destination) ?? []
  }

  final func destinationKeys(of relation: Relation) -> [Int64] {
    if flags.contains(.isPropagated), hasLetGo(of: relation) { return [] }
    ensureChanges().noteRead(relation.id)
    return withoutDeleted(allKeys(of: relation), relation)
  }

  private func allKeys(of relation: Relation) -> [Int64] {
    let pending = changes?.links[relation.id]
    if let list = pending?.list { return list.keys }
    let stored = storedKeys(of: relation).map(\.id)
    guard let pending, pending.changesMembership else { return stored }
    return pending.members(of: stored)
  }

  /// The keys without those of objects that are deleted and whose delete rules have been applied.
  private func withoutDeleted(_ keys: [Int64], _ relation: Relation) -> [Int64] {
    guard let scope = table.scope, !keys.isEmpty, scope.context.hasDeletions else { return keys }
    let root = table.model[relation.destination].schema.root
    return keys.filter { key in
      guard let known = scope.knownObject(key, root: root) else { return key > 0 }
      return !known.flags.contains(.isPropagated)
    }
  }

  /// What the store says, now.
  final func storedKeys(of relation: Relation) -> ArraySlice<RowKey> {
    if !flags.isDisjoint(with: [.isDraft, .isDead]) || relation.storage == .none { return [] }
    fire()
    guard let scope = scope(relation), !flags.contains(.isInaccessible) else { return [] }
    if let changes, let known = changes.prefetched[relation.id] {
      if scope.isAt(known.generation) { return known.keys }
      changes.prefetched[relation.id] = nil
    }
    return scope.context.storedKeys(of: relation, from: RowKey(entity: table.entity.id, id: key), in: scope)
  }

  /// Whether applying the delete rules has emptied the relationship of this deleted object.
  private func hasLetGo(of relation: Relation) -> Bool {
    let rule = table.model.schema[relation.id].deleteRule
    return rule == .nullify || rule == .cascade
  }

  // MARK: What deleting asks, of to-one and to-many alike

  final func destinations(ofAny relation: Relation) -> [NSManagedObject] {
    if relation.isToMany { return destinations(of: relation) }
    return storedOrPendingDestination(of: relation).map { [$0] } ?? []
  }

  final func destinationKeys(ofAny relation: Relation) -> [Int64] {
    if relation.isToMany { return destinationKeys(of: relation) }
    if flags.contains(.isPropagated), hasLetGo(of: relation) { return [] }
    return destinationKey(of: relation).map { [$0] } ?? []
  }

  /// Takes a deleted object out of a to-one relationship. Returns whether that led to it.
  final func clearDestination(of relation: Relation, from deleted: NSManagedObject) -> Bool {
    guard storedOrPendingDestination(of: relation) === deleted else { return false }
    noteChange()
    half(relation, set: nil)
    return true
  }

  /// The deleted object's side of that: takes `others` out of its relationship, at once.
  final func dropDestinations(of relation: Relation, _ others: [NSManagedObject]) {
    if others.isEmpty { return }
    if relation.isOrdered {
      let dropped = Set(others.map(\.key))
      pending(relation).list = OrderedKeys(allKeys(of: relation).filter { !dropped.contains($0) })
    } else {
      for other in others { half(relation, remove: other) }
    }
  }

  // MARK: Writing

  final func setDestination(of relation: Relation, to destination: NSManagedObject?) {
    check(destination, for: relation)
    noteChange()
    if let destination, destination.table.scope !== table.scope { return }
    if flags.contains(.isAwaking) { return half(relation, set: destination?.key) }
    if let destination {
      link(relation, destination)
    } else if let old = self.destination(of: relation) {
      unlink(relation, old)
    } else {
      half(relation, set: nil)
    }
  }

  /// Makes `members` the destinations of a to-many relationship; their order counts if it is ordered.
  final func setDestinations(of relation: Relation, to members: [NSManagedObject]) {
    for member in members { check(member, for: relation) }
    noteChange()
    let members = members.filter { $0.table.scope === table.scope }
    let wanted = Set(members.map(\.key))
    let old = destinations(of: relation)
    let present = Set(old.map(\.key))
    for member in old where !wanted.contains(member.key) { unlink(relation, member) }
    for member in members where !present.contains(member.key) { link(relation, member) }
    if relation.isOrdered {
      pending(relation).list = OrderedKeys(members.map(\.key))
      table.context?.noteListChange(self, relation)
    }
  }

  /// Adds a member to a to-many relationship, at the end if it is ordered, unless it is one already.
  final func add(_ member: NSManagedObject, to relation: Relation) {
    check(member, for: relation)
    guard member.table.scope === table.scope else { return noteChange() }
    if !isMember(member, of: relation) { link(relation, member) }
  }

  final func remove(_ member: NSManagedObject, from relation: Relation) {
    check(member, for: relation)
    if isMember(member, of: relation) { unlink(relation, member) }
  }

  /// Whether `member` is a destination of a to-many relationship. The stored members are read once until the
  /// next save.
  final func isMember(_ member: NSManagedObject, of relation: Relation) -> Bool {
    if let id = relation.inverse, !table.model[id].isToMany {
      return member.destination(of: table.model[id]) === self
    }
    if relation.isOrdered {
      if let list = changes?.links[relation.id]?.list { return list.contains(member.key) }
      return storedKeys(of: relation).contains { $0.id == member.key }
    }
    let pending = pending(relation)
    if let known = pending.membership(member.key) { return known }
    if pending.storedMembers == nil { pending.storedMembers = Set(storedKeys(of: relation).map(\.id)) }
    return pending.storedMembers?.contains(member.key) ?? false
  }

  /// Leads `relation` to `other`, which it doesn't yet if it is to-many, and takes both sides' former partners
  /// away where they can have only one.
  private func link(_ relation: Relation, _ other: NSManagedObject) {
    let inverse = relation.inverse.map { table.model[$0] }
    if !relation.isToMany, let old = destination(of: relation) {
      if old === other { return }
      unlink(relation, old)
    }
    if let inverse, !inverse.isToMany, let old = other.destination(of: inverse), old !== self {
      old.unlink(relation, other)
    }
    noteChange()
    half(relation, add: other)
    if let inverse, inverse !== relation || other !== self {
      other.noteChange()
      other.half(inverse, add: self)
    }
  }

  private func unlink(_ relation: Relation, _ other: NSManagedObject) {
    noteChange()
    half(relation, remove: other)
    if let inverse = relation.inverse, other !== self || inverse != relation.id {
      other.noteChange()
      other.half(table.model[inverse], remove: self)
    }
  }

  // MARK: Quick ways, for what is done most

  /// The destination of a to-one relationship of an unchanged object, if that is nil (`.some(nil)`) or the context
  /// knows it. nil says nothing. To be retained before anything else is done: who only asks whether there is one
  /// needn't count a reference.
  @usableFromInline
  final func quickDestination(_ name: StaticString) -> Unmanaged<NSManagedObject>?? {
    if flags.rawValue != 0, !wakes() { return nil }
    let relation = table.cachedRelation(name)
    guard relation.keySlot >= 0 else { return nil }
    // Nobody lets go of the chunk meanwhile: reading a column calls nothing.
    let held = Unmanaged.passUnretained(chunk.unsafelyUnwrapped)._withUnsafeGuaranteedRef {
      $0.heldColumn(Int(relation.keySlot))
    }
    guard let column = held ?? backedColumn(Int(relation.keySlot)) else { return nil }
    let row = Int(row)
    if column._withUnsafeGuaranteedRef({ $0.isNull(row) }) { return .some(nil) }
    let key = column._withUnsafeGuaranteedRef { $0.integer(row) }
    guard let known = table.knownObject(key, rootIndex: Int(relation.root)) else { return nil }
    return .some(known)
  }

  /// Links a new object that leads nowhere yet. False, and nothing done, where more than a key has to be set.
  @usableFromInline
  final func setQuickly(_ name: StaticString, to other: NSManagedObject) -> Bool {
    guard flags.rawValue == ObjectFlags.freshDraftBits, other !== self,
      other.flags.isDisjoint(with: [.isDeleted, .isDead, .isAwaking])
    else { return false }
    // Both objects hold their tables meanwhile: nothing here runs code that isn't the context's.
    return Unmanaged.passUnretained(table)._withUnsafeGuaranteedRef { table in
      let relation = table.cachedRelation(name)
      let slot = Int(relation.keySlot)
      guard slot >= 0, relation.unorderedInverse >= 0,
        Unmanaged.passUnretained(other.table)._withUnsafeGuaranteedRef({
          $0.entityIndex == relation.onlyDestination && $0.isOfSameScope(as: table)
        }), table.draftKey(slot, Int(row)) == nil
      else { return false }
      table.setDraft(slot, Int(row), key: other.key)
      other.noteChange()
      let changes = other.changes ?? other.ensureChanges()
      Unmanaged.passUnretained(changes)._withUnsafeGuaranteedRef {
        $0.addNew(key, to: RelationshipID(Int(relation.unorderedInverse)))
      }
      return true
    }
  }

  // MARK: One side only

  private func half(_ relation: Relation, add other: NSManagedObject) {
    guard relation.isToMany else { return half(relation, set: other.key) }
    if relation.isOrdered {
      loadList(relation)
      pending(relation).list?.append(other.key)
      table.context?.noteListChange(self, relation, adding: other)
    } else {
      // A member of a relationship whose inverse is to-one has left its former owner before: it is new here.
      let isNew = relation.inverse.map { !table.model[$0].isToMany } ?? false
      pending(relation).add(other.key, isNew: isNew)
    }
  }

  private func half(_ relation: Relation, remove other: NSManagedObject) {
    guard relation.isToMany else { return half(relation, set: nil) }
    if relation.isOrdered {
      loadList(relation)
      pending(relation).list?.remove(other.key)
      table.context?.noteListChange(self, relation)
    } else {
      pending(relation).remove(other.key)
    }
  }

  private func half(_ relation: Relation, set key: Int64?) {
    if let slot = relation.keySlot {
      if let key, flags.contains(.isDraft) { return table.setDraft(slot, Int(row), key: key) }
      writeSlot(slot, key.map { .key($0) } ?? .null)
    } else {
      pending(relation).destination = .some(key)
    }
  }

  private func pending(_ relation: Relation) -> PendingLinks { pending(relation.id) }

  private func pending(_ relation: RelationshipID) -> PendingLinks { ensureChanges().pendingLinks(relation) }

  /// An ordered relationship is changed as a whole list.
  private func loadList(_ relation: Relation) {
    if changes?.links[relation.id]?.list != nil { return }
    let keys = allKeys(of: relation)
    pending(relation).list = OrderedKeys(keys)
  }

  // MARK: Going back

  /// Undoes what was changed of relationships, on both sides, as far as this object's own row or a join table
  /// keeps it. Changes that are facts of other objects' rows stay.
  final func revertRelationships() {
    guard !flags.contains(.isDraft), let changes else { return }
    for case .relationship(let relation) in table.entity.properties.values {
      if let slot = relation.keySlot {
        guard changes.values[slot] != nil else { continue }
        var stored: NSManagedObject?
        if case .key(let key) = storedValue(slot) {
          stored = scope(relation)?.object(key: key, in: relation.destination)
        }
        setDestination(of: relation, to: stored)
        changes.values[slot] = nil
      } else if case .join = relation.storage, changes.links[relation.id] != nil {
        let keys = storedKeys(of: relation).map(\.id)
        setDestinations(
          of: relation, to: scope(relation)?.objects(keys: keys, in: relation.destination) ?? [])
        changes.forgetLinks(relation.id)
      }
    }
  }

  // MARK: Programmer errors

  /// Traps for an object of another context or of an entity that the relationship doesn't lead to.
  final func check(_ destination: NSManagedObject?, for relation: Relation) {
    guard let destination else { return }
    let wanted = table.model[relation.destination]
    if destination.table.entity !== wanted,
      !wanted.schema.concreteFamily.contains(destination.table.entity.id)
    {
      fatalError(
        "Unacceptable type of value for relationship: property = \"\(relation.name)\"; desired type = "
          + "\(wanted.name); given type = \(destination.table.entity.name); value = \(destination).")
    }
    guard let context = table.context, destination.table.context === context else {
      fatalError(
        "Illegal attempt to establish a relationship '\(relation.name)' between objects in different contexts"
      )
    }
    if destination.table.scope !== table.scope {
      context.bringTogether(self, destination, relation)
    }
  }

  /// Where the relationship's destinations are. nil for an object that its context has done with; a programmer
  /// error for one whose context has ended.
  private func scope(_ relation: Relation) -> StoreScope? {
    if let scope = table.scope { return scope }
    if flags.contains(.isDead) { return nil }
    fatalError(
      "the context of this \(table.entity.name) is gone, so its relationship '\(relation.name)' leads nowhere"
    )
  }
}

/// A relationship that was set between objects of two stores: no store can keep it, and the next save says so.
struct ExternalLink {
  let object: NSManagedObject
  let destination: NSManagedObject
  let relation: Relation
}

extension NSManagedObjectContext {
  final var hasDeletions: Bool { !deleted.isEmpty || !withdrawn.isEmpty }

  /// Two objects of different stores are to be related: a new one that isn't assigned to its store goes to the
  /// other's, if that store takes it.
  final func bringTogether(_ a: NSManagedObject, _ b: NSManagedObject, _ relation: Relation) {
    for (mover, goal) in [(a, b), (b, a)] {
      let isFree = mover.isInserted && !mover.flags.contains(.isAssigned)
      if isFree, serves(goal.table.scope, mover.table.entity.id), let scope = goal.table.scope {
        return move(mover, to: scope)
      }
    }
    externalLinks.append(ExternalLink(object: a, destination: b, relation: relation))
  }
}
