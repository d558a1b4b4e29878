// The operators inside key paths: `kids.@sum.age`.

import CairnModel
import Foundation

extension KeyPathWalker {
  /// What an operator makes of a collection. Its own key path is taken off `rest`: all keys up to the next
  /// operator.
  func collect(_ operand: Operand, _ op: String, _ rest: inout ArraySlice<String>) throws -> Operand {
    if op == "@count" { return .value(.int(Int64(try count(operand)))) }
    let path = rest.prefix { !$0.hasPrefix("@") }
    rest = rest.dropFirst(path.count)
    guard let elements = operand.elements else {
      throw PredicateEvaluationError(.unsupportedTypes, "\(op) needs a collection, not \(operand.kind)")
    }
    // Each element's value, so that equal ones count as often as they are there.
    let values = try elements.map { try value(of: $0, at: path) }
    switch op {
    case "@sum": return .value(try Statistics.sum(numbers(values, op)))
    case "@avg": return .value(try Statistics.averageWithNilAsZero(numbers(values, op)))
    case "@min": return .value(try Statistics.extreme(numbersOrNil(values, op), .less))
    case "@max": return .value(try Statistics.extreme(numbersOrNil(values, op), .greater))
    case "@unionOfObjects": return .list(values.filter { !$0.isMissing })
    case "@distinctUnionOfObjects": return .list(Operand.distinctElements(values.filter { !$0.isMissing }))
    case "@unionOfArrays", "@unionOfSets": return .list(try flattened(values, op))
    case "@distinctUnionOfArrays": return .list(Operand.distinctElements(try flattened(values, op)))
    case "@distinctUnionOfSets": return .distinct(try flattened(values, op))
    default:
      throw PredicateEvaluationError(.unknownFunction, "there is no collection operator \(op)")
    }
  }

  private func count(_ operand: Operand) throws -> Int {
    switch operand {
    case .list(let elements), .set(let elements): return elements.count
    case .dictionary(let values): return values.count
    case .other(let request as any CountableRequest):
      guard let context else {
        throw PredicateEvaluationError(
          .fetchFailed, "there is no context to count a fetch request's objects in")
      }
      return try request.count(in: context)
    default:
      throw PredicateEvaluationError(.unsupportedTypes, "@count needs a collection, not \(operand.kind)")
    }
  }

  private func numbers(_ operands: [Operand], _ op: String) throws -> [Value] {
    try operands.map { operand in
      if operand.isMissing { return .null }
      guard case .value(let value) = operand, value.family == .number else {
        throw PredicateEvaluationError(.unsupportedTypes, "\(op) needs numbers, not \(operand.kind)")
      }
      return value
    }
  }

  private func numbersOrNil(_ operands: [Operand], _ op: String) throws -> [Value] {
    try operands.map { operand in
      if operand.isMissing { return .null }
      guard case .value(let value) = operand else {
        throw PredicateEvaluationError(
          .unsupportedTypes, "\(op) needs values with an order, not \(operand.kind)")
      }
      return value
    }
  }

  private func flattened(_ operands: [Operand], _ op: String) throws -> [Operand] {
    try operands.flatMap { operand -> [Operand] in
      if operand.isMissing { return [] }
      guard let elements = operand.elements else {
        throw PredicateEvaluationError(
          .unsupportedTypes, "\(op) needs collections of collections, not \(operand.kind)")
      }
      return elements.filter { !$0.isMissing }
    }
  }
}

/// A fetch request, whatever its result type.
protocol CountableRequest {
  func count(in context: NSManagedObjectContext) throws -> Int
  func results(in context: NSManagedObjectContext) throws -> [Any]
}
