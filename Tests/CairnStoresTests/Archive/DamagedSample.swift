// An archive with everything that can be damaged, and what it holds after each of its commits.

import CairnModel
import CairnTesting
import Foundation

@testable import CairnStores

struct DamagedSample {
  let bytes: [UInt8]
  /// By generation.
  let contents: [Int64: StoreContents]
  let newest: Int64

  static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Person",
        attributes: [.init("name", .string), .init("age", .int16), .init("height", .double)],
        relationships: [
          .init("boss", to: "Person", inverse: "reports", maxCount: 1),
          .init("reports", to: "Person", inverse: "boss", isOrdered: true),
          .init("friends", to: "Person", inverse: "friendOf"),
          .init("friendOf", to: "Person", inverse: "friends"),
        ])
    ]))

  enum Kind: CaseIterable, Sendable {
    /// Several saves, with deletions, updates, keys with gaps, lists and pairs.
    case grown
    /// The same, with footers that say differences.
    case differences
    /// The same written anew.
    case compact
  }

  static let entries: [String: Value] = ["of step": .int(2), "note": .string("as it was")]

  static func make(_ kind: Kind) throws -> DamagedSample {
    let files = SimulatedFileSystem()
    var options = ArchiveStore.Options()
    if kind == .differences { options.leastFooter = 0 }
    let store = try ArchiveStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
    let people = try schema.requireEntity(named: "Person")
    var contents: [Int64: StoreContents] = [:]
    for step in 0..<4 {
      var changes = ChangeSet()
      var first: RowKey?
      for key in try store.reserveKeys(6, root: people.root) where key % 5 != 0 {
        let row = RowKey(entity: people.id, id: key)
        try changes.insert(
          row,
          [
            "name": .string("n\(key)"), "age": .int(key * 100), "height": .double(Double(key) / 7),
            "boss": first.map { .key($0.id) } ?? .null,
          ], in: schema)
        if let first {
          let friends = people.relationship(named: "friends")!
          changes.links.append(.init(friends, of: first, .add([row])))
        }
        first = first ?? row
      }
      if step == 2 { store.metadata.userEntries = entries }
      if step > 1 {
        try changes.update(RowKey(entity: people.id, id: Int64(step)), ["age": .int(-1)], in: schema)
        changes.delete(RowKey(entity: people.id, id: Int64(step + 4)))
      }
      _ = try store.commit(changes)
      let snapshot = try store.snapshot()
      contents[snapshot.generation.number] = try StoreContents(of: store, in: snapshot)
    }
    if kind == .compact { try store.compact() }
    let newest = try store.snapshot().generation.number
    try store.close()
    let bytes = try files.open("/a", .read).contents(limit: 1 << 20, path: "/a")
    return DamagedSample(bytes: bytes, contents: contents, newest: newest)
  }

  static func open(_ files: SimulatedFileSystem, at path: String = "/a") throws -> ArchiveStore {
    try ArchiveStore(at: path, model: .init(schema: schema), options: .init(), fileSystem: files)
  }

  /// A file system with an archive of these bytes at /a.
  static func files(_ bytes: [UInt8]) throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    return files
  }

  func flipped(_ offset: Int, _ bits: UInt8 = 0xFF) -> [UInt8] {
    var result = bytes
    result[offset] ^= bits
    return result
  }

  /// Where the parts of the undamaged archive are.
  func places() throws -> ArchiveContents {
    try ArchiveFiles.contents(at: "/a", DamagedSample.files(bytes))
  }

  /// The block of a property's values in the first group that has one.
  func block(_ property: String) throws -> ArchiveBlock {
    let slot = DamagedSample.schema.entities[0].slot(named: property)!
    return try places().index.tables[0][0].columns[slot]!.block
  }
}
