// Cases about predicates: parsing formats, scans of several clauses, strings with options, conditions on to-many
// relationships.
//
// Invariant: SQLite's half answers the same question, in the formulation that it is fastest with.

import Cairn
import Foundation

extension Cases {
  static func predicates(_ data: FlightData, _ sqlite: SQLiteLibrary?) -> [Case] {
    let loaded = LoadedOnce(data)
    let theirs = sqlite.map { FlightsInSQLite($0, data) }
    let peer = sqlite.map { "SQLite \($0.version)" } ?? "SQLite"

    // The cases over relationships have SQLite's foreign keys indexed: without, it looks through all flights for
    // each owner.
    func counted(
      _ name: String, goal: Double, of entity: String, indexed: Bool = true, _ format: String, _ sql: String
    ) -> Case {
      Case(
        name: name, peer: peer, goal: goal,
        ours: {
          let flights = try loaded.flights()
          let snapshot = try flights.store.snapshot()
          guard let described = flights.store.schema.entities.first(where: { $0.name == entity }) else {
            throw BenchmarkError("no entity \(entity)")
          }
          let request = StoreRequest(entity: described.id, predicate: try PredicateFormat.parse(format))
          return .timed(
            run: { try flights.store.count(request, in: snapshot) }, answer: { .total(Int64($0), count: $0) })
        },
        theirs: theirs.map { flights in
          {
            let select = (indexed ? flights.indexed : flights.plain).prepare(sql)
            return .timed(run: { select.singleInteger() }, answer: { .total($0, count: Int($0)) })
          }
        })
    }

    return [
      counted(
        "predicate of 5 clauses: count", goal: 0.10, of: "Flight", indexed: false,
        """
        depDelay > 20 AND distance BETWEEN {500, 1500} AND airline.carrier IN {"UA", "AA", "DL"} AND month != 7 \
        AND arrDelay < 400
        """,
        """
        SELECT count(*) FROM flight WHERE depDelay > 20 AND distance BETWEEN 500 AND 1500
        AND airline IN (SELECT id FROM airline WHERE carrier IN ('UA', 'AA', 'DL')) AND month != 7 AND arrDelay < 400
        """),
      counted(
        "arithmetic of 2 columns: count", goal: 0.10, of: "Flight", indexed: false,
        "arrDelay - depDelay > 30",
        "SELECT count(*) FROM flight WHERE arrDelay - depDelay > 30"),
      counted(
        "airlines with 1,000 late flights: SUBQUERY", goal: 0.10, of: "Airline",
        "SUBQUERY(flights, $f, $f.depDelay > 60).@count > 1000",
        """
        SELECT count(*) FROM airline
        WHERE (SELECT count(*) FROM flight WHERE airline = airline.id AND depDelay > 60) > 1000
        """),
      counted(
        "planes with 100 delayed flights: SUBQUERY", goal: 0.10, of: "Plane",
        "SUBQUERY(flights, $f, $f.depDelay > 0).@count > 100",
        """
        SELECT count(*) FROM plane
        WHERE (SELECT count(*) FROM flight WHERE plane = plane.id AND depDelay > 0) > 100
        """),
      counted(
        "ANY over flights to each airport", goal: 0.10, of: "Airport", "ANY arrivals.distance > 2500",
        """
        SELECT count(*) FROM airport
        WHERE EXISTS (SELECT 1 FROM flight WHERE dest = airport.id AND distance > 2500)
        """),
      parsing(isCached: true), parsing(isCached: false),
    ]
  }

  /// Cairn against itself: a format that is parsed once against one that is new each time; what counts is the
  /// figure, the time of 10,000 formats.
  private static func parsing(isCached: Bool) -> Case {
    let counter = Counter()
    return Case(
      name: "10,000 formats, \(isCached ? "parsed before" : "new ones")", peer: "none", runCount: 5,
      ours: {
        .timed(
          run: {
            var count = 0
            for round in 0..<10_000 {
              let format =
                isCached
                ? "depDelay > %d AND airline.carrier == %@"
                : "depDelay > \(counter.next()) AND airline.carrier == %@"
              let arguments: [ExpressionTree] =
                isCached ? [.constant(.int(Int64(round))), .constant("UA")] : [.constant("UA")]
              if case .and = try PredicateFormat.parse(format, arguments: arguments) { count += 1 }
            }
            return count
          }, answer: { .total(Int64($0), count: $0) })
      })
  }

  private final class Counter {
    private var value = 0

    func next() -> Int {
      value += 1
      return value
    }
  }

  /// One store for all cases, loaded when the first of them runs.
  private final class LoadedOnce {
    private let data: FlightData
    private var loaded: FlightsInCairn?

    init(_ data: FlightData) { self.data = data }

    func flights() throws -> FlightsInCairn {
      if let loaded { return loaded }
      let flights = try FlightsInCairn.loaded(data)
      loaded = flights
      return flights
    }
  }
}
