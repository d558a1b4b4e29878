// SQLite's half of the cases.
//
// Invariant: what `Ours` asks for is answered here for the same rows; statements are prepared and databases
// built outside of the timing.

import Foundation

struct SQLiteSides {
  let flights: FlightsInSQLite

  init(_ flights: FlightsInSQLite) { self.flights = flights }

  func load() -> Side {
    .timed(run: { flights.loaded(.foreignKeys) }, answer: flights.contents)
  }

  /// The subselect runs once; as a join it takes longer.
  static let lateUnited =
    "FROM flight WHERE depDelay > 60 AND airline = (SELECT id FROM airline WHERE carrier = 'UA')"

  func lateUnitedKeys() -> Side { keys(flights.plain, "SELECT id \(Self.lateUnited)") }

  func lateUnitedCount() -> Side {
    let select = flights.plain.prepare("SELECT count(*) \(Self.lateUnited)")
    return .timed(run: { select.singleInteger() }, answer: { .total($0, count: Int($0)) })
  }

  func lateUnitedKeysByIndex() -> Side { keys(flights.indexedByDelay, "SELECT id \(Self.lateUnited)") }

  private func keys(_ database: Database, _ sql: String) -> Side {
    let select = database.prepare(sql)
    return .timed(run: { select.keys() }, answer: { .unordered($0) })
  }

  func first100ByDelay() -> Side { sorted("LIMIT 100") }

  func allByDelay() -> Side { sorted("") }

  /// NULL is the least value in SQLite, so it comes last here, as nil does in Cairn.
  private func sorted(_ limit: String) -> Side {
    let select = flights.plain.prepare("SELECT id FROM flight ORDER BY depDelay DESC, distance \(limit)")
    let columns = [flights.data.flights[.depDelay], flights.data.flights[.distance]]
    return .timed(run: { select.keys() }, answer: { .ordered($0, by: columns) })
  }

  /// Joins after grouping: 16 look-ups instead of one for each flight.
  func averageDelays() -> Side {
    let select = flights.plain.prepare(
      """
      SELECT carrier, average
      FROM (SELECT airline, avg(arrDelay) AS average FROM flight GROUP BY airline)
      JOIN airline ON id = airline
      """)
    return .timed(
      run: {
        var averages: [(name: String, average: Double)] = []
        while select.step() { averages.append((select.text(0), select.double(1))) }
        select.reset()
        return averages
      }, answer: { .averages($0) })
  }

  func randomRows() -> Side {
    let keys = flights.data.randomFlightKeys()
    let select = flights.plain.prepare("SELECT distance FROM flight WHERE id = ?")
    return .timed(
      run: {
        var sum: Int64 = 0
        for key in keys {
          select.bind(key, at: 1)
          sum += select.singleInteger()
        }
        return sum
      }, answer: { .total($0, count: keys.count) })
  }

  func updateTenth() -> Side {
    writing("UPDATE flight SET depDelay = depDelay + 1 WHERE id = ?", summing: "depDelay")
  }

  func deleteTenth() -> Side { writing("DELETE FROM flight WHERE id = ?", summing: "id") }

  /// Runs `sql` for a tenth of the flights in one transaction, each time in a fresh copy.
  private func writing(_ sql: String, summing column: String) -> Side {
    let keys = flights.data.tenthOfFlightKeys()
    return .timed(
      prepare: { [flights] in
        let database = flights.indexed.copy()
        return (database, database.prepare(sql))
      },
      run: { (database: Database, statement: Statement) in
        database.execute("BEGIN")
        for key in keys {
          statement.bind(key, at: 1)
          statement.run()
        }
        database.execute("COMMIT")
        return database
      },
      answer: { database in
        let count = database.integer("SELECT count(*) FROM flight")
        return .total(database.integer("SELECT sum(\(column)) FROM flight"), count: Int(count))
      })
  }

  /// What SQLite itself says it has allocated.
  func memory() -> Side {
    .gauge { [flights] in
      let before = flights.library.memoryUsed()
      let database = flights.loaded(.foreignKeys)
      let bytes = flights.library.memoryUsed() - before
      return Sample(figure: Double(bytes) / 1_000_000, answer: flights.contents(of: database))
    }
  }
}
