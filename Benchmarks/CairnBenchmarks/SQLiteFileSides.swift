// SQLite's half of the cases about archives: a database in a file, vacuumed, with SQLite's defaults.
//
// Invariant: opening and preparing are in the timing where a case opens its file, closing never is.

import Foundation

struct SQLiteFileSides {
  let sides: SQLiteSides
  let folder: ScratchFolder

  private var library: SQLiteLibrary { sides.flights.library }

  /// The flights without indexes, in a file.
  private func plainFile() -> String { Self.file(of: sides.flights.plain, folder) }

  static func file(of database: Database, _ folder: ScratchFolder) -> String {
    let path = folder.newPath("sqlite")
    database.execute("VACUUM INTO '\(path)'")
    return path
  }

  private static let columns = FlightData.Flights.Column.allCases.map { "\($0)" }.joined(separator: ",")

  private func opening<Result>(
    _ sql: String, _ work: @escaping (Statement) -> Result, _ answer: @escaping (Result) -> Answer
  ) -> Side {
    let path = plainFile()
    return .timed(
      run: {
        let statement = Database(library, path: path).prepare(sql)
        return (statement, work(statement))
      }, answer: { _, result in answer(result) })
  }

  func records() -> Side {
    opening("SELECT \(Self.columns) FROM flight", SQLiteSides.records) { records in
      .total(records.reduce(0) { $0 + Int64($1.distance) }, count: records.count)
    }
  }

  func everyProperty() -> Side {
    opening("SELECT \(Self.columns) FROM flight") { select in
      let records = SQLiteSides.records(select)
      var sum: Int64 = 0
      for record in records { sum += record.sum }
      return (records, sum)
    } _: { records, sum in
      .total(sum, count: records.count)
    }
  }

  func first() -> Side {
    opening("SELECT distance FROM flight LIMIT 1", { $0.singleInteger() }) { .total($0, count: 1) }
  }

  func coldLateUnited() -> Side {
    opening("SELECT \(Self.columns) \(SQLiteSides.lateUnited)", SQLiteSides.records) { records in
      .total(records.reduce(0) { $0 + Int64($1.distance) }, count: records.count)
    }
  }

  func coldDay() -> Side {
    opening(
      "SELECT \(Self.columns) FROM flight WHERE month = 7 AND day = 4", SQLiteSides.records
    ) { records in
      .total(records.reduce(0) { $0 + Int64($1.distance) }, count: records.count)
    }
  }

  // MARK: A file that is open

  private func opened() -> SQLiteSides {
    SQLiteSides(FlightsInSQLite(library, sides.flights.data, plain: Database(library, path: plainFile())))
  }

  func lateUnited() -> Side { opened().lateUnitedRecords() }

  func first100() -> Side { opened().sortedRecords(offset: 0, limit: 100) }

  func averages() -> Side { opened().averageDelays() }

  // MARK: Writing

  func insertIndexed() -> Side { insert(.foreignKeys) }

  func insertPlain() -> Side { insert(.noneUnchecked) }

  private func insert(_ indexes: FlightsInSQLite.Indexes) -> Side {
    .timed(
      run: {
        let path = folder.newPath("sqlite")
        return (sides.flights.loaded(indexes, path: path, isOneTransaction: true), path)
      },
      answer: { database, path in
        let answer = sides.flights.contents(of: database)
        try FileManager.default.removeItem(atPath: path)
        return answer
      })
  }
}
