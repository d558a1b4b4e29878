// Changes to one join table: which pairs come, go, or move in their lists. Computed on pairs in memory, then
// written as rows.

import CairnModel

struct JoinWork {
  private struct Pair: Hashable {
    let source: Int64
    let target: Int64

    init(_ key: Int64, on side: JoinSide, _ other: Int64) {
      source = side == .source ? key : other
      target = side == .source ? other : key
    }

    func key(_ side: JoinSide) -> Int64 { side == .source ? source : target }
  }

  private struct PairState {
    /// The row that keeps the pair, if it is stored.
    let row: Int64?
    var isPresent: Bool
    var sourceOrder: Int64?
    var targetOrder: Int64?
    var isMoved = false

    subscript(side: JoinSide) -> Int64? {
      get { side == .source ? sourceOrder : targetOrder }
      set { if side == .source { sourceOrder = newValue } else { targetOrder = newValue } }
    }
  }

  private struct Owner: Hashable {
    let side: JoinSide
    let key: Int64
  }

  private let join: SchemaJoin
  private let table: Table
  /// Every pair that this commit has looked at.
  private var pairs: [Pair: PairState] = [:]
  /// The pairs among them, by both ends.
  private var known: [Owner: Set<Pair>] = [:]
  private var lastOrders: [Owner: Int64] = [:]
  private var loaded: Set<Owner> = []

  init(_ join: SchemaJoin, _ table: Table) {
    self.join = join
    self.table = table
  }

  // MARK: Links

  mutating func apply(_ change: ChangeSet.LinkChange, to owner: Int64, on side: JoinSide) {
    switch change {
    case .add(let members): for member in members { add(Pair(owner, on: side, member.id)) }
    case .remove(let members): for member in members { remove(Pair(owner, on: side, member.id)) }
    case .replace(let members): replace(members.map(\.id), of: owner, on: side)
    }
  }

  private mutating func replace(_ members: [Int64], of owner: Int64, on side: JoinSide) {
    load(Owner(side: side, key: owner))
    let wanted = Set(members)
    for pair in known[Owner(side: side, key: owner)] ?? [] where !wanted.contains(pair.key(side.other)) {
      remove(pair)
    }
    for (place, member) in members.enumerated() {
      let pair = Pair(owner, on: side, member)
      add(pair)
      if isOrdered(side) {
        pairs[pair]![side] = Int64(place + 1)
        pairs[pair]!.isMoved = true
      }
    }
    if isOrdered(side) { lastOrders[Owner(side: side, key: owner)] = Int64(members.count) }
  }

  private mutating func add(_ pair: Pair) {
    addOneWay(pair)
    if join.isSymmetric { addOneWay(Pair(pair.target, on: .source, pair.source)) }
  }

  private mutating func addOneWay(_ pair: Pair) {
    look(at: pair)
    if pairs[pair]!.isPresent { return }
    pairs[pair]!.isPresent = true
    pairs[pair]!.isMoved = true
    for side in [JoinSide.source, .target] where isOrdered(side) {
      pairs[pair]![side] = nextOrder(Owner(side: side, key: pair.key(side)))
    }
  }

  private mutating func remove(_ pair: Pair) {
    look(at: pair)
    pairs[pair]!.isPresent = false
    guard join.isSymmetric else { return }
    let mirrored = Pair(pair.target, on: .source, pair.source)
    look(at: mirrored)
    pairs[mirrored]!.isPresent = false
  }

  /// Drops the pairs of deleted rows.
  mutating func dropRows(of keys: KeySet, root: EntityID, _ schema: Schema) {
    if table.liveCount == 0, pairs.isEmpty { return }
    let source = schema[join.source]
    for side in [JoinSide.source, .target] {
      let entity = side == .source ? source.owner : source.destination
      guard schema[entity].root == root else { continue }
      for key in keys.all {
        load(Owner(side: side, key: key))
        for pair in known[Owner(side: side, key: key)] ?? [] { pairs[pair]!.isPresent = false }
      }
    }
  }

  private func isOrdered(_ side: JoinSide) -> Bool {
    side == .source ? join.isSourceOrdered : join.isTargetOrdered && !join.isSymmetric
  }

  // MARK: What is stored

