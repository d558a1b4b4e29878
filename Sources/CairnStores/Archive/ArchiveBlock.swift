// Columns in the file: read and decoded when first asked for, kept in a cache with a budget, let go and read again.

import CairnModel
import Foundation

/// One block of columns of an open archive: the values of one place for the rows of one to four chunks.
///
/// Sendable: everything but `decoded`, `isUsed` and `stage` is constant, and those three are only touched under the
/// block's stripe of the cache's locks.
final class ArchiveBlock: @unchecked Sendable {
  let source: ArchiveSource
  /// Of the block's header.
  let offset: UInt64
  /// Header and bytes.
  let length: Int
  let table: Int
  /// A slot; behind the slots the versions, and the keys.
  let place: Int
  /// The group that it was written for, as its header says.
  let group: UInt32
  let type: ValueType
  let zone: Zone
  /// The slots of the same group that the values follow from.
  let sources: [Int]

  private var decoded: [Column]?
  private var isUsed = false
  private var stage = Stage.idle

  /// Who reads it at the moment.
  private enum Stage {
    case idle
    /// Nobody yet, but it is in the source's queue.
    case wanted
    case reading
  }

  init(
    source: ArchiveSource, offset: UInt64, length: Int, table: Int, place: Int, group: UInt32,
    type: ValueType,
    zone: Zone, sources: [Int]
  ) {
    self.sources = sources
    self.source = source
    self.offset = offset
    self.length = length
    self.table = table
    self.place = place
    self.group = group
    self.type = type
    self.zone = zone
  }

  deinit {
    if let decoded { source.cache.forget(ArchiveBlock.footprint(decoded)) }
  }

  /// The column of one part, which has `rows` rows. Reads the block where it isn't in memory; where that fails, a
  /// column of nulls that says why, which the source notes too.
  func column(_ part: Int, rows: Int, in group: ArchiveGroup) -> Column {
    // Two chunks of a damaged file may say that they have different rows of one part.
    if let column = cached(part), column.count >= rows { return column }
    do {
      let columns = try read(in: group)
      guard part < columns.count, columns[part].count == rows else {
        throw source.corrupt("block has no part \(part) of \(rows) rows", self)
      }
      return columns[part]
    } catch {
      return .damaged(type: type, count: rows, source.note(error, self))
    }
  }

  private enum Claim {
    case known([Column])
    /// Nobody else reads it until `release`.
    case mine
    case taken
  }

  /// The columns of all parts, read unless another thread is at it: that is waited for.
  private func read(in group: ArchiveGroup) throws -> [Column] {
    while true {
      switch claim() {
      case .known(let columns): return columns
      case .mine: return try readClaimed(in: group)
      case .taken: source.readAhead.wait(while: { isBeingRead })
      }
    }
  }

  private func readClaimed(in group: ArchiveGroup) throws -> [Column] {
    defer {
      source.cache.stripe(offset).withLock { stage = .idle }
      source.readAhead.noteFinished()
    }
    let columns = try source.decode(self, in: group)
    keep(columns)
    return columns
  }

  private func claim(onlyIfWanted: Bool = false) -> Claim {
    source.cache.stripe(offset).withLock {
      if let decoded {
        isUsed = true
        // Somebody has put them there since it was wanted.
        if stage == .wanted { stage = .idle }
        return .known(decoded)
      }
      if stage == .reading || onlyIfWanted && stage != .wanted { return .taken }
      stage = .reading
      return .mine
    }
  }

  private var isBeingRead: Bool { source.cache.stripe(offset).withLock { stage == .reading } }

  /// Puts it into the queue of what is read ahead, unless it is in memory or somebody is at it.
  func readAhead(in group: ArchiveGroup) {
    let isNew = source.cache.stripe(offset).withLock {
      guard decoded == nil, stage == .idle else { return false }
      stage = .wanted
      return true
    }
    if isNew { source.readAhead.add(self, group) }
  }

  /// What the queue does with it. Where that fails nothing is said: who asks for the block reads it again, and throws.
  func readIfWanted(in group: ArchiveGroup) {
    guard case .mine = claim(onlyIfWanted: true) else { return }
    _ = try? readClaimed(in: group)
  }

  /// The columns of all parts, if they are in memory.
  var cachedColumns: [Column]? {
    let lock = source.cache.stripe(offset)
    lock.lock()
    defer { lock.unlock() }
    isUsed = true
    return decoded
  }

  private func cached(_ part: Int) -> Column? {
    let lock = source.cache.stripe(offset)
    lock.lock()
    defer { lock.unlock() }
    guard let decoded, part < decoded.count else { return nil }
    isUsed = true
    return decoded[part]
  }

  /// Puts columns into the cache that were decoded, or that are about to be written.
  func keep(_ columns: [Column]) {
    let lock = source.cache.stripe(offset)
    lock.lock()
    let isNew = decoded == nil
    if isNew { decoded = columns }
    isUsed = true
    lock.unlock()
    if isNew { source.cache.remember(self, ArchiveBlock.footprint(columns)) }
  }

