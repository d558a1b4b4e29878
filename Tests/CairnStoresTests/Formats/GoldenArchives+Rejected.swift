// The golden archives that readers refuse. Each breaks one rule of Formats/archive.md, which names it, and
// has right checksums wherever the rule isn't about them.

import CairnModel
import Foundation

@testable import CairnStores

extension Golden {
  private typealias Reference = WritableKeyPath<FooterParts, FooterParts.Reference>

  nonisolated(unsafe) private static let number: Reference = \.splices[0].groups[0].references[0]
  nonisolated(unsafe) private static let text: Reference = \.splices[0].groups[0].references[1]
  nonisolated(unsafe) private static let versions: Reference = \.splices[0].groups[0].references[2]
  nonisolated(unsafe) private static let keys: Reference = \.splices[0].groups[0].references[3]
  nonisolated(unsafe) private static let group: WritableKeyPath<FooterParts, FooterParts.Group> =
    \.splices[0].groups[0]
  nonisolated(unsafe) private static let chunk: WritableKeyPath<FooterParts, FooterParts.Chunk> =
    \.splices[0].groups[0].chunks[0]

  private typealias Maker = @Sendable () throws -> [UInt8]

  /// An archive that was changed by hand.
  private static func broken(
    _ base: @escaping @Sendable () throws -> Making = { try fiveRows() },
    _ change: @escaping @Sendable (inout ArchiveParts) throws -> Void
  ) -> Maker {
    {
      var parts = try ArchiveParts(try base().bytes())
      try change(&parts)
      return try parts.bytes()
    }
  }

  private static func footer(_ change: @escaping @Sendable (inout FooterParts) -> Void) -> Maker {
    broken { change(&$0.footer) }
  }

  /// The block of the numbers, changed.
  private static func block(
    _ change: @escaping @Sendable (_ header: inout [UInt8], _ stored: inout [UInt8]) -> Void
  ) -> Maker {
    broken { $0.changeBlock(number, change) }
  }

  private static func schema(
    _ base: @escaping @Sendable () throws -> Making = { try books() },
    _ change: @escaping @Sendable (String) -> String
  ) -> Maker {
    broken(base) { try $0.setSchema(change(try $0.text($0.footer.schema))) }
  }

  private static func metadata(_ change: @escaping @Sendable (String) -> String) -> Maker {
    broken { try $0.setMetadata(change(try $0.text($0.footer.metadata))) }
  }

  /// Five rows with dense keys, in one group of one chunk.
  private static func fiveRows() throws -> Making {
    let making = try Making(one)
    let keys = try making.keys("Note", 5)
    try making.save { changes in
      for key in keys {
        try changes.insert(key, ["number": .int(key.id * key.id), "text": .string("row \(key.id)")], in: one)
      }
    }
    return making
  }

  private static func integers(_ values: [Int64?]) -> Column {
    let builder = ColumnBuilder(.int64)
    for value in values { if let value { builder.append(value) } else { builder.appendNull() } }
    return builder.finish()
  }

  /// A block of text with a header of any kind.
  private static func textBlock(codec: UInt8, rawLength: Int, rows: UInt32 = 0, _ stored: [UInt8]) -> [UInt8]
  {
    let header = BlockHeader(
      kind: .metadata, codec: codec, rows: rows, rawLength: UInt32(rawLength),
      storedLength: UInt32(stored.count))
    return header.bytes(over: stored) + stored
  }

  private static func metadataBlock(_ block: @escaping @Sendable (String) -> [UInt8]) -> Maker {
    broken { $0.footer.metadata = $0.append(block(try $0.text($0.footer.metadata))) }
  }

  static let rejected: [(name: String, make: @Sendable () throws -> [UInt8])] =
    headersAndSlots + blocks + valuesApart + footers + groups + rows + schemas

  // MARK: Values apart

  /// What a list says of one value.
  private struct Blob {
    var row: Int
    var offset: UInt64
    var length: Int
    var size: Int
    var checksum: UInt32
  }

