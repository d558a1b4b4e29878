// SQLite's half of the cases through objects: rows read into instances of a class with all properties.

import Foundation

/// A flight as a program over SQLite's C interface would hold it.
final class FlightRecord {
  let year: Int32
  let month: Int32
  let day: Int32
  let depTime: Int32?
  let schedDepTime: Int32
  let depDelay: Int32?
  let arrTime: Int32?
  let schedArrTime: Int32
  let arrDelay: Int32?
  let flight: Int32
  let airTime: Int32?
  let distance: Int32
  let hour: Int32
  let minute: Int32
  let timeHour: Int32
  let airline: Int32
  let plane: Int32?
  let origin: Int32
  let dest: Int32

  /// The statement's current row, its columns in the order of the properties.
  init(_ row: Statement) {
    year = row.int32(0)
    month = row.int32(1)
    day = row.int32(2)
    depTime = row.optionalInt32(3)
    schedDepTime = row.int32(4)
    depDelay = row.optionalInt32(5)
    arrTime = row.optionalInt32(6)
    schedArrTime = row.int32(7)
    arrDelay = row.optionalInt32(8)
    flight = row.int32(9)
    airTime = row.optionalInt32(10)
    distance = row.int32(11)
    hour = row.int32(12)
    minute = row.int32(13)
    timeHour = row.int32(14)
    airline = row.int32(15)
    plane = row.optionalInt32(16)
    origin = row.int32(17)
    dest = row.int32(18)
  }

  /// The numbers, 0 for nil, and 1 for each relationship.
  var sum: Int64 {
    var sum = Int64(year) + Int64(month) + Int64(day)
    sum += Int64(depTime ?? 0) + Int64(schedDepTime) + Int64(depDelay ?? 0)
    sum += Int64(arrTime ?? 0) + Int64(schedArrTime) + Int64(arrDelay ?? 0)
    sum += Int64(flight) + Int64(airTime ?? 0) + Int64(distance)
    sum += Int64(hour) + Int64(minute) + Int64(timeHour)
    if airline != 0 { sum += 1 }
    if plane != nil { sum += 1 }
    if origin != 0 { sum += 1 }
    if dest != 0 { sum += 1 }
    return sum
  }
}

extension SQLiteSides {
  func insertChecked() -> Side { insert(.foreignKeys) }

  func insertUnchecked() -> Side { insert(.noneUnchecked) }

  private func insert(_ indexes: FlightsInSQLite.Indexes) -> Side {
    .timed(run: { flights.loaded(indexes) }, answer: flights.contents)
  }

  /// Reads all rows into objects.
  func records() -> Side {
    let select = recordStatement()
    return .timed(
      run: { Self.records(select) },
      answer: { records in .total(records.reduce(0) { $0 + Int64($1.distance) }, count: records.count) })
  }

  /// The same, and then every property.
  func everyProperty() -> Side {
    let select = recordStatement()
    return .timed(
      run: {
        let records = Self.records(select)
        var sum: Int64 = 0
        for record in records { sum += record.sum }
        return (records, sum)
      }, answer: { records, sum in .total(sum, count: records.count) })
  }

  private func recordStatement() -> Statement {
    let columns = FlightData.Flights.Column.allCases.map { "\($0)" }.joined(separator: ",")
    return flights.plain.prepare("SELECT \(columns) FROM flight")
  }

  static func records(_ select: Statement) -> [FlightRecord] {
    var records: [FlightRecord] = []
    while select.step() { records.append(FlightRecord(select)) }
    select.reset()
    return records
  }

  func manufacturers() -> Side {
    let select = flights.plain.prepare(
      "SELECT manufacturer FROM flight JOIN plane ON plane.id = flight.plane")
    return .timed(
      run: {
        var total = (bytes: 0, count: 0)
        while select.step() {
          guard let manufacturer = select.optionalText(0) else { continue }
          total.bytes += manufacturer.utf8.count
          total.count += 1
        }
        select.reset()
        return total
      }, answer: { .total(Int64($0.bytes), count: $0.count) })
  }
}
