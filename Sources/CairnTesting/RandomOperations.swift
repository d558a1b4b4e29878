// Random commits and questions, put to a store and to an oracle side by side: whatever they say has to agree.
//
// Always holds: one seed gives one run, as long as the oracle is the same; the generator looks at the oracle
// only, never at the store under test.

public import CairnModel
import Foundation

/// A random run of operations over a store and an oracle.
///
/// ```swift
/// try RandomOperations(seed: 42, steps: 300).run(subject: myStores, oracle: knownStores)
/// ```
public struct RandomOperations: Sendable {
  public let seed: UInt64
  public let steps: Int
  /// How many rows a commit inserts at once at most; now and then it does. More than 1,000 make a run over
  /// tables of several chunks, on a schema without many relationships.
  public let largestBatch: Int
  /// Is told every operation after it was done: for following a seed that fails.
  public let trace: (@Sendable (String) -> Void)?

  public init(
    seed: UInt64, steps: Int, largestBatch: Int = 120, trace: (@Sendable (String) -> Void)? = nil
  ) {
    self.seed = seed
    self.steps = steps
    self.largestBatch = largestBatch
    self.trace = trace
  }

  /// The schemas that runs choose from.
  public static let schemas: [(name: String, schema: Schema)] = [
    ("company", .company), ("registry", .registry), ("specimen", .specimen),
  ]

  /// Throws `Disagreement` with the seed and the step at which the two stores differ first.
  public func run(subject: StoreMaker, oracle: StoreMaker) throws {
    var random = SplitMix64(seed: seed)
    // The company has most of the shapes, so most runs are about it.
    let chosen = [0, 0, 0, 1, 2][random.below(5)]
    let (name, schema) = RandomOperations.schemas[largestBatch > 1_000 ? 2 : chosen]
    let run = RandomRun(
      random: random, subject: try subject(schema, .all), oracle: try oracle(schema, .all),
      largestBatch: largestBatch)
    for step in 0..<steps {
      do {
        try run.step(step)
        trace?("step \(step): \(run.operation)")
      } catch {
        throw Disagreement(
          seed: seed, step: step, schema: name, operation: run.operation, message: "\(error)")
      }
    }
  }

  /// Where a store and the oracle differ.
  public struct Disagreement: Error, Sendable, CustomStringConvertible {
    public let seed: UInt64
    public let step: Int
    public let schema: String
    public let operation: String
    public let message: String

    public var description: String {
      "seed \(seed), step \(step), schema \(schema): \(message)\nin \(operation)"
    }
  }
}

/// A difference, not yet with its place.
struct Difference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The state of one run. Confined to the thread that runs it.
final class RandomRun {
  var random: SplitMix64
  let subject: any PersistentStore
  let oracle: any PersistentStore
  let largestBatch: Int
  /// What is being done, for the error.
  var operation = ""
  /// The rows of the newest generation, as the oracle has them.
  private(set) var rows: [EntityID: [StoredRow]] = [:]
  private var held: [Held] = []
  private var reserved: [EntityID: (subject: Set<Int64>, oracle: Set<Int64>)] = [:]

  private struct Held {
    let subject: any StoreSnapshot
    let oracle: any StoreSnapshot
    let contents: StoreContents
  }

  init(random: SplitMix64, subject: any PersistentStore, oracle: any PersistentStore, largestBatch: Int) {
    self.random = random
    self.largestBatch = largestBatch
    self.subject = subject
    self.oracle = oracle
  }

  var schema: Schema { oracle.schema }

  func step(_ number: Int) throws {
    switch random.below(100) {
    case ..<45: try commit()
    case ..<72: try askForRows()
    case ..<82: try askForFigures()
    case ..<88: try askForRelated()
    case ..<91: try askByKeys()
    case ..<95: try hold()
    default: try checkHeld()
    }
    if number % 20 == 19 { try checkEverything() }
  }

  // MARK: Snapshots

  /// The newest snapshots, or a pair that was held for a while.
  func snapshots() throws -> (subject: any StoreSnapshot, oracle: any StoreSnapshot) {
    if !held.isEmpty, random.chance(20) {
      let pair = random.pick(held)
      return (pair.subject, pair.oracle)
    }
    return (try subject.snapshot(), try oracle.snapshot())
  }

  private func hold() throws {
    operation = "holding a snapshot"
    let (mine, theirs) = (try subject.snapshot(), try oracle.snapshot())
    held.append(Held(subject: mine, oracle: theirs, contents: try StoreContents(of: oracle, in: theirs)))
    if held.count > 6 { held.remove(at: random.below(held.count)) }
  }

  private func checkHeld() throws {
    operation = "reading held snapshots again"
    for pair in held {
      let now = try StoreContents(of: subject, in: pair.subject)
      if let difference = pair.contents.comparable(schema).difference(from: now.comparable(schema)) {
        throw Difference("held snapshot of generation \(pair.contents.generation.number): \(difference)")
      }
    }
  }

