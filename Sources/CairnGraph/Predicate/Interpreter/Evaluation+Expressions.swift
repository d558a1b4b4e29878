// What each kind of expression gives.

import CairnModel
import Foundation

extension Evaluation {
  func value(_ expression: ExpressionTree) throws -> Operand {
    switch expression {
    case .constant(let value): return .value(value)
    case .object(let constant): return Evaluation.operand(constant)
    case .evaluatedObject: return object
    case .keyPath(let names): return try walk(object, names, expression)
    case .variable(let name): return try variable(name)
    default: return try nested { try compound(expression) }
    }
  }

  private func compound(_ expression: ExpressionTree) throws -> Operand {
    switch expression {
    case .list(let elements): return .list(try elements.map { try value($0).asElement })
    case .keyPathOf(let base, let names): return try walk(try value(base), names, expression)
    case .function(let name, let arguments):
      return try function(name, try arguments.map { try value($0) }, expression)
    case .call(let target, let selector, let arguments):
      return try call(try value(target), selector, try arguments.map { try value($0) }, expression)
    case .element(let collection, let index):
      return try about(expression) { try element(of: try value(collection), index) }
    case .conditional(let condition, let then, let otherwise):
      return try value(try holds(condition) ? then : otherwise)
    case .subquery(let collection, let variable, let condition):
      return try about(expression) { try subquery(try value(collection), variable, condition) }
    case .setOperation(let op, let left, let right):
      return try about(expression) { try combine(op, try value(left), try value(right)) }
    case .assignment(let name, let assigned):
      let result = try value(assigned)
      assign(name, result)
      return result
    case .fetch(let request, let context, let countOnly):
      return try about(expression) { try fetch(try value(request), try value(context), countOnly) }
    case .opaque(let block, let arguments): return try call(block, try arguments.map { try value($0) })
    case .anyKey:
      throw PredicateEvaluationError(
        .unsupportedTypes, "ANYKEY stands only on the left of an operator", in: "ANYKEY")
    case .constant, .object, .evaluatedObject, .keyPath, .variable: return try value(expression)
    }
  }

  private func about<T>(_ expression: ExpressionTree, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PredicateEvaluationError {
      throw error.about(expression.canonicalFormat)
    }
  }

  private func walk(_ start: Operand, _ names: [String], _ expression: ExpressionTree) throws -> Operand {
    try about(expression) { try walker.value(of: start, at: names) }
  }

  private static func operand(_ constant: ConstantObject) -> Operand {
    switch constant.object {
    case is NullConstant: .none
    case let given as any GivenConstant: Operand(given.given)
    default: constant.object.storeValue.map { .value($0) } ?? .other(constant.object)
    }
  }

  private func variable(_ name: String) throws -> Operand {
    guard let value = variables[name] else {
      throw PredicateEvaluationError(
        .unboundVariable,
        "the variable $\(name) has no value; those that have one are: "
          + "\(variables.keys.sorted().map { "$" + $0 }.joined(separator: ", "))", in: "$\(name)")
    }
    return value
  }

  // MARK: Functions

  private func function(_ name: String, _ arguments: [Operand], _ expression: ExpressionTree) throws
    -> Operand
  {
    try about(expression) { try FunctionTable.call(name, arguments) }
  }

  private func call(
    _ target: Operand, _ selector: String, _ arguments: [Operand], _ expression: ExpressionTree
  ) throws -> Operand {
    try about(expression) {
      if target.isNone { return .none }
      guard arguments.count == selector.count(where: { $0 == ":" }) else {
        throw PredicateEvaluationError(
          .unknownFunction, "\(selector) doesn't take \(arguments.count) arguments: it has a colon for each")
      }
      if let any = target.any, let function = KeyedMembers.of(any)?.function(selector) {
        return Operand(try function(any, arguments.map(\.any)))
      }
      if let body = PredicateSelectors.body(of: selector, for: target) { return try body(target, arguments) }
      if selector == "valueForKey:" || selector == "valueForKeyPath:",
        case .value(.string(let path)) = arguments[0],
        case .keyPath(let names) = ExpressionTree(keyPath: path)
      {
        return try walker.value(of: target, at: names)
      }
      if arguments.isEmpty { return try walker.step(target, selector) }
      throw PredicateEvaluationError(
        .unknownFunction,
        "FUNCTION knows no \(selector) of \(target.kind): a class declares what can be called in its keyedMembers"
      )
    }
  }