  /// The list of the images, changed: rows 2 and 4 have theirs apart, row 1 is null, row 3 has its own.
  private static func images(
    _ change: @escaping @Sendable (inout [Blob], inout ArchiveParts) -> Void
  ) -> Maker {
    broken({ try Golden.blobs() }) { parts in
      let old = parts.block(parts.footer[keyPath: text])
      let header = try BlockHeader.read(old[..<32]).header
      let stored = Array(old[32...])
      let prefix = try ColumnBlock.prefix(header, stored)
      var reader = RecordReader(stored)
      _ = try reader.take(prefix.rowsLength)
      var (blobs, next, end): ([Blob], Int, UInt64) = ([], 0, 0)
      for _ in 0..<(try reader.countOfRest()) {
        let row = next + Int(try reader.varint())
        let offset = end &+ UInt64(bitPattern: try reader.zigzag())
        blobs.append(
          Blob(
            row: row, offset: offset, length: Int(try reader.varint()), size: Int(try reader.varint()),
            checksum: try reader.integer(UInt32.self)))
        (next, end) = (row + 1, offset + UInt64(blobs.last!.length))
      }
      precondition(blobs.map(\.row) == [2, 4], "\(blobs)")
      change(&blobs, &parts)
      var writer = RecordWriter()
      writer.put(bytes: stored[..<prefix.rowsLength])
      writer.put(varint: blobs.count)
      (next, end) = (0, 0)
      for blob in blobs {
        writer.put(varint: blob.row - next)
        writer.put(zigzag: Int64(bitPattern: blob.offset &- end))
        writer.put(varint: blob.length)
        writer.put(varint: blob.size)
        writer.put(blob.checksum)
        (next, end) = (blob.row + 1, blob.offset &+ UInt64(blob.length))
      }
      writer.put(bytes: stored[prefix.length...])
      let made = writer.bytes
      parts.changeBlock(text) { $1 = made }
    }
  }

  private static let valuesApart: [(name: String, make: Maker)] = [
    ("blob-none", images { blobs, _ in blobs = [] }),
    ("blob-row", images { blobs, _ in blobs[1].row = 5 }),
    ("blob-behind", images { blobs, _ in blobs[1].offset = 1 << 20 }),
    ("blob-size", images { blobs, _ in blobs[1].size = 1032 * (blobs[1].length - 32) + 65 }),
    ("blob-and-value", images { blobs, _ in blobs[0].row = 3 }),
    ("blob-and-null", images { blobs, _ in blobs[0].row = 1 }),
    ("blob-checksum", images { blobs, parts in parts.front[Int(blobs[0].offset) + 33] ^= 1 }),
    (
      "blob-other",
      images { blobs, _ in
        let checksum = blobs[0].checksum
        blobs[0] = blobs[1]
        (blobs[0].row, blobs[0].checksum) = (2, checksum)
      }
    ),
    (
      "blob-length",
      images { blobs, parts in
        let old = Array(parts.front[Int(blobs[1].offset)..<Int(blobs[1].offset) + blobs[1].length])
        let block = ArchiveParts.changed(old) { header, _ in ArchiveParts.put(UInt32(15), 20, &header) }
        blobs[1].offset = parts.append(block).offset
        blobs[1].size = 15
        blobs[1].checksum = try! BlockHeader.read(block[..<32]).checksum
      }
    ),
    (
      "blobs-of-string",
      broken({ try Golden.blobs() }) {
        $0.changeBlock(number) { header, stored in
          header[6] = 1
          stored.insert(contentsOf: [1, 0, 0, 33, 1, 0, 0, 0, 0], at: 3)
        }
      }
    ),
  ]

  // MARK: Sections 1 and 2

