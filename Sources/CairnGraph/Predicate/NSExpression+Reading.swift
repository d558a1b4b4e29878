// What an expression consists of. A question that its type has no answer to is a programmer error, as in Core
// Data, which raises an exception.

import CairnModel
public import Foundation

extension NSExpression {
  public var expressionType: ExpressionType {
    switch tree {
    case .constant, .object: .constantValue
    case .list: isConstantList ? .constantValue : .aggregate
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath, .keyPathOf: .keyPath
    case .function, .call, .element: .function
    case .setOperation(.union, _, _): .unionSet
    case .setOperation(.intersect, _, _): .intersectSet
    case .setOperation(.minus, _, _): .minusSet
    case .assignment: .variableAssignment
    case .subquery: .subquery
    case .anyKey: .anyKey
    case .opaque: .block
    case .conditional: .conditional
    case .fetch: .fetchRequest
    }
  }

  /// Numbers as NSNumber, lists as arrays, other values as Swift's own types.
  public var constantValue: Any? {
    switch tree {
    case .constant(let value): value.keyValueForm
    case .object(let constant): (constant.object as? any GivenConstant)?.given
    case .list(let elements): elements.map { NSExpression($0).constantValue ?? NSNull() }
    default: refuse("constant value")
    }
  }

  /// Dotted. Of `$x.age` it is `age`; the rest is the `operand`.
  public var keyPath: String {
    switch tree {
    case .keyPath(let names), .keyPathOf(_, let names): names.joined(separator: ".")
    default: refuse("key path")
    }
  }

  /// The name with colons; of a call its selector, of an element `objectFrom:withIndex:`.
  public var function: String {
    switch tree {
    case .function(let name, _): name
    case .call(_, let selector, _): selector
    case .element: "objectFrom:withIndex:"
    default: refuse("function")
    }
  }

  public var variable: String {
    switch tree {
    case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): name
    default: refuse("variable")
    }
  }

  /// The target of a call; what a key path starts from; what is assigned. A predefined function has no operand
  /// of its own, and gives its first argument.
  public var operand: NSExpression {
    switch tree {
    case .call(let target, _, _), .keyPathOf(let target, _), .assignment(_, let target),
      .element(let target, _):
      return NSExpression(target)
    case .keyPath: return NSExpression(.evaluatedObject)
    case .function(_, let arguments):
      return arguments.first.map { NSExpression($0) } ?? NSExpression(forConstantValue: nil)
    default: refuse("operand")
    }
  }

  public var arguments: [NSExpression]? {
    switch tree {
    case .function(_, let arguments), .call(_, _, let arguments), .opaque(_, let arguments):
      arguments.map { NSExpression($0) }
    case .element(let collection, let index): [NSExpression(collection), NSExpression.index(index)]
    default: refuse("arguments")
    }
  }

  private static func index(_ index: ExpressionTree.ElementIndex) -> NSExpression {
    switch index {
    case .at(let place): NSExpression(place)
    case .first: NSExpression(.constant("FIRST"))
    case .last: NSExpression(.constant("LAST"))
    case .size: NSExpression(.constant("SIZE"))
    }
  }

  /// The elements of an aggregate as expressions; the collection of a subquery.
  public var collection: Any {
    switch tree {
    case .list(let elements): elements.map { NSExpression($0) }
    case .subquery(let collection, _, _): NSExpression(collection)
    default: refuse("collection")
    }
  }

  public var predicate: NSPredicate {
    switch tree {
    case .subquery(_, _, let condition), .conditional(let condition, _, _): NSPredicate(condition)
    default: refuse("predicate")
    }
  }

  public var left: NSExpression {
    guard case .setOperation(_, let left, _) = tree else { refuse("left side") }
    return NSExpression(left)
  }

  public var right: NSExpression {
    guard case .setOperation(_, _, let right) = tree else { refuse("right side") }
    return NSExpression(right)
  }

  public var `true`: NSExpression {
    guard case .conditional(_, let then, _) = tree else { refuse("true expression") }
    return NSExpression(then)
  }

  public var `false`: NSExpression {
    guard case .conditional(_, _, let otherwise) = tree else { refuse("false expression") }
    return NSExpression(otherwise)
  }

  public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
    guard case .opaque(let block, _) = tree, let block = block.object as? ExpressionBlock else {
      refuse("block")
    }
    return block.body
  }

  private func refuse(_ part: String) -> Never {
    fatalError("\(tree.canonicalFormat) is an expression of type \(expressionType) and has no \(part)")
  }
}
