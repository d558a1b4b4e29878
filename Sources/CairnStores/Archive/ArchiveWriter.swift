// Saves to an open archive: new blocks behind the old ones, a footer that names them, and only then the commit slot.
//
// Two barriers: blocks, footer and trailer are on the medium before the slot that names them is written; a save is
// acknowledged when the slot is. So a crash leaves the state before or after, and a slot never names what isn't there.

import CairnModel
import Foundation

/// The one writer of an open archive. Confined to whoever holds the engine's write lock.
final class ArchiveWriter {
  private let file: any OpenFile
  private let path: String
  private let options: Options
  let source: ArchiveSource
  /// How the file's tables lie in the schema of the snapshots.
  let order: SchemaOrder
  var effort: EncodingEffort { options.effort }
  private(set) var index: ArchiveIndex
  private var slot: CommitSlot
  private var slotNumber: Int
  /// The footers that say the state, newest first.
  private var footers: [BlockPlace]
  /// By table: the last chunk, which stays in memory as a whole because rows are appended to it, and what the
  /// file has of it.
  private var tails: [Int: (chunk: Chunk, part: ArchivePart)] = [:]
  /// How many groups use each block.
  private var uses: [ObjectIdentifier: Int] = [:]
  /// What blocks in use take.
  private(set) var liveByteCount = 0
  /// Why nothing can be written any more; nil while something can.
  private var poison: StoreError?
  /// Whether there may be bytes behind the committed length, of a save that failed and couldn't be cut off.
  private var hasRest = false

  /// How to write.
  struct Options {
    var effort: EncodingEffort
    /// A whole footer shorter than this, in bytes, is written with each save, because a difference would hardly be
    /// shorter.
    var leastFooter: Int
    var leastBlob: Int
    var clock: @Sendable () -> Date
  }

  init(
    _ contents: ArchiveContents, _ order: SchemaOrder, file: any OpenFile, options: Options
  ) throws {
    self.file = file
    self.order = order
    self.options = options
    path = contents.source.path
    source = contents.source
    index = contents.index
    slot = contents.slot
    slotNumber = contents.slotNumber ?? 0
    footers = contents.footers
    for groups in index.tables { for group in groups { use(group, by: 1) } }
    if contents.unfinished > 0 { try file.truncate(to: slot.fileLength) }
    // While a slot is damaged the end of the file has to tell, which the next save moves. One after the other, so
    // that no crash damages both.
    for number in contents.damagedSlots {
      try file.write(slot.bytes, at: CommitSlot.offsets[number])
      try file.sync()
    }
    if let number = contents.damagedSlots.first { slotNumber = number }
  }

  var byteCount: UInt64 { slot.fileLength }

  /// Whether more than half of the file is of no use any more.
  var isWasteful: Bool {
    let waste = Int64(slot.fileLength) - Int64(liveByteCount)
    return waste > Int64(liveByteCount) && waste > ArchiveWriter.leastWaste
  }

  /// Whether the file has to be written anew before anything can be saved to it: it has keys of one-to-one pairs
  /// where the snapshots have none.
  var needsOtherKeys: Bool { !order.flips.isEmpty }

  /// A file isn't written anew for less, in bytes.
  static let leastWaste: Int64 = 1 << 20

  /// Throws why nothing can be written any more, and where the file isn't the one at its path any more: what would be
  /// saved to it then, nobody could open. Costs two looks at the file.
  func requireWorking(on fileSystem: any FileSystem) throws {
    if let poison { throw poison }
    guard let present = try fileSystem.information(path), present.isSameFile(as: try file.information())
    else {
      throw StoreError(
        .fileSystem, "the archive was removed or replaced while it was open", file: path,
        remedy: "close the store, see what became of the file, and open it again")
    }
  }

  /// From here on nothing is written: another file is in the place of this one, or may be.
  func stop(after error: any Error) {
    poison =
      error as? StoreError
      ?? StoreError(.outcomeUnknown, "it was written anew, and then failed: \(error)", file: path)
  }

  // MARK: Saving