  private static let headersAndSlots: [(name: String, make: Maker)] = [
    ("magic", { try oneRow().bytes().changing(0) { _ in 0 } }),
    ("header-checksum", { try oneRow().bytes().changing(60) { $0 ^ 1 } }),
    ("major-version", { try changedHeader { $0[8] = 2 } }),
    ("header-size", { try changedHeader { $0[12] = 96 } }),
    ("header-reserved", { try changedHeader { $0[70] = 1 } }),
    ("incompatible-feature", { try changedHeader { $0[32] = 4 } }),
    (
      "slots-differ",
      {
        let bytes = try oneRow().bytes()
        let slot = CommitSlot(bytes[144..<208])!
        let other = CommitSlot(
          generation: slot.generation, fileLength: slot.fileLength - 64, footerOffset: slot.footerOffset,
          footerLength: slot.footerLength - 64)
        return bytes[..<80] + other.bytes + slot.bytes + bytes[208...]
      }
    ),
    ("slot-damaged", { try severalSaves(leastFooter: 1024).bytes().zeroing(80..<144) + [1, 2, 3] }),
    (
      "slot-damaged-old-trailer",
      {
        let making = try Making(one)
        var lengths: [Int] = []
        for key in try making.keys("Note", 3) {
          try making.save { try $0.insert(key, [:], in: one) }
          lengths.append(try making.bytes().count)
        }
        // The third save is in the second slot, and its place is that of the fourth: the first one is
        // damaged.
        return Array(try making.bytes()[..<lengths[0]]).zeroing(80..<144)
      }
    ),
    ("cut-off", { try Array(oneRow().bytes().dropLast(10)) }),
    (
      "trailer",
      {
        let bytes = try oneRow().bytes()
        return bytes.changing(bytes.count - 50) { $0 ^ 1 }
      }
    ),
    (
      "trailer-other",
      {
        let bytes = try oneRow().bytes()
        var slot = CommitSlot(bytes[144..<208])!
        slot.generation += 1
        return bytes.dropLast(64) + ArchiveTrailer(slot: slot, uuid: uuid).bytes
      }
    ),
    (
      "footer-elsewhere",
      {
        let bytes = try oneRow().bytes()
        var slot = CommitSlot(bytes[144..<208])!
        slot.footerLength -= 1
        return bytes[..<80] + slot.bytes + slot.bytes + bytes[208...].dropLast(64)
          + ArchiveTrailer(slot: slot, uuid: uuid).bytes
      }
    ),
  ]

  // MARK: Section 3

  private static let blocks: [(name: String, make: Maker)] = [
    ("place-behind-footer", broken { $0.footer.metadata.offset = UInt64($0.front.count) - 10 }),
    ("place-in-header", footer { $0.metadata.offset = 100 }),
    ("place-short", footer { $0.metadata.length = 32 }),
    ("block-magic", block { header, _ in header[0] ^= 1 }),
    ("block-kind", block { header, _ in header[4] = 2 }),
    ("block-codec", block { header, _ in header[5] = 2 }),
    ("block-encoding", block { header, _ in header[6] = 1 }),
    ("block-flags", block { header, _ in header[7] = 1 }),
    ("block-length", block { header, _ in header[24] += 1 }),
    (
      "block-checksum",
      broken { parts in
        let end = Int(parts.footer[keyPath: number].offset + parts.footer[keyPath: number].length)
        parts.front[end - 1] ^= 0x10
      }
    ),
    ("text-length", metadataBlock { textBlock(codec: 0, rawLength: $0.utf8.count + 1, Array($0.utf8)) }),
    ("text-deflate", metadataBlock { textBlock(codec: 1, rawLength: 9, Array($0.utf8)) }),
    ("text-rows", metadataBlock { textBlock(codec: 0, rawLength: $0.utf8.count, rows: 1, Array($0.utf8)) }),
    (
      "text-bomb",
      metadataBlock { text in
        let long = Array(text.utf8) + [UInt8](repeating: 32, count: 100_000)
        let deflater = BlockDeflater()
        let stored = long.withUnsafeBufferPointer { buffer in
          withExtendedLifetime(deflater) { Array(deflater.deflate(buffer, level: 9, limit: 100_000)!) }
        }
        return textBlock(codec: 1, rawLength: long.count, stored)
      }
    ),
    ("parts-none", block { _, stored in stored[0] = 0 }),
    ("parts-many", block { _, stored in stored[0] = 5 }),
    ("part-empty", block { _, stored in stored[1] = 0 }),
    (
      "part-large",
      block { header, stored in
        ArchiveParts.put(UInt16(4097), 1, &stored)
        ArchiveParts.put(UInt32(4097), 16, &header)
      }
    ),
    ("part-sum", block { header, _ in header[16] += 1 }),
    ("block-table", block { header, _ in header[8] = 1 }),
    ("block-column", block { header, _ in header[10] = 1 }),
    ("block-group", block { header, _ in header[12] = 9 }),
    (
      "payload",
      broken {
        $0.changeBlock(number) { header, stored in
          // Ten rows of which there are five, and a byte that is left over.
          let rows = Array(stored[..<3])
          stored = rows + [0, 1, 0, 0]
          header[5] = 0
          ArchiveParts.put(UInt32(4), 20, &header)
        }
      }
    ),
  ]

