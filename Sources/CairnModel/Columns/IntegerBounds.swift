// The least and the greatest of many integers.

/// Bounds of integers in memory: low > high where there are none.
package enum IntegerBounds {
  package static func of(_ values: UnsafePointer<Int64>, _ n: Int) -> (low: Int64, high: Int64) {
    var low = Int64.max
    var high = Int64.min
    for i in 0..<max(n, 0) {
      low = min(low, values[i])
      high = max(high, values[i])
    }
    return (low, high)
  }

  /// The bounds of the rows that aren't null. The others hold 0, before and after.
  package static func of(
    _ values: UnsafeMutablePointer<Int64>, _ n: Int, without nulls: Bitmap?
  ) -> (low: Int64, high: Int64) {
    guard let nulls else { return of(values, n) }
    guard let first = (0..<max(n, 0)).first(where: { !nulls[$0] }) else { return (.max, .min) }
    // A value that is there stands in for those that aren't.
    let value = values[first]
    nulls.forEach(in: 0..<n) { values[$0] = value }
    defer { nulls.forEach(in: 0..<n) { values[$0] = 0 } }
    return of(values, n)
  }
}
