// Attributes whose values follow from others.

import Foundation

/// An attribute that the store computes when an object is saved.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  public required init() {}
}
