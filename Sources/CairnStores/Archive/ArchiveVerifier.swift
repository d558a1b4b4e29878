// Reads all of an archive and says everything that is wrong with it. A check of what a file has to be goes here.

package import CairnModel
import Foundation

/// Checks the bytes of an archive that isn't being written: header, slots, trailer, footers, every block that is in
/// use, what its rows say of themselves, and what lies between.
///
/// Not asked: whether relationships lead to rows that are there, and uniqueness.
package struct ArchiveVerifier {
  private let file: any OpenFile
  private let path: String
  private let report: (StoreError) -> Void
  /// Told how many of how many blocks have been read.
  private let progress: (Int, Int) -> Void

  /// How many bytes of decoded columns are kept for others that follow from them.
  private static let cacheBudget = 32 << 20

  /// What is wrong with the archive at `path`; nothing where every byte is in order. Each finding has the code
  /// `corrupt` and names file and offset, and what to do.
  ///
  /// Throws what the file system throws. Costs a pass over the file, and the memory of its index and a few blocks.
  package static func findings(
    at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> [StoreError] {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    var findings: [StoreError] = []
    var seen: Set<String> = []
    try withoutActuallyEscaping(progress) { progress in
      try withoutActuallyEscaping({ (error: StoreError) in
        // A column that others follow from is met with each of them.
        if seen.insert(error.description).inserted { findings.append(error) }
      }) { report in
        try ArchiveVerifier(file: file, path: path, report: report, progress: progress).run()
      }
    }
    return findings
  }

  private func found(
    _ message: String, _ offset: UInt64, remedy: String = ArchiveSource.remedy
  ) {
    report(StoreError(.corrupt, message, file: path, offset: offset, remedy: remedy))
  }

  /// What `body` returns; nil, and a finding, where it finds the file corrupt.
  private func noting<T>(_ body: () throws -> T) throws -> T? {
    do {
      return try body()
    } catch let error as StoreError where error.code == .corrupt {
      report(error)
      return nil
    }
  }

  // MARK: From the beginning

  private func run() throws {
    let size = try file.information().size
    let start = try file.bytes(Int(CommitSlot.end), at: 0)
    let reader = ArchiveFile(file: file, path: path)
    let header = try noting { try reader.header(start) }
    if !start.starts(with: ArchiveHeader.magic), header == nil, !looksLikeArchive(start) { return }
    guard start.count == Int(CommitSlot.end) else {
      return found("the file ends before its commit slots do", UInt64(start.count))
    }
    let slots = checkSlots(start)
    guard let header else { return try checkRest(upTo: slots.map(\.fileLength).max() ?? size, size, []) }
    guard let (slot, _, _) = try noting({ try reader.newest(start, header, size) }) else {
      return try checkRest(upTo: size, size, [])
    }
    guard slot.fileLength <= size else {
      found(
        "the file has \(size) bytes, and its newest commit wrote it up to \(slot.fileLength): it was cut off",
        size)
      return try checkRest(upTo: size, size, [])
    }
    _ = try noting { try reader.checkTrailer(slot, header) }
    let place = BlockPlace(offset: slot.footerOffset, length: Int(slot.footerLength))
    let state = try noting {
      try reader.state(
        at: place, uuid: header.uuid, features: header.incompatible, cacheBudget: ArchiveVerifier.cacheBudget,
        damage: DamageLog())
    }
    guard let state else { return try checkRest(upTo: slot.fileLength, size, []) }
    if Int64(exactly: slot.generation) != state.index.generation {
      found("the footer is of commit \(state.index.generation), not \(slot.generation)", place.offset)
    }
    let metadata = try noting { try reader.metadata(state) }
    if let metadata, metadata.uuid != header.uuid {
      found("the metadata is of another archive than the header", state.index.metadata.offset)
    }
    let used = try checkTables(state) + state.footers + [state.index.schema, state.index.metadata]
    try checkRest(upTo: slot.fileLength, size, used.sorted { $0.offset < $1.offset })
  }

  /// Whether an archive may have been there whose first bytes are damaged.
  private func looksLikeArchive(_ start: [UInt8]) -> Bool {
    start.count == Int(CommitSlot.end) && !readSlots(start).isEmpty
  }

  private func readSlots(_ start: [UInt8]) -> [CommitSlot] {
    CommitSlot.offsets.compactMap { CommitSlot(start[Int($0)..<Int($0) + CommitSlot.size]) }
  }

  private func checkSlots(_ start: [UInt8]) -> [CommitSlot] {
    for offset in CommitSlot.offsets {
      let bytes = start[Int(offset)..<Int(offset) + CommitSlot.size]
      if CommitSlot(bytes) == nil, !bytes.allSatisfy({ $0 == 0 }) {
        found("a commit slot is damaged", offset, remedy: "where it opens, cairn compact writes it anew")
      }
    }
    return readSlots(start)
  }

  // MARK: Tables

  /// The places of all blocks in use, in no order.
  private func checkTables(_ state: ArchiveFile.State) throws -> [BlockPlace] {
    var places: [UInt64: BlockPlace] = [:]
    let total = state.index.tables.joined().reduce(0) { $0 + $1.columns.count { $0 != nil } }
    var done = 0
    for groups in state.index.tables {
      for group in groups {
        for (place, reference) in group.columns.enumerated() {
          guard let reference else { continue }
          let block = reference.block
          places[block.offset] = BlockPlace(offset: block.offset, length: block.length)
          let blobs = try noting { try check(reference, place, group, state.source) } ?? []
          for blob in blobs {
            places[blob.offset] = BlockPlace(offset: blob.offset, length: blob.length)
            _ = try noting { _ = try blob.verified() }
          }
          done += 1
          progress(done, total)
        }
      }
    }
    return Array(places.values)
  }

  /// Returns the values that are blocks of their own.
  private func check(
    _ reference: ArchiveGroup.Reference, _ place: Int, _ group: ArchiveGroup, _ source: ArchiveSource
  ) throws -> [ArchiveBlob] {
    var blobs: [ArchiveBlob] = []
    let block = reference.block
    let columns = try block.cachedColumns ?? source.decode(block, in: group)
    for (index, chunk) in group.chunks.enumerated() {
      let part = reference.firstPart + index
      guard part < columns.count, columns[part].count >= chunk.count else {
        throw source.corrupt("the block has no part \(part) of \(chunk.count) rows", block)
      }
      let column = columns[part]
      guard block.zone.covers(column.zone) else {
        throw source.corrupt("its values are beyond the bounds that the footer says", block)
      }
      if place >= group.types.count, column.nullCount > 0 {
        throw source.corrupt("a row has no key or no version", block)
      }
      if place == group.types.count + 1 { try checkKeys(column, chunk, block, source) }
      if place == group.types.count, (0..<chunk.count).contains(where: { column.integer($0) < 1 }) {
        throw source.corrupt("a row's version is less than 1", block)
      }
      let own = column.blobs(chunk.count).map(\.blob)
      let said = reference.blobBytes.isEmpty ? 0 : reference.blobBytes[index]
      guard own.reduce(0, { $0 + $1.length }) == said else {
        throw source.corrupt("its values that are kept apart don't take what the footer says", block)
      }
      blobs += own
    }
    return blobs
  }

  private func checkKeys(
    _ keys: Column, _ chunk: ArchiveGroup.ChunkInfo, _ block: ArchiveBlock, _ source: ArchiveSource
  ) throws {
    guard keys.integer(0) == chunk.firstKey, keys.integer(chunk.count - 1) == chunk.lastKey else {
      throw source.corrupt("its first and last keys aren't those that the footer says", block)
    }
    for row in 1..<max(chunk.count, 1) where keys.integer(row) <= keys.integer(row - 1) {
      throw source.corrupt("its keys don't ascend", block)
    }
  }

  // MARK: What is between

  /// Everything that no block in use covers: blocks of earlier commits, trailers, zeros.
  private func checkRest(upTo end: UInt64, _ size: UInt64, _ used: [BlockPlace]) throws {
    var known: [BlockPlace] = []
    for place in used {
      if let last = known.last, last.offset + UInt64(last.length) > place.offset {
        found("two blocks lie over each other", place.offset)
      } else {
        known.append(place)
      }
    }
    var scan = ArchiveScan(file, upTo: min(end, size), known: known)
    try scan.forEach { piece in
      guard piece.piece == .unknown else { return }
      found(
        "\(piece.length) bytes are no block, or a damaged one, of no use to the newest commit", piece.offset,
        remedy: "where nothing else is damaged, cairn compact writes the file anew without them")
    }
  }
}

extension Zone {
  /// Whether all of another's values are within these bounds.
  fileprivate func covers(_ other: Zone) -> Bool {
    (other.minInteger > other.maxInteger
      || minInteger <= other.minInteger && other.maxInteger <= maxInteger)
      && (other.minDouble > other.maxDouble
        || minDouble <= other.minDouble && other.maxDouble <= maxDouble)
      && (mayHoldNaN || !other.mayHoldNaN)
  }
}
