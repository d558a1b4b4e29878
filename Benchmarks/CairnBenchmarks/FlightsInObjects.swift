// The flights behind contexts: a container with an in-memory store, filled by objects or by change sets.
//
// Invariant: a row's key is the key of `FlightData`, whichever way the store is filled.

import Cairn

struct FlightsInObjects {
  let data: FlightData
  let container: NSPersistentContainer

  private init(data: FlightData, container: NSPersistentContainer) {
    self.data = data
    self.container = container
  }

  /// An empty store.
  init(_ data: FlightData, _ model: NSManagedObjectModel) throws {
    self.data = data
    container = try .inMemory(name: "Flights", model: model)
  }

  /// A store with all four tables, their relationships indexed; no objects are made.
  static func loaded(_ data: FlightData, _ model: NSManagedObjectModel) throws -> FlightsInObjects {
    let flights = try FlightsInObjects(data, model)
    try flights.rows().load()
    try flights.rows().indexRelationships()
    return flights
  }

  /// The archive at `path`, which is made where there is none.
  static func archive(
    _ data: FlightData, _ model: NSManagedObjectModel, at path: String, profile: String = "default"
  ) throws -> FlightsInObjects {
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.type = CairnArchiveStoreType
    description.setOption(NSString(string: profile), forKey: CairnArchiveProfileOption)
    return try opened(data, model, description)
  }

  /// The log at `path`, which is made where there is none.
  static func log(
    _ data: FlightData, _ model: NSManagedObjectModel, at path: String, durability: String = "full",
    isReadOnly: Bool = false
  ) throws -> FlightsInObjects {
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.type = CairnLogStoreType
    description.isReadOnly = isReadOnly
    description.setOption(NSString(string: durability), forKey: CairnDurabilityOption)
    return try opened(data, model, description)
  }

  private static func opened(
    _ data: FlightData, _ model: NSManagedObjectModel, _ description: NSPersistentStoreDescription
  ) throws -> FlightsInObjects {
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return FlightsInObjects(data: data, container: container)
  }

  /// Lets go of the file.
  func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The same store as rows.
  func rows() throws -> FlightsInCairn {
    guard let store = container.persistentStoreCoordinator.persistentStores.first?.store else {
      throw BenchmarkError("the container has no store")
    }
    return FlightsInCairn(data, in: store)
  }

  /// The IDs of the flights with these keys.
  func ids(_ keys: [Int32]) throws -> [NSManagedObjectID] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let all = try context.fetch(NSFetchRequest<Flight>(entityName: "Flight")).map(\.objectID)
      return keys.map { all[Int($0) - 1] }
    }
  }

  // MARK: Filling it with objects

  /// Inserts everything as objects of one context, and saves after every 10,000 flights, or as many as it is
  /// told.
  func insertObjects(savingEvery step: Int = 10_000) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let airlines = insertAirlines(context)
      let airports = insertAirports(context)
      let planes = insertPlanes(context)
      let columns = data.flights.columns
      for start in stride(from: 0, to: data.flights.count, by: step) {
        for row in start..<min(start + step, data.flights.count) {
          insertFlight(context, row, columns, airlines, airports, planes)
        }
        try context.save()
      }
    }
  }

  private typealias Column = FlightData.Flights.Column

  private func insertFlight(
    _ context: NSManagedObjectContext, _ row: Int, _ columns: [[Int32]], _ airlines: [Airline],
    _ airports: [Airport], _ planes: [Plane]
  ) {
    func value(_ column: Column) -> Int32 { columns[column.rawValue][row] }
    let flight = Flight(context: context)
    flight.year = value(.year)
    flight.month = value(.month)
    flight.day = value(.day)
    if let time = known(value(.depTime)) { flight.depTime = time }
    flight.schedDepTime = value(.schedDepTime)
    if let delay = known(value(.depDelay)) { flight.depDelay = delay }
    if let time = known(value(.arrTime)) { flight.arrTime = time }
    flight.schedArrTime = value(.schedArrTime)
    if let delay = known(value(.arrDelay)) { flight.arrDelay = delay }
    flight.flight = value(.flight)
    if let time = known(value(.airTime)) { flight.airTime = time }
    flight.distance = value(.distance)
    flight.hour = value(.hour)
    flight.minute = value(.minute)
    flight.timeHour = value(.timeHour)
    flight.airline = airlines[Int(value(.airline)) - 1]
    if let plane = known(value(.plane)) { flight.plane = planes[Int(plane) - 1] }
    flight.origin = airports[Int(value(.origin)) - 1]
    flight.dest = airports[Int(value(.dest)) - 1]
  }

  private func known(_ value: Int32) -> Int32? { value == FlightData.null ? nil : value }

  private func insertAirlines(_ context: NSManagedObjectContext) -> [Airline] {
    let airlines = data.airlines
    return (0..<airlines.count).map { row in
      let airline = Airline(context: context)
      airline.carrier = airlines.carrier[row]
      airline.name = airlines.name[row]
      return airline
    }
  }

  private func insertAirports(_ context: NSManagedObjectContext) -> [Airport] {
    let airports = data.airports
    return (0..<airports.count).map { row in
      let airport = Airport(context: context)
      airport.faa = airports.faa[row]
      airport.name = airports.name[row]
      airport.lat = airports.lat[row]
      airport.lon = airports.lon[row]
      airport.alt = known(airports.alt[row])
      airport.tz = known(airports.tz[row])
      airport.dst = airports.dst[row]
      airport.tzone = airports.tzone[row]
      return airport
    }
  }

  private func insertPlanes(_ context: NSManagedObjectContext) -> [Plane] {
    let planes = data.planes
    return (0..<planes.count).map { row in
      let plane = Plane(context: context)
      plane.tailnum = planes.tailnum[row]
      plane.year = known(planes.year[row])
      plane.type = planes.type[row]
      plane.manufacturer = planes.manufacturer[row]
      plane.model = planes.model[row]
      plane.engines = known(planes.engines[row])
      plane.seats = known(planes.seats[row])
      plane.speed = known(planes.speed[row])
      plane.engine = planes.engine[row]
      return plane
    }
  }
}
