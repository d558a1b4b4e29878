// The results of a fetch, in sections, kept up to date with a context. This is the class as programs see it:
// a typed face of a `ResultsCore`, which does the work and may have a second face for its delegate.

import CairnModel
public import Foundation

/// The objects that a fetch finds, grouped into sections, and followed as its context changes.
///
/// While there is a delegate or a reader of `changeSequence()`, each event of the context
/// (`processPendingChanges`, and so the end of each `perform`, a save, a merge and a refresh) changes the
/// results and is told. Otherwise the results stay as the last `performFetch()` has found them. Changes to
/// objects that the predicate, the order or the section key path only lead to don't count: set something of
/// the fetched object itself as well. A change costs what has changed, not what there is.
///
/// Confined to its context's queue. Set the delegate before `performFetch()`.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
  final let core: ResultsCore

  /// For the results of `fetchRequest`, which needs sort descriptors, the first of them for the same order as
  /// `sectionNameKeyPath` if there is one. Don't change the request later without `performFetch()`.
  ///
  /// - sectionNameKeyPath: a property of the fetched objects or a path over to-one relationships to one, also
  ///   transient or computed, in which case each object is asked for it. nil makes one section of all.
  /// - cacheName: names a file that keeps the sections between runs of the program.
  ///
  /// A request without sort descriptors is a programmer error.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    if fetchRequest.sortDescriptors?.isEmpty ?? true {
      fatalError(
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors")
    }
    core = ResultsCore(fetchRequest, context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name)
    super.init()
    core.titles = self
  }

  init(sharing core: ResultsCore) {
    self.core = core
    super.init()
  }

  // MARK: The fetch

  /// The request itself, no copy.
  public final var fetchRequest: NSFetchRequest<ResultType> {
    // ResultType is what the request was made for, or, for a delegate, the marker protocol over it: one
    // reference in either case, so the class is laid out the same.
    unsafeBitCast(core.request as AnyObject, to: NSFetchRequest<ResultType>.self)
  }

  public final var managedObjectContext: NSManagedObjectContext { core.context }
  public final var sectionNameKeyPath: String? { core.sectionNameKeyPath }
  public final var cacheName: String? { core.cacheName }

  /// Whom to tell of changes. Not retained. A delegate that has none of the methods that tell of changes is
  /// as good as none.
  public final var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { core.delegate }
    set { core.setDelegate(newValue) }
  }

  /// Runs the fetch anew and forgets the former results. Tells nobody, but for a snapshot to a delegate that
  /// takes snapshots.
  ///
  /// Throws 134060 with the key `reason` when an object has the section name of an earlier section than the
  /// one before it, and what `fetch` throws; the former results stay then.
  open func performFetch() throws { try core.performFetch() }

  // MARK: The results

  /// nil before `performFetch()`. Made when first asked for after a change: costs as many objects as there
  /// are.
  public final var fetchedObjects: [ResultType]? {
    core.list?.objects(as: ResultType.self)
  }

  /// nil before `performFetch()`. Without a section key path there is one section, which may be empty; with
  /// one, no section is.
  public final var sections: [any NSFetchedResultsSectionInfo]? { core.list?.infos }

  /// The object at [section, item]. A path that leads nowhere, and asking before `performFetch()`, are
  /// programmer errors.
  public final func object(at indexPath: IndexPath) -> ResultType {
    ResultsList.typed([core.object(at: indexPath)], as: ResultType.self)[0]
  }

  /// Where the object is; nil for one that isn't among the results. Costs next to nothing.
  public final func indexPath(forObject object: ResultType) -> IndexPath? {
    (object as AnyObject as? NSManagedObject).flatMap { core.list?.place(of: $0)?.indexPath }
  }

  /// Cairn's own: the changes to the results, one element for each event that has any. Ends when the sequence
  /// or the controller is given up. To be asked for on the context's queue; may be read anywhere.
  public final func changeSequence() -> AsyncStream<NSFetchedResultsChange> { core.changeSequence() }

  // MARK: Index titles

  /// The delegate's title, else the first letter of the name, capitalised; nil for an empty name. May be
  /// overridden.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    core.usualIndexTitle(ofSection: sectionName)
  }

  /// The sections' titles in order, without those that are equal to the one before.
  open var sectionIndexTitles: [String] { core.indexTitles().map(\.title) }

  /// The first section with the title that stands at `sectionIndex` of `sectionIndexTitles`. Another title
  /// than that one is a programmer error.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    core.section(forIndexTitle: title, at: sectionIndex)
  }

  /// Removes a file of sections, or all of them for nil. One that isn't there is none to worry about.
  public class func deleteCache(withName name: String?) { ResultsCache.delete(name) }

  // MARK: NSObject

  /// Whether the other is a controller of the same results: the same, or its face for the delegate.
  open override func isEqual(_ object: Any?) -> Bool { (object as? any ResultsFace)?.core === core }

  open override var hash: Int { ObjectIdentifier(core).hashValue }
}

@available(*, unavailable)
extension NSFetchedResultsController: Sendable {}

/// A controller of any result type.
protocol ResultsFace: AnyObject {
  var core: ResultsCore { get }
  func sectionIndexTitle(forSectionName sectionName: String) -> String?
}

extension NSFetchedResultsController: ResultsFace {}
