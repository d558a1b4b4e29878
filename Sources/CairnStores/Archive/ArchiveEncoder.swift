// Makes blocks and groups of chunks: only what the file doesn't have yet is encoded.

import CairnModel
import Foundation

/// Where blocks are written, one behind the other.
protocol BlockSink: AnyObject {
  /// Where the next bytes go.
  var offset: UInt64 { get }
  func append(_ bytes: [UInt8]) throws
}

/// Encodes the chunks of a table that changed. Confined to its writer.
final class ArchiveEncoder {
  private let sink: any BlockSink
  private let source: ArchiveSource
  /// One a thread; the second is made when it is first needed.
  private var encoders: [ColumnEncoder]
  private(set) var nextGroup: UInt32
  /// Blocks that were written, with what they hold.
  private(set) var written: [(block: ArchiveBlock, columns: [Column])] = []
  /// Whether `written` is filled, for a cache.
  private let keepsColumns: Bool
  /// By table, for each slot the relation to others by which its blocks get smaller; looked for in the first
  /// large group, and only where files are to be smallest.
  private var relations: [Int: [ColumnRelation?]] = [:]

  /// `source` is what the new blocks will be read from.
  init(
    to sink: any BlockSink, source: ArchiveSource, effort: EncodingEffort, nextGroup: UInt32,
    keepsColumns: Bool
  ) {
    self.sink = sink
    self.source = source
    encoders = [ColumnEncoder(effort: effort)]
    self.nextGroup = nextGroup
    self.keepsColumns = keepsColumns
  }

  /// One chunk on its way to the file. Places are the file's.
  struct Item {
    let chunk: Chunk
    /// Where the file's places are in the chunk; nil where they are the same.
    var places: [Int]?
    /// What the file has of it already.
    var stored: ArchivePart?
    /// For a chunk that is in memory as a whole though the file has some of it: which of its own places are as stored.
    var isStoredPlace: [Bool]?

    init(chunk: Chunk, places: [Int]? = nil) {
      self.chunk = chunk
      self.places = places
    }

    /// The column of a place: a slot, the versions, or the keys.
    func column(_ place: Int) -> Column { chunk.place(places?[place] ?? place) }

    /// Whether nothing of it has to be written.
    var isClean: Bool {
      guard let stored else { return false }
      let info = stored.group.chunks[stored.index]
      guard info.count == chunk.count, info.firstKey == chunk.firstKey, info.deleted === chunk.deleted else {
        return false
      }
      return isStoredPlace?.allSatisfy { $0 } ?? chunk.held.allSatisfy { $0 == nil }
    }

    /// Whether the place has to be written.
    func needs(_ place: Int) -> Bool {
      guard stored != nil else { return true }
      let place = places?[place] ?? place
      return isStoredPlace.map { !$0[place] } ?? (chunk.held[place] != nil)
    }

    /// The places that have to be written: those that changed, and those whose stored values follow from one
    /// that did.
    var neededPlaces: [Bool] {
      var result = (0..<chunk.slotCount + 2).map(needs)
      guard let stored else { return result }
      var isStable = false
      while !isStable {
        isStable = true
        for (place, reference) in stored.group.columns.enumerated() where !result[place] {
          if reference?.block.sources.contains(where: { result[$0] }) ?? false {
            result[place] = true
            isStable = false
          }
        }
      }
      return result
    }

    /// Whether the two can stand in one group: the file has the same of both, in one group, one behind the
    /// other.
    func goesWith(_ next: Item) -> Bool {
      switch (stored, next.stored) {
      case (nil, nil): return true
      case (let a?, let b?):
        return a.group === b.group && a.index + 1 == b.index && isClean == next.isClean
          && (0..<chunk.slotCount + 2).allSatisfy { needs($0) == next.needs($0) }
      default: return false
      }
    }
  }

  /// The groups that hold `items`, in order. Throws what the sink throws.
  func groups(of items: [Item], table: Int) throws -> [ArchiveGroup] {
    var result: [ArchiveGroup] = []
    var start = 0
    while start < items.count {
      var end = start + 1
      while end < items.count, end - start < ArchiveGroup.capacity, items[end - 1].goesWith(items[end]) {
        end += 1
      }
      result.append(try group(of: items[start..<end], table: table))
      start = end
    }
    return result
  }

