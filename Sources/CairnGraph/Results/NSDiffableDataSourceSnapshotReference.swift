// The untyped form of a snapshot, as delegates of results controllers get it.

import CairnModel
public import Foundation

#if !canImport(UIKit) && !canImport(AppKit)
  /// A snapshot whose identifiers may be of any hashable type. `NSDiffableDataSourceSnapshot(_:)` makes a
  /// typed one of it. Programmer errors as there; an identifier that isn't hashable is one too.
  open class NSDiffableDataSourceSnapshotReference: NSObject {
    typealias Contents = NSDiffableDataSourceSnapshot<AnyHashable, AnyHashable>

    private enum State {
      case made(Contents)
      /// Made when first asked for, for a delegate that may not look at it.
      case promised(() -> Contents)
    }

    // The controller settles a promise before its list changes, maybe while another thread reads it.
    private let lock = NSLock()
    private var state = State.made(Contents())

    public override init() {}

    init(_ list: ResultsList, _ updated: [NSManagedObject]) {
      state = .promised {
        var contents = Contents()
        contents.appendSections(list.sections.map(\.name))
        for section in list.sections {
          contents.appendItems(
            section.blocks.flatMap { $0.objects.map { AnyHashable($0.objectID) } }, toSection: section.name)
        }
        contents.reloadItems(updated.map(\.objectID))
        return contents
      }
    }

    /// Makes what was promised.
    func settle() { _ = contents }

    var contents: Contents {
      get {
        lock.withLock {
          switch state {
          case .made(let contents): return contents
          case .promised(let make):
            let contents = make()
            state = .made(contents)
            return contents
          }
        }
      }
      set { lock.withLock { state = .made(newValue) } }
    }

    private func hashable(_ identifier: Any) -> AnyHashable {
      guard let identifier = identifier as? AnyHashable else {
        fatalError(
          "an identifier has to be hashable: \(identifier) is a \(type(of: identifier)); pass an NSObject or a "
            + "Hashable value")
      }
      return identifier
    }

    private func hashable(_ identifiers: [Any]) -> [AnyHashable] { identifiers.map(hashable) }

    // MARK: Asking

    public var numberOfItems: Int { contents.numberOfItems }
    public var numberOfSections: Int { contents.numberOfSections }
    public var sectionIdentifiers: [Any] { contents.sectionIdentifiers.map(\.base) }
    public var itemIdentifiers: [Any] { contents.itemIdentifiers.map(\.base) }
    public var reloadedSectionIdentifiers: [Any] { contents.reloadedSectionIdentifiers.map(\.base) }
    public var reloadedItemIdentifiers: [Any] { contents.reloadedItemIdentifiers.map(\.base) }
    public var reconfiguredItemIdentifiers: [Any] { contents.reconfiguredItemIdentifiers.map(\.base) }

    public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
      contents.numberOfItems(inSection: hashable(sectionIdentifier))
    }

    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
      contents.itemIdentifiers(inSection: hashable(sectionIdentifier)).map(\.base)
    }

    public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
      contents.sectionIdentifier(containingItem: hashable(itemIdentifier))?.base
    }

    /// NSNotFound for one that isn't there.
    public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
      contents.indexOfItem(hashable(itemIdentifier)) ?? NSNotFound
    }

    /// NSNotFound for one that isn't there.
    public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
      contents.indexOfSection(hashable(sectionIdentifier)) ?? NSNotFound
    }

    // MARK: Items

    public func appendItems(withIdentifiers identifiers: [Any]) {
      contents.appendItems(hashable(identifiers))
    }

    public func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier section: Any) {
      contents.appendItems(hashable(identifiers), toSection: hashable(section))
    }

    public func insertItems(withIdentifiers identifiers: [Any], beforeItemWithIdentifier item: Any) {
      contents.insertItems(hashable(identifiers), beforeItem: hashable(item))
    }

    public func insertItems(withIdentifiers identifiers: [Any], afterItemWithIdentifier item: Any) {
      contents.insertItems(hashable(identifiers), afterItem: hashable(item))
    }

    public func deleteItems(withIdentifiers identifiers: [Any]) {
      contents.deleteItems(hashable(identifiers))
    }

    public func deleteAllItems() { contents.deleteAllItems() }

    public func moveItem(withIdentifier from: Any, beforeItemWithIdentifier to: Any) {
      contents.moveItem(hashable(from), beforeItem: hashable(to))
    }

    public func moveItem(withIdentifier from: Any, afterItemWithIdentifier to: Any) {
      contents.moveItem(hashable(from), afterItem: hashable(to))
    }

    public func reloadItems(withIdentifiers identifiers: [Any]) {
      contents.reloadItems(hashable(identifiers))
    }

    public func reconfigureItems(withIdentifiers identifiers: [Any]) {
      contents.reconfigureItems(hashable(identifiers))
    }

    // MARK: Sections

    public func appendSections(withIdentifiers identifiers: [Any]) {
      contents.appendSections(hashable(identifiers))
    }

    public func insertSections(withIdentifiers identifiers: [Any], beforeSectionWithIdentifier section: Any) {
      contents.insertSections(hashable(identifiers), beforeSection: hashable(section))
    }

    public func insertSections(withIdentifiers identifiers: [Any], afterSectionWithIdentifier section: Any) {
      contents.insertSections(hashable(identifiers), afterSection: hashable(section))
    }

    public func deleteSections(withIdentifiers identifiers: [Any]) {
      contents.deleteSections(hashable(identifiers))
    }

    public func moveSection(withIdentifier from: Any, beforeSectionWithIdentifier to: Any) {
      contents.moveSection(hashable(from), beforeSection: hashable(to))
    }

    public func moveSection(withIdentifier from: Any, afterSectionWithIdentifier to: Any) {
      contents.moveSection(hashable(from), afterSection: hashable(to))
    }

    public func reloadSections(withIdentifiers identifiers: [Any]) {
      contents.reloadSections(hashable(identifiers))
    }
  }

  extension NSDiffableDataSourceSnapshot {
    /// The typed form of a snapshot: of a results controller's, sections are `String` and items
    /// `NSManagedObjectID`. Identifiers of other types are a programmer error.
    public init(_ reference: NSDiffableDataSourceSnapshotReference) {
      func typed<T>(_ identifiers: [AnyHashable], as type: T.Type) -> [T] {
        identifiers.map { identifier in
          guard let typed = identifier.base as? T else {
            fatalError(
              "the snapshot's identifier \(identifier.base) is no \(T.self); read a results controller's as "
                + "NSDiffableDataSourceSnapshot<String, NSManagedObjectID>")
          }
          return typed
        }
      }
      let contents = reference.contents
      self.init()
      for section in contents.sectionIdentifiers {
        let identifier = typed([section], as: SectionIdentifierType.self)
        appendSections(identifier)
        appendItems(
          typed(contents.itemIdentifiers(inSection: section), as: ItemIdentifierType.self),
          toSection: identifier[0])
      }
      reloadSections(typed(contents.reloadedSectionIdentifiers, as: SectionIdentifierType.self))
      reloadItems(typed(contents.reloadedItemIdentifiers, as: ItemIdentifierType.self))
      reconfigureItems(typed(contents.reconfiguredItemIdentifiers, as: ItemIdentifierType.self))
    }
  }
#else
  #if canImport(UIKit)
    public import UIKit
  #else
    public import AppKit
  #endif

  extension NSDiffableDataSourceSnapshotReference {
    /// Made at once: UIKit's and AppKit's own class can't promise.
    convenience init(_ list: ResultsList, _ updated: [NSManagedObject]) {
      self.init()
      appendSections(withIdentifiers: list.sections.map(\.name))
      for section in list.sections {
        appendItems(
          withIdentifiers: section.blocks.flatMap { $0.objects.map(\.objectID) },
          intoSectionWithIdentifier: section.name)
      }
      reloadItems(withIdentifiers: updated.map(\.objectID))
    }

    func settle() {}
  }
#endif
