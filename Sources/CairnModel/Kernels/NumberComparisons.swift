// Comparisons with numbers, brought to a form that a loop over machine integers or doubles can answer.

import Foundation

/// A comparison of integers as one interval, or as everything but one.
struct IntegerRange {
  var low: Int64
  var high: Int64
  var isNegated = false

  /// nil where the constant isn't an integer, nor a double between two of them; for keys, where it is no key.
  init?(_ test: ValueTest, ofKeys: Bool) {
    func bound(_ value: Value, up: Bool) -> Int64? {
      if case .key(let x) = value { return ofKeys ? x : nil }
      return ofKeys ? nil : IntegerRange.bound(value, up: up)
    }
    low = Int64.min
    high = Int64.max
    switch test {
    case .between(let a, let b):
      guard let from = bound(a, up: true), let to = bound(b, up: false) else { return nil }
      low = from
      high = to
    case .compare(let op, let constant):
      guard let below = bound(constant, up: false), let above = bound(constant, up: true) else { return nil }
      let isWhole = below == above
      switch op {
      case .equal, .notEqual:
        low = isWhole ? below : 1
        high = isWhole ? below : 0
        isNegated = op == .notEqual
      case .less:
        if isWhole, below == Int64.min { low = 1; high = 0 } else { high = isWhole ? below - 1 : below }
      case .lessOrEqual: high = below
      case .greater:
        if isWhole, above == Int64.max { low = 1; high = 0 } else { low = isWhole ? above + 1 : above }
      default: low = above
      }
    default: return nil
    }
  }

  /// The integer nearest to a constant from one side; nil where there is none within Int64.
  private static func bound(_ value: Value, up: Bool) -> Int64? {
    switch value {
    case .int(let x): return x
    case .bool(let x): return x ? 1 : 0
    case .double(let x): return Int64(exactly: x.rounded(up ? .up : .down))
    case .float(let x): return Int64(exactly: x.rounded(up ? .up : .down))
    default: return nil
    }
  }
}

/// A comparison of doubles; nil constants, NaN and integers that a double can't tell apart are left to the
/// slow twin.
struct DoubleTest {
  let op: ComparisonOperator
  let constant: Double
  let high: Double

  init?(_ test: ValueTest, _ type: ValueType) {
    switch test {
    case .compare(let op, let value):
      guard let x = DoubleTest.exact(value, type) else { return nil }
      self.op = op
      constant = x
      high = x
    case .between(let a, let b):
      guard let x = DoubleTest.exact(a, type), let y = DoubleTest.exact(b, type) else { return nil }
      op = .between
      constant = x
      high = y
    default: return nil
    }
  }

  func misses(_ low: Double, _ highest: Double) -> Bool {
    if low > highest { return true }
    switch op {
    case .equal: return constant < low || constant > highest
    case .less: return low >= constant
    case .lessOrEqual: return low > constant
    case .greater: return highest <= constant
    case .greaterOrEqual: return highest < constant
    case .between: return highest < constant || low > high
    default: return false
    }
  }

  private static func exact(_ value: Value, _ type: ValueType) -> Double? {
    let x: Double
    switch value {
    case .date(let date) where type == .date: x = date.timeIntervalSinceReferenceDate
    case .double(let y) where type != .date: x = y
    case .float(let y) where type != .date: x = Double(y)
    case .int(let y) where type != .date && Int64(exactly: Double(y)) == y: x = Double(y)
    case .bool(let y) where type != .date: x = y ? 1 : 0
    default: return nil
    }
    return x.isNaN ? nil : x
  }
}
