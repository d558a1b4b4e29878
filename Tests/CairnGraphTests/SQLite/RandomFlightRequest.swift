// Random requests over the flights, each as a fetch request and as SQL that asks the same.
//
// SQL's conditions on NULL are unknown where Cairn's on nil are false, or true for ≠, so each comparison is written
// with IS: from there on both have two truth values.

import Cairn

/// A condition in both languages.
struct FlightCondition {
  let format: String
  let sql: String
}

struct RandomFlightRequest {
  var random: SeededGenerator

  private static let integers: [(path: String, sql: String, values: [Int])] = [
    ("depDelay", "f.depDelay", [-20, -5, 0, 15, 60, 240, 900]),
    ("arrDelay", "f.arrDelay", [-60, -10, 0, 20, 120]),
    ("distance", "f.distance", [200, 733, 1_000, 2_475, 4_983]), ("month", "f.month", [1, 2, 6, 12]),
    ("day", "f.day", [1, 15, 31]), ("airTime", "f.airTime", [30, 150, 400]),
    ("number", "f.number", [1, 100, 4_000]),
    ("hour", "f.hour", [5, 12, 23]), ("plane.year", "p.year", [1_960, 1_999, 2_007, 2_013]),
    ("plane.seats", "p.seats", [2, 55, 142, 400]),
  ]
  private static let strings: [(path: String, sql: String, values: [String])] = [
    ("origin", "f.origin", ["JFK", "LGA", "EWR", "XXX"]), ("dest", "f.dest", ["LAX", "ATL", "BOS", "HNL"]),
    ("airline.carrier", "a.carrier", ["UA", "AA", "OO", "9E", "ZZ"]),
    ("plane.manufacturer", "p.manufacturer", ["BOEING", "EMBRAER", "AIRBUS"]),
  ]

