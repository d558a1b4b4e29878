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
  /// The columns of chunks with values that are in the file now, apart, by place of the file.
  private(set) var spread: [ObjectIdentifier: [Int: Column]] = [:]
  /// Whether texts that are items of others were written, which the file has to say.
  private(set) var usesItems = false
  private lazy var blobDeflater = BlockDeflater()
  /// Whether `written` is filled, for a cache.
  private let keepsColumns: Bool
  /// By table, for each slot the relation to others by which its blocks get smaller; looked for in the first
  /// large group, and only where files are to be smallest.
  private var relations: [Int: [ColumnRelation?]] = [:]

  /// Values of so many bytes or more are kept apart, where the attribute allows it.
  private let leastBlob: Int
  /// Blocks of columns aren't longer than so many bytes before they are deflated.
  private let longestBlock: Int

  /// `source` is what the new blocks will be read from. Further encoders are like the one given.
  init(
    to sink: any BlockSink, source: ArchiveSource, _ encoder: ColumnEncoder, nextGroup: UInt32,
    keepsColumns: Bool, leastBlob: Int, longestBlock: Int
  ) {
    self.leastBlob = leastBlob
    self.longestBlock = longestBlock
    self.sink = sink
    self.source = source
    encoders = [encoder]
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

    /// Columns whose large values have been written apart, by place.
    var spread: [Int: Column] = [:]

    /// The column of a place: a slot, the versions, or the keys.
    func column(_ place: Int) -> Column { spread[place] ?? chunk.place(places?[place] ?? place) }

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

  /// The groups that hold `items`, in order. Throws what the sink throws, and `unsupportedRequest` where the values of
  /// one column in one chunk are more than readers take of a block.
  func groups(of items: [Item], table: Int) throws -> [ArchiveGroup] {
    var result: [ArchiveGroup] = []
    var start = 0
    while start < items.count {
      var end = start + 1
      while end < items.count, end - start < ArchiveGroup.capacity, items[end - 1].goesWith(items[end]) {
        end += 1
      }
      result += try groups(of: items[start..<end], table: table)
      start = end
    }
    return result
  }

  /// One group, or several where a block of it would be too long.
  private func groups(of items: ArraySlice<Item>, table: Int) throws -> [ArchiveGroup] {
    let first = items.first!
    if first.isClean, let part = first.stored, part.index == 0, part.group.chunks.count == items.count {
      return [part.group]
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
    let items = try writingBlobs(items, table, id, needed)
    let relations = first.stored == nil ? relations(items, table, types) : []
    let places = 0..<types.count + 2
    let blocks = prepare(places.filter { needed[$0] || first.stored == nil }, rows: items) {
      [longestBlock] place, encoder in
      let relation = place < relations.count ? relations[place] : nil
      return ArchiveEncoder.block(items, place, table, id, types, relation, encoder, longestBlock)
    }
    if let place = places.first(where: { place in blocks[place].map { $0?.isTooLong ?? false } ?? false }) {
      guard items.count > 1 else { throw tooLong(table, place) }
      let middle = items.startIndex + items.count / 2
      return try groups(of: items[..<middle], table: table) + groups(of: items[middle...], table: table)
    }
    var columns: [ArchiveGroup.Reference?] = []
    for place in places {
      if let block = blocks[place] {
        columns.append(
          try block.map {
            .init(
              block: try write($0, place, table, id, types), firstPart: 0, blobBytes: $0.blobBytes)
          })
      } else {
        columns.append(
          first.stored?.group.columns[place].map { reference in
            let start = first.stored!.index
            let bytes = reference.blobBytes
            return .init(
              block: reference.block, firstPart: reference.firstPart + start,
              blobBytes: bytes.isEmpty ? [] : Array(bytes[start..<start + items.count]).nilIfZero)
          })
      }
    }
    return [ArchiveGroup(id: id, table: table, types: types, chunks: chunks, columns: columns)]
  }

  private func tooLong(_ table: Int, _ place: Int) -> StoreError {
    let names = ArchiveTables.names(table, place, source.schema)
    return StoreError(
      .unsupportedRequest,
      "the values of \(Chunk.capacity) rows take more than the \(longestBlock) bytes that a block has room for",
      entity: names.table, property: names.column, file: source.path,
      remedy:
        "allow external storage for the attribute, if its type is binary data, or keep the values in files")
  }

  private func relations(
    _ items: ArraySlice<Item>, _ table: Int, _ types: [ValueType]
  ) -> [ColumnRelation?] {
    guard encoders[0].effort == .smallest else { return [] }
    if let known = relations[table] { return known }
    // What holds for few rows may hold by chance.
    guard items.reduce(0, { $0 + $1.chunk.count }) >= ArchiveEncoder.leastSample else { return [] }
    // Nothing follows from values that would have to be read one by one.
    let found = RelationFinder.plan(
      types.indices.map { slot in
        items.map { item in
          let isApart = mayHaveBlobs(table, slot)
          return isApart ? .nothing(types[slot], item.chunk.count) : item.column(slot).first(item.chunk.count)
        }
      }, allowingItems: source.features & ArchiveHeader.Feature.items != 0)
    relations[table] = found
    if found.contains(where: { $0?.kind.joint != nil }) { usesItems = true }
    return found
  }

  private static let leastSample = 1024

  /// A block that isn't written yet.
  private struct Block {
    let bytes: [UInt8]
    let columns: [Column]
    let zone: Zone
    let sources: [Int]
    /// By chunk; empty where there are none.
    let blobBytes: [Int]
    var isTooLong = false
  }

  /// What `make` makes of each place: on two threads where there is enough to do, since blocks don't depend
  /// on each other and are written in order all the same.
  private func prepare(
    _ places: [Int], rows items: ArraySlice<Item>, _ make: @Sendable (Int, ColumnEncoder) -> Block?
  ) -> [Int: Block?] {
    guard encoders[0].effort.triesForms, places.count > 1,
      items.reduce(0, { $0 + $1.chunk.count }) >= ArchiveEncoder.leastShared
    else {
      return Dictionary(uniqueKeysWithValues: places.map { ($0, make($0, encoders[0])) })
    }
    while encoders.count < 2 { encoders.append(ColumnEncoder(effort: encoders[0].effort)) }
    let made = SharedWork.results(places.count, workers: (encoders[0], encoders[1])) { make(places[$0], $1) }
    return Dictionary(uniqueKeysWithValues: zip(places, made))
  }

  /// How many rows are worth a second thread, where forms are tried.
  private static let leastShared = 4096

  /// The columns of one place; nil where the file says them without a block.
  private static func block(
    _ items: ArraySlice<Item>, _ place: Int, _ table: Int, _ group: UInt32, _ types: [ValueType],
    _ relation: ColumnRelation?, _ encoder: ColumnEncoder, _ longest: Int
  ) -> Block? {
    if place == types.count + 1, items.allSatisfy(\.chunk.hasDenseKeys) { return nil }
    let parts = items.map { item in (column: item.column(place), rows: item.chunk.count) }
    let zone = parts.reduce(Zone()) { $0.union($1.column.zone) }
    if place == types.count, zone.minInteger == 1, zone.maxInteger == 1 { return nil }
    let own = parts.map { $0.column.first($0.rows) }
    let blobs = own.map { $0.blobs($0.count) }
    let columns = own.map(\.withoutExternalValues)
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
    if encoded.rawLength > longest {
      return Block(bytes: [], columns: [], zone: zone, sources: [], blobBytes: [], isTooLong: true)
    }
    let bytes = ColumnBlock.bytes(
      encoded, rows: parts.map(\.rows), blobs: ArchiveEncoder.joined(blobs, own), table: table, place: place,
      slotCount: types.count, group: group)
    return Block(
      bytes: bytes, columns: parts.map(\.column), zone: zone, sources: sources,
      blobBytes: blobs.map { $0.reduce(0) { $0 + $1.blob.length } }.nilIfZero)
  }

  /// Blobs by row over all parts.
  private static func joined(
    _ blobs: [[(row: Int, blob: ArchiveBlob)]], _ parts: [Column]
  ) -> [(row: Int, blob: ArchiveBlob)] {
    var start = 0
    return zip(blobs, parts).flatMap { blobs, part in
      defer { start += part.count }
      return blobs.map { (row: $0.row + start, blob: $0.blob) }
    }
  }

  // MARK: Values that are kept apart

  private func mayHaveBlobs(_ table: Int, _ place: Int) -> Bool {
    source.hasBlobs && ArchiveTables.mayHaveBlobs(table, place, source.schema)
  }

  /// The items with columns whose large values are in the file, one by one, before the blocks that say where. Those that
  /// are there already stay where they are; those of another file are copied as they lie there.
  private func writingBlobs(
    _ items: ArraySlice<Item>, _ table: Int, _ group: UInt32, _ needed: [Bool]
  ) throws -> ArraySlice<Item> {
    var result = items
    for place in needed.indices where needed[place] || items.first!.stored == nil {
      for index in items.indices {
        guard
          let column = try spread(items[index].column(place), items[index].chunk.count, table, place, group)
        else { continue }
        result[index].spread[place] = column
        if keepsColumns { spread[ObjectIdentifier(items[index].chunk), default: [:]][place] = column }
      }
    }
    return result
  }

  /// nil where nothing of the column changes.
  private func spread(
    _ column: Column, _ count: Int, _ table: Int, _ place: Int, _ group: UInt32
  ) throws -> Column? {
    guard mayHaveBlobs(table, place) else {
      // A file that has no room for them.
      return column.externalValues == nil ? nil : try loaded(column)
    }
    guard column.type == .data || column.type == .transformable else { return nil }
    var (rows, values): ([Int], [any ExternalValue]) = ([], [])
    var isChanged = false
    for row in 0..<count {
      let external = column.externalValues?[row]
      if let blob = external as? ArchiveBlob, blob.source === source {
        rows.append(row)
        values.append(blob)
        continue
      }
      let block: [UInt8]
      var byteCount = external?.byteCount ?? 0
      if let blob = external as? ArchiveBlob {
        let (header, stored) = try blob.block()
        block = ArchiveBlob.block(
          stored, codec: header.codec, rawLength: byteCount, table: table, place: place, group: group)
      } else {
        let bytes = column.bytes(row)
        if let failure = column.failure(at: row) { throw failure }
        guard external != nil || bytes.count >= leastBlob, (1...BlobList.longest).contains(bytes.count)
        else { continue }
        byteCount = bytes.count
        block = ArchiveBlob.block(
          bytes, table: table, place: place, group: group, level: encoders[0].effort.deflateLevel ?? 1,
          deflater: blobDeflater)
      }
      isChanged = true
      let checksum = try BlockHeader.read(block[..<BlockHeader.size]).checksum
      rows.append(row)
      values.append(
        ArchiveBlob(
          source: source, offset: sink.offset, length: block.count, byteCount: byteCount, checksum: checksum,
          table: table, place: place))
      try sink.append(block)
    }
    return isChanged ? column.replacingBytes(at: rows, by: ExternalValues(rows: rows, values: values)!) : nil
  }

  private func loaded(_ column: Column) throws -> Column {
    let loaded = column.loadingExternalValues
    for row in column.externalValues?.rows ?? [] {
      if let failure = column.failure(at: row) { throw failure }
    }
    return loaded
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

extension Array<Int> {
  fileprivate var nilIfZero: [Int] { allSatisfy { $0 == 0 } ? [] : self }
}

extension Column {
  fileprivate static func nothing(_ type: ValueType, _ count: Int) -> Column {
    let builder = ColumnBuilder(type)
    for _ in 0..<count { builder.appendNull() }
    return builder.finish()
  }

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
