// What LogOrderTests open, and the store that they compare with.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

extension LogOrderTests {
  static let clock: @Sendable () -> Date = { Date(timeIntervalSinceReferenceDate: 1e9) }

  static func open(
    _ files: SimulatedFileSystem, _ schema: Schema, source: String? = nil,
    _ change: (inout LogStore.Options) -> Void = { _ in }
  ) throws -> LogStore {
    var options = LogSample.options
    options.history = .all
    change(&options)
    var model = ArchiveStore.Model(schema: schema)
    model.source = source
    return try LogStore(at: "/a", model: model, options: options, fileSystem: files, clock: clock)
  }

  static func reader(
    _ files: SimulatedFileSystem, _ schema: Schema, upTo: Int64? = nil
  ) throws -> LogStore {
    try open(files, schema) {
      $0.isReadOnly = true
      $0.upTo = upTo
    }
  }

  /// A store that never changes its order, beside the log, and what it has held.
  struct Oracle {
    let store: MemoryStore
    var facts: [NamedFacts]

    init(_ schema: Schema) throws {
      store = MemoryStore(schema: schema, history: .all, clock: LogOrderTests.clock)
      facts = [try NamedFacts(store)]
    }

    /// The same step in both.
    mutating func commit(_ step: Int, _ log: LogStore) throws {
      try NamedChanges.commit(step, store)
      try NamedChanges.commit(step, log)
      facts.append(try NamedFacts(store))
    }

    func expectSame(_ log: LogStore, versions: Bool = true, _ place: SourceLocation = #_sourceLocation) throws
    {
      let difference = try NamedFacts(log, versions: versions).difference(
        NamedFacts(store, versions: versions))
      #expect(difference == nil, sourceLocation: place)
    }

    /// Of some commits, before and behind the base, and the newest.
    func expectSamePast(
      _ files: SimulatedFileSystem, _ order: Schema, _ place: SourceLocation = #_sourceLocation
    ) throws {
      for generation in [0, 3, 4, 6, facts.count - 1] {
        let past = try NamedFacts(LogOrderTests.reader(files, order, upTo: Int64(generation)))
        #expect(past.difference(facts[generation]) == nil, sourceLocation: place)
      }
    }

    func expectSameHistory(
      _ log: LogStore, after: Int64 = 0, _ place: SourceLocation = #_sourceLocation
    ) throws {
      let (told, expected) = try (
        log.history(after: Generation(after)).map { $0.text(log.schema) },
        store.history(after: Generation(after)).map { $0.text(store.schema) }
      )
      #expect(told == expected, sourceLocation: place)
    }
  }

  /// A log of seven commits in the first order, with a base of the first four, closed.
  static func made(
    _ pair: OrderedPair, steps: Int = 7
  ) throws -> (files: SimulatedFileSystem, oracle: Oracle) {
    let files = SimulatedFileSystem()
    let store = try open(files, pair.first, source: "first")
    var oracle = try Oracle(pair.first)
    for step in 0..<steps {
      try oracle.commit(step, store)
      if step == 3 { try store.compact() }
    }
    try store.close()
    return (files, oracle)
  }
}