  private func checkEverything() throws {
    operation = "comparing everything"
    let theirs = try StoreContents(of: oracle, in: oracle.snapshot()).comparable(schema)
    let mine = try StoreContents(of: subject, in: subject.snapshot()).comparable(schema)
    if let difference = theirs.difference(from: mine) { throw Difference(difference) }
  }

  // MARK: Keys and rows

  /// Keys that both stores have reserved and no row has had. Stores may leave gaps, each its own.
  func freshKeys(_ count: Int, of entity: EntityID) throws -> [RowKey] {
    let root = schema[entity].root
    var pool = reserved[root] ?? ([], [])
    while pool.subject.intersection(pool.oracle).count < count + 6 {
      if (pool.subject.max() ?? 0) <= (pool.oracle.max() ?? 0) {
        pool.subject.formUnion(try subject.reserveKeys(count + 6, root: root))
      } else {
        pool.oracle.formUnion(try oracle.reserveKeys(count + 6, root: root))
      }
    }
    let common = pool.subject.intersection(pool.oracle).sorted()
    let chosen =
      count > 20
      ? Array(common.prefix(count))
      : (0..<count).map { _ in random.below(common.count) }
        .reduce(into: Set<Int>()) { $0.insert($1) }.sorted().map { common[$0] }
    reserved[root] = (pool.subject.subtracting(chosen), pool.oracle.subtracting(chosen))
    return chosen.map { RowKey(entity: entity, id: $0) }
  }

  func refreshRows() throws {
    let snapshot = try oracle.snapshot()
    for entity in schema.entities where !entity.isAbstract {
      let batch = try oracle.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
      rows[entity.id] = (0..<batch.count).map { StoredRow(batch, $0) }
    }
  }

  func keys(of entity: EntityID) -> [RowKey] {
    schema[entity].concreteFamily.flatMap { rows[$0]?.map(\.key) ?? [] }
  }

  var concreteEntities: [SchemaEntity] { schema.entities.filter { !$0.isAbstract } }

  // MARK: Comparing

  /// Runs one thing on both stores. Their answers go to `compare`; of errors the codes have to agree.
  func both<T>(
    _ subject: () throws -> T, _ oracle: () throws -> T, compare: (_ mine: T, _ theirs: T) throws -> Void
  ) throws {
    switch (Result(catching: subject), Result(catching: oracle)) {
    case (.success(let mine), .success(let theirs)): try compare(mine, theirs)
    case (.failure(let mine as StoreError), .failure(let theirs as StoreError)):
      if mine.code != theirs.code { throw Difference("it threw \(mine), the oracle \(theirs)") }
    case (.failure(let mine as CommitConflict), .failure(let theirs as CommitConflict)):
      try compareConflicts(mine, theirs)
    case (.success, .failure(let theirs)): throw Difference("it threw nothing, the oracle \(theirs)")
    case (.failure(let mine), .success): throw Difference("it threw \(mine), the oracle nothing")
    case (.failure(let mine), .failure(let theirs)):
      throw Difference("it threw \(mine), the oracle \(theirs)")
    }
  }

  private func compareConflicts(_ mine: CommitConflict, _ theirs: CommitConflict) throws {
    func stale(_ conflict: CommitConflict) -> [String] {
      conflict.stale.map { stale in
        "\(stale.key.id) expected \(stale.expected), is \(stale.stored.map { "\($0.version)" } ?? "gone")"
      }.sorted()
    }
    if stale(mine) != stale(theirs) {
      throw Difference("stale rows \(stale(mine)) instead of \(stale(theirs))")
    }
    // Whether rows that are stale anyway count as duplicates too is the store's affair.
    if !theirs.stale.isEmpty { return }
    func duplicates(_ conflict: CommitConflict) -> [String] {
      conflict.duplicates.map { duplicate in
        // A stored row that the change set touches elsewhere may stand on either side.
        let keys = (duplicate.keys + (duplicate.stored.map { [$0.key] } ?? [])).map(\.id).sorted()
        return "\(keys) in \(duplicate.constraint.slots): \(duplicate.values)"
      }.sorted()
    }
    if duplicates(mine) != duplicates(theirs) {
      throw Difference("duplicates \(duplicates(mine)) instead of \(duplicates(theirs))")
    }
  }
}

extension StoreContents {
  /// Without the numbers by which a store keeps the order of lists: only the order itself is everyone's.
  func comparable(_ schema: Schema) -> StoreContents {
    StoreContents(
      generation: generation,
      rows: rows.mapValues { rows in
        rows.map { row in
          let slots = schema[row.key.entity].slots
          let values = zip(slots, row.values).map { slot, value in
            if case .order = slot.role { Value.null } else { value }
          }
          return StoredRow(key: row.key, version: row.version, values: values)
        }
      },
      links: links)
  }
}
