// Rules of Formats/log.md that a golden log can't show, or not alone.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogFormatTests {
  private static func open(
    _ files: SimulatedFileSystem, _ schema: Schema = Golden.one,
    _ change: (inout LogStore.Options) -> Void = { _ in }
  ) throws -> LogStore {
    var options = LogStore.Options()
    options.checkpoints = .never
    options.preallocation = 0
    options.idleInterval = nil
    change(&options)
    return try LogStore(
      at: LogParts.path, model: .init(schema: schema), options: options, fileSystem: files,
      clock: { Golden.time })
  }

  private static func insert(_ store: LogStore, _ text: String = "") throws {
    let note = Golden.one.entities[0].id
    let key = try store.reserveKeys(1, root: note).lowerBound
    var changes = ChangeSet()
    try changes.insert(RowKey(entity: note, id: key), ["text": .string(text)], in: Golden.one)
    _ = try store.commit(changes)
  }

  // MARK: Directories and features

  @Test func `a directory without a manifest is no log`() throws {  // LOG-1, LOG-3
    let parts = try GoldenLogTests.parts("accept", "not-closed").changing { $0.files["MANIFEST"] = nil }
    let files = try parts.fileSystem()
    for isReadOnly in [true, false] {
      #expect(throws: StoreError(.corrupt, "")) { try Self.open(files) { $0.isReadOnly = isReadOnly } }
    }
    #expect(try LogParts(files) == parts, "nothing was touched")
  }

  @Test func `a log with features that only readers may ignore is read and not written`() throws {  // LOG-12
    let files = try GoldenLogTests.parts("accept", "unknown-features").fileSystem()
    let reader = try Self.open(files) { $0.isReadOnly = true }
    #expect(try reader.count(StoreRequest(entity: Golden.one.entities[0].id), in: reader.snapshot()) == 1)
    #expect(throws: StoreError(.unsupportedRequest, "")) { try Self.open(files) }
  }

  @Test func `each segment begins with keys`() throws {  // LOG-23
    let parts = try GoldenLog.checkpointed(.all).parts()
    for segment in try parts.manifest.segments {
      let first = parts.frames(LogNames.segment(segment.number))[0]
      #expect(first[32] == LogFrame.Kind.keys.rawValue)
    }
  }

  // MARK: Groups

  /// A transaction of two pieces behind three small ones; nothing says that it is durable.
  private static func large() throws -> LogParts {
    let making = try GoldenLog.threeCommits()
    try making.save {
      // What doesn't deflate.
      var numbers = FixedNumbers(seed: 3)
      let text = String(decoding: (0..<1_300_000).map { _ in UInt8(33 + numbers.below(90)) }, as: UTF8.self)
      try $0.update(RowKey(entity: EntityID(0), id: 2), ["text": .string(text)], in: Golden.one)
    }
    return try making.parts()
  }

  @Test func `a large transaction is a group of frames`() throws {  // LOG-35
    let parts = try Self.large()
    let frames = parts.frames("log-2")
    let last = frames.suffix(2).map { frame in frame.withUnsafeBytes { LogFrame(fields: $0) } }
    #expect(last.map(\.flags.rawValue) == [0, 1])
    #expect(last[0].payloadLength == LogFrame.largestPiece)
    #expect(try LogDump(parts).generation == 4)
    // Pieces of one group are alike.
    for (place, value) in [(32, UInt8(2)), (16, 9), (33, 3)] {
      let changed = try parts.changing { try $0.changeFrames { $0[$0.count - 1][place] = value } }
      #expect(throws: StoreError(.corrupt, "")) { try LogDump(changed) }
    }
    // Without its last piece it is torn from its first on, however that comes.
    let whole = parts.files["log-2"]!.count
    for cut in [whole - 1, whole - frames.last!.count, whole - frames.last!.count - 1] {
      let torn = try LogDump(parts.changing { $0.files["log-2"]!.removeSubrange(cut...) })
      #expect(torn.isTorn && torn.generation == 3)
    }
  }

  // MARK: The end

  /// One has a segment and several commits, the other a sealed segment besides.
  @Test(arguments: ["not-closed", "rotated"])
  func `every truncation and every flipped byte ends as the table says`(_ log: String) throws {  // LOG-70
    let parts = try GoldenLogTests.parts("accept", log)
    // By the sequence of the last frame.
    var states: [UInt64: String] = [:]
    let newest = try parts.newestSegment
    for last in parts.frames(newest).indices {
      let dump = try LogDump(parts.changing { try $0.changeFrames { $0.removeSubrange((last + 1)...) } })
      states[dump.sequence] = dump.state
    }
    var table = EndingTable()
    for name in parts.files.keys.sorted() {
      let bytes = parts.files[name]!
      for place in 0..<bytes.count {
        for (what, changed) in [
          ("cut", Array(bytes[..<place])), ("bit", bytes.flipping(place, 1 << UInt8(place % 8))),
          ("byte", bytes.flipping(place, 0xFF)),
        ] {
          let ending: String
          do {
            let dump = try LogDump(parts.changing { $0.files[name] = changed })
            ending = "\(dump.generation)\(dump.isTorn ? " torn" : "")"
            #expect(dump.state == states[dump.sequence], "\(name), \(what) \(place)")
          } catch let error as StoreError where error.code == .corrupt {
            ending = "corrupt"
          }
          table.add(name, what, place, ending)
        }
      }
    }
    let url = GoldenLogTests.folder.appendingPathComponent("accept/\(log).table")
    if GoldenArchiveTests.writesMissing, !FileManager.default.fileExists(atPath: url.path) {
      try Data(table.text.utf8).write(to: url)
    }
    #expect(try String(decoding: Data(contentsOf: url), as: UTF8.self) == table.text)
  }

  // MARK: Writing

  @Test func `what a frame says to be durable was synced before`() throws {  // LOG-34
    for durability in LogStore.Durability.allCases {
      let files = SimulatedFileSystem()
      let store = try Self.open(files) { $0.durability = durability }
      func said() throws -> UInt64 {
        try LogParts(files).frames("log-2").map { frame in
          frame.withUnsafeBytes { LogFrame(fields: $0).durable }
        }.max()!
      }
      for round in 0..<4 {
        try Self.insert(store, "\(round)")
        // Frames 1 and 2 are keys.
        if round == 2 {
          #expect(try said() == (durability == .full ? 4 : 1))
          try store.writing.withLock { try $0!.syncer.syncNow() }
        }
      }
      let durable = try said()
      #expect(durable == 5)
      for state in files.crashStates(limit: 60) {
        let left = try LogParts(state.fileSystem)
        let dump = try LogDump(left)
        #expect(dump.sequence >= durable, "\(durability), \(state.description)")
      }
      withExtendedLifetime(store) {}
    }
  }

}

/// What comes of each place that is changed, with equal neighbours on one line.
private struct EndingTable {
  private var runs: [(name: String, what: String, places: ClosedRange<Int>, ending: String)] = []

  mutating func add(_ name: String, _ what: String, _ place: Int, _ ending: String) {
    if let index = runs.lastIndex(where: { $0.name == name && $0.what == what }),
      runs[index].ending == ending, runs[index].places.upperBound == place - 1
    {
      runs[index].places = runs[index].places.lowerBound...place
    } else {
      runs.append((name, what, place...place, ending))
    }
  }

  var text: String {
    runs.sorted { ($0.name, $0.what, $0.places.lowerBound) < ($1.name, $1.what, $1.places.lowerBound) }.map {
      "\($0.name) \($0.what) \($0.places.lowerBound)-\($0.places.upperBound) \($0.ending)\n"
    }.joined()
  }
}

extension [UInt8] {
  fileprivate func flipping(_ place: Int, _ bits: UInt8) -> [UInt8] {
    var copy = self
    copy[place] ^= bits
    return copy
  }
}
