// Watching an object without key-value observing, which Linux doesn't have.

import CairnModel
import Foundation

/// What has happened to an object.
public struct NSManagedObjectChange: Sendable, Hashable {
  public enum Kind: Sendable, Hashable { case inserted, updated, refreshed, deleted }

  public let kind: Kind
  public let objectID: NSManagedObjectID
  /// The persistent properties that differ from what the observer was last told, as far as the context knows
  /// them; empty for a refresh, after which any may.
  public let keys: Set<String>
}

extension NSManagedObject {
  /// Cairn's own: the object's changes, one element for each time that its context tells of changes
  /// (`processPendingChanges`, and so the end of each `perform`, and a save). Ends when the object is deleted,
  /// its context is reset or ends, or the sequence is given up. To be asked for on the context's queue; may be
  /// read anywhere. An object without a context has no changes.
  public final func changeSequence() -> AsyncStream<NSManagedObjectChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: NSManagedObjectChange.self)
    guard let context = table.context else {
      continuation.finish()
      return stream
    }
    context.observers[ObjectIdentifier(self), default: []].append(ObjectObserver(self, continuation))
    return stream
  }
}

/// One reader of an object's changes. Confined to the context's queue; holds the object, so that the context
/// keeps it.
final class ObjectObserver {
  private let object: NSManagedObject
  private let continuation: AsyncStream<NSManagedObjectChange>.Continuation
  private var isOver = false

  init(_ object: NSManagedObject, _ continuation: AsyncStream<NSManagedObjectChange>.Continuation) {
    self.object = object
    self.continuation = continuation
  }

  /// Returns whether anybody still listens.
  func tell(_ kind: NSManagedObjectChange.Kind) -> Bool {
    let keys = kind == .refreshed || kind == .deleted ? [] : Set(object.changedValues().keys)
    let change = NSManagedObjectChange(kind: kind, objectID: object.objectID, keys: keys)
    if case .terminated = continuation.yield(change) { return false }
    if kind == .deleted { finish() }
    return kind != .deleted
  }

  func finish() { continuation.finish() }
}

extension NSManagedObjectContext {
  /// Tells the observers of objects that an event was about.
  final func tellObservers(_ userInfo: [AnyHashable: Any]) {
    if observers.isEmpty { return }
    let kinds: [(String, NSManagedObjectChange.Kind)] = [
      (NSInsertedObjectsKey, .inserted), (NSUpdatedObjectsKey, .updated), (NSRefreshedObjectsKey, .refreshed),
      (NSDeletedObjectsKey, .deleted),
    ]
    for (key, kind) in kinds {
      guard let objects = userInfo[key] as? Set<NSManagedObject> else { continue }
      for object in objects {
        guard let listening = observers[ObjectIdentifier(object)] else { continue }
        let rest = listening.filter { $0.tell(kind) }
        observers[ObjectIdentifier(object)] = rest.isEmpty ? nil : rest
      }
    }
  }
}
