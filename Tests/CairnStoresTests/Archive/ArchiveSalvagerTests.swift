// Salvaging: whatever byte is damaged, what the new archive has is right, and the report says what it hasn't.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveSalvagerTests {
  private static let grown = Result { try DamagedSample.make(.grown) }
  private static let compact = Result { try DamagedSample.make(.compact) }
  private static let differences = Result { try DamagedSample.make(.differences) }

  private static func sample(_ kind: DamagedSample.Kind) throws -> DamagedSample {
    switch kind {
    case .grown: try grown.get()
    case .compact: try compact.get()
    case .differences: try differences.get()
    }
  }

  private struct Salvaged {
    let report: SalvageReport
    let contents: StoreContents
    let files: SimulatedFileSystem
  }

  private static func salvage(_ bytes: [UInt8], model: ArchiveStore.Model? = nil) throws -> Salvaged {
    let files = try DamagedSample.files(bytes)
    let report = try ArchiveSalvager.salvage("/a", to: "/b", model: model, on: files)
    let store = try DamagedSample.open(files, at: "/b")
    let contents = try StoreContents(of: store, in: store.snapshot())
    try store.close()
    return Salvaged(report: report, contents: contents, files: files)
  }

  /// What is in the salvaged archive though it wasn't in the damaged one, or isn't though nobody said so.
  private static func faults(_ salvaged: Salvaged, _ sample: DamagedSample) throws -> [String] {
    let report = salvaged.report
    let was = try #require(sample.contents[report.generation])
    var faults: [String] = []
    if report.generation != sample.newest, report.lostCommits == nil { faults.append("lost commits unsaid") }
    let entity = DamagedSample.schema.entities[0]
    func isLost(_ property: String?, _ key: Int64) -> Bool {
      report.losses.contains { loss in
        loss.entity == "Person" && loss.property == property && loss.keys.contains { $0.contains(key) }
      }
    }
    let (before, after) = (was.rows[entity.id] ?? [], salvaged.contents.rows[entity.id] ?? [])
    if before.count != after.count { faults.append("\(after.count) rows of \(before.count)") }
    for (old, new) in zip(before, after) {
      let hasLostKey = isLost("(keys)", old.key.id)
      if old.key != new.key, !hasLostKey { faults.append("row \(old.key) became \(new.key)") }
      if old.version != new.version, !isLost("(versions)", old.key.id) { faults.append("version") }
      for (slot, described) in entity.slots.enumerated() where old.values[slot] != new.values[slot] {
        let ofOwner = described.name.hasSuffix(".#order") && isLost("boss", old.key.id)
        let isNull = new.values[slot] == .null || described.name.hasSuffix(".#order")
        if !isLost(described.name, old.key.id) && !ofOwner || !isNull {
          faults.append("\(described.name) of \(old.key): \(old.values[slot]) became \(new.values[slot])")
        }
      }
    }
    let friends = entity.relationship(named: "friends")!
    if !report.losses.contains(where: { $0.entity == "Person.friends" || $0.property == "(keys)" }),
      was.links[friends] != salvaged.contents.links[friends]
    {
      faults.append("friends differ")
    }
    if report.isWhole, was.difference(from: salvaged.contents) != nil { faults.append("losses unsaid") }
    return faults
  }

  @Test(arguments: DamagedSample.Kind.allCases)
  func `of a whole archive nothing is lost`(_ kind: DamagedSample.Kind) throws {
    let sample = try Self.sample(kind)
    let salvaged = try Self.salvage(sample.bytes)
    #expect(salvaged.report.isWhole && salvaged.report.notes.isEmpty)
    #expect(sample.contents[sample.newest]?.difference(from: salvaged.contents) == nil)
    #expect(salvaged.report.rows.map(\.count) == [salvaged.contents.rows.values.reduce(0) { $0 + $1.count }])
    #expect(try ArchiveVerifier.findings(at: "/b", on: salvaged.files).isEmpty)
    let uuid = try ArchiveFiles.contents(at: "/a", salvaged.files).metadata.uuid
    #expect(try ArchiveFiles.contents(at: "/b", salvaged.files).metadata.uuid == uuid)
  }

  @Test(arguments: DamagedSample.Kind.allCases)
  func `whatever byte is flipped, everything is salvaged but what it held, and that is said`(
    _ kind: DamagedSample.Kind
  ) throws {
    let sample = try Self.sample(kind)
    let contents = try sample.places()
    #expect(kind != .differences || contents.footers.count > 2)
    var losing = 0
    // Of the larger ones every third, which comes to each block and footer.
    let step = kind == .compact ? 1 : 3
    // Each byte of a column in use loses something, but for the keys of pairs, which nothing names.
    var used: Set<UInt64> = []
    var usedOrPairs: Set<UInt64> = []
    for (number, groups) in contents.index.tables.enumerated() {
      for group in groups {
        for (place, reference) in group.columns.enumerated() {
          guard let block = reference?.block else { continue }
          let bytes = block.offset..<block.offset + UInt64(block.length)
          usedOrPairs.formUnion(bytes)
          if number == 0 || place < group.columns.count - 1 { used.formUnion(bytes) }
        }
      }
    }
    for offset in stride(from: 0, to: sample.bytes.count, by: step) {
      do {
        let salvaged = try Self.salvage(sample.flipped(offset))
        let faults = try Self.faults(salvaged, sample)
        #expect(faults.isEmpty, "byte \(offset): \(faults)")
        let isWhole = salvaged.report.isWhole
        #expect(isWhole || usedOrPairs.contains(UInt64(offset)), "byte \(offset): \(salvaged.report)")
        if !isWhole, used.contains(UInt64(offset)) { losing += 1 }
        let metadata = try ArchiveFiles.contents(at: "/b", salvaged.files).metadata
        #expect(metadata.userEntries == DamagedSample.entries, "byte \(offset)")
      } catch let error as StoreError {
        Issue.record("byte \(offset): \(error)")
      }
    }
    #expect(losing == used.count { Int($0) % step == 0 } && losing > 100)
  }

  @Test(arguments: ["name", "age", "height", "boss", "boss.#order"])
  func `a damaged column is null, and everything else is as it was`(property: String) throws {
    let sample = try Self.compact.get()
    let salvaged = try Self.salvage(sample.flipped(Int(try sample.block(property).offset) + 40))
    let loss = try #require(salvaged.report.losses.first)
    #expect(salvaged.report.losses.count == 1 && salvaged.report.lostCommits == nil)
    #expect(loss.entity == "Person" && loss.property == property && loss.reason.contains("checksum"))
    let rows = try #require(sample.contents[sample.newest]?.rows.values.first)
    #expect(loss.rowCount == rows.count)
    #expect(loss.keys == [rows.first!.key.id...rows.last!.key.id])
    #expect(try Self.faults(salvaged, sample).isEmpty)
  }

  @Test func `header, slots and trailer may all be damaged: nothing is lost by it`() throws {
    for sample in [try Self.grown.get(), try Self.compact.get()] {
      let trailer = try Int(sample.places().slot.fileLength) - 10
      for damaged in [[20], [100], [160], [100, 160], [20, 100, 160], [trailer]] {
        var bytes = sample.bytes
        for offset in damaged { bytes[offset] ^= 0x10 }
        let salvaged = try Self.salvage(bytes)
        #expect(salvaged.report.isWhole, "\(damaged): \(salvaged.report)")
        #expect(sample.contents[sample.newest]?.difference(from: salvaged.contents) == nil)
      }
    }
  }

  /// Flips a byte in all blocks of the file that are the same as the one at `place`.
  private static func damagingAll(_ sample: DamagedSample, _ place: BlockPlace) throws -> [UInt8] {
    var bytes = sample.bytes
    let block = Array(bytes[Int(place.offset)..<Int(place.offset) + place.length])
    var count = 0
    for offset in 208..<bytes.count - block.count where Array(bytes[offset..<offset + block.count]) == block {
      bytes[offset + 40] ^= 1
      count += 1
    }
    #expect(count == 2)
    return bytes
  }

  @Test(arguments: [DamagedSample.Kind.grown, .differences])
  func
    `where the newest footer and its copy are damaged, the state before it is saved, and the report says so`(
      _ kind: DamagedSample.Kind
    ) throws
  {
    let sample = try Self.sample(kind)
    let contents = try sample.places()
    let salvaged = try Self.salvage(try Self.damagingAll(sample, contents.footers[0]))
    #expect(salvaged.report.generation == sample.newest - 1 && !salvaged.report.isWhole)
    #expect(salvaged.report.lostCommits?.contains("commit \(sample.newest)") == true)
    #expect(
      sample.contents[sample.newest - 1]?.difference(from: salvaged.contents) == nil)
  }

  @Test func `an older footer's place isn't taken by the copy of another commit's`() throws {
    let sample = try Self.differences.get()
    let footers = try sample.places().footers
    #expect(footers.count > 3)
    // All later ones build on it: nothing of them can be told without it.
    let salvaged = try Self.salvage(try Self.damagingAll(sample, footers[2]))
    let before = sample.newest - 3
    #expect(salvaged.report.generation == before && salvaged.report.lostCommits != nil)
    #expect(sample.contents[before]?.difference(from: salvaged.contents) == nil)
  }

  @Test func `a damaged schema without a copy needs the model, and nothing is lost then`() throws {
    let sample = try Self.compact.get()
    let bytes = try Self.damagingAll(sample, sample.places().index.schema)
    do {
      _ = try Self.salvage(bytes)
      Issue.record("there is no schema")
    } catch let error as StoreError {
      #expect(error.code == .corrupt && error.remedy?.contains("--model") == true, "\(error)")
    }
    let salvaged = try Self.salvage(bytes, model: .init(schema: DamagedSample.schema))
    #expect(sample.contents[sample.newest]?.difference(from: salvaged.contents) == nil)
    #expect(salvaged.report.losses.isEmpty && salvaged.report.lostCommits == nil)
  }

  @Test func `what is used of copies is said, and they count as of use`() throws {
    for kind in DamagedSample.Kind.allCases {
      let sample = try Self.sample(kind)
      let contents = try sample.places()
      for place in [contents.footers.last!, contents.index.metadata] {
        let salvaged = try Self.salvage(sample.flipped(Int(place.offset) + 40))
        #expect(salvaged.report.notes.contains { $0.contains("copy") }, "\(salvaged.report.notes)")
      }
      let summary = try ArchiveSummary(ofArchiveAt: "/a", on: DamagedSample.files(sample.bytes))
      let footers = contents.footers.reduce(0) { $0 + $1.length }
      #expect(summary.copyBytes >= footers, "\(kind)")
      if kind == .compact {
        #expect(summary.deadBytes == 0)
        #expect(summary.copyBytes == footers + contents.index.schema.length + contents.index.metadata.length)
      }
    }
  }

  @Test func `of other files nothing can be salvaged, and nothing is written`() throws {
    for bytes in [[], [UInt8](repeating: 7, count: 5000), Array(try Self.compact.get().bytes[..<300])] {
      let files = try DamagedSample.files(bytes)
      #expect(throws: StoreError(.corrupt, "")) { try ArchiveSalvager.salvage("/a", to: "/b", on: files) }
      #expect(try files.information("/b") == nil)
    }
  }
}
