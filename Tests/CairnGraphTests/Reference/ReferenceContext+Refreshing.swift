// Going back to the store, merging saves of others, and fetching, in the reference.

extension RefContext {
  func refresh(_ object: RefObject, keepingChanges: Bool) {
    if object.isNew { return }
    if keepingChanges { rebase(object) } else { discard(object) }
    event.refreshed.append(object.id)
  }

  private func rebase(_ object: RefObject) {
    if object.isFault {
      object.base = nil
      return
    }
    load(object)
    if object.isGone { markGone(object) }
  }

  private func discard(_ object: RefObject) {
    if object.isUpdated {
      for relation in RefModel.relations(of: object.entity) { revert(relation, object) }
    }
    object.isUpdated = false
    object.inEvent = false
    turnIntoFault(object)
  }

  /// What other rows are to say of the object stays.
  private func turnIntoFault(_ object: RefObject) {
    object.edits = [:]
    for relation in RefModel.relations(of: object.entity) where relation.place == .pairs {
      object.membership[relation.name] = nil
      object.lists[relation.name] = nil
    }
    object.base = nil
    object.isGone = false
    object.isFault = true
  }

  private func revert(_ relation: RefRelation, _ object: RefObject) {
    let name = relation.name
    if relation.place == .own, object.edits[name] != nil {
      var stored: RefObject?
      if case .object(let id) = committed(name, object) { stored = self.object(id) }
      setDestination(relation, object, stored)
      object.edits[name] = nil
    } else if relation.place == .pairs, object.lists[name] != nil || object.membership[name] != nil {
      setMembers(relation, object, committedMembers(relation, object).compactMap { self.object($0) })
      object.lists[name] = nil
      object.membership[name] = nil
    }
  }

  func refreshAll() {
    process()
    let dirty = updated
    for object in dirty { rebase(object) }
    for object in all where !object.isNew && !object.hasChanges {
      if object.isFault {
        object.base = nil
      } else {
        turnIntoFault(object)
        event.refreshed.append(object.id)
      }
    }
    event.refreshed += dirty.map(\.id)
    process()
  }

  func rollback() {
    process()
    let (new, back, old) = (inserted, deleted, updated)
    for object in all {
      if object.isNew {
        object.isDead = true
        object.isDeleted = true
        objects[object.id] = nil
      }
      object.forgetPending()
      object.isUpdated = false
      object.isPropagated = false
      object.isDeleted = false
      object.inEvent = false
    }
    event = Event()
    event.appeared = back.map(\.id)
    event.refreshed = old.map(\.id)
    event.deleted = new.map(\.id)
    process()
  }

  func reset() {
    for object in objects.values { object.isDead = true }
    objects = [:]
    event = Event()
  }

  func merge(_ save: RefSave) {
    process()
    for id in save.inserted.sorted() {
      if let object = object(id), object.isFault { object.base = nil }
      event.appeared.append(id)
    }
    for id in save.updated.sorted() {
      guard let object = objects[id], !object.isNew else { continue }
      if object.isFault {
        object.base = nil
      } else {
        rebase(object)
        event.refreshed.append(id)
      }
    }
    for id in save.deleted.sorted() {
      if let object = objects[id], !object.isNew { markGone(object) }
    }
    process()
  }
}

// MARK: - Fetching

indirect enum RefPredicate: CustomStringConvertible {
  enum Op: String, CaseIterable { case equal = "==", unequal = "!=", less = "<", atLeast = ">=" }

  case compare([String], Op, RefValue)
  case and([RefPredicate])
  case or([RefPredicate])
  case not(RefPredicate)

  var description: String {
    switch self {
    case .compare(let path, let op, let value): "\(path.joined(separator: ".")) \(op.rawValue) \(value)"
    case .and(let parts): "(" + parts.map(\.description).joined(separator: " AND ") + ")"
    case .or(let parts): "(" + parts.map(\.description).joined(separator: " OR ") + ")"
    case .not(let part): "NOT \(part)"
    }
  }

  func holds(_ value: ([String]) -> RefValue) -> Bool {
    switch self {
    case .and(let parts): return parts.allSatisfy { $0.holds(value) }
    case .or(let parts): return parts.contains { $0.holds(value) }
    case .not(let part): return !part.holds(value)
    case .compare(let path, let op, let wanted):
      let found = value(path)
      switch op {
      case .equal: return found == wanted
      case .unequal: return found != wanted
      case .less: return found != .null && wanted != .null && RefPredicate.isLess(found, wanted)
      case .atLeast: return found != .null && wanted != .null && !RefPredicate.isLess(found, wanted)
      }
    }
  }

  /// nil comes before everything. Texts of a run are short, lower-case and ASCII.
  static func isLess(_ a: RefValue, _ b: RefValue) -> Bool {
    switch (a, b) {
    case (.int(let a), .int(let b)): a < b
    case (.text(let a), .text(let b)): a < b
    case (.null, .null): false
    case (.null, _): true
    default: false
    }
  }
}

