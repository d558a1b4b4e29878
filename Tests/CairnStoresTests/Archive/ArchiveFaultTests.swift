// Archives on files that crash and fail at every operation: the state before a save or after it, and everything that
// was acknowledged.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct ArchiveFaultTests {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  private static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Person",
        attributes: [
          .init("name", .string), .init("age", .int16), .init("photo", .data, allowsExternalStorage: true),
        ],
        relationships: [.init("tags", to: "Tag", inverse: "people")]),
      .init(
        name: "Tag", attributes: [.init("name", .string)],
        relationships: [.init("people", to: "Person", inverse: "tags")]),
    ]))

  private static func open(_ files: SimulatedFileSystem, isReadOnly: Bool = false) throws -> ArchiveStore {
    var options = ArchiveStore.Options()
    options.isReadOnly = isReadOnly
    options.profile = .fastest
    options.leastBlob = 40
    return try ArchiveStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
  }

  /// The steps of the work, each one commit.
  private static func changes(_ step: Int, _ store: ArchiveStore) throws -> ChangeSet {
    var changes = ChangeSet(author: "step \(step)")
    let people = try schema.requireEntity(named: "Person")
    let tags = try schema.requireEntity(named: "Tag")
    let link = schema[try #require(people.relationship(named: "tags"))].id
    if step.isMultiple(of: 3) {
      let keys = try store.reserveKeys(3, root: people.root)
      for key in keys {
        try changes.insert(
          RowKey(entity: people.id, id: key),
          [
            "name": .string("person \(key)"), "age": .int(key),
            "photo": .data(Data(repeating: UInt8(key), count: key % 3 == 0 ? 10 : 200)),
          ], in: schema)
      }
      let tag = RowKey(entity: tags.id, id: try store.reserveKeys(1, root: tags.root).lowerBound)
      try changes.insert(tag, ["name": .string("tag \(step)")], in: schema)
      changes.links.append(.init(link, of: RowKey(entity: people.id, id: keys.lowerBound), .add([tag])))
    } else if step % 3 == 1 {
      try changes.update(
        RowKey(entity: people.id, id: Int64(step)),
        ["name": .string(String(repeating: "é", count: 50 * step)), "photo": .data(Data(count: 70 * step))],
        in: schema)
    } else {
      changes.delete(RowKey(entity: people.id, id: Int64(step)))
    }
    return changes
  }

  /// What the store holds after each number of commits.
  private static func expected(_ steps: Int) throws -> [StoreContents] {
    let store = try open(SimulatedFileSystem())
    var result = [try StoreContents(of: store, in: store.snapshot())]
    for step in 0..<steps {
      _ = try store.commit(try changes(step, store))
      result.append(try StoreContents(of: store, in: store.snapshot()))
    }
    return result
  }

  /// How many commits a state has. Throws where it is no state that the work went through.
  private static func state(_ files: SimulatedFileSystem, _ expected: [StoreContents], isReadOnly: Bool)
    throws -> Int
  {
    let store = try open(files, isReadOnly: isReadOnly)
    let snapshot = try store.snapshot()
    let number = Int(snapshot.generation.number)
    guard expected.indices.contains(number) else { throw Wrong(description: "generation \(number)") }
    let found = try StoreContents(of: store, in: snapshot)
    if let difference = expected[number].difference(from: found) {
      throw Wrong(description: "after \(number) commits: \(difference)")
    }
    try store.close()
    return number
  }

  @Test func `a crash or a fault at any operation of saves and compactions loses nothing acknowledged`()
    throws
  {
    let steps = 5
    let expected = try Self.expected(steps)
    var plan = FaultEnumeration(seed: 5)
    plan.statesPerCrash = 16
    plan.statesPerFault = 2
    plan.crashedRecoveries = 1
    plan.faults = [.error(EIO), .partial(ENOSPC), .short, .interrupted]
    let report = try plan.run(
      record: -1,
      work: { files, promised in
        let store = try Self.open(files)
        promised = 0
        for step in 0..<steps {
          _ = try store.commit(try Self.changes(step, store))
          promised = step + 1
          if step == 2 { try store.compact() }
        }
        try store.close()
      },
      recovery: { files in
        if try files.information("/a") != nil { try Self.open(files).close() }
      },
      check: { files, promised, ending in
        if try files.information("/a") == nil {
          if promised >= 0 { throw Wrong(description: "the archive is gone") }
          return
        }
        let seen = try Self.state(files, expected, isReadOnly: true)
        if seen < promised {
          throw Wrong(description: "\(promised) commits were acknowledged, and \(seen) are there")
        }
        if seen > promised + 1 { throw Wrong(description: "\(seen) commits after \(promised)") }
        if case .failed(let error as StoreError) = ending, error.code != .outcomeUnknown,
          seen > max(promised, 0)
        {
          throw Wrong(description: "a save that failed is there: \(error)")
        }
        // For writing too, and once more after that; then it takes further commits.
        guard try Self.state(files, expected, isReadOnly: false) == seen,
          try Self.state(files, expected, isReadOnly: true) == seen
        else { throw Wrong(description: "opening it changed it") }
        if !files.temporaryFiles.isEmpty { throw Wrong(description: "left \(files.temporaryFiles)") }
        if seen < steps {
          let store = try Self.open(files)
          _ = try store.commit(try Self.changes(seen, store))
          try store.close()
          guard try Self.state(files, expected, isReadOnly: true) == seen + 1 else {
            throw Wrong(description: "a commit after the crash isn't there")
          }
        }
      })
    #expect(report.crashCount > 20 && report.faultCount > 100, "\(report)")
  }

  @Test func `a compaction that fails at any operation loses no later save`() throws {
    let expected = try Self.expected(3)
    var plan = FaultEnumeration(seed: 9)
    plan.statesPerCrash = 4
    plan.statesPerFault = 2
    plan.faults = [.error(EIO), .partial(ENOSPC)]
    let report = try plan.run(
      record: -1,
      work: { files, promised in
        let store = try Self.open(files)
        promised = 0
        for step in 0..<3 {
          _ = try store.commit(try Self.changes(step, store))
          promised = step + 1
          // As after a save that leaves much waste, which doesn't fail for it.
          if step == 1 { try? store.compact() }
        }
        try store.close()
      },
      check: { files, promised, _ in
        guard promised >= 0 else { return }
        let seen = try Self.state(files, expected, isReadOnly: true)
        if seen < promised {
          throw Wrong(description: "\(promised) commits were acknowledged, and \(seen) are there")
        }
      })
    #expect(report.faultCount > 50, "\(report)")
  }

  @Test func `a file that is removed or replaced under a store takes no more saves`() throws {
    for replaces in [false, true] {
      let files = SimulatedFileSystem()
      let store = try Self.open(files)
      _ = try store.commit(try Self.changes(0, store))
      try files.rename("/a", to: "/b")
      if replaces {
        try AtomicReplacement.replace("/a", on: files) { try $0.append([1]) }
      }
      let changes = try Self.changes(1, store)
      #expect(throws: StoreError(.fileSystem, "")) { _ = try store.commit(changes) }
      #expect(throws: StoreError(.fileSystem, "")) { try store.compact() }
      #expect(try store.snapshot().generation.number == 1)
      try files.rename("/b", to: "/a")
      _ = try store.commit(changes)
    }
  }

  @Test func `what a failed save leaves is cut off before the next`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    let start = files.operationCount
    _ = try store.commit(try Self.changes(0, store))
    let write = try #require(files.operations[start...].first { $0.kind == .write }).number - start
    let next = files.operationCount
    files.injectFaults {
      if $0.number == next + write { return .partial(ENOSPC) }
      return $0.kind == .truncate ? .error(EIO) : nil
    }
    // Far more than the next save writes.
    let large = try Self.largeChange()
    #expect(throws: StoreError(.fileSystem, "")) { _ = try store.commit(large) }
    #expect(files.operations[next + write].kind == .write)
    #expect(files.operations.last?.kind == .truncate)
    files.injectFaults(nil)
    #expect(try ArchiveFiles.contents(at: "/a", files).unfinished > 0)
    _ = try store.commit(try Self.changes(1, store))
    #expect(try ArchiveFiles.contents(at: "/a", files).unfinished == 0)
  }

  /// A name of 64 kB that doesn't get shorter by deflating.
  private static func largeChange() throws -> ChangeSet {
    var changes = ChangeSet()
    var random = SplitMix64(seed: 1)
    try changes.update(
      RowKey(entity: schema.entities[0].id, id: 1),
      ["name": .string((0..<4_000).map { _ in String(random.next(), radix: 16) }.joined())], in: schema)
    return changes
  }

  @Test func `a full medium fails the save, which works when there is room again`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    _ = try store.commit(try Self.changes(0, store))
    let before = try StoreContents(of: store, in: store.snapshot())
    files.quota = 8_192
    let changes = try Self.largeChange()
    #expect { _ = try store.commit(changes) } throws: { ($0 as? StoreError)?.isFull == true }
    #expect(before.difference(from: try StoreContents(of: store, in: store.snapshot())) == nil)
    files.quota = nil
    _ = try store.commit(changes)
    #expect(try store.snapshot().generation.number == 2)
  }

  @Test func `after a failed sync nothing is saved until the archive is opened again`() throws {
    let files = SimulatedFileSystem()
    let store = try Self.open(files)
    _ = try store.commit(try Self.changes(0, store))
    let start = files.operationCount
    _ = try store.commit(try Self.changes(1, store))
    let sync = try #require(files.operations[start...].first { $0.kind == .sync })
    files.fail(at: files.operationCount + sync.number - start, with: .error(EIO), isLasting: false)
    let changes = try Self.changes(2, store)
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(changes) }
    #expect(throws: StoreError(.outcomeUnknown, "")) { _ = try store.commit(changes) }
    #expect(try store.snapshot().generation.number == 2)
  }
}
