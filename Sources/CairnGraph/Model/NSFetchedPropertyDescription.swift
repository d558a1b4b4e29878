// Fetched properties: what a fetch finds, seen as a property of the object that asks.

import Foundation

/// A property whose value is the result of a fetch: a list, computed when first read and kept until the object is
/// refreshed or becomes a fault again.
///
/// In the request's predicate `$FETCH_SOURCE` is the object that is asked, and `$FETCHED_PROPERTY` this
/// description. It is never stored, and can't be used in predicates of fetch requests.
///
/// Sendable: as `NSPropertyDescription`.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  /// What is fetched. It must not be changed once the model is in use.
  public final var fetchRequest: NSFetchRequest<NSFetchRequestResult>? { willSet { requireMutable() } }

  public required init() {}

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    (copy as? NSFetchedPropertyDescription)?.fetchRequest =
      fetchRequest?.copy() as? NSFetchRequest<NSFetchRequestResult>
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSFetchedPropertyDescription, super.isDescribedLike(other) else {
      return false
    }
    guard let request = fetchRequest, let others = other.fetchRequest else {
      return fetchRequest == nil && other.fetchRequest == nil
    }
    return request.asksLike(others)
  }
}
