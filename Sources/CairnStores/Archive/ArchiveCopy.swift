// Writes an archive as a whole: a new one, a compacted one, or a copy of any tables.

import CairnModel
import Foundation

/// Writes tables into a new file in the place of an old one, or where none was.
struct ArchiveCopy {
  let fileSystem: any FileSystem
  let path: String
  var effort = EncodingEffort.default
  /// Values of so many bytes or more are kept apart, where the attribute allows it.
  var leastBlob = ArchiveBlob.leastSize
  var clock: @Sendable () -> Date = { Date() }
  /// Columns aren't longer than so many bytes before they are deflated.
  var longestBlock = DecodingLimits().rawLength
  /// Called when everything is on the medium, right before it takes the old file's place; what it throws ends the copy.
  var check: () throws -> Void = {}
  /// What is written instead of a chunk of a table; nil leaves its rows out. Where this is nil, a damaged chunk
  /// ends the copy.
  var repair: ((Chunk, Int) -> Chunk?)?
  /// Told how many of how many rows have been written.
  var progress: (Int, Int) -> Void = { _, _ in }

  /// What there is to write besides tables.
  struct Identity {
    var schema: ArchivedSchema
    var metadata: StoreMetadata
    var generation: Int64
    var nextKeys: [Int64]
    var nextJoinKeys: [Int64]
  }

  /// Writes everything, and then puts the file in its place, durably. Throws what the file system throws, and what
  /// `snapshot` has of damage, and `unsupportedRequest` for values that no block has room for: the old file is there
  /// then, untouched.
  func write(_ snapshot: TableSnapshot, _ identity: Identity) throws {
    try AtomicReplacement.replace(path, on: fileSystem, checking: check) { replacement in
      let uuid = identity.metadata.uuid
      let now = clock().millisecondsSince1970
      let sink = ReplacementSink(replacement)
      var header = ArchiveHeader(uuid: uuid, created: now)
      if ArchiveTables.mayHaveBlobs(snapshot.schema) { header.incompatible |= ArchiveHeader.Feature.blobs }
      let source = ArchiveSource(
        file: nil, path: path, uuid: uuid, schema: snapshot.schema, cacheBudget: 0,
        features: header.incompatible | ArchiveHeader.Feature.items)
      try sink.append(header.bytes)
      try sink.append([UInt8](repeating: 0, count: Int(CommitSlot.end) - ArchiveHeader.size))
      let schemaText = try TextBlock.encode(.schema, try identity.schema.json, level: 9)
      let metadataText = try TextBlock.encode(
        .metadata, try ArchivedMetadata(identity.metadata).json, level: 9)
      let schema = try put(schemaText, sink)
      let metadata = try put(metadataText, sink)
      let encoder = ArchiveEncoder(
        to: sink, source: source, ColumnEncoder(effort: effort), nextGroup: 0, keepsColumns: false,
        leastBlob: leastBlob, longestBlock: longestBlock)
      var index = ArchiveIndex(
        generation: identity.generation, time: now, nextGroup: 0,
        schema: schema, metadata: metadata, nextKeys: identity.nextKeys, nextJoinKeys: identity.nextJoinKeys,
        tables: [[ArchiveGroup]](repeating: [], count: ArchiveTables.count(snapshot.schema)))
      let total = index.tables.indices.reduce(0) { $0 + (snapshot.table($1)?.liveCount ?? 0) }
      var done = 0
      for table in index.tables.indices {
        guard let rows = snapshot.table(table) else { continue }
        index.tables[table] = try groups(rows, table, encoder) {
          done += $0
          progress(done, total)
        }
      }
      index.nextGroup = encoder.nextGroup
      let footer = try TextBlock.encode(.footer, index.wholeFooter, level: 9)
      // Everything that rows can't be found without, once more.
      for copy in [footer, schemaText, metadataText] { _ = try put(copy, sink) }
      let place = try put(footer, sink)
      let slot = CommitSlot(
        generation: UInt64(identity.generation), fileLength: sink.offset + UInt64(ArchiveTrailer.size),
        footerOffset: place.offset, footerLength: UInt32(place.length))
      try sink.append(ArchiveTrailer(slot: slot, uuid: uuid).bytes)
      if encoder.usesItems { header.incompatible |= ArchiveHeader.Feature.items }
      try replacement.overwrite(header.bytes + slot.bytes + slot.bytes, at: 0)
    }
  }