  /// Brings a pair into memory.
  private mutating func look(at pair: Pair) {
    if pairs[pair] != nil { return }
    let prefix = [UInt64(bitPattern: pair.source), UInt64(bitPattern: pair.target)]
    for key in candidates([JoinSlot.source, JoinSlot.target], prefix) {
      if let (chunk, row) = table.locate(key), JoinWork.pair(chunk, row) == pair { return enter(chunk, row) }
    }
    enter(pair, PairState(row: nil, isPresent: false))
  }

  /// Brings all pairs of one row into memory.
  private mutating func load(_ owner: Owner) {
    guard loaded.insert(owner).inserted else { return }
    for key in candidates([JoinSlot.key(owner.side)], [UInt64(bitPattern: owner.key)]) {
      guard let (chunk, row) = table.locate(key), JoinWork.pair(chunk, row).key(owner.side) == owner.key
      else { continue }
      if pairs[JoinWork.pair(chunk, row)] == nil { enter(chunk, row) }
    }
  }

  private mutating func enter(_ chunk: Chunk, _ row: Int) {
    func order(_ slot: Int) -> Int64? {
      chunk.columns[slot].isNull(row) ? nil : chunk.columns[slot].integer(row)
    }
    enter(
      JoinWork.pair(chunk, row),
      PairState(
        row: chunk.key(row), isPresent: true, sourceOrder: order(JoinSlot.sourceOrder),
        targetOrder: order(JoinSlot.targetOrder)))
  }

  private mutating func enter(_ pair: Pair, _ state: PairState) {
    pairs[pair] = state
    known[Owner(side: .source, key: pair.source), default: []].insert(pair)
    known[Owner(side: .target, key: pair.target), default: []].insert(pair)
  }

  private func candidates(_ slots: [Int], _ prefix: [UInt64]) -> [Int64] {
    if table.liveCount == 0 { return [] }
    guard let index = table.indexes.index(on: slots, for: table) else {
      preconditionFailure("the newest version of a table has no index")
    }
    return index.keys(.init(prefix: prefix, next: nil), version: table.serial)
  }

  private mutating func nextOrder(_ owner: Owner) -> Int64 {
    let last =
      lastOrders[owner]
      ?? ListOrdering.lastOrder(of: owner.key, JoinSlot.key(owner.side), JoinSlot.order(owner.side), [table])
    lastOrders[owner] = last &+ 1
    return last &+ 1
  }

  private static func pair(_ chunk: Chunk, _ row: Int) -> Pair {
    Pair(
      chunk.columns[JoinSlot.source].integer(row), on: .source, chunk.columns[JoinSlot.target].integer(row))
  }

  // MARK: Writing

  /// Turns the pairs into rows. New rows are in the order of their pairs, so that a commit's result doesn't
  /// depend on hashing.
  func write(to table: inout Table, nextKey: inout Int64) {
    if pairs.isEmpty { return }
    table.delete(keys: pairs.values.filter { !$0.isPresent }.compactMap(\.row).sorted())
    let moved = pairs.values.filter { $0.isPresent && $0.isMoved && $0.row != nil }.sorted {
      $0.row! < $1.row!
    }
    table.update(
      keys: moved.map { $0.row! }, slots: [JoinSlot.sourceOrder, JoinSlot.targetOrder],
      columns: [
        JoinWork.column(.int64, moved.map(\.sourceOrder)), JoinWork.column(.int64, moved.map(\.targetOrder)),
      ])
    let new = pairs.filter { $0.value.isPresent && $0.value.row == nil }
      .sorted { ($0.key.source, $0.key.target) < ($1.key.source, $1.key.target) }
    let firstKey = nextKey
    nextKey += Int64(new.count)
    table.insert(
      keys: Array(firstKey..<nextKey),
      columns: [
        JoinWork.column(.key, new.map(\.key.source)), JoinWork.column(.key, new.map(\.key.target)),
        JoinWork.column(.int64, new.map(\.value.sourceOrder)),
        JoinWork.column(.int64, new.map(\.value.targetOrder)),
      ])
  }

  private static func column(_ type: ValueType, _ values: [Int64?]) -> Column {
    let builder = ColumnBuilder(type)
    for value in values {
      if let value { builder.append(value) } else { builder.appendNull() }
    }
    return builder.finish()
  }
}
