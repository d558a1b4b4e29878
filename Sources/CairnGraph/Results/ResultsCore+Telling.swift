// How a delegate is told, in the form that it takes, and what sections are called in an index.

import CairnModel
import Foundation

/// In which form a delegate takes changes.
enum DelegateForm {
  /// To be found out by the first change.
  case unknown
  case snapshot, difference, classic
  /// It has no method for changes.
  case none
}

extension ResultsCore {
  // MARK: Changes

  /// Tells a delegate of the five methods that changes are coming. Returns whether it was told.
  func tellWillChange() -> Bool {
    guard form == .classic, let delegate else { return false }
    if !absent.contains(.willChange) { delegate.controllerWillChangeContent(erased) }
    return true
  }

  /// Tells of changes that were made to `list`. `old` is the list before, given as long as the delegate's
  /// form is unknown.
  func tell(_ report: ResultsReport, old: ResultsList?, willWasTold: Bool) {
    if !report.isEmpty || willWasTold { tellDelegate(report, old, willWasTold: willWasTold) }
    if !report.isEmpty { tellReaders(report) }
  }

  private func tellDelegate(_ report: ResultsReport, _ old: ResultsList?, willWasTold: Bool) {
    guard let delegate else { return }
    let fetches = fetchCount
    if form == .unknown || form == .snapshot {
      tellSnapshot(report.updatedObjects, delegate)
      if form == .snapshot || fetches != fetchCount || delegate !== self.delegate { return }
    }
    if sectionNameKeyPath == nil, form == .difference || form == .unknown && !absent.contains(.difference) {
      delegate.controller(erased, didChangeContentWith: report.difference)
      if !absent.contains(.difference) { form = .difference }
      if form == .difference || fetches != fetchCount || delegate !== self.delegate { return }
    }
    if let old, !willWasTold {
      let new = list
      list = old
      delegate.controllerWillChangeContent(erased)
      if fetches != fetchCount { return }
      list = new
    }
    tellClassic(report, delegate)
    if form == .unknown, fetches == fetchCount, delegate === self.delegate { decide(old) }
  }

  private func tellClassic(_ report: ResultsReport, _ delegate: any NSFetchedResultsControllerDelegate) {
    let controller = erased
    let fetches = fetchCount
    func isOver(_ method: AbsentMethods) -> Bool {
      fetches != fetchCount || delegate !== self.delegate || absent.contains(method)
    }
    for (index, section) in report.sections.deleted where !isOver(.section) {
      delegate.controller(controller, didChange: section, atSectionIndex: index, for: .delete)
    }
    for section in report.sections.inserted where !isOver(.section) {
      delegate.controller(controller, didChange: section, atSectionIndex: section.index, for: .insert)
    }
    for change in report.objects where !isOver(.object) {
      delegate.controller(
        controller, didChange: change.object, at: change.from, for: change.type, newIndexPath: change.to)
    }
    if !isOver(.didChange) { delegate.controllerDidChangeContent(controller) }
  }

  /// The five methods were called for the first time. A delegate that has none of them follows nothing: the
  /// results stay as they were.
  private func decide(_ old: ResultsList?) {
    guard absent.isSuperset(of: [.willChange, .object, .didChange]) else {
      form = .classic
      return
    }
    form = .none
    if !hasReaders, let old { list = old }
  }

  // MARK: Snapshots

  /// After a fetch: also tells whether the delegate takes snapshots.
  func tellInitialSnapshot() {
    guard let delegate, form == .unknown || form == .snapshot else { return }
    tellSnapshot([], delegate)
  }

  private func tellSnapshot(
    _ updated: [NSManagedObject], _ delegate: any NSFetchedResultsControllerDelegate
  ) {
    guard let list, !absent.contains(.snapshot) else { return }
    let snapshot = NSDiffableDataSourceSnapshotReference(list, updated)
    if form == .snapshot { snapshot.settle() }
    delegate.controller(erased, didChangeContentWith: snapshot)
    if absent.contains(.snapshot) || delegate !== self.delegate { return }
    snapshot.settle()
    form = .snapshot
  }

  // MARK: Index titles

  /// The title that a section's info gives.
  func indexTitle(ofSection name: String) -> String? {
    titles.map { $0.sectionIndexTitle(forSectionName: name) } ?? usualIndexTitle(ofSection: name)
  }

  func usualIndexTitle(ofSection name: String) -> String? {
    if let delegate, !absent.contains(.indexTitle) {
      let title = delegate.controller(erased, sectionIndexTitleForSectionName: name)
      if !absent.contains(.indexTitle) { return title }
    }
    return name.first.map { String($0).uppercased() }
  }

  /// The titles of the sections, with the first section of each; equal ones side by side are one.
  func indexTitles() -> [(title: String, section: Int)] {
    var result: [(title: String, section: Int)] = []
    for section in list?.sections ?? [] {
      guard let title = indexTitle(ofSection: section.name), title != result.last?.title else { continue }
      result.append((title, section.index))
    }
    return result
  }

  func section(forIndexTitle title: String, at index: Int) -> Int {
    let titles = indexTitles()
    guard titles.indices.contains(index), titles[index].title == title else {
      fatalError(
        "Index title at \(index) is not equal to '\(title)': the index titles are "
          + titles.map(\.title).joined(separator: ", "))
    }
    return titles[index].section
  }
}

extension ResultsReport {
  /// Those of the results that look different now.
  var updatedObjects: [NSManagedObject] {
    objects.filter { $0.type == .update || $0.type == .move }.map(\.object)
  }
}