  // MARK: Section 4

  private static let footers: [(name: String, make: Maker)] = [
    ("footer-form", footer { $0.form = 2 }),
    ("footer-kind", footer { $0.kind = 2 }),
    ("footer-rest", footer { $0.rest = [0] }),
    ("footer-generation", broken { $0.generation = 99 }),
    (
      "chain-not-older",
      broken {
        try $0.appendSave()
        $0.footer.generation -= 1
      }
    ),
    (
      "splice",
      broken {
        try $0.appendSave()
        $0.footer.splices = [.init(table: 0, start: 1, removed: 1, groups: [])]
      }
    ),
    ("next-keys", footer { $0.nextKeys.append(1) }),
    ("next-key-zero", footer { $0.nextKeys[0] = 0 }),
    ("key-not-reserved", footer { $0.nextKeys[0] = 5 }),
    ("table-abstract", broken({ try books() }) { $0.footer.splices[0].table = 0 }),
    ("table-unknown", footer { $0.splices[0].table = 1 }),
    ("footer-varint", footer { $0.nextKeys[0] = 1 << 63 }),
  ]

  // MARK: Section 5

  private static let groups: [(name: String, make: Maker)] = [
    ("group-number", footer { $0[keyPath: group].id = Int64($0.nextGroup) }),
    (
      "other-group",
      footer {
        $0[keyPath: number].flags |= 32
        $0[keyPath: number].group = $0.nextGroup
      }
    ),
    (
      "group-empty",
      footer {
        $0[keyPath: group].chunkCount = 0
        $0[keyPath: group].chunks = []
      }
    ),
    ("group-large", footer { $0[keyPath: group].chunkCount = 5 }),
    ("chunk-empty", footer { $0[keyPath: chunk].rows = 0 }),
    ("chunk-large", footer { $0[keyPath: chunk].rows = 4097 }),
    ("chunk-flags", footer { $0[keyPath: chunk].flags |= 4 }),
    ("chunk-key", footer { $0[keyPath: chunk].step = 0 }),
    (
      "chunk-span",
      footer {
        $0[keyPath: chunk].flags = 0
        $0[keyPath: chunk].span = 3
      }
    ),
    ("chunk-key-overflow", footer { $0[keyPath: chunk].step = UInt64(Int64.max) }),
    ("deleted-all", footer { $0[keyPath: chunk].delete([0x1F]) }),
    ("deleted-none", footer { $0[keyPath: chunk].delete([0]) }),
    ("deleted-behind", footer { $0[keyPath: chunk].delete([0x21]) }),
    ("slot-missing", footer { $0[keyPath: number].flags = 0 }),
    ("keys-missing", broken({ try sparseKeys() }) { $0.footer[keyPath: keys].flags = 0 }),
    ("reference-flags", footer { $0[keyPath: number].flags = 2 }),
    ("reference-bits", footer { $0[keyPath: number].flags |= 128 }),
    ("sources-none", footer { $0[keyPath: number].follow([]) }),
    ("sources-itself", footer { $0[keyPath: number].follow([0]) }),
    (
      "sources-circle",
      footer {
        $0[keyPath: number].follow([1])
        $0[keyPath: text].follow([0])
      }
    ),
    (
      "sources-others",
      broken({ try allTypes(.default) }) {
        // The payload follows from slot 1, and the footer says 2.
        try $0.follow(0, from: 1)
        $0.footer.splices[0].groups[0].references[0].sources = [2]
      }
    ),
    (
      "sources-other-group",
      broken({ try allTypes(.default) }) {
        try $0.follow(0, from: 1)
        let source: Reference = \.splices[0].groups[0].references[1]
        $0.changeBlock(source) { header, _ in header[12] = 1 }
        $0.footer[keyPath: source].flags |= 32
        $0.footer[keyPath: source].group = 1
        $0.footer.nextGroup = 2
      }
    ),
    ("part-beyond", footer { $0[keyPath: number].goOn(at: 4) }),
    ("part-missing", footer { $0[keyPath: number].goOn(at: 1) }),
    ("part-rows", footer { $0[keyPath: chunk].rows = 4 }),
    (
      "block-twice",
      footer {
        $0[keyPath: text].offset = $0[keyPath: number].offset
        $0[keyPath: text].length = $0[keyPath: number].length
      }
    ),
    ("bounds", footer { $0[keyPath: number].span -= 1 }),
    ("bounds-none", footer { $0[keyPath: number].flags &= ~2 }),
    (
      "bounds-nan",
      broken({ try allTypes(.default) }) { $0.footer.splices[0].groups[0].references[4].flags &= ~8 }
    ),
    (
      "bounds-order",
      footer {
        $0[keyPath: number].flags |= 4
        $0[keyPath: number].doubles = (1, 0)
      }
    ),
    (
      "bounds-overflow",
      footer {
        $0[keyPath: number].least = .max
        $0[keyPath: number].span = 1
      }
    ),
    (
      "keys-of-groups",
      broken({ try allTypes(.default) }) {
        try $0.split(into: [20, 20], groups: [1, 1])
        var later = $0.footer.splices[0].groups.removeLast()
        later.chunks[0].step = 21
        $0.footer.splices.append(.init(table: 0, start: 0, removed: 0, groups: [later]))
      }
    ),
  ]

