// Logs of random commits: what is made of their frames is what the store had when it wrote them.
// `.ci/check-formats` has the independent reader read what this writes.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct OddLogTests {
  /// The store that a run made, kept when the run is over. Confined to one test.
  private final class Kept {
    let files = SimulatedFileSystem()
    var store: LogStore?
  }

  @Test(arguments: UInt64(1)...16)
  func `a log of random commits says what its store had`(_ seed: UInt64) throws {
    let kept = Kept()
    nonisolated(unsafe) let making = kept
    var options = LogStore.Options()
    options.history = .all
    options.idleInterval = nil
    options.preallocation = seed % 2 == 0 ? 0 : 3000
    options.keySlack = 3
    options.durability = LogStore.Durability.allCases[Int(seed % 3)]
    options.checkpoints = seed % 4 == 0 ? .inline : .never
    options.leastTail = 3000
    let chosen = options
    try RandomOperations(seed: 7000 + seed, steps: 70).run { schema, _ in
      making.store = try LogStore(
        at: LogParts.path, model: .init(schema: schema), options: chosen, fileSystem: making.files,
        clock: { Golden.time }, uuid: Golden.uuid)
      return making.store!
    } oracle: { schema, _ in
      MemoryStore(schema: schema)
    }
    let store = try #require(kept.store)
    let live = try Self.state(of: store)
    if seed % 5 == 0 { try store.close() }
    var parts = try LogParts(kept.files)
    let dump = try LogDump(parts)
    #expect(Self.withoutKeys(dump.state) == live)
    #expect(dump.commits.count == Int(dump.generation))
    try Self.hand(parts, dump.json, to: "log-\(seed)")
    // The same cut off in the middle of its last frame, where nothing promises that.
    let newest = try parts.newestSegment
    guard let last = parts.frames(newest).last, try parts.manifest.segments.last!.lastSequence < dump.sequence
    else { return }
    let end = LogSegmentHeader.size + parts.frames(newest).map(\.count).reduce(0, +)
    parts.files[newest]!.removeSubrange((end - last.count / 2)...)
    let torn = try LogDump(parts)
    #expect(torn.isTorn && torn.sequence < dump.sequence)
    try Self.hand(parts, torn.json, to: "torn-\(seed)")
  }

  /// The newest rows of an open store, as the dump of a log has them.
  private static func state(of store: LogStore) throws -> String {
    let (snapshot, nextKeys, nextJoinKeys) = try store.engine.state()
    return withoutKeys(
      try LogDump.state(
        snapshot,
        .init(
          schema: ArchivedSchema(store.schema, model: nil), metadata: store.metadata,
          generation: snapshot.generation.number, nextKeys: nextKeys, nextJoinKeys: nextJoinKeys)))
  }

  /// Frames promise keys ahead.
  private static func withoutKeys(_ state: String) -> String { state.replacing(#/"nextKey":\d+/#, with: "") }

  /// Writes a log and its JSON for the independent reader, if the environment says where.
  private static func hand(_ parts: LogParts, _ json: String, to name: String) throws {
    guard let path = ProcessInfo.processInfo.environment["CAIRN_ODD_ARCHIVES"] else { return }
    let folder = URL(fileURLWithPath: path)
    let directory = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (file, bytes) in parts.files { try Data(bytes).write(to: directory.appendingPathComponent(file)) }
    try Data(json.utf8).write(to: folder.appendingPathComponent("\(name).json"))
  }
}
