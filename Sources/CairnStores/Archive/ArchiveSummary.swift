// What an archive consists of, told by its footers and the headers of its blocks: no row is read.

package import CairnModel
package import Foundation

/// The parts of an archive and their sizes, in bytes.
package struct ArchiveSummary: Sendable {
  /// The blocks of one slot, or of the versions or keys of a table's rows.
  package struct Column: Sendable {
    package let name: String
    /// Of the values, as `ValueType` names it.
    package let type: String
    package internal(set) var blocks = 0
    package internal(set) var storedBytes = 0
    /// What the blocks would take if none were deflated.
    package internal(set) var rawBytes = 0
    package internal(set) var deflatedBlocks = 0
    /// What values take that are blocks of their own; part of `storedBytes`, and of `rawBytes`.
    package internal(set) var blobBytes = 0
    /// The names of the columns that its values follow from, in some of the blocks at least.
    package internal(set) var follows: [String] = []
  }

  /// The rows of an entity, or the pairs of a relationship that is kept in a table of its own.
  package struct Table: Sendable {
    package let name: String
    package let isEntity: Bool
    package internal(set) var rows = 0
    package internal(set) var groups = 0
    package internal(set) var columns: [Column] = []

    package var storedBytes: Int { columns.reduce(0) { $0 + $1.storedBytes } }
    package var rawBytes: Int { columns.reduce(0) { $0 + $1.rawBytes } }
  }

  package let uuid: UUID
  package let generation: Int64
  package let created: Date
  package let saved: Date
  package let modelVersions: [String]
  /// Whether the archive can give its model.
  package let hasModel: Bool
  package let fileBytes: UInt64
  /// What no part of the newest state is in.
  package let deadBytes: UInt64
  /// Behind the newest commit: left by a save that wasn't finished. A part of `deadBytes`.
  package let unfinishedBytes: UInt64
  /// Of the footers that say the newest state, and how many there are.
  package let footerBytes: Int
  package let footerCount: Int
  package let schemaBytes: Int
  package let metadataBytes: Int
  /// Of copies of these, which are read when a file is salvaged.
  package let copyBytes: Int
  package private(set) var tables: [Table] = []

  /// Throws `corrupt` and what the file system throws. Costs a read of a few bytes for each block.
  package init(ofArchiveAt path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared) throws {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    let contents = try ArchiveFile(file: file, path: path).open(cacheBudget: 0)
    uuid = contents.metadata.uuid
    generation = contents.index.generation
    created = Date(timeIntervalSince1970: Double(contents.header.created) / 1000)
    saved = Date(timeIntervalSince1970: Double(contents.index.time) / 1000)
    modelVersions = contents.metadata.versionIdentifiers
    hasModel = contents.schema.model != nil
    fileBytes = contents.slot.fileLength + contents.unfinished
    unfinishedBytes = contents.unfinished
    footerBytes = contents.footers.reduce(0) { $0 + $1.length }
    footerCount = contents.footers.count
    schemaBytes = contents.index.schema.length
    metadataBytes = contents.index.metadata.length
    copyBytes = try contents.copyBytes(in: file)
    var live =
      UInt64(CommitSlot.end)
      + UInt64(ArchiveTrailer.size + footerBytes + schemaBytes + metadataBytes + copyBytes)
    for number in contents.index.tables.indices where ArchiveTables.isStored(number, contents.source.schema) {
      let table = try ArchiveSummary.table(number, contents)
      live += UInt64(table.storedBytes)
      tables.append(table)
    }
    deadBytes = fileBytes - min(live, fileBytes)
  }

  private static func table(_ number: Int, _ contents: ArchiveContents) throws -> Table {
    let source = contents.source
    let schema = source.schema
    let types = ArchiveTables.types(number, schema)
    func name(_ place: Int) -> String { ArchiveTables.names(number, place, schema).column }
    var table = Table(
      name: ArchiveTables.names(number, 0, schema).table, isEntity: number < schema.entities.count)
    table.columns = (0..<types.count + 2).map { place in
      Column(name: name(place), type: "\(ArchiveTables.type(ofPlace: place, types))")
    }
    var seen: Set<UInt64> = []
    for group in contents.index.tables[number] {
      table.groups += 1
      table.rows += group.chunks.reduce(0) { $0 + $1.liveCount }
      for (place, reference) in group.columns.enumerated() {
        let blobBytes = reference?.blobBytes.reduce(0, +) ?? 0
        table.columns[place].blobBytes += blobBytes
        table.columns[place].storedBytes += blobBytes
        table.columns[place].rawBytes += blobBytes
        guard let block = reference?.block, seen.insert(block.offset).inserted else { continue }
        let (header, prefix) = try source.header(of: block)
        table.columns[place].blocks += 1
        table.columns[place].storedBytes += block.length
        table.columns[place].rawBytes += BlockHeader.size + prefix + Int(header.rawLength)
        table.columns[place].deflatedBlocks += header.codec == 0 ? 0 : 1
        for slot in block.sources where !table.columns[place].follows.contains(name(slot)) {
          table.columns[place].follows.append(name(slot))
        }
      }
    }
    return table
  }
}

extension ArchiveContents {
  /// What the copies before the footers take. (Those of older footers, where metadata of another length were saved
  /// with them, aren't found.)
  fileprivate func copyBytes(in file: any OpenFile) throws -> Int {
    var result = 0
    for footer in footers {
      let header = try file.bytes(BlockHeader.size, at: footer.offset)
      // What may stand between a copy and its footer: nothing, metadata, or a schema too.
      for between in [0, index.metadata.length, index.schema.length + index.metadata.length] {
        let length = UInt64(footer.length + between)
        guard length <= footer.offset - CommitSlot.end else { continue }
        if try file.bytes(BlockHeader.size, at: footer.offset - length) == header {
          result += Int(length)
          break
        }
      }
    }
    return result
  }
}

extension ArchiveSource {
  /// What a block's header says, and how many bytes stand between it and the payload; the checksum, which is over all
  /// of the block, isn't checked. Throws `corrupt`.
  fileprivate func header(of block: ArchiveBlock) throws -> (BlockHeader, prefix: Int) {
    guard let file else { throw corrupt("the file is being written", block) }
    // With blobs what stands before the payload may be long.
    let start = try file.bytes(min(block.length, BlockHeader.size), at: block.offset)
    let isShort = (try? BlockHeader.read(start[...]).header.encoding) == 0
    let bytes = try file.bytes(
      isShort ? min(block.length, BlockHeader.size + 1 + 2 * ArchiveGroup.capacity) : block.length,
      at: block.offset)
    do {
      let header = try BlockHeader.read(bytes[...]).header
      guard header.kind == .columns, Int(header.storedLength) == block.length - BlockHeader.size else {
        throw corrupt("the block isn't the one that belongs here", block)
      }
      return (header, try ColumnBlock.prefix(header, Array(bytes.dropFirst(BlockHeader.size))).length)
    } catch let error as RecordError {
      throw corrupt(error.message, block, at: block.offset + UInt64(error.offset))
    }
  }
}
