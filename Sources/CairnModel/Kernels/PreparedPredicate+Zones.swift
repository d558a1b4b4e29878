// What a predicate leaves out by the bounds of columns alone: where these are in a file, they needn't be read.

extension PreparedPredicate.Node {
  /// Whether the bounds of its column say that no row of `chunk` matches, for a node that asks one column. Reads
  /// nothing; false says nothing.
  func isExcluded(from chunk: Chunk) -> Bool {
    switch self {
    case .constant(let value): !value
    case .slot(let slot, let test): test.excludes(chunk.zone(of: slot), chunk.type(of: slot))
    case .members(let slot, _, let table), .key(let slot?, let table): table.excludes(chunk.zone(of: slot))
    case .key(nil, let table): table.excludes(chunk.firstKey, chunk.lastKey)
    case .numbers, .general, .and, .or, .not: false
    }
  }
}

extension ValueTest {
  /// Whether neither null nor any value of a column with these bounds passes.
  fileprivate func excludes(_ zone: Zone, _ type: ValueType) -> Bool {
    if nullResult { return false }
    switch type {
    case .int16, .int32, .int64, .bool, .key:
      guard let range = IntegerRange(self, ofKeys: type == .key), !range.isNegated else { return false }
      return range.low > range.high || zone.maxInteger < range.low || zone.minInteger > range.high
    case .double, .float, .date:
      guard !zone.mayHoldNaN, let test = DoubleTest(self, type) else { return false }
      return test.misses(zone.minDouble, zone.maxDouble)
    case .decimal, .uuid, .string, .uri, .data, .transformable: return false
    }
  }
}

extension KeyTest {
  /// The same for a column of keys or whole numbers.
  fileprivate func excludes(_ zone: Zone) -> Bool { excludes(zone.minInteger, zone.maxInteger) }
}
