// A log's transactions are written in the numbers of the schema that its bases say, which any reader has; a store is
// used with the schema that it was opened with.

import CairnModel
import Foundation

/// The two schemas of an open log: their rows lie alike, but relationships that aren't stored are in one of them only.
struct LogSchema: Sendable {
  /// That of the bases.
  let stored: Schema
  /// The store's own.
  let used: Schema
  /// By relationship of the one, that of the other; nil where all have the same numbers.
  private let toStored: [RelationshipID?]?
  private let toUsed: [RelationshipID?]?

  init(stored: Schema, used: Schema) {
    self.stored = stored
    self.used = used
    let there = LogSchema.numbers(from: used, to: stored)
    let back = LogSchema.numbers(from: stored, to: used)
    let isSame = there.count == back.count && there.enumerated().allSatisfy { $1?.index == $0 }
    toStored = isSame ? nil : there
    toUsed = isSame ? nil : back
  }

  private static func numbers(from: Schema, to: Schema) -> [RelationshipID?] {
    from.relationships.map { relationship in
      to.entities[relationship.owner.index].relationship(named: relationship.name)
    }
  }

  func encode(_ transaction: LogTransaction, _ changes: ChangeSet) throws -> [UInt8] {
    var writer = RecordWriter()
    transaction.write(to: &writer)
    var changes = changes
    if let toStored { changes.links = renumber(changes.links, toStored) }
    writer.put(bytes: try TransactionCoding.encode(changes, schema: stored))
    return writer.bytes
  }

  /// Throws `RecordError` and `PayloadError` for bytes that say no transaction.
  func decode(_ payload: [UInt8]) throws -> (transaction: LogTransaction, changes: ChangeSet) {
    var reader = RecordReader(payload)
    let transaction = try LogTransaction(&reader, schema: stored)
    var changes = try payload.withUnsafeBytes {
      try TransactionCoding.decode(UnsafeRawBufferPointer(rebasing: $0[reader.offset...]), schema: stored)
    }
    if let toUsed { changes.links = renumber(changes.links, toUsed) }
    changes.author = transaction.author
    changes.contextName = transaction.contextName
    return (transaction, changes)
  }

  private func renumber(_ links: [ChangeSet.Links], _ numbers: [RelationshipID?]) -> [ChangeSet.Links] {
    links.map { links in
      guard numbers.indices.contains(links.relationship.index), let other = numbers[links.relationship.index]
      else { return links }
      return ChangeSet.Links(other, of: links.owner, links.change)
    }
  }

  /// What history tells of a transaction.
  func commit(_ group: LogGroup) throws -> Commit {
    let (transaction, changes) = try decode(group.payload)
    var inserted: [EntityID: KeySet] = [:]
    for batch in changes.inserts { inserted[used[batch.entity].root, default: KeySet()].add(batch.keys) }
    return CommitWork.record(
      changes, Generation(group.generation), time: transaction.time, schema: used, inserted: inserted)
  }
}
