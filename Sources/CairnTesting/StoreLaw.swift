// What a law of stores is, and what a store that breaks one is told. No test framework is needed to check one.
//
// Always holds: a law makes its own stores, so laws can be checked in any order and at the same time.

public import CairnModel
import Foundation

/// Makes a fresh, empty store for a schema. Every call makes another store.
public typealias StoreMaker = @Sendable (Schema, HistoryPolicy) throws -> any PersistentStore

/// One sentence that is true of every store, with the way to check it.
///
/// ```swift
/// for law in StoreLaw.all {
///   try law.check { schema, history in try MyStore(schema: schema, history: history) }
/// }
/// ```
public struct StoreLaw: Sendable, CustomStringConvertible {
  /// What the law is about: "inserting", "snapshots".
  public let topic: String
  /// The law, as a sentence.
  public let name: String
  /// Throws `LawViolation` if the stores that `StoreMaker` makes break the law.
  public let check: @Sendable (@escaping StoreMaker) throws -> Void

  public var description: String { "\(topic): \(name)" }

  /// Every law, by topic.
  public static let all: [StoreLaw] =
    inserting + updating + deleting + values + keys + snapshots + conflicts + uniqueness + relationships
    + ordering + requests + predicates + predicateShapes + sorting + aggregates + history + badInput
    + lifetime
}

/// How a store broke a law.
public struct LawViolation: Error, Sendable, CustomStringConvertible {
  public let law: String
  public let expectation: String
  /// What came instead.
  public let outcome: String

  public init(law: String, expectation: String, outcome: String) {
    self.law = law
    self.expectation = expectation
    self.outcome = outcome
  }

  public var description: String { "broken law \"\(law)\": expected \(expectation), but \(outcome)" }
}

/// What a law's body throws; the law adds its name.
struct Mismatch: Error {
  let expectation: String
  let outcome: String
}

extension StoreLaw {
  /// A law over one store of `schema`.
  static func law(
    _ topic: String, _ name: String, _ schema: Schema = .company, history: HistoryPolicy = .all,
    _ body: @escaping @Sendable (Trial) throws -> Void
  ) -> StoreLaw {
    StoreLaw(topic: topic, name: name) { maker in
      do {
        try body(Trial(try maker(schema, history), maker))
      } catch let mismatch as Mismatch {
        throw LawViolation(law: name, expectation: mismatch.expectation, outcome: mismatch.outcome)
      } catch {
        throw LawViolation(law: name, expectation: "no error", outcome: "\(error) was thrown")
      }
    }
  }
}

func expect(_ condition: Bool, _ expectation: String, _ outcome: @autoclosure () -> String = "it isn't so")
  throws
{
  if !condition { throw Mismatch(expectation: expectation, outcome: outcome()) }
}

func expectEqual<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
  if found != expected {
    throw Mismatch(expectation: "\(what) to be \(expected)", outcome: "it is \(found)")
  }
}

/// Expects `body` to throw a `StoreError` with one of `codes`.
func expectError<T>(_ codes: StoreError.Code..., by what: String, _ body: () throws -> T) throws {
  let expectation = "\(what) to throw \(codes.map(\.description).joined(separator: " or "))"
  do {
    _ = try body()
  } catch let error as StoreError where codes.contains(error.code) {
    return
  } catch {
    throw Mismatch(expectation: expectation, outcome: "it threw \(error)")
  }
  throw Mismatch(expectation: expectation, outcome: "it threw nothing")
}

/// Expects `body` to throw a `CommitConflict`, and returns it.
func expectConflict<T>(by what: String, _ body: () throws -> T) throws -> CommitConflict {
  let expectation = "\(what) to throw a CommitConflict"
  do {
    _ = try body()
  } catch let conflict as CommitConflict {
    return conflict
  } catch {
    throw Mismatch(expectation: expectation, outcome: "it threw \(error)")
  }
  throw Mismatch(expectation: expectation, outcome: "it threw nothing")
}
