// The selectors that FUNCTION can call on values and collections, and the keys that key paths can read of them:
// a fixed table, since nothing can be called by its name here. A program's own classes add theirs by
// `keyedMembers`.

import CairnModel
import Foundation

enum PredicateSelectors {
  /// Called with as many arguments as the selector has colons.
  typealias Body = @Sendable (_ target: Operand, _ arguments: [Operand]) throws -> Operand

  /// nil where the target's type has no such selector.
  static func body(of selector: String, for target: Operand) -> Body? {
    switch target {
    case .value(.string): strings[selector] ?? any[selector]
    case .value(let value) where value.family == .number: numbers[selector] ?? any[selector]
    case .value(.date): dates[selector] ?? any[selector]
    case .value(.uri): urls[selector] ?? any[selector]
    case .value(.uuid): selector == "UUIDString" ? text : any[selector]
    case .value(.data): selector == "length" ? length : any[selector]
    case .list, .set: collections[selector] ?? any[selector]
    case .dictionary: dictionaries[selector] ?? any[selector]
    case .id: selector == "URIRepresentation" ? uri : any[selector]
    default: any[selector]
    }
  }

  private static let strings: [String: Body] = plainStrings.mapValues { body -> Body in
    { target, _ in try body(target) }
  }.merging(
    stringsWithArgument.mapValues { body -> Body in { target, arguments in try body(target, arguments[0]) } }
  ) { $1 }.merging(stringReplacements) { $1 }

  private static let plainStrings: [String: @Sendable (Operand) throws -> Operand] = [
    "uppercaseString": { .string(try text($0).uppercased()) },
    "lowercaseString": { .string(try text($0).lowercased()) },
    "capitalizedString": { .string(try text($0).capitalized) },
    "length": { .int(try text($0).utf16.count) },
    "stringByDeletingPathExtension": { .string(NSString(string: try text($0)).deletingPathExtension) },
    "stringByDeletingLastPathComponent": {
      .string(NSString(string: try text($0)).deletingLastPathComponent)
    },
    "lastPathComponent": { .string(NSString(string: try text($0)).lastPathComponent) },
    "pathExtension": { .string(NSString(string: try text($0)).pathExtension) },
    "decomposedStringWithCanonicalMapping": { .string(try text($0).decomposedStringWithCanonicalMapping) },
    "precomposedStringWithCanonicalMapping": { .string(try text($0).precomposedStringWithCanonicalMapping) },
    "intValue": { .int(Int(NSString(string: try text($0)).intValue)) },
    "integerValue": { .int(NSString(string: try text($0)).integerValue) },
    "longLongValue": { .int(Int(NSString(string: try text($0)).longLongValue)) },
    "doubleValue": { .value(.double(NSString(string: try text($0)).doubleValue)) },
    "floatValue": { .value(.float(NSString(string: try text($0)).floatValue)) },
    "boolValue": { .bool(NSString(string: try text($0)).boolValue) },
  ]

  private static let stringsWithArgument: [String: @Sendable (Operand, Operand) throws -> Operand] =
    [
      "stringByAppendingString:": { .string(try text($0) + text($1)) },
      "stringByAppendingPathComponent:": {
        .string(NSString(string: try text($0)).appendingPathComponent(try text($1)))
      },
      "stringByAppendingPathExtension:": {
        .optional(NSString(string: try text($0)).appendingPathExtension(try text($1)))
      },
      "hasPrefix:": { .bool(try OperandComparison(.beginsWith, []).holds($0, $1)) },
      "hasSuffix:": { .bool(try OperandComparison(.endsWith, []).holds($0, $1)) },
      "containsString:": { .bool(try OperandComparison(.contains, []).holds($0, $1)) },
      "isEqualToString:": { .bool($0 == $1) },
      "substringFromIndex:": { .string(try part(of: text($0), from: index($1), to: .max)) },
      "substringToIndex:": { .string(try part(of: text($0), from: 0, to: index($1))) },
      "componentsSeparatedByString:": { target, separator in
        .list(try text(target).components(separatedBy: text(separator)).map { .string($0) })
      },
      "compare:": { .int(try order($0, $1)) },
      "caseInsensitiveCompare:": {
        .int(SortCollation.caseInsensitive.compare(try text($0), try text($1)))
      },
    ]

