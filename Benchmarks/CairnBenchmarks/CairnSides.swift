// Cairn's half of the cases: the in-memory store at store level, without objects.
//
// Invariant: what `Ours` asks for is answered here; stores are built outside of the timing, and a case that
// changes a store gets a fresh one for each run.

import Cairn
import Foundation

extension Ours {
  static var memoryStore: Ours {
    var ours = Ours()
    let shared = SharedStore()
    ours.load = { data in
      .timed(
        run: {
          let flights = try FlightsInCairn.loaded(data)
          try flights.indexRelationships()
          return flights
        }, answer: contents)
    }
    ours.lateUnitedKeys = { try keys(shared.plain($0), lateUnited) }
    ours.lateUnitedCount = { data in
      let flights = try shared.plain(data)
      let snapshot = try flights.store.snapshot()
      let request = StoreRequest(entity: flights.flight.id, predicate: lateUnited)
      return .timed(
        run: { try flights.store.count(request, in: snapshot) }, answer: { .total(Int64($0), count: $0) })
    }
    ours.lateUnitedKeysByIndex = { data in
      let indexed = try FlightsInCairn.loaded(
        data, indexes: [.init("byAirlineAndDelay", ["airline", "depDelay"])])
      return try keys(indexed, lateUnited)
    }
    ours.first100ByDelay = { try sorted(shared.plain($0), limit: 100) }
    ours.allByDelay = { try sorted(shared.plain($0), limit: nil) }
    ours.averageDelays = { try averages(shared.plain($0)) }
    ours.randomRows = { try randomRows(shared.plain($0)) }
    ours.updateTenth = updateTenth
    ours.deleteTenth = deleteTenth
    ours.memory = { data in
      .gauge {
        let flights = try FlightsInCairn.loaded(data)
        try flights.indexRelationships()
        let footprint = (flights.store as? MemoryStore)?.footprint ?? 0
        return Sample(figure: Double(footprint) / 1_000_000, answer: try contents(flights))
      }
    }
    ours.oneRowCommit = oneRowCommit
    return ours
  }

  /// One store for all cases that only read.
  private final class SharedStore {
    private var flights: FlightsInCairn?

    func plain(_ data: FlightData) throws -> FlightsInCairn {
      if let flights { return flights }
      let loaded = try FlightsInCairn.loaded(data)
      flights = loaded
      return loaded
    }
  }

  private static let lateUnited = PredicateTree.and([
    .compare("depDelay", .greater, 60), .compare("airline.carrier", .equal, "UA"),
  ])

  // MARK: Reading

  private static func keys(_ flights: FlightsInCairn, _ predicate: PredicateTree) throws -> Side {
    let snapshot = try flights.store.snapshot()
    let request = StoreRequest(entity: flights.flight.id, predicate: predicate)
    return .timed(
      run: { try flights.store.fetch(request, in: snapshot).ids },
      answer: { .unordered($0.map { Int32($0) }) })
  }

  private static func sorted(_ flights: FlightsInCairn, limit: Int?) throws -> Side {
    let snapshot = try flights.store.snapshot()
    let request = StoreRequest(
      entity: flights.flight.id, sort: [SortTerm("depDelay", ascending: false), SortTerm("distance")],
      limit: limit)
    let columns = [flights.data.flights[.depDelay], flights.data.flights[.distance]]
    return .timed(
      run: { try flights.store.fetch(request, in: snapshot).ids },
      answer: { .ordered($0.map { Int32($0) }, by: columns) })
  }

  private static func averages(_ flights: FlightsInCairn) throws -> Side {
    let snapshot = try flights.store.snapshot()
    let request = AggregateRequest(
      entity: flights.flight.id, groupBy: ["airline.carrier"], terms: [.init(.average, "arrDelay")])
    return .timed(
      run: { try flights.store.aggregate(request, in: snapshot) },
      answer: { rows in
        .averages(
          rows.compactMap { row in
            guard case .string(let name) = row.group[0], case .double(let average) = row.values[0] else {
              return nil
            }
            return (name, average)
          })
      })
  }

  private static func randomRows(_ flights: FlightsInCairn) throws -> Side {
    let snapshot = try flights.store.snapshot()
    let keys = flights.data.randomFlightKeys()
    let entity = flights.flight.id
    let slot = flights.slot(.distance)
    return .timed(
      run: {
        let batch = try flights.store.rows(keys.map { RowKey(entity: entity, id: Int64($0)) }, in: snapshot)
        let column = batch.column(slot)
        var sum: Int64 = 0
        for row in 0..<column.count { sum += column.integer(row) }
        return sum
      }, answer: { .total($0, count: keys.count) })
  }