  /// Lets go of the columns, unless they were used since the last time, and returns them.
  fileprivate func release() -> [Column]? {
    let lock = source.cache.stripe(offset)
    lock.lock()
    defer { lock.unlock() }
    if isUsed {
      isUsed = false
      return nil
    }
    defer { decoded = nil }
    return decoded ?? []
  }

  fileprivate static func footprint(_ columns: [Column]) -> Int { columns.reduce(64) { $0 + $1.footprint } }
}

/// Which blocks of an archive are in memory, and how much of it they take.
final class BlockCache: Sendable {
  private struct WeakBlock {
    weak var block: ArchiveBlock?
  }

  private struct State {
    /// Oldest first.
    var queue: [WeakBlock] = []
    var start = 0
    var byteCount = 0
    /// How long the queue gets before blocks that are gone are taken out.
    var sweepCount = 1024
  }

  /// In bytes. Columns that somebody holds stay in memory though the cache has let go of them.
  let budget: Int
  private let state = Lock(State())
  private let stripes: [NSLock] = (0..<16).map { _ in NSLock() }

  init(budget: Int) {
    self.budget = budget
  }

  /// The lock of a block.
  func stripe(_ offset: UInt64) -> NSLock {
    stripes[Int(truncatingIfNeeded: (offset >> 5) ^ (offset >> 12)) & 15]
  }

  var byteCount: Int { state.withLock { $0.byteCount } }

  /// How many blocks it knows of, those included that are gone and not yet taken out.
  var entryCount: Int { state.withLock { $0.queue.count - $0.start } }

  fileprivate func forget(_ byteCount: Int) { state.withLock { $0.byteCount -= byteCount } }

  /// Counts memory that blocks hold besides their columns, until `letGo`.
  func hold(_ byteCount: Int) { remember(nil, byteCount) }

  func letGo(_ byteCount: Int) { forget(byteCount) }

  fileprivate func remember(_ block: ArchiveBlock?, _ byteCount: Int) {
    // Dropping what may be a last reference asks for the lock: not under it.
    var looked: [ArchiveBlock] = []
    var freed: [[Column]] = []
    state.withLock { state in
      if let block { state.queue.append(WeakBlock(block: block)) }
      state.byteCount += byteCount
      if state.queue.count >= state.sweepCount {
        let living = state.queue[state.start...].filter { entry in
          entry.block.map { looked.append($0) } != nil
        }
        (state.queue, state.start) = (living, 0)
        state.sweepCount = max(1024, 2 * living.count)
      }
      guard state.byteCount > budget else { return }
      // A second chance for what was used: so each is looked at twice at most.
      var looks = 2 * (state.queue.count - state.start)
      while state.byteCount > budget, looks > 0, state.start < state.queue.count {
        looks -= 1
        let candidate = state.queue[state.start]
        state.start += 1
        guard let old = candidate.block else { continue }
        looked.append(old)
        if old !== block, let columns = old.release() {
          state.byteCount -= columns.isEmpty ? 0 : ArchiveBlock.footprint(columns)
          freed.append(columns)
        } else {
          state.queue.append(candidate)
        }
      }
    }
    withExtendedLifetime((looked, freed)) {}
  }
}

/// One to four chunks whose columns stand together.
final class ArchiveGroup: Sendable {
  struct ChunkInfo: Sendable {
    var count: Int
    var firstKey: Int64
    var lastKey: Int64
    var hasDenseKeys: Bool
    var deleted: Bitmap?

    var liveCount: Int { count - (deleted?.setCount ?? 0) }
  }

  struct Reference: Sendable {
    let block: ArchiveBlock
    /// Which part of the block the group's first chunk is.
    let firstPart: Int
    /// What the blobs of each chunk take in the file; empty where there are none.
    var blobBytes: [Int] = []
  }

  let id: UInt32
  let table: Int
  let types: [ValueType]
  let chunks: [ChunkInfo]
  /// By place: the slots; the versions, nil where all are 1; the keys, nil where all are dense.
  let columns: [Reference?]

  init(id: UInt32, table: Int, types: [ValueType], chunks: [ChunkInfo], columns: [Reference?]) {
    self.id = id
    self.table = table
    self.types = types
    self.chunks = chunks
    self.columns = columns
  }
}

/// What stands behind one chunk of an archive.
final class ArchivePart: ChunkBacking {
  let group: ArchiveGroup
  let index: Int
  /// The group behind it in the file, where that is known.
  private let following: ArchiveGroup?
  /// Where the places of the chunk are in the file; nil where they are the same.
  private let storedPlaces: [Int]?
  /// The keys, by place of the chunk, that the file has on the other side of their pairs; nil where there are none.
  private let turned: [Int: TurnedColumn]?
  /// The versions once they have been asked for, where the file leaves them out because all are 1 and there aren't as
  /// many as in a full chunk: rows are appended behind a column's own, so it has just as many as the chunk.
  private let ones: Lock<Column?>?

