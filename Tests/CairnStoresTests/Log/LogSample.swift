// A log that tests write, and what it holds after each of its commits.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

struct Wrong: Error, CustomStringConvertible {
  let description: String
}

enum LogSample {
  static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Person", attributes: [.init("name", .string), .init("age", .int16)],
        relationships: [.init("tags", to: "Tag", inverse: "people")]),
      .init(
        name: "Tag", attributes: [.init("name", .string)],
        relationships: [.init("people", to: "Person", inverse: "tags")]),
    ]))
  static let people = schema.entities[0]
  static let tags = schema.entities[1]

  /// No background work, small files, everything in order.
  static var options: LogStore.Options {
    var options = LogStore.Options()
    options.profile = .fastest
    options.preallocation = 0
    options.idleInterval = nil
    options.checkpoints = .never
    return options
  }

  static func open(
    _ files: any FileSystem, at path: String = "/a", _ change: (inout LogStore.Options) -> Void = { _ in },
    clock: @escaping @Sendable () -> Date = { Date() }
  ) throws -> LogStore {
    var options = options
    change(&options)
    return try LogStore(
      at: path, model: .init(schema: schema), options: options, fileSystem: files, clock: clock)
  }

  static func openForReading(_ files: any FileSystem, upTo: Int64? = nil) throws -> LogStore {
    try open(files) {
      $0.isReadOnly = true
      $0.upTo = upTo
      $0.history = .all
    }
  }

  /// The steps of a workload, each one commit. The first inserts, the second changes, the third deletes, and so on.
  static func changes(_ step: Int, _ store: any PersistentStore) throws -> ChangeSet {
    var changes = ChangeSet(author: "step \(step)")
    let link = schema[try #require(people.relationship(named: "tags"))].id
    if step.isMultiple(of: 3) {
      let keys = try store.reserveKeys(3, root: people.root)
      // Keys aren't those of an earlier run where a crash came in between; the rows are told apart by their order.
      for (number, key) in keys.enumerated() {
        try changes.insert(
          RowKey(entity: people.id, id: key),
          ["name": .string("person \(step) \(number)"), "age": .int(Int64(step * 10 + number))], in: schema)
      }
      let tag = RowKey(entity: tags.id, id: try store.reserveKeys(1, root: tags.root).lowerBound)
      try changes.insert(tag, ["name": .string("tag \(step)")], in: schema)
      changes.links.append(.init(link, of: RowKey(entity: people.id, id: keys.lowerBound), .add([tag])))
    } else {
      let rows = try store.fetch(StoreRequest(entity: people.id), in: try store.snapshot())
      let key = rows.key(rows.count - 1)
      if step % 3 == 1 {
        try changes.update(key, ["name": .string(String(repeating: "é", count: 50 * step))], in: schema)
      } else {
        changes.delete(key)
      }
    }
    return changes
  }

  @discardableResult
  static func commit(_ step: Int, _ store: any PersistentStore) throws -> Commit {
    try store.commit(try changes(step, store))
  }

  /// A change of one row, of about `size` bytes, which deflating takes a third of.
  static func large(_ size: Int, seed: UInt64 = 1) throws -> ChangeSet {
    var changes = ChangeSet()
    var random = SplitMix64(seed: seed)
    try changes.update(
      RowKey(entity: people.id, id: 1),
      ["name": .string((0..<size / 13).map { _ in String(random.next(), radix: 36) }.joined())], in: schema)
    return changes
  }

  /// What the store holds after each number of commits, whatever keys its rows have.
  static func expected(_ steps: Int) throws -> [Facts] {
    let store = MemoryStore(schema: schema)
    var result = [try Facts(store)]
    for step in 0..<steps {
      try commit(step, store)
      result.append(try Facts(store))
    }
    return result
  }

  /// A store's rows without their keys, and its generation.
  struct Facts: Equatable {
    let generation: Int64
    let people: [[Value]]
    let tags: [[Value]]
    /// Of each person, the names of its tags.
    let links: [[Value]]

    init(_ store: any PersistentStore) throws {
      let snapshot = try store.snapshot()
      generation = snapshot.generation.number
      let rows = try store.fetch(StoreRequest(entity: LogSample.people.id), in: snapshot)
      people = (0..<rows.count).map { StoredRow(rows, $0).values + [.int(StoredRow(rows, $0).version)] }
      let tagRows = try store.fetch(StoreRequest(entity: LogSample.tags.id), in: snapshot)
      tags = (0..<tagRows.count).map { StoredRow(tagRows, $0).values }
      let link = LogSample.people.relationship(named: "tags")!
      let related = try store.related(rows.keys, through: link, in: snapshot)
      links = try (0..<rows.count).map { row in
        let found = try store.rows(Array(related[row]), in: snapshot)
        return (0..<found.count).map { StoredRow(found, $0).values[0] }
      }
    }
  }

  /// How many commits the store has. Throws where it is in no state that the work went through.
  static func state(
    _ files: SimulatedFileSystem, _ expected: [Facts], isReadOnly: Bool
  ) throws -> Int {
    let store = try isReadOnly ? openForReading(files) : open(files)
    defer { try? store.close() }
    let found = try Facts(store)
    guard expected.indices.contains(Int(found.generation)) else {
      throw Wrong(description: "generation \(found.generation)")
    }
    if expected[Int(found.generation)] != found {
      throw Wrong(
        description:
          "after \(found.generation) commits: \(found) instead of \(expected[Int(found.generation)])")
    }
    try store.close()
    return Int(found.generation)
  }

  /// The names in the store's directory.
  static func names(_ files: SimulatedFileSystem) throws -> [String] { try files.list("/a") }

  static func bytes(_ name: String, _ files: any FileSystem) throws -> [UInt8] {
    let file = try files.open("/a/\(name)", .read)
    defer { try? file.close() }
    return try file.contents(limit: 1 << 26, path: name)
  }

  /// All files of the store, by name.
  static func contents(_ files: any FileSystem) throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try files.list("/a") { result[name] = try bytes(name, files) }
    return result
  }

  /// A file system with a directory of these files at /a.
  static func files(_ contents: [String: [UInt8]]) throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    try files.makeDirectory("/a")
    for (name, bytes) in contents {
      let file = try files.open("/a/\(name)", .create(permissions: 0o644))
      if !bytes.isEmpty { try file.write(bytes, at: 0) }
      try file.close()
    }
    return files
  }

  /// The frames of a segment's bytes.
  static func frames(_ bytes: [UInt8]) throws -> [LogFrame] {
    let salt = try LogSegmentHeader(Array(bytes.prefix(LogSegmentHeader.size))).salt
    var frames: [LogFrame] = []
    var offset = LogSegmentHeader.size
    while offset + LogFrame.headerSize <= bytes.count {
      let frame = bytes.withUnsafeBytes { raw -> LogFrame? in
        guard let size = LogFrame.size(prefix: LogFrame.field(raw, offset, UInt32.self)),
          offset + size <= raw.count
        else { return nil }
        return LogFrame(UnsafeRawBufferPointer(rebasing: raw[offset..<offset + size]), salt: salt)
      }
      guard let frame else { break }
      frames.append(frame)
      offset += frame.size
    }
    return frames
  }
}
