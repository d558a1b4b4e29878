// Figures worked out from the values of a group's rows, where the engine has no figure of that kind; and results in
// the types that a request declares.

import CairnModel
import Foundation

/// The values of one group, as far as its figures need them.
struct GroupFigures {
  private let leaves: [Leaf]
  private var values: [[Value]]
  private var seen: [Set<Value>]
  private var rowCount = 0

  init(_ leaves: [Leaf]) {
    self.leaves = leaves
    values = leaves.map { _ in [] }
    seen = leaves.map { _ in [] }
  }

  mutating func add(_ row: FetchedRowView, _ fetch: DictionaryFetch) throws {
    rowCount += 1
    for (index, leaf) in leaves.enumerated() {
      guard let operand = leaf.operand else { continue }
      for value in GroupFigures.values(try fetch.operand(operand, row)) where !value.isNull {
        if leaf.isDistinct, !seen[index].insert(value).inserted { continue }
        values[index].append(value)
      }
    }
  }

  /// A to-many path gives many.
  private static func values(_ any: Any?) -> [Value] {
    guard let any else { return [] }
    let tree = ExpressionTree(argument: any)
    if case .list(let elements) = tree { return elements.map { $0.plainValue ?? .bool(true) } }
    return [tree.plainValue ?? .bool(true)]
  }

  func figures() throws -> [Any?] {
    try leaves.indices.map { index in
      let leaf = leaves[index]
      if leaf.operand == nil, leaf.figure == .count { return NSNumber(value: rowCount) }
      let values = values[index]
      switch leaf.figure {
      case .count: return NSNumber(value: values.count)
      case .sum: return try Statistics.sum(values).keyValueForm
      case .average:
        if values.isEmpty { return nil }
        let total = try Statistics.sum(values)
        guard let double = (total.keyValueForm as? NSNumber)?.doubleValue else { return nil }
        return NSNumber(value: double / Double(values.count))
      case .min: return values.min().flatMap(\.keyValueForm)
      case .max: return values.max().flatMap(\.keyValueForm)
      case .median: return values.isEmpty ? nil : try Statistics.median(values).keyValueForm
      case .mode: return Statistics.mode(values).first?.keyValueForm
      case .stddev: return values.isEmpty ? nil : Statistics.standardDeviation(values).keyValueForm
      }
    }
  }
}

/// Results turned into what `expressionResultType` says.
enum ResultCoercion {
  static func coerce(_ any: Any, to type: NSAttributeType) -> Any {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      guard let number = any as? NSNumber else { return any }
      let double = number.doubleValue
      if abs(double) >= 9.2e18 { return number }
      return NSNumber(value: double == double.rounded() ? number.int64Value : Int64(double))
    case .doubleAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.doubleValue) } ?? any
    case .floatAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.floatValue) } ?? any
    case .decimalAttributeType:
      return (any as? NSNumber).map { NSDecimalNumber(decimal: $0.decimalValue) } ?? any
    case .booleanAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.boolValue) } ?? any
    case .stringAttributeType:
      return (any as? NSNumber).map { "\($0.doubleValue)" } ?? (any as? String) ?? "\(any)"
    case .dateAttributeType:
      return (any as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) } ?? any
    default: return any
    }
  }
}

extension ExpressionTree {
  /// The value of a plain constant.
  var plainValue: Value? {
    if case .constant(let value) = self { value } else { nil }
  }
}
