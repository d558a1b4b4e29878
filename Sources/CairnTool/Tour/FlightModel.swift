// The tour's model: four entities, with their relationships both ways.

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
  @Managed var departures: Set<Flight>
  @Managed var arrivals: Set<Flight>
}

final class Plane: NSManagedObject {
  @Managed var tailnum: String
  @Managed var year: Int16?
  @Managed var manufacturer: String?
  @Managed var model: String?
  @Managed var seats: Int16?
  @Managed var flights: Set<Flight>
}

final class Flight: NSManagedObject {
  @Managed var number: Int32
  @Managed var scheduled: Date
  /// Minutes after the scheduled time; nil for a flight that didn't take place.
  @Managed var depDelay: Int16?
  @Managed var arrDelay: Int16?
  /// In miles.
  @Managed var distance: Int32
  /// In minutes.
  @Managed var airTime: Int16?
  @Managed var airline: Airline?
  @Managed var plane: Plane?
  @Managed var origin: Airport?
  @Managed var destination: Airport?
}

enum FlightModel {
  static func make() -> NSManagedObjectModel {
    let airline = entity("Airline", Airline.self, ["carrier": .string, "name": .string])
    let airport = entity(
      "Airport", Airport.self,
      ["faa": .string, "name": .string, "lat": .double, "lon": .double, "alt": .integer32])
    let plane = entity(
      "Plane", Plane.self,
      [
        "tailnum": .string, "year": .integer16, "manufacturer": .string, "model": .string,
        "seats": .integer16,
      ])
    let flight = entity(
      "Flight", Flight.self,
      [
        "number": .integer32, "scheduled": .date, "depDelay": .integer16, "arrDelay": .integer16,
        "distance": .integer32, "airTime": .integer16,
      ])
    relate(flight, "airline", airline, "flights")
    relate(flight, "plane", plane, "flights")
    relate(flight, "origin", airport, "departures")
    relate(flight, "destination", airport, "arrivals")
    airline.uniquenessConstraints = [["carrier"]]
    airport.uniquenessConstraints = [["faa"]]
    plane.uniquenessConstraints = [["tailnum"]]
    let model = NSManagedObjectModel()
    model.entities = [airline, airport, plane, flight]
    return model
  }

  private static func entity(
    _ name: String, _ type: NSManagedObject.Type,
    _ attributes: KeyValuePairs<String, NSAttributeDescription.AttributeType>
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.setManagedObjectClass(type)
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
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
