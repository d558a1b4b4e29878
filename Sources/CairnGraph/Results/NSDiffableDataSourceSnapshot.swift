// The state of a diffable data source, where there is no UIKit or AppKit to have it: sections and items by
// their identifiers, with those apart that are to look different.

import CairnModel
import Foundation

#if !canImport(UIKit) && !canImport(AppKit)
  /// Sections, and the items of each, in order. All identifiers are different.
  ///
  /// Programmer errors: an identifier that is there already, and naming one that isn't.
  public struct NSDiffableDataSourceSnapshot<SectionIdentifierType: Hashable, ItemIdentifierType: Hashable> {
    private var sections: [Section] = []
    private var sectionsByItem: [ItemIdentifierType: SectionIdentifierType] = [:]
    private var indexes: [SectionIdentifierType: Int] = [:]

    fileprivate struct Section {
      let identifier: SectionIdentifierType
      var items: [ItemIdentifierType] = []
    }

    /// Sections whose items are all to be made anew.
    public private(set) var reloadedSectionIdentifiers: [SectionIdentifierType] = []
    /// Items to be made anew.
    public private(set) var reloadedItemIdentifiers: [ItemIdentifierType] = []
    /// Items to be filled anew.
    public private(set) var reconfiguredItemIdentifiers: [ItemIdentifierType] = []

    public init() {}

    // MARK: Asking

    public var numberOfItems: Int { sectionsByItem.count }
    public var numberOfSections: Int { sections.count }
    public var sectionIdentifiers: [SectionIdentifierType] { sections.map(\.identifier) }
    public var itemIdentifiers: [ItemIdentifierType] { sections.flatMap(\.items) }

    public func numberOfItems(inSection identifier: SectionIdentifierType) -> Int {
      sections[requireIndex(identifier)].items.count
    }

    public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
      sections[requireIndex(identifier)].items
    }

    public func sectionIdentifier(containingItem identifier: ItemIdentifierType) -> SectionIdentifierType? {
      sectionsByItem[identifier]
    }

    /// Its place among all items. Costs as many items as there are.
    public func indexOfItem(_ identifier: ItemIdentifierType) -> Int? {
      guard let section = sectionsByItem[identifier].flatMap({ indexes[$0] }),
        let index = sections[section].items.firstIndex(of: identifier)
      else { return nil }
      return sections[..<section].reduce(index) { $0 + $1.items.count }
    }

    public func indexOfSection(_ identifier: SectionIdentifierType) -> Int? { indexes[identifier] }

    // MARK: Items

    /// Adds items at the end of a section, the last one if none is named.
    public mutating func appendItems(
      _ identifiers: [ItemIdentifierType], toSection section: SectionIdentifierType? = nil
    ) {
      guard let last = section ?? sections.last?.identifier else {
        fatalError("There are currently no sections in the data source. Please add a section first.")
      }
      let index = requireIndex(last)
      insert(identifiers, in: index, at: sections[index].items.count)
    }

    public mutating func insertItems(
      _ identifiers: [ItemIdentifierType], beforeItem beforeIdentifier: ItemIdentifierType
    ) {
      let place = requirePlace(beforeIdentifier)
      insert(identifiers, in: place.section, at: place.item)
    }

    public mutating func insertItems(
      _ identifiers: [ItemIdentifierType], afterItem afterIdentifier: ItemIdentifierType
    ) {
      let place = requirePlace(afterIdentifier)
      insert(identifiers, in: place.section, at: place.item + 1)
    }

    /// Those that aren't there are passed over.
    public mutating func deleteItems(_ identifiers: [ItemIdentifierType]) {
      let gone = Set(identifiers)
      for section in Set(gone.compactMap({ sectionsByItem[$0] })) {
        sections[requireIndex(section)].items.removeAll(where: gone.contains)
      }
      for item in gone { sectionsByItem[item] = nil }
      reloadedItemIdentifiers.removeAll(where: gone.contains)
      reconfiguredItemIdentifiers.removeAll(where: gone.contains)
    }

    /// Sections go too.
    public mutating func deleteAllItems() { self = NSDiffableDataSourceSnapshot() }

    public mutating func moveItem(
      _ identifier: ItemIdentifierType, beforeItem toIdentifier: ItemIdentifierType
    ) {
      take(identifier)
      insertItems([identifier], beforeItem: toIdentifier)
    }

    public mutating func moveItem(
      _ identifier: ItemIdentifierType, afterItem toIdentifier: ItemIdentifierType
    ) {
      take(identifier)
      insertItems([identifier], afterItem: toIdentifier)
    }

    public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {
      for item in identifiers { _ = requireSection(of: item) }
      reloadedItemIdentifiers += identifiers
    }

    public mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) {
      for item in identifiers { _ = requireSection(of: item) }
      reconfiguredItemIdentifiers += identifiers
    }

    // MARK: Sections

    public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {
      insert(identifiers, at: sections.count)
    }

    public mutating func insertSections(
      _ identifiers: [SectionIdentifierType], beforeSection toIdentifier: SectionIdentifierType
    ) {
      insert(identifiers, at: requireIndex(toIdentifier))
    }

    public mutating func insertSections(
      _ identifiers: [SectionIdentifierType], afterSection toIdentifier: SectionIdentifierType
    ) {
      insert(identifiers, at: requireIndex(toIdentifier) + 1)
    }

    /// Their items go too; those that aren't there are passed over.
    public mutating func deleteSections(_ identifiers: [SectionIdentifierType]) {
      let gone = Set(identifiers)
      for section in sections where gone.contains(section.identifier) {
        for item in section.items { sectionsByItem[item] = nil }
      }
      sections.removeAll { gone.contains($0.identifier) }
      let present = sectionsByItem
      reloadedItemIdentifiers.removeAll { present[$0] == nil }
      reconfiguredItemIdentifiers.removeAll { present[$0] == nil }
      reloadedSectionIdentifiers.removeAll(where: gone.contains)
      renumber()
    }

    public mutating func moveSection(
      _ identifier: SectionIdentifierType, beforeSection toIdentifier: SectionIdentifierType
    ) {
      move(identifier, toIdentifier, 0)
    }

    public mutating func moveSection(
      _ identifier: SectionIdentifierType, afterSection toIdentifier: SectionIdentifierType
    ) {
      move(identifier, toIdentifier, 1)
    }

    public mutating func reloadSections(_ identifiers: [SectionIdentifierType]) {
      for section in identifiers { _ = requireIndex(section) }
      reloadedSectionIdentifiers += identifiers
    }

    // MARK: How

    private mutating func insert(_ identifiers: [ItemIdentifierType], in section: Int, at index: Int) {
      sectionsByItem.reserveCapacity(sectionsByItem.count + identifiers.count)
      for item in identifiers {
        guard sectionsByItem.updateValue(sections[section].identifier, forKey: item) == nil else {
          fatalError(
            "Fatal: supplied item identifiers are not unique: \(item); pass each once, and move or delete one that "
              + "is there already")
        }
      }
      sections[section].items.insert(contentsOf: identifiers, at: index)
    }

    /// Takes an item out, to be put in elsewhere at once.
    private mutating func take(_ identifier: ItemIdentifierType) {
      let place = requirePlace(identifier)
      sections[place.section].items.remove(at: place.item)
      sectionsByItem[identifier] = nil
    }

    private mutating func insert(_ identifiers: [SectionIdentifierType], at index: Int) {
      sections.insert(contentsOf: identifiers.map { Section(identifier: $0) }, at: index)
      renumber()
      guard indexes.count == sections.count else {
        fatalError(
          "Fatal: supplied section identifiers are not unique: \(identifiers); pass each once, and move or delete "
            + "one that is there already")
      }
    }

    private mutating func move(_ from: SectionIdentifierType, _ to: SectionIdentifierType, _ offset: Int) {
      let section = sections.remove(at: requireIndex(from))
      renumber()
      sections.insert(section, at: requireIndex(to) + offset)
      renumber()
    }

    private mutating func renumber() {
      indexes = Dictionary(sections.enumerated().map { ($1.identifier, $0) }, uniquingKeysWith: { a, _ in a })
    }

    private func requireIndex(_ identifier: SectionIdentifierType) -> Int {
      guard let index = indexes[identifier] else {
        fatalError(
          "Invalid section identifier for section specified by caller: \(identifier); append the section first, or "
            + "ask whether it is there with indexOfSection(_:)")
      }
      return index
    }

    private func requireSection(of identifier: ItemIdentifierType) -> Int {
      guard let section = sectionsByItem[identifier] else { noItem(identifier) }
      return requireIndex(section)
    }

    private func requirePlace(_ identifier: ItemIdentifierType) -> (section: Int, item: Int) {
      let section = requireSection(of: identifier)
      guard let item = sections[section].items.firstIndex(of: identifier) else { noItem(identifier) }
      return (section, item)
    }

    private func noItem(_ identifier: ItemIdentifierType) -> Never {
      fatalError(
        "Invalid item identifier specified by caller: \(identifier); append the item first, or ask whether it is "
          + "there with indexOfItem(_:); an item can't be moved next to itself")
    }
  }

  extension NSDiffableDataSourceSnapshot.Section: Sendable
  where SectionIdentifierType: Sendable, ItemIdentifierType: Sendable {}

  extension NSDiffableDataSourceSnapshot: Sendable
  where SectionIdentifierType: Sendable, ItemIdentifierType: Sendable {}
#endif
