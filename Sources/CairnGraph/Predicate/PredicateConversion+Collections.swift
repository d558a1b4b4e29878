// What the parts of typed predicates about collections, strings, casts and nested expressions become.

import CairnModel
import Foundation

extension PredicateExpressions.SequenceContains: ConvertibleExpression {
  /// A range of constants is asked by its ends.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let element = try conversion.expression(element)
    if let range = sequence as? any ConvertibleRange {
      return .predicate(try range.contains(element, &conversion))
    }
    return .predicate(.comparison(.init(element, .isIn, try conversion.expression(sequence))))
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let collection = try conversion.expression(sequence)
    let name = conversion.bindElement(variable.key)
    let found = ExpressionTree.subquery(collection, variable: name, try conversion.predicate(test))
    return .predicate(.comparison(.init(.keyPathOf(found, ["@count"]), .greater, .constant(0))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let collection = try conversion.expression(sequence)
    let name = conversion.bindElement(variable.key)
    let others = ExpressionTree.subquery(collection, variable: name, .not(try conversion.predicate(test)))
    return .predicate(.comparison(.init(.keyPathOf(others, ["@count"]), .equal, .constant(0))))
  }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(.function("min:", [try conversion.expression(elements)]))
  }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(.function("max:", [try conversion.expression(elements)]))
  }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.SequenceStartsWith", message: "only strings have a beginning")
    }
    return try conversion.comparison(base, .beginsWith, prefix)
  }
}

extension PredicateExpressions.CollectionContainsCollection: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.CollectionContainsCollection",
        message: "only strings contain one another")
    }
    return try conversion.comparison(base, .contains, other)
  }
}

extension PredicateExpressions.Filter: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let collection = try conversion.expression(sequence)
    let name = conversion.bindElement(variable.key)
    return .expression(.subquery(collection, variable: name, try conversion.predicate(filter)))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(.element(of: try conversion.expression(wrapped), .at(try conversion.expression(index))))
  }
}

extension PredicateExpressions.DictionaryKeySubscript: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    .expression(.element(of: try conversion.expression(wrapped), .at(try conversion.expression(key))))
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    let value = ExpressionTree.element(
      of: try conversion.expression(wrapped), .at(try conversion.expression(key)))
    return .expression(
      .conditional(
        .comparison(.init(value, .notEqual, .constant(.null))), value, try conversion.expression(`default`)))
  }
}

// MARK: Strings

extension PredicateExpressions.StringContainsRegex: ConvertibleExpression {
  /// By the text of the expression, which for ICU means nearly always the same.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard let value = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex> else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.StringContainsRegex",
        message: "only a regular expression that is a constant has a text")
    }
    var pattern = value.value.stringRepresentation
    if pattern.hasPrefix("/"), pattern.hasSuffix("/"), pattern.count >= 2 {
      pattern = String(pattern.dropFirst().dropLast())
    }
    return .predicate(
      .comparison(
        .init(
          try conversion.expression(subject), .matches, .constant(.string("(?s:.*)(?:\(pattern))(?s:.*)")))))
  }
}

// MARK: Types

extension PredicateExpressions.TypeCheck: ConvertibleExpression {
  /// Only what the types alone answer.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard Input.Output.self == Desired.self else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.TypeCheck",
        message: "a fetch is of one entity; set the request's entity instead")
    }
    return .predicate(.constant(true))
  }
}

extension PredicateExpressions.ConditionalCast: ConvertibleExpression {
  /// Between number types, which compare by value whatever their type, and from a class to one that inherits from
  /// it, whose keys are looked up by name.
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.cast(input, to: Desired.self, "PredicateExpressions.ConditionalCast")
  }
}

extension PredicateExpressions.ForceCast: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    try conversion.cast(input, to: Desired.self, "PredicateExpressions.ForceCast")
  }
}

extension PredicateConversion {
  fileprivate mutating func cast<E: PredicateExpression, Desired>(
    _ input: E, to type: Desired.Type, _ name: String
  ) throws -> ConvertedExpression {
    let isSame = E.Output.self == Desired.self
    let isNumber = Desired.self is any Numeric.Type && E.Output.self is any Numeric.Type
    guard isSame || isNumber else {
      throw PredicateConversionError(
        expression: name, message: "a \(E.Output.self) has no other form as a \(Desired.self)")
    }
    return try convert(input)
  }
}

// MARK: Nested expressions

extension PredicateExpressions.ExpressionEvaluate: ConvertibleExpression {
  func convert(_ conversion: inout PredicateConversion) throws -> ConvertedExpression {
    guard let nested = expression as? any ConvertiblePredicateValue else {
      throw PredicateConversionError(
        expression: "PredicateExpressions.ExpressionEvaluate",
        message: "only an expression that is a constant is known")
    }
    var inputs: [ExpressionTree] = []
    for input in repeat each input { inputs.append(try conversion.expression(input)) }
    return try nested.convert(inputs, &conversion)
  }
}

/// A constant that is an expression.
private protocol ConvertiblePredicateValue {
  func convert(
    _ inputs: [ExpressionTree], _ conversion: inout PredicateConversion
  ) throws -> ConvertedExpression
}

extension PredicateExpressions.Value: ConvertiblePredicateValue where Output: NestedCondition {
  fileprivate func convert(
    _ inputs: [ExpressionTree], _ conversion: inout PredicateConversion
  ) throws -> ConvertedExpression {
    try value.convert(inputs, &conversion)
  }
}

/// An expression, whatever its inputs.
protocol NestedCondition {
  func convert(
    _ inputs: [ExpressionTree], _ conversion: inout PredicateConversion
  ) throws -> ConvertedExpression
}

extension Expression: NestedCondition {
  func convert(
    _ inputs: [ExpressionTree], _ conversion: inout PredicateConversion
  ) throws -> ConvertedExpression {
    var index = 0
    for variable in repeat each variable {
      conversion.bind(variable.key, to: inputs[index])
      index += 1
    }
    return try conversion.convert(expression)
  }
}
