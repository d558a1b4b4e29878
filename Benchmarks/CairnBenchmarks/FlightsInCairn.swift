// The flights in one of Cairn's stores: the schema, and filling it by change sets.
//
// Invariant: a row's key is the key of `FlightData`, since keys are reserved in the order of the rows.

import Cairn
import Foundation

struct FlightsInCairn {
  let data: FlightData
  let store: any PersistentStore

  var flight: SchemaEntity { store.schema.entity(named: "Flight")! }

  /// The slot of a column of the flights.
  func slot(_ column: FlightData.Flights.Column) -> Int { flight.slot(named: "\(column)")! }

  init(_ data: FlightData, indexes: [SchemaDescription.IndexDescription] = []) throws {
    self.data = data
    store = MemoryStore(schema: try FlightsInCairn.schema(indexes))
  }

  /// In a store that something else has opened: its entities and slots have the names of this schema's.
  init(_ data: FlightData, in store: any PersistentStore) {
    self.data = data
    self.store = store
  }

  /// A store with all four tables, committed 10,000 flights at a time.
  static func loaded(
    _ data: FlightData, indexes: [SchemaDescription.IndexDescription] = []
  ) throws -> FlightsInCairn {
    let flights = try FlightsInCairn(data, indexes: indexes)
    try flights.load()
    return flights
  }

  func load() throws {
    try loadOwners()
    for start in stride(from: 0, to: data.flights.count, by: 10_000) {
      try loadFlights(start..<min(start + 10_000, data.flights.count))
    }
  }

  /// Everything but the flights.
  func loadOwners() throws {
    try insert(
      "Airline", data.airlines.count,
      ["carrier": strings(data.airlines.carrier), "name": strings(data.airlines.name)])
    try insert("Airport", data.airports.count, airportColumns)
    try insert("Plane", data.planes.count, planeColumns)
  }

  /// These flights, in one commit.
  func loadFlights(_ rows: Range<Int>) throws {
    var columns: [String: ColumnBuilder] = [:]
    for column in FlightData.Flights.Column.allCases {
      columns["\(column)"] = integers(data.flights[column], rows, as: flight.slots[slot(column)].type)
    }
    try insert("Flight", rows.count, columns)
  }

  /// Asks each of the four relationships backwards once, which builds its index.
  func indexRelationships() throws {
    let snapshot = try store.snapshot()
    for name in ["Airline.flights", "Plane.flights", "Airport.departures", "Airport.arrivals"] {
      let parts = name.split(separator: ".").map(String.init)
      let entity = store.schema.entity(named: parts[0])!
      _ = try store.related(
        [RowKey(entity: entity.id, id: 1)], through: entity.relationship(named: parts[1])!, in: snapshot)
    }
  }

  private func insert(_ name: String, _ count: Int, _ columns: [String: ColumnBuilder]) throws {
    let entity = store.schema.entity(named: name)!
    let keys = try store.reserveKeys(count, root: entity.root)
    var changes = ChangeSet()
    changes.inserts = [
      ChangeSet.Inserts(
        entity: entity.id, keys: Array(keys), columns: entity.slots.map { columns[$0.name]?.finish() })
    ]
    _ = try store.commit(changes)
  }

  // MARK: Columns

  private var airportColumns: [String: ColumnBuilder] {
    let airports = data.airports
    return [
      "faa": strings(airports.faa), "name": strings(airports.name), "lat": doubles(airports.lat),
      "lon": doubles(airports.lon), "alt": integers(airports.alt), "tz": integers(airports.tz),
      "dst": strings(airports.dst), "tzone": strings(airports.tzone),
    ]
  }

  private var planeColumns: [String: ColumnBuilder] {
    let planes = data.planes
    return [
      "tailnum": strings(planes.tailnum), "year": integers(planes.year), "type": strings(planes.type),
      "manufacturer": strings(planes.manufacturer), "model": strings(planes.model),
      "engines": integers(planes.engines), "seats": integers(planes.seats), "speed": integers(planes.speed),
      "engine": strings(planes.engine),
    ]
  }

  private func strings(_ values: [String?]) -> ColumnBuilder {
    let builder = ColumnBuilder(.string)
    for value in values {
      if let value { builder.append(value) } else { builder.appendNull() }
    }
    return builder
  }

  private func doubles(_ values: [Double?]) -> ColumnBuilder {
    let builder = ColumnBuilder(.double)
    for value in values {
      if let value { builder.append(value) } else { builder.appendNull() }
    }
    return builder
  }

  private func integers(_ values: [Int32], _ rows: Range<Int>? = nil, as type: ValueType = .int32)
    -> ColumnBuilder
  {
    let builder = ColumnBuilder(type)
    values[rows ?? 0..<values.count].withUnsafeBufferPointer {
      builder.append(contentsOf: $0, null: FlightData.null)
    }
    return builder
  }

  // MARK: Schema

  private typealias Attribute = SchemaDescription.AttributeDescription
  private typealias Relationship = SchemaDescription.RelationshipDescription

  static func schema(
    _ indexes: [SchemaDescription.IndexDescription] = [],
    and others: [SchemaDescription.EntityDescription] = []
  ) throws -> Schema {
    func strings(_ names: [String]) -> [Attribute] { names.map { Attribute($0, .string) } }
    func integers(_ names: [String]) -> [Attribute] { names.map { Attribute($0, .int32) } }
    let airline = SchemaDescription.EntityDescription(
      name: "Airline", attributes: strings(["carrier", "name"]),
      relationships: [Relationship("flights", to: "Flight", inverse: "airline")])
    let airport = SchemaDescription.EntityDescription(
      name: "Airport",
      attributes: strings(["faa", "name", "dst", "tzone"]) + integers(["alt", "tz"])
        + [Attribute("lat", .double), Attribute("lon", .double)],
      relationships: [
        Relationship("departures", to: "Flight", inverse: "origin"),
        Relationship("arrivals", to: "Flight", inverse: "dest"),
      ])
    let plane = SchemaDescription.EntityDescription(
      name: "Plane",
      attributes: strings(["tailnum", "type", "manufacturer", "model", "engine"])
        + integers(["year", "engines", "seats", "speed"]),
      relationships: [Relationship("flights", to: "Flight", inverse: "plane")])
    let numbers = FlightData.Flights.Column.allCases.map { "\($0)" }
      .filter { !["airline", "plane", "origin", "dest"].contains($0) }
    let flight = SchemaDescription.EntityDescription(
      name: "Flight", attributes: integers(numbers),
      relationships: [
        Relationship("airline", to: "Airline", inverse: "flights", maxCount: 1),
        Relationship("plane", to: "Plane", inverse: "flights", maxCount: 1),
        Relationship("origin", to: "Airport", inverse: "departures", maxCount: 1),
        Relationship("dest", to: "Airport", inverse: "arrivals", maxCount: 1),
      ], indexes: indexes)
    return try Schema(SchemaDescription(entities: [airline, airport, plane, flight] + others))
  }
}
