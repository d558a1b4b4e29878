// Relationships: properties that lead to other objects.

import Foundation

/// What happens to the destination when the source is deleted. Raw values are Core Data's.
public enum NSDeleteRule: UInt, Sendable {
  case noActionDeleteRule = 0
  case nullifyDeleteRule = 1
  case cascadeDeleteRule = 2
  case denyDeleteRule = 3
}

/// A property that leads to one object or to many of another entity.
///
/// Sendable: as `NSPropertyDescription`.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  /// Held by the model, not by the relationship. An entity that isn't in the model is exchanged for the model's
  /// entity of the same name when the model's entities are set.
  public final var destinationEntity: NSEntityDescription? {
    get { destinationLink.entity }
    set {
      requireMutable()
      destinationLink = EntityLink(newValue)
      destinationName = newValue?.name
    }
  }
  private final var destinationLink = EntityLink(nil)

  /// The relationship that leads back. Has to be set on both sides; without it nothing is maintained there.
  public final weak var inverseRelationship: NSRelationshipDescription? {
    willSet { requireMutable() }
    didSet { inverseName = inverseRelationship?.name }
  }

  public final var minCount = 0 { willSet { requireMutable() } }
  /// 1 makes the relationship to-one; 0 means without limit.
  public final var maxCount = 0 { willSet { requireMutable() } }
  public final var isOrdered = false { willSet { requireMutable() } }
  public final var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  /// The names of destination and inverse, for a relationship that was copied or read before the entity that it
  /// leads to was there. The references win where they are set.
  final var destinationName: String?
  final var inverseName: String?

  public required init() {}

  public final var isToMany: Bool { maxCount != 1 }

  /// The names as they are now.
  final var currentDestinationName: String? { destinationEntity?.name ?? destinationName }
  final var currentInverseName: String? { inverseRelationship?.name ?? inverseName }

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    guard let copy = copy as? NSRelationshipDescription else { return }
    copy.destinationEntity = destinationEntity
    copy.inverseRelationship = inverseRelationship
    copy.destinationName = currentDestinationName
    copy.inverseName = currentInverseName
    copy.minCount = minCount
    copy.maxCount = maxCount
    copy.isOrdered = isOrdered
    copy.deleteRule = deleteRule
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSRelationshipDescription, super.isDescribedLike(other) else { return false }
    return currentDestinationName == other.currentDestinationName
      && currentInverseName == other.currentInverseName
      && minCount == other.minCount && maxCount == other.maxCount && isOrdered == other.isOrdered
      && deleteRule == other.deleteRule
  }
}
