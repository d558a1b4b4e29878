// Verifying an archive: what is whole has no findings, and what isn't has one for each thing that is wrong.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveVerifierTests {
  private static let grown = Result { try DamagedSample.make(.grown) }
  private static let compact = Result { try DamagedSample.make(.compact) }

  private static func findings(_ bytes: [UInt8]) throws -> [StoreError] {
    try ArchiveVerifier.findings(at: "/a", on: DamagedSample.files(bytes))
  }

  @Test(arguments: [false, true])
  func `a whole archive has no findings, nor has what an unfinished save left behind it`(
    isCompacted: Bool
  ) throws {
    let sample = try (isCompacted ? Self.compact : Self.grown).get()
    #expect(try Self.findings(sample.bytes).isEmpty)
    #expect(try Self.findings(sample.bytes + [1, 2, 3]).isEmpty)
  }

  @Test(arguments: [false, true])
  func `a flipped byte anywhere is found`(isCompacted: Bool) throws {
    let sample = try (isCompacted ? Self.compact : Self.grown).get()
    for offset in sample.bytes.indices {
      let findings = try Self.findings(sample.flipped(offset, 1 << UInt8(offset & 7)))
      #expect(!findings.isEmpty, "byte \(offset)")
      #expect(
        findings.allSatisfy {
          $0.code == .corrupt && $0.file == "/a" && $0.offset != nil && $0.remedy != nil
        })
    }
  }

  @Test func `a cut file has findings, whatever its length`() throws {
    let bytes = try Self.grown.get().bytes
    for length in stride(from: 0, to: bytes.count, by: 7) {
      #expect(try !Self.findings(Array(bytes[..<length])).isEmpty, "\(length)")
    }
  }

  @Test func `every damaged column is named, not only the first`() throws {
    let sample = try Self.compact.get()
    var bytes = sample.bytes
    for property in ["name", "height", "boss"] { bytes[Int(try sample.block(property).offset) + 40] ^= 1 }
    let findings = try Self.findings(bytes)
    #expect(findings.map(\.property) == ["name", "height", "boss"], "\(findings)")
    #expect(findings.allSatisfy { $0.entity == "Person" })
  }

  @Test func `values beyond the footer's bounds, and keys that aren't its own, are found`() throws {
    let sample = try Self.compact.get()
    let contents = try sample.places()
    let group = contents.index.tables[0][0]
    func with(
      _ columns: [ArchiveGroup.Reference?], _ chunks: [ArchiveGroup.ChunkInfo], moreKeys: Int64 = 0
    ) throws -> [StoreError] {
      // A footer that says something else, behind the old one.
      var index = contents.index
      index.tables[0][0] = ArchiveGroup(
        id: group.id, table: 0, types: group.types, chunks: chunks, columns: columns)
      index.generation += 1
      index.nextKeys[0] += moreKeys
      var bytes = sample.bytes
      let offset = UInt64(bytes.count)
      let footer = try TextBlock.encode(.footer, index.wholeFooter, level: 6)
      let slot = CommitSlot(
        generation: UInt64(index.generation),
        fileLength: offset + UInt64(footer.count + ArchiveTrailer.size), footerOffset: offset,
        footerLength: UInt32(footer.count))
      bytes += footer + ArchiveTrailer(slot: slot, uuid: contents.header.uuid).bytes
      bytes.replaceSubrange(144..<208, with: slot.bytes)
      return try Self.findings(bytes)
    }
    #expect(try with(group.columns, group.chunks).isEmpty)
    let age = DamagedSample.schema.entities[0].slot(named: "age")!
    var columns = group.columns
    let old = columns[age]!.block
    var zone = Zone()
    (zone.minInteger, zone.maxInteger) = (0, 1)
    columns[age] = .init(
      block: ArchiveBlock(
        source: old.source, offset: old.offset, length: old.length, table: 0, place: age, group: old.group,
        type: old.type, zone: zone, sources: []), firstPart: 0)
    let bounds = try with(columns, group.chunks)
    #expect(bounds.map(\.property) == ["age"] && bounds[0].message.contains("bounds"), "\(bounds)")
    var chunks = group.chunks
    try #require(!chunks[0].hasDenseKeys)
    chunks[0].lastKey += 1
    let keys = try with(group.columns, chunks, moreKeys: 1)
    #expect(keys.map(\.property).contains("(keys)"), "\(keys)")
    #expect(try with(group.columns, chunks).contains { $0.message.contains("next") })
  }

  @Test func `bytes that belong to nothing are found, and zeros aren't`() throws {
    let bytes = try Self.grown.get().bytes
    let contents = try Self.grown.get().places()
    #expect(contents.footers.count >= 1)
    // A block of an earlier commit that nothing uses any more.
    var scan = ArchiveScan(
      try DamagedSample.files(bytes).open("/a", .read), upTo: contents.slot.fileLength)
    var pieces: [ArchiveScan.Found] = []
    try scan.forEach { pieces.append($0) }
    #expect(pieces.allSatisfy { $0.piece != .unknown && $0.piece != .zeros })
    #expect(pieces.count { if case .trailer = $0.piece { true } else { false } } == 5)
    let trailer = try #require(pieces.first { if case .trailer = $0.piece { true } else { false } })
    var other = bytes
    for offset in trailer.offset..<trailer.offset + trailer.length { other[Int(offset)] = 0 }
    #expect(try Self.findings(other).isEmpty)
    other[Int(trailer.offset) + 10] = 1
    let findings = try Self.findings(other)
    #expect(findings.count == 1 && findings[0].remedy?.contains("compact") == true, "\(findings)")
  }

  @Test func `a file that looks like thousands of blocks takes no time`() throws {
    let bytes = try Self.compact.get().bytes
    var header = BlockHeader(kind: .columns, codec: 0, rawLength: 1 << 20, storedLength: 1 << 19)
    header.rows = 1
    let fake = header.bytes(over: [1])
    var hostile = Array(bytes[..<208])
    while hostile.count < 1 << 20 { hostile += fake }
    let start = ContinuousClock.now
    #expect(try !Self.findings(hostile).isEmpty)
    #expect(ContinuousClock.now - start < .seconds(10))
  }
}
