// An archive taken apart into what it says, so that a test can change any of it and put the file together
// again.

import CairnModel
import Foundation

@testable import CairnStores

/// What a footer says, field by field. Unlike `ArchiveIndex` it can say what makes no sense.
struct FooterParts {
  struct Chunk {
    var rows: UInt64
    /// First key less the last key before.
    var step: UInt64
    var flags: UInt8
    /// Last key - first key; written unless the flags say dense.
    var span: UInt64 = 0
    var deleted: [UInt8] = []
  }

  struct Reference {
    var flags: UInt8
    var offset: UInt64 = 0
    var length: UInt64 = 0
    var part: UInt8 = 0
    var group: UInt64 = 0
    var sources: [UInt64] = []
    var least: Int64 = 0
    var span: UInt64 = 0
    var doubles: (Double, Double) = (0, 0)
    /// By chunk.
    var blobBytes: [UInt64] = []
  }

  struct Group {
    var id: Int64
    var chunkCount: UInt8
    var chunks: [Chunk]
    var references: [Reference]
  }

  struct Splice {
    var table: UInt64
    var start: UInt64
    var removed: UInt64
    var groups: [Group]
  }

  var form: UInt8 = 1
  var kind: UInt8 = 0
  var previous: (offset: UInt64, length: UInt64)?
  var generation: UInt64
  var time: Int64 = 0
  var nextGroup: UInt64
  var schema: (offset: UInt64, length: UInt64)
  var metadata: (offset: UInt64, length: UInt64)
  var nextKeys: [UInt64]
  var nextJoinKeys: [UInt64]
  var splices: [Splice]
  var rest: [UInt8] = []
  /// How many bytes each varint takes at least: more than it needs are allowed.
  var leastVarint = 1

  // MARK: Writing

  var bytes: [UInt8] {
    var writer = RecordWriter()
    writer.put(form)
    writer.put(kind)
    if let previous { put(previous, &writer) }
    put(generation, &writer)
    writer.put(zigzag: time)
    put(nextGroup, &writer)
    put(schema, &writer)
    put(metadata, &writer)
    for keys in [nextKeys, nextJoinKeys] {
      put(UInt64(keys.count), &writer)
      for key in keys { put(key, &writer) }
    }
    put(UInt64(splices.count), &writer)
    for splice in splices { put(splice, &writer) }
    return writer.bytes + rest
  }

  private func put(_ value: UInt64, _ writer: inout RecordWriter) {
    var rest = value
    var length = 0
    repeat {
      let low = UInt8(truncatingIfNeeded: rest & 0x7F)
      rest >>= 7
      length += 1
      writer.put(rest > 0 || length < leastVarint ? low | 0x80 : low)
    } while rest > 0 || length < leastVarint
  }

  private func put(_ place: (offset: UInt64, length: UInt64), _ writer: inout RecordWriter) {
    put(place.offset, &writer)
    put(place.length, &writer)
  }

  private func put(_ splice: Splice, _ writer: inout RecordWriter) {
    for number in [splice.table, splice.start, splice.removed, UInt64(splice.groups.count)] {
      put(number, &writer)
    }
    var id: Int64 = 0
    var end: UInt64 = 0
    for group in splice.groups {
      writer.put(zigzag: group.id - id)
      id = group.id
      writer.put(group.chunkCount)
      for chunk in group.chunks {
        put(chunk.rows, &writer)
        put(chunk.step, &writer)
        writer.put(chunk.flags)
        if chunk.flags & 1 == 0 { put(chunk.span, &writer) }
        writer.put(bytes: chunk.deleted)
      }
      for reference in group.references {
        writer.put(reference.flags)
        if reference.flags == 0 { continue }
        writer.put(zigzag: Int64(bitPattern: reference.offset &- end))
        put(reference.length, &writer)
        end = reference.offset &+ reference.length
        if reference.flags & 16 != 0 { writer.put(reference.part) }
        if reference.flags & 32 != 0 { put(reference.group, &writer) }
        if reference.flags & 64 != 0 {
          writer.put(UInt8(reference.sources.count))
          for slot in reference.sources { put(slot, &writer) }
        }
        if reference.flags & 2 != 0 {
          writer.put(zigzag: reference.least)
          put(reference.span, &writer)
        }
        if reference.flags & 4 != 0 {
          writer.put(reference.doubles.0)
          writer.put(reference.doubles.1)
        }
        if reference.flags & 128 != 0 { for count in reference.blobBytes { put(count, &writer) } }
      }
    }
  }

