// The tour's last step: a list in sections that is told what changes, and draws itself anew.

import Cairn

/// All flights by airline, the latest first. Confined to its context's queue.
final class LiveView: NSObject, NSFetchedResultsControllerDelegate {
  typealias Cell = Console.Cell

  private let console: Console
  private let context: NSManagedObjectContext
  private let controller: NSFetchedResultsController<Flight>
  private let clock = ContinuousClock()
  /// What the controller has reported since the last drawing.
  private var news: [[Cell]] = []
  /// What the flight was called that is gone, with all that it led to.
  private var cancelled = ""

  init(_ console: Console, _ context: NSManagedObjectContext) {
    self.console = console
    self.context = context
    let request = NSFetchRequest<Flight>(entityName: "Flight")
    request.sortDescriptors = [
      NSSortDescriptor(key: "airline.name", ascending: true),
      NSSortDescriptor(key: "depDelay", ascending: false),
      NSSortDescriptor(key: "timeHour", ascending: true),
    ]
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "airline.name", cacheName: nil
    )
  }

  /// Throws what goes wrong; the step's number is shown with it.
  func run(_ number: Int) async throws {
    try await context.perform { [self] in
      controller.delegate = self
      let time = try clock.measure { try controller.performFetch() }
      try console.step(number, "A live list in sections, that says what has changed", time)
      try console.code(
        """
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
        """)
      try draw()
      let edits = try clock.measure {
        try edit()
        context.processPendingChanges()
      }
      try console.write("\n")
      try console.line("Three edits, reported in \(Console.milliseconds(edits)) ms:")
      try console.table(news)
      try console.write("\n")
      try draw()
      context.rollback()
    }
  }

  /// Delays a flight, cancels one and adds one, all of Hawaiian Airlines.
  private func edit() throws {
    guard let section = shown.last, let flights = section.objects as? [Flight], flights.count > 4 else {
      throw TourError("the section of the tour's edits isn't there")
    }
    flights[4].depDelay = 1500
    cancelled = name(flights[1])
    context.delete(flights[1])
    let extra = Flight(context: context)
    extra.number = 1
    extra.timeHour = flights[0].timeHour
    extra.depDelay = 1400
    extra.airline = flights[0].airline
    extra.origin = flights[0].origin
    extra.destination = flights[0].destination
  }

  // MARK: Drawing

  /// The sections that are drawn: of two airlines.
  private var shown: [any NSFetchedResultsSectionInfo] {
    (controller.sections ?? []).filter {
      ["Alaska Airlines Inc.", "Hawaiian Airlines Inc."].contains($0.name)
    }
  }

  private func draw() throws {
    var rows: [[Cell]] = []
    for section in shown {
      rows.append([.init("\(section.name), \(Console.grouped(section.numberOfObjects)) flights")])
      for case let flight as Flight in section.objects?.prefix(4) ?? [] {
        rows.append(
          [
            .init("  \(name(flight))"),
            .init(flight.timeHour.formatted(.iso8601.year().month().day())),
            flight.depDelay.map { .init(Int($0)) } ?? "", "minutes late",
          ])
      }
    }
    try console.table(rows)
  }

  private func name(_ flight: Flight) -> String {
    "\(flight.airline?.carrier ?? "?") \(flight.number) to \(flight.destination?.faa ?? "?")"
  }

  // MARK: What the controller tells

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let flight = anObject as? Flight
    let what: Cell =
      switch type {
      case .insert: "insert"
      case .delete: "delete"
      case .move: "move"
      case .update: "update"
      }
    news.append([
      what, .init(type == .delete ? cancelled : flight.map(name) ?? "?"),
      .init(indexPath.map { "from \(place($0))" } ?? ""),
      .init(newIndexPath.map { "to \(place($0))" } ?? ""),
    ])
  }

  private func place(_ path: IndexPath) -> String { "[\(path.section), \(path.row)]" }
}
