// Where a context and the results controllers that follow it meet.

import CairnModel
import Foundation

/// A controller as its context knows it.
struct WeakResults {
  weak var core: ResultsCore?
}

extension NSManagedObjectContext {
  final func register(_ core: ResultsCore) {
    results.removeAll { $0.core == nil }
    results.append(WeakResults(core: core))
  }

  private final var following: [ResultsCore] {
    results.compactMap { $0.core.flatMap { $0.isFollowed ? $0 : nil } }
  }

  /// To be called before an object loses its row or its changes without being set, whether the event tells of
  /// it or not, and for an object that a merge has made known.
  final func noteForResults(_ object: NSManagedObject) {
    if results.isEmpty { return }
    for core in following { core.note(object) }
  }

  /// Makes known what others have changed and this context has never seen, where results may want it.
  final func noteForResults(changed ids: [NSManagedObjectID]) {
    if results.isEmpty { return }
    let following = following
    if following.isEmpty { return }
    for id in ids where !id.isTemporaryID {
      guard let scope = scope(origin: id.origin), scope.knownObject(id.key, root: id.root) == nil else {
        continue
      }
      let entity = compiledEntity(id.entity).id
      for core in following where core.rules?.mayGain(entity) ?? false {
        core.note(scope.object(key: id.key, in: entity))
      }
    }
  }

  final var hasNewsForResults: Bool {
    !results.isEmpty && results.contains { $0.core?.hasNoted ?? false }
  }

  final func prepareResults() {
    for core in following { core.prepare(event) }
  }

  final func tellResults(_ userInfo: [AnyHashable: Any]) {
    if results.isEmpty { return }
    for core in following { core.take(userInfo) }
  }

  /// All objects are forgotten.
  final func invalidateResults() {
    for entry in results { entry.core?.invalidate() }
  }
}

extension ResultsRules {
  /// Whether objects of the entity that were no results may become some by what others have saved.
  func mayGain(_ entity: EntityID) -> Bool { !isWindow && includes(entity) }
}

/// The objects that an event was about.
struct ResultsBatch {
  /// Told by the context.
  private(set) var told: [NSManagedObject] = []
  /// Told as refreshed.
  private(set) var refreshed: [NSManagedObject] = []
  struct Note {
    let object: NSManagedObject
    /// The sort keys before; nil where they aren't known.
    let values: [Value]?
  }

  /// What was noted beforehand, of some that nobody is told of too.
  private(set) var before: [ObjectIdentifier: Note] = [:]

  mutating func note(_ object: NSManagedObject, _ values: () -> [Value]?) {
    let id = ObjectIdentifier(object)
    if before[id] == nil { before[id] = Note(object: object, values: values()) }
  }

  mutating func add(_ userInfo: [AnyHashable: Any]) {
    for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
      if let objects = userInfo[key] as? Set<NSManagedObject> { told += objects }
    }
    if let objects = userInfo[NSRefreshedObjectsKey] as? Set<NSManagedObject> { refreshed += objects }
  }
}
