// Attributes: properties that hold a value, and the two special kinds of them.

import CairnModel
import Foundation

/// A property that holds a value.
///
/// Sendable: as `NSPropertyDescription`.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  /// `integer32` unless set.
  public final var type = AttributeType.integer32 {
    willSet {
      requireMutable()
      if newValue == .composite, !(self is NSCompositeAttributeDescription) {
        fatalError("only an NSCompositeAttributeDescription is of the type composite: make \"\(name)\" one")
      }
      if newValue != .composite, self is NSCompositeAttributeDescription {
        fatalError("the type of the composite attribute \"\(name)\" can't be changed")
      }
    }
  }

  /// The value that a new object starts with. It has to fit the type: the model doesn't compile otherwise.
  public final var defaultValue: Any? { willSet { requireMutable() } }

  /// The name under which the `ValueTransformer` of a transformable attribute is registered, or the name of its
  /// class. nil for the one that keeps property lists and whatever can be archived securely.
  public final var valueTransformerName: String? { willSet { requireMutable() } }
  /// Kept for whoever reads the model, and part of the version hash: Cairn's stores keep all bytes themselves.
  public final var allowsExternalBinaryDataStorage = false { willSet { requireMutable() } }
  /// Whether history keeps the value of a deleted object. Part of the version hash.
  public final var preservesValueInHistoryOnDeletion = false { willSet { requireMutable() } }
  /// Kept for whoever reads the model; Cairn has no cloud.
  public final var allowsCloudEncryption = false { willSet { requireMutable() } }

  private final var givenClassName: String?

  public required init() {}

  /// `type` in its older spelling.
  public final var attributeType: NSAttributeType {
    get { NSAttributeType(rawValue: type.rawValue) ?? .undefinedAttributeType }
    set { type = AttributeType(rawValue: newValue.rawValue) }
  }

  /// The name of the class of the values: Foundation's for the type, unless one was set, as is usual for
  /// transformable attributes; nil where neither says.
  public final var attributeValueClassName: String? {
    get { givenClassName ?? type.valueClassName }
    set {
      requireMutable()
      givenClassName = newValue
    }
  }

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    guard let copy = copy as? NSAttributeDescription else { return }
    copy.type = type
    copy.defaultValue = defaultValue
    copy.valueTransformerName = valueTransformerName
    copy.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    copy.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    copy.allowsCloudEncryption = allowsCloudEncryption
    copy.givenClassName = givenClassName
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSAttributeDescription, super.isDescribedLike(other) else { return false }
    return type == other.type && areEqual(defaultValue, other.defaultValue)
      && valueTransformerName == other.valueTransformerName
      && allowsExternalBinaryDataStorage == other.allowsExternalBinaryDataStorage
      && preservesValueInHistoryOnDeletion == other.preservesValueInHistoryOnDeletion
      && allowsCloudEncryption == other.allowsCloudEncryption
      && attributeValueClassName == other.attributeValueClassName
  }
}

/// An attribute made of others: its value is a dictionary by their names. `location.latitude` is the path of an
/// element in predicates and sort keys.
///
/// Default values and validation stand with the elements, which may be composite themselves.
///
/// Sendable: as `NSPropertyDescription`.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  public final var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

  public required init() {
    super.init()
    type = .composite
  }

  /// What keeps the elements from being gone through, in words: they contain themselves, or are more or deeper than
  /// a model can have. nil if nothing does.
  final func nestingFault() -> String? {
    var budget = CompositeBudget()
    return nestingFault(owners: [], &budget)
  }

  private final func nestingFault(
    owners: [NSCompositeAttributeDescription], _ budget: inout CompositeBudget
  ) -> String? {
    if owners.contains(where: { $0 === self }) { return "the composite has itself among its elements" }
    if owners.count == CompositeBudget.depthLimit {
      return "composite attributes nest \(CompositeBudget.depthLimit) deep at most"
    }
    if !budget.take(elements.count) {
      return "a composite attribute has at most \(CompositeBudget.attributeLimit) elements"
    }
    for case let element as NSCompositeAttributeDescription in elements {
      if let fault = element.nestingFault(owners: owners + [self], &budget) { return fault }
    }
    return nil
  }

  override func freeze() {
    if isFrozen { return }
    super.freeze()
    for element in elements { element.freeze() }
  }

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    guard let copy = copy as? NSCompositeAttributeDescription else { return }
    // Of a faulty composite, which no model can use, the elements themselves.
    copy.elements =
      nestingFault() == nil ? elements.compactMap { $0.copy() as? NSAttributeDescription } : elements
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSCompositeAttributeDescription, super.isDescribedLike(other) else {
      return false
    }
    if nestingFault() != nil || other.nestingFault() != nil {
      return elements.elementsEqual(other.elements) { $0 === $1 }
    }
    return elements.count == other.elements.count
      && zip(elements, other.elements).allSatisfy { $0.isDescribedLike($1) }
  }
}
