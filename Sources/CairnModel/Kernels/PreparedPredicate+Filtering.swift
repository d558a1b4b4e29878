// Evaluating a prepared predicate on one chunk, into a mask of one byte a row.
//
// Every loop here is plain and scalar, over typed pointers, so that the compiler can vectorise it; explicit
// SIMD16 on the default target ran ten times slower. `ValueTest.matches` says what each of them must answer,
// and a test holds them to it.

import Foundation

extension PreparedPredicate {
  /// Sets `mask[row]` to 1 for the rows of `chunk` that match, deleted ones included, and to 0 for the
  /// others. `mask` has room for `chunk.count` bytes.
  public func fill(_ mask: UnsafeMutablePointer<UInt8>, _ chunk: Chunk) {
    switch Filter(chunk: chunk).evaluate(root, mask) {
    case .mixed: break
    case .none: mask.update(repeating: 0, count: chunk.count)
    case .all: mask.update(repeating: 1, count: chunk.count)
    }
  }

  /// The live rows of `chunk` that match, ascending, given to `body` as runs of a mask: `nil` for all rows.
  /// Not called when none match.
  @inline(__always)
  func select(
    _ chunk: Chunk, _ mask: UnsafeMutablePointer<UInt8>, _ trace: StoreTrace? = nil,
    _ body: (UnsafeMutablePointer<UInt8>?) -> Void
  ) {
    let outcome = Filter(chunk: chunk, trace: trace).evaluate(root, mask)
    trace?.noteChunk(rows: chunk.count, isDecided: outcome != .mixed)
    switch outcome {
    case .none: return
    case .all:
      guard let deleted = chunk.deleted else { return body(nil) }
      mask.update(repeating: 1, count: chunk.count)
      deleted.forEach(below: chunk.count) { mask[$0] = 0 }
      body(mask)
    case .mixed:
      chunk.deleted?.forEach(below: chunk.count) { mask[$0] = 0 }
      body(mask)
    }
  }
}

/// The evaluation on one chunk. A node answers `.none` or `.all` without touching the mask where it can.
private struct Filter {
  typealias Node = PreparedPredicate.Node
  typealias Outcome = PreparedPredicate.Outcome
  typealias Mask = UnsafeMutablePointer<UInt8>

  let chunk: Chunk
  var trace: StoreTrace?
  var count: Int { chunk.count }

  func evaluate(_ node: Node, _ mask: Mask) -> Outcome {
    if node.isExcluded(from: chunk) { return .none }
    switch node {
    case .constant(let value): return value ? .all : .none
    case .and(let parts):
      // First of all what needs no reading.
      if parts.contains(where: { $0.isExcluded(from: chunk) }) { return .none }
      return combine(parts, mask, absorbing: .none, neutral: .all) { $0 & $1 }
    case .or(let parts): return combine(parts, mask, absorbing: .all, neutral: .none) { $0 | $1 }
    case .not(let part):
      switch evaluate(part, mask) {
      case .none: return .all
      case .all: return .none
      case .mixed:
        for row in 0..<count { mask[row] ^= 1 }
        return .mixed
      }
    case .slot(let slot, let test): return evaluate(chunk.columns[slot], test, mask)
    case .members(let slot, _, let table):
      table.fill(mask, chunk.columns[slot], count: count)
      return .mixed
    case .key(let slot?, let test):
      test.fill(mask, chunk.columns[slot], count: count)
      return .mixed
    case .key(nil, let test):
      for row in 0..<count { mask[row] = test.matches(chunk.key(row)) ? 1 : 0 }
      return .mixed
    case .numbers(let program, let test, let single):
      if program.fill(mask, chunk, test) { return .mixed }
      for row in 0..<count { mask[row] = single.matches(chunk, row) ? 1 : 0 }
      return .mixed
    case .general(let test):
      for row in 0..<count { mask[row] = test.matches(chunk, row) ? 1 : 0 }
      return .mixed
    }
  }

