// What is noted while a fetch is explained: each question to a store, and the time of each step.

import CairnModel
import Foundation

/// Collects the questions of one fetch. Confined to the context's queue.
final class FetchTracer {
  private(set) var questions: [FetchExplanation.Question] = []

  func fetch(_ request: StoreRequest, _ source: FetchSource) throws -> RowBatch {
    try ask(.fetch, request, source) { trace in
      let store = source.store as? any ExplainingStore
      let rows = try trace.flatMap { try store?.fetch(request, in: source.snapshot, trace: $0) }
      let batch = try rows ?? source.store.fetch(request, in: source.snapshot)
      return (batch, batch.count)
    }
  }

  func count(_ request: StoreRequest, _ source: FetchSource) throws -> Int {
    try ask(.count, request, source) { trace in
      let store = source.store as? any ExplainingStore
      let found = try trace.flatMap { try store?.count(request, in: source.snapshot, trace: $0) }
      let count = try found ?? source.store.count(request, in: source.snapshot)
      return (count, count)
    }
  }

  func aggregate(_ request: AggregateRequest, _ source: FetchSource) throws -> [AggregateRow] {
    let rows = StoreRequest(
      entity: request.entity, includesSubentities: request.includesSubentities, predicate: request.predicate)
    return try ask(.aggregate, rows, source) { trace in
      let store = source.store as? any ExplainingStore
      let found = try trace.flatMap { try store?.aggregate(request, in: source.snapshot, trace: $0) }
      let groups = try found ?? source.store.aggregate(request, in: source.snapshot)
      return (groups, groups.count)
    }
  }

  private func ask<Answer>(
    _ kind: FetchExplanation.Question.Kind, _ request: StoreRequest, _ source: FetchSource,
    _ body: (StoreTrace?) throws -> (Answer, Int)
  ) throws -> Answer {
    let trace = source.store is any ExplainingStore ? StoreTrace() : nil
    let start = ContinuousClock.now
    let (answer, count) = try body(trace)
    questions.append(
      FetchExplanation.Question(
        kind, request, type(of: source.store).traits.type, count,
        (ContinuousClock.now - start).seconds, trace))
    return answer
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