  // MARK: Section 6

  /// The keys of `sparseKeys`.
  private static let sparse: [Int64?] = [3, 4, 8, 9, 14, 914, 916]

  private static let rows: [(name: String, make: Maker)] = [
    (
      "keys-order",
      broken({ try sparseKeys() }) { $0.replaceBlock(keys, [integers([3, 8, 4, 9, 14, 914, 916])]) }
    ),
    (
      "keys-first",
      broken({ try sparseKeys() }) {
        $0.footer[keyPath: chunk].step -= 1
        $0.footer[keyPath: chunk].span += 1
      }
    ),
    (
      "keys-last",
      broken({ try sparseKeys() }) {
        $0.footer[keyPath: chunk].span += 1
        $0.footer.nextKeys[0] += 1
      }
    ),
    (
      "keys-null",
      broken({ try sparseKeys() }) { $0.replaceBlock(keys, [integers([3, 4, nil, 9, 14, 914, 916])]) }
    ),
    (
      "version-zero",
      broken({ try severalSaves(leastFooter: 1024) }) {
        $0.replaceBlock(versions, [integers([1, 4, 1, 1, 1, 1, 1, 1, 0, 1])])
        $0.footer[keyPath: versions].least = 0
        $0.footer[keyPath: versions].span = 4
      }
    ),
    (
      "version-null",
      broken({ try severalSaves(leastFooter: 1024) }) {
        $0.replaceBlock(versions, [integers([1, 4, 1, nil, 1, 1, 1, 1, 1, 1])])
      }
    ),
    (
      "join-null",
      broken({ try manyToMany() }) { parts in
        let splice = parts.footer.splices.firstIndex { $0.table >= 6 }!
        let path: Reference = \.splices[splice].groups[0].references[0]
        let old = try parts.columns(parts.footer[keyPath: path], .key)[0]
        let builder = ColumnBuilder(.key)
        builder.appendNull()
        for row in 1..<old.count { builder.append(old.integer(row)) }
        parts.replaceBlock(path, [builder.finish()])
      }
    ),
  ]