struct RefRequest: CustomStringConvertible {
  let entity: String
  let includesSubentities: Bool
  let predicate: RefPredicate?
  let sort: [(path: [String], ascending: Bool)]
  let offset: Int
  let limit: Int

  var description: String {
    let order = sort.map { $0.path.joined(separator: ".") + ($0.ascending ? "" : " down") }
    return
      "\(entity)\(includesSubentities ? "" : " alone") where \(predicate.map { "\($0)" } ?? "all") by \(order) "
      + "from \(offset) limit \(limit)"
  }
}

extension RefContext {
  /// The numbers that a request finds; and whether their order follows: it doesn't where an unchanged object
  /// shows the context another value than the store has.
  func fetch(_ request: RefRequest) -> (ids: [Int], isOrdered: Bool) {
    process()
    let family = request.includesSubentities ? RefModel.family(request.entity) : [request.entity]
    let stale = Set((updated + deleted).map(\.id))
    var found: [(id: Int, entity: String, keys: [RefValue])] = []
    var isOrdered = true
    for (id, row) in world.store.rows where family.contains(row.entity) && !stale.contains(id) {
      guard request.predicate?.holds({ storedValue($0, id) }) ?? true else { continue }
      let keys = request.sort.map { storedValue($0.path, id) }
      if objects[id] != nil, keys != request.sort.map({ peek($0.path, id) }) { isOrdered = false }
      found.append((id, row.entity, keys))
    }
    for object in updated.filter({ !$0.isGone }) + inserted where family.contains(object.entity) {
      guard request.predicate?.holds({ shown($0, object) }) ?? true else { continue }
      found.append((object.id, object.entity, request.sort.map { shown($0.path, object) }))
    }
    let order = ["Person": 0, "Worker": 1]
    found.sort { a, b in
      for (index, term) in request.sort.enumerated() {
        let (x, y) = term.ascending ? (a.keys[index], b.keys[index]) : (b.keys[index], a.keys[index])
        if x != y { return RefPredicate.isLess(x, y) }
      }
      if a.entity != b.entity { return order[a.entity] ?? 0 < order[b.entity] ?? 0 }
      return world.rank(a.id) < world.rank(b.id)
    }
    let rest = found.map(\.id).dropFirst(request.offset)
    return (Array(request.limit > 0 ? rest.prefix(request.limit) : rest), isOrdered)
  }

  /// The value at the end of a path over the store's rows.
  private func storedValue(_ path: [String], _ id: Int) -> RefValue {
    guard let value = world.store.rows[id]?.values[path[0]] else { return .null }
    if path.count == 1 { return value }
    guard case .object(let next) = value else { return .null }
    return storedValue(Array(path.dropFirst()), next)
  }

  /// The same as the context shows it, reading rows where it has to.
  private func shown(_ path: [String], _ object: RefObject) -> RefValue {
    if path.count == 1 {
      if object.base == nil, !object.isNew { load(object) }
      return object.edits[path[0]] ?? object.base?.values[path[0]] ?? .null
    }
    let relation = RefModel.relations(of: object.entity).first { $0.name == path[0] }!
    guard let next = read(relation, object) else { return .null }
    if next.base == nil, !next.isNew { load(next) }
    return next.isGone ? .null : shown(Array(path.dropFirst()), next)
  }

  /// The same, reading nothing.
  private func peek(_ path: [String], _ id: Int) -> RefValue {
    let object = objects[id]
    let value =
      object?.edits[path[0]] ?? object?.base?.values[path[0]] ?? world.store.rows[id]?.values[path[0]]
      ?? .null
    if path.count == 1 { return value }
    guard case .object(let next) = value, objects[next].map({ !$0.isDeleted }) ?? true else { return .null }
    return peek(Array(path.dropFirst()), next)
  }
}
