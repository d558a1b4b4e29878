// How the tables of a file's schema lie in the schema that a store was opened with: the same names in any order.
// Only the shapes of tables are looked at; whether two models are the same version says a hash, which others compare.

import CairnModel
import Foundation

/// Where each table of a file, and each place of its rows, is in another schema with the same names, and back.
struct SchemaOrder: Sendable {
  /// What a table of the file is in the given schema.
  struct TableOrder: Sendable {
    /// Its number there.
    let given: Int
    /// By place of the file (slots, versions, keys) the place in chunks; nil where all are the same. -1 where chunks
    /// don't have it, because the given schema has the key of a one-to-one pair on the other side.
    let givenPlaces: [Int]?
    /// The other way round. -1 for a key that the file has on the other side.
    let storedPlaces: [Int]?
  }

  /// A key that the given schema has where the file has the key of the inverse.
  struct Flip: Sendable {
    /// The table of the file whose chunks need the key, and its place in them.
    let table: Int
    let givenPlace: Int
    /// The tables of the file that have the inverse's key, and the slot that it is in.
    let sources: [(table: Int, slot: Int)]
  }

  let given: Schema
  /// By table of the file.
  let tables: [TableOrder]
  let flips: [Flip]
  /// By table of the given schema, the table of the file.
  let storedTables: [Int]

  /// Whether numbers of tables and places are the same in both.
  var isSame: Bool { tables.enumerated().allSatisfy { $1.given == $0 && $1.givenPlaces == nil } }

  /// A schema and itself.
  init(_ schema: Schema) {
    let numbers = Array(0..<ArchiveTables.count(schema))
    self.init(
      schema, numbers.map { .init(given: $0, givenPlaces: nil, storedPlaces: nil) }, [], numbers)
  }

  /// nil where the two have other tables, or tables with other columns.
  init?(stored: Schema, given: Schema) {
    if stored === given {
      self.init(given)
      return
    }
    guard stored.entities.count == given.entities.count, stored.joins.count == given.joins.count else {
      return nil
    }
    var tables: [TableOrder] = []
    var flips: [Flip] = []
    for entity in stored.entities {
      guard let other = given.entity(named: entity.name),
        let places = Places(stored, entity, given, other)
      else { return nil }
      tables.append(places.order(of: other.id.index))
      flips += places.flipped.map { slot in
        Flip(
          table: entity.id.index, givenPlace: slot.given,
          sources: stored[slot.owner].concreteFamily.map { ($0.index, slot.stored) })
      }
    }
    let joins = Dictionary(
      given.joins.map { (JoinNames($0, given), $0) }, uniquingKeysWith: { first, _ in first })
    for join in stored.joins {
      let names = JoinNames(join, stored)
      if let other = joins[names] {
        tables.append(
          .init(given: given.entities.count + other.index, givenPlaces: nil, storedPlaces: nil))
      } else if let other = joins[names.turned] {
        tables.append(
          .init(
            given: given.entities.count + other.index, givenPlaces: JoinSlot.turned,
            storedPlaces: JoinSlot.turned))
      } else {
        return nil
      }
    }
    var storedTables = [Int](repeating: -1, count: tables.count)
    for (number, table) in tables.enumerated() { storedTables[table.given] = number }
    guard !storedTables.contains(-1) else { return nil }
    self.init(given, tables, flips, storedTables)
  }

  private init(_ given: Schema, _ tables: [TableOrder], _ flips: [Flip], _ storedTables: [Int]) {
    self.given = given
    self.tables = tables
    self.flips = flips
    self.storedTables = storedTables
  }

  /// What a list by entity or by join of the given schema is in the file's order.
  func stored<T>(byEntity list: [T]) -> [T] { tables[..<given.entities.count].map { list[$0.given] } }

  func stored<T>(byJoin list: [T]) -> [T] {
    tables[given.entities.count...].map { list[$0.given - given.entities.count] }
  }

  /// The other way round.
  func given<T>(byEntity list: [T]) -> [T] { storedTables[..<given.entities.count].map { list[$0] } }

  func given<T>(byJoin list: [T]) -> [T] {
    storedTables[given.entities.count...].map { list[$0 - given.entities.count] }
  }
}

extension Schema {
  /// Whether rows of both lie alike in tables, under the same numbers.
  func isStoredAs(_ other: Schema) -> Bool { SchemaOrder(stored: self, given: other)?.isSame ?? false }
}

