// The program that the tour shows, block by block, so that it compiles and runs. `TourTests` holds the two to each
// other: what stands between `begin` and `end` is what the tour prints.

import Cairn
import Foundation

// begin
final class Airline: NSManagedObject {
  @Managed var carrier: String
  @Managed var name: String
  @Managed var flights: Set<Flight>
}
// end

final class Airport: NSManagedObject {
  @Managed var faa: String
  @Managed var name: String?
}

final class Flight: NSManagedObject {
  @Managed var number: Int32
  @Managed var timeHour: Date
  @Managed var depDelay: Int16?
  @Managed var distance: Int32
  @Managed var airline: Airline?
}

/// Runs the tour's lines, and keeps what they find. Confined to one task, and to the context's queue.
final class TourProgram: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var lateFlightCount = 0
  private(set) var airportCodes: [String] = []
  private(set) var farNames: [String?] = []
  private(set) var firstFigures: [Value] = []
  private(set) var lastFigures: [Value] = []
  private(set) var airlineName = ""
  private(set) var oldName = Value.null
  private(set) var newName = Value.null
  private(set) var sectionCount = 0

  /// The archive at `url` is changed.
  func run(_ url: URL) async throws {
    // begin
    let model = try NSManagedObjectModel(ofStoreAt: url)
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: model)
    container.persistentStoreDescriptions[0].url = url
    container.persistentStoreDescriptions[0].type = CairnArchiveStoreType
    // Reads where things are, no rows.
    container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }
    // The lines of steps 2, 3, 4 and 7 stand in context.perform { }.
    let context = container.newBackgroundContext()
    // end
    try await context.perform { [self] in
      // begin
      let late = NSFetchRequest<Flight>(entityName: "Flight")
      late.predicate = NSPredicate(format: "depDelay > 60 AND airline.carrier == %@", "UA")
      late.sortDescriptors = [NSSortDescriptor(key: "depDelay", ascending: false)]
      let lateFlights = try context.fetch(late)
      // end
      lateFlightCount = lateFlights.count
      // begin
      let saint = NSFetchRequest<Airport>(entityName: "Airport")
      saint.predicate = NSPredicate(format: "name CONTAINS[cd] %@", "SAN J")
      let airports = try context.fetch(saint)
      // end
      airportCodes = airports.map(\.faa)
      // begin
      let page = NSFetchRequest<Flight>(entityName: "Flight")
      page.sortDescriptors = [
        NSSortDescriptor(key: "distance", ascending: false),
        NSSortDescriptor(key: "airline.name", ascending: true),
        NSSortDescriptor(key: "timeHour", ascending: true),
        NSSortDescriptor(key: "number", ascending: true),
      ]
      page.fetchOffset = 40
      page.fetchLimit = 5
      let farFlights = try context.fetch(page)
      // end
      farNames = farFlights.map { $0.airline?.name }
      // begin
      let figures = try context.aggregate(
        "Flight", groupBy: ["airline.name"], [.init(.count, nil), .init(.average, "arrDelay")])
      let latestFirst = figures.sorted { Value.compare($0.values[1], $1.values[1]) > 0 }
      // end
      (firstFigures, lastFigures) = (latestFirst[0].group, latestFirst[latestFirst.count - 1].group)
    }
    // begin
    let store = container.persistentStoreCoordinator.persistentStores[0].store
    let before = try store.snapshot()  // for step 6; costs a reference

    let isDelta = NSPredicate(format: "carrier == %@", "DL")
    func delta(in context: NSManagedObjectContext) throws -> Airline {
      let request = NSFetchRequest<Airline>(entityName: "Airline")
      request.predicate = isDelta
      return try context.fetch(request)[0]
    }
    let airline = try await context.perform { try delta(in: context) }
    let editor = container.newBackgroundContext()
    try await editor.perform {
      try delta(in: editor).name = "Delta, edited on the tour"
      try editor.save()
    }
    await context.perform { context.refresh(airline, mergeChanges: true) }
    // end
    airlineName = await context.perform { airline.name }
    // begin
    let entity = try store.schema.requireEntity(named: "Airline")
    let question = StoreRequest(entity: entity.id, predicate: isDelta.tree)
    let old = try store.fetch(question, in: before)
    let new = try store.fetch(question, in: store.snapshot())
    // end
    let slot = entity.slot(named: "name")!
    (oldName, newName) = (old.value(0, slot: slot), new.value(0, slot: slot))
    try await context.perform { [self] in
      // begin
      let all = NSFetchRequest<Flight>(entityName: "Flight")
      all.sortDescriptors = [
        NSSortDescriptor(key: "airline.name", ascending: true),
        NSSortDescriptor(key: "depDelay", ascending: false),
        NSSortDescriptor(key: "timeHour", ascending: true),
      ]
      let list = NSFetchedResultsController(
        fetchRequest: all, managedObjectContext: context,
        sectionNameKeyPath: "airline.name", cacheName: nil)
      // An NSFetchedResultsControllerDelegate is told of each change, as a table view needs it.
      list.delegate = self
      try list.performFetch()
      // end
      sectionCount = list.sections?.count ?? 0
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