  /// Writes what differs between the tables of two snapshots, and returns the second with chunks that the file
  /// stands behind.
  ///
  /// Throws what the file system throws: the file is as before then. Only where it can't be known whether the save
  /// is on the medium, `outcomeUnknown`, and every later save throws the same until the archive is opened again.
  /// `check` is called when everything has been read that is needed, and before anything is final; what it throws is
  /// thrown.
  func save(
    from old: TableSnapshot, to new: TableSnapshot, nextKeys: [Int64], nextJoinKeys: [Int64],
    metadata: StoreMetadata?, checking check: () throws -> Void
  ) throws -> TableSnapshot {
    if let poison { throw poison }
    precondition(!needsOtherKeys, "the file has to be written anew first")
    try check()
    // The end of the file has to be this save's own: it tells where a slot is damaged.
    if hasRest { try cut() }
    var next = index
    next.generation = new.generation.number
    next.time = options.clock().millisecondsSince1970
    next.nextKeys = order.stored(byEntity: nextKeys)
    next.nextJoinKeys = order.stored(byJoin: nextJoinKeys)
    let sink = AppendingSink(file, from: slot.fileLength)
    let encoder = ArchiveEncoder(
      to: sink, source: source, effort: effort, nextGroup: index.nextGroup, keepsColumns: true,
      leastBlob: options.leastBlob)
    do {
      let metadataText = try metadata.map {
        try TextBlock.encode(.metadata, try ArchivedMetadata($0).json, level: 9)
      }
      if let metadataText {
        next.metadata = BlockPlace(offset: sink.offset, length: metadataText.count)
        try sink.append(metadataText)
      }
      var splices: [GroupSplice] = []
      for table in next.tables.indices {
        let given = order.tables[table].given
        guard let before = old.table(given), let after = new.table(given), before.serial != after.serial
        else {
          continue
        }
        next.tables[table] = try encoder.groups(of: items(after, table), table: table)
        if let splice = ArchiveWriter.splice(index.tables[table], next.tables[table], table) {
          splices.append(splice)
        }
      }
      next.nextGroup = encoder.nextGroup
      let footer = try footer(next, splices)
      // Copies for salvaging: a damaged footer would take the commit with it.
      try sink.append(footer.bytes)
      if let metadataText { try sink.append(metadataText) }
      let place = BlockPlace(offset: sink.offset, length: footer.bytes.count)
      try sink.append(footer.bytes)
      let newSlot = CommitSlot(
        generation: UInt64(next.generation), fileLength: sink.offset + UInt64(ArchiveTrailer.size),
        footerOffset: place.offset, footerLength: UInt32(place.length))
      try sink.append(ArchiveTrailer(slot: newSlot, uuid: source.uuid).bytes)
      try check()
      try sink.flush()
      try commit(newSlot)
      footers = footer.isWhole ? [place] : [place] + footers
    } catch {
      if poison == nil {
        // What is behind the committed length means nothing; the room is given back where that goes.
        hasRest = true
        try? cut()
      }
      throw error
    }
    return adopt(next, new, encoder)
  }

  private func cut() throws {
    try file.truncate(to: slot.fileLength)
    hasRest = false
  }

  private func commit(_ new: CommitSlot) throws {
    do {
      try file.sync()
      try file.write(new.bytes, at: CommitSlot.offsets[1 - slotNumber])
      try file.sync()
    } catch let error as StoreError {
      // After a failed sync nobody knows what is on the medium, and asking again proves nothing.
      poison = StoreError(
        .outcomeUnknown, "it isn't known whether the save is on the medium: \(error.message)", file: path,
        remedy: "close the store and open it again: it then has the state before the save or after it",
        systemError: error.systemError)
      throw poison!
    }
    slot = new
    slotNumber = 1 - slotNumber
  }

  private func items(_ table: Table, _ number: Int) -> [ArchiveEncoder.Item] {
    let places = order.tables[number].givenPlaces
    return table.chunks.all.map { chunk in
      var item = ArchiveEncoder.Item(chunk: chunk, places: places)
      if let part = chunk.backing as? ArchivePart {
        item.stored = part
        return item
      }
      guard let tail = tails[number] else { return item }
      if tail.chunk === chunk {
        item.stored = tail.part
        item.isStoredPlace = [Bool](repeating: true, count: chunk.held.count)
        return item
      }
      // A new version of the last chunk: what of it is the same memory is in the file.
      if tail.chunk.firstKey == chunk.firstKey, tail.chunk.count == chunk.count {
        item.stored = tail.part
        item.isStoredPlace = zip(tail.chunk.held, chunk.held).map { $0 === $1 }
      }
      return item
    }
  }

  /// What has to be replaced; nil where nothing has.
  private static func splice(_ old: [ArchiveGroup], _ new: [ArchiveGroup], _ table: Int) -> GroupSplice? {
    var start = 0
    while start < old.count, start < new.count, old[start] === new[start] { start += 1 }
    var end = 0
    while end < min(old.count, new.count) - start, old[old.count - 1 - end] === new[new.count - 1 - end] {
      end += 1
    }
    let removed = old.count - start - end
    let inserted = Array(new[start..<new.count - end])
    if removed == 0, inserted.isEmpty { return nil }
    return GroupSplice(table: table, start: start, removed: removed, inserted: inserted)
  }

