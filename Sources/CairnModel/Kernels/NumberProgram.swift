// Sums, differences and products of a row's numbers, a chunk at a time.
//
// Whole numbers are added in Int64 as long as nothing overflows; a chunk in which something does is left to the
// evaluator of single rows, which says what all of this must answer.

/// A numeric expression over slots of one row, ready to be evaluated on chunks.
struct NumberProgram {
  private indirect enum Step {
    case integerSlot(Int)
    case doubleSlot(Int)
    case integer(Int64)
    case double(Double)
    case operation(ValueFunction, Step, Step)
    case widened(Step)

    var isDouble: Bool {
      switch self {
      case .integerSlot, .integer: false
      case .doubleSlot, .double, .widened: true
      case .operation(_, let left, _): left.isDouble
      }
    }
  }

  private let root: Step

  /// nil for an expression with anything else in it.
  init?(_ expression: BoundExpression) {
    guard case .function = expression, let step = NumberProgram.step(expression) else { return nil }
    root = step
  }

  private static func step(_ expression: BoundExpression) -> Step? {
    switch expression {
    case .constant(.int(let x)): return .integer(x)
    case .constant(.double(let x)): return .double(x)
    case .path(let path):
      guard path.base == 0, path.hops.isEmpty, case .slot(let slot) = path.target else { return nil }
      switch path.type {
      case .int16, .int32, .int64, .bool: return .integerSlot(slot)
      case .double, .float: return .doubleSlot(slot)
      default: return nil
      }
    case .function(let function, let arguments):
      guard function == .add || function == .subtract || function == .multiply, arguments.count == 2,
        let left = step(arguments[0]), let right = step(arguments[1])
      else { return nil }
      if left.isDouble == right.isDouble { return .operation(function, left, right) }
      return .operation(
        function, left.isDouble ? left : .widened(left), right.isDouble ? right : .widened(right))
    default: return nil
    }
  }

  /// Sets `mask[row]` to what `test` says of each row's value. Returns false, with nothing said, if a whole
  /// number overflows.
  func fill(_ mask: UnsafeMutablePointer<UInt8>, _ chunk: Chunk, _ test: ValueTest) -> Bool {
    let count = chunk.count
    if root.isDouble {
      guard let values = doubles(root, chunk) else { return false }
      values.withUnsafeBufferPointer { values in
        if let simple = DoubleTest(test, .double), simple.op == .greater || simple.op == .less {
          let constant = simple.constant
          if simple.op == .greater {
            for row in 0..<count { mask[row] = values[row] > constant ? 1 : 0 }
          } else {
            // NaN comes before every number.
            for row in 0..<count { mask[row] = values[row] >= constant ? 0 : 1 }
          }
        } else {
          for row in 0..<count { mask[row] = test.matches(.double(values[row])) ? 1 : 0 }
        }
      }
    } else {
      guard let values = integers(root, chunk) else { return false }
      values.withUnsafeBufferPointer { values in
        if let range = IntegerRange(test, ofKeys: false), !range.isNegated {
          let (low, high) = (range.low, range.high)
          for row in 0..<count { mask[row] = (values[row] >= low ? 1 : 0) & (values[row] <= high ? 1 : 0) }
        } else {
          for row in 0..<count { mask[row] = test.matches(.int(values[row])) ? 1 : 0 }
        }
      }
    }
    let null: UInt8 = test.nullResult ? 1 : 0
    forEachSlot(root) { chunk.columns[$0].nulls?.forEach(below: count) { mask[$0] = null } }
    return true
  }

  private func forEachSlot(_ step: Step, _ body: (Int) -> Void) {
    switch step {
    case .integerSlot(let slot), .doubleSlot(let slot): body(slot)
    case .integer, .double: break
    case .widened(let inner): forEachSlot(inner, body)
    case .operation(_, let left, let right):
      forEachSlot(left, body)
      forEachSlot(right, body)
    }
  }

  private func integers(_ step: Step, _ chunk: Chunk) -> [Int64]? {
    let count = chunk.count
    switch step {
    case .integer(let x): return [Int64](repeating: x, count: count)
    case .integerSlot(let slot):
      let column = chunk.columns[slot]
      switch column.layout {
      case .int8: return NumberProgram.widened(column, Int8.self, count)
      case .int16: return NumberProgram.widened(column, Int16.self, count)
      case .int32: return NumberProgram.widened(column, Int32.self, count)
      default: return NumberProgram.widened(column, Int64.self, count)
      }
    case .operation(let function, let left, let right):
      guard var values = integers(left, chunk), let others = integers(right, chunk) else { return nil }
      var overflow = false
      values.withUnsafeMutableBufferPointer { a in
        others.withUnsafeBufferPointer { b in
          switch function {
          case .add: combine(a, b, count, &overflow) { $0.addingReportingOverflow($1) }
          case .subtract: combine(a, b, count, &overflow) { $0.subtractingReportingOverflow($1) }
          default: combine(a, b, count, &overflow) { $0.multipliedReportingOverflow(by: $1) }
          }
        }
      }
      return overflow ? nil : values
    case .doubleSlot, .double, .widened: return nil
    }
  }

  @inline(__always)
  private func combine(
    _ a: UnsafeMutableBufferPointer<Int64>, _ b: UnsafeBufferPointer<Int64>, _ count: Int,
    _ overflow: inout Bool, _ operation: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
  ) {
    for row in 0..<count {
      let result = operation(a[row], b[row])
      a[row] = result.partialValue
      overflow = overflow || result.overflow
    }
  }

  private static func widened<T: FixedWidthInteger>(_ column: Column, _: T.Type, _ count: Int) -> [Int64] {
    let values = column.values.assumingMemoryBound(to: T.self)
    return [Int64](unsafeUninitializedCapacity: count) { buffer, filled in
      for row in 0..<count { buffer.initializeElement(at: row, to: Int64(values[row])) }
      filled = count
    }
  }

  private func doubles(_ step: Step, _ chunk: Chunk) -> [Double]? {
    let count = chunk.count
    switch step {
    case .double(let x): return [Double](repeating: x, count: count)
    case .doubleSlot(let slot): return (0..<count).map { chunk.columns[slot].double($0) }
    case .widened(let inner): return integers(inner, chunk)?.map { Double($0) }
    case .operation(let function, let left, let right):
      guard var values = doubles(left, chunk), let others = doubles(right, chunk) else { return nil }
      switch function {
      case .add: for row in 0..<count { values[row] += others[row] }
      case .subtract: for row in 0..<count { values[row] -= others[row] }
      default: for row in 0..<count { values[row] *= others[row] }
      }
      return values
    case .integerSlot, .integer: return nil
    }
  }
}