  // MARK: Writing

  /// A store that no run has changed, its relationships indexed, with a snapshot held as a reader would.
  private static func fresh(_ data: FlightData) throws -> (FlightsInCairn, any StoreSnapshot) {
    let flights = try FlightsInCairn.loaded(data)
    try flights.indexRelationships()
    return (flights, try flights.store.snapshot())
  }

  private static func updateTenth(_ data: FlightData) throws -> Side {
    let keys = data.tenthOfFlightKeys().map { Int64($0) }
    return .timed(
      prepare: { try fresh(data) },
      run: { (flights: FlightsInCairn, snapshot: any StoreSnapshot) in
        let slot = flights.slot(.depDelay)
        let entity = flights.flight.id
        let rows = try flights.store.rows(keys.map { RowKey(entity: entity, id: $0) }, in: snapshot)
        let builder = ColumnBuilder(.int32)
        var versions: [Int64] = []
        for i in 0..<rows.count {
          let column = rows.chunk(i).columns[slot]
          let row = rows.row(i)
          if column.isNull(row) { builder.appendNull() } else { builder.append(column.integer(row) + 1) }
          versions.append(rows.version(i))
        }
        var changes = ChangeSet()
        changes.updates = [
          ChangeSet.Updates(
            entity: entity, keys: keys, versions: versions, slots: [slot], columns: [builder.finish()])
        ]
        _ = try flights.store.commit(changes)
        return (flights, snapshot)
      }, answer: { try sum(of: .depDelay, $0.0) })
  }

  private static func deleteTenth(_ data: FlightData) throws -> Side {
    let keys = data.tenthOfFlightKeys().map { Int64($0) }
    return .timed(
      prepare: { try fresh(data) },
      run: { (flights: FlightsInCairn, snapshot: any StoreSnapshot) in
        var changes = ChangeSet()
        changes.deletes = [ChangeSet.Deletes(entity: flights.flight.id, keys: keys)]
        _ = try flights.store.commit(changes)
        return (flights, snapshot)
      },
      answer: { flights, _ in try sumOfKeys(flights) })
  }

  private static func oneRowCommit(_ data: FlightData) throws -> Side {
    let (flights, snapshot) = try fresh(data)
    let slot = flights.slot(.depDelay)
    let key = RowKey(entity: flights.flight.id, id: Int64(data.flights.count / 2))
    var delay: Int64 = 0
    return .timed(
      run: {
        delay += 1
        let builder = ColumnBuilder(.int32)
        builder.append(delay % 1000)
        var changes = ChangeSet()
        changes.updates = [
          ChangeSet.Updates(
            entity: key.entity, keys: [key.id], versions: nil, slots: [slot], columns: [builder.finish()])
        ]
        _ = try flights.store.commit(changes)
        return snapshot.generation.number
      }, answer: { _ in .total(1, count: 1) })
  }

  // MARK: Answers

  static func contents(_ flights: FlightsInCairn) throws -> Answer {
    let snapshot = try flights.store.snapshot()
    let count = try flights.store.schema.entities.reduce(0) {
      try $0 + flights.store.count(StoreRequest(entity: $1.id), in: snapshot)
    }
    let distance = try flights.store.aggregate(
      AggregateRequest(entity: flights.flight.id, terms: [.init(.sum, "distance")]), in: snapshot)
    guard case .int(let sum) = distance[0].values[0] else { return Answer() }
    return .total(sum, count: count)
  }

  static func sum(of column: FlightData.Flights.Column, _ flights: FlightsInCairn) throws -> Answer {
    let rows = try flights.store.aggregate(
      AggregateRequest(
        entity: flights.flight.id, terms: [.init(.sum, "\(column)"), .init(.count, nil)]),
      in: flights.store.snapshot())
    guard case .int(let sum) = rows[0].values[0], case .int(let count) = rows[0].values[1] else {
      return Answer()
    }
    return .total(sum, count: Int(count))
  }

  static func sumOfKeys(_ flights: FlightsInCairn) throws -> Answer {
    let ids = try flights.store.fetch(
      StoreRequest(entity: flights.flight.id), in: flights.store.snapshot()
    ).ids
    return .total(ids.reduce(0, +), count: ids.count)
  }
}
