// The cases about fetch requests through contexts, both halves: objects, IDs, counts, dictionaries, pages.
//
// Invariants: a run takes a fresh context; SQLite reads whole rows where ours makes objects, which have them.

import Cairn
import Foundation

struct FetchCases {
  private let shared = ObjectCases.Shared()
  private let indexed = ObjectCases.Shared(indexes: [["airline", "depDelay"]])

  /// `sqlite` is nil where SQLite isn't installed; its halves are then missing.
  func all(_ data: FlightData, peer: String, _ sqlite: SQLiteSides?) -> [Case] {
    func compared(
      _ name: String, goal: Double, knownCount: Int? = nil, _ ours: @escaping (FlightsInObjects) -> Side,
      from store: ObjectCases.Shared? = nil, _ theirs: (() -> Side)?
    ) -> Case {
      Case(
        name: "fetch: " + name, peer: peer, goal: goal, knownCount: knownCount,
        ours: { ours(try (store ?? shared).loaded(data)) }, theirs: theirs)
    }
    let late = KnownAnswers.lateUnitedCount
    let columns = [data.flights[.depDelay], data.flights[.distance]]
    func page(_ offset: Int, _ limit: Int) -> (Case.Setup, (() -> Side)?) {
      (
        { try keys(shared.loaded(data), columns) { Self.byDelay(offset: offset, limit: limit) } },
        sqlite.map { sqlite in { sqlite.sortedRecords(offset: offset, limit: limit) } }
      )
    }
    func paged(_ name: String, goal: Double, _ offset: Int, _ limit: Int) -> Case {
      let (ours, theirs) = page(offset, limit)
      return Case(
        name: "fetch: " + name, peer: peer, goal: goal, knownCount: limit, ours: ours, theirs: theirs)
    }
    return [
      compared(
        "late UA flights, no index", goal: 0.08, knownCount: late, lateUnited, sqlite?.lateUnitedRecords),
      compared(
        "late UA flights, no index: count", goal: 0.05, knownCount: late, lateUnitedCount,
        sqlite?.lateUnitedCount),
      compared(
        "late UA flights, fetch index", goal: 0.5, knownCount: late, lateUnited, from: indexed,
        sqlite?.lateUnitedRecordsByIndex),
      compared("airports, CONTAINS[cd]", goal: 1.0, airports, sqlite?.airportsLike),
      paged("sort by 2 columns: first 100", goal: 0.04, 0, 100),
      compared(
        "sort by 2 columns: all IDs", goal: 0.08, knownCount: KnownAnswers.flightCount, allIDs(columns),
        sqlite?.allByDelay),
      compared(
        "average by airline: dictionaries", goal: 0.015, knownCount: KnownAnswers.airlineCount, averages,
        sqlite?.averageDelays),
      compared("4 figures by origin and airline, having", goal: 0.05, groups, sqlite?.groups),
      compared(
        "planes with 300 delayed flights: SUBQUERY", goal: 0.1, busyPlanes, sqlite?.busyPlanes),
      paged("page 1 of a sorted list", goal: 0.1, 0, 20),
      paged("page 1,000 of a sorted list", goal: 0.1, 19_980, 20),
      compared("100 screenfuls with airline and plane", goal: 2.0, screenfuls, sqlite?.screenfuls),
    ]
  }

  // MARK: Ours

  private func reading<Result>(
    _ flights: FlightsInObjects, _ run: @escaping (NSManagedObjectContext) throws -> Result,
    _ answer: @escaping (Result) throws -> Answer
  ) -> Side {
    .timed(
      prepare: { flights.container.newBackgroundContext() },
      run: { context in (context, try context.performAndWait { try run(context) }) },
      answer: { context, result in try context.performAndWait { try answer(result) } })
  }

  static func lateUnitedRequest() -> NSFetchRequest<Flight> {
    let request = NSFetchRequest<Flight>(entityName: "Flight")
    request.predicate = NSPredicate(format: "depDelay > %d AND airline.carrier == %@", 60, "UA")
    return request
  }

  private static func byDelay(offset: Int, limit: Int) -> NSFetchRequest<Flight> {
    let request = NSFetchRequest<Flight>(entityName: "Flight")
    request.sortDescriptors = [
      NSSortDescriptor(key: "depDelay", ascending: false), NSSortDescriptor(key: "distance", ascending: true),
    ]
    (request.fetchOffset, request.fetchLimit) = (offset, limit)
    return request
  }

