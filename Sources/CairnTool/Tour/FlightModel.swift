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
    NSManagedObjectModel {
      NSEntityDescription("Airline", Airline.self) {
        NSAttributeDescription("carrier", .string, unique: true)
        NSAttributeDescription("name", .string)
        NSRelationshipDescription("flights", toMany: "Flight", inverse: "airline")
      }
      NSEntityDescription("Airport", Airport.self) {
        NSAttributeDescription("faa", .string, unique: true)
        NSAttributeDescription("name", .string)
        NSAttributeDescription("lat", .double)
        NSAttributeDescription("lon", .double)
        NSAttributeDescription("alt", .integer32)
        NSRelationshipDescription("departures", toMany: "Flight", inverse: "origin")
        NSRelationshipDescription("arrivals", toMany: "Flight", inverse: "destination")
      }
      NSEntityDescription("Plane", Plane.self) {
        NSAttributeDescription("tailnum", .string, unique: true)
        NSAttributeDescription("year", .integer16)
        NSAttributeDescription("manufacturer", .string)
        NSAttributeDescription("model", .string)
        NSAttributeDescription("seats", .integer16)
        NSRelationshipDescription("flights", toMany: "Flight", inverse: "plane")
      }
      NSEntityDescription("Flight", Flight.self) {
        NSAttributeDescription("number", .integer32)
        NSAttributeDescription("scheduled", .date)
        NSAttributeDescription("depDelay", .integer16)
        NSAttributeDescription("arrDelay", .integer16)
        NSAttributeDescription("distance", .integer32)
        NSAttributeDescription("airTime", .integer16)
        NSRelationshipDescription("airline", to: "Airline")
        NSRelationshipDescription("plane", to: "Plane")
        NSRelationshipDescription("origin", to: "Airport")
        NSRelationshipDescription("destination", to: "Airport")
      }
    }
  }
}
