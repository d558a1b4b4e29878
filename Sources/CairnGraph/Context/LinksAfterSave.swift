// Where a relationship leads once a change set is committed, and whom that concerns.

import CairnModel

/// One relationship, as it will be after a save. Confined to that save.
final class LinksAfterSave {
  private let relation: Relation
  private let rows: RowsAfterSave
  private let owner: EntityID
  private let ownerRoot: EntityID
  private let destinations: Set<EntityID>
  private let deleted: Set<Int64>
  /// Of a relationship whose key is in the destinations' rows: those whose key the save sets, and by owner
  /// those that come to it.
  private var moved: Set<Int64> = []
  private var arrivals: [Int64: [Int64]] = [:]
  /// And by owner, how many leave it or are deleted.
  private var departures: [Int64: Int] = [:]
  /// Of one in a join table: what the save does to each owner's destinations, in order.
  private var steps: [Int64: [Step]] = [:]
  /// The owners whose destinations may differ after the save.
  private(set) var touched: Set<Int64> = []
  /// Destinations by owner, as far as they were asked for.
  private var known: [Int64: [Int64]] = [:]

  private enum Step {
    case add(Int64)
    case remove(Int64)
    case replace([Int64])
  }

  init(_ relation: Relation, _ rows: RowsAfterSave) throws {
    self.relation = relation
    self.rows = rows
    owner = rows.schema[relation.id].owner
    ownerRoot = rows.schema[owner].root
    destinations = Set(rows.schema[relation.destination].concreteFamily)
    deleted = Set(rows.keys(deletedFrom: destinations))
    switch relation.storage {
    case .none: return
    case .key(let slot):
      touched = Set(rows.keys(updating: slot, of: Set(rows.schema[owner].concreteFamily)))
      touched.formUnion(try owners(of: deleted))
    case .inverse(let slot, _): try noteMoves(slot)
    case .join:
      try noteSteps()
      touched = Set(steps.keys).union(try owners(of: deleted))
    }
  }

  // MARK: What the save changes

  /// By how many destinations more the save leaves an owner that was there before, of a relationship whose
  /// key is in their rows.
  func growth(of owner: Int64) -> Int64 {
    Int64(arrivals[owner]?.count ?? 0) - Int64(departures[owner] ?? 0)
  }

  /// The key is in the destinations' rows.
  private func noteMoves(_ slot: Int) throws {
    moved = Set(rows.keys(updating: slot, of: destinations))
    let left = deleted.union(moved)
    try rows.load(left, root: relation.destinationRoot)
    for key in left {
      if case .key(let owner) = try rows.storedValue(key, root: relation.destinationRoot, slot) {
        departures[owner, default: 0] += 1
        touched.insert(owner)
      }
    }
    for batch in rows.changes.inserts where destinations.contains(batch.entity) {
      if let column = batch.columns[slot] { try noteArrivals(batch.keys, column) }
    }
    for batch in rows.changes.updates where destinations.contains(batch.entity) {
      guard let place = batch.slots.firstIndex(of: slot) else { continue }
      try noteArrivals(batch.keys, batch.columns[place])
    }
  }

  private func noteArrivals(_ keys: [Int64], _ column: Column) throws {
    for (row, key) in keys.enumerated() {
      guard case .key(let owner) = try RowsAfterSave.value(column, row) else { continue }
      arrivals[owner, default: []].append(key)
      touched.insert(owner)
    }
  }

  /// The links are in a join table, and either side tells of them.
  private func noteSteps() throws {
    for links in rows.changes.links {
      if links.relationship == relation.id {
        let step: [Step]
        switch links.change {
        case .add(let members): step = members.map { .add($0.id) }
        case .remove(let members): step = members.map { .remove($0.id) }
        case .replace(let members): step = [.replace(members.map(\.id))]
        }
        steps[links.owner.id, default: []] += step
      }
      if links.relationship == relation.inverse { try noteInverse(links.owner.id, links.change) }
    }
  }

  private func noteInverse(_ member: Int64, _ change: ChangeSet.LinkChange) throws {
    switch change {
    case .add(let owners): for owner in owners { steps[owner.id, default: []].append(.add(member)) }
    case .remove(let owners): for owner in owners { steps[owner.id, default: []].append(.remove(member)) }
    case .replace(let owners):
      let new = Set(owners.map(\.id))
      for owner in try self.owners(of: [member]) where !new.contains(owner) {
        steps[owner, default: []].append(.remove(member))
      }
      for owner in new { steps[owner, default: []].append(.add(member)) }
    }
  }

  // MARK: Back

  /// The rows that lead to some of `members` before the save. Where there is no inverse, they are looked for
  /// among all owners.
  func owners(of members: Set<Int64>) throws -> [Int64] {
    if members.isEmpty { return [] }
    switch relation.storage {
    case .none: return []
    case .inverse(let slot, _):
      try rows.load(members, root: relation.destinationRoot)
      return try members.compactMap { key in
        guard case .key(let owner) = try rows.storedValue(key, root: relation.destinationRoot, slot) else {
          return nil
        }
        return owner
      }
    case .key, .join:
      if let inverse = relation.inverse {
        return try rows.related(members.sorted(), relation.destinationRoot, through: inverse).keys.map(\.id)
      }
      let list = ExpressionTree.list(members.sorted().map { .constant(.key($0)) })
      return try rows.fetch(
        StoreRequest(
          entity: owner,
          predicate: .comparison(
            PredicateTree.Comparison(
              .keyPath([relation.name]), .isIn, list, modifier: relation.isToMany ? .any : .direct))))
    }
  }

  // MARK: Forth

  /// Where each row of a to-one relationship will lead; nil for nowhere, and for a row that isn't there.
  func destination(of keys: [Int64?]) throws -> [Int64?] {
    guard let slot = relation.keySlot else {
      let found = try destinations(of: keys.compactMap(\.self))
      return keys.map { $0.flatMap { found[$0]?.first } }
    }
    try rows.load(keys.lazy.compactMap(\.self), root: ownerRoot)
    return try keys.map { key in
      guard let key, case .key(let destination) = try rows.value(key, root: ownerRoot, slot) else {
        return nil
      }
      return destination
    }
  }

  /// The keys that the rows will lead to, ascending, by owner.
  func destinations(of owners: [Int64]) throws -> [Int64: [Int64]] {
    if relation.storage == .none { return [:] }
    let unknown = owners.filter { known[$0] == nil }
    let old = unknown.filter { rows.inserted($0, root: ownerRoot) == nil }
    for key in unknown { known[key] = [] }
    if !old.isEmpty {
      let related = try rows.related(old, ownerRoot, through: relation.id)
      for (index, key) in old.enumerated() { known[key] = related[index].map(\.id) }
    }
    for key in unknown { known[key] = changed(known[key] ?? [], of: key) }
    return known
  }

  private func changed(_ members: [Int64], of owner: Int64) -> [Int64] {
    if case .inverse = relation.storage {
      let staying = members.filter { !moved.contains($0) && !deleted.contains($0) }
      return (staying + (arrivals[owner] ?? [])).sorted()
    }
    var result = Set(members)
    for step in steps[owner] ?? [] {
      switch step {
      case .add(let member): result.insert(member)
      case .remove(let member): result.remove(member)
      case .replace(let members): result = Set(members)
      }
    }
    return result.subtracting(deleted).sorted()
  }
}