  private func group(of items: ArraySlice<Item>, table: Int) throws -> ArchiveGroup {
    let first = items.first!
    if first.isClean, let part = first.stored, part.index == 0, part.group.chunks.count == items.count {
      return part.group
    }
    let id = nextGroup
    nextGroup += 1
    let types = ArchiveTables.types(table, source.schema)
    let chunks = items.map { item in
      ArchiveGroup.ChunkInfo(
        count: item.chunk.count, firstKey: item.chunk.firstKey, lastKey: item.chunk.lastKey,
        hasDenseKeys: item.chunk.hasDenseKeys, deleted: item.chunk.deleted)
    }
    let needed = first.neededPlaces
    let relations = first.stored == nil ? relations(items, table, types) : []
    let places = 0..<types.count + 2
    let blocks = prepare(places.filter { needed[$0] || first.stored == nil }, rows: items) { place, encoder in
      let relation = place < relations.count ? relations[place] : nil
      return ArchiveEncoder.block(items, place, table, id, types, relation, encoder)
    }
    var columns: [ArchiveGroup.Reference?] = []
    for place in places {
      if let block = blocks[place] {
        columns.append(
          try block.map { .init(block: try write($0, place, table, id, types), firstPart: 0) })
      } else {
        columns.append(
          first.stored?.group.columns[place].map { reference in
            .init(block: reference.block, firstPart: reference.firstPart + first.stored!.index)
          })
      }
    }
    return ArchiveGroup(id: id, table: table, types: types, chunks: chunks, columns: columns)
  }

  private func relations(
    _ items: ArraySlice<Item>, _ table: Int, _ types: [ValueType]
  ) -> [ColumnRelation?] {
    guard encoders[0].effort == .smallest else { return [] }
    if let known = relations[table] { return known }
    // What holds for few rows may hold by chance.
    guard items.reduce(0, { $0 + $1.chunk.count }) >= ArchiveEncoder.leastSample else { return [] }
    let found = RelationFinder.plan(
      types.indices.map { slot in items.map { $0.column(slot).first($0.chunk.count) } })
    relations[table] = found
    return found
  }

  private static let leastSample = 1024

  /// A block that isn't written yet.
  private struct Block {
    let bytes: [UInt8]
    let columns: [Column]
    let zone: Zone
    let sources: [Int]
  }

  /// What `make` makes of each place: on two threads where there is enough to do, since blocks don't depend
  /// on each other and are written in order all the same.
  private func prepare(
    _ places: [Int], rows items: ArraySlice<Item>, _ make: @Sendable (Int, ColumnEncoder) -> Block?
  ) -> [Int: Block?] {
    guard places.count > 1, items.reduce(0, { $0 + $1.chunk.count }) >= ArchiveEncoder.leastShared else {
      return Dictionary(uniqueKeysWithValues: places.map { ($0, make($0, encoders[0])) })
    }
    while encoders.count < 2 { encoders.append(ColumnEncoder(effort: encoders[0].effort)) }
    let made = SharedWork.results(places.count, workers: (encoders[0], encoders[1])) { make(places[$0], $1) }
    return Dictionary(uniqueKeysWithValues: zip(places, made))
  }

  /// How many rows are worth a second thread.
  private static let leastShared = 4096

  /// The columns of one place; nil where the file says them without a block.
  private static func block(
    _ items: ArraySlice<Item>, _ place: Int, _ table: Int, _ group: UInt32, _ types: [ValueType],
    _ relation: ColumnRelation?, _ encoder: ColumnEncoder
  ) -> Block? {
    if place == types.count + 1, items.allSatisfy(\.chunk.hasDenseKeys) { return nil }
    let parts = items.map { item in (column: item.column(place), rows: item.chunk.count) }
    let zone = parts.reduce(Zone()) { $0.union($1.column.zone) }
    if place == types.count, zone.minInteger == 1, zone.maxInteger == 1 { return nil }
    let columns = parts.map { $0.column.first($0.rows) }
    var encoded = encoder.encode(columns, type: columns[0].type)
    var sources: [Int] = []
    if let relation {
      let others = relation.sources.map { slot in items.map { $0.column(slot).first($0.chunk.count) } }
      let related = encoder.encode(columns, type: columns[0].type, relation: relation, sources: others)
      if related.bytes.count < encoded.bytes.count {
        encoded = related
        sources = relation.sources
      }
    }
    let bytes = ColumnBlock.bytes(
      encoded, rows: parts.map(\.rows), table: table, place: place, slotCount: types.count, group: group)
    return Block(bytes: bytes, columns: parts.map(\.column), zone: zone, sources: sources)
  }

  private func write(
    _ block: Block, _ place: Int, _ table: Int, _ group: UInt32, _ types: [ValueType]
  ) throws -> ArchiveBlock {
    let written = ArchiveBlock(
      source: source, offset: sink.offset, length: block.bytes.count, table: table, place: place,
      group: group,
      type: ArchiveTables.type(ofPlace: place, types), zone: block.zone, sources: block.sources)
    try sink.append(block.bytes)
    if keepsColumns { self.written.append((written, block.columns)) }
    return written
  }
}

extension Column {
  /// The first `count` rows. The memory of a column may have further ones, which a later chunk has put there.
  fileprivate func first(_ count: Int) -> Column { self.count == count ? self : gathering(Array(0..<count)) }
}

extension Chunk {
  /// The column of a place: a slot, the versions, or the keys.
  func place(_ place: Int) -> Column {
    if place < slotCount { return columns[place] }
    return place == slotCount ? versions : keyColumn
  }

  /// The keys as a column, dense or not.
  private var keyColumn: Column {
    let builder = ColumnBuilder(.int64)
    for row in 0..<count { builder.append(key(row)) }
    return builder.finish()
  }
}
