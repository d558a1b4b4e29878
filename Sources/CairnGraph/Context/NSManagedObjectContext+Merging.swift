// Bringing the saves of other contexts into this one.

import CairnModel
import Foundation

/// What a save has done, as it travels between contexts.
struct SavedIDs: Sendable {
  var inserted: [NSManagedObjectID] = []
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []

  init() {}

  /// From the userInfo of a notification, or a dictionary of IDs and URIs.
  init(_ userInfo: [AnyHashable: Any], _ coordinator: NSPersistentStoreCoordinator?) {
    func ids(_ keys: String...) -> [NSManagedObjectID] {
      keys.flatMap { SavedIDs.elements(userInfo[$0]) }.compactMap { element in
        switch element {
        case let object as NSManagedObject: object.objectID
        case let id as NSManagedObjectID: id
        case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
        default: nil
        }
      }
    }
    inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = ids(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
    deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }

  private static func elements(_ any: Any?) -> [Any] {
    switch any {
    case let set as Set<NSManagedObject>: Array(set)
    case let set as Set<NSManagedObjectID>: Array(set)
    case let list as [Any]: list
    case let set as NSSet: set.allObjects
    case let set as Set<AnyHashable>: set.map(\.base)
    default: []
    }
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  var userInfo: [AnyHashable: Any] {
    var result: [AnyHashable: Any] = [:]
    if !inserted.isEmpty { result[NSInsertedObjectIDsKey] = Set(sparse: inserted) }
    if !updated.isEmpty { result[NSUpdatedObjectIDsKey] = Set(sparse: updated) }
    if !deleted.isEmpty { result[NSDeletedObjectIDsKey] = Set(sparse: deleted) }
    return result
  }
}

extension NSManagedObjectContext {
  final func mergeSave(_ notification: Notification) {
    if let sender = notification.object as? NSManagedObjectContext, sender === self { return }
    merge(SavedIDs(notification.userInfo ?? [:], coordinator))
  }

  /// Brings changes that no context made into contexts, on their queues, and waits for each. Keys are
  /// `NSInsertedObjectsKey` and the like; values are collections of object IDs or of their URIs.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
    into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts {
      let ids = SavedIDs(changeNotificationData, context.coordinator)
      context.performAndWait { context.merge(ids) }
    }
  }

  final func merge(_ ids: SavedIDs) {
    processPendingChanges()
    for id in ids.inserted {
      guard !id.isTemporaryID, let scope = scope(origin: id.origin) else { continue }
      if let known = scope.knownObject(id.key, root: id.root) {
        noteForResults(known)
        if known.isFault { known.chunk = nil }
        event.appeared.append(known)
      } else {
        let table = scope.table(compiledEntity(id.entity).id)
        event.appeared.append(scope.register(FetchedRow(table: table, chunk: nil, row: 0, key: id.key)))
      }
    }
    noteForResults(changed: ids.updated)
    for object in known(ids.updated) where !object.flags.contains(.isDraft) {
      if object.isFault {
        noteForResults(object)
        object.chunk = nil
      } else {
        rebase(object)
        event.refreshed.append(object)
      }
    }
    for object in known(ids.deleted) where !object.flags.contains(.isDraft) { markGone(object) }
    processPendingChanges()
    if ids.isEmpty { return }
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: self, userInfo: ids.userInfo)
  }

  private final func known(_ ids: [NSManagedObjectID]) -> [NSManagedObject] {
    ids.compactMap { $0.isTemporaryID ? nil : scope(origin: $0.origin)?.knownObject($0.key, root: $0.root) }
  }
}

/// Where saves of others arrive for a context that merges them by itself. Ends with the context.
///
/// Used on the threads of those who save, so that it has what it needs of the context, its queue and its coordinator,
/// as constants, and only looks for the context itself on its queue: that is where contexts end.
///
/// Sendable: all of it is constant but the weak reference, which is written by the initialiser only.
final class SaveMailbox: @unchecked Sendable {
  private weak var context: NSManagedObjectContext?
  private let owner: ObjectIdentifier
  private let queue: ContextQueue
  private let coordinator: NSPersistentStoreCoordinator

  private struct WeakMailbox {
    weak var mailbox: SaveMailbox?
  }

  // No mailbox is released under the lock, since its end takes the lock.
  private static let open = Lock<[ObjectIdentifier: WeakMailbox]>([:])

  init(_ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator) {
    self.context = context
    self.coordinator = coordinator
    owner = ObjectIdentifier(context)
    queue = context.queue
    SaveMailbox.open.withLock { $0[ObjectIdentifier(self)] = WeakMailbox(mailbox: self) }
  }

  deinit { close() }

  /// Nothing arrives any more from now on, also while somebody else still holds the mailbox.
  func close() {
    SaveMailbox.open.withLock { $0[ObjectIdentifier(self)] = nil }
  }

  /// Has every other context over the same coordinator merge the save, on its own queue.
  static func deliver(_ ids: @autoclosure () -> SavedIDs, from context: NSManagedObjectContext) {
    let mailboxes = open.withLock { $0.values.compactMap(\.mailbox) }
    let readers = mailboxes.filter {
      $0.coordinator === context.coordinator && $0.owner != ObjectIdentifier(context)
    }
    if readers.isEmpty { return }
    let ids = ids()
    for reader in readers { reader.queue.async { reader.context?.merge(ids) } }
  }
}
