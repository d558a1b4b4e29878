// What a dictionary fetch is to give: its columns, and the figures over rows that stand in their expressions.

import CairnModel
import Foundation

/// One column of a dictionary fetch.
struct FetchedColumn {
  let name: String
  let expression: ExpressionTree
  /// nil leaves values as they are.
  let resultType: NSAttributeType?

  /// Throws `unsupportedRequest` for anything that is no property and no name.
  init(_ any: Any, _ entity: CompiledEntity) throws {
    switch any {
    case let computed as NSExpressionDescription:
      guard let expression = computed.expression else {
        throw StoreError(
          .unsupportedRequest, "the expression description \"\(computed.name)\" has no expression",
          entity: entity.name)
      }
      name = computed.name
      self.expression = expression.tree
      resultType =
        computed.expressionResultType == .undefinedAttributeType ? nil : computed.expressionResultType
    case let property as NSPropertyDescription:
      name = property.name
      expression = .path(property.name)
      resultType = nil
    case let path as String:
      name = path
      expression = .path(path)
      resultType = nil
    default:
      throw StoreError(
        .unsupportedRequest, "Invalid keypath \(any) passed to setPropertiesToFetch:", entity: entity.name,
        remedy: "give names, property descriptions or expression descriptions")
    }
  }
}

/// A figure over the rows of a group.
struct Leaf: Hashable {
  enum Figure: String {
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case stddev = "stddev:"

    init?(operator name: String) {
      switch name {
      case "@sum": self = .sum
      case "@count": self = .count
      case "@min": self = .min
      case "@max": self = .max
      case "@avg": self = .average
      default: return nil
      }
    }

    /// The engine's name for it, where it has one.
    var function: AggregateRequest.Function? {
      switch self {
      case .sum: .sum
      case .count: .count
      case .min: .min
      case .max: .max
      case .average: .average
      case .median, .mode, .stddev: nil
      }
    }
  }

  let figure: Figure
  /// nil counts rows.
  let operand: ExpressionTree?
  let isDistinct: Bool

  /// nil for an expression that is no figure over rows.
  init?(_ expression: ExpressionTree) {
    switch expression {
    case .function(let name, let arguments):
      guard let figure = Figure(rawValue: name), arguments.count == 1 else { return nil }
      self.figure = figure
      switch arguments[0] {
      case .evaluatedObject: (operand, isDistinct) = (nil, false)
      case .function("distinct:", let inner) where inner.count == 1: (operand, isDistinct) = (inner[0], true)
      case .keyPath(let names):
        // `count:(rel.@distinctUnionOfObjects.x)` is the way to say distinct with Core Data's own words.
        if names.first == "@distinctUnionOfObjects" {
          (operand, isDistinct) = (.keyPath(Array(names.dropFirst())), true)
        } else {
          (operand, isDistinct) = (.keyPath(names), false)
        }
      default: (operand, isDistinct) = (arguments[0], false)
      }
    case .keyPath(let names):
      // `@sum.price`: over all rows, as in `price` of each.
      guard let figure = names.first.flatMap(Figure.init(operator:)) else { return nil }
      self.figure = figure
      isDistinct = false
      operand = names.count == 1 ? nil : .keyPath(Array(names.dropFirst()))
    default: return nil
    }
  }

  /// The path of an operand that is one, which the engine can work with.
  var path: [String]? {
    if case .keyPath(let names)? = operand { names } else { nil }
  }
}
