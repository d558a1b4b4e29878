// The two schemas of an open log: everything in its files speaks by the numbers of the one that its bases
// say, which any reader has; the store by those of the one that it was opened with. Here one becomes the
// other.

import CairnModel
import Foundation

struct LogSchema: Sendable {
  /// That of the bases. It leaves out what isn't stored.
  let stored: Schema
  /// The store's own: the same names, in any order.
  let used: Schema
  /// How the tables of the bases lie in the store's, and the other way round.
  private let order: SchemaOrder
  private let back: SchemaOrder
  /// Whether tables and places have the same numbers in both.
  let isSame: Bool
  /// nil where changes are the same in both, or are made in the stored schema (`isTurned`).
  private let toStored: ChangeNumbers?
  private let toUsed: ChangeNumbers?

  /// A schema and itself.
  init(_ schema: Schema) {
    (stored, used, order, back) = (schema, schema, SchemaOrder(schema), SchemaOrder(schema))
    isSame = true
    (toStored, toUsed) = (nil, nil)
  }

  /// nil where the two have other tables, or tables with other columns.
  init?(stored: Schema, used: Schema) {
    guard let order = SchemaOrder(stored: stored, given: used) else { return nil }
    isSame = order.isSame
    guard let back = isSame ? SchemaOrder(stored) : SchemaOrder(stored: used, given: stored) else {
      return nil
    }
    (self.stored, self.used, self.order, self.back) = (stored, used, order, back)
    guard order.flips.isEmpty else {
      (toStored, toUsed) = (nil, nil)
      return
    }
    toStored = ChangeNumbers(from: used, back)
    toUsed = ChangeNumbers(from: stored, order)
    if toUsed?.leavesOutLinks(of: stored) ?? false { return nil }
  }

  // MARK: Rows

  /// Whether the bases have keys of one-to-one pairs on the other side than the store. What a transaction
  /// changes can't be said by the other side's keys without the rows before it. So nothing is written to such
  /// a log, which is written anew first (`LogRewriting`); and who only reads makes its transactions in the
  /// stored schema, and shows the rows that come of it in the store's.
  var isTurned: Bool { !order.flips.isEmpty }

  /// How the bases' tables lie in those that transactions are made in.
  var replayed: SchemaOrder { isTurned ? SchemaOrder(stored) : order }

  private var replayedSchema: Schema { isTurned ? stored : used }

  /// What the store shows of tables that transactions were made in, for a turned log. Costs a pass over the
  /// pairs' keys.
  func shown(
    _ replayed: TableEngine, _ damage: DamageLog, clock: @escaping @Sendable () -> Date
  ) throws -> TableEngine {
    let (snapshot, nextKeys, nextJoinKeys) = try replayed.state()
    let rows = try damage.checking { try snapshot.reordered(order, damage) }
    return TableEngine(
      schema: used, history: .none, clock: clock,
      beginning: .init(
        generation: rows.generation.number, tables: rows.tables, joins: rows.joins,
        nextKeys: order.given(byEntity: nextKeys), nextJoinKeys: order.given(byJoin: nextJoinKeys)))
  }

  /// The store's rows as a base has them. Not for turned logs.
  func stored(_ snapshot: TableSnapshot, _ damage: DamageLog) throws -> TableSnapshot {
    precondition(!isTurned, "a log with keys on the other side has to be written anew first")
    return isSame ? snapshot : try snapshot.reordered(back, damage)
  }

  // MARK: Keys

  /// Of the store's lists by entity and by join, those that a base has.
  func stored<T>(byEntity list: [T]) -> [T] { isSame ? list : order.stored(byEntity: list) }
  func stored<T>(byJoin list: [T]) -> [T] { isSame ? list : order.stored(byJoin: list) }

  func stored(_ entity: EntityID) -> EntityID {
    isSame ? entity : EntityID(order.storedTables[entity.index])
  }

  /// The keys that frames say, by the entities that transactions are made in. They needn't ascend.
  func made(_ keys: LogKeys) -> LogKeys {
    isSame || isTurned ? keys : LogKeys(keys.next.map { (order.tables[$0.root].given, $0.key) })
  }

  // MARK: Transactions

  func encode(_ transaction: LogTransaction, _ changes: ChangeSet) throws -> [UInt8] {
    var writer = RecordWriter()
    transaction.write(to: &writer)
    let changes = toStored?.translated(changes) ?? changes
    writer.put(bytes: try TransactionCoding.encode(changes, schema: stored))
    return writer.bytes
  }

  /// The changes are for the tables that transactions are made in; the keys that the transaction says are the
  /// file's. Throws `RecordError` and `PayloadError` for bytes that say no transaction.
  func decode(_ payload: [UInt8]) throws -> (transaction: LogTransaction, changes: ChangeSet) {
    var reader = RecordReader(payload)
    let transaction = try LogTransaction(&reader, schema: stored)
    var changes = try payload.withUnsafeBytes {
      try TransactionCoding.decode(UnsafeRawBufferPointer(rebasing: $0[reader.offset...]), schema: stored)
    }
    if let toUsed { changes = toUsed.translated(changes) }
    changes.author = transaction.author
    changes.contextName = transaction.contextName
    return (transaction, changes)
  }

  /// What history tells of a transaction.
  func commit(_ group: LogGroup) throws -> Commit {
    let schema = replayedSchema
    let (transaction, changes) = try decode(group.payload)
    var inserted: [EntityID: KeySet] = [:]
    for batch in changes.inserts { inserted[schema[batch.entity].root, default: KeySet()].add(batch.keys) }
    return told(
      CommitWork.record(
        changes, Generation(group.generation), time: transaction.time, schema: schema, inserted: inserted))
  }

  /// A commit of the tables that transactions are made in, as the store tells it. Of a turned log it names
  /// the side of a pair that has the key in the files.
  func told(_ commit: Commit) -> Commit {
    guard isTurned else { return commit }
    func told(_ rows: [Commit.Rows]) -> [Commit.Rows] {
      rows.map { rows in
        Commit.Rows(
          entity: EntityID(order.tables[rows.entity.index].given), ids: rows.runs.flatMap { $0 },
          properties: rows.properties)
      }
    }
    return Commit(
      generation: commit.generation, author: commit.author, contextName: commit.contextName,
      time: commit.time, insertedRows: told(commit.insertedRows), updatedRows: told(commit.updatedRows),
      deletedRows: told(commit.deletedRows))
  }
}