  // MARK: Reading

  /// Of a footer that is right, whose tables have these numbers of columns, versions and keys included.
  init(_ text: [UInt8], columnCounts: [Int]) throws {
    var reader = RecordReader(text)
    form = try reader.integer(UInt8.self)
    kind = try reader.integer(UInt8.self)
    func place() throws -> (offset: UInt64, length: UInt64) { (try reader.varint(), try reader.varint()) }
    previous = kind == 1 ? try place() : nil
    generation = try reader.varint()
    time = try reader.zigzag()
    nextGroup = try reader.varint()
    schema = try place()
    metadata = try place()
    nextKeys = try (0..<(try reader.countOfRest())).map { _ in try reader.varint() }
    nextJoinKeys = try (0..<(try reader.countOfRest())).map { _ in try reader.varint() }
    splices = []
    for _ in 0..<(try reader.countOfRest()) {
      var splice = Splice(
        table: try reader.varint(), start: try reader.varint(), removed: try reader.varint(), groups: [])
      var id: Int64 = 0
      var end: UInt64 = 0
      for _ in 0..<(try reader.countOfRest()) {
        id += try reader.zigzag()
        let count = try reader.integer(UInt8.self)
        let chunks = try (0..<count).map { _ in
          var chunk = Chunk(
            rows: try reader.varint(), step: try reader.varint(), flags: try reader.integer(UInt8.self))
          if chunk.flags & 1 == 0 { chunk.span = try reader.varint() }
          if chunk.flags & 2 != 0 { chunk.deleted = Array(try reader.take(Int(chunk.rows + 7) / 8)) }
          return chunk
        }
        let references = try (0..<columnCounts[Int(splice.table)]).map { _ in
          var reference = Reference(flags: try reader.integer(UInt8.self))
          if reference.flags == 0 { return reference }
          reference.offset = end &+ UInt64(bitPattern: try reader.zigzag())
          reference.length = try reader.varint()
          end = reference.offset + reference.length
          if reference.flags & 16 != 0 { reference.part = try reader.integer(UInt8.self) }
          if reference.flags & 32 != 0 { reference.group = try reader.varint() }
          if reference.flags & 64 != 0 {
            reference.sources = try (0..<(try reader.integer(UInt8.self))).map { _ in try reader.varint() }
          }
          if reference.flags & 2 != 0 {
            (reference.least, reference.span) = (try reader.zigzag(), try reader.varint())
          }
          if reference.flags & 4 != 0 { reference.doubles = (try reader.double(), try reader.double()) }
          if reference.flags & 128 != 0 {
            reference.blobBytes = try (0..<count).map { _ in try reader.varint() }
          }
          return reference
        }
        splice.groups.append(Group(id: id, chunkCount: count, chunks: chunks, references: references))
      }
      splices.append(splice)
    }
  }
}

/// An archive's bytes, and the newest footer as parts.
struct ArchiveParts {
  /// Everything before the newest footer.
  var front: [UInt8]
  var header: ArchiveHeader
  var footer: FooterParts
  /// What the slots and the trailer say; nil where the footer says it.
  var generation: UInt64?
  var schema: Schema

  init(_ bytes: [UInt8]) throws {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    let contents = try ArchiveFiles.contents(at: "/a", files)
    header = contents.header
    schema = contents.source.schema
    let start = Int(contents.slot.footerOffset)
    front = Array(bytes[..<start])
    let block = Array(bytes[start..<start + Int(contents.slot.footerLength)])
    let (blockHeader, _) = try BlockHeader.read(block[..<32])
    let counts = (0..<ArchiveTables.count(schema)).map {
      ArchiveTables.types($0, contents.source.schema).count + 2
    }
    footer = try FooterParts(
      try TextBlock.decode(blockHeader, Array(block[32...])), columnCounts: counts)
  }

