// The one order and the one equality of values, which every evaluator, index, sort, constraint and file uses.
//
// - Null comes first and equals null.
// - Numbers compare by value, exactly, across widths and types: no integer is rounded to a double on the way.
//   Booleans are 0 and 1. -0.0 equals 0.0. NaN equals NaN and comes before every other number.
// - Strings and URIs: StringOrder. Dates by time, UUIDs and bytes byte by byte (shorter first when one is a
//   prefix), keys by id.
// - Values of different families never are equal, and come in the order of `Family`'s cases; a predicate
//   refuses to order them (BoundPredicate).

import Foundation

extension Value {
  /// Negative, zero or positive as `a` comes before, equals, or comes after `b` in the one total order.
  public static func compare(_ a: Value, _ b: Value) -> Int {
    switch (a, b) {
    case (.null, .null): return 0
    case (.null, _): return -1
    case (_, .null): return 1
    case (.int(let x), .int(let y)): return sign(x, y)
    case (.string(let x), .string(let y)), (.uri(let x), .uri(let y)): return StringOrder.compare(x, y)
    case (.date(let x), .date(let y)):
      return compareDoubles(x.timeIntervalSinceReferenceDate, y.timeIntervalSinceReferenceDate)
    case (.data(let x), .data(let y)): return compareBytes(x, y)
    case (.uuid(let x), .uuid(let y)): return compareUUIDs(x, y)
    case (.key(let x), .key(let y)): return sign(x, y)
    case (.composite(let x), .composite(let y)): return compareComposites(x, y)
    default: break
    }
    if let order = compareNumbers(a, b) { return order }
    return sign(a.familyRank, b.familyRank)
  }

  private var familyRank: Int {
    switch family {
    case nil: isNull ? 0 : 8
    case .number: 1
    case .string: 2
    case .date: 3
    case .bytes: 4
    case .uuid: 5
    case .uri: 6
    case .key: 7
    }
  }

  @inline(__always)
  private static func sign<T: Comparable>(_ x: T, _ y: T) -> Int { x < y ? -1 : (x == y ? 0 : 1) }

  /// The order of doubles, in which NaN is the least value and equals itself.
  static func compareDoubles(_ x: Double, _ y: Double) -> Int {
    if x < y { return -1 }
    if x > y { return 1 }
    if x == y { return 0 }
    return x.isNaN ? (y.isNaN ? 0 : -1) : 1
  }

  /// Orders two numbers of any types; nil if one isn't a number.
  private static func compareNumbers(_ a: Value, _ b: Value) -> Int? {
    guard a.family == .number, b.family == .number else { return nil }
    if case .decimal(let x) = a { return compareDecimal(x, b) }
    if case .decimal(let y) = b { return compareDecimal(y, a).map { -$0 } }
    switch (a.asInteger, b.asInteger) {
    case (let x?, let y?): return sign(x, y)
    case (let x?, nil): return b.asDouble.map { compareInteger(x, toDouble: $0) }
    case (nil, let y?): return a.asDouble.map { -compareInteger(y, toDouble: $0) }
    case (nil, nil):
      guard let x = a.asDouble, let y = b.asDouble else { return nil }
      return compareDoubles(x, y)
    }
  }

  private var asInteger: Int64? {
    switch self {
    case .int(let x): x
    case .bool(let x): x ? 1 : 0
    default: nil
    }
  }

  private var asDouble: Double? {
    switch self {
    case .double(let x): x
    case .float(let x): Double(x)
    default: nil
    }
  }

  /// Compares without rounding `x`: a double beyond 2^53 lies between integers that it can't tell apart.
  static func compareInteger(_ x: Int64, toDouble y: Double) -> Int {
    if y.isNaN { return 1 }
    if y >= 0x1p63 { return -1 }
    if y < -0x1p63 { return 1 }
    let whole = Int64(y)  // exact: toward zero, and in range
    if x != whole { return x < whole ? -1 : 1 }
    return compareDoubles(0, y - Double(whole))
  }