  /// AND and OR: stops at the first part that decides the chunk as a whole.
  @inline(__always)
  private func combine(
    _ parts: [Node], _ mask: Mask, absorbing: Outcome, neutral: Outcome, _ op: (UInt8, UInt8) -> UInt8
  ) -> Outcome {
    var result = neutral
    for part in parts {
      if result != .mixed {
        result = evaluate(part, mask)
        if result == absorbing { return absorbing }
        continue
      }
      // Where every row is decided, no other column has to be read.
      if memchr(mask, absorbing == .none ? 1 : 0, count) == nil {
        trace?.hasLookedAtChunk = true
        return absorbing
      }
      let outcome = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { second in
        let outcome = evaluate(part, second.baseAddress!)
        if outcome == .mixed { for row in 0..<count { mask[row] = op(mask[row], second[row]) } }
        return outcome
      }
      if outcome == absorbing {
        trace?.hasLookedAtChunk = true
        return absorbing
      }
    }
    return result
  }

  // MARK: One column

  private func evaluate(_ column: Column, _ test: ValueTest, _ mask: Mask) -> Outcome {
    let outcome = values(column, test, mask)
    guard let nulls = column.nulls else { return outcome }
    let null: UInt8 = test.nullResult ? 1 : 0
    switch outcome {
    case .none:
      if null == 0 { return .none }
      mask.update(repeating: 0, count: count)
    case .all:
      if null == 1 { return .all }
      mask.update(repeating: 1, count: count)
    case .mixed: break
    }
    nulls.forEach(below: count) { mask[$0] = null }
    return .mixed
  }

  /// The answer for the rows that aren't null; what it says of null rows doesn't count.
  private func values(_ column: Column, _ test: ValueTest, _ mask: Mask) -> Outcome {
    switch test {
    case .isNull: return .none
    case .isNotNull: return .all
    case .isIn(let set) where set.isEmpty: return .none
    case .string(let matcher) where column.type == .string:
      return entries(column, mask) {
        matcher.fill($0, $1, count: $2)
      } otherwise: {
        matcher.matches($0)
      }
    case .compare(let op, .string(let constant)) where column.type == .string:
      return compareStrings(column, op, constant, mask)
    case .compare(let op, .uri(let constant)) where column.type == .uri:
      return compareStrings(column, op, constant, mask)
    case .compare, .between:
      if column.layout.isInteger, let range = IntegerRange(test, ofKeys: column.type == .key) {
        return integers(column, range, mask)
      }
      if column.layout.isFloatingPoint, let op = DoubleTest(test, column.type) {
        return doubles(column, op, mask)
      }
      return general(column, test, mask)
    default: return general(column, test, mask)
    }
  }

  /// The slow twin of all the others; once for each entry where there is a dictionary of strings.
  private func general(_ column: Column, _ test: ValueTest, _ mask: Mask) -> Outcome {
    if column.layout == .codes, column.type == .string {
      return strings(column, mask) { test.matches(.string(String(decoding: $0, as: UTF8.self))) }
    }
    for row in 0..<count { mask[row] = test.matches(column.value(row)) ? 1 : 0 }
    return .mixed
  }

  // MARK: Integers

  private func integers(_ column: Column, _ range: IntegerRange, _ mask: Mask) -> Outcome {
    let outside: Outcome = range.isNegated ? .all : .none
    let inside: Outcome = range.isNegated ? .none : .all
    let zone = column.zone
    if range.low > range.high || zone.maxInteger < range.low || zone.minInteger > range.high {
      return outside
    }
    if zone.minInteger >= range.low, zone.maxInteger <= range.high { return inside }
    switch column.layout {
    case .int8: fill(mask, column.values.assumingMemoryBound(to: Int8.self), range)
    case .int16: fill(mask, column.values.assumingMemoryBound(to: Int16.self), range)
    case .int32: fill(mask, column.values.assumingMemoryBound(to: Int32.self), range)
    default: fill(mask, column.values.assumingMemoryBound(to: Int64.self), range)
    }
    return .mixed
  }

