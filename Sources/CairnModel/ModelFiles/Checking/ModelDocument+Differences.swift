// What differs between two documents, thing by thing.

import Foundation

/// One difference between two models.
public struct ModelDifference: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case added, removed, renamed, changed
  }

  public var kind: Kind
  /// The entity by its new name, where it has one; nil for what isn't about an entity.
  public var entity: String?
  public var property: String?
  /// What it was, where it was renamed or changed, and what it is.
  public var message: String
}

extension ModelDocument {
  /// What is different here from `old`, in the order of this document's entities, then what is gone.
  ///
  /// An entity or property of another name is the old one if its renaming identifier says so.
  public func differences(from old: ModelDocument) -> [ModelDifference] {
    var finder = DifferenceFinder(old: old, new: self)
    finder.compare()
    return finder.differences
  }

  /// The names of entities here whose version hash differs from that in `old`, or that aren't there: those for
  /// which a store needs a migration.
  public func entitiesWithOtherHashes(than old: ModelDocument) -> [String] {
    let (before, after) = (old.versionHashes, versionHashes)
    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
  }
}

struct DifferenceFinder {
  let old: ModelDocument
  let new: ModelDocument
  private(set) var differences: [ModelDifference] = []

  init(old: ModelDocument, new: ModelDocument) {
    self.old = old
    self.new = new
  }

  /// A label with the text of each side; nil is "none".
  typealias Facts = [(label: String, text: String?)]

  mutating func compare() {
    compare(facts(old), facts(new), nil, nil)
    let pairs = match(
      old.entities.map { ($0.name, $0.renamingIdentifier ?? $0.name) },
      new.entities.map { ($0.name, $0.renamingIdentifier ?? $0.name) })
    for (i, entity) in new.entities.enumerated() {
      guard let o = pairs[i] else {
        differences.append(.init(kind: .added, entity: entity.name, message: "entity"))
        continue
      }
      compare(old.entities[o], entity)
    }
    let kept = Set(pairs.values)
    for (o, entity) in old.entities.enumerated() where !kept.contains(o) {
      differences.append(.init(kind: .removed, entity: entity.name, message: "entity"))
    }
    compareNamed(old.fetchRequests, new.fetchRequests, "fetch request", \.name) { $0.facts($1) }
    compareNamed(old.configurations, new.configurations, "configuration", \.name) { $0.facts($1) }
    compareNamed(old.composites, new.composites, "composite", \.name) { $0.facts($1) }
    // What differs in nothing else: the order of things, or two of one name.
    if differences.isEmpty, plain(old) != plain(new) {
      differences.append(.init(kind: .changed, message: DifferenceFinder.unnamed))
    }
  }

  /// What is said of two things that differ in nothing that has words here.
  private static let unnamed = "something else changed"

  private func plain(_ document: ModelDocument) -> ModelDocument {
    var result = document
    result.notes = []
    return result
  }

  /// For each new one the old one that it was, by name first, then by renaming identifier.
  private func match(_ old: [(name: String, id: String)], _ new: [(name: String, id: String)]) -> [Int: Int] {
    let byName = Dictionary(old.enumerated().map { ($1.name, $0) }) { first, _ in first }
    let byID = Dictionary(old.enumerated().map { ($1.id, $0) }) { first, _ in first }
    var result: [Int: Int] = [:]
    var taken: Set<Int> = []
    for (i, item) in new.enumerated() {
      if let o = byName[item.name], taken.insert(o).inserted { result[i] = o }
    }
    for (i, item) in new.enumerated() where result[i] == nil {
      if let o = byID[item.id], taken.insert(o).inserted { result[i] = o }
    }
    return result
  }

  private mutating func compare(_ old: ModelDocument.Entity, _ new: ModelDocument.Entity) {
    if old.name != new.name {
      differences.append(.init(kind: .renamed, entity: new.name, message: "was \(old.name)"))
    }
    var (before, after) = (old, new)
    (before.name, before.properties, after.properties) = (new.name, [], [])
    compare(facts(old), facts(new), new.name, nil, isSame: before == after)
    let pairs = match(
      old.properties.map { ($0.name, $0.renamingName) }, new.properties.map { ($0.name, $0.renamingName) })
    for (i, property) in new.properties.enumerated() {
      guard let o = pairs[i] else {
        differences.append(
          .init(kind: .added, entity: new.name, property: property.name, message: property.what))
        continue
      }
      let was = old.properties[o]
      if was.name != property.name {
        differences.append(
          .init(kind: .renamed, entity: new.name, property: property.name, message: "was \(was.name)"))
      }
      compare(
        facts(was), facts(property), new.name, property.name,
        isSame: was == property || was.name != property.name)
    }
    let kept = Set(pairs.values)
    for (o, property) in old.properties.enumerated() where !kept.contains(o) {
      differences.append(
        .init(kind: .removed, entity: new.name, property: property.name, message: property.what))
    }
  }

  private mutating func compareNamed<T: Equatable>(
    _ old: [T], _ new: [T], _ what: String, _ name: KeyPath<T, String>,
    facts: (DifferenceFinder, T) -> Facts
  ) {
    let before = Dictionary(old.map { ($0[keyPath: name], $0) }) { first, _ in first }
    let after = Set(new.map { $0[keyPath: name] })
    for thing in new {
      let title = "\(what) \(thing[keyPath: name])"
      guard let was = before[thing[keyPath: name]] else {
        differences.append(.init(kind: .added, message: title))
        continue
      }
      compare(
        facts(self, was), facts(self, thing).map { ("\(title): \($0.label)", $0.text) }, nil, nil,
        prefix: title + ": ",
        isSame: was == thing)
    }
    for thing in old where !after.contains(thing[keyPath: name]) {
      differences.append(.init(kind: .removed, message: "\(what) \(thing[keyPath: name])"))
    }
  }

  private mutating func compare(
    _ old: Facts, _ new: Facts, _ entity: String?, _ property: String?, prefix: String = "",
    isSame: Bool = true
  ) {
    let count = differences.count
    let before = Dictionary(old.map { (prefix + $0.label, $0.text) }) { first, _ in first }
    let labels = Set(new.map(\.label))
    for (label, text) in new where (before[label] ?? nil) != text {
      let was = (before[label] ?? nil) ?? "none"
      differences.append(
        .init(
          kind: .changed, entity: entity, property: property, message: "\(label): \(was) → \(text ?? "none")")
      )
    }
    for (label, text) in old where !labels.contains(prefix + label) && text != nil {
      differences.append(
        .init(
          kind: .changed, entity: entity, property: property,
          message: "\(prefix)\(label): \(text ?? "") → none"))
    }
    if !isSame, differences.count == count {
      differences.append(
        .init(
          kind: .changed, entity: entity, property: property, message: prefix + DifferenceFinder.unnamed))
    }
  }
}

extension ModelDocument.Property {
  /// What kind of property it is, in words.
  fileprivate var what: String {
    switch self {
    case .attribute: "attribute"
    case .relationship: "relationship"
    case .fetched: "fetched property"
    }
  }
}
