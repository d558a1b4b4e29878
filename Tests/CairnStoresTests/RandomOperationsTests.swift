// The engine against the toy store, over random operations. A failure names its seed and step; with CAIRN_SEED
// set to a seed only that one is run, and with CAIRN_TRACE set as well every operation is printed.

import CairnTesting
import Foundation
import Testing

@Suite("Random operations")
struct RandomOperationsTests {
  private static let environment = ProcessInfo.processInfo.environment

  /// Those beyond 10 have found something once.
  private static let usualSeeds: [UInt64] = Array(1...10) + [27, 1_042, 1_043, 1_149, 1_261]

  private static func seeds(_ usual: [UInt64]) -> [UInt64] {
    environment["CAIRN_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? usual
  }

  private static var trace: (@Sendable (String) -> Void)? {
    guard environment["CAIRN_TRACE"] != nil else { return nil }
    return { @Sendable (line: String) in FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
  }

  @Test(
    "The engine and the toy store agree on every answer, error and snapshot", arguments: seeds(usualSeeds))
  func agree(seed: UInt64) throws {
    try RandomOperations(seed: seed, steps: 300, trace: Self.trace)
      .run(subject: StoreKind.memory.maker, oracle: StoreKind.toy.maker)
  }

  @Test(
    "The archive and the toy store agree, whatever is read from the file", arguments: seeds([3, 11, 1_043]))
  func agreeFromFile(seed: UInt64) throws {
    try RandomOperations(seed: seed, steps: 200, trace: Self.trace)
      .run(subject: StoreKind.archive.maker, oracle: StoreKind.toy.maker)
    try RandomOperations(seed: seed, steps: 200, trace: Self.trace)
      .run(subject: StoreKind.rereadArchive.maker, oracle: StoreKind.toy.maker)
    try RandomOperations(seed: seed, steps: 100, trace: Self.trace)
      .run(subject: StoreKind.compactedArchive.maker, oracle: StoreKind.toy.maker)
  }

  @Test(
    "They agree on files that have entities and properties in any other order",
    arguments: seeds([1, 2, 4]))
  func agreeInAnyOrder(seed: UInt64) throws {
    try RandomOperations(seed: seed, steps: 150, trace: Self.trace)
      .run(subject: StoreKind.reorderedArchive(seed), oracle: StoreKind.toy.maker)
    try RandomOperations(seed: seed, steps: 100, trace: Self.trace)
      .run(subject: StoreKind.turnedArchive(seed), oracle: StoreKind.toy.maker)
    for (maker, steps) in [
      (StoreKind.reorderedLog(seed), 100), (StoreKind.reorderedLog(seed, isFollowed: true), 150),
      (StoreKind.turnedLog(seed), 60),
    ] {
      try RandomOperations(seed: seed, steps: steps, trace: Self.trace)
        .run(subject: maker, oracle: StoreKind.toy.maker)
    }
  }

  @Test("The log and the toy store agree, whatever is read from the files", arguments: seeds([3, 11, 1_043]))
  func agreeFromLog(seed: UInt64) throws {
    for (kind, steps) in [
      (StoreKind.log, 200), (.rereadLog, 100), (.checkpointedLog, 60), (.followedLog, 150),
    ] {
      try RandomOperations(seed: seed, steps: steps, trace: Self.trace)
        .run(subject: kind.maker, oracle: StoreKind.toy.maker)
    }
  }

  @Test("They agree on logs of several chunks too", arguments: seeds([1]))
  func agreeOnLargeLogs(seed: UInt64) throws {
    for kind in [StoreKind.log, .followedLog, .reorderedLog] {
      try RandomOperations(seed: seed, steps: 16, largestBatch: 1_800, trace: Self.trace)
        .run(subject: kind.maker, oracle: StoreKind.toy.maker)
    }
  }

  @Test("They agree on archives of several chunks too", arguments: seeds([1, 2]))
  func agreeOnLargeArchives(seed: UInt64) throws {
    try RandomOperations(seed: seed, steps: 40, largestBatch: 1_800, trace: Self.trace)
      .run(subject: StoreKind.rereadArchive.maker, oracle: StoreKind.toy.maker)
  }

  @Test("They agree on tables of several chunks too", arguments: seeds([1, 2]))
  func agreeOnLargeTables(seed: UInt64) throws {
    try RandomOperations(seed: seed, steps: 50, largestBatch: 1_800, trace: Self.trace)
      .run(subject: StoreKind.memory.maker, oracle: StoreKind.toy.maker)
  }

  @Test("A run depends on nothing but its seed")
  func replay() throws {
    let lines = try (0..<2).map { _ in
      let collected = Lines()
      try RandomOperations(seed: 7, steps: 60, trace: { collected.append($0) })
        .run(subject: StoreKind.toy.maker, oracle: StoreKind.toy.maker)
      return collected.all
    }
    #expect(lines[0] == lines[1])
  }

  /// Sendable: the array is touched with the lock held only.
  private final class Lines: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    func append(_ line: String) { lock.withLock { lines.append(line) } }

    var all: [String] { lock.withLock { lines } }
  }
}
