// Random change sets of every shape for the coding of transactions, and when two of them say the same.

import CairnModel
import CairnStores
import Foundation

@testable import CairnTesting

/// Makes change sets that have the right form; no store would take them, since their keys lead nowhere.
struct TransactionSamples {
  var random: SplitMix64
  let schema: Schema

  init(seed: UInt64, _ schema: Schema) {
    random = SplitMix64(seed: seed)
    self.schema = schema
  }

  /// `rows` says how many a large batch has at most; most batches are small.
  mutating func changes(rows: Int = 1200) -> ChangeSet {
    var changes = ChangeSet()
    for _ in 0..<random.below(3) { changes.inserts.append(inserts(rowCount(rows))) }
    for _ in 0..<random.below(4) { changes.updates.append(updates(rowCount(rows))) }
    for _ in 0..<random.below(3) {
      changes.deletes.append(.init(entity: entity().id, keys: keys(rowCount(rows))))
    }
    if !schema.relationships.isEmpty {
      for _ in 0..<random.below(4) { changes.links.append(links()) }
    }
    return changes
  }

  private mutating func rowCount(_ rows: Int) -> Int {
    if random.chance(50) { return 1 }
    return random.chance(90) ? 1 + random.below(40) : 1 + random.below(rows)
  }

  private mutating func entity() -> SchemaEntity { random.pick(schema.entities.filter { !$0.isAbstract }) }

  mutating func keys(_ count: Int) -> [Int64] {
    var keys: [Int64] = []
    var key = Int64(1 + random.below(300))
    for _ in 0..<count {
      keys.append(key)
      key += random.chance(80) ? 1 : Int64(1 + random.below(100_000))
    }
    if random.chance(5) { keys[count - 1] = .max }
    return keys
  }

  mutating func inserts(_ count: Int) -> ChangeSet.Inserts {
    let entity = entity()
    let columns = entity.slots.map { random.chance(25) ? nil : column($0.type, count) }
    return .init(entity: entity.id, keys: keys(count), columns: columns)
  }

  mutating func updates(_ count: Int) -> ChangeSet.Updates {
    let entity = entity()
    var slots = random.some(Array(entity.slots.indices), upTo: entity.slots.count)
    if slots.isEmpty { slots = [0] }
    let columns = slots.map { column(entity.slots[$0].type, count) }
    return .init(
      entity: entity.id, keys: keys(count), versions: random.chance(50) ? keys(count) : nil, slots: slots,
      columns: columns)
  }

  private mutating func column(_ type: ValueType, _ count: Int) -> Column {
    let nullPercent = random.pick([0, 0, 10, 100])
    return EncodingSamples.column(
      (0..<count).map { _ in random.chance(nullPercent) ? .null : value(type) }, type)
  }

  private mutating func value(_ type: ValueType) -> Value {
    if type == .key { return .key(random.chance(5) ? .max : Int64(1 + random.below(5000))) }
    return random.chance(30)
      ? random.pick(EncodingSamples.edges(type)) : random.value(type, variety: 1 + random.below(60))
  }

  private mutating func links() -> ChangeSet.Links {
    let relationship = random.pick(schema.relationships)
    func family(_ id: EntityID) -> [EntityID] { schema[schema[id].root].concreteFamily }
    let members = (0..<random.pick([0, 1, 2, 30])).map { _ in
      RowKey(entity: random.pick(family(relationship.destination)), id: id())
    }
    let change: ChangeSet.LinkChange = random.pick([.add(members), .remove(members), .replace(members)])
    return .init(
      relationship.id, of: RowKey(entity: random.pick(family(relationship.owner)), id: id()), change)
  }

  private mutating func id() -> Int64 {
    random.chance(5) ? random.pick([.max, .min, -1, 0]) : Int64(1 + random.below(100_000))
  }
}

/// Whether two change sets change the same, bit for bit, in the same batches; versions are left out.
func areSame(_ a: ChangeSet, _ b: ChangeSet) -> Bool {
  a.inserts.count == b.inserts.count && a.updates.count == b.updates.count
    && a.deletes.count == b.deletes.count
    && a.links == b.links && zip(a.inserts, b.inserts).allSatisfy(areSame)
    && zip(a.updates, b.updates).allSatisfy(areSame)
    && zip(a.deletes, b.deletes).allSatisfy { $0.entity == $1.entity && $0.keys == $1.keys }
}

private func areSame(_ a: ChangeSet.Inserts, _ b: ChangeSet.Inserts) -> Bool {
  a.entity == b.entity && a.keys == b.keys && a.columns.count == b.columns.count
    && zip(a.columns, b.columns).allSatisfy { a, b in
      guard let a, let b else { return (a ?? b).map { $0.nullCount == $0.count } ?? true }
      return areSame(a, b)
    }
}

private func areSame(_ a: ChangeSet.Updates, _ b: ChangeSet.Updates) -> Bool {
  a.entity == b.entity && a.keys == b.keys && a.slots == b.slots && a.columns.count == b.columns.count
    && zip(a.columns, b.columns).allSatisfy(areSame)
}
