// Random requests over 336,776 real flights, against SQLite. Runs where CAIRN_FLIGHTS names the folder of the data
// and a command `sqlite3` is there; CAIRN_SEED and CAIRN_REQUESTS choose others and more.

import Cairn
import Testing

@testable import CairnGraph

@Suite(.enabled(if: FlightStore.folder != nil, "CAIRN_FLIGHTS names no folder of flights"))
struct FlightDifferenceTests {
  private struct Question {
    let text: String
    let sql: String
    let ask: (NSManagedObjectContext) throws -> [String]
  }

  private static let environment = ProcessInfo.processInfo.environment

  private func questions(_ count: Int, seed: UInt64, withFigures: Bool) -> [Question] {
    var random = RandomFlightRequest(random: SeededGenerator(seed: seed))
    return (0..<count).map { number in
      switch number % (withFigures ? 5 : 3) {
      case 0:
        let (request, sql) = random.window()
        return Question(text: describe(request), sql: sql) { try $0.fetch(request).map(Self.key) }
      case 1:
        let (request, sql) = random.whole()
        return Question(text: describe(request), sql: sql) { try Self.sum($0.fetch(request)) }
      case 2:
        let (request, sql) = random.whole()
        return Question(text: "count \(describe(request))", sql: sql.replacing(", total(f.id)", with: "")) {
          ["\(try $0.count(for: request))"]
        }
      case 3:
        let (request, sql) = random.groups()
        return Question(text: describe(request), sql: sql) {
          try $0.fetch(request).map { Self.line($0, request) }
        }
      default:
        let (request, sql) = random.owners()
        return Question(text: describe(request), sql: sql) { try Self.sum($0.fetch(request)) }
      }
    }
  }

  private func describe<T>(_ request: NSFetchRequest<T>) -> String {
    let order = (request.sortDescriptors ?? []).map { "\($0.key ?? "") \($0.ascending)" }
    return "\(request.predicate?.canonicalFormat ?? "") \(order) \(request.fetchLimit) \(request.fetchOffset)"
  }

  private static func key(_ id: NSManagedObjectID) -> String {
    String(id.uriRepresentation().lastPathComponent.dropFirst())
  }

  private static func sum(_ ids: [NSManagedObjectID]) -> [String] {
    ["\(ids.count)|\(ids.reduce(0.0) { $0 + (Double(key($1)) ?? 0) })"]
  }

  /// A group as SQLite prints it; averages in thousandths, without what is less.
  private static func line(_ row: NSDictionary, _ request: NSFetchRequest<NSDictionary>) -> String {
    let names = (request.propertiesToFetch ?? []).map { ($0 as? NSExpressionDescription)?.name ?? "\($0)" }
    return names.map { name in
      guard let value = row.object(forKey: name) else { return "NULL" }
      guard name == "average", let average = value as? Double else { return "\(value)" }
      return "\(Int(average * 1000))"
    }.joined(separator: "|")
  }

  private func compare(_ questions: [Question], _ store: FlightStore, _ context: NSManagedObjectContext)
    throws
  {
    let theirs = try store.query(questions.map(\.sql))
    try #require(theirs.count == questions.count)
    for (question, expected) in zip(questions, theirs) {
      let found = try context.performAndWait { try question.ask(context) }
      let isOrdered = question.sql.contains("ORDER BY")
      let (a, b) = isOrdered ? (found, expected) : (found.sorted(), expected.sorted())
      #expect(a == b, "\(question.text)\n\(question.sql)")
    }
  }

  @Test func `requests find what SQLite finds, also among unsaved changes`() throws {
    let store = try FlightStore(try #require(FlightStore.folder))
    let seed = Self.environment["CAIRN_SEED"].flatMap { UInt64($0) } ?? 1
    let count = Self.environment["CAIRN_REQUESTS"].flatMap { Int($0) } ?? 100
    let context = store.container.newBackgroundContext()
    try compare(questions(count, seed: seed, withFigures: true), store, context)
    // The same changes on both sides, saved in SQLite alone.
    var random = SeededGenerator(seed: seed)
    var updates: [String] = []
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Flight")
      for _ in 0..<100 {
        request.fetchOffset = Int.random(in: 0..<336_000, using: &random)
        request.fetchLimit = 1
        guard let flight = try context.fetch(request).first else { continue }
        let key = Self.key(flight.objectID)
        if Int.random(in: 0..<4, using: &random) == 0 {
          context.delete(flight)
          updates.append("DELETE FROM flight WHERE id = \(key);")
        } else {
          let delay = Int.random(in: -20...900, using: &random)
          flight.setValue(delay, forKey: "depDelay")
          flight.setValue(nil, forKey: "arrDelay")
          updates.append("UPDATE flight SET depDelay = \(delay), arrDelay = NULL WHERE id = \(key);")
        }
      }
    }
    _ = try store.query(["BEGIN;\n" + updates.joined(separator: "\n") + "\nCOMMIT;"])
    try compare(questions(count / 2, seed: seed + 1, withFigures: false), store, context)
  }
}
