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
      for value in try GroupFigures.values(try fetch.operand(operand, row), leaf) where !value.isNull {
        if leaf.isDistinct, !seen[index].insert(value).inserted { continue }
        values[index].append(value)
      }
    }
  }

  /// Of a to-many path many values. What is no value counts, and nothing else; sums are of numbers, as the engine has
  /// them.
  private static func values(_ any: Any?, _ leaf: Leaf) throws -> [Value] {
    guard let any else { return [] }
    let tree = ExpressionTree(argument: any)
    let elements = if case .list(let elements) = tree { elements } else { [tree] }
    return try elements.map { element in
      if let value = element.plainValue {
        let addsUp = leaf.figure == .sum || leaf.figure == .average
        if addsUp, let family = value.family, family != .number {
          throw StoreError(.unsupportedRequest, "\(leaf.figure.rawValue) of a \(family)")
        }
        return value
      }
      if leaf.figure == .count, !leaf.isDistinct { return .bool(true) }
      throw StoreError(
        .unsupportedRequest, "\(leaf.figure.rawValue) needs values, and \(element.canonicalFormat) is none")
    }
  }

  func figures() throws -> [Any?] {
    try leaves.indices.map { index in
      let leaf = leaves[index]
      if leaf.operand == nil, leaf.figure == .count { return NSNumber(value: rowCount) }
      let values = values[index]
      if let function = leaf.figure.function { return AggregateRequest.figure(function, values).keyValueForm }
      switch leaf.figure {
      case .median: return values.isEmpty ? nil : try Statistics.median(values).keyValueForm
      case .mode: return Statistics.mode(values).first?.keyValueForm
      default: return values.isEmpty ? nil : Statistics.standardDeviation(values).keyValueForm
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
      guard abs(double) < 9.2e18 else { return number }  // NaN too
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
