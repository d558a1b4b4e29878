// A store under test, with the short forms of what laws do all the time: one row, one commit, one question.

import CairnModel
import Foundation

/// One store and its schema. Laws speak of entities and properties by name.
struct Trial {
  let store: any PersistentStore
  let maker: StoreMaker

  init(_ store: any PersistentStore, _ maker: @escaping StoreMaker) {
    self.store = store
    self.maker = maker
  }

  var schema: Schema { store.schema }

  func entity(_ name: String) throws -> SchemaEntity { try schema.requireEntity(named: name) }

  func slot(_ entity: String, _ name: String) throws -> Int {
    guard let slot = try self.entity(entity).slot(named: name) else {
      throw Mismatch(expectation: "\(entity) to have a slot \(name)", outcome: "it has none")
    }
    return slot
  }

  func relationship(_ entity: String, _ name: String) throws -> RelationshipID {
    guard let id = try self.entity(entity).relationship(named: name) else {
      throw Mismatch(expectation: "\(entity) to have a relationship \(name)", outcome: "it has none")
    }
    return id
  }

  // MARK: Changing

  func reserve(_ entity: String, _ count: Int) throws -> [RowKey] {
    let described = try self.entity(entity)
    return try store.reserveKeys(count, root: described.root).map { RowKey(entity: described.id, id: $0) }
  }

  /// Commits what `fill` puts into an empty change set.
  @discardableResult
  func commit(_ fill: (inout ChangeSet) throws -> Void) throws -> Commit {
    var changes = ChangeSet()
    try fill(&changes)
    return try store.commit(changes)
  }

  /// Inserts rows in one commit, as one batch.
  func insert(_ entity: String, rows: [[String: Value]]) throws -> [RowKey] {
    let keys = try reserve(entity, rows.count)
    let columns = try self.entity(entity).slots.map { slot -> Column? in
      let builder = ColumnBuilder(slot.type)
      for row in rows { try builder.append(value: row[slot.name] ?? .null) }
      return builder.finish()
    }
    try commit {
      $0.inserts = [.init(entity: try self.entity(entity).id, keys: keys.map(\.id), columns: columns)]
    }
    return keys
  }

  /// Inserts one row in one commit.
  @discardableResult
  func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> RowKey {
    let key = try reserve(entity, 1)[0]
    try commit { try $0.insert(key, values, in: schema) }
    return key
  }

  /// Inserts `count` rows without values in one commit.
  func insert(_ entity: String, count: Int) throws -> [RowKey] {
    try insert(entity, rows: Array(repeating: [:], count: count))
  }

  @discardableResult
  func update(_ key: RowKey, version: Int64? = nil, _ values: [String: Value]) throws -> Commit {
    try commit { try $0.update(key, version: version, values, in: schema) }
  }

  @discardableResult
  func delete(_ keys: RowKey..., version: Int64? = nil) throws -> Commit {
    try commit { changes in
      for key in keys { changes.delete(key, version: version) }
    }
  }

  @discardableResult
  func link(_ owner: RowKey, _ name: String, _ change: ChangeSet.LinkChange) throws -> Commit {
    try commit { $0.links.append(try links(owner, name, change)) }
  }

  func links(_ owner: RowKey, _ name: String, _ change: ChangeSet.LinkChange) throws -> ChangeSet.Links {
    ChangeSet.Links(try relationship(schema[owner.entity].name, name), of: owner, change)
  }

  // MARK: Asking

  func request(
    _ entity: String, _ predicate: PredicateTree? = nil, subentities: Bool = true, sort: [SortTerm] = [],
    offset: Int = 0, limit: Int? = nil
  ) throws -> StoreRequest {
    StoreRequest(
      entity: try self.entity(entity).id, includesSubentities: subentities, predicate: predicate, sort: sort,
      offset: offset, limit: limit)
  }

  func fetch(_ request: StoreRequest, in snapshot: (any StoreSnapshot)? = nil) throws -> RowBatch {
    try store.fetch(request, in: try snapshot ?? store.snapshot())
  }

  /// The keys' ids of the rows that match, in order.
  func ids(
    _ entity: String, _ predicate: PredicateTree? = nil, subentities: Bool = true, sort: [SortTerm] = [],
    offset: Int = 0, limit: Int? = nil
  ) throws -> [Int64] {
    try fetch(
      request(entity, predicate, subentities: subentities, sort: sort, offset: offset, limit: limit)
    ).ids
  }

  /// The row as the newest generation, or `snapshot`, has it; nil if there is none.
  func row(_ key: RowKey, in snapshot: (any StoreSnapshot)? = nil) throws -> StoredRow? {
    let batch = try store.rows([key], in: try snapshot ?? store.snapshot())
    return batch.count == 0 ? nil : StoredRow(batch, 0)
  }

  func value(_ key: RowKey, _ name: String, in snapshot: (any StoreSnapshot)? = nil) throws -> Value {
    guard let row = try row(key, in: snapshot) else {
      throw Mismatch(expectation: "row \(key.id) to be there", outcome: "it isn't")
    }
    return row.values[try slot(schema[row.key.entity].name, name)]
  }

  /// The ids of the destinations of one row.
  func related(_ key: RowKey, _ name: String, in snapshot: (any StoreSnapshot)? = nil) throws -> [Int64] {
    let id = try relationship(schema[key.entity].name, name)
    return try store.related([key], through: id, in: try snapshot ?? store.snapshot())[0].map(\.id)
  }

  func aggregate(
    _ entity: String, where predicate: PredicateTree? = nil, by groups: [String] = [],
    _ terms: [(AggregateRequest.Function, String?)]
  ) throws -> [AggregateRow] {
    try store.aggregate(
      AggregateRequest(
        entity: try self.entity(entity).id, predicate: predicate, groupBy: groups,
        terms: terms.map { AggregateRequest.Term($0.0, $0.1) }),
      in: store.snapshot())
  }

  // MARK: Refusals

  /// Expects a commit to be refused with a `StoreError` of one of `codes`, and to change nothing at all.
  func expectRefusal(
    _ codes: StoreError.Code..., of what: String, _ fill: (inout ChangeSet) throws -> Void
  ) throws {
    var changes = ChangeSet()
    try fill(&changes)
    let before = try StoreContents(of: store, in: store.snapshot())
    let expectation = "\(what) to throw \(codes.map(\.description).joined(separator: " or "))"
    do {
      _ = try store.commit(changes)
      throw Mismatch(expectation: expectation, outcome: "it was committed")
    } catch let error as StoreError {
      if !codes.contains(error.code) {
        throw Mismatch(expectation: expectation, outcome: "it threw \(error)")
      }
    } catch let error where !(error is Mismatch) {
      throw Mismatch(expectation: expectation, outcome: "it threw \(error)")
    }
    try expectUnchanged(since: before, after: what)
  }

  func expectUnchanged(since before: StoreContents, after what: String) throws {
    let now = try StoreContents(of: store, in: store.snapshot())
    if let difference = before.difference(from: now) {
      throw Mismatch(expectation: "the store to be as before \(what)", outcome: difference)
    }
  }
}

extension RowKey {
  /// The key as the value of a to-one slot.
  var value: Value { .key(id) }
}