  func lateUnited(_ flights: FlightsInObjects) -> Side {
    reading(flights, { try $0.fetch(Self.lateUnitedRequest()) }) { found in
      .total(found.reduce(0) { $0 + Int64($1.distance) }, count: found.count)
    }
  }

  func first100(_ data: FlightData) -> (FlightsInObjects) -> Side {
    let columns = [data.flights[.depDelay], data.flights[.distance]]
    return { flights in keys(flights, columns) { Self.byDelay(offset: 0, limit: 100) } }
  }

  private func lateUnitedCount(_ flights: FlightsInObjects) -> Side {
    reading(flights, { try $0.count(for: Self.lateUnitedRequest()) }) { .total(Int64($0), count: $0) }
  }

  private func airports(_ flights: FlightsInObjects) -> Side {
    reading(flights) { context -> [Airport] in
      let request = NSFetchRequest<Airport>(entityName: "Airport")
      request.predicate = NSPredicate(format: "name CONTAINS[cd] %@", "inter")
      return try context.fetch(request)
    } _: { found in
      .total(found.reduce(0) { $0 + Int64($1.name?.utf8.count ?? 0) }, count: found.count)
    }
  }

  private func keys(
    _ flights: FlightsInObjects, _ columns: [[Int32]], _ request: @escaping () -> NSFetchRequest<Flight>
  ) -> Side {
    reading(flights, { try $0.fetch(request()) }) { found in
      .ordered(found.map { Self.key($0.objectID) }, by: columns)
    }
  }

  /// The store gives keys in the order of the data.
  private static func key(_ id: NSManagedObjectID) -> Int32 {
    Int32(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }

  private func allIDs(_ columns: [[Int32]]) -> (FlightsInObjects) -> Side {
    { flights in
      reading(flights) { context -> [NSManagedObjectID] in
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Flight")
        request.resultType = .managedObjectIDResultType
        request.sortDescriptors = Self.byDelay(offset: 0, limit: 0).sortDescriptors
        return try context.fetch(request)
      } _: {
        .ordered($0.map(Self.key), by: columns)
      }
    }
  }

  private static func figure(_ name: String, _ format: String) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    return description
  }

  func averages(_ flights: FlightsInObjects) -> Side {
    reading(flights) { context -> [NSDictionary] in
      let request = NSFetchRequest<NSDictionary>(entityName: "Flight")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["airline.carrier", Self.figure("average", "average:(arrDelay)")]
      request.propertiesToGroupBy = ["airline.carrier"]
      return try context.fetch(request)
    } _: { rows in
      .averages(
        rows.map { ("\($0.object(forKey: "airline.carrier") ?? "")", Self.number($0, "average").doubleValue) }
      )
    }
  }

  private static func number(_ row: NSDictionary, _ key: String) -> NSNumber {
    row.object(forKey: key) as? NSNumber ?? 0
  }

  private func groups(_ flights: FlightsInObjects) -> Side {
    reading(flights) { context -> [NSDictionary] in
      let request = NSFetchRequest<NSDictionary>(entityName: "Flight")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [
        "origin.faa", "airline.carrier", Self.figure("count", "count:(SELF)"),
        Self.figure("average", "average:(arrDelay)"), Self.figure("most", "max:(depDelay)"),
      ]
      request.propertiesToGroupBy = ["origin.faa", "airline.carrier"]
      request.havingPredicate = NSPredicate(format: "count > 1000")
      return try context.fetch(request)
    } _: { rows in
      .averages(
        rows.map { row in
          let names = ["origin.faa", "airline.carrier"].map { "\(row.object(forKey: $0) ?? "")" }
          let figures = ["count", "most"].map { "\(Self.number(row, $0).int64Value)" }
          return ((names + figures).joined(separator: " "), Self.number(row, "average").doubleValue)
        })
    }
  }

  private func busyPlanes(_ flights: FlightsInObjects) -> Side {
    reading(flights) { context -> [Plane] in
      let request = NSFetchRequest<Plane>(entityName: "Plane")
      request.predicate = NSPredicate(format: "SUBQUERY(flights, $f, $f.depDelay > 0).@count > 300")
      return try context.fetch(request)
    } _: {
      .unordered($0.map { Self.key($0.objectID) })
    }
  }

