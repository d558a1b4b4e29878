// Writes a new archive with what is still readable of a damaged one: first finds the newest state that can be read,
// by the slots, or else by looking through the file; ChunkRepair then does without what is damaged of its rows.

package import CairnModel
import Foundation

package struct ArchiveSalvager {
  private let fileSystem: any FileSystem
  private let file: any OpenFile
  private let path: String
  /// What stands in for a schema that can't be read.
  private let model: ArchiveStore.Model?

  /// How many bytes of decoded columns are kept for others that follow from them.
  private static let cacheBudget = 64 << 20

  /// Writes to `target` what is readable of the archive at `path`. Damaged columns are null there, required or not,
  /// so that the rest of their rows isn't lost. `model` is the one that the archive was made with, for one whose own
  /// schema is damaged. `progress` is told how many of how many rows have been written.
  ///
  /// Throws `corrupt` where nothing can be read, `locked` while a store writes to `target`, and what the file system
  /// throws; nothing is written then. The
  /// damaged file is only read. Costs a pass over the file, and the memory of its index and a few blocks.
  package static func salvage(
    _ path: String, to target: String, model: ArchiveStore.Model? = nil,
    profile: ArchiveStore.Profile = .default, on fileSystem: any FileSystem = POSIXFileSystem.shared,
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws -> SalvageReport {
    let file = try fileSystem.open(path, .read)
    defer { try? file.close() }
    return try ArchiveSalvager(fileSystem: fileSystem, file: file, path: path, model: model)
      .run(target, profile, progress)
  }

  /// A state that can be read, and what is known of its file.
  private struct Found {
    let state: ArchiveFile.State
    let uuid: UUID
    let metadata: StoreMetadata?
    var lostCommits: String?
    var notes: [String] = []
  }

  private func run(
    _ target: String, _ profile: ArchiveStore.Profile, _ progress: @escaping (Int, Int) -> Void
  ) throws -> SalvageReport {
    let found = try byOpening() ?? bySearching()
    let state = found.state
    var report = SalvageReport(
      generation: state.index.generation,
      time: Date(timeIntervalSince1970: Double(state.index.time) / 1000))
    report.lostCommits = found.lostCommits
    report.notes = found.notes
    let repair = ChunkRepair(state, report, engine: ObjectIdentifier(file))
    let metadata =
      found.metadata
      ?? StoreMetadata(
        uuid: found.uuid, type: ArchiveStore.traits.type, versionHashes: model?.versionHashes ?? [:],
        versionIdentifiers: model?.versionIdentifiers ?? [])
    try ArchiveFiles.whileNobodyWrites(to: target, fileSystem) { target in
      var copy = ArchiveCopy(fileSystem: fileSystem, path: target, effort: profile.effort)
      copy.repair = repair.repaired
      copy.progress = progress
      try copy.write(
        repair.snapshot,
        .init(
          schema: state.schema, metadata: metadata, generation: state.index.generation,
          nextKeys: repair.nextKeys, nextJoinKeys: state.index.nextJoinKeys))
    }
    return repair.report
  }

  // MARK: The newest state

  /// As a store opens it; nil where that fails for damage.
  private func byOpening() throws -> Found? {
    do {
      let contents = try ArchiveFile(file: file, path: path).open(
        cacheBudget: ArchiveSalvager.cacheBudget, damage: DamageLog())
      let state = ArchiveFile.State(
        source: contents.source, schema: contents.schema, index: contents.index, footers: contents.footers)
      return Found(state: state, uuid: contents.header.uuid, metadata: contents.metadata)
    } catch let error as StoreError where error.code == .corrupt {
      return nil
    }
  }

  /// What looking through the file finds.
  private struct Traces {
    /// All where the header can't be read: then nothing that there may be is refused.
    var features = ArchiveHeader.Feature.known
    /// Where footers may be, and of which commit they are.
    var footers: [(place: BlockPlace, generation: UInt64)] = []
    var uuid: UUID?
    /// The newest commit that a slot or a trailer names.
    var newest: UInt64 = 0
    var hasDamagedSlot = false
    var unknown: [ArchiveScan.Found] = []
    /// Of the last schema that can be read.
    var schema: ArchivedSchema?
    /// Blocks of metadata that can be read, ascending.
    var metadata: [BlockPlace] = []
    /// Where footers have to be, by what trailers say.
    var trailers: [CommitSlot] = []
    var readableFooters: Set<UInt64> = []
    var notes: [String] = []

    mutating func add(_ slot: CommitSlot) {
      newest = max(newest, slot.generation)
      footers.append(
        (BlockPlace(offset: slot.footerOffset, length: Int(slot.footerLength)), slot.generation))
    }

    /// By the offset of each footer that can't be read, where its copy is, if there is one.
    var copies: [UInt64: BlockPlace] {
      var result: [UInt64: BlockPlace] = [:]
      for trailer in trailers where !readableFooters.contains(trailer.footerOffset) {
        result[trailer.footerOffset] =
          footers.first { footer in
            footer.generation == trailer.generation && footer.place.length == Int(trailer.footerLength)
              && footer.place.offset < trailer.footerOffset && readableFooters.contains(footer.place.offset)
          }?.place
      }
      return result
    }
  }

  private func bySearching() throws -> Found {
    var traces = try lookAtStart()
    try lookThrough(&traces)
    // Of one commit, what a slot or a trailer names comes before what only lies there.
    let order = traces.footers.indices.sorted {
      let (a, b) = (traces.footers[$0].generation, traces.footers[$1].generation)
      return a > b || a == b && $0 < $1
    }
    let uuid = traces.uuid ?? UUID()
    let instead = traces.schema ?? model.map { ArchivedSchema($0.schema, model: $0.source) }
    let reader = ArchiveFile(file: file, path: path)
    let copies = traces.copies
    var tried: Set<UInt64> = []
    var failure: StoreError?
    for number in order where tried.insert(traces.footers[number].place.offset).inserted {
      let footer = traces.footers[number]
      do {
        let state = try reader.state(
          at: footer.place, uuid: uuid, features: traces.features, cacheBudget: ArchiveSalvager.cacheBudget,
          damage: DamageLog(),
          insteadOf: instead, copies: copies)
        guard state.index.generation == Int64(clamping: footer.generation) else { continue }
        if let used = state.footers.first(where: { copies[$0.offset] != nil }) {
          traces.notes.append("the footer at \(used.offset) is damaged, and was read from its copy")
        }
        return found(state, uuid, traces)
      } catch let error as StoreError where error.code == .corrupt {
        failure = failure ?? error
      }
    }
    let isSchema =
      failure?.message.contains("schema") == true || failure.map { isOfSchema($0, traces) } == true
    throw StoreError(
      .corrupt,
      failure.map { "none of its commits can be read: \($0.message)" }
        ?? "there is no archive in it: no footer can be found", file: path, offset: failure?.offset,
      remedy: isSchema && model == nil
        ? "say the model that it was made with: cairn salvage --model" : "restore the file from a copy")
  }

  /// Whether what can't be read is none of the footers.
  private func isOfSchema(_ error: StoreError, _ traces: Traces) -> Bool {
    guard let offset = error.offset else { return false }
    return !traces.footers.contains {
      $0.place.offset <= offset && offset < $0.place.offset + UInt64($0.place.length)
    }
  }

  private func found(_ state: ArchiveFile.State, _ uuid: UUID, _ traces: Traces) -> Found {
    let reader = ArchiveFile(file: file, path: path)
    var notes = traces.notes
    var metadata = try? reader.metadata(state)
    if metadata == nil {
      // The copy is the next one behind it.
      let lost = state.index.metadata
      let copy = traces.metadata.first { $0.offset > lost.offset && $0.length == lost.length }
      metadata = copy.flatMap { try? reader.metadata(at: $0, state.source) }
      notes.append(
        metadata == nil
          ? "the metadata is damaged: entries that were set there are lost, and so are version hashes"
          : "the metadata is damaged, and was read from its copy")
    }
    var found = Found(state: state, uuid: uuid, metadata: metadata)
    found.notes = notes
    let generation = UInt64(clamping: state.index.generation)
    if generation < traces.newest {
      found.lostCommits =
        "the state of commit \(traces.newest) can't be read: what commit \(generation) left was saved"
    } else if traces.hasDamagedSlot, let piece = traces.unknown.first(where: { !isUsed($0, state) }) {
      found.lostCommits =
        "\(piece.length) bytes at \(piece.offset) can't be read, and may have been of a commit after \(generation)"
    }
    return found
  }

  /// Whether blocks of the state lie where nothing could be recognised: what is lost by that is said with them.
  private func isUsed(_ piece: ArchiveScan.Found, _ state: ArchiveFile.State) -> Bool {
    let blocks = state.index.tables.joined().flatMap { $0.columns }.compactMap { $0?.block }
    var places = blocks.map { BlockPlace(offset: $0.offset, length: $0.length) }
    places += state.footers + [state.index.schema, state.index.metadata]
    let end = piece.offset + piece.length
    var at = piece.offset
    for place in places.sorted(by: { $0.offset < $1.offset }) where place.offset <= at {
      at = max(at, place.offset + UInt64(place.length))
      if at >= end { return true }
    }
    return false
  }

  // MARK: Looking around

  private func lookAtStart() throws -> Traces {
    var traces = Traces()
    let start = try file.bytes(Int(CommitSlot.end), at: 0)
    do {
      let header = try ArchiveFile(file: file, path: path).header(start)
      traces.uuid = header.uuid
      traces.features = header.incompatible
    } catch let error as StoreError where error.code == .corrupt {
      traces.notes.append("the header can't be read: \(error.message)")
    }
    for offset in CommitSlot.offsets where Int(offset) + CommitSlot.size <= start.count {
      let bytes = start[Int(offset)..<Int(offset) + CommitSlot.size]
      if let slot = CommitSlot(bytes) {
        traces.add(slot)
      } else if !bytes.allSatisfy({ $0 == 0 }) {
        traces.hasDamagedSlot = true
        traces.notes.append("the commit slot at \(offset) is damaged")
      }
    }
    return traces
  }

  private func lookThrough(_ traces: inout Traces) throws {
    let bare = ArchiveSource(
      file: file, path: path, uuid: UUID(), schema: Schema.nothing, cacheBudget: 0)
    let reader = ArchiveFile(file: file, path: path)
    var scan = ArchiveScan(file, upTo: try file.information().size)
    try scan.forEach { found in
      let place = BlockPlace(offset: found.offset, length: Int(clamping: found.length))
      switch found.piece {
      case .trailer(let trailer):
        traces.uuid = traces.uuid ?? trailer.uuid
        traces.add(trailer.slot)
        traces.trailers.append(trailer.slot)
      case .block(let header) where header.kind == .footer:
        if let text = try? reader.text(place, .footer, bare),
          let generation = try? ArchiveIndex.generation(text)
        {
          traces.footers.append((place, generation))
          traces.readableFooters.insert(place.offset)
        }
      case .block(let header) where header.kind == .metadata: traces.metadata.append(place)
      case .block(let header) where header.kind == .schema:
        if let text = try? reader.text(place, .schema, bare), let schema = try? ArchivedSchema(json: text) {
          traces.schema = schema
        }
      case .unknown: traces.unknown.append(found)
      default: break
      }
    }
  }
}
