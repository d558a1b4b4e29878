// The places of rows in ordered lists whose keys stand in the rows themselves: a row that comes to an owner
// without a place goes to the end of its list.

import CairnModel

struct ListOrdering {
  private let base: TableSnapshot
  /// The last place given in a list: by slot of the key, and owner.
  private var lastOrders: [List: Int64] = [:]

  private struct List: Hashable {
    let relationship: RelationshipID
    let owner: Int64
  }

  init(_ base: TableSnapshot) {
    self.base = base
  }

  /// The columns of a batch of new rows, with places for those that have none.
  mutating func completing(_ batch: ChangeSet.Inserts) -> [Column?] {
    var columns = batch.columns
    for (slot, described) in base.schema[batch.entity].slots.enumerated() {
      guard case .order(let keySlot) = described.role else { continue }
      // Without owners there are no places, be it said by a column of nulls or by none.
      columns[slot] = columns[keySlot].map {
        places(batch.entity, keySlot, slot, $0, given: columns[slot])
      }
    }
    return columns
  }

  /// The slots and columns of a batch of changes, with places for rows that come to another owner.
  mutating func completing(_ batch: ChangeSet.Updates) -> ([Int], [Column]) {
    var slots = batch.slots
    var columns = batch.columns
    for (slot, described) in base.schema[batch.entity].slots.enumerated() {
      guard case .order(let keySlot) = described.role, let at = batch.slots.firstIndex(of: keySlot) else {
        continue
      }
      let given = slots.firstIndex(of: slot).map { columns[$0] }
      let stays = given == nil ? rowsThatStay(batch, keySlot, columns[at]) : [:]
      let column = places(batch.entity, keySlot, slot, columns[at], given: given, keeping: stays)
      if let known = slots.firstIndex(of: slot) {
        columns[known] = column
      } else {
        slots.append(slot)
        columns.append(column)
      }
    }
    return (slots, columns)
  }

  /// Rows whose owner is set to what it was keep their place: by row of the batch.
  private func rowsThatStay(_ batch: ChangeSet.Updates, _ keySlot: Int, _ owners: Column) -> [Int: (
    Chunk, Int
  )] {
    var result: [Int: (Chunk, Int)] = [:]
    for (row, key) in batch.keys.enumerated() where !owners.isNull(row) {
      guard let (chunk, oldRow) = base.tables[batch.entity.index]?.locate(key) else { continue }
      let old = chunk.columns[keySlot]
      if !old.isNull(oldRow), old.integer(oldRow) == owners.integer(row) { result[row] = (chunk, oldRow) }
    }
    return result
  }

  private mutating func places(
    _ entity: EntityID, _ keySlot: Int, _ slot: Int, _ owners: Column, given: Column?,
    keeping stays: [Int: (Chunk, Int)] = [:]
  ) -> Column {
    let builder = ColumnBuilder(.int64)
    for row in 0..<owners.count {
      if owners.isNull(row) {
        builder.appendNull()
      } else if let given, !given.isNull(row) {
        builder.append(given.integer(row))
      } else if let (chunk, oldRow) = stays[row], !chunk.columns[slot].isNull(oldRow) {
        builder.append(chunk.columns[slot].integer(oldRow))
      } else {
        builder.append(next(entity, keySlot, slot, owners.integer(row)))
      }
    }
    return builder.finish()
  }

  private mutating func next(_ entity: EntityID, _ keySlot: Int, _ slot: Int, _ owner: Int64) -> Int64 {
    guard case .toOne(let relationship) = base.schema[entity].slots[keySlot].role else { return 1 }
    let list = List(relationship: relationship, owner: owner)
    let last =
      lastOrders[list]
      ?? ListOrdering.lastOrder(
        of: owner, keySlot, slot,
        base.schema[base.schema[relationship].owner].concreteFamily.compactMap { base.tables[$0.index] })
    // Files may say any place: behind the greatest that there is comes the least.
    lastOrders[list] = last &+ 1
    return last &+ 1
  }

  /// The greatest place in the list of `owner` over some tables; 0 for an empty list. Costs a search in an
  /// index, not the length of the list.
  static func lastOrder(of owner: Int64, _ keySlot: Int, _ orderSlot: Int, _ tables: [Table]) -> Int64 {
    var result: Int64 = 0
    func take(_ chunk: Chunk, _ row: Int) {
      let keys = chunk.columns[keySlot]
      let orders = chunk.columns[orderSlot]
      if keys.isNull(row) || orders.isNull(row) || keys.integer(row) != owner { return }
      result = max(result, orders.integer(row))
    }
    for table in tables where table.liveCount > 0 {
      guard let index = table.indexes.index(on: [keySlot, orderSlot], for: table) else {
        // A version that no index remembers: the first list of a commit that has changed its table already.
        for chunk in table.chunks.all {
          for row in 0..<chunk.count where !chunk.isDeleted(row) { take(chunk, row) }
        }
        continue
      }
      let list = TableIndex.Bounds(prefix: [UInt64(bitPattern: owner)], next: nil)
      index.forEachRunBackwards(list, version: table.serial) { key, word in
        if let (chunk, row) = table.locate(key) { take(chunk, row) }
        // An entry may be older than its row's place, so the search ends where no entry can beat the result.
        return result == 0 || word > UInt64(bitPattern: result) ^ 1 << 63
      }
    }
    return result
  }
}
