// The cases about results controllers, both halves: all flights by airline and departure delay, a section an
// airline.
//
// Invariant: what is timed is an edit and its event; the peer fetches anew after the same edit and looks up
// what has become of the edited objects, as a program without a controller would.

import Cairn
import Foundation

struct ResultsCases {
  private let shared = ObjectCases.Shared()

  func all(_ data: FlightData) -> [Case] {
    [
      Case(
        name: "results: performFetch in sections", peer: "Cairn: the plain fetch", goal: 1.3,
        ours: { try performFetch(data, inSections: true) },
        theirs: { try performFetch(data, inSections: false) }),
      edits(1, data, goal: 0.01), edits(1_000, data, goal: 0.2), flat(100_000, data), flat(1_000_000, data),
    ]
  }

  private func edits(_ count: Int, _ data: FlightData, goal: Double) -> Case {
    Case(
      name: "results: \(count) edits, reported", peer: "Cairn: fetch anew, look up", goal: goal,
      ours: { try Session(data, shared.model).followed(count) },
      theirs: { try Session(data, shared.model).refetched(count) })
  }

  /// Cairn against itself: a change costs what has changed, not what there is.
  private func flat(_ rowCount: Int, _ data: FlightData) -> Case {
    Case(
      name: "results: 1 edit: \(rowCount / 1_000)k against 10k", peer: "Cairn at 10,000 rows", goal: 1.5,
      ours: { try Session(data.withFlights(rowCount), shared.model).followed(1) },
      theirs: { try Session(data.withFlights(10_000), shared.model).followed(1) })
  }

  private static func request() -> NSFetchRequest<Flight> {
    let request = NSFetchRequest<Flight>(entityName: "Flight")
    request.sortDescriptors = ["airline.name", "depDelay"].map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }

  private func performFetch(_ data: FlightData, inSections: Bool) throws -> Side {
    let flights = try shared.loaded(data)
    return .timed(
      prepare: {
        let context = flights.container.newBackgroundContext()
        return (
          context,
          NSFetchedResultsController(
            fetchRequest: Self.request(), managedObjectContext: context, sectionNameKeyPath: "airline.name",
            cacheName: nil)
        )
      },
      run: { context, controller -> (NSFetchedResultsController<Flight>, Int) in
        try context.performAndWait {
          if !inSections { return (controller, try context.fetch(controller.fetchRequest).count) }
          try controller.performFetch()
          return (controller, (controller.sections ?? []).reduce(0) { $0 + $1.numberOfObjects })
        }
      }, answer: { .total(Int64($1), count: $1) })
  }

  /// Counts what it is told.
  private final class Counter: NSFetchedResultsControllerDelegate {
    private(set) var changes = 0

    func take() -> Int {
      defer { changes = 0 }
      return changes
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      if type == .move { changes += 1 }
    }
  }

  /// A context with a controller whose flights are edited again and again.
  private final class Session {
    private let flights: FlightsInObjects
    private let context: NSManagedObjectContext
    private let controller: NSFetchedResultsController<Flight>
    private let counter = Counter()

    init(_ data: FlightData, _ model: NSManagedObjectModel) throws {
      flights = try FlightsInObjects.loaded(data, model)
      context = flights.container.newBackgroundContext()
      controller = NSFetchedResultsController(
        fetchRequest: ResultsCases.request(), managedObjectContext: context,
        sectionNameKeyPath: "airline.name", cacheName: nil)
    }

    private func edited(_ count: Int) throws -> [Flight] {
      try controller.performFetch()
      let all = controller.fetchedObjects ?? []
      return (0..<count).map { all[($0 * 7_919 + 4_001) % all.count] }
    }

    private func edit(_ objects: [Flight]) {
      for object in objects { object.depDelay = ((object.depDelay ?? 0) + 17) % 60 }
    }

    func followed(_ count: Int) throws -> Side {
      let objects = try context.performAndWait {
        controller.delegate = counter
        let objects = try edited(count)
        // The first change finds out what the delegate takes.
        edit(objects)
        context.processPendingChanges()
        return objects
      }
      _ = counter.take()
      return .timed(
        run: { [self] in
          context.performAndWait {
            edit(objects)
            context.processPendingChanges()
          }
        }, answer: { [counter] in .total(Int64(counter.take()), count: count) })
    }

    func refetched(_ count: Int) throws -> Side {
      let objects = try context.performAndWait { try edited(count) }
      return .timed(
        run: { [self] () -> Int in
          try context.performAndWait {
            edit(objects)
            let all = try context.fetch(ResultsCases.request())
            var places: [ObjectIdentifier: Int] = [:]
            places.reserveCapacity(all.count)
            for (place, object) in all.enumerated() { places[ObjectIdentifier(object)] = place }
            return objects.count { places[ObjectIdentifier($0)] != nil }
          }
        }, answer: { .total(Int64($0), count: count) })
    }
  }
}