  /// A key of a one-to-one pair that the file has on the other side, once it has been asked for.
  private final class TurnedColumn: Sendable {
    let keys: TurnedKeys
    let column = Lock<Column?>(nil)

    init(_ keys: TurnedKeys) { self.keys = keys }
  }

  init(
    _ group: ArchiveGroup, _ index: Int, following: ArchiveGroup? = nil, storedPlaces: [Int]? = nil,
    turned: [Int: TurnedKeys] = [:]
  ) {
    self.group = group
    self.following = following
    self.index = index
    self.storedPlaces = storedPlaces
    self.turned = turned.isEmpty ? nil : turned.mapValues(TurnedColumn.init)
    ones =
      group.columns[group.types.count] != nil || group.chunks[index].count == Chunk.capacity ? nil : Lock(nil)
  }

  func column(_ place: Int) -> Column {
    guard let storedPlaces else { return stored(place) }
    return storedPlaces[place] < 0 ? turnedColumn(place) : stored(storedPlaces[place])
  }

  func readAhead(_ slots: [Int]) { readAhead(slots, of: group) }

  func readAheadBehind(_ slots: [Int]) {
    guard let following else { return }
    // Where the cache holds but a few groups, those that are read now would make room for it.
    let rowCount = following.chunks.reduce(0) { $0 + $1.count }
    let footprint = slots.count * rowCount * ArchivePart.valueFootprint
    guard let source = following.columns.first??.block.source, footprint <= source.cache.budget / 4 else {
      return
    }
    readAhead(slots, of: following)
  }

  /// What a value may well take in memory, in bytes.
  private static let valueFootprint = 16

  private func readAhead(_ slots: [Int], of group: ArchiveGroup) {
    for slot in slots {
      let place = storedPlaces?[slot] ?? slot
      guard place >= 0, let block = group.columns[place]?.block, block.source.mayReadAhead else { continue }
      block.readAhead(in: group)
    }
  }

  /// The column at a place of the file.
  func stored(_ place: Int) -> Column {
    let info = group.chunks[index]
    guard let reference = group.columns[place] else { return versions(info.count) }
    let block = reference.block
    let column = block.column(reference.firstPart + index, rows: info.count, in: group)
    guard place == group.types.count + 1, column.damage == nil else { return column }
    // Rows are found by the keys that the footer says.
    if column.integer(0) == info.firstKey, column.integer(info.count - 1) == info.lastKey { return column }
    return .damaged(
      type: column.type, count: info.count,
      block.source.note(block.source.corrupt("the keys aren't those that the footer says", block), block))
  }

  private func turnedColumn(_ place: Int) -> Column {
    let turned = turned![place]!
    return turned.column.withLock { known in
      if let known { return known }
      let (keys, damage) = keys
      if let damage { return .damaged(type: .key, count: group.chunks[index].count, damage) }
      let column = turned.keys.column(for: keys)
      known = column
      return column
    }
  }

  func type(of slot: Int) -> ValueType {
    guard let storedPlaces else { return group.types[slot] }
    return storedPlaces[slot] < 0 ? .key : group.types[storedPlaces[slot]]
  }

  func zone(of slot: Int) -> Zone {
    let place = storedPlaces?[slot] ?? slot
    return place < 0 ? .ofAnyKey : group.columns[place]?.block.zone ?? Zone()
  }

  private func versions(_ count: Int) -> Column {
    guard let ones else { return ArchivePart.ones }
    return ones.withLock { known in
      if let known { return known }
      let made = ArchivePart.ones.gathering(Array(0..<count))
      known = made
      return made
    }
  }

  /// The versions of rows that were never updated.
  private static let ones: Column = {
    let builder = ColumnBuilder(.int64)
    for _ in 0..<Chunk.capacity { builder.append(Int64(1)) }
    return builder.finish()
  }()
}

extension ArchiveGroup {
  /// A chunk whose columns come from the file when they are asked for. `nothingHeld` has as many places as the chunk.
  func chunk(
    _ index: Int, before following: ArchiveGroup? = nil, entity: EntityID, nothingHeld: [Column?],
    storedPlaces: [Int]? = nil, turned: [Int: TurnedKeys] = [:]
  ) -> Chunk {
    let info = chunks[index]
    return Chunk(
      entity: entity, count: info.count, firstKey: info.firstKey, lastKey: info.lastKey,
      hasDenseKeys: info.hasDenseKeys, deleted: info.deleted, slotCount: nothingHeld.count - 2,
      held: nothingHeld,
      backing: ArchivePart(
        self, index, following: following, storedPlaces: storedPlaces, turned: turned))
  }
}

extension Zone {
  /// Around every key.
  fileprivate static let ofAnyKey: Zone = {
    var zone = Zone()
    (zone.minInteger, zone.maxInteger) = (1, .max)
    return zone
  }()
}
