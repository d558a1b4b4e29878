// Saves of the reference: what a save checks, writes and leaves behind, and what each merge policy makes of a
// conflict (core-data/04, table 4.6).

/// What a save of the reference did.
struct RefSave {
  var code: Int?
  var inserted: Set<Int> = []
  var updated: Set<Int> = []
  var deleted: Set<Int> = []
}

extension RefContext {
  enum Policy: CaseIterable { case error, storeTrump, objectTrump, overwrite, rollback }

  /// Saves. nil where there was nothing to save.
  func save(_ policy: Policy) -> RefSave? {
    process()
    guard hasChanges else { return nil }
    let denied = deleted.filter { !$0.isGone }.flatMap { object in
      RefModel.relations(of: object.entity).filter { $0.rule == .deny }
        .filter { members($0, object).contains { !$0.isDeleted } }
    }
    if !denied.isEmpty { return RefSave(code: denied.count == 1 ? 1_600 : 1_560) }
    for _ in 0..<100 {
      if leadsNowhere { return RefSave(code: 134_030) }
      let stale = staleObjects
      if stale.isEmpty { return write() }
      if policy == .error { return RefSave(code: 133_020) }
      for object in stale { resolve(object, policy) }
      process()
    }
    return RefSave(code: 133_020)
  }

  /// The names of own values that a save would write.
  private func written(_ object: RefObject) -> [String] {
    if object.isNew { return Array(object.edits.keys) }
    return object.edits.keys.filter { object.edits[$0] != committed($0, object) }.sorted()
  }

  private var staleObjects: [RefObject] {
    let changed = updated.filter { !written($0).isEmpty }
    return changed.filter { world.store.rows[$0.id]?.version != $0.base?.version }
      + deleted.filter { object in
        if object.isGone { return false }
        guard let row = world.store.rows[object.id] else { return true }
        return object.base.map { $0.version != row.version } ?? false
      }
  }

  // MARK: References

  private func willExist(_ id: Int) -> Bool {
    if let known = objects[id] {
      if known.isNew { return !known.isDeleted }
      if known.isDeleted, !known.isGone { return false }
    }
    return world.store.rows[id] != nil
  }

  /// Whether something would be related to a row that isn't there, which a store refuses.
  private var leadsNowhere: Bool {
    for object in updated + inserted {
      for name in written(object) {
        if case .object(let id)? = object.edits[name], self.object(id) != nil, !willExist(id) { return true }
      }
      for relation in RefModel.relations(of: object.entity) where relation.place == .pairs {
        let added =
          object.lists[relation.name] ?? (object.membership[relation.name] ?? [:]).filter(\.value).map(\.key)
        let members = added.compactMap { self.object($0) }.filter { !$0.isDeleted }
        if !members.allSatisfy({ willExist($0.id) }) { return true }
        let hasPairs =
          object.lists[relation.name] != nil || !(object.membership[relation.name] ?? [:]).isEmpty
        if hasPairs, !willExist(object.id) { return true }
      }
    }
    return false
  }

  // MARK: Writing

  private func write() -> RefSave {
    let (new, changed, gone) = (inserted, updated, deleted)
    var rewritten: Set<Int> = []
    for object in gone where !object.isGone { world.store.remove(object.id) }
    var comers: [(Int, Int)] = []
    for object in changed + new {
      let names = written(object)
      if names.isEmpty { continue }
      var row = world.store.rows[object.id] ?? RefRow(entity: object.entity, version: 0, values: [:])
      for name in names {
        var value = object.edits[name]!
        if case .object(let id) = value, self.object(id) == nil { value = .null }
        if name == "team", object.entity == "Item", case .object(let team) = value, row.values[name] != value
        {
          comers.append((object.id, team))
        }
        row.values[name] = value
      }
      row.version += 1
      world.store.put(object.id, row)
      rewritten.insert(object.id)
    }
    for (item, team) in comers { world.store.append(item, to: team) }
    for object in changed + new { writeLinks(of: object, &rewritten) }
    var save = RefSave()
    save.inserted = Set(new.map(\.id))
    save.updated = Set(changed.map(\.id))
    save.deleted = Set(gone.map(\.id))
    for object in all where object.isDeleted {
      object.isDead = true
      objects[object.id] = nil
    }
    for object in objects.values {
      if object.isNew || object.isUpdated && rewritten.contains(object.id) {
        object.base = world.store.rows[object.id]
        object.isFault = false
      } else if object.isUpdated, object.base == nil {
        object.isFault = true
      }
      object.isNew = false
      object.isUpdated = false
      object.inEvent = false
      object.forgetPending()
    }
    return save
  }

  private func writeLinks(of object: RefObject, _ rewritten: inout Set<Int>) {
    func lasting(_ ids: [Int]) -> [Int] {
      ids.filter { id in self.object(id).map { !$0.isDeleted } ?? false }
    }
    for relation in RefModel.relations(of: object.entity) {
      if let list = object.lists[relation.name] {
        world.store.replace(relation, object.id, lasting(list))
        rewritten.insert(object.id)
      } else if relation.place == .pairs, !RefModel.inverse(relation).isOrdered {
        for (id, isMember) in object.membership[relation.name] ?? [:] where lasting([id]) == [id] {
          if isMember {
            world.store.add(relation, object.id, id)
          } else {
            world.store.remove(relation, object.id, id)
          }
          // Of two friends, the older tells of it.
          if relation.speaks, !relation.isSymmetric || world.rank(object.id) <= world.rank(id) {
            rewritten.insert(object.id)
          }
        }
      }
    }
  }

  // MARK: Conflicts

  private func resolve(_ object: RefObject, _ policy: Policy) {
    let storeWins = policy == .storeTrump || policy == .rollback
    guard let row = world.store.rows[object.id] else {
      if storeWins || object.isDeleted { return markGone(object) }
      return resurrect(object)
    }
    if object.isDeleted {
      if !storeWins { return load(object) }
      undelete(object)
      return refresh(object, keepingChanges: false)
    }
    if policy == .rollback {
      refresh(object, keepingChanges: false)
      return fire(object)
    }
    let ancestor = object.base?.values ?? [:]
    load(object)
    for (name, theirs) in row.values.sorted(by: { $0.key < $1.key }) where theirs != ancestor[name] ?? .null {
      let isOurs = object.edits[name] != nil
      if policy == .storeTrump, isOurs {
        if let relation = RefModel.relations(of: object.entity).first(where: { $0.name == name }) {
          var stored: RefObject?
          if case .object(let id) = theirs { stored = self.object(id) }
          setDestination(relation, object, stored)
        }
        object.edits[name] = nil
      } else if policy == .overwrite, !isOurs {
        object.edits[name] = ancestor[name] ?? .null
      }
    }
  }

  /// An object whose row is gone becomes a new one, with all that it had.
  private func resurrect(_ object: RefObject) {
    object.edits = (object.base?.values ?? [:]).merging(object.edits) { $1 }
    object.base = nil
    object.isNew = true
    object.isUpdated = false
    object.isGone = false
    object.isFault = false
    object.inEvent = true
    event.new.append(object.id)
  }
}
