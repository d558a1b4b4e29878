// Columns that a fetch computes.

import Foundation

/// Something to compute in a fetch, as one of its `propertiesToFetch`, or to keep in an index. Never a property of
/// an entity.
///
/// Sendable: as `NSPropertyDescription`.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// What is computed. It has to be set before the description is used.
  public final var expression: NSExpression? { willSet { requireMutable() } }

  /// The type of the results.
  public final var resultType = NSAttributeDescription.AttributeType.undefined {
    willSet { requireMutable() }
  }

  public required init() {}

  /// `resultType` in its older spelling.
  public final var expressionResultType: NSAttributeType {
    get { NSAttributeType(rawValue: resultType.rawValue) ?? .undefinedAttributeType }
    set { resultType = NSAttributeDescription.AttributeType(rawValue: newValue.rawValue) }
  }

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    guard let copy = copy as? NSExpressionDescription else { return }
    copy.expression = expression
    copy.resultType = resultType
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSExpressionDescription, super.isDescribedLike(other) else { return false }
    return resultType == other.resultType && expression == other.expression
  }
}