  private static func compareDecimal(_ x: Decimal, _ other: Value) -> Int? {
    if case .decimal(let y) = other { return compareDecimals(x, y) }
    if let y = other.asInteger {
      return x.isNaN ? -1 : DecimalParts.compare(DecimalParts(x), DecimalParts(y))
    }
    guard let y = other.asDouble else { return nil }
    if x.isNaN || y.isNaN { return x.isNaN ? (y.isNaN ? 0 : -1) : 1 }
    return DecimalParts.compare(DecimalParts(x), y)
  }

  /// The order of decimals, in which NaN is the least value and equals itself.
  static func compareDecimals(_ x: Decimal, _ y: Decimal) -> Int {
    if x.isNaN || y.isNaN { return x.isNaN ? (y.isNaN ? 0 : -1) : 1 }
    return DecimalParts.compare(DecimalParts(x), DecimalParts(y))
  }

  private static func compareBytes(_ x: Data, _ y: Data) -> Int {
    x.withUnsafeBytes { p in
      y.withUnsafeBytes { q in compareBytes(p, q) }
    }
  }

  static func compareBytes(_ p: UnsafeRawBufferPointer, _ q: UnsafeRawBufferPointer) -> Int {
    let common = min(p.count, q.count)
    let order = common == 0 ? 0 : memcmp(p.baseAddress!, q.baseAddress!, common)
    return order != 0 ? (order < 0 ? -1 : 1) : sign(p.count, q.count)
  }

  static func compareUUIDs(_ x: UUID, _ y: UUID) -> Int {
    withUnsafeBytes(of: x.uuid) { p in withUnsafeBytes(of: y.uuid) { q in compareBytes(p, q) } }
  }

  /// By the sorted names of the elements that aren't null, name before value.
  private static func compareComposites(_ x: [String: Value], _ y: [String: Value]) -> Int {
    let p = x.filter { !$0.value.isNull }.sorted { StringOrder.compare($0.key, $1.key) < 0 }
    let q = y.filter { !$0.value.isNull }.sorted { StringOrder.compare($0.key, $1.key) < 0 }
    for (a, b) in zip(p, q) {
      let names = StringOrder.compare(a.key, b.key)
      if names != 0 { return names }
      let values = compare(a.value, b.value)
      if values != 0 { return values }
    }
    return sign(p.count, q.count)
  }
}

extension Value: Equatable, Comparable {
  public static func == (a: Value, b: Value) -> Bool {
    if case .string(let x) = a, case .string(let y) = b { return StringOrder.equal(x, y) }
    return compare(a, b) == 0
  }

  public static func < (a: Value, b: Value) -> Bool { compare(a, b) < 0 }
}

extension Value: Hashable {
  /// Equal values hash alike, whatever their types: whole numbers by their Int64, others by the reduced
  /// decimal that equals them, and a double that no decimal equals by itself.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .int(let x): hasher.combine(x)
    case .bool(let x): hasher.combine(Int64(x ? 1 : 0))
    case .double(let x): Value.hash(x, into: &hasher)
    case .float(let x): Value.hash(Double(x), into: &hasher)
    case .decimal(let x): Value.hash(x, into: &hasher)
    case .string(var x), .uri(var x): x.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .date(let x): Value.hash(x.timeIntervalSinceReferenceDate, into: &hasher)
    case .data(let x): hasher.combine(x)
    case .uuid(let x): hasher.combine(x)
    case .key(let x): hasher.combine(x)
    case .composite(let x): hasher.combine(x.values.count { !$0.isNull })
    }
  }

  private static func hash(_ x: Double, into hasher: inout Hasher) {
    if x.isNaN {
      hasher.combine(Double.nan.bitPattern)
    } else if let whole = Int64(exactly: x) {
      hasher.combine(whole)
    } else if let parts = DecimalParts(exactly: x) {
      hasher.combine(parts)
    } else {
      hasher.combine(x)
    }
  }

  private static func hash(_ x: Decimal, into hasher: inout Hasher) {
    if x.isNaN {
      hasher.combine(Double.nan.bitPattern)
      return
    }
    let parts = DecimalParts(x).reduced
    if let whole = parts.asInteger {
      hasher.combine(whole)
    } else {
      hasher.combine(parts)
    }
  }
}