  /// Each in a context of its own.
  private func screenfuls(_ flights: FlightsInObjects) -> Side {
    .timed(
      prepare: { (0..<100).map { _ in flights.container.newBackgroundContext() } },
      run: { contexts in
        var total = (bytes: 0, count: 0)
        for (number, context) in contexts.enumerated() {
          try context.performAndWait {
            let request = NSFetchRequest<Flight>(entityName: "Flight")
            (request.fetchOffset, request.fetchLimit) = (20 * number, 20)
            request.relationshipKeyPathsForPrefetching = ["airline", "plane"]
            for flight in try context.fetch(request) {
              total.bytes += flight.airline?.name.utf8.count ?? 0
              total.bytes += flight.plane?.manufacturer?.utf8.count ?? 0
              total.count += 1
            }
          }
        }
        return (contexts, total)
      }, answer: { _, total in .total(Int64(total.bytes), count: total.count) })
  }
}

// MARK: SQLite's

extension SQLiteSides {
  private static let columns = FlightData.Flights.Column.allCases.map { "flight.\($0)" }
    .joined(separator: ",")

  func lateUnitedRecords() -> Side { lateUnitedRecords(flights.plain) }

  func lateUnitedRecordsByIndex() -> Side { lateUnitedRecords(flights.indexedByDelay) }

  private func lateUnitedRecords(_ database: Database) -> Side {
    let select = database.prepare("SELECT \(Self.columns) \(Self.lateUnited)")
    return .timed(
      run: { Self.records(select) },
      answer: { records in .total(records.reduce(0) { $0 + Int64($1.distance) }, count: records.count) })
  }

  func airportsLike() -> Side {
    let select = flights.plain.prepare(
      "SELECT id, faa, name, lat, lon, alt FROM airport WHERE name LIKE '%inter%'")
    return .timed(
      run: {
        var total = (bytes: 0, count: 0)
        while select.step() {
          total.bytes += select.text(2).utf8.count
          total.count += 1
        }
        select.reset()
        return total
      }, answer: { .total(Int64($0.bytes), count: $0.count) })
  }

  /// Reads the rows, and tells them by their keys.
  func sortedRecords(offset: Int, limit: Int) -> Side {
    let select = flights.plain.prepare(
      """
      SELECT \(Self.columns), id FROM flight ORDER BY depDelay DESC, distance LIMIT \(limit) OFFSET \(offset)
      """)
    let columns = [flights.data.flights[.depDelay], flights.data.flights[.distance]]
    return .timed(
      run: {
        var found: [(record: FlightRecord, key: Int32)] = []
        while select.step() { found.append((FlightRecord(select), select.int32(19))) }
        select.reset()
        return found
      }, answer: { .ordered($0.map(\.key), by: columns) })
  }

  func groups() -> Side {
    let select = flights.plain.prepare(
      """
      SELECT faa, carrier, n, most, average
      FROM (SELECT origin, airline, count(*) AS n, max(depDelay) AS most, avg(arrDelay) AS average
            FROM flight GROUP BY origin, airline HAVING count(*) > 1000)
      JOIN airline ON airline.id = airline JOIN airport ON airport.id = origin
      """)
    return .timed(
      run: {
        var groups: [(name: String, average: Double)] = []
        while select.step() {
          let name = [select.text(0), select.text(1), "\(select.int64(2))", "\(select.int64(3))"]
          groups.append((name.joined(separator: " "), select.double(4)))
        }
        select.reset()
        return groups
      }, answer: { .averages($0) })
  }

  /// With an index on the foreign key: without, it looks through all flights for each plane.
  func busyPlanes() -> Side {
    let select = flights.indexed.prepare(
      """
      SELECT id FROM plane WHERE (SELECT count(*) FROM flight WHERE plane = plane.id AND depDelay > 0) > 300
      """)
    return .timed(run: { select.keys() }, answer: { .unordered($0) })
  }

  func screenfuls() -> Side {
    let select = flights.plain.prepare(
      """
      SELECT \(Self.columns), airline.name, plane.manufacturer FROM flight JOIN airline ON airline.id = airline
      LEFT JOIN plane ON plane.id = plane ORDER BY flight.id LIMIT 20 OFFSET ?
      """)
    return .timed(
      run: {
        var total = (bytes: 0, count: 0)
        for number in 0..<100 {
          select.bind(Int32(20 * number), at: 1)
          while select.step() {
            let record = FlightRecord(select)
            total.bytes += select.text(19).utf8.count + (select.optionalText(20)?.utf8.count ?? 0)
            total.count += record.year > 0 ? 1 : 0
          }
          select.reset()
        }
        return total
      }, answer: { .total(Int64($0.bytes), count: $0.count) })
  }
}