  // MARK: Sections 7 and 8

  private static let schemas: [(name: String, make: Maker)] = [
    ("schema-json", schema { String($0.dropLast()) }),
    ("schema-type", schema { $0.replacingOccurrences(of: "\"int32\"", with: "\"int33\"") }),
    (
      "schema-superentity",
      schema { $0.replacingOccurrences(of: "\"superentity\":\"Person\"", with: "\"superentity\":\"Nobody\"") }
    ),
    (
      "schema-circle",
      schema {
        $0.replacingOccurrences(
          of: "\"name\":\"Thing\"", with: "\"name\":\"Thing\",\"superentity\":\"Author\"")
      }
    ),
    (
      "schema-inverse",
      schema { $0.replacingOccurrences(of: "\"inverse\":\"prequel\"", with: "\"inverse\":\"nothing\"") }
    ),
    (
      "schema-inverse-of-other",
      schema { $0.replacingOccurrences(of: "\"inverse\":\"sequel\"", with: "\"inverse\":\"prequel\"") }
    ),
    ("schema-twice", schema { $0.replacingOccurrences(of: "\"name\":\"pages\"", with: "\"name\":\"name\"") }),
    (
      "schema-deep",
      schema({ try oneRow() }) { text in
        var attribute = #"{"name":"a","isOptional":true,"type":"int32"}"#
        for _ in 0..<33 { attribute = "{\"name\":\"a\",\"isOptional\":true,\"elements\":[\(attribute)]}" }
        return text.replacingOccurrences(of: "\"attributes\":[", with: "\"attributes\":[\(attribute),")
      }
    ),
    (
      "schema-lineage",
      schema({ try oneRow() }) { _ in
        let entities = (0..<65).map { number in
          "{\"name\":\"E\(number)\",\"isAbstract\":false,\"attributes\":[],\"relationships\":[],\"indexes\":[],"
            + "\"uniquenessConstraints\":[]" + (number > 0 ? ",\"superentity\":\"E\(number - 1)\"}" : "}")
        }
        return "{\"entities\":[\(entities.joined(separator: ","))]}"
      }
    ),
    (
      "metadata-uuid", metadata { $0.replacingOccurrences(of: "C0FFEE00", with: "C0FFEE01") }
    ),
    ("metadata-json", metadata { _ in "{}" }),
    (
      "metadata-type",
      metadata { $0.replacingOccurrences(of: "{}", with: #"{"a":{"type":"int65","value":"1"}}"#) }
    ),
    (
      "metadata-value",
      metadata { $0.replacingOccurrences(of: "{}", with: #"{"a":{"type":"double","value":"3ff00000"}}"#) }
    ),
  ]
}

extension FooterParts.Chunk {
  fileprivate mutating func delete(_ bits: [UInt8]) {
    flags |= 2
    deleted = bits
  }
}

extension ArchiveParts {
  /// Writes a slot's block anew, as values that follow from another slot.
  fileprivate mutating func follow(_ slot: Int, from other: Int) throws {
    let types = ArchiveTables.types(0, schema)
    let path: WritableKeyPath<FooterParts, FooterParts.Reference> = \.splices[0].groups[0].references[slot]
    let target = try columns(footer[keyPath: path], types[slot])
    let source = try columns(footer.splices[0].groups[0].references[other], types[other])
    var odd = OddPayload(seed: 1)
    let payload = odd.payload(target, from: [(other, source)])!
    let header = try BlockHeader.read(block(footer[keyPath: path])[..<32]).header
    (footer[keyPath: path].offset, footer[keyPath: path].length) = append(
      ArchiveParts.odd(payload, target, like: header, &odd))
    footer[keyPath: path].follow([UInt64(other)])
  }
}

extension FooterParts.Reference {
  fileprivate mutating func follow(_ slots: [UInt64]) {
    flags |= 64
    sources = slots
  }

  fileprivate mutating func goOn(at part: UInt8) {
    flags |= 16
    self.part = part
  }
}