  private static let stringReplacements: [String: Body] = [
    "stringByReplacingOccurrencesOfString:withString:": { target, arguments in
      .string(
        try text(target).replacingOccurrences(of: text(arguments[0]), with: text(arguments[1])))
    }
  ]

  private static let numbers: [String: Body] = [
    "intValue": { target, _ in .value(try whole(target)) },
    "integerValue": { target, _ in .value(try whole(target)) },
    "longLongValue": { target, _ in .value(try whole(target)) },
    "doubleValue": { target, _ in .value(.double(try number(target).double)) },
    "floatValue": { target, _ in .value(.float(Float(try number(target).double))) },
    "boolValue": { target, _ in .bool(try number(target).double != 0) },
    "decimalValue": { target, _ in .value(.decimal(try number(target).decimal)) },
    "stringValue": { target, _ in .string(try value(target).castText) },
    "compare:": { .int(try order($0, $1[0])) },
    "isEqualToNumber:": { .bool($0 == $1[0]) },
    "decimalNumberByAdding:": { try decimal(.add, $0, $1[0]) },
    "decimalNumberBySubtracting:": { try decimal(.subtract, $0, $1[0]) },
    "decimalNumberByMultiplyingBy:": { try decimal(.multiply, $0, $1[0]) },
    "decimalNumberByDividingBy:": { try decimal(.divide, $0, $1[0]) },
  ]

  private static let dates: [String: Body] = [
    "timeIntervalSinceReferenceDate": { target, _ in
      .value(.double(try date(target).timeIntervalSinceReferenceDate))
    },
    "timeIntervalSince1970": { target, _ in .value(.double(try date(target).timeIntervalSince1970)) },
    "timeIntervalSinceNow": { target, _ in .value(.double(try date(target).timeIntervalSinceNow)) },
    "timeIntervalSinceDate:": { target, arguments in
      .value(.double(try date(target).timeIntervalSince(try date(arguments[0]))))
    },
    "dateByAddingTimeInterval:": { target, arguments in
      .value(.date(try date(target).addingTimeInterval(try number(arguments[0]).double)))
    },
    "earlierDate:": { .value(.date(min(try date($0), try date($1[0])))) },
    "laterDate:": { .value(.date(max(try date($0), try date($1[0])))) },
    "isEqualToDate:": { .bool($0 == $1[0]) },
    "compare:": { .int(try order($0, $1[0])) },
  ]

  private static let urls: [String: Body] = [
    "absoluteString": { target, _ in .string(try url(target).absoluteString) },
    "host": { target, _ in .optional(try url(target).host) },
    "scheme": { target, _ in .optional(try url(target).scheme) },
    "path": { target, _ in .string(try url(target).path) },
    "query": { target, _ in .optional(try url(target).query) },
    "fragment": { target, _ in .optional(try url(target).fragment) },
    "port": { target, _ in try url(target).port.map { .int($0) } ?? .none },
    "lastPathComponent": { target, _ in .string(try url(target).lastPathComponent) },
    "pathExtension": { target, _ in .string(try url(target).pathExtension) },
  ]

  private static let collections: [String: Body] = [
    "count": { target, _ in .int(target.elements?.count ?? 0) },
    "firstObject": { target, _ in target.elements?.first ?? .none },
    "lastObject": { target, _ in target.elements?.last ?? .none },
    "anyObject": { target, _ in target.elements?.first ?? .none },
    "allObjects": { target, _ in .list(target.elements ?? []) },
    "objectAtIndex:": { target, arguments in
      let (elements, place) = (target.elements ?? [], try index(arguments[0]))
      return elements.indices.contains(place) ? elements[place] : .none
    },
    "indexOfObject:": { target, arguments in
      .int(target.elements?.firstIndex(of: arguments[0]) ?? NSNotFound)
    },
    "containsObject:": { .bool(try OperandComparison(.contains, []).holds($0, $1[0])) },
    "componentsJoinedByString:": { target, arguments in
      let texts = (target.elements ?? []).map { element -> String in
        if case .value(let value) = element { return value.castText }
        return element.any.map { String(describing: $0) } ?? ""
      }
      return .string(texts.joined(separator: try text(arguments[0])))
    },
    "reversedArray": { target, _ in .list((target.elements ?? []).reversed()) },
  ]