  /// A footer that only says the difference, unless the differences since the last whole one have become more to
  /// read than that was: so a small save doesn't cost what the file holds, nor opening what was ever saved.
  private func footer(
    _ next: ArchiveIndex, _ splices: [GroupSplice]
  ) throws -> (bytes: [UInt8], isWhole: Bool) {
    let differences = footers.dropLast().reduce(0) { $0 + $1.length }
    let whole = footers.last!.length
    if differences > 2 * whole + 4096 || footers.count >= ArchiveFile.longestChain / 2
      || whole < options.leastFooter
    {
      return (try TextBlock.encode(.footer, next.wholeFooter, level: 6), true)
    }
    return (try TextBlock.encode(.footer, next.deltaFooter(splices, after: footers[0]), level: 6), false)
  }

  // MARK: Afterwards

  /// Takes the new state over. Chunks that were written are replaced by ones that the file stands behind, their
  /// columns given to the cache; the last chunk of each table stays in memory.
  private func adopt(_ next: ArchiveIndex, _ new: TableSnapshot, _ encoder: ArchiveEncoder) -> TableSnapshot {
    var changed: [Int: Table] = [:]
    for table in next.tables.indices {
      let before = index.tables[table]
      let after = next.tables[table]
      if before.count == after.count, zip(before, after).allSatisfy({ $0 === $1 }) { continue }
      for group in after { use(group, by: 1) }
      for group in before { use(group, by: -1) }
      let given = order.tables[table].given
      changed[given] = rebased(new.table(given)!, table, after, encoder)
    }
    for (block, columns) in encoder.written { block.keep(columns) }
    index = next
    return new.replacing(changed)
  }

  /// The table with chunks that the file stands behind.
  private func rebased(
    _ table: Table, _ number: Int, _ groups: [ArchiveGroup], _ encoder: ArchiveEncoder
  ) -> Table {
    let places = order.tables[number].storedPlaces
    let nothing = [Column?](repeating: nil, count: table.types.count + 2)
    var list = ChunkList()
    var chunks = table.chunks.all[...]
    tails[number] = nil
    for group in groups {
      for place in group.chunks.indices {
        let chunk = chunks.removeFirst()
        if chunks.isEmpty, chunk.count < Chunk.capacity, chunk.backing == nil {
          // Large values don't stay in memory with it.
          let kept = chunk.holding(encoder.spread[ObjectIdentifier(chunk)] ?? [:], order.tables[number])
          tails[number] = (kept, ArchivePart(group, place, storedPlaces: places))
          list.append(kept)
        } else if let part = chunk.backing as? ArchivePart, part.group === group, part.index == place {
          list.append(chunk)
        } else {
          list.append(
            group.chunk(place, entity: table.entity, nothingHeld: nothing, storedPlaces: places))
        }
      }
    }
    return table.replacingChunks(list)
  }

  private func use(_ group: ArchiveGroup, by step: Int) {
    for case let reference? in group.columns {
      let key = ObjectIdentifier(reference.block)
      let before = uses[key] ?? 0
      let after = before + step
      uses[key] = after == 0 ? nil : after
      if before == 0 { liveByteCount += reference.block.length }
      if after == 0 { liveByteCount -= reference.block.length }
      liveByteCount += step * reference.blobBytes.reduce(0, +)
    }
  }
}

extension Chunk {
  /// The same rows with other columns, by place of the file.
  fileprivate func holding(_ columns: [Int: Column], _ order: SchemaOrder.TableOrder) -> Chunk {
    if columns.isEmpty { return self }
    var held = held
    for (place, column) in columns { held[order.givenPlaces?[place] ?? place] = column }
    return Chunk(
      entity: entity, count: count, firstKey: firstKey, lastKey: lastKey, hasDenseKeys: hasDenseKeys,
      deleted: deleted, slotCount: slotCount, held: held, backing: backing)
  }
}

/// Appends to a file, in large writes.
final class AppendingSink: BlockSink {
  private let file: any OpenFile
  private var start: UInt64
  private var buffer: [UInt8] = []

  init(_ file: any OpenFile, from offset: UInt64) {
    self.file = file
    start = offset
  }

  var offset: UInt64 { start + UInt64(buffer.count) }

  func append(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 20 { try flush() }
  }

  func flush() throws {
    if buffer.isEmpty { return }
    try file.write(buffer, at: start)
    start += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
