// Everything that a snapshot shows, read through the protocol: to compare a store with itself, or with another.

public import CairnModel
import Foundation

/// All rows and all relationships of one snapshot, as values.
public struct StoreContents: Sendable, Equatable {
  public let generation: Generation
  /// By entity, ascending by key.
  public let rows: [EntityID: [StoredRow]]
  /// The destinations' ids for each relationship and source; unordered ones ascend.
  public let links: [RelationshipID: [Int64: [Int64]]]

  init(generation: Generation, rows: [EntityID: [StoredRow]], links: [RelationshipID: [Int64: [Int64]]]) {
    self.generation = generation
    self.rows = rows
    self.links = links
  }

  /// Throws what the store throws, and why a column couldn't be read.
  public init(of store: any PersistentStore, in snapshot: any StoreSnapshot) throws {
    let schema = store.schema
    var rows: [EntityID: [StoredRow]] = [:]
    var links: [RelationshipID: [Int64: [Int64]]] = [:]
    for entity in schema.entities where !entity.isAbstract {
      let batch = try store.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
      for chunk in batch.chunks {
        for column in Array(chunk.columns) + [chunk.versions] {
          if let damage = column.damage { throw damage }
        }
      }
      rows[entity.id] = (0..<batch.count).map { StoredRow(batch, $0) }
      for id in entity.relationships where schema[id].storage != .none {
        let related = try store.related(batch.keys, through: id, in: snapshot)
        for (source, key) in batch.keys.enumerated() {
          let ids = related[source].map(\.id)
          links[id, default: [:]][key.id] = schema[id].isOrdered ? ids : ids.sorted()
        }
      }
    }
    generation = snapshot.generation
    self.rows = rows
    self.links = links
  }

  /// What is different in `other`, as a sentence; nil if nothing is.
  public func difference(from other: StoreContents) -> String? {
    if generation != other.generation {
      return "generation \(generation.number) is \(other.generation.number)"
    }
    for (entity, mine) in rows.sorted(by: { $0.key < $1.key }) {
      let theirs = other.rows[entity] ?? []
      if mine.map(\.key) != theirs.map(\.key) {
        return "entity \(entity.index) has the rows \(theirs.map(\.key.id)) instead of \(mine.map(\.key.id))"
      }
      for (a, b) in zip(mine, theirs) where !a.isIdentical(to: b) {
        return "row \(a.key.id) of entity \(entity.index) is version \(b.version) \(b.values) instead of"
          + " version \(a.version) \(a.values)"
      }
    }
    for (id, mine) in links.sorted(by: { $0.key < $1.key }) {
      let theirs = other.links[id] ?? [:]
      for (source, destinations) in mine.sorted(by: { $0.key < $1.key }) where theirs[source] != destinations
      {
        return "relationship \(id.index) leads from \(source) to \(theirs[source] ?? []) instead of"
          + " \(destinations)"
      }
    }
    return nil
  }
}

extension StoredRow {
  /// Whether nothing at all differs, neither in types nor in the bits of a zero.
  func isIdentical(to other: StoredRow) -> Bool {
    key == other.key && version == other.version && values.count == other.values.count
      && zip(values, other.values).allSatisfy { $0.isIdentical(to: $1) }
  }
}

extension Value {
  /// Whether two values have one type and one representation: stricter than `==`, for which 1 is 1.0 and
  /// -0.0 is 0.0. All NaNs are identical.
  func isIdentical(to other: Value) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a.isNaN && b.isNaN || a.bitPattern == b.bitPattern
    case (.float(let a), .float(let b)): a.isNaN && b.isNaN || a.bitPattern == b.bitPattern
    case (.decimal(let a), .decimal(let b)): a.isNaN && b.isNaN || a == b
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)): a.utf8.elementsEqual(b.utf8)
    case (.date(let a), .date(let b)):
      a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
    case (.data(let a), .data(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.key(let a), .key(let b)): a == b
    default: false
    }
  }
}
