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
  /// nil until the first save: who doesn't save needn't know.
  private var knownUsage: BlockUsage?
  /// For saves of few rows, which are many: it keeps its memory between them.
  private lazy var quickEncoder = ColumnEncoder(effort: .quick)
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
    /// Of a column, in bytes before deflating.
    var longestBlock: Int
    var clock: @Sendable () -> Date
  }

  /// `isAbandoned` says whether the writer before may have ended in the middle of a save, or without knowing how one
  /// ended: then the newest commit is brought to the medium once more.
  init(
    _ contents: ArchiveContents, _ order: SchemaOrder, file: any OpenFile, options: Options,
    isAbandoned: Bool = false
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
    if contents.unfinished > 0 { try file.truncate(to: slot.fileLength) }
    var slotsToWrite = contents.damagedSlots
    // What was opened may be in the system's memory only, and after a sync that failed stay there: it has to be on the
    // medium before anybody builds on it.
    if isAbandoned, slotsToWrite.isEmpty, let number = contents.slotNumber { slotsToWrite = [number] }
    // A slot is never on the medium before what it names, and the file's end has to tell if it is torn.
    if !slotsToWrite.isEmpty { try file.sync() }
    // While a slot is damaged the end of the file has to tell, which the next save moves. One after the other, so
    // that no crash damages both.
    for number in slotsToWrite {
      try file.write(slot.bytes, at: CommitSlot.offsets[number])
      try file.sync()
    }
    if let number = contents.damagedSlots.first { slotNumber = number }
  }

  /// Whether the file says that these are the next keys.
  func hasSaved(nextKeys: [Int64]) -> Bool { index.nextKeys == order.stored(byEntity: nextKeys) }

  var byteCount: UInt64 { slot.fileLength }

  /// Whether nobody knows what is on the medium, or which file is.
  var isStopped: Bool { poison != nil }

  private var usage: BlockUsage { knownUsage ?? BlockUsage(index) }

  /// What blocks in use take.
  var liveByteCount: Int { usage.byteCount }

  /// Whether more than half of the file is of no use any more.
  var isWasteful: Bool {
    let liveByteCount = Int64(liveByteCount)
    let waste = Int64(slot.fileLength) - liveByteCount
    return waste > liveByteCount && waste > ArchiveWriter.leastWaste
  }

  /// Whether the file has to be written anew before anything can be saved to it: it has keys of one-to-one pairs
  /// where the snapshots have none.
  var needsOtherKeys: Bool { !order.flips.isEmpty }

  /// A file isn't written anew for less, in bytes.
  static let leastWaste: Int64 = 1 << 20

  /// Throws why nothing can be written any more; where the file isn't the one at its path any more, because what
  /// would be saved to it then, nobody could open; and where it has another length than was written, because then
  /// it has lost its end, or somebody else writes to it. Costs two looks at the file.
  func requireWorking(on fileSystem: any FileSystem) throws {
    if let poison { throw poison }
    let size = try requirePresence(on: fileSystem)
    guard size >= slot.fileLength else {
      throw StoreError(
        .corrupt,
        "the file has \(size) bytes, and had \(slot.fileLength): it was cut off while it was open",
        file: path,
        offset: size, remedy: ArchiveSource.remedy)
    }
    guard size == slot.fileLength || hasRest else {
      throw StoreError(
        .fileSystem,
        "the file has \(size) bytes, and had \(slot.fileLength): somebody else has written to it",
        file: path, remedy: "close the store, see who else writes to the file, and open it again")
    }
  }

  /// Throws where the file isn't the one at its path any more. Returns its size.
  @discardableResult
  func requirePresence(on fileSystem: any FileSystem) throws -> UInt64 {
    let own = try file.information()
    guard let present = try fileSystem.information(path), present.isSameFile(as: own) else {
      throw StoreError(
        .fileSystem, "the archive was removed or replaced while it was open", file: path,
        remedy: "close the store, see what became of the file, and open it again")
    }
    return own.size
  }

  /// From here on nothing is written: another file is in the place of this one, or may be.
  func stop(after error: any Error) {
    poison =
      error as? StoreError
      ?? StoreError(.outcomeUnknown, "it was written anew, and then failed: \(error)", file: path)
  }

  // MARK: Saving

  /// Writes what differs between the tables of two snapshots, and returns the second with chunks that the file
  /// stands behind. The first is what the file says. Costs what the chunks cost that differ, whatever else there is.
  ///
  /// `rowCount` is how many rows changed.
  ///
  /// Throws what the file system throws: the file is as before then. Only where it can't be known whether the save
  /// is on the medium, `outcomeUnknown`, and every later save throws the same until the archive is opened again.
  /// `check` is called when everything has been read that is needed, and before anything is final; what it throws is
  /// thrown. So is what `requireOwner` throws, which says whether the file is this writer's still: it is called before
  /// the end of the file is written and before the slot, since the one who has it now may have saved.
  func save(
    from old: TableSnapshot, to new: TableSnapshot, rowCount: Int, nextKeys: [Int64],
    nextJoinKeys: [Int64], metadata: StoreMetadata?, checking check: () throws -> Void,
    requireOwner: () throws -> Void
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
    var changes = order.tables.indices.compactMap { change(of: $0, from: old, to: new) }
    let columnEncoder = encoder(for: changes, rowCount)
    let encoder = ArchiveEncoder(
      to: sink, source: source, columnEncoder, nextGroup: index.nextGroup, keepsColumns: true,
      leastBlob: options.leastBlob, longestBlock: options.longestBlock)
    do {
      let metadataText = try metadata.map {
        try TextBlock.encode(.metadata, try ArchivedMetadata($0).json, level: 9)
      }
      if let metadataText {
        next.metadata = BlockPlace(offset: sink.offset, length: metadataText.count)
        try sink.append(metadataText)
      }
      for number in changes.indices {
        let table = changes[number].table
        let groups = try encoder.groups(of: changes[number].items, table: table)
        changes[number].inserted = groups
        next.tables[table].replaceSubrange(changes[number].groups, with: groups)
      }
      next.nextGroup = encoder.nextGroup
      let footer = try footer(next, changes.compactMap(splice), columnEncoder.deflater)
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
      try requireOwner()
      try sink.flush()
      try poisoning { try file.sync() }
      try requireOwner()
      try commit(newSlot)
      footers = footer.isWhole ? [place] : [place] + footers
    } catch {
      if poison == nil {
        // What is behind the committed length means nothing; the room is given back where that goes. Behind the
        // length that another writer committed it is that one's.
        hasRest = true
        if (try? requireOwner()) != nil { try? cut() }
      }
      throw error
    }
    return adopt(next, new, changes, encoder)
  }

  /// What becomes of a part of one table.
  private struct Change {
    let table: Int
    /// The groups of the file that have other ones in their place.
    let groups: Range<Int>
    /// Their chunks in the new snapshot.
    let chunks: Range<Int>
    /// Whether there are no chunks behind these.
    let isAtEnd: Bool
    let items: [ArchiveEncoder.Item]
    var inserted: [ArchiveGroup] = []
  }

  /// nil where the table is the same in both.
  private func change(of number: Int, from old: TableSnapshot, to new: TableSnapshot) -> Change? {
    let given = order.tables[number].given
    guard let before = old.table(given), let after = new.table(given), before.serial != after.serial else {
      return nil
    }
    let (gone, come) = after.chunks.difference(from: before.chunks)
    if gone.isEmpty, come.isEmpty { return nil }
    // Groups are replaced as a whole.
    let groups = index.tables[number]
    var first = 0
    var start = 0
    while first < groups.count, start + groups[first].chunks.count <= gone.lowerBound {
      start += groups[first].chunks.count
      first += 1
    }
    if start == gone.lowerBound, gone.isEmpty {
      let items = items(after.chunks[come], number)
      return Change(
        table: number, groups: first..<first, chunks: come, isAtEnd: come.upperBound == after.chunks.count,
        items: items)
    }
    var last = first
    var end = start
    while end < gone.upperBound {
      end += groups[last].chunks.count
      last += 1
    }
    let chunks = start..<come.upperBound + end - gone.upperBound
    return Change(
      table: number, groups: first..<last, chunks: chunks,
      isAtEnd: chunks.upperBound == after.chunks.count, items: items(after.chunks[chunks], number))
  }

  /// Where few of the rows to be written have changed, the search for the smallest form would be most of what a save
  /// costs, and its result is replaced by the next.
  private func encoder(for changes: [Change], _ rowCount: Int) -> ColumnEncoder {
    let written = changes.reduce(0) { sum, change in
      change.items.reduce(sum) { $0 + ($1.isClean ? 0 : $1.chunk.count) }
    }
    return effort != .smallest && rowCount < written / ArchiveWriter.leastShare
      ? quickEncoder : ColumnEncoder(effort: effort)
  }

  /// One in so many of the rows written has to have changed for their form to be searched for.
  private static let leastShare = 8

  private func cut() throws {
    try file.truncate(to: slot.fileLength)
    hasRest = false
  }

  private func commit(_ new: CommitSlot) throws {
    try poisoning {
      try file.write(new.bytes, at: CommitSlot.offsets[1 - slotNumber])
      try file.sync()
    }
    slot = new
    slotNumber = 1 - slotNumber
  }

  /// After an error of `body` nothing can be written any more.
  private func poisoning(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError {
      // After a failed sync nobody knows what is on the medium, and asking again proves nothing.
      poison = StoreError(
        .outcomeUnknown, "it isn't known whether the save is on the medium: \(error.message)", file: path,
        remedy: "close the store and open it again: it then has the state before the save or after it",
        systemError: error.systemError)
      throw poison!
    }
  }

  private func items(_ chunks: [Chunk], _ number: Int) -> [ArchiveEncoder.Item] {
    let places = order.tables[number].givenPlaces
    return chunks.map { chunk in
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
  private func splice(_ change: Change) -> GroupSplice? {
    let (old, new) = (index.tables[change.table][change.groups], change.inserted)
    var start = 0
    while start < old.count, start < new.count, old[old.startIndex + start] === new[start] { start += 1 }
    var end = 0
    while end < min(old.count, new.count) - start, old[old.endIndex - 1 - end] === new[new.count - 1 - end] {
      end += 1
    }
    let removed = old.count - start - end
    let inserted = Array(new[start..<new.count - end])
    if removed == 0, inserted.isEmpty { return nil }
    return GroupSplice(
      table: change.table, start: old.startIndex + start, removed: removed, inserted: inserted)
  }

  /// A footer that only says the difference, unless the differences since the last whole one have become more to
  /// read than that was: so a small save doesn't cost what the file holds, nor opening what was ever saved.
  private func footer(
    _ next: ArchiveIndex, _ splices: [GroupSplice], _ deflater: BlockDeflater
  ) throws -> (bytes: [UInt8], isWhole: Bool) {
    let differences = footers.dropLast().reduce(0) { $0 + $1.length }
    let whole = footers.last!.length
    if differences > 2 * whole + 4096 || footers.count >= ArchiveFile.longestChain / 2
      || whole < options.leastFooter
    {
      return (try TextBlock.encode(.footer, next.wholeFooter, level: 6, deflater: deflater), true)
    }
    let text = next.deltaFooter(splices, after: footers[0])
    return (try TextBlock.encode(.footer, text, level: 6, deflater: deflater), false)
  }

  // MARK: Afterwards

  /// Takes the new state over. Chunks that were written are replaced by ones that the file stands behind, their
  /// columns given to the cache; the last chunk of each table stays in memory.
  private func adopt(
    _ next: ArchiveIndex, _ new: TableSnapshot, _ changes: [Change], _ encoder: ArchiveEncoder
  ) -> TableSnapshot {
    var changed: [Int: Table] = [:]
    // Taken out meanwhile, so that it isn't copied.
    var usage = usage
    knownUsage = nil
    defer { knownUsage = usage }
    for change in changes {
      for group in change.inserted { usage.use(group, by: 1) }
      for group in index.tables[change.table][change.groups] { usage.use(group, by: -1) }
      let given = order.tables[change.table].given
      changed[given] = rebased(new.table(given)!, change, encoder)
    }
    for (block, columns) in encoder.written { block.keep(columns) }
    index = next
    return new.replacing(changed)
  }

  /// The table with chunks that the file stands behind.
  private func rebased(_ table: Table, _ change: Change, _ encoder: ArchiveEncoder) -> Table {
    let number = change.table
    let places = order.tables[number].storedPlaces
    let nothing = [Column?](repeating: nil, count: table.types.count + 2)
    var kept: [Chunk] = []
    var chunks = change.items.map(\.chunk)[...]
    if change.isAtEnd { tails[number] = nil }
    for group in change.inserted {
      for place in group.chunks.indices {
        let chunk = chunks.removeFirst()
        if change.isAtEnd, chunks.isEmpty, chunk.count < Chunk.capacity, chunk.backing == nil {
          // Large values don't stay in memory with it.
          let tail = chunk.holding(encoder.spread[ObjectIdentifier(chunk)] ?? [:], order.tables[number])
          tails[number] = (tail, ArchivePart(group, place, storedPlaces: places))
          kept.append(tail)
        } else if let part = chunk.backing as? ArchivePart, part.group === group, part.index == place {
          kept.append(chunk)
        } else {
          kept.append(
            group.chunk(place, entity: table.entity, nothingHeld: nothing, storedPlaces: places))
        }
      }
    }
    var list = table.chunks
    list.replace(change.chunks, with: kept)
    return table.replacingChunks(list)
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