  private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }

  mutating func condition(depth: Int = 2) -> FlightCondition {
    let kind = Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random)
    switch kind {
    case 0...4: return comparison()
    case 5: return text()
    case 6: return membership()
    case 7:
      let (a, b) = (pick(Self.integers), pick(Self.integers))
      let (op, value) = (pick(["-", "+"]), pick([-30, 0, 45]))
      return .init(
        format: "\(a.path) \(op) \(b.path) > \(value)",
        sql: "(((\(a.sql) \(op) \(b.sql)) > \(value)) IS TRUE)")
    case 8:
      let path = pick(Self.integers)
      let isNull = Bool.random(using: &random)
      return .init(
        format: "\(path.path) \(isNull ? "==" : "!=") nil",
        sql: "(\(path.sql) IS \(isNull ? "" : "NOT ")NULL)")
    case 9:
      let inner = condition(depth: depth - 1)
      return .init(format: "NOT (\(inner.format))", sql: "(NOT \(inner.sql))")
    default:
      let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in condition(depth: depth - 1) }
      let op = kind == 10 ? " OR " : " AND "
      return .init(
        format: "(" + parts.map { "(\($0.format))" }.joined(separator: op) + ")",
        sql: "(" + parts.map(\.sql).joined(separator: op) + ")")
    }
  }

  private mutating func comparison() -> FlightCondition {
    if Int.random(in: 0..<4, using: &random) == 0 {
      let path = pick(Self.strings)
      let (value, isEqual) = (pick(path.values), Bool.random(using: &random))
      return .init(
        format: "\(path.path) \(isEqual ? "==" : "!=") \"\(value)\"",
        sql: "(\(path.sql) IS \(isEqual ? "" : "NOT ")'\(value)')")
    }
    let path = pick(Self.integers)
    let value = pick(path.values)
    switch pick(["<", "<=", ">", ">=", "==", "!=", "BETWEEN"]) {
    case "==": return .init(format: "\(path.path) == \(value)", sql: "(\(path.sql) IS \(value))")
    case "!=": return .init(format: "\(path.path) != \(value)", sql: "(\(path.sql) IS NOT \(value))")
    case "BETWEEN":
      return .init(
        format: "\(path.path) BETWEEN {\(value), \(value + 50)}",
        sql: "((\(path.sql) BETWEEN \(value) AND \(value + 50)) IS TRUE)")
    case let op:
      return .init(format: "\(path.path) \(op) \(value)", sql: "((\(path.sql) \(op) \(value)) IS TRUE)")
    }
  }

  private mutating func text() -> FlightCondition {
    let part = pick(["a", "jet", "BOEING", "us air", "e"])
    let path = pick([("airline.name", "a.name"), ("plane.manufacturer", "p.manufacturer")])
    let (op, pattern) = pick([
      ("CONTAINS[c]", "%\(part)%"), ("BEGINSWITH[c]", "\(part)%"), ("ENDSWITH[cd]", "%\(part)"),
    ])
    return .init(format: "\(path.0) \(op) \"\(part)\"", sql: "((\(path.1) LIKE '\(pattern)') IS TRUE)")
  }

  private mutating func membership() -> FlightCondition {
    let path = pick(Self.strings)
    let values = path.values.filter { _ in Bool.random(using: &random) } + ["QQ"]
    return .init(
      format: "\(path.path) IN {\(values.map { "\"\($0)\"" }.joined(separator: ", "))}",
      sql: "((\(path.sql) IN (\(values.map { "'\($0)'" }.joined(separator: ", ")))) IS TRUE)")
  }

  // MARK: Requests

  static let tables = "FROM flight f JOIN airline a ON a.id = f.airline LEFT JOIN plane p ON p.id = f.plane"

  /// The IDs of a window in order, with ties by key.
  mutating func window() -> (request: NSFetchRequest<NSManagedObjectID>, sql: String) {
    let (request, sql) = (NSFetchRequest<NSManagedObjectID>(entityName: "Flight"), conditions())
    request.resultType = .managedObjectIDResultType
    request.predicate = sql.predicate
    var order: [String] = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let ascending = Bool.random(using: &random)
      let isText = Int.random(in: 0..<4, using: &random) == 0
      let key =
        isText
        ? pick(Self.strings.prefix(3).map { ($0.path, $0.sql) })
        : pick(Self.integers.map { ($0.path, $0.sql) })
      if order.contains(where: { $0.hasPrefix(key.1 + " ") }) { continue }
      request.sortDescriptors =
        (request.sortDescriptors ?? []) + [NSSortDescriptor(key: key.0, ascending: ascending)]
      order.append("\(key.1) \(ascending ? "ASC" : "DESC")")
    }
    request.fetchLimit = pick([1, 20, 200])
    request.fetchOffset = pick([0, 0, 7, 5_000])
    return (
      request,
      "SELECT f.id \(Self.tables) WHERE \(sql.text) ORDER BY \((order + ["f.id"]).joined(separator: ", ")) "
        + "LIMIT \(request.fetchLimit) OFFSET \(request.fetchOffset);"
    )
  }

  /// How many there are, and the sum of their keys.
  mutating func whole() -> (request: NSFetchRequest<NSManagedObjectID>, sql: String) {
    let (request, sql) = (NSFetchRequest<NSManagedObjectID>(entityName: "Flight"), conditions())
    request.resultType = .managedObjectIDResultType
    request.predicate = sql.predicate
    return (request, "SELECT count(*), total(f.id) \(Self.tables) WHERE \(sql.text);")
  }

  /// Figures by group, with a condition on the groups.
  mutating func groups() -> (request: NSFetchRequest<NSDictionary>, sql: String) {
    let (request, sql) = (NSFetchRequest<NSDictionary>(entityName: "Flight"), conditions())
    request.resultType = .dictionaryResultType
    request.predicate = sql.predicate
    let keys = [
      ("origin", "f.origin"), ("month", "f.month"), ("airline.carrier", "a.carrier"),
      ("plane.year", "p.year"),
    ]
    .filter { _ in Bool.random(using: &random) }
    let by = keys.isEmpty ? [("dest", "f.dest")] : keys
    request.propertiesToGroupBy = by.map(\.0)
    request.propertiesToFetch =
      by.map(\.0) + [
        Self.figure("n", "count:(SELF)"), Self.figure("some", "count:(arrDelay)"),
        Self.figure("sum", "sum:(arrDelay)"),
        Self.figure("least", "min:(depDelay)"), Self.figure("most", "max:(plane.seats)"),
        Self.figure("average", "average:(arrDelay)"),
      ]
    let least = pick([0, 10, 500])
    request.havingPredicate = NSPredicate(format: "n > %d", least)
    return (
      request,
      "SELECT \(by.map(\.1).joined(separator: ", ")), count(*), count(f.arrDelay), coalesce(sum(f.arrDelay), 0), "
        + "min(f.depDelay), max(p.seats), CAST(avg(f.arrDelay) * 1000 AS INTEGER) "
        + "\(Self.tables) WHERE \(sql.text) GROUP BY \(by.map(\.1).joined(separator: ", ")) HAVING count(*) > \(least);"
    )
  }

  /// Planes or airlines by what is true of their flights.
  mutating func owners() -> (request: NSFetchRequest<NSManagedObjectID>, sql: String) {
    let (entity, key) = pick([("Plane", "plane"), ("Airline", "airline")])
    let inner = pick([
      ("depDelay > 30", "depDelay > 30"), ("distance < 500", "distance < 500"), ("month == 2", "month = 2"),
    ])
    let number = pick([0, 5, 200, 4_000])
    let count = "(SELECT count(*) FROM flight WHERE \(key) = o.id AND \(inner.1))"
    let some = "(SELECT count(*) FROM flight WHERE \(key) = o.id)"
    let condition = pick([
      FlightCondition(
        format: "SUBQUERY(flights, $f, $f.\(inner.0)).@count > \(number)", sql: "\(count) > \(number)"),
      FlightCondition(format: "ANY flights.\(inner.0)", sql: "\(count) > 0"),
      FlightCondition(format: "NONE flights.\(inner.0)", sql: "\(count) = 0"),
      FlightCondition(format: "flights.@count > \(number)", sql: "\(some) > \(number)"),
      FlightCondition(
        format: "flights.@max.distance > 1500",
        sql: "(SELECT max(distance) FROM flight WHERE \(key) = o.id) > 1500"),
    ])
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    request.resultType = .managedObjectIDResultType
    request.predicate = NSPredicate(format: condition.format)
    return (request, "SELECT count(*), total(o.id) FROM \(key) o WHERE \(condition.sql);")
  }

  private mutating func conditions() -> (predicate: NSPredicate, text: String) {
    let condition = condition()
    return (NSPredicate(format: condition.format), condition.sql)
  }

  private static func figure(_ name: String, _ format: String) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    return description
  }
}
