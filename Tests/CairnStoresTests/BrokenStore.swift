// Stores that are wrong in one way each, to prove that the laws and the random runs would notice.

import CairnModel
import Foundation

/// A toy store that does everything right but one thing.
final class BrokenStore: PersistentStore {
  enum Fault: String, CaseIterable, Sendable {
    case ignoresVersions, ignoresRemovals, appendsInsteadOfReplacing, forgetsUpdatesOfSeveralSlots
    case readsNewestInsteadOfSnapshot, ignoresLimit, ignoresOffset, ignoresDirection, ignoresLastTerm
    case ignoresSubentitiesFlag, countsWithoutWindow, ignoresPredicateOfAggregates, reversesLists
    case losesLastOfBatch, swallowsErrors

    /// The topic of the laws that have to notice.
    var topic: String {
      switch self {
      case .ignoresVersions: "conflicts"
      case .ignoresRemovals, .appendsInsteadOfReplacing: "relationships"
      case .forgetsUpdatesOfSeveralSlots: "updating"
      case .readsNewestInsteadOfSnapshot: "snapshots"
      case .ignoresLimit, .ignoresOffset, .ignoresSubentitiesFlag, .countsWithoutWindow, .losesLastOfBatch:
        "requests"
      case .ignoresDirection, .ignoresLastTerm: "sorting"
      case .ignoresPredicateOfAggregates: "aggregates"
      case .reversesLists: "ordering"
      case .swallowsErrors: "bad input"
      }
    }
  }

  static let traits = ToyStore.traits
  private let fault: Fault
  private let toy: ToyStore

  init(_ fault: Fault, schema: Schema, history: HistoryPolicy) {
    self.fault = fault
    toy = ToyStore(schema: schema, history: history)
  }

  var schema: Schema { toy.schema }

  var metadata: StoreMetadata {
    get { toy.metadata }
    set { toy.metadata = newValue }
  }

  func snapshot() throws -> any StoreSnapshot { try toy.snapshot() }

  private func seen(_ snapshot: any StoreSnapshot) throws -> any StoreSnapshot {
    fault == .readsNewestInsteadOfSnapshot && snapshot is ToySnapshot ? try toy.snapshot() : snapshot
  }

  private func asked(_ request: StoreRequest) -> StoreRequest {
    var request = request
    switch fault {
    case .ignoresLimit: request.limit = nil
    case .ignoresOffset: request.offset = min(request.offset, 0)
    case .ignoresDirection: for index in request.sort.indices { request.sort[index].ascending = true }
    case .ignoresLastTerm: if request.sort.count > 1 { request.sort.removeLast() }
    case .ignoresSubentitiesFlag: request.includesSubentities = true
    default: break
    }
    return request
  }

  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch {
    let batch = try toy.fetch(asked(request), in: seen(snapshot))
    guard fault == .losesLastOfBatch, batch.count > 2 else { return batch }
    return RowBatch(chunks: batch.chunks, places: batch.places.dropLast())
  }

  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int {
    var request = asked(request)
    if fault == .countsWithoutWindow { (request.offset, request.limit) = (min(request.offset, 0), nil) }
    return try toy.count(request, in: seen(snapshot))
  }

  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow] {
    var request = request
    if fault == .ignoresPredicateOfAggregates { request.predicate = nil }
    return try toy.aggregate(request, in: seen(snapshot))
  }

  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    try toy.rows(keys, in: seen(snapshot))
  }

  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys {
    let related = try toy.related(sources, through: relationship, in: seen(snapshot))
    guard fault == .reversesLists, schema.relationships.indices.contains(relationship.index) else {
      return related
    }
    return RelatedKeys(offsets: related.offsets, keys: sources.indices.flatMap { related[$0].reversed() })
  }

  func commit(_ changes: ChangeSet) throws -> Commit {
    do {
      return try toy.commit(altered(changes))
    } catch let error as StoreError where fault == .swallowsErrors && error.code != .storeClosed {
      return try toy.commit(ChangeSet())
    }
  }

  private func altered(_ changes: ChangeSet) -> ChangeSet {
    var changes = changes
    switch fault {
    case .ignoresVersions:
      for index in changes.updates.indices { changes.updates[index].versions = nil }
    case .forgetsUpdatesOfSeveralSlots:
      for index in changes.updates.indices where changes.updates[index].slots.count > 1 {
        changes.updates[index].slots.removeLast()
        changes.updates[index].columns.removeLast()
      }
    case .ignoresRemovals, .appendsInsteadOfReplacing:
      for index in changes.links.indices {
        changes.links[index].change = altered(changes.links[index].change)
      }
    default: break
    }
    return changes
  }

  private func altered(_ change: ChangeSet.LinkChange) -> ChangeSet.LinkChange {
    switch change {
    case .remove where fault == .ignoresRemovals: .add([])
    case .replace(let keys) where fault == .appendsInsteadOfReplacing: .add(keys)
    default: change
    }
  }

  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64> {
    try toy.reserveKeys(count, root: root)
  }

  func history(after generation: Generation) throws -> [Commit] { try toy.history(after: generation) }

  func purgeHistory(through generation: Generation) throws { try toy.purgeHistory(through: generation) }

  func close() throws { try toy.close() }
}