  // MARK: Changing

  /// Puts a block behind the others, and returns where it is.
  mutating func append(_ block: [UInt8]) -> (offset: UInt64, length: UInt64) {
    defer { front += block }
    return (UInt64(front.count), UInt64(block.count))
  }

  mutating func setSchema(_ json: String) throws {
    footer.schema = append(try TextBlock.encode(.schema, Array(json.utf8), level: 9))
  }

  mutating func setMetadata(_ json: String) throws {
    footer.metadata = append(try TextBlock.encode(.metadata, Array(json.utf8), level: 9))
  }

  func text(_ place: (offset: UInt64, length: UInt64)) throws -> String {
    let block = Array(front[Int(place.offset)..<Int(place.offset + place.length)])
    let (header, _) = try BlockHeader.read(block[..<32])
    return String(decoding: try TextBlock.decode(header, Array(block[32...])), as: UTF8.self)
  }

  /// The bytes of the block at a place.
  func block(_ reference: FooterParts.Reference) -> [UInt8] {
    Array(front[Int(reference.offset)..<Int(reference.offset + reference.length)])
  }

  /// Replaces the block of a reference by what `change` makes of it: the header's fields, and the stored
  /// bytes. The checksum is made anew.
  mutating func changeBlock(
    _ reference: WritableKeyPath<FooterParts, FooterParts.Reference>,
    _ change: (_ header: inout [UInt8], _ stored: inout [UInt8]) -> Void
  ) {
    let old = block(footer[keyPath: reference])
    let place = append(ArchiveParts.changed(old, change))
    footer[keyPath: reference].offset = place.offset
    footer[keyPath: reference].length = place.length
  }

  static func changed(
    _ block: [UInt8], _ change: (_ header: inout [UInt8], _ stored: inout [UInt8]) -> Void
  ) -> [UInt8] {
    var header = Array(block[..<28])
    var stored = Array(block[32...])
    let length = stored.count
    change(&header, &stored)
    if stored.count != length { ArchiveParts.put(UInt32(stored.count), 24, &header) }
    var checksum: [UInt8] = [0, 0, 0, 0]
    ArchiveParts.put(Checksum.crc32(stored, after: Checksum.crc32(header)), 0, &checksum)
    return header + checksum + stored
  }

  static func put<T: FixedWidthInteger>(_ value: T, _ offset: Int, _ bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
  }

  // MARK: Putting together

  /// The block of the newest footer.
  func footerBlock() throws -> [UInt8] { try TextBlock.encode(.footer, footer.bytes, level: 6) }

  /// The file, with a footer block of any bytes.
  func bytes(footerBlock: [UInt8]) -> [UInt8] {
    let slot = CommitSlot(
      generation: generation ?? footer.generation, fileLength: UInt64(front.count + footerBlock.count + 64),
      footerOffset: UInt64(front.count), footerLength: UInt32(footerBlock.count))
    var bytes = front + footerBlock + ArchiveTrailer(slot: slot, uuid: header.uuid).bytes
    bytes.replaceSubrange(0..<208, with: header.bytes + slot.bytes + slot.bytes)
    return bytes
  }

  func bytes() throws -> [UInt8] { bytes(footerBlock: try footerBlock()) }

  /// The file with another save that says the same state: a difference without splices.
  mutating func appendSave() throws {
    let block = try footerBlock()
    let slot = CommitSlot(
      generation: generation ?? footer.generation, fileLength: UInt64(front.count + block.count + 64),
      footerOffset: UInt64(front.count), footerLength: UInt32(block.count))
    footer.previous = (UInt64(front.count), UInt64(block.count))
    front += block + ArchiveTrailer(slot: slot, uuid: header.uuid).bytes
    footer.kind = 1
    footer.generation += 1
    footer.splices = []
  }
}
