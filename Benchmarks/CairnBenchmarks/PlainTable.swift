// Any table of a CSV file, as plain columns: for the data that only the archive cases and the city names
// need.
//
// Invariant: all columns are equally long; a row's key is its place, from 1.

import Cairn
import Foundation

struct PlainTable {
  enum Values {
    case texts([String?])
    case integers([Int64?])
    case doubles([Double?])
  }

  let name: String
  let columns: [(name: String, values: Values)]

  var count: Int {
    switch columns[0].values {
    case .texts(let values): values.count
    case .integers(let values): values.count
    case .doubles(let values): values.count
    }
  }

  /// Reads a gzipped CSV file with a header, in which fields may be quoted. The columns in `integers` and
  /// `doubles` have numbers, all others text. Fields that are `null` have no value.
  init(
    name: String, file: URL, null: String, integers: Set<String> = [], doubles: Set<String> = []
  ) throws {
    guard let compressed = try? Data(contentsOf: file) else {
      throw BenchmarkError("can't read \(file.path)")
    }
    let rows = Self.rows([UInt8](try Gzip.inflate(compressed, limit: 1 << 30)))
    guard let header = rows.first, rows.allSatisfy({ $0.count == header.count }) else {
      throw BenchmarkError("\(file.path): rows of different lengths")
    }
    self.name = name
    columns = try header.indices.map { index in
      let fields = rows.dropFirst().map { $0[index] == null ? nil : $0[index] }
      func numbers<Number>(_ make: (String) -> Number?) throws -> [Number?] {
        try fields.map { field in
          guard let field else { return nil }
          guard let number = make(field) else {
            throw BenchmarkError("\(file.path): \"\(field)\" is no \(header[index])")
          }
          return number
        }
      }
      let name = header[index]
      if integers.contains(name) { return (name, .integers(try numbers { Int64($0) })) }
      if doubles.contains(name) { return (name, .doubles(try numbers { Double($0) })) }
      return (name, .texts(fields))
    }
  }

  private static func rows(_ bytes: [UInt8]) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""):
        // A doubled quotation mark inside of quotes: the second one opens them anew.
        if !isQuoted, !field.isEmpty { field.append(byte) }
        isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: "\n") where !isQuoted:
        row.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
        if byte == UInt8(ascii: "\n") {
          rows.append(row)
          row = []
        }
      case UInt8(ascii: "\r"): break
      default: field.append(byte)
      }
    }
    return rows
  }

  // MARK: In Cairn

  var entity: SchemaDescription.EntityDescription {
    .init(
      name: name,
      attributes: columns.map { column in
        switch column.values {
        case .texts: .init(column.name, .string)
        case .integers: .init(column.name, .int64)
        case .doubles: .init(column.name, .double)
        }
      })
  }

  /// Inserts everything in one commit.
  func insert(into store: any PersistentStore) throws {
    let entity = store.schema.entity(named: name)!
    var builders: [String: ColumnBuilder] = [:]
    for column in columns { builders[column.name] = Self.builder(column.values) }
    let keys = try store.reserveKeys(count, root: entity.root)
    var changes = ChangeSet()
    changes.inserts = [
      ChangeSet.Inserts(
        entity: entity.id, keys: Array(keys), columns: entity.slots.map { builders[$0.name]?.finish() })
    ]
    _ = try store.commit(changes)
  }

  private static func builder(_ values: Values) -> ColumnBuilder {
    func builder<Element>(
      _ type: ValueType, _ values: [Element?], _ append: (ColumnBuilder, Element) -> Void
    ) -> ColumnBuilder {
      let builder = ColumnBuilder(type)
      for value in values {
        if let value { append(builder, value) } else { builder.appendNull() }
      }
      return builder
    }
    switch values {
    case .texts(let values): return builder(.string, values) { $0.append($1) }
    case .integers(let values): return builder(.int64, values) { $0.append($1) }
    case .doubles(let values): return builder(.double, values) { $0.append($1) }
    }
  }

  // MARK: In SQLite

  /// Makes the table and inserts everything in one transaction.
  func insert(into database: Database) {
    let names = columns.map { column in
      switch column.values {
      case .texts: "\(column.name) TEXT"
      case .integers: "\(column.name) INTEGER"
      case .doubles: "\(column.name) REAL"
      }
    }
    let table = name.lowercased()
    database.execute("CREATE TABLE \(table)(id INTEGER PRIMARY KEY, \(names.joined(separator: ", ")))")
    let places = Array(repeating: "?", count: columns.count + 1).joined(separator: ",")
    let insert = database.prepare("INSERT INTO \(table) VALUES(\(places))")
    database.execute("BEGIN")
    for row in 0..<count {
      insert.bind(Int32(row + 1), at: 1)
      for (index, column) in columns.enumerated() {
        switch column.values {
        case .texts(let values): insert.bind(values[row], at: index + 2)
        case .integers(let values): insert.bind(values[row], at: index + 2)
        case .doubles(let values): insert.bind(values[row], at: index + 2)
        }
      }
      insert.run()
    }
    database.execute("COMMIT")
  }
}

// The tables beside the flights'.
extension PlainTable {
  /// `folder` is that of the flights.
  static func weather(_ folder: URL) throws -> PlainTable {
    try PlainTable(
      name: "Weather", file: folder.appendingPathComponent("weather.csv.gz"), null: "NA",
      integers: ["year", "month", "day", "hour", "wind_dir"],
      doubles: [
        "temp", "dewp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib",
      ])
  }

  /// The folder of the places stands beside that of the flights.
  static func cities(_ folder: URL) throws -> PlainTable {
    try PlainTable(
      name: "City", file: folder.appendingPathComponent("../places/cities.csv.gz"), null: "",
      integers: ["geonameid", "population"], doubles: ["latitude", "longitude"])
  }

  static func countries(_ folder: URL) throws -> PlainTable {
    try PlainTable(
      name: "Country", file: folder.appendingPathComponent("../places/countries.csv.gz"), null: "",
      integers: ["geonameid", "isonumeric", "population"], doubles: ["areakm2"])
  }
}
