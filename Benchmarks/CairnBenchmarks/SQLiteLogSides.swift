// SQLite's half of the cases about logs: a database in a file, with a write-ahead log.
//
// Invariant: all else stays at SQLite's defaults; what a case changes is a copy.

import Foundation

struct SQLiteLogSides {
  let sides: SQLiteSides
  let folder: ScratchFolder

  private func opened(_ path: String, _ synchronous: String) -> Database {
    let database = Database(sides.flights.library, path: path)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=\(synchronous)")
    return database
  }

  func saves(_ synchronous: String) throws -> Side {
    .timed(
      prepare: {
        let database = opened(folder.newPath("sqlite"), synchronous)
        database.execute("CREATE TABLE airline(id INTEGER PRIMARY KEY, carrier TEXT, name TEXT)")
        return database
      },
      run: { database in
        let insert = database.prepare("INSERT INTO airline VALUES(?,?,?)")
        for number in 0..<LogCases.saveCount {
          insert.bind(Int32(number + 1), at: 1)
          insert.bind("\(number)", at: 2)
          insert.bind("An airline that is saved alone", at: 3)
          insert.run()
        }
        return database
      },
      answer: { database in
        let count = database.integer("SELECT count(*) FROM airline")
        return .total(count, count: Int(count))
      })
  }

  func insert() -> Side {
    .timed(
      run: {
        let path = folder.newPath("sqlite")
        let database = opened(path, "FULL")
        return sides.flights.loaded(.none, into: database, isOneTransaction: true)
      },
      answer: { database in sides.flights.contents(of: database) })
  }

  /// All flights into Swift records, from a file that is opened for it.
  func load() -> Side {
    let records = SQLiteFileSides(sides: sides, folder: folder).records()
    return .gauge {
      let sample = try records.sample()
      return Sample(
        figure: sample.figure,
        answer: .total(0, count: Int(sides.flights.contents(of: sides.flights.plain).count)))
    }
  }

  func updateTenth() throws -> Side {
    changing("UPDATE flight SET depDelay = ifnull(depDelay, 0) + 1 WHERE id = ?")
  }

  func deleteTenth() throws -> Side { changing("DELETE FROM flight WHERE id = ?") }

  private func changing(_ sql: String) -> Side {
    let path = SQLiteFileSides.file(of: sides.flights.plain, folder)
    return .timed(
      prepare: { opened(try folder.copy(path, "sqlite"), "FULL") },
      run: { database in
        database.execute("BEGIN")
        let statement = database.prepare(sql)
        for key in sides.flights.data.tenthOfFlightKeys() {
          statement.bind(key, at: 1)
          statement.run()
        }
        database.execute("COMMIT")
        return database
      }, answer: { database in .total(1, count: sides.flights.contents(of: database).count) })
  }
}
