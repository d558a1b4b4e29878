// Expressions fitted to an entity: what a bound predicate compares. A new kind of value that columns can give is
// a case here, then one in the binder and in BoundEvaluator.

/// A value of a row, or of several rows that nested conditions speak of.
///
/// Each path in it starts from a row by number: 0 is the row that is asked, 1 the element of the outermost
/// collection around the path, and so on.
package indirect enum BoundExpression: Sendable {
  case constant(Value)
  case path(BoundPath)
  case function(ValueFunction, [BoundExpression])
  case conditional(BoundPredicate.Node, BoundExpression, BoundExpression)
  /// Of a value of each element.
  case aggregate(CollectionAggregate, BoundCollection, of: BoundExpression)

  /// What can come of it; nil stands for nothing but null, or composites.
  var families: [ValueType.Family?] {
    switch self {
    case .constant(let value): [value.family]
    case .path(let path): [path.type.family]
    case .function(let function, let arguments): [function.family ?? arguments.first?.families.first ?? nil]
    case .conditional(_, let first, let second): first.families + second.families
    case .aggregate(.min, _, let value), .aggregate(.max, _, let value): value.families
    case .aggregate: [.number]
    }
  }

  /// Whether an operation on bits can take it, whatever the row.
  var isSurelyWhole: Bool {
    if case .constant(let value) = self { return value.isNull || value.wholeNumber != nil }
    return wholeBits != nil
  }

  /// A number of bits that holds the magnitude of all that can come of it: each is nil, or a whole number from
  /// -2^bits to 2^bits within Int64. nil where something else can come: fractions, or doubles for want of room.
  var wholeBits: Int? {
    switch self {
    case .constant(.null): return 0
    // A double or a decimal would make others of the same type.
    case .constant(.int(let x)): return 64 - x.magnitude.leadingZeroBitCount
    case .constant(.bool): return 1
    case .constant: return nil
    case .path(let path):
      switch path.type {
      case .bool: return 1
      case .int16: return 15
      case .int32: return 31
      case .int64: return 63
      default: return nil
      }
    case .conditional(_, let first, let second):
      guard let a = first.wholeBits, let b = second.wholeBits else { return nil }
      return Swift.max(a, b)
    case .aggregate(.count, _, _): return 48
    case .aggregate(.min, _, let value), .aggregate(.max, _, let value): return value.wholeBits
    case .aggregate: return nil
    case .function(let function, let arguments): return BoundExpression.wholeBits(function, arguments)
    }
  }

  private static func wholeBits(_ function: ValueFunction, _ arguments: [BoundExpression]) -> Int? {
    if function == .length || function == .count { return 48 }
    if function.isOfBits {
      guard arguments.allSatisfy(\.isSurelyWhole) else { return nil }
      // Constants like 2.0 are taken for the whole numbers that they are.
      let most = arguments.map { $0.wholeBits ?? 63 }.max() ?? 0
      return function == .shiftLeft || function == .shiftRight ? 63 : Swift.min(most + 1, 63)
    }
    var bits: [Int] = []
    for argument in arguments {
      guard let next = argument.wholeBits else { return nil }
      bits.append(next)
    }
    let most = bits.max() ?? 0
    let room: Int
    switch function {
    case .modulus, .ceiling, .floor, .truncate, .noindex, .toNumber, .min, .max: return most
    case .add, .subtract: room = most + 1
    case .sum: room = most + (arguments.count < 2 ? 0 : 64 - (arguments.count - 1).leadingZeroBitCount)
    case .multiply: room = bits.reduce(0, +)
    // Only of the least Int64 is the opposite too great.
    case .divide, .absolute: room = most
    default: return nil
    }
    return room <= 62 ? room : nil
  }
}

