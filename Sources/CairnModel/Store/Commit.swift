// What a commit returns, and what history keeps of it.

public import Foundation

/// The number of a commit within one store: 0 before the first, one more for each.
public struct Generation: Hashable, Comparable, Sendable {
  public let number: Int64

  public init(_ number: Int64) { self.number = number }

  public static func < (a: Generation, b: Generation) -> Bool { a.number < b.number }
}

/// One commit, as its maker and later readers of the history see it.
public struct Commit: Sendable {
  /// Rows of one entity that a commit changed in the same way.
  public struct Rows: Sendable, Hashable {
    public let entity: EntityID
    /// The names of the changed properties, for updates; empty otherwise.
    public let properties: [String]
    /// The ids, as runs of consecutive ones: a load of a million rows is a few of them.
    public let runs: [Range<Int64>]

    /// `ids` ascends.
    public init(entity: EntityID, ids: [Int64], properties: [String] = []) {
      self.entity = entity
      self.properties = properties
      var runs: [Range<Int64>] = []
      for id in ids {
        if let last = runs.last, last.upperBound == id {
          runs[runs.count - 1] = last.lowerBound..<id + 1
        } else {
          runs.append(id..<id + 1)
        }
      }
      self.runs = runs
    }

    public var keys: [RowKey] { runs.flatMap { $0.map { RowKey(entity: entity, id: $0) } } }
  }

  public let generation: Generation
  public let author: String?
  public let contextName: String?
  public let time: Date
  public let insertedRows: [Rows]
  /// Rows whose slots or links changed. A row may stand in several entries.
  public let updatedRows: [Rows]
  public let deletedRows: [Rows]

  public init(
    generation: Generation, author: String?, contextName: String?, time: Date, insertedRows: [Rows],
    updatedRows: [Rows], deletedRows: [Rows]
  ) {
    self.generation = generation
    self.author = author
    self.contextName = contextName
    self.time = time
    self.insertedRows = insertedRows
    self.updatedRows = updatedRows
    self.deletedRows = deletedRows
  }

  public init(
    generation: Generation, author: String?, contextName: String?, time: Date, inserted: [RowKey],
    updated: [(key: RowKey, properties: [String])], deleted: [RowKey]
  ) {
    self.init(
      generation: generation, author: author, contextName: contextName, time: time,
      insertedRows: inserted.map { Rows(entity: $0.entity, ids: [$0.id]) },
      updatedRows: updated.map { Rows(entity: $0.key.entity, ids: [$0.key.id], properties: $0.properties) },
      deletedRows: deleted.map { Rows(entity: $0.entity, ids: [$0.id]) })
  }

  public var inserted: [RowKey] { insertedRows.flatMap(\.keys) }

  public var updated: [(key: RowKey, properties: [String])] {
    updatedRows.flatMap { rows in rows.keys.map { ($0, rows.properties) } }
  }

  public var deleted: [RowKey] { deletedRows.flatMap(\.keys) }
}

/// Why a commit was refused, with both sides. Nothing was changed.
public struct CommitConflict: LocalizedError, Sendable, CustomStringConvertible {
  /// A row that has changed since the change set's maker read it.
  public struct Stale: Sendable {
    public let key: RowKey
    /// The version that the change was made on.
    public let expected: Int64
    /// The row as the store has it, or nil if it was deleted.
    public let stored: StoredRow?

    public init(key: RowKey, expected: Int64, stored: StoredRow?) {
      self.key = key
      self.expected = expected
      self.stored = stored
    }
  }

  /// Rows that would have the same values in a uniqueness constraint.
  public struct Duplicate: Sendable {
    public let constraint: SchemaConstraint
    /// The values that are there twice, one a slot of the constraint.
    public let values: [Value]
    /// The rows of the change set that have them, ascending.
    public let keys: [RowKey]
    /// The row in the store that has them too and keeps them, or nil if only the change set's own rows clash.
    public let stored: StoredRow?

    public init(constraint: SchemaConstraint, values: [Value], keys: [RowKey], stored: StoredRow?) {
      self.constraint = constraint
      self.values = values
      self.keys = keys
      self.stored = stored
    }
  }

  public let stale: [Stale]
  public let duplicates: [Duplicate]
  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  public init(stale: [Stale], duplicates: [Duplicate]) {
    self.stale = stale
    self.duplicates = duplicates
  }

  public var description: String {
    "the commit conflicts with the store: \(stale.count) stale row\(stale.count == 1 ? "" : "s"), "
      + "\(duplicates.count) broken uniqueness constraint\(duplicates.count == 1 ? "" : "s")"
  }
}

/// A row's values at some moment, copied out of the store.
public struct StoredRow: Sendable, Hashable {
  public let key: RowKey
  public let version: Int64
  /// One value a slot.
  public let values: [Value]

  public init(key: RowKey, version: Int64, values: [Value]) {
    self.key = key
    self.version = version
    self.values = values
  }

  public init(_ batch: RowBatch, _ index: Int) {
    let chunk = batch.chunk(index)
    let row = batch.row(index)
    self.init(
      key: batch.key(index), version: chunk.version(row), values: chunk.columns.map { $0.value(row) })
  }
}