  private func fill<T: FixedWidthInteger>(_ mask: Mask, _ p: UnsafePointer<T>, _ range: IntegerRange) {
    // The zone overlaps the range, so clamping it to T leaves it non-empty.
    let low = T(clamping: range.low)
    let high = T(clamping: range.high)
    let count = count
    if range.isNegated {
      for row in 0..<count { mask[row] = (p[row] < low ? 1 : 0) | (p[row] > high ? 1 : 0) }
    } else {
      for row in 0..<count { mask[row] = (p[row] >= low ? 1 : 0) & (p[row] <= high ? 1 : 0) }
    }
  }

  // MARK: Doubles

  private func doubles(_ column: Column, _ test: DoubleTest, _ mask: Mask) -> Outcome {
    let zone = column.zone
    if !zone.mayHoldNaN, test.misses(zone.minDouble, zone.maxDouble) { return .none }
    if column.layout == .float {
      fill(mask, column.values.assumingMemoryBound(to: Float.self), test)
    } else {
      fill(mask, column.values.assumingMemoryBound(to: Double.self), test)
    }
    return .mixed
  }

  /// Written so that NaN falls where the one order has it: below every number.
  private func fill<T: BinaryFloatingPoint>(_ mask: Mask, _ p: UnsafePointer<T>, _ test: DoubleTest) {
    let count = count
    let c = test.constant
    switch test.op {
    case .equal: for row in 0..<count { mask[row] = Double(p[row]) == c ? 1 : 0 }
    case .notEqual: for row in 0..<count { mask[row] = Double(p[row]) == c ? 0 : 1 }
    case .less: for row in 0..<count { mask[row] = Double(p[row]) >= c ? 0 : 1 }
    case .lessOrEqual: for row in 0..<count { mask[row] = Double(p[row]) > c ? 0 : 1 }
    case .greater: for row in 0..<count { mask[row] = Double(p[row]) > c ? 1 : 0 }
    case .greaterOrEqual: for row in 0..<count { mask[row] = Double(p[row]) >= c ? 1 : 0 }
    default:
      let high = test.high
      for row in 0..<count { mask[row] = (Double(p[row]) >= c ? 1 : 0) & (Double(p[row]) <= high ? 1 : 0) }
    }
  }

  // MARK: Strings

  private func compareStrings(_ column: Column, _ op: ComparisonOperator, _ constant: String, _ mask: Mask)
    -> Outcome
  {
    var constant = constant
    return constant.withUTF8 { needle in
      switch op {
      case .equal, .notEqual:
        let same: Bool = op == .equal
        return strings(column, mask) { bytes in
          let isEqual =
            bytes.count == needle.count
            && (needle.count == 0 || memcmp(bytes.baseAddress!, needle.baseAddress!, needle.count) == 0)
          return isEqual == same
        }
      default: return strings(column, mask) { op.holds(StringOrder.compare(utf8: $0, needle)) }
      }
    }
  }

  @inline(__always)
  private func strings(
    _ column: Column, _ mask: Mask, _ matches: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Outcome {
    entries(column, mask) { answers, pool, entryCount in
      for entry in 0..<entryCount { answers[entry] = matches(pool.entry(entry)) ? 1 : 0 }
    } otherwise: {
      matches($0)
    }
  }

  /// Asks for all entries of a dictionary, or of all rows where there is none. `fill` sets the answers for the first
  /// so many entries of a pool; `otherwise` answers for a column whose rows aren't all in one.
  @inline(__always)
  private func entries(
    _ column: Column, _ mask: Mask, _ fill: (Mask, BytesPool, Int) -> Void,
    otherwise: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Outcome {
    guard column.layout != .external, let pool = column.pool else {
      for row in 0..<count { mask[row] = otherwise(column.bytes(row)) ? 1 : 0 }
      return .mixed
    }
    guard column.layout == .codes else {
      fill(mask, pool, count)
      return .mixed
    }
    let codes = column.values.assumingMemoryBound(to: UInt16.self)
    let entryCount = column.poolCount
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(entryCount, 1)) { table in
      fill(table.baseAddress!, pool, entryCount)
      if !table[..<entryCount].contains(1) { return .none }
      for row in 0..<count { mask[row] = table[Int(codes[row])] }
      return .mixed
    }
  }
}