  private func put(_ block: [UInt8], _ sink: ReplacementSink) throws -> BlockPlace {
    let place = BlockPlace(offset: sink.offset, length: block.count)
    try sink.append(block)
    return place
  }

  /// The groups of a table's live rows, four full chunks at a time, so that no more than that is in memory.
  private func groups(
    _ table: Table, _ number: Int, _ encoder: ArchiveEncoder, didWrite: (Int) -> Void
  ) throws -> [ArchiveGroup] {
    var result: [ArchiveGroup] = []
    var packer = ChunkPacker(types: table.types)
    var items: [ArchiveEncoder.Item] = []
    func flush(_ isLast: Bool) throws {
      while items.count >= ArchiveGroup.capacity || isLast && !items.isEmpty {
        let count = min(items.count, ArchiveGroup.capacity)
        let damage = items.prefix(count).compactMap { $0.chunk.firstDamage }.first
        if let damage { throw damage }
        result += try encoder.groups(of: Array(items.prefix(count)), table: number)
        didWrite(items.prefix(count).reduce(0) { $0 + $1.chunk.liveCount })
        items.removeFirst(count)
      }
    }
    for chunk in table.chunks.all {
      guard let chunk = repair == nil ? chunk : repair?(chunk, number) else { continue }
      items += try packer.add(chunk).map { .init(chunk: $0) }
      try flush(false)
    }
    items += packer.finish().map { .init(chunk: $0) }
    try flush(true)
    return result
  }
}

extension Date {
  /// As files have it.
  var millisecondsSince1970: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}

extension Chunk {
  /// What was wrong with the first of the columns that couldn't be read.
  var firstDamage: StoreError? {
    for place in 0..<slotCount + (hasDenseKeys ? 1 : 2) {
      let column = place < slotCount ? columns[place] : self.place(place)
      if let damage = column.damage { return damage }
    }
    return nil
  }
}

/// Packs live rows into full chunks. A full chunk without deleted rows is passed on as it is.
private struct ChunkPacker {
  let types: [ValueType]
  private var pending: Chunk?

  init(types: [ValueType]) { self.types = types }

  /// The chunks that are complete now, in order. Throws what couldn't be read of a chunk that is taken apart:
  /// what is made of it doesn't tell any more.
  mutating func add(_ chunk: Chunk) throws -> [Chunk] {
    if pending == nil, chunk.deleted == nil, chunk.count == Chunk.capacity { return [chunk] }
    func whole(_ place: Int) throws -> Column {
      let column = chunk.place(place)
      if let damage = column.damage { throw damage }
      return column
    }
    let rows = (0..<chunk.count).filter { !chunk.isDeleted($0) }
    let (versionColumn, keyColumn) = try (whole(types.count), whole(types.count + 1))
    let keys = rows.map { keyColumn.integer($0) }
    let versions = rows.map { versionColumn.integer($0) }
    let columns = try types.indices.map { try whole($0).gathering(rows) }
    var result: [Chunk] = []
    var start = 0
    if let old = pending {
      let end = min(Chunk.capacity - old.count, rows.count)
      let grown = old.appending(keys: keys, versions: versions, columns: columns, range: 0..<end)
      start = end
      pending = grown
    } else {
      pending = Chunk.make(
        entity: chunk.entity, types: types, keys: keys, versions: versions, columns: columns,
        range: 0..<rows.count)
      start = rows.count
    }
    if pending!.count == Chunk.capacity {
      result.append(pending!)
      pending = nil
    }
    if start < rows.count {
      pending = Chunk.make(
        entity: chunk.entity, types: types, keys: keys, versions: versions, columns: columns,
        range: start..<rows.count)
    }
    return result
  }

  mutating func finish() -> [Chunk] {
    defer { pending = nil }
    return pending.map { [$0] } ?? []
  }
}

/// Appends to a file that replaces another.
private final class ReplacementSink: BlockSink {
  private let replacement: AtomicReplacement

  init(_ replacement: AtomicReplacement) { self.replacement = replacement }

  var offset: UInt64 { replacement.byteCount }

  func append(_ bytes: [UInt8]) throws { try replacement.append(bytes) }
}
