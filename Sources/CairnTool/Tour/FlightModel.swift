// The classes of the tour's model, which is in its archive; each has the properties that the tour reads.

import Cairn

final class Airline: NSManagedObject {
  @Managed var carrier: String
  @Managed var name: String
  @Managed var flights: Set<Flight>
}

final class Airport: NSManagedObject {
  @Managed var faa: String
  @Managed var name: String?
}

final class Flight: NSManagedObject {
  @Managed var number: Int32
  /// The hour of the scheduled departure.
  @Managed var timeHour: Date
  /// Minutes after the scheduled time; nil for a flight that didn't take place.
  @Managed var depDelay: Int16?
  /// In miles.
  @Managed var distance: Int32
  @Managed var airline: Airline?
  @Managed var origin: Airport?
  @Managed var destination: Airport?
}
