// Why a predicate couldn't be evaluated over an object.

import CairnModel
public import Foundation

/// A comparison, key or function that an object has no answer to: where Core Data raises an exception.
public struct PredicateEvaluationError: Error, Sendable, Hashable {
  public enum Reason: Sendable, Hashable {
    /// Values that can't be compared, or that an operator or function doesn't take.
    case unsupportedTypes
    /// An object without such a key.
    case unknownKey
    /// A variable without a value.
    case unboundVariable
    /// A function or selector that isn't known.
    case unknownFunction
    /// A pattern that is no regular expression, or that takes too long to match.
    case badPattern
    /// Expressions within expressions, deeper than can be followed.
    case tooDeep
    /// A `FETCH` that failed, or has no context.
    case fetchFailed
  }

  public let reason: Reason
  /// A sentence that says what is wrong.
  public let message: String
  /// The part of the predicate that it is about, as canonical text.
  public internal(set) var expression: String

  init(_ reason: Reason, _ message: String, in expression: String = "") {
    self.reason = reason
    self.message = message
    self.expression = expression
  }

  /// The same error, known to be about `expression` unless a smaller part was named before.
  func about(_ expression: @autoclosure () -> String) -> PredicateEvaluationError {
    if !self.expression.isEmpty { return self }
    var error = self
    error.expression = expression()
    return error
  }
}

extension PredicateEvaluationError: CustomStringConvertible, LocalizedError {
  public var description: String { expression.isEmpty ? message : "\(message), in: \(expression)" }
  public var errorDescription: String? { description }
}
