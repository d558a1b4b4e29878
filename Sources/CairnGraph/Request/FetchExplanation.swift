// How a fetch was run: what `explain(_:)` of a context returns.

import CairnModel
import Foundation

/// How one fetch was run, and how long each part of it took. `description` is for people, coding for programs.
public struct FetchExplanation: Sendable, Hashable, Codable {
  public struct Step: Sendable, Hashable, Codable {
    public let name: String
    public let seconds: Double
  }

  /// One question to one store.
  public struct Question: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Codable { case fetch, count, aggregate }

    public let kind: Kind
    /// Core Data's string for the type of the store.
    public let storeType: String
    /// As a canonical format; nil for every row.
    public let predicate: String?
    /// Keys, each with a - before it for descending.
    public let sort: [String]
    public let offset: Int
    public let limit: Int?
    /// Rows, groups, or the number counted.
    public let resultCount: Int
    public let seconds: Double
    /// nil for a store that doesn't say how it works.
    public let work: Work?
  }

  /// What a store did for a question.
  public struct Work: Sendable, Hashable, Codable {
    public struct Index: Sendable, Hashable, Codable {
      public let entity: String
      /// Those that the predicate narrowed, the weightiest first.
      public let properties: [String]
      /// How many places of the index were looked up.
      public let lookUps: Int
      /// Whether the last property was narrowed to a range, and not to values.
      public let endsWithRange: Bool
      /// Rows that the index left to look at.
      public let candidates: Int
    }

    public enum Order: String, Sendable, Codable {
      /// Rows come as they lie.
      case stored
      /// Only the first of the window were kept while the rows went by.
      case best
      case sorted
    }

    /// One an entity that was looked up in an index; none where the columns were looked through.
    public let indexes: [Index]
    public let chunkCount: Int
    /// Chunks that the least and greatest values of their columns decided as a whole.
    public let skippedChunkCount: Int
    public let rowsLookedAt: Int
    public let rowsMatched: Int
    public let order: Order
    public let steps: [Step]
  }

  public let entity: String
  /// What the results are: objects, IDs, dictionaries, or their number.
  public let resultKind: String
  public let resultCount: Int
  /// What was asked of columns, in the stores.
  public let storePredicate: String?
  /// What was asked of each object that the stores found.
  public let memoryPredicate: String?
  public let sort: [String]
  /// Whether objects were put in order in memory, because stores don't know the order.
  public let isSortedInMemory: Bool
  public let offset: Int
  public let limit: Int?
  /// Unsaved objects that were judged anew.
  public let pendingObjectCount: Int
  public let questions: [Question]
  /// Planning, asking the stores, and making the results.
  public let steps: [Step]

  public var seconds: Double { steps.reduce(0) { $0 + $1.seconds } }
}

extension NSManagedObjectContext {
  /// Cairn's own: runs the request as `fetch` does, and tells how, instead of what it found: which indexes and
  /// columns were used, what was left to do on objects, and the time of each step. Throws as `fetch`.
  public final func explain<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> FetchExplanation
  {
    let tracer = FetchTracer()
    let start = ContinuousClock.now
    let plan = try FetchPlan(request, in: self, tracer: tracer)
    let planned = ContinuousClock.now
    let results = try plan.results(plan.answers())
    let end = ContinuousClock.now
    let asking = tracer.questions.reduce(0) { $0 + $1.seconds }
    let count = (request.resultType == .countResultType ? results.first as? NSNumber : nil)?.intValue
    return FetchExplanation(
      entity: plan.entity.name, resultKind: FetchExplanation.kind(request.resultType),
      resultCount: count ?? results.count, storePredicate: plan.condition.columns?.canonicalFormat,
      memoryPredicate: plan.condition.rest?.canonicalFormat,
      sort: (request.sortDescriptors ?? []).map { ($0.ascending ? "" : "-") + ($0.key ?? "self") },
      isSortedInMemory: !plan.order.isPlain, offset: plan.offset, limit: plan.limit,
      pendingObjectCount: plan.pendingCount, questions: tracer.questions,
      steps: [
        .init(name: "plan", seconds: (planned - start).seconds), .init(name: "stores", seconds: asking),
        .init(name: "results", seconds: max(0, (end - planned).seconds - asking)),
      ])
  }
}

extension FetchExplanation {
  fileprivate static func kind(_ type: NSFetchRequestResultType) -> String {
    switch type {
    case .managedObjectIDResultType: "IDs"
    case .dictionaryResultType: "dictionaries"
    case .countResultType: "count"
    default: "objects"
    }
  }
}

extension FetchExplanation.Question {
  init(
    _ kind: Kind, _ request: StoreRequest, _ storeType: String, _ count: Int, _ seconds: Double,
    _ trace: StoreTrace?
  ) {
    self.kind = kind
    self.storeType = storeType
    predicate = request.predicate?.canonicalFormat
    sort = request.sort.map { ($0.ascending ? "" : "-") + $0.path.joined(separator: ".") }
    (offset, limit) = (request.offset, request.limit)
    (resultCount, self.seconds) = (count, seconds)
    work = trace.map { FetchExplanation.Work($0) }
  }
}

extension FetchExplanation.Work {
  fileprivate init(_ trace: StoreTrace) {
    indexes = trace.indexes.map {
      Index(
        entity: $0.entity, properties: $0.properties, lookUps: $0.lookUps, endsWithRange: $0.endsWithRange,
        candidates: $0.candidates)
    }
    (chunkCount, skippedChunkCount) = (trace.chunkCount, trace.skippedChunkCount)
    (rowsLookedAt, rowsMatched) = (trace.rowsLookedAt, trace.rowsMatched)
    order =
      switch trace.order {
      case .stored: .stored
      case .best: .best
      case .sorted: .sorted
      }
    steps = trace.steps.map { .init(name: $0.name, seconds: $0.time.seconds) }
  }
}
