// The tour: seven steps through what Cairn does, each with the Swift lines that do it and the time it takes. The lines
// are a program, which a test compiles and runs (TourProgram.swift).

import Cairn

/// Shows the steps, one after another.
struct Tour {
  private let console: Console
  private let clock = ContinuousClock()

  init(_ console: Console) {
    self.console = console
  }

  /// Throws what goes wrong in a step; the steps before it have been shown.
  func run() async throws {
    try console.title("Cairn's tour: the flights that left New York in 2013")
    let archive = try TourArchive()
    defer { archive.remove() }
    try introduce(archive)
    let container = try await open(archive)
    let reader = container.newBackgroundContext()
    try await reader.perform {
      try fetch(reader)
      try page(reader)
      try aggregate(reader)
    }
    let before = try snapshot(container)
    try await edit(container, reader)
    try lookBack(before)
    try await LiveView(console, reader).run(7)
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  private func introduce(_ archive: TourArchive) throws {
    try console.write("\n")
    try console.line(
      "They are in an archive, a file of \(Console.grouped(try archive.size() / 1000)) kB. The tour works on a copy of it,"
    )
    try console.line("which it removes at the end; url is that of the copy. Objects are of classes such as")
    try console.write("\n")
    try console.code(
      """
      final class Airline: NSManagedObject {
        @Managed var carrier: String
        @Managed var name: String
        @Managed var flights: Set<Flight>
      }
      """)
    try console.line("and Flight and Airport, which look the same.")
  }

  // MARK: 1

  private func open(_ archive: TourArchive) async throws -> NSPersistentContainer {
    let sizes = try archive.sizes()
    var opened: NSPersistentContainer?
    var counts: [[Console.Cell]] = []
    let time = try await clock.measure {
      let container = try archive.container()
      opened = container
      let context = container.newBackgroundContext()
      counts = try await context.perform {
        try ["Airline", "Airport", "Plane", "Flight"].map { name in
          [.init(name), .init(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name)))]
        }
      }
    }
    guard let opened else { throw TourError("the archive isn't open") }
    try console.step(1, "Open an archive: one file, which has its model in it", time)
    try console.code(
      """
      let model = try NSManagedObjectModel(ofStoreAt: url)
      let container = NSPersistentContainer(name: "Flights", managedObjectModel: model)
      container.persistentStoreDescriptions[0].url = url
      container.persistentStoreDescriptions[0].type = CairnArchiveStoreType
      // Reads where things are, no rows.
      container.loadPersistentStores { _, error in if let error { fatalError("\\(error)") } }
      // The lines of steps 2, 3, 4 and 7 stand in context.perform { }.
      let context = container.newBackgroundContext()
      """)
    try console.table(counts)
    try console.write("\n")
    try console.table(sizes)
    return opened
  }

  // MARK: 2

  private func fetch(_ context: NSManagedObjectContext) throws {
    let late = Flight.fetchRequest() as NSFetchRequest<Flight>
    late.predicate = NSPredicate(format: "depDelay > 60 AND airline.carrier == %@", "UA")
    late.sortDescriptors = [NSSortDescriptor(key: "depDelay", ascending: false)]
    let saint = NSFetchRequest<Airport>(entityName: "Airport")
    saint.predicate = NSPredicate(format: "name CONTAINS[cd] %@", "SAN J")
    var flights: [Flight] = []
    var airports: [Airport] = []
    let time = try clock.measure {
      flights = try context.fetch(late)
      airports = try context.fetch(saint)
    }
    try console.step(2, "Fetch by predicates, across relationships", time)
    try console.code(
      """
      let late = NSFetchRequest<Flight>(entityName: "Flight")
      late.predicate = NSPredicate(format: "depDelay > 60 AND airline.carrier == %@", "UA")
      late.sortDescriptors = [NSSortDescriptor(key: "depDelay", ascending: false)]
      let lateFlights = try context.fetch(late)
      """)
    try console.line(
      "\(Console.grouped(flights.count)) of United's flights left more than an hour late, first of all:")
    try console.table(flights.prefix(3).map(row))
    try console.write("\n")
    try console.code(
      """
      let saint = NSFetchRequest<Airport>(entityName: "Airport")
      saint.predicate = NSPredicate(format: "name CONTAINS[cd] %@", "SAN J")
      let airports = try context.fetch(saint)
      """)
    try console.table(airports.map { [.init($0.faa), .init($0.name ?? "")] })
  }

  private func row(_ flight: Flight) -> [Console.Cell] {
    [
      .init("\(flight.airline?.carrier ?? "?") \(flight.number)"),
      .init("\(flight.origin?.faa ?? "?") to \(flight.destination?.faa ?? "?")"),
      .init(flight.timeHour.formatted(.iso8601.year().month().day())),
      flight.depDelay.map { .init(Int($0)) } ?? "",
      "minutes late",
    ]
  }

  // MARK: 3

  private func page(_ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<Flight>(entityName: "Flight")
    request.sortDescriptors = [
      NSSortDescriptor(key: "distance", ascending: false),
      NSSortDescriptor(key: "airline.name", ascending: true),
      NSSortDescriptor(key: "timeHour", ascending: true),
      NSSortDescriptor(key: "number", ascending: true),
    ]
    request.fetchOffset = 40
    request.fetchLimit = 5
    var flights: [Flight] = []
    let time = try clock.measure { flights = try context.fetch(request) }
    try console.step(3, "A page of a sorted list", time)
    try console.code(
      """
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
      """)
    try console.table(
      flights.map { flight in
        row(flight)[..<3] + [
          .init(Int(flight.distance)), "miles, with", .init(flight.airline?.name ?? ""),
        ]
      })
  }

  // MARK: 4

  private func aggregate(_ context: NSManagedObjectContext) throws {
    var rows: [AggregateRow] = []
    let time = try clock.measure {
      rows = try context.aggregate(
        "Flight", groupBy: ["airline.name"], [.init(.count, nil), .init(.average, "arrDelay")])
    }
    try console.step(4, "Figures by group, from columns, without making objects", time)
    try console.code(
      """
      let figures = try context.aggregate(
        "Flight", groupBy: ["airline.name"], [.init(.count, nil), .init(.average, "arrDelay")])
      let latestFirst = figures.sorted { Value.compare($0.values[1], $1.values[1]) > 0 }
      """)
    let ordered = rows.sorted { Value.compare($0.values[1], $1.values[1]) > 0 }
    try console.table([["airline", "flights", "minutes late"]] + ordered.map(cells))
  }

  private func cells(_ row: AggregateRow) -> [Console.Cell] {
    var cells: [Console.Cell] = []
    for value in row.group + row.values {
      switch value {
      case .string(let text): cells.append(.init(text))
      case .int(let number): cells.append(.init(Int(number)))
      case .double(let number): cells.append(.init(number))
      default: cells.append("–")
      }
    }
    return cells
  }

  // MARK: 5

  private func edit(_ container: NSPersistentContainer, _ reader: NSManagedObjectContext) async throws {
    let editor = container.newBackgroundContext()
    editor.name = "editor"
    var names: [String] = []
    let time = try await clock.measure {
      let airline = try await reader.perform { try reader.fetch(Tour.delta()).first }
      guard let airline else { throw TourError("the airline of the tour's edit isn't there") }
      await reader.perform { names.append(airline.name) }
      try await editor.perform {
        try editor.fetch(Tour.delta()).first?.name = "Delta, edited on the tour"
        try editor.save()
      }
      await reader.perform {
        names.append(airline.name)
        reader.refresh(airline, mergeChanges: true)
        names.append(airline.name)
      }
    }
    try console.step(5, "An edit saved in one context, seen in another", time)
    try console.code(
      """
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
      """)
    try console.table([
      ["before", .init(names[0])],
      ["after the save", .init(names[1]), "an object keeps what it has read …"],
      ["after a refresh", .init(names[2]), "… until it is refreshed"],
    ])
  }

  private static let isDelta = PredicateTree.compare("carrier", .equal, "DL")

  private static func delta() -> NSFetchRequest<Airline> {
    let request = NSFetchRequest<Airline>(entityName: "Airline")
    request.predicate = NSPredicate(format: "carrier == %@", "DL")
    return request
  }

  // MARK: 6

  /// A store, and one of its generations.
  private struct Moment {
    let store: any PersistentStore
    let snapshot: any StoreSnapshot

    /// The name of the airline of step 5, as it was then.
    func airlineName() throws -> String {
      let airline = try store.schema.requireEntity(named: "Airline")
      let rows = try store.fetch(StoreRequest(entity: airline.id, predicate: isDelta), in: snapshot)
      guard rows.count == 1, let slot = airline.slot(named: "name"),
        case .string(let name) = rows.value(0, slot: slot)
      else { throw TourError("the airline of the tour's edit isn't there") }
      return name
    }
  }

  private func snapshot(_ container: NSPersistentContainer) throws -> Moment {
    guard let store = container.persistentStoreCoordinator.persistentStores.first?.store else {
      throw TourError("the container has no store")
    }
    return Moment(store: store, snapshot: try store.snapshot())
  }

  private func lookBack(_ before: Moment) throws {
    var rows: [[Console.Cell]] = []
    let time = try clock.measure {
      let now = Moment(store: before.store, snapshot: try before.store.snapshot())
      rows = try [before, now].map { moment in
        [.init("generation \(moment.snapshot.generation.number)"), .init(try moment.airlineName())]
      }
    }
    try console.step(6, "A snapshot taken before the edit sees the old state", time)
    try console.code(
      """
      let entity = try store.schema.requireEntity(named: "Airline")
      let question = StoreRequest(entity: entity.id, predicate: isDelta.tree)
      let old = try store.fetch(question, in: before)
      let new = try store.fetch(question, in: store.snapshot())
      """)
    try console.table(rows)
  }
}
