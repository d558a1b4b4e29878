// CAST: a value as one of another type.

import CairnModel
import Foundation

enum Casting {
  /// Numbers and dates are each other's seconds since 2001; strings are what they spell. nil stays nil, and a
  /// string that spells none becomes nil. Throws for a type that isn't known, and a value that has no such form.
  static func cast(_ operand: Operand, to type: Operand) throws -> Operand {
    guard case .value(.string(let name)) = type else {
      throw PredicateEvaluationError(.unsupportedTypes, "CAST needs the name of a type, not \(type.kind)")
    }
    if operand.isMissing { return .none }
    guard case .value(let value) = operand else {
      if name == "NSString", let any = operand.any { return .value(.string(String(describing: any))) }
      throw refusal(operand, name)
    }
    switch name {
    case "NSNumber": return .value(try number(value, operand))
    case "NSDecimalNumber": return .value(try decimal(value, operand))
    case "NSString": return .value(.string(value.castText))
    case "NSDate": return .value(try date(value, operand))
    case "NSURL": return .value(try uri(value, operand))
    case "NSUUID": return .value(try uuid(value, operand))
    case "NSData": return .value(try data(value, operand))
    default:
      throw PredicateEvaluationError(
        .unsupportedTypes,
        "CAST knows no type \"\(name)\", but NSNumber, NSDecimalNumber, NSString, NSDate, NSURL, NSUUID and NSData"
      )
    }
  }

  private static func refusal(_ operand: Operand, _ type: String) -> PredicateEvaluationError {
    PredicateEvaluationError(.unsupportedTypes, "\(operand.kind) can't be cast to \(type)")
  }

  private static func number(_ value: Value, _ operand: Operand) throws -> Value {
    switch value {
    case .date(let x): return .double(x.timeIntervalSinceReferenceDate)
    case .string(let x): return Int64(x).map { .int($0) } ?? Double(x).map { .double($0) } ?? .null
    case _ where value.family == .number: return value
    default: throw refusal(operand, "NSNumber")
    }
  }

  private static func decimal(_ value: Value, _ operand: Operand) throws -> Value {
    if case .string(let x) = value { return Decimal(string: x).map { .decimal($0) } ?? .null }
    guard let number = Arithmetic.Number(try number(value, operand)) else { return .null }
    return .decimal(number.decimal)
  }

  private static func date(_ value: Value, _ operand: Operand) throws -> Value {
    if case .date = value { return value }
    guard let number = Arithmetic.Number(value) else { throw refusal(operand, "NSDate") }
    return .date(Date(timeIntervalSinceReferenceDate: number.double))
  }

  private static func uri(_ value: Value, _ operand: Operand) throws -> Value {
    switch value {
    case .uri: return value
    case .string(let x): return URL(string: x).map { .uri($0.absoluteString) } ?? .null
    default: throw refusal(operand, "NSURL")
    }
  }

  private static func uuid(_ value: Value, _ operand: Operand) throws -> Value {
    switch value {
    case .uuid: return value
    case .string(let x): return UUID(uuidString: x).map { .uuid($0) } ?? .null
    default: throw refusal(operand, "NSUUID")
    }
  }

  private static func data(_ value: Value, _ operand: Operand) throws -> Value {
    switch value {
    case .data: return value
    case .string(let x): return .data(Data(x.utf8))
    default: throw refusal(operand, "NSData")
    }
  }
}
