// A store that says how it answered a request: what `explain(_:)` of a context shows.

/// A store whose requests can be traced. Each function answers as that of `PersistentStore` does.
package protocol ExplainingStore: PersistentStore {
  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace) throws -> RowBatch
  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace) throws -> Int
  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot, trace: StoreTrace) throws
    -> [AggregateRow]
}

/// What a store notes while it answers one request. Confined to whoever asks.
package final class StoreTrace {
  /// An index that narrowed the rows of one entity.
  package struct IndexUse {
    package let entity: String
    /// The index's properties that were narrowed, the weightiest first.
    package let properties: [String]
    /// How many values, or ranges of the last property, were looked up in it.
    package let lookUps: Int
    /// Whether the last property was narrowed to a range, and not to values.
    package let endsWithRange: Bool
    package let candidates: Int

    package init(
      entity: String, properties: [String], lookUps: Int, endsWithRange: Bool, candidates: Int
    ) {
      (self.entity, self.properties, self.lookUps) = (entity, properties, lookUps)
      (self.endsWithRange, self.candidates) = (endsWithRange, candidates)
    }
  }

  package enum Order: String {
    /// As the rows lie.
    case stored
    /// The first of a window, kept while the rows go by.
    case best
    case sorted
  }

  package var indexes: [IndexUse] = []
  /// Chunks that were come to: a window without an order ends early, and an index leaves some out.
  package private(set) var chunkCount = 0
  /// Those of them that were decided as a whole, by the least and greatest values of their columns.
  package private(set) var skippedChunkCount = 0
  package private(set) var rowsLookedAt = 0
  package var rowsMatched = 0
  package var order = Order.stored
  package private(set) var steps: [(name: String, time: Duration)] = []
  /// Whether some condition was asked of the rows of the chunk at hand, which another then decided as a whole.
  var hasLookedAtChunk = false

  package init() {}

  func noteChunk(rows: Int, isDecided: Bool) {
    chunkCount += 1
    if isDecided, !hasLookedAtChunk { skippedChunkCount += 1 } else { rowsLookedAt += rows }
    hasLookedAtChunk = false
  }

  /// Candidates of an index, checked in one chunk.
  func noteCandidates(_ rows: Int) {
    chunkCount += 1
    rowsLookedAt += rows
  }
}

extension StoreTrace? {
  /// Does something, and notes how long it took where there is a trace.
  package func measure<Result>(_ step: String, _ body: () throws -> Result) rethrows -> Result {
    guard let self else { return try body() }
    let start = ContinuousClock.now
    defer { self.note(step, ContinuousClock.now - start) }
    return try body()
  }
}

extension StoreTrace {
  fileprivate func note(_ step: String, _ time: Duration) { steps.append((step, time)) }
}