extension Schema {
  /// Whether large values of the same slots may be kept apart in both, which lie alike otherwise.
  func keepsApartAs(_ other: Schema) -> Bool {
    entities.elementsEqual(other.entities) { a, b in
      a.slots.elementsEqual(b.slots) { $0.allowsExternalStorage == $1.allowsExternalStorage }
    }
  }
}

extension JoinSlot {
  /// The places of a join's rows when its two sides change places.
  fileprivate static let turned = [target, source, targetOrder, sourceOrder, 4, 5]
}

/// What makes a join the same in two schemas.
private struct JoinNames: Hashable {
  let source: [String]
  /// Empty where the relationship has no inverse.
  let target: [String]
  let isSourceOrdered: Bool
  let isTargetOrdered: Bool

  var turned: JoinNames {
    JoinNames(
      source: target, target: source, isSourceOrdered: isTargetOrdered, isTargetOrdered: isSourceOrdered)
  }

  private init(source: [String], target: [String], isSourceOrdered: Bool, isTargetOrdered: Bool) {
    self.source = source
    self.target = target
    self.isSourceOrdered = isSourceOrdered
    self.isTargetOrdered = isTargetOrdered
  }

  init(_ join: SchemaJoin, _ schema: Schema) {
    func names(_ id: RelationshipID?) -> [String] {
      id.map { [schema[schema[$0].owner].name, schema[$0].name] } ?? []
    }
    self.init(
      source: names(join.source), target: names(join.target), isSourceOrdered: join.isSourceOrdered,
      isTargetOrdered: join.isTargetOrdered)
  }
}

/// The places of one entity's rows in two schemas.
private struct Places {
  private var givenPlaces: [Int]
  private var storedPlaces: [Int]
  /// Keys that only the given schema has: its slot, and the owner and slot of the inverse in the file.
  private(set) var flipped: [(given: Int, owner: EntityID, stored: Int)] = []

  /// nil where the rows have other columns.
  init?(_ stored: Schema, _ entity: SchemaEntity, _ given: Schema, _ other: SchemaEntity) {
    guard entity.isAbstract == other.isAbstract, stored[entity.root].name == given[other.root].name else {
      return nil
    }
    givenPlaces = [Int](repeating: -1, count: entity.slots.count)
    storedPlaces = [Int](repeating: -1, count: other.slots.count)
    for (place, slot) in other.slots.enumerated() {
      if let found = entity.slot(named: slot.name) {
        guard entity.slots[found].isStored(as: slot) else { return nil }
        storedPlaces[place] = found
        givenPlaces[found] = place
      } else if let id = entity.relationship(named: slot.name), case .toOne = slot.role,
        let key = stored.keyOfInverse(id)
      {
        flipped.append((place, key.owner, key.slot))
      } else {
        return nil
      }
    }
    for (place, slot) in entity.slots.enumerated() where givenPlaces[place] < 0 {
      guard case .toOne = slot.role, let id = other.relationship(named: slot.name),
        given.keyOfInverse(id) != nil
      else { return nil }
    }
  }

  func order(of table: Int) -> SchemaOrder.TableOrder {
    if givenPlaces == Array(storedPlaces.indices) {
      return .init(given: table, givenPlaces: nil, storedPlaces: nil)
    }
    let (given, stored) = (storedPlaces.count, givenPlaces.count)
    return .init(
      given: table, givenPlaces: givenPlaces + [given, given + 1],
      storedPlaces: storedPlaces + [stored, stored + 1])
  }
}

extension Schema {
  /// Who holds the key of a to-one relationship whose inverse, to-one too, has it; nil for every other.
  fileprivate func keyOfInverse(_ id: RelationshipID) -> (owner: EntityID, slot: Int)? {
    let relation = self[id]
    guard !relation.isToMany, let inverse = relation.inverse, !self[inverse].isToMany,
      case .inverse(let slot, nil) = relation.storage
    else { return nil }
    return (self[inverse].owner, slot)
  }
}

extension Slot {
  /// Slots of one name are the same; a place in a list has the name of its key.
  fileprivate func isStored(as other: Slot) -> Bool {
    guard type == other.type else { return false }
    switch (role, other.role) {
    case (.attribute, .attribute), (.toOne, .toOne), (.order, .order): return true
    default: return false
    }
  }
}
