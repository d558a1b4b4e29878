// Cairn's half of the cases through objects: classes with managed properties, contexts, saves.
//
// Invariants: stores are filled and IDs are found outside of the timing; a case that changes a store gets a
// fresh one for each run, and a case that reads a fresh context; nobody observes notifications.

import Cairn
import Foundation

extension ObjectCases {
  /// One model, and one store for all cases that only read.
  final class Shared {
    let model: NSManagedObjectModel
    private var flights: FlightsInObjects?

    init(indexes: [[String]] = []) { model = FlightModel.make(indexes: indexes) }

    func loaded(_ data: FlightData) throws -> FlightsInObjects {
      if let flights { return flights }
      let made = try FlightsInObjects.loaded(data, model)
      flights = made
      return made
    }
  }

  // MARK: Inserting

  func insert(_ data: FlightData, indexed: Bool) -> Side {
    .timed(
      run: {
        let flights = try FlightsInObjects(data, shared.model)
        try flights.insertObjects()
        if indexed { try flights.rows().indexRelationships() }
        return flights
      }, answer: { try Ours.contents($0.rows()) })
  }

  // MARK: Reading

  func faults(_ data: FlightData) throws -> Side {
    let flights = try shared.loaded(data)
    return .timed(
      prepare: { flights.container.newBackgroundContext() },
      run: { context in (context, try context.performAndWait { try Self.all(context) }) },
      answer: { context, objects in
        context.performAndWait {
          .total(objects.reduce(0) { $0 + Int64($1.distance) }, count: objects.count)
        }
      })
  }

  func everyProperty(_ data: FlightData) throws -> Side {
    let flights = try shared.loaded(data)
    return .timed(
      prepare: { flights.container.newBackgroundContext() },
      run: { context in
        try context.performAndWait {
          let objects = try Self.all(context)
          var sum: Int64 = 0
          for flight in objects { sum += Self.sum(flight) }
          return (context, objects, sum)
        }
      }, answer: { _, objects, sum in .total(sum, count: objects.count) })
  }

  /// What a record's sum in `SQLiteSides` adds up: the numbers, 0 for nil, and 1 for each relationship.
  static func sum(_ flight: Flight) -> Int64 {
    var sum = Int64(flight.year) + Int64(flight.month) + Int64(flight.day)
    sum += Int64(flight.depTime ?? 0) + Int64(flight.schedDepTime) + Int64(flight.depDelay ?? 0)
    sum += Int64(flight.arrTime ?? 0) + Int64(flight.schedArrTime) + Int64(flight.arrDelay ?? 0)
    sum += Int64(flight.flight) + Int64(flight.airTime ?? 0) + Int64(flight.distance)
    sum += Int64(flight.hour) + Int64(flight.minute) + Int64(flight.timeHour)
    if flight.airline != nil { sum += 1 }
    if flight.plane != nil { sum += 1 }
    if flight.origin != nil { sum += 1 }
    if flight.dest != nil { sum += 1 }
    return sum
  }

  func byID(_ data: FlightData, registered: Bool) throws -> Side {
    let flights = try shared.loaded(data)
    let ids = try flights.ids(data.randomFlightKeys())
    return .timed(
      prepare: {
        let context = flights.container.newBackgroundContext()
        return (context, registered ? try context.performAndWait { try Self.all(context) } : [])
      },
      run: { (context: NSManagedObjectContext, held: [Flight]) in
        context.performAndWait {
          var sum: Int64 = 0
          for id in ids {
            if let flight = context.object(with: id) as? Flight { sum += Int64(flight.distance) }
          }
          return (context, held, sum)
        }
      }, answer: { _, _, sum in .total(sum, count: ids.count) })
  }

  func manufacturers(_ data: FlightData) throws -> Side {
    let flights = try shared.loaded(data)
    return .timed(
      prepare: {
        let context = flights.container.newBackgroundContext()
        return (context, try context.performAndWait { try Self.all(context) })
      },
      run: { (context: NSManagedObjectContext, objects: [Flight]) in
        context.performAndWait {
          var total = (bytes: 0, count: 0)
          for flight in objects {
            guard let manufacturer = flight.plane?.manufacturer else { continue }
            total.bytes += manufacturer.utf8.count
            total.count += 1
          }
          return (context, objects, total)
        }
      }, answer: { _, _, total in .total(Int64(total.bytes), count: total.count) })
  }

  func memory(_ data: FlightData) throws -> Side {
    let flights = try shared.loaded(data)
    return .gauge {
      let context = flights.container.newBackgroundContext()
      return try context.performAndWait {
        let before = try Heap.bytesInUse()
        let objects = try Self.all(context)
        let bytes = try Heap.bytesInUse() - before
        return Sample(
          figure: Double(bytes) / 1_000_000, answer: .total(Int64(objects.count), count: objects.count))
      }
    }
  }

  static func all(_ context: NSManagedObjectContext) throws -> [Flight] {
    try context.fetch(NSFetchRequest<Flight>(entityName: "Flight"))
  }

  // MARK: Changing

  /// A store of its own with a context that knows all flights, and the IDs of a tenth of them.
  private func fresh(_ data: FlightData) throws -> Fresh {
    let flights = try FlightsInObjects.loaded(data, shared.model)
    let context = flights.container.newBackgroundContext()
    return Fresh(
      flights: flights, context: context, held: try context.performAndWait { try Self.all(context) },
      ids: try flights.ids(data.tenthOfFlightKeys()))
  }

  private struct Fresh {
    let flights: FlightsInObjects
    let context: NSManagedObjectContext
    let held: [Flight]
    let ids: [NSManagedObjectID]
  }

  func updateTenth(_ data: FlightData) -> Side {
    changing(data, summing: { try Ours.sum(of: .depDelay, $0) }) { _, flight in
      if let delay = flight.depDelay { flight.depDelay = delay + 1 }
    }
  }

  func deleteTenth(_ data: FlightData) -> Side {
    changing(data, summing: { try Ours.sumOfKeys($0) }) { context, flight in context.delete(flight) }
  }

  private func changing(
    _ data: FlightData, summing: @escaping (FlightsInCairn) throws -> Answer,
    _ change: @escaping (NSManagedObjectContext, Flight) -> Void
  ) -> Side {
    .timed(
      prepare: { try fresh(data) },
      run: { fresh in
        try fresh.context.performAndWait {
          for id in fresh.ids {
            if let flight = fresh.context.object(with: id) as? Flight { change(fresh.context, flight) }
          }
          try fresh.context.save()
        }
        return fresh
      }, answer: { try summing($0.flights.rows()) })
  }

  // MARK: One object among many

  func saveOne(_ data: FlightData) throws -> Side {
    let flights = try FlightsInObjects.loaded(data, shared.model)
    let context = flights.container.newBackgroundContext()
    let id = try flights.ids([Int32(data.flights.count / 2)])[0]
    guard let flight = context.performAndWait({ context.object(with: id) as? Flight }) else {
      throw BenchmarkError("no flight in the middle")
    }
    return .timed(
      run: {
        try context.performAndWait {
          flight.distance += 1
          try context.save()
        }
      }, answer: { .total(1, count: 1) })
  }

  func contextAndOne(_ data: FlightData) throws -> Side {
    let flights = try FlightsInObjects.loaded(data, shared.model)
    let id = try flights.ids([Int32(data.flights.count / 2)])[0]
    return .timed(
      run: {
        let context = flights.container.newBackgroundContext()
        return try context.performAndWait { (context, try context.existingObject(with: id)) }
      }, answer: { _ in .total(1, count: 1) })
  }
}
