// Indexes of an entity: which properties a store keeps in order, so that it needn't look at every row.

import Foundation

/// How an element of an index is kept. Raw values are Core Data's.
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

/// An index over one or more properties of an entity.
///
/// Sendable: as `NSPropertyDescription`.
public final class NSFetchIndexDescription: NSObject, @unchecked Sendable {
  private var isFrozen = false
  /// The entity whose `indexes` list this one.
  public internal(set) weak var entity: NSEntityDescription?

  public var name: String { willSet { requireMutable() } }
  public var elements: [NSFetchIndexElementDescription] {
    willSet { requireMutable() }
    didSet { claimElements() }
  }

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    claimElements()
  }

  private func claimElements() {
    for element in elements { element.indexDescription = self }
  }

  private func requireMutable() {
    if isFrozen { fatalError("Can't modify an immutable model.") }
  }

  func freeze() {
    isFrozen = true
    for element in elements { element.isFrozen = true }
  }
}

/// One property in an index.
///
/// Sendable: as `NSPropertyDescription`.
public final class NSFetchIndexElementDescription: NSObject, @unchecked Sendable {
  var isFrozen = false
  public internal(set) weak var indexDescription: NSFetchIndexDescription?

  public let property: NSPropertyDescription?
  public var collationType: NSFetchIndexElementType { willSet { requireMutable() } }
  public var isAscending = true { willSet { requireMutable() } }

  public var propertyName: String? { property?.name }

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
  }

  private func requireMutable() {
    if isFrozen { fatalError("Can't modify an immutable model.") }
  }
}
