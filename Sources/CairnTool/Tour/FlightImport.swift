// From the tables to objects.

import Cairn

/// Makes the objects of the tour in one context. Confined to that context's queue.
final class FlightImport {
  private let context: NSManagedObjectContext
  private var airlines: [Substring: Airline] = [:]
  private var airports: [Substring: Airport] = [:]
  private var planes: [Substring: Plane] = [:]
  private var hours: [Substring: Date] = [:]

  init(_ context: NSManagedObjectContext) {
    self.context = context
  }

  func run(_ tables: FlightTables) throws {
    try addAirlines(tables.airlines)
    try addAirports(tables.airports)
    try addPlanes(tables.planes)
    try addFlights(tables.flights)
  }

  private func addAirlines(_ table: FlightTables.Table) throws {
    let (carrier, name) = (try table.column("carrier"), try table.column("name"))
    for row in table.rows {
      let airline = airline(row[carrier])
      airline.name = String(row[name])
    }
  }

  private func addAirports(_ table: FlightTables.Table) throws {
    let (faa, name) = (try table.column("faa"), try table.column("name"))
    let (lat, lon, alt) = (try table.column("lat"), try table.column("lon"), try table.column("alt"))
    for row in table.rows {
      let airport = airport(row[faa])
      airport.name = row[name].valueOrNil
      airport.lat = Double(row[lat])
      airport.lon = Double(row[lon])
      airport.alt = Int32(row[alt])
    }
  }

  private func addPlanes(_ table: FlightTables.Table) throws {
    let (tailnum, year) = (try table.column("tailnum"), try table.column("year"))
    let (maker, model) = (try table.column("manufacturer"), try table.column("model"))
    let seats = try table.column("seats")
    for row in table.rows {
      let plane = plane(row[tailnum])
      plane.year = Int16(row[year])
      plane.manufacturer = row[maker].valueOrNil
      plane.model = row[model].valueOrNil
      plane.seats = Int16(row[seats])
    }
  }

  private func addFlights(_ table: FlightTables.Table) throws {
    let (number, hour, minute) = (
      try table.column("flight"), try table.column("time_hour"), try table.column("minute")
    )
    let (depDelay, arrDelay) = (try table.column("dep_delay"), try table.column("arr_delay"))
    let (distance, airTime) = (try table.column("distance"), try table.column("air_time"))
    let (carrier, tailnum) = (try table.column("carrier"), try table.column("tailnum"))
    let (origin, destination) = (try table.column("origin"), try table.column("dest"))
    for row in table.rows {
      let flight = Flight(context: context)
      flight.number = Int32(row[number]) ?? 0
      flight.scheduled = try date(row[hour]).addingTimeInterval(60 * (Double(row[minute]) ?? 0))
      flight.depDelay = Int16(row[depDelay])
      flight.arrDelay = Int16(row[arrDelay])
      flight.distance = Int32(row[distance]) ?? 0
      flight.airTime = Int16(row[airTime])
      flight.airline = airline(row[carrier])
      flight.plane = row[tailnum] == "NA" ? nil : plane(row[tailnum])
      flight.origin = airport(row[origin])
      flight.destination = airport(row[destination])
    }
  }

  // MARK: Each of them once; those that no table has are made when a flight names them

  private func airline(_ carrier: Substring) -> Airline {
    if let known = airlines[carrier] { return known }
    let airline = Airline(context: context)
    airline.carrier = String(carrier)
    airlines[carrier] = airline
    return airline
  }

  private func airport(_ faa: Substring) -> Airport {
    if let known = airports[faa] { return known }
    let airport = Airport(context: context)
    airport.faa = String(faa)
    airports[faa] = airport
    return airport
  }

  private func plane(_ tailnum: Substring) -> Plane {
    if let known = planes[tailnum] { return known }
    let plane = Plane(context: context)
    plane.tailnum = String(tailnum)
    planes[tailnum] = plane
    return plane
  }

  private func date(_ hour: Substring) throws -> Date {
    if let known = hours[hour] { return known }
    let date = try Date(String(hour), strategy: .iso8601)
    hours[hour] = date
    return date
  }
}