/// The rows that a relationship leads to, those that conditions leave over.
package struct BoundCollection: Sendable {
  /// Leads to the row that the first step starts from.
  package internal(set) var start: BoundPath
  /// Relationships; the first one is to-many.
  package internal(set) var steps: [RelationshipID]
  /// Which row an element is for the filters and for what is asked of it.
  package internal(set) var element: Int
  /// All have to hold.
  package internal(set) var filters: [BoundPredicate.Node] = []

  func filtered(by node: BoundPredicate.Node) -> BoundCollection {
    var result = self
    result.filters.append(node)
    return result
  }
}

/// The operators of key paths that make one value of a collection.
package enum CollectionAggregate: String, Sendable {
  case count = "@count"
  case sum = "@sum"
  case average = "@avg"
  case min = "@min"
  case max = "@max"
}

/// Adds up the values of elements, with Core Data's rules for nil: nothing for min and max, 0 for sum, 0 and
/// an element all the same for the average.
struct CollectionFigure {
  private(set) var count: Int64 = 0
  private var sum = Value.int(0)
  private var least = Value.null
  private var greatest = Value.null
  private let function: CollectionAggregate

  init(_ function: CollectionAggregate) { self.function = function }

  mutating func add(_ value: Value) {
    count += 1
    if value.isNull { return }
    switch function {
    case .count: break
    case .sum, .average: sum = ValueFunction.add.apply([sum, value])
    case .min: if least.isNull || value < least { least = value }
    case .max: if greatest.isNull || value > greatest { greatest = value }
    }
  }

  var result: Value {
    switch function {
    case .count: .int(count)
    case .sum: sum
    case .average where count == 0: .double(0)
    case .average:
      if case .decimal = sum {
        ValueFunction.divide.apply([sum, .int(count)])
      } else {
        ValueFunction.divide.apply([sum, .double(Double(count))])
      }
    case .min: least
    case .max: greatest
    }
  }
}

// MARK: Which rows are spoken of

extension BoundPredicate.Node {
  /// The same with every path changed: those of collections and of what is asked of their elements too.
  func mapPaths(_ change: (BoundPath) -> BoundPath, element: (Int) -> Int) -> BoundPredicate.Node {
    switch self {
    case .constant: self
    case .test(let path, let test): .test(change(path), test)
    case .comparePaths(let left, let op, let right): .comparePaths(change(left), op, change(right))
    case .check(let expression, let test): .check(expression.mapPaths(change, element: element), test)
    case .compare(let left, let op, let right, let options):
      .compare(
        left.mapPaths(change, element: element), op, right.mapPaths(change, element: element), options)
    case .exists(let collection): .exists(collection.mapPaths(change, element: element))
    case .and(let parts): .and(parts.map { $0.mapPaths(change, element: element) })
    case .or(let parts): .or(parts.map { $0.mapPaths(change, element: element) })
    case .not(let part): .not(part.mapPaths(change, element: element))
    }
  }

  /// The least number of a row that a path starts from; nil where there is no path.
  var leastBase: Int? {
    var least: Int?
    _ = mapPaths(
      {
        least = Swift.min(least ?? $0.base, $0.base)
        return $0
      }, element: { $0 })
    return least
  }
}

extension BoundExpression {
  func mapPaths(_ change: (BoundPath) -> BoundPath, element: (Int) -> Int) -> BoundExpression {
    switch self {
    case .constant: self
    case .path(let path): .path(change(path))
    case .function(let function, let parts):
      .function(function, parts.map { $0.mapPaths(change, element: element) })
    case .conditional(let node, let first, let second):
      .conditional(
        node.mapPaths(change, element: element), first.mapPaths(change, element: element),
        second.mapPaths(change, element: element))
    case .aggregate(let function, let collection, let value):
      .aggregate(
        function, collection.mapPaths(change, element: element),
        of: value.mapPaths(change, element: element))
    }
  }

  var leastBase: Int? { BoundPredicate.Node.check(self, .isNull).leastBase }
}

extension BoundCollection {
  func mapPaths(_ change: (BoundPath) -> BoundPath, element number: (Int) -> Int) -> BoundCollection {
    BoundCollection(
      start: change(start), steps: steps, element: number(element),
      filters: filters.map { $0.mapPaths(change, element: number) })
  }
}