  private func call(_ block: ConstantObject, _ arguments: [Operand]) throws -> Operand {
    guard let block = block.object as? ExpressionBlock else {
      throw PredicateEvaluationError(.unsupportedTypes, "\(block.object.canonicalText) is no expression")
    }
    let context = NSMutableDictionary()
    for (name, value) in variables { context[name] = value.any ?? NSNull() }
    return Operand(block.body(object.any, arguments.map { $0.any ?? NSNull() }, context))
  }

  // MARK: Collections

  /// nil beyond the ends.
  private func element(of collection: Operand, _ index: ExpressionTree.ElementIndex) throws -> Operand {
    if collection.isNone { return .none }
    switch (collection, index) {
    case (.list(let elements), .first): return elements.first ?? .none
    case (.list(let elements), .last): return elements.last ?? .none
    case (.list(let elements), .size), (.set(let elements), .size): return .value(.int(Int64(elements.count)))
    case (.dictionary(let values), .size): return .value(.int(Int64(values.count)))
    case (.list(let elements), .at(let place)):
      let place = try value(place)
      guard case .value(let number) = place, case .integer(let i)? = Arithmetic.Number(number) else {
        throw PredicateEvaluationError(
          .unsupportedTypes, "the elements of a list have whole numbers, not \(place.kind)")
      }
      return elements.indices.contains(Int(i)) ? elements[Int(i)] : .none
    case (.dictionary(let values), .at(let key)):
      let key = try value(key)
      if case .value(.string(let name)) = key { return Operand(values[name]) }
      return Operand((key.any as? AnyHashable).flatMap { values[$0] })
    default:
      throw PredicateEvaluationError(
        .unsupportedTypes, "\(collection.kind) has no elements that are found by their place")
    }
  }

  private func subquery(
    _ collection: Operand, _ variable: String, _ condition: PredicateTree
  ) throws -> Operand {
    if collection.isNone { return .none }
    guard let elements = collection.elements else {
      throw PredicateEvaluationError(.unsupportedTypes, "SUBQUERY needs a collection, not \(collection.kind)")
    }
    let found = try elements.filter { element in
      try with(variable, element) { try holds(condition) }
    }
    if case .set = collection { return .set(found) }
    return .list(found)
  }

  private func combine(_ op: ExpressionTree.SetOperator, _ left: Operand, _ right: Operand) throws -> Operand
  {
    if left.isNone || right.isNone { return .none }
    guard let x = left.elements, let y = right.elements else {
      throw PredicateEvaluationError(
        .unsupportedTypes, "set operators need collections, not \(left.kind) and \(right.kind)")
    }
    switch op {
    case .union: return .distinct(x + y)
    case .intersect:
      let wanted = Set(y)
      return .distinct(x.filter { wanted.contains($0) })
    case .minus:
      let unwanted = Set(y)
      return .distinct(x.filter { !unwanted.contains($0) })
    }
  }

  // MARK: Fetching

  private func fetch(_ request: Operand, _ context: Operand, _ countOnly: Bool) throws -> Operand {
    guard case .other(let request as any CountableRequest) = request else {
      throw PredicateEvaluationError(.unsupportedTypes, "FETCH needs a fetch request, not \(request.kind)")
    }
    var found = walker.context
    if case .other(let given as NSManagedObjectContext) = context { found = given }
    guard let found else { throw PredicateEvaluationError(.fetchFailed, "FETCH has no context") }
    do {
      if countOnly { return .value(.int(Int64(try request.count(in: found)))) }
      return .list(try request.results(in: found).map { Operand($0) })
    } catch {
      throw PredicateEvaluationError(.fetchFailed, "\(error)")
    }
  }
}
