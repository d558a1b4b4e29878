// What the validation predicates of attributes mean: the one place that tells bounds, lengths and patterns from other
// conditions, for model files, descriptions and the checks of a save.

/// One validation predicate, understood.
package enum ValidationRule: Hashable, Sendable {
  case minimum(Value)
  case maximum(Value)
  case minimumLength(Int)
  case maximumLength(Int)
  /// Matched by the whole string.
  case pattern(String, options: StringOptions = [])
  case other(PredicateTree)

  package init(_ tree: PredicateTree) {
    self = .other(tree)
    guard case .comparison(let comparison) = tree, comparison.modifier == .direct,
      case .constant(let constant) = comparison.right, !constant.isNull
    else { return }
    let isLength = [.keyPath(["length"]), .keyPathOf(.evaluatedObject, ["length"])].contains(comparison.left)
    switch (comparison.left, comparison.op, constant) {
    case (.evaluatedObject, .matches, .string(let text)): self = .pattern(text, options: comparison.options)
    case _ where comparison.options != []: break
    case (.evaluatedObject, .greaterOrEqual, _): self = .minimum(constant)
    case (.evaluatedObject, .lessOrEqual, _): self = .maximum(constant)
    case (_, .greaterOrEqual, .int(let length)) where isLength: self = .minimumLength(Int(length))
    case (_, .lessOrEqual, .int(let length)) where isLength: self = .maximumLength(Int(length))
    default: break
    }
  }

  package var tree: PredicateTree {
    switch self {
    case .minimum(let value): Self.compare(.evaluatedObject, .greaterOrEqual, value)
    case .maximum(let value): Self.compare(.evaluatedObject, .lessOrEqual, value)
    case .minimumLength(let length): Self.compare(.keyPath(["length"]), .greaterOrEqual, .int(Int64(length)))
    case .maximumLength(let length): Self.compare(.keyPath(["length"]), .lessOrEqual, .int(Int64(length)))
    case .pattern(let text, let options): Self.compare(.evaluatedObject, .matches, .string(text), options)
    case .other(let tree): tree
    }
  }

  private static func compare(
    _ left: ExpressionTree, _ op: ComparisonOperator, _ right: Value, _ options: StringOptions = []
  ) -> PredicateTree {
    .comparison(.init(left, op, .constant(right), options: options))
  }

  /// Core Data's number of the error that a failure is (3.10.3). A bound of a date has numbers of its own.
  package func errorCode(isDate: Bool) -> Int {
    switch self {
    case .minimum: isDate ? 1640 : 1620
    case .maximum: isDate ? 1630 : 1610
    case .minimumLength: 1670
    case .maximumLength: 1660
    case .pattern: 1680
    case .other: 1550
    }
  }
}

extension ModelDocument.Validation {
  /// Takes a rule into the field that says it. False where there is none for attributes of the kind, or it is taken:
  /// then the rule belongs to `others`.
  package mutating func take(_ rule: ValidationRule, of kind: ModelDocument.AttributeKind) -> Bool {
    switch rule {
    case .minimum(let value) where minimum.isNull:
      guard let bound = kind.bound(value) else { return false }
      minimum = bound
    case .maximum(let value) where maximum.isNull:
      guard let bound = kind.bound(value) else { return false }
      maximum = bound
    case .minimumLength(let length) where minimumLength == nil && kind == .string: minimumLength = length
    case .maximumLength(let length) where maximumLength == nil && kind == .string: maximumLength = length
    case .pattern(let text, options: []) where regularExpression == nil && !text.isEmpty:
      regularExpression = text
    default: return false
    }
    return true
  }

  /// What the fields say, in the order that Core Data checks it: a string's lengths, or the bounds of another type,
  /// then the pattern.
  package var rules: [ValidationRule] {
    var result: [ValidationRule] = []
    if !minimum.isNull { result.append(.minimum(minimum)) }
    if !maximum.isNull { result.append(.maximum(maximum)) }
    if let minimumLength { result.append(.minimumLength(minimumLength)) }
    if let maximumLength { result.append(.maximumLength(maximumLength)) }
    if let regularExpression { result.append(.pattern(regularExpression)) }
    return result
  }
}

extension ModelDocument.AttributeKind {
  /// The value as a bound of such an attribute; nil where it can't be one, as for every string.
  fileprivate func bound(_ value: Value) -> Value? {
    let typed = typed(value)
    guard self != .string, let type = valueType, !typed.isNull, typed.fits(type) else { return nil }
    return typed
  }

  /// What one slot holds for an attribute of the type; nil for undefined and object IDs, which can't be stored, and
  /// for composites, which take a slot an element.
  package var valueType: ValueType? {
    switch self {
    case .integer16: .int16
    case .integer32: .int32
    case .integer64: .int64
    case .decimal: .decimal
    case .double: .double
    case .float: .float
    case .string: .string
    case .boolean: .bool
    case .date: .date
    case .binaryData: .data
    case .uuid: .uuid
    case .uri: .uri
    case .transformable: .transformable
    case .undefined, .objectID, .composite: nil
    }
  }
}
