// The flights as objects: the classes, and their model, as a program would declare them.
//
// Invariant: properties have the names of `FlightData`'s columns, and nothing but public API is used.

import Cairn

final class Airline: NSManagedObject {
  @Managed var carrier: String
  @Managed var name: String
  @Managed var flights: Set<Flight>
}

final class Airport: NSManagedObject {
  @Managed var faa: String
  @Managed var name: String?
  @Managed var lat: Double?
  @Managed var lon: Double?
  @Managed var alt: Int32?
  @Managed var tz: Int32?
  @Managed var dst: String?
  @Managed var tzone: String?
  @Managed var departures: Set<Flight>
  @Managed var arrivals: Set<Flight>
}

final class Plane: NSManagedObject {
  @Managed var tailnum: String
  @Managed var year: Int32?
  @Managed var type: String?
  @Managed var manufacturer: String?
  @Managed var model: String?
  @Managed var engines: Int32?
  @Managed var seats: Int32?
  @Managed var speed: Int32?
  @Managed var engine: String?
  @Managed var flights: Set<Flight>
}

final class Flight: NSManagedObject {
  @Managed var year: Int32
  @Managed var month: Int32
  @Managed var day: Int32
  @Managed var depTime: Int32?
  @Managed var schedDepTime: Int32
  @Managed var depDelay: Int32?
  @Managed var arrTime: Int32?
  @Managed var schedArrTime: Int32
  @Managed var arrDelay: Int32?
  @Managed var flight: Int32
  @Managed var airTime: Int32?
  @Managed var distance: Int32
  @Managed var hour: Int32
  @Managed var minute: Int32
  @Managed var timeHour: Int32
  @Managed var airline: Airline?
  @Managed var plane: Plane?
  @Managed var origin: Airport?
  @Managed var dest: Airport?
}

enum FlightModel {
  /// `indexes` are those of the flights.
  static func make(indexes: [[String]] = []) -> NSManagedObjectModel {
    let airline = entity("Airline", Airline.self, strings: ["carrier", "name"])
    let airport = entity(
      "Airport", Airport.self, strings: ["faa", "name", "dst", "tzone"], integers: ["alt", "tz"],
      doubles: ["lat", "lon"])
    let plane = entity(
      "Plane", Plane.self, strings: ["tailnum", "type", "manufacturer", "model", "engine"],
      integers: ["year", "engines", "seats", "speed"])
    let numbers = FlightData.Flights.Column.allCases.map { "\($0)" }
      .filter { !["airline", "plane", "origin", "dest"].contains($0) }
    let flight = entity("Flight", Flight.self, integers: numbers)
    relate(flight, "airline", airline, "flights")
    relate(flight, "plane", plane, "flights")
    relate(flight, "origin", airport, "departures")
    relate(flight, "dest", airport, "arrivals")
    flight.compoundIndexes = indexes
    let model = NSManagedObjectModel()
    model.entities = [airline, airport, plane, flight]
    return model
  }

  private static func entity(
    _ name: String, _ type: NSManagedObject.Type, strings: [String] = [], integers: [String] = [],
    doubles: [String] = []
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.setManagedObjectClass(type)
    func attributes(_ names: [String], _ type: NSAttributeDescription.AttributeType)
      -> [NSPropertyDescription]
    {
      names.map { name in
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        return attribute
      }
    }
    entity.properties =
      attributes(strings, .string) + attributes(integers, .integer32) + attributes(doubles, .double)
    return entity
  }

  /// A to-one relationship and the to-many one that leads back.
  private static func relate(
    _ source: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverseName: String
  ) {
    let forward = NSRelationshipDescription()
    forward.name = name
    forward.maxCount = 1
    forward.destinationEntity = destination
    let back = NSRelationshipDescription()
    back.name = inverseName
    back.destinationEntity = source
    forward.inverseRelationship = back
    back.inverseRelationship = forward
    source.properties += [forward]
    destination.properties += [back]
  }
}
