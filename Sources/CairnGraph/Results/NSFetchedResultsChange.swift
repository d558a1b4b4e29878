// The changes of one event to a controller's results: as the parts of this folder hand them on, and as values
// for readers on other threads.

import CairnModel
public import Foundation

/// Cairn's own: how one event has changed a controller's results, as `changeSequence()` tells it. Means the
/// same as the calls to a delegate.
public struct NSFetchedResultsChange: Sendable, Hashable {
  public struct Section: Sendable, Hashable {
    /// Of a deleted section the former index.
    public let index: Int
    public let name: String
  }

  public struct Object: Sendable, Hashable {
    public let type: NSFetchedResultsChangeType
    /// Temporary for an unsaved object.
    public let objectID: NSManagedObjectID
    /// Where the object was; nil for an insertion.
    public let indexPath: IndexPath?
    /// Where it is; nil for a deletion.
    public let newIndexPath: IndexPath?
  }

  public let deletedSections: [Section]
  public let insertedSections: [Section]
  /// Deletions, insertions, moves, updates.
  public let objects: [Object]
}

/// The same with the objects themselves.
struct ResultsReport {
  struct Change {
    let type: NSFetchedResultsChangeType
    let object: NSManagedObject
    var from: IndexPath?
    var to: IndexPath?
  }

  var sections = ResultsList.SectionChanges()
  /// Deletions by former place, insertions by new place, moves and updates by former place.
  var objects: [Change] = []

  var isEmpty: Bool { objects.isEmpty && sections.deleted.isEmpty && sections.inserted.isEmpty }

  mutating func sort() {
    func rank(_ change: Change) -> (Int, IndexPath) {
      switch change.type {
      case .delete: (0, change.from ?? [])
      case .insert: (1, change.to ?? [])
      case .move: (2, change.from ?? [])
      case .update: (3, change.from ?? [])
      }
    }
    objects.sort { rank($0) < rank($1) }
  }

  var value: NSFetchedResultsChange {
    NSFetchedResultsChange(
      deletedSections: sections.deleted.map { .init(index: $0.index, name: $0.section.name) },
      insertedSections: sections.inserted.map { .init(index: $0.index, name: $0.name) },
      objects: objects.map {
        .init(type: $0.type, objectID: $0.object.objectID, indexPath: $0.from, newIndexPath: $0.to)
      })
  }

  /// As edits of the one section's list of IDs.
  var difference: CollectionDifference<NSManagedObjectID> {
    var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
    for change in objects {
      let (from, to) = (change.from?[1], change.to?[1])
      let id = change.object.objectID
      if let from { changes.append(.remove(offset: from, element: id, associatedWith: to)) }
      if let to { changes.append(.insert(offset: to, element: id, associatedWith: from)) }
    }
    guard let difference = CollectionDifference(changes) else {
      fatalError("an event has told of two changes to one place of the results")  // each object has one place
    }
    return difference
  }
}
