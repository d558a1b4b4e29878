// What a commit asks of columns of keys.

extension Column {
  /// The integers of the rows that aren't null, each once, in no order. Costs one pass; memory for the range
  /// of the values where it is small, for the distinct values otherwise.
  package func distinctIntegers() -> [Int64] {
    guard zone.minInteger <= zone.maxInteger else { return [] }
    let span = zone.maxInteger.subtractingReportingOverflow(zone.minInteger)
    if !span.overflow, span.partialValue < Int64(count * 8 + 1024) {
      var seen = [Bool](repeating: false, count: Int(span.partialValue) + 1)
      for row in 0..<count where !isNull(row) { seen[Int(integer(row) - zone.minInteger)] = true }
      return seen.indices.lazy.filter { seen[$0] }.map { Int64($0) + zone.minInteger }
    }
    var seen: Set<Int64> = []
    for row in 0..<count where !isNull(row) { seen.insert(integer(row)) }
    return Array(seen)
  }

  /// Whether every integer of the column is one that its type can hold. Builders take any Int64.
  package var holdsOnlyItsType: Bool {
    guard layout.isInteger, let range = type.integerRange, zone.minInteger <= zone.maxInteger else {
      return true
    }
    return range.contains(zone.minInteger) && range.contains(zone.maxInteger)
  }
}
