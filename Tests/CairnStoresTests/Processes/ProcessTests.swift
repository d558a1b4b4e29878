// Stores and real processes: one writer at a time, and kill -9 at any moment. A store that keeps files is one case
// more in `FileStore`. CAIRN_KILL_ROUNDS says how often each is killed; by default a few times.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite(.serialized) struct ProcessTests {
  /// A store in files, as a second process opens it by this name (Tests/StoreWriter).
  enum FileStore: String, CaseIterable, CustomTestStringConvertible {
    case archive
    case log

    var testDescription: String { rawValue }

    func open(_ path: String, isReadOnly: Bool = false) throws -> any PersistentStore {
      switch self {
      case .archive:
        var options = ArchiveStore.Options()
        options.isReadOnly = isReadOnly
        return try ArchiveStore(at: path, model: .init(schema: NumberedCommits.schema), options: options)
      case .log:
        var options = LogStore.Options()
        options.isReadOnly = isReadOnly
        return try LogStore(at: path, model: .init(schema: NumberedCommits.schema), options: options)
      }
    }

    /// Everything that is wrong with the files.
    func findings(_ path: String) throws -> [StoreError] {
      switch self {
      case .archive: try ArchiveVerifier.findings(at: path)
      case .log: try LogVerifier.findings(at: path)
      }
    }

    /// What may be beside the store in its folder when its writer was killed.
    func isOwnFile(_ name: String) -> Bool {
      switch self {
      case .archive: name == "store" || name == ".store.lock"
      case .log: name == "store"
      }
    }
  }

  @Test(arguments: FileStore.allCases)
  func `a second process is told which one writes, may read, and writes when that has ended or was killed`(
    _ kind: FileStore
  ) throws {
    try FileSystemKind.posix.withDirectory { place in
      let path = place.path("store")
      let writer = try WriterProcess(kind.rawValue, at: path, .hold)
      let error = #expect(throws: StoreError.self) { try kind.open(path) }
      #expect(error?.code == .locked)
      #expect(error?.message.contains("process \(writer.processID) (StoreWriter)") == true, "\(error!)")
      try kind.open(path, isReadOnly: true).close()
      #expect(throws: StoreError.self) { try WriterProcess(kind.rawValue, at: path, .hold) }
      try writer.end()
      try kind.open(path).close()
      let other = try WriterProcess(kind.rawValue, at: path, .hold)
      #expect(throws: StoreError(.locked, "")) { try kind.open(path) }
      #expect(try other.killed() == [])
      let store = try kind.open(path)
      // And the other way round.
      #expect { try WriterProcess(kind.rawValue, at: path, .hold) } throws: { error in
        "\(error)".contains("process \(getpid())")
      }
      try store.close()
    }
  }

  @Test(arguments: FileStore.allCases)
  func `a store that was open when its process forked stays the parent's, whatever the child does`(
    _ kind: FileStore
  ) throws {
    try FileSystemKind.posix.withDirectory { place in
      let path = place.path("store")
      let writer = try WriterProcess(kind.rawValue, at: path, .fork)
      var lines: [String] = []
      while let line = try writer.nextLine(), line != "alone" { lines.append(line) }
      // What an archive does in the child's memory alone does no harm.
      let harmless = kind == .archive ? "done" : "locked"
      #expect(
        lines == [
          "reserve: \(harmless)", "commit: locked", "compact: locked", "purge: \(harmless)",
          "refresh: \(harmless)", "read: done", "close: done",
        ])
      // The child has closed it, and it is the parent's still, whose note is there.
      let error = #expect(throws: StoreError.self) { try kind.open(path) }
      #expect(error?.code == .locked)
      #expect(error?.message.contains("process \(writer.processID) (StoreWriter)") == true, "\(error!)")
      try writer.end()
      let store = try kind.open(path)
      var expected = try Expected()
      let contents = try StoreContents(of: store, in: store.snapshot())
      let difference = try expected(2).difference(from: contents)
      #expect(difference == nil, "\(difference ?? "")")
      #expect(try kind.findings(path).isEmpty)
      try store.close()
    }
  }

  private static let rounds =
    ProcessInfo.processInfo.environment["CAIRN_KILL_ROUNDS"].flatMap { Int($0) } ?? 10

  /// What a store holds after so many numbered commits.
  private struct Expected {
    private let store = MemoryStore(schema: NumberedCommits.schema)
    private var contents: [StoreContents] = []

    init() throws { contents = [try StoreContents(of: store, in: store.snapshot())] }

    mutating func callAsFunction(_ number: Int) throws -> StoreContents {
      while contents.count <= number {
        _ = try store.commit(try NumberedCommits.changes(Int64(contents.count), for: store))
        contents.append(try StoreContents(of: store, in: store.snapshot()))
      }
      return contents[number]
    }
  }

  @Test(arguments: FileStore.allCases)
  func `whenever a writer is killed, everything that it acknowledged is there, and nothing by halves`(
    _ kind: FileStore
  ) throws {
    var random = SplitMix64(seed: UInt64(Self.rounds))
    var expected = try Expected()
    var round = 0
    while round < Self.rounds {
      // Every few rounds with a new store: killed while it is made, and not too long to check.
      try FileSystemKind.posix.withDirectory { place in
        let path = place.path("store")
        var acknowledged: Int64 = 0
        for _ in 0..<5 where round < Self.rounds {
          round += 1
          let writer = try WriterProcess(kind.rawValue, at: path, .commit)
          var lines: [String] = []
          for _ in 0..<random.next() % 12 { try writer.nextLine().map { lines.append($0) } }
          usleep(UInt32(random.next() % 8_000))
          lines += try writer.killed()
          // None is missing, and each comes once.
          let numbers = lines.compactMap { Int64($0) }
          #expect(numbers.count == lines.count)
          let wanted = Array(acknowledged + 1..<acknowledged + 1 + Int64(numbers.count))
          #expect(numbers == wanted, "round \(round)")
          acknowledged = numbers.last ?? acknowledged

          let store = try kind.open(path)
          let snapshot = try store.snapshot()
          let found = snapshot.generation.number
          // The commit that wasn't acknowledged any more may be there or not.
          #expect((acknowledged...acknowledged + 1).contains(found), "round \(round): \(acknowledged)")
          let contents = try StoreContents(of: store, in: snapshot)
          let difference = try expected(Int(found)).difference(from: contents)
          #expect(difference == nil, "round \(round), commit \(found): \(difference ?? "")")
          try store.close()
          acknowledged = found
          #expect(try kind.findings(path).isEmpty, "round \(round)")
          let names = try FileManager.default.contentsOfDirectory(atPath: place.root)
          #expect(names.allSatisfy(kind.isOwnFile), "round \(round): \(names)")
        }
      }
    }
  }
}