  private static let dictionaries: [String: Body] = [
    "count": { target, _ in .int(target.elements?.count ?? 0) },
    "allValues": { target, _ in .list(target.elements ?? []) },
    "objectForKey:": { try FunctionTable.call("objectFrom:withIndex:", [$0, $1[0]]) },
  ]

  private static let any: [String: Body] = [
    "self": { target, _ in target },
    "description": text,
    "isEqual:": { .bool($0 == $1[0]) },
  ]

  // MARK: Parts

  private static let text: @Sendable (Operand, [Operand]) throws -> Operand = { target, _ in
    if case .value(let value) = target { return .string(value.castText) }
    return .string(target.any.map { String(describing: $0) } ?? "")
  }

  private static let length: @Sendable (Operand, [Operand]) throws -> Operand = { target, _ in
    guard case .value(.data(let data)) = target else { return .none }
    return .int(data.count)
  }

  private static let uri: @Sendable (Operand, [Operand]) throws -> Operand = { target, _ in
    guard case .id(let id) = target else { return .none }
    return .value(.uri(id.uriRepresentation().absoluteString))
  }

  private static func unfit(_ wanted: String, _ operand: Operand) -> PredicateEvaluationError {
    PredicateEvaluationError(.unsupportedTypes, "\(wanted) is needed, not \(operand.kind)")
  }

  private static func value(_ operand: Operand) throws -> Value {
    guard case .value(let value) = operand else { throw unfit("a value", operand) }
    return value
  }

  private static func text(_ operand: Operand) throws -> String {
    guard case .value(.string(let text)) = operand else { throw unfit("a string", operand) }
    return text
  }

  private static func date(_ operand: Operand) throws -> Date {
    guard case .value(.date(let date)) = operand else { throw unfit("a date", operand) }
    return date
  }

  private static func url(_ operand: Operand) throws -> URL {
    guard case .value(.uri(let text)) = operand, let url = URL(string: text) else {
      throw unfit("a URL", operand)
    }
    return url
  }

  private static func number(_ operand: Operand) throws -> Arithmetic.Number {
    guard case .value(let value) = operand, let number = Arithmetic.Number(value) else {
      throw unfit("a number", operand)
    }
    return number
  }

  private static func whole(_ operand: Operand) throws -> Value {
    switch try number(operand) {
    case .integer(let x): return .int(x)
    case .double(let x):
      let whole = x.rounded(.towardZero)
      return Int64(exactly: whole).map { .int($0) } ?? .double(whole)
    case .decimal(let x): return .int(NSDecimalNumber(decimal: x).int64Value)
    }
  }

  private static func index(_ operand: Operand) throws -> Int {
    guard case .integer(let x) = try number(operand) else { throw unfit("a whole number", operand) }
    return Int(x)
  }

  /// By UTF-16, as NSString counts; cut where the string ends.
  private static func part(of text: String, from: Int, to: Int) -> String {
    let units = Array(text.utf16)
    let start = min(max(from, 0), units.count)
    let end = min(max(to, start), units.count)
    return String(decoding: units[start..<end], as: UTF16.self)
  }

  private static func order(_ a: Operand, _ b: Operand) throws -> Int {
    guard case .value(let x) = a, case .value(let y) = b, x.family == y.family else {
      throw PredicateEvaluationError(.unsupportedTypes, "\(a.kind) and \(b.kind) have no order")
    }
    return Value.compare(x, y)
  }

  private static func decimal(_ op: Arithmetic.Operator, _ a: Operand, _ b: Operand) throws -> Operand {
    .value(
      try Arithmetic.apply(op, .decimal(number(a).decimal), .decimal(number(b).decimal)))
  }
}

extension Operand {
  fileprivate static func string(_ text: String) -> Operand { .value(.string(text)) }
  fileprivate static func int(_ number: Int) -> Operand { .value(.int(Int64(number))) }
  fileprivate static func bool(_ truth: Bool) -> Operand { .value(.bool(truth)) }
  fileprivate static func optional(_ text: String?) -> Operand { text.map { .string($0) } ?? .none }
}
