// Directories of logs that aren't as their writers left them: copied while they were written, with files that are empty or
// older than the others, read-only, or moved away under who has them open.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogCopiesTests {
  /// What opening the copy shows; nil where it is refused as damaged, with a file and what to do.
  private static func opened(_ files: SimulatedFileSystem, isReadOnly: Bool) throws -> LogSample.Facts? {
    do {
      let store = try isReadOnly ? LogSample.openForReading(files) : LogSample.open(files)
      defer { try? store.close() }
      return try LogSample.Facts(store)
    } catch let error as StoreError where error.code == .corrupt {
      #expect(error.file?.hasPrefix("/a") == true && error.remedy != nil, "\(error)")
      return nil
    }
  }

  @Test func `a copy that was made while a log was written is a state that it had, or refused`() throws {
    var refused = 0
    var shown = 0
    for seed in UInt64(1)...40 {
      var random = SplitMix64(seed: seed)
      let files = SimulatedFileSystem()
      let store = try LogSample.open(files) {
        $0.preallocation = 2_000
        $0.history = seed.isMultiple(of: 2) ? .all : .none
      }
      var states = [try LogSample.Facts(store)]
      func work() throws {
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          try LogSample.commit(states.count - 1, store)
          states.append(try LogSample.Facts(store))
          if Int.random(in: 0..<4, using: &random) == 0 { try store.compact() }
        }
      }
      for _ in 0..<4 { try work() }
      let before = states.count - 1
      var copy: [String: [UInt8]] = [:]
      // In the order of the directory, piece by piece, and the writer goes on in between.
      for name in try files.list("/a").shuffled(using: &random) where name != LogNames.lock {
        try work()
        guard let file = try? files.open("/a/\(name)", .read) else { continue }
        var bytes: [UInt8] = []
        while true {
          let piece = try file.bytes(Int.random(in: 50...1_000, using: &random), at: UInt64(bytes.count))
          if piece.isEmpty { break }
          bytes += piece
          if Int.random(in: 0..<4, using: &random) == 0 { try work() }
        }
        copy[name] = bytes
      }
      let read = try Self.opened(try LogSample.files(copy), isReadOnly: true)
      // Who writes comes to the same, and changes nothing of what it refuses.
      let left = try LogSample.files(copy)
      #expect(try Self.opened(left, isReadOnly: false) == read, "seed \(seed)")
      guard let read else {
        refused += 1
        for (name, bytes) in copy {
          #expect(try LogSample.bytes(name, left) == bytes, "seed \(seed), \(name)")
        }
        continue
      }
      shown += 1
      #expect(read == states[Int(read.generation)], "seed \(seed)")
      // What was there before the copying began is in it, unless the manifest is older than that, which can't be.
      #expect(Int(read.generation) >= before, "seed \(seed): \(read.generation) of \(before)")
    }
    #expect(refused > 3 && shown > 3, "\(refused) refused, \(shown) shown")
  }

  @Test func `files that are empty, or older than the others, are refused, and nothing is changed`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.history = .all }
    var older: [[String: [UInt8]]] = []
    for step in 0..<6 {
      try LogSample.commit(step, store)
      if step == 1 || step == 3 { try store.compact() }
      older.append(try LogSample.contents(files))
    }
    try store.close()
    let contents = try LogSample.contents(files)
    let expected = try LogSample.expected(6)
    for name in contents.keys where name != LogNames.lock {
      for (number, bytes) in ([[]] + older.compactMap { $0[name] }).enumerated() where bytes != contents[name]
      {
        var changed = contents
        changed[name] = bytes
        let copy = try LogSample.files(changed)
        let read = try Self.opened(copy, isReadOnly: true)
        if name == LogNames.manifest, number > 0 {
          // It leads to what it promised, at least.
          #expect(read.map { $0 == expected[Int($0.generation)] } ?? true, "\(name) \(number)")
          continue
        }
        #expect(read == nil, "\(name) \(number)")
        #expect(try Self.opened(copy, isReadOnly: false) == nil, "\(name) \(number)")
        for (other, bytes) in changed where other != LogNames.lock {
          #expect(try LogSample.bytes(other, copy) == bytes, "\(name) \(number): \(other)")
        }
      }
    }
  }

  @Test func `a log in a place that can't be written is read, and who wants to write is told where`() throws {
    for isTorn in [false, true] {
      let made = SimulatedFileSystem()
      let store = try LogSample.open(made)
      for step in 0..<2 { try LogSample.commit(step, store) }
      let files = made.restarted()
      if isTorn {
        let size = try LogSample.bytes("log-2", files).count
        try files.open("/a/log-2", .readWrite).write([1, 2, 3], at: UInt64(size))
      }
      let before = try LogSample.contents(files)
      files.isReadOnly = true
      let reader = try LogSample.openForReading(files)
      #expect(try LogSample.Facts(reader) == LogSample.expected(2)[2])
      #expect(try reader.refresh().isEmpty)
      #expect(try reader.history(after: Generation(0)).count == 2)
      try reader.close()
      for path in ["/a", "/new"] {
        let error = #expect(throws: StoreError.self) { _ = try LogSample.open(files, at: path) }
        #expect(error?.code == .fileSystem && error?.systemError == EROFS, "\(error!)")
        #expect(error?.file?.hasPrefix(path) == true && error?.remedy != nil, "\(error!)")
      }
      let error = #expect(throws: StoreError.self) { try LogFiles.destroy(at: "/a", files) }
      #expect(error?.systemError == EROFS)
      #expect(try LogSample.contents(files) == before)
    }
  }

  @Test func `a log that is moved is the same elsewhere, and its readers say that it is gone`() throws {
    let files = SimulatedFileSystem()
    let store = try LogSample.open(files) { $0.idleInterval = 0.05 }
    for step in 0..<2 { try LogSample.commit(step, store) }
    let reader = try LogSample.openForReading(files)
    #expect(try reader.refresh().isEmpty)
    try files.rename("/a", to: "/b")
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { _ = try reader.refresh() }
      #expect(error?.file?.hasPrefix("/a") == true && error?.remedy != nil, "\(error!)")
    }
    #expect(try LogSample.Facts(reader) == LogSample.expected(2)[2])
    // Its writer has the lock still, wherever it lies.
    #expect(throws: StoreError(.locked, "")) { _ = try LogSample.open(files, at: "/b") }
    #expect(throws: StoreError(.fileSystem, "")) { try store.close() }
    let moved = try LogSample.open(files, at: "/b")
    try LogSample.commit(2, moved)
    #expect(try LogSample.Facts(moved) == LogSample.expected(3)[3])
    try moved.close()
    try files.rename("/b", to: "/a")
    #expect(try reader.refresh().map(\.generation.number) == [3])
  }
}
