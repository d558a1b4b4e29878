// The flights in SQLite: the schema, and filling it.
//
// Invariants: a table's `id` is the key of `FlightData`. Everything is in memory, and each database is built
// once, when a case first asks for it; no case changes it (those that write do so in a copy).

import Foundation

final class FlightsInSQLite {
  enum Indexes {
    case none
    /// None, and foreign keys aren't checked.
    case noneUnchecked
    case foreignKeys
    case airlineAndDelay
  }

  let library: SQLiteLibrary
  let data: FlightData

  /// `plain` is a database that has the tables already, without indexes; one in memory is made by default.
  init(_ library: SQLiteLibrary, _ data: FlightData, plain: Database? = nil) {
    self.library = library
    self.data = data
    given = plain
  }

  private let given: Database?
  private(set) lazy var plain = given ?? loaded(.none)
  private(set) lazy var indexed = loaded(.foreignKeys)
  private(set) lazy var indexedByDelay = loaded(.airlineAndDelay)

  /// A new database with all four tables, in memory or in a new file at `path`, whose flights are committed
  /// bit by bit, or all at once if `isOneTransaction`. Its indexes are there from the beginning: rows are
  /// committed bit by bit, and each commit must leave a database that can be used.
  func loaded(
    _ indexes: Indexes, path: String = ":memory:", isOneTransaction: Bool = false
  ) -> Database {
    loaded(indexes, into: Database(library, path: path), isOneTransaction: isOneTransaction)
  }

  /// The same into a database that is empty.
  func loaded(_ indexes: Indexes, into database: Database, isOneTransaction: Bool) -> Database {
    database.execute(Self.schema)
    switch indexes {
    case .none: break
    case .noneUnchecked: database.execute("PRAGMA foreign_keys=OFF")
    case .foreignKeys:
      for column in Self.foreignKeys {
        database.execute("CREATE INDEX flight_\(column) ON flight(\(column))")
      }
    case .airlineAndDelay: database.execute("CREATE INDEX flight_delay ON flight(airline, depDelay)")
    }
    database.execute("BEGIN")
    insertAirlines(database)
    insertAirports(database)
    insertPlanes(database)
    database.execute("COMMIT")
    insertFlights(database, committingEvery: isOneTransaction ? data.flights.count : 10_000)
    return database
  }

  private static let foreignKeys: [FlightData.Flights.Column] = [.airline, .plane, .origin, .dest]

  private static let schema = """
    CREATE TABLE airline(id INTEGER PRIMARY KEY, carrier TEXT NOT NULL, name TEXT NOT NULL);
    CREATE TABLE airport(
      id INTEGER PRIMARY KEY, faa TEXT NOT NULL, name TEXT, lat REAL, lon REAL, alt INTEGER, tz INTEGER,
      dst TEXT, tzone TEXT);
    CREATE TABLE plane(
      id INTEGER PRIMARY KEY, tailnum TEXT NOT NULL, year INTEGER, type TEXT, manufacturer TEXT, model TEXT,
      engines INTEGER, seats INTEGER, speed INTEGER, engine TEXT);
    CREATE TABLE flight(
      id INTEGER PRIMARY KEY, year INTEGER, month INTEGER, day INTEGER,
      depTime INTEGER, schedDepTime INTEGER, depDelay INTEGER,
      arrTime INTEGER, schedArrTime INTEGER, arrDelay INTEGER,
      flight INTEGER, airTime INTEGER, distance INTEGER, hour INTEGER, minute INTEGER, timeHour INTEGER,
      airline INTEGER NOT NULL REFERENCES airline(id), plane INTEGER REFERENCES plane(id),
      origin INTEGER NOT NULL REFERENCES airport(id), dest INTEGER NOT NULL REFERENCES airport(id));
    """

  private func insertAirlines(_ database: Database) {
    let insert = database.prepare("INSERT INTO airline VALUES(?,?,?)")
    let airlines = data.airlines
    for row in 0..<airlines.count {
      insert.bind(Int32(row + 1), at: 1)
      insert.bind(airlines.carrier[row], at: 2)
      insert.bind(airlines.name[row], at: 3)
      insert.run()
    }
  }

  private func insertAirports(_ database: Database) {
    let insert = database.prepare("INSERT INTO airport VALUES(?,?,?,?,?,?,?,?,?)")
    let airports = data.airports
    for row in 0..<airports.count {
      insert.bind(Int32(row + 1), at: 1)
      insert.bind(airports.faa[row], at: 2)
      insert.bind(airports.name[row], at: 3)
      insert.bind(airports.lat[row], at: 4)
      insert.bind(airports.lon[row], at: 5)
      insert.bind(airports.alt[row], at: 6)
      insert.bind(airports.tz[row], at: 7)
      insert.bind(airports.dst[row], at: 8)
      insert.bind(airports.tzone[row], at: 9)
      insert.run()
    }
  }

  private func insertPlanes(_ database: Database) {
    let insert = database.prepare("INSERT INTO plane VALUES(?,?,?,?,?,?,?,?,?,?)")
    let planes = data.planes
    for row in 0..<planes.count {
      insert.bind(Int32(row + 1), at: 1)
      insert.bind(planes.tailnum[row], at: 2)
      insert.bind(planes.year[row], at: 3)
      insert.bind(planes.type[row], at: 4)
      insert.bind(planes.manufacturer[row], at: 5)
      insert.bind(planes.model[row], at: 6)
      insert.bind(planes.engines[row], at: 7)
      insert.bind(planes.seats[row], at: 8)
      insert.bind(planes.speed[row], at: 9)
      insert.bind(planes.engine[row], at: 10)
      insert.run()
    }
  }

  private func insertFlights(_ database: Database, committingEvery step: Int) {
    let columns = data.flights.columns
    let places = Array(repeating: "?", count: columns.count + 1).joined(separator: ",")
    let insert = database.prepare("INSERT INTO flight VALUES(\(places))")
    let rows = 0..<data.flights.count
    for start in stride(from: 0, to: rows.count, by: step) {
      database.execute("BEGIN")
      for row in rows[start...].prefix(step) {
        insert.bind(Int32(row + 1), at: 1)
        for index in columns.indices { insert.bind(columns[index][row], at: index + 2) }
        insert.run()
      }
      database.execute("COMMIT")
    }
  }

  /// What `Ours.load` asks of a loaded store.
  func contents(of database: Database) -> Answer {
    let tables = ["airline", "airport", "plane", "flight"]
    let count = tables.reduce(0) { $0 + database.integer("SELECT count(*) FROM \($1)") }
    return .total(database.integer("SELECT sum(distance) FROM flight"), count: Int(count))
  }
}
