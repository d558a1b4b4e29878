// What a results controller tells, and whom. All methods of the delegate are optional: the default ones note
// that they were called, and that is how a controller knows which form of changes its delegate takes.

public import Foundation

/// One section of a controller's results.
public protocol NSFetchedResultsSectionInfo {
  /// The value of `sectionNameKeyPath` of its objects as text; empty for nil and without a key path.
  var name: String { get }
  /// The controller's `sectionIndexTitle(forSectionName:)`.
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  /// Made when first asked for after a change: costs as many objects as there are.
  var objects: [Any]? { get }
}

/// Who is told of changes to a controller's results, on the queue of its context.
///
/// A delegate is told in one form: by snapshots if it takes them, else by differences if it takes them and
/// the controller has no sections, else by the five methods from `controllerWillChangeContent` to
/// `controllerDidChangeContent`. `controller` is equal to the program's own one and gives the same objects;
/// it is identical with it only if that one is an `NSFetchedResultsController<NSFetchRequestResult>`.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  /// Called before the results change.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

  /// `indexPath` is where the object was before all of the changes, `newIndexPath` where it is after them. A
  /// move says that the object may have changed as well. Objects that only others have displaced aren't told
  /// of.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// A section was inserted, with its new index, or deleted, with its former one. Called before the objects'.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// Called when all of the changes were told.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)

  /// Sections by name and objects by ID, as they are now; updated ones are `reloadedItemIdentifiers`. Called
  /// after `performFetch()` too.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// What was removed and inserted; of a moved or updated object both, associated with each other.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// The title of a section in an index; the first letter of its name, capitalised, if this isn't
  /// implemented.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

/// The methods that a delegate doesn't have.
struct AbsentMethods: OptionSet {
  let rawValue: UInt8

  static let willChange = AbsentMethods(rawValue: 1)
  static let object = AbsentMethods(rawValue: 2)
  static let section = AbsentMethods(rawValue: 4)
  static let didChange = AbsentMethods(rawValue: 8)
  static let snapshot = AbsentMethods(rawValue: 16)
  static let difference = AbsentMethods(rawValue: 32)
  static let indexTitle = AbsentMethods(rawValue: 64)
}

extension NSFetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    controller.core.absent.insert(.willChange)
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    controller.core.absent.insert(.object)
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    controller.core.absent.insert(.section)
  }

  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    controller.core.absent.insert(.didChange)
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    controller.core.absent.insert(.snapshot)
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    controller.core.absent.insert(.difference)
  }

  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    controller.core.absent.insert(.indexTitle)
    return nil
  }
}
