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
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  /// Held by the model, not by the relationship.
  public final weak var destinationEntity: NSEntityDescription? { willSet { requireMutable() } }

  /// The relationship that leads back. Has to be set on both sides; without it nothing is maintained there.
  public final weak var inverseRelationship: NSRelationshipDescription? { willSet { requireMutable() } }

  public final var minCount = 0 { willSet { requireMutable() } }
  /// 1 makes the relationship to-one; 0 means without limit.
  public final var maxCount = 0 { willSet { requireMutable() } }
  public final var isOrdered = false { willSet { requireMutable() } }
  public final var deleteRule = NSDeleteRule.nullifyDeleteRule { willSet { requireMutable() } }

  public final var isToMany: Bool { maxCount != 1 }
}
